//! One line of a transcript, reduced to what matters at a stop. What a line says is for its
//! host to know.

/// What one line says. All but `Other` are of the main chain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The user, or the host in the user's place, began a new turn.
    Prompt,
    /// A part of the record of a stop that a hook blocked. One such stop leaves one to three.
    Block,
    ToolResults(Outcome),
    Agent(Saying),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fine,
    Failed,
}

/// One or more blocks of one message of the agent. The host writes each block on a line of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Saying {
    pub(crate) message: Option<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) tools: u32,
}
