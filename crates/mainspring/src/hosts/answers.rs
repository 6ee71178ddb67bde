//! How a host wants to be answered, as data: what an answer may contain, and where.

/// What a host does with an answer. Every host understands `{"decision":"block","reason":…}` at
/// a stop, and `systemMessage`.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) context: ContextIn,
    pub(crate) deny: DenyBy,
    pub(crate) object: ObjectBy,
    /// Does it send a terminal sequence of ours to the person's terminal?
    pub(crate) notifies: bool,
    /// Does it give our reason to the agent as a prompt, and tell us of that prompt?
    pub(crate) reason_is_prompt: bool,
    pub(crate) orders: OrdersBy,
}

impl Answers {
    /// As most hosts want it.
    pub(super) const USUAL: Self = Self {
        context: ContextIn::Output,
        deny: DenyBy::Permission,
        object: ObjectBy::Block,
        notifies: false,
        reason_is_prompt: false,
        orders: OrdersBy::Message,
    };
}

/// How a user types an order (`stop`, `pause`, `resume`) so that a hook can carry it out and keep
/// it from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrdersBy {
    /// As a command of ours, or as a message that is nothing else.
    Command,
    /// As a message that is nothing else.
    Message,
    /// Not at all: it did not work when it was tried, or the host has no such event.
    Nowhere,
}

/// Where text for the agent belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContextIn {
    /// In `hookSpecificOutput`.
    Output,
    /// Beside the decision. Elsewhere it is ignored.
    TopLevel,
    /// There is no way to tell the agent anything but a reason.
    Nowhere,
}

/// How a tool is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DenyBy {
    /// `permissionDecision` in `hookSpecificOutput`.
    Permission,
    /// `decision` at the top level. The other way is ignored, and the tool runs.
    Decision,
}

/// How an objection after a tool's run reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectBy {
    /// As a block.
    Block,
    /// As context, because the reason of a block is lost.
    Context,
}

/// The first line of a reason of ours, where the host gives it to the agent as if the user had typed
/// it, and tells us of it as of a prompt: it says whose it is, for the agent and for us.
pub(super) const OUR_REASON: &str = "[This is Mainspring, a stop hook, and not the user]";

/// Is this text a reason of ours?
pub(super) fn is_our_reason(text: &str) -> bool {
    text.trim_start().starts_with(OUR_REASON)
}
