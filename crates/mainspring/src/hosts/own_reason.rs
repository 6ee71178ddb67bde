//! Some hosts give our reason to the agent as if the user had typed it, and tell us of it as of a
//! prompt. There the reason has a first line that says whose it is, for the agent and for us.

/// The first line of a reason of ours.
pub(super) const LINE: &str = "[This is Mainspring, a stop hook, and not the user]";

pub(super) fn marked(text: &str) -> String {
    format!("{LINE}\n{text}")
}

/// Is this text a reason of ours?
pub(super) fn is_marked(text: &str) -> bool {
    text.trim_start().starts_with(LINE)
}
