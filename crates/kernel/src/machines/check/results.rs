//! The results of checks, by key.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::{Digest, Millis};

/// Keys of one check that stay green, so that branches may switch back and forth.
const MOST_PASSES: usize = 8;
/// Trees in which one check was red. Worktrees come and go; the newest count.
const MOST_TREES: usize = 64;

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
    /// The trees in which it was red, whichever session ran it, and has not passed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproved: Vec<Unproved>,
    /// The inputs that it writes itself while it runs. The person was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
}

/// A tree in which a check was red, and has not passed since.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unproved {
    pub tree: String,
    /// How its last finished run there ended: it failed, or it was flaky.
    pub ended: EndedAs,
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
    /// The inputs that it wrote while it ran, each time the same ones, without changing them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Fail(Failure),
    /// It failed, and then passed on the same key.
    Flaky,
    /// It had all the time that it may take, and did not end.
    TimedOut(Failure),
    /// It did not run to its end over one tree: too much output, a signal, inputs that moved.
    Unfinished(Failure),
    /// Nobody's fault: no such program, a person who cancelled it, a stop that has no time left.
    CouldNotRun(String),
    /// There was no time left for it.
    NotStarted,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// Such as `exit code 101`; if it did not end by itself, what it did, such as `timed out
    /// after 10m`.
    pub exit: String,
    /// The lines that matter, as data.
    pub said: String,
    /// The digest of those lines without what differs from run to run.
    pub reason: Digest,
    /// The inputs that differ from the last tree on which it passed.
    pub changed: Vec<String>,
}

impl Verdict {
    /// What was wrong, if it was not all well and is not excused.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Fail(failure) | Self::TimedOut(failure) | Self::Unfinished(failure) => {
                Some(failure)
            }
            Self::Pass | Self::Flaky | Self::CouldNotRun(_) | Self::NotStarted => None,
        }
    }

    pub(super) fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            Self::Fail(failure) | Self::TimedOut(failure) | Self::Unfinished(failure) => {
                Some(failure)
            }
            Self::Pass | Self::Flaky | Self::CouldNotRun(_) | Self::NotStarted => None,
        }
    }
}

impl Results {
    pub fn of(&self, name: &str) -> Option<&Kept> {
        self.0.get(name)
    }

    /// The run in which the check passed under this key, if it counts in this tree: after red,
    /// only a new run makes green.
    pub fn green(&self, name: &str, key: &Digest, tree: &str) -> Option<&Pass> {
        let kept = self.0.get(name).filter(|kept| kept.there(tree).is_none())?;
        kept.passes.iter().rfind(|pass| pass.key == *key)
    }

    /// Was the check red in this tree, or flaky, without a pass since?
    pub fn is_unproved(&self, name: &str, tree: &str) -> bool {
        let kept = self.0.get(name);
        kept.is_some_and(|kept| kept.there(tree).is_some())
    }

    /// Did the check's last finished run in this tree fail?
    pub fn is_red(&self, name: &str, tree: &str) -> bool {
        let kept = self.0.get(name);
        kept.and_then(|kept| kept.there(tree)) == Some(EndedAs::Fail)
    }

    /// What a verdict means here. A check that was red and does not come to its end is still red;
    /// so is one that came to an end before, and now hangs. Any other is not to blame.
    pub(super) fn judged(&self, ran: &Ran, tree: &str) -> Verdict {
        let is_red = || self.is_red(&ran.name, tree);
        match &ran.verdict {
            Verdict::TimedOut(failure) if is_red() || self.has_ended(&ran.name) => {
                Verdict::Unfinished(failure.clone())
            }
            Verdict::Unfinished(failure) if is_red() => Verdict::Unfinished(failure.clone()),
            Verdict::TimedOut(failure) | Verdict::Unfinished(failure) => {
                Verdict::CouldNotRun(failure.exit.clone())
            }
            other => other.clone(),
        }
    }

    fn has_ended(&self, name: &str) -> bool {
        let kept = self.0.get(name);
        kept.is_some_and(|kept| !kept.passes.is_empty() || kept.last.result != EndedAs::CouldNotRun)
    }

    /// The inputs that the check writes itself, if the person has not heard of them.
    pub(super) fn new_rewrites<'a>(&self, ran: &'a Ran) -> Option<&'a [String]> {
        let told = self.0.get(&ran.name).map(|kept| &kept.rewrites);
        let is_new = !ran.rewrites.is_empty() && told != Some(&ran.rewrites);
        is_new.then_some(ran.rewrites.as_slice())
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

    /// Records a run in this tree. One that was not started leaves no trace.
    pub(super) fn record(&mut self, ran: &Ran, tree: &str, now: Millis) {
        let (result, cause) = match &ran.verdict {
            Verdict::Pass => (EndedAs::Pass, String::new()),
            Verdict::Fail(failure) | Verdict::TimedOut(failure) | Verdict::Unfinished(failure) => {
                (EndedAs::Fail, failure.exit.clone())
            }
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
        let kept = match self.0.entry(ran.name.clone()) {
            Entry::Vacant(free) => free.insert(Kept::new(last)),
            Entry::Occupied(known) => {
                let kept = known.into_mut();
                kept.last = last;
                kept
            }
        };
        // Under this key it is what it is now, whatever it was.
        kept.passes.retain(|pass| pass.key != ran.key);
        if result == EndedAs::Pass {
            kept.passes.push(Pass {
                key: ran.key.clone(),
                at: now,
                took: ran.took,
            });
        }
        newest(&mut kept.passes, MOST_PASSES);
        if result != EndedAs::CouldNotRun {
            kept.ended_in(tree, result);
        }
        if !ran.rewrites.is_empty() {
            kept.rewrites.clone_from(&ran.rewrites);
        }
    }

    /// Forgets checks that are no longer defined.
    pub(crate) fn keep_only(&mut self, is_defined: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| is_defined(name));
    }
}

impl Kept {
    fn new(last: Ended) -> Self {
        Self {
            last,
            passes: Vec::new(),
            unproved: Vec::new(),
            rewrites: Vec::new(),
        }
    }

    /// How its last finished run in this tree ended, if it was red there and has not passed since.
    fn there(&self, tree: &str) -> Option<EndedAs> {
        let there = self.unproved.iter().find(|one| one.tree == tree);
        there.map(|one| one.ended)
    }

    fn ended_in(&mut self, tree: &str, ended: EndedAs) {
        self.unproved.retain(|one| one.tree != tree);
        if ended != EndedAs::Pass {
            let tree = tree.into();
            self.unproved.push(Unproved { tree, ended });
        }
        newest(&mut self.unproved, MOST_TREES);
    }
}

fn newest<T>(all: &mut Vec<T>, most: usize) {
    let surplus = all.len().saturating_sub(most);
    all.drain(..surplus);
}
