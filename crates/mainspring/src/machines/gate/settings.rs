//! What can be set for `gate`.

use mainspring_kernel::machines::gate::OpenTaskRule;

use crate::config::{Choice, Text, settings};

pub(super) const PREFIX: &str = "TASKMASTER_DONE";

settings! {
    [gate] GateSettings at gate {
        /// hold every session here until it says its done token
        enabled: bool = false, Trusted;
        /// the stop at which the gate gives up; 0 for never
        max: u64 = 0, Trusted, variable "TASKMASTER_MAX";
        /// the start of the done token; `::` and the session's id follow
        prefix: Text = Text::Borrowed(PREFIX), Trusted, variable "TASKMASTER_DONE_PREFIX";
        /// open tasks of the agent's list: `name` names them when it holds, `hold` holds until they
        /// are completed, `ignore` does not look
        open_tasks: Option<OpenTaskRule> = Some(OpenTaskRule::Name), Trusted;
        /// `pass`: right after the token was said, a turn without any tool use is not held
        talk: TalkRule = TalkRule::Hold, Trusted;
    }
}

/// `None`: nobody looks at them.
impl Choice for Option<OpenTaskRule> {
    const WORDS: &'static [&'static str] = &["name", "hold", "ignore"];
    const VALUES: &'static [Self] = &[Some(OpenTaskRule::Name), Some(OpenTaskRule::Hold), None];
}

/// Is a turn without tool use held, right after the token was said?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TalkRule {
    Hold,
    Pass,
}

impl Choice for TalkRule {
    const WORDS: &'static [&'static str] = &["hold", "pass"];
    const VALUES: &'static [Self] = &[Self::Hold, Self::Pass];
}
