//! Which of our own state may be deleted. The shell lists the files and deletes them.
//!
//! State is deleted when it is old, or when there is too much of its kind. It is never deleted
//! while it is open: somebody may still come back to it, or a person's order about it is in force.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::Millis;
use crate::name::Name;

pub const DAY: Millis = Millis::seconds(24 * 60 * 60);

/// The journals of all projects together, in bytes.
pub const JOURNALS: u64 = 12 << 20;

/// The rules, at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    now: Millis,
    keep: Millis,
}

/// All that we keep for one session in one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// When one of its files was last changed.
    pub changed: Millis,
    /// A person switched a gate on for it alone. What its own agent switched on goes with it.
    pub gate_on: bool,
    /// A machine's state or an effect under way names it: it owns a loop, a plan or a claim.
    pub owns: bool,
    /// It is the session that starts now.
    pub starts: bool,
}

/// A closed segment of a project's journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Any number that is the project's own.
    pub project: usize,
    pub changed: Millis,
    pub bytes: u64,
}

/// A project that we have state for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub folder: Folder,
    /// When one of its files was last changed.
    pub changed: Millis,
    pub open: Vec<Open>,
}

/// The project's own folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    There,
    Gone,
    /// It cannot be looked at, or its path is not known.
    Unknown,
}

/// Why a project's state is still needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Open {
    /// A person trusts the project.
    Trust,
    /// An effect whose process lives.
    Effect(String),
    /// An effect whose process died: its result is not known yet.
    Interrupted(String),
    Loop,
    /// The gate is on for the whole project.
    Gate,
    /// The gate is on for this session.
    SessionGate(String),
    /// A person stopped, paused or only observes machines.
    Order,
    /// A file that cannot be read, so nobody knows what is open.
    Unreadable(String),
}

/// Is it time for a sweep? Once a day. `swept` is when the last one had deleted all that may go.
pub fn is_due(swept: Option<Millis>, now: Millis) -> bool {
    swept.is_none_or(|swept| {
        let clock_went_back = swept > now.plus(DAY);
        now.since(swept) >= DAY || clock_went_back
    })
}

impl Rules {
    /// Nothing is deleted on the day it was made, whatever `keep` says.
    pub fn new(now: Millis, keep: Millis) -> Self {
        Self {
            now,
            keep: keep.max(DAY),
        }
    }

    pub fn now(&self) -> Millis {
        self.now
    }

    /// Is something that was last changed then old enough to go?
    pub fn is_old(&self, changed: Millis) -> bool {
        self.now.since(changed) > self.keep
    }

    /// What says that a session is live goes a day after the session did. It is no state of the
    /// session's, and there may be many short sessions.
    pub fn sweeps_presence(&self, changed: Millis, live: bool) -> bool {
        self.now.since(changed) > DAY && !live
    }

    pub fn sweeps_session(&self, session: &Session) -> bool {
        let open = session.gate_on || session.owns || session.starts;
        self.is_old(session.changed) && !open
    }

    /// A project whose folder may come back has lost nothing.
    pub fn sweeps_project(&self, project: &Project) -> bool {
        project.folder == Folder::Gone && self.is_old(project.changed) && project.open.is_empty()
    }

    /// Which closed segments go: those that are old, and the oldest if the journals are too large,
    /// whose current segments have `current` bytes. The closed ones come project by project, each
    /// project's in their order. Its newest one stays, because the
    /// current segment continues its checksum and its numbers; and no segment goes before an older
    /// one of its project, because that would be a gap in the journal.
    pub fn swept_segments(&self, segments: &[Segment], current: u64) -> Vec<usize> {
        let mut candidates: Vec<(Millis, usize)> = Vec::new();
        let mut changed = Millis::default();
        for (index, pair) in segments.windows(2).enumerate() {
            if pair[0].project == pair[1].project {
                // A copied file may look older than the one before it.
                changed = changed.max(pair[0].changed);
                candidates.push((changed, index));
            } else {
                changed = Millis::default();
            }
        }
        candidates.sort_unstable();
        let closed: u64 = segments.iter().map(|segment| segment.bytes).sum();
        let mut total = closed.saturating_add(current);
        let mut swept = Vec::new();
        for (changed, index) in candidates {
            if !self.is_old(changed) && total <= JOURNALS {
                break;
            }
            total = total.saturating_sub(segments[index].bytes);
            swept.push(index);
        }
        swept
    }
}

impl Project {
    /// What a person must end before the project's state can be deleted. Trust is kept elsewhere,
    /// and stays. In a folder that is gone nothing holds anybody, and no command can be typed.
    pub fn obstacles(&self) -> impl Iterator<Item = &Open> {
        let gone = self.folder == Folder::Gone;
        self.open.iter().filter(move |open| match open {
            Open::Trust => false,
            Open::Effect(_) => true,
            Open::Interrupted(_)
            | Open::Loop
            | Open::Gate
            | Open::SessionGate(_)
            | Open::Order
            | Open::Unreadable(_) => !gone,
        })
    }

    pub fn is_trusted(&self) -> bool {
        self.open.contains(&Open::Trust)
    }
}

impl Open {
    /// An effect of this machine, or of a machine of another version.
    pub fn effect(machine: &str, alive: bool) -> Self {
        if alive {
            Self::Effect(machine.into())
        } else {
            Self::Interrupted(machine.into())
        }
    }

    /// What is open, in a few words.
    pub fn what(&self) -> String {
        match self {
            Self::Trust => "it is trusted".into(),
            Self::Effect(machine) => format!("{machine}'s effect is running"),
            Self::Interrupted(machine) => format!("{machine}'s effect was interrupted"),
            Self::Loop => format!("{} is on", Name::Loop),
            Self::Gate => format!("{} is on", Name::Gate),
            Self::SessionGate(session) => format!("{} is on for session {session}", Name::Gate),
            Self::Order => "an order is in force".into(),
            Self::Unreadable(file) => format!("{file} cannot be read"),
        }
    }

    /// How a person ends it.
    pub fn end(&self) -> String {
        match self {
            Self::Trust => "`mainspring untrust` takes that back".into(),
            Self::Effect(_) => "wait for it, or end the agent's session".into(),
            Self::Interrupted(_) => {
                "say \"continue\" to the agent: its next stop deals with it".into()
            }
            Self::Loop => "`mainspring loop abort` ends it".into(),
            Self::Gate => "`mainspring gate off --project` switches it off".into(),
            Self::SessionGate(session) => {
                format!("`mainspring gate off --session {session}` switches it off")
            }
            Self::Order => "`mainspring resume` or `mainspring observe off` ends it".into(),
            Self::Unreadable(_) => "`mainspring doctor` says what to do".into(),
        }
    }
}

#[cfg(test)]
mod tests;
