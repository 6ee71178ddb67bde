//! The results of checks, by key.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::{Digest, Millis};

/// Keys of one check that stay green, so that branches may switch back and forth.
const MOST_PASSES: usize = 8;

/// The results of every check, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Results(pub BTreeMap<String, Kept>);

/// What is kept of one check.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kept {
    /// How its last run ended.
    pub last: Ended,
    /// The keys under which it passed, the newest last.
    pub passes: Vec<Pass>,
}

/// The end of a run, without what it printed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ended {
    pub key: Digest,
    pub at: Millis,
    pub took: Millis,
    pub result: EndedAs,
    /// What could not be done, or how it ended; for the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// The file with everything that it printed.
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedAs {
    Pass,
    Fail,
    Flaky,
    CouldNotRun,
}

impl EndedAs {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Flaky => "flaky",
            Self::CouldNotRun => "could not run",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pass {
    pub key: Digest,
    pub at: Millis,
    pub took: Millis,
}

/// A check's key, as it was just taken.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Looked {
    pub name: String,
    pub key: Digest,
    /// Its pinned files that are not as a person trusted them.
    pub pins: Vec<String>,
    /// The tree, if it is not the one that the agent stops in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// A check that ran, or was to run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ran {
    pub name: String,
    /// The key before and after the run.
    pub key: Digest,
    pub verdict: Verdict,
    pub took: Millis,
    /// The file with everything that it printed.
    pub log: String,
    /// The tree, if it is not the one that the agent stops in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Fail(Failure),
    /// It failed, and then passed on the same key.
    Flaky,
    /// It did not run to its end, or not over one tree: no such program, a timeout, a signal.
    CouldNotRun(String),
    /// There was no time left for it.
    NotStarted,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// Such as `exit code 101`.
    pub exit: String,
    /// The lines that matter, as data.
    pub said: String,
    /// The digest of those lines without what differs from run to run.
    pub reason: Digest,
    /// The inputs that differ from the last tree on which it passed.
    pub changed: Vec<String>,
}

impl Results {
    pub fn of(&self, name: &str) -> Option<&Kept> {
        self.0.get(name)
    }

    /// The run in which the check passed under this key.
    pub fn pass(&self, name: &str, key: &Digest) -> Option<&Pass> {
        let kept = self.0.get(name)?;
        kept.passes.iter().rfind(|pass| pass.key == *key)
    }

    /// How long the check took when it last ran to its end.
    pub fn last_took(&self, name: &str) -> Option<Millis> {
        let last = &self.0.get(name)?.last;
        (last.result != EndedAs::CouldNotRun).then_some(last.took)
    }

    /// Did the check's last run fail, and under this key?
    pub fn last_failed(&self, name: &str, key: &Digest) -> bool {
        let last = self.0.get(name).map(|kept| &kept.last);
        last.is_some_and(|last| last.result == EndedAs::Fail && last.key == *key)
    }

    /// Records a run. One that was not started leaves no trace.
    pub(crate) fn record(&mut self, ran: &Ran, now: Millis) {
        let (result, cause) = match &ran.verdict {
            Verdict::Pass => (EndedAs::Pass, String::new()),
            Verdict::Fail(failure) => (EndedAs::Fail, failure.exit.clone()),
            Verdict::Flaky => (EndedAs::Flaky, String::new()),
            Verdict::CouldNotRun(cause) => (EndedAs::CouldNotRun, cause.clone()),
            Verdict::NotStarted => return,
        };
        let last = Ended {
            key: ran.key.clone(),
            at: now,
            took: ran.took,
            result,
            cause,
            log: ran.log.clone(),
        };
        let mut passes = self
            .0
            .remove(&ran.name)
            .map_or(Vec::new(), |kept| kept.passes);
        // Under this key it is what it is now, whatever it was.
        passes.retain(|pass| pass.key != ran.key);
        if result == EndedAs::Pass {
            passes.push(Pass {
                key: ran.key.clone(),
                at: now,
                took: ran.took,
            });
        }
        let surplus = passes.len().saturating_sub(MOST_PASSES);
        passes.drain(..surplus);
        self.0.insert(ran.name.clone(), Kept { last, passes });
    }

    /// Forgets checks that are no longer defined.
    pub(crate) fn keep_only(&mut self, is_defined: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| is_defined(name));
    }
}
