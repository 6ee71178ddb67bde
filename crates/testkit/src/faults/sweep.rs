//! One path, one kind of fault, every point.

use std::collections::BTreeSet;
use std::fmt;

use super::check;
use super::lab::{Lab, Ran, Subject};
use super::paths::Path;
use super::strace;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Killed before the call takes effect.
    Kill,
    /// The call fails, once.
    Error(&'static str),
    /// The call and every later one of its name fail.
    ErrorsFromThenOn(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Kill => "kill -9".to_owned(),
            Self::Error(error) => format!("{error} once"),
            Self::ErrorsFromThenOn(error) => format!("{error} for good"),
        };
        f.pad(&text)
    }
}

impl Fault {
    pub(super) fn inject(self, call: &str, k: usize) -> String {
        match self {
            Self::Kill => format!("{call}:signal=SIGKILL:when={k}"),
            Self::Error(error) => format!("{call}:error={error}:when={k}"),
            Self::ErrorsFromThenOn(error) => format!("{call}:error={error}:when={k}+"),
        }
    }

    pub(super) fn fired(self, ran: &Ran) -> bool {
        match self {
            Self::Kill => ran.trace.contains("killed by SIGKILL"),
            Self::Error(_) | Self::ErrorsFromThenOn(_) => ran.trace.contains("(INJECTED)"),
        }
    }

    /// An error where the C library sets the process up, or tells the time, ends it before
    /// we are there; killing it there is covered.
    fn applies_to(self, call: &str) -> bool {
        match self {
            Self::Kill => true,
            Self::Error(_) | Self::ErrorsFromThenOn(_) => {
                strace::touches_files(call) && call != "close"
            }
        }
    }
}

/// How many points were tried, and what was wrong at which.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) points: usize,
    pub(super) failures: Vec<String>,
    /// What else is worth knowing of the run.
    pub(super) notes: BTreeSet<String>,
}

impl Tally {
    pub(super) fn add(&mut self, at: impl fmt::Display, result: Result<(), String>) {
        self.points += 1;
        if let Err(problem) = result {
            self.failures.push(format!("{at}: {problem}"));
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        self.points += other.points;
        self.failures.extend(other.failures);
        self.notes.extend(other.notes);
    }
}

/// Which points of a path are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Every call that changes something, and some of those that read.
    Quick,
    /// Every call.
    Full,
}

impl Depth {
    fn wants(self, fault: Fault, call: &str, k: usize) -> bool {
        let step = match (fault, strace::changes_files(call)) {
            (Fault::Kill, true) => 1,
            (Fault::Error(_) | Fault::ErrorsFromThenOn(_), true) => 2,
            (_, false) => 7,
        };
        self == Self::Full || (strace::touches_files(call) && k.is_multiple_of(step))
    }
}

pub(super) fn sweep(subject: &Subject, path: &Path, fault: Fault, depth: Depth) -> Tally {
    let lab = Lab::new(subject, path);
    let mut tally = Tally::default();
    for (call, count) in lab.calls() {
        if !fault.applies_to(&call) {
            continue;
        }
        for k in (1..=count).filter(|k| depth.wants(fault, &call, *k)) {
            let at = format!("{}: {fault} at {call} #{k}", path.name);
            tally.add(at, point(&lab, fault, &call, k));
        }
    }
    tally
}

fn point(lab: &Lab<'_>, fault: Fault, call: &str, k: usize) -> Result<(), String> {
    let hurt = hurt(lab, fault, call, k)?;
    if fault != Fault::Kill {
        check::answered(lab.path, &hurt)?;
    }
    lab.check(&hurt)
}

/// Runs the path with the fault, which must fire. Where the path waits for others, it may
/// take a few tries to come as far.
pub(super) fn hurt(lab: &Lab<'_>, fault: Fault, call: &str, k: usize) -> Result<Ran, String> {
    let tries = if lab.path.has_children { 5 } else { 1 };
    for _ in 0..tries {
        lab.reset();
        let hurt = lab.inject(&fault.inject(call, k));
        if fault.fired(&hurt) {
            return Ok(hurt);
        }
    }
    Err("the fault did not fire".into())
}
