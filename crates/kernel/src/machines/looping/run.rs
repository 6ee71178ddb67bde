//! What a loop is: a stack of frames, of which the top one runs, and an owner.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::{Millis, SessionId};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No loop. The value says how the last one ended.
    Idle(Past),
    Active(Run),
    /// The agent gave this signal: the top frame ends when every machine lets the agent go.
    Completing {
        run: Run,
        ending: Ending,
    },
    /// Its iterations are used up: it must not go on by itself, and a person has to look at it.
    Stuck(Run),
    /// It was ended by a command, and its session's person was not told yet.
    Aborted {
        cause: String,
        owner: LoopOwner,
    },
    /// A document that claims to be a loop's state but cannot be read as one. The text says why.
    Corrupt(String),
}

/// How the last loop here ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Past {
    /// There was none, or nothing is known about it.
    #[default]
    Blank,
    Done(Ending),
    Aborted,
}

/// Why a frame or a loop ended, as its store spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Ending {
    Complete,
    MaxIterations,
    Stuck,
    /// One issue is done.
    Done,
    NoMoreIssues,
    MaxIssues,
}

impl Ending {
    pub const ALL: [Self; 6] = [
        Self::Complete,
        Self::MaxIterations,
        Self::Stuck,
        Self::Done,
        Self::NoMoreIssues,
        Self::MaxIssues,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "COMPLETE",
            Self::MaxIterations => "MAX_ITERATIONS",
            Self::Stuck => "STUCK",
            Self::Done => "DONE",
            Self::NoMoreIssues => "NO_MORE_ISSUES",
            Self::MaxIssues => "MAX_ISSUES",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.as_str() == text)
    }
}

/// The limit for loops within loops: a deeper stack is a mistake that repeats itself.
pub const MOST_FRAMES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    /// When the loop last made progress.
    pub updated: Millis,
    pub owner: LoopOwner,
    /// The frames around the top one, outermost first.
    pub outer: Vec<Frame>,
    /// The frame that runs. Every loop has one.
    pub top: Frame,
    /// A command gave it to its session, whose agent was not told yet.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub adopted: bool,
}

impl Run {
    /// Is it over, because it did not move for longer than its time? This is the only rule about
    /// a loop's age.
    pub fn is_stale(&self, now: Millis, ttl: Millis) -> bool {
        now.since(self.updated) > ttl
    }

    /// Was its agent never sent on with this frame, or not since a command gave it the loop?
    pub fn is_unheard(&self) -> bool {
        self.top.iter == 0 || self.adopted
    }

    pub fn depth(&self) -> usize {
        self.outer.len() + 1
    }

    /// The frame that goes on when the top one ends.
    pub(super) fn below(&self) -> Option<&Frame> {
        self.outer.last()
    }

    /// The run that is left when the top frame ends.
    pub(super) fn popped(mut self) -> Option<Self> {
        self.top = self.outer.pop()?;
        Some(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub id: String,
    pub mode: Mode,
    /// How often the agent was sent on. A loop of another program's begins at 1.
    pub iter: u32,
    pub max: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Loop,
    Issue,
    Grind,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Loop, Self::Issue, Self::Grind];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Issue => "issue",
            Self::Grind => "grind",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }

    /// The number of iterations, if nobody gave one.
    pub const fn default_max(self) -> u32 {
        match self {
            Self::Loop | Self::Issue => 10,
            Self::Grind => 100,
        }
    }

    /// What ends a frame of this mode: the element, its value, and what it means.
    pub const fn signals(self) -> &'static [(&'static str, Ending)] {
        match self {
            Self::Loop => &[
                ("loop-done", Ending::Complete),
                ("loop-done", Ending::MaxIterations),
                ("loop-done", Ending::Stuck),
            ],
            Self::Issue => &[
                ("loop-done", Ending::Complete),
                ("loop-done", Ending::MaxIterations),
                ("loop-done", Ending::Stuck),
                ("issue-complete", Ending::Done),
            ],
            Self::Grind => &[
                ("grind-done", Ending::NoMoreIssues),
                ("grind-done", Ending::MaxIssues),
            ],
        }
    }
}

/// Whose stops a loop holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopOwner {
    /// A session that somebody attends may take it.
    Nobody,
    /// The next session that starts takes it, also a headless one.
    Next,
    Session {
        id: SessionId,
        /// The client that the session was last seen in. A session that is cleared goes on there
        /// under a new id.
        client: Option<Client>,
    },
}

/// The host's process on this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Client(pub u32);

impl Frame {
    /// Has it no iteration left?
    pub(super) const fn is_spent(&self) -> bool {
        self.iter >= self.max
    }
}

impl LoopOwner {
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session { id, .. } => Some(id),
            Self::Nobody | Self::Next => None,
        }
    }

    pub fn is(&self, session: &SessionId) -> bool {
        self.session() == Some(session)
    }
}
