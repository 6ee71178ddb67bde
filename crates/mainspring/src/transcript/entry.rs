//! One line of a transcript, reduced to what matters at a stop. The host's code knows the
//! format.

use mainspring_kernel::Millis;

/// A message of the user's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PromptLine {
    pub(crate) at: Option<Millis>,
    pub(crate) text: String,
}

/// What one line says. All but `Other` belong to the main conversation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The user, or the host in the user's place, started a new turn.
    Prompt,
    /// A part of the record of a stop that a hook blocked. Each such stop leaves one to three
    /// lines.
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

impl Outcome {
    pub(crate) const fn failed_if(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Fine }
    }
}

/// One or more blocks of one message of the agent's. The host writes each block on its own
/// line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Saying {
    pub(crate) message: Option<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) tools: u32,
}
