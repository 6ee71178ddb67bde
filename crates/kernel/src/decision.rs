//! What the host is told: one decision per event, joined from what every machine said.
//!
//! A decision is a variant per kind of event that carries only what the host can act on
//! there, so one that makes no sense for its event cannot be written down. Inside, all
//! of them are sets of [`HoldTexts`], and sets have one join: union. It is associative,
//! commutative and idempotent, so neither the order of machines nor an answer given
//! twice can change what the agent reads.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::event::Kind;
use crate::name::Name;

/// One text that a machine answers with: why it holds, or what it tells, to the agent or to the
/// person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HoldText {
    pub by: Name,
    pub text: String,
}

/// All that was said, once each, in the machines' fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HoldTexts(BTreeSet<HoldText>);

impl HoldTexts {
    pub fn one(by: Name, text: String) -> Self {
        Self(BTreeSet::from([HoldText { by, text }]))
    }

    /// The one join.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &HoldText> {
        self.0.iter()
    }

    /// The text for the agent: a paragraph per machine.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.0.iter().map(|one| one.text.as_str()).collect();
        texts.join("\n\n")
    }
}

/// What the host is asked to do. An empty set of texts asks for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Keep the agent going with these texts; without any, it may stop.
    Stop { hold: HoldTexts },
    /// Text for the agent at a start, a prompt or a typed command.
    Context { tell: HoldTexts },
    /// Text for the agent after a tool ran. Objections reach it as the tool's failure.
    AfterTool { tell: HoldTexts, object: HoldTexts },
    /// Refuse the tool with these texts; without any, it may run.
    BeforeTool { deny: HoldTexts },
    /// A desktop notice for a person who is away.
    Idle { notify: HoldTexts },
    /// Wake an agent that has stopped, with this text; without text, let it rest.
    Watch { wake: HoldTexts },
    /// The host accepts no answer to this event.
    Silent,
}

impl Decision {
    /// The decision that changes nothing.
    pub fn nothing(kind: &Kind) -> Self {
        match kind {
            Kind::Stop { .. } => Self::Stop {
                hold: HoldTexts::default(),
            },
            Kind::SessionStart { .. } | Kind::Prompt { .. } | Kind::Expansion { .. } => {
                Self::Context {
                    tell: HoldTexts::default(),
                }
            }
            Kind::AfterTool { .. } => Self::AfterTool {
                tell: HoldTexts::default(),
                object: HoldTexts::default(),
            },
            Kind::BeforeTool { .. } => Self::BeforeTool {
                deny: HoldTexts::default(),
            },
            Kind::Idle => Self::Idle {
                notify: HoldTexts::default(),
            },
            Kind::Watch => Self::Watch {
                wake: HoldTexts::default(),
            },
            Kind::SessionEnd { .. } | Kind::Other { .. } => Self::Silent,
        }
    }

    /// Joins two decisions. Both are about the same event, because all machines are asked about one
    /// event.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Stop { hold: a }, Self::Stop { hold: b }) => Self::Stop { hold: a.join(b) },
            (Self::Context { tell: a }, Self::Context { tell: b }) => {
                Self::Context { tell: a.join(b) }
            }
            (Self::AfterTool { tell: a, object: x }, Self::AfterTool { tell: b, object: y }) => {
                Self::AfterTool {
                    tell: a.join(b),
                    object: x.join(y),
                }
            }
            (Self::BeforeTool { deny: a }, Self::BeforeTool { deny: b }) => {
                Self::BeforeTool { deny: a.join(b) }
            }
            (Self::Idle { notify: a }, Self::Idle { notify: b }) => {
                Self::Idle { notify: a.join(b) }
            }
            (Self::Watch { wake: a }, Self::Watch { wake: b }) => Self::Watch { wake: a.join(b) },
            (one, _) => one,
        }
    }

    /// Everything that is said in it.
    pub fn texts(&self) -> impl Iterator<Item = &HoldText> {
        let (one, other) = match self {
            Self::Stop { hold: one }
            | Self::Context { tell: one }
            | Self::BeforeTool { deny: one }
            | Self::Idle { notify: one }
            | Self::Watch { wake: one } => (Some(one), None),
            Self::AfterTool { tell, object } => (Some(tell), Some(object)),
            Self::Silent => (None, None),
        };
        let sets = one.into_iter().chain(other);
        sets.flat_map(HoldTexts::iter)
    }

    pub fn is_nothing(&self) -> bool {
        self.texts().next().is_none()
    }
}

/// Who speaks to the person: a machine, or Mainspring itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    Machine(Name),
    Mainspring,
    /// Mainspring itself, with a line that may be left out: that the agent is kept going, or the
    /// receipt.
    Optional,
    /// A desktop notice, for a person who may have turned away.
    Desktop,
}

/// A line for the person, never for the agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Note {
    pub by: Voice,
    pub text: String,
}

impl Note {
    pub fn ours(text: impl Into<String>) -> Self {
        Self {
            by: Voice::Mainspring,
            text: text.into(),
        }
    }

    pub(crate) fn desktop(text: impl Into<String>) -> Self {
        Self {
            by: Voice::Desktop,
            text: text.into(),
        }
    }

    pub(crate) fn optional(text: impl Into<String>) -> Self {
        Self {
            by: Voice::Optional,
            text: text.into(),
        }
    }
}

/// The whole answer to one event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answer {
    pub decision: Decision,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

impl Answer {
    pub fn nothing(kind: &Kind) -> Self {
        Self {
            decision: Decision::nothing(kind),
            notes: Vec::new(),
        }
    }

    /// Our own failure: nothing is asked of the host, and the person is told.
    pub fn fault(kind: &Kind, cause: impl Into<String>) -> Self {
        Self {
            decision: Decision::nothing(kind),
            notes: Vec::from([Note::ours(cause)]),
        }
    }

    pub fn is_nothing(&self) -> bool {
        self.decision.is_nothing() && self.notes.is_empty()
    }

    /// For a host that must get exactly the output of the program that we replace.
    #[must_use]
    pub fn without_optional_notes(mut self) -> Self {
        let needed = |note: &Note| !matches!(note.by, Voice::Optional | Voice::Desktop);
        self.notes.retain(needed);
        self
    }
}

/// `gate`, `gate and loop`, `gate, loop and review`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [others @ .., last] => alloc::format!("{} and {last}", others.join(", ")),
    }
}
