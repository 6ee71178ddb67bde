//! One path, one kind of fault, every point.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::ERRORS;
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
    /// The call and every later one with this name fail.
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
    /// What strace takes after the call's name.
    pub(super) fn inject(self, call: &str, k: usize) -> String {
        match self {
            Self::Kill => format!("signal=SIGKILL:when={k}"),
            Self::Error(error) => format!("error={error}:when={k}"),
            // An interrupted call must be retried, except a sync. No kernel interrupts for ever, so
            // this happens twenty times, and then the call must succeed.
            Self::ErrorsFromThenOn("EINTR") if !strace::syncs(call) => {
                format!("error=EINTR:when={k}..{}", k + 19)
            }
            Self::ErrorsFromThenOn(error) => format!("error={error}:when={k}+"),
        }
    }

    pub(super) fn fired(self, ran: &Ran) -> bool {
        match self {
            Self::Kill => ran.trace.contains("killed by SIGKILL"),
            Self::Error(_) | Self::ErrorsFromThenOn(_) => ran.trace.contains("(INJECTED)"),
        }
    }

    pub(super) fn error(self) -> Option<&'static str> {
        match self {
            Self::Kill => None,
            Self::Error(error) | Self::ErrorsFromThenOn(error) => Some(error),
        }
    }

    fn has_its_turn_at(self, k: usize) -> bool {
        let number = ERRORS.iter().position(|one| Some(*one) == self.error());
        number.is_none_or(|number| (number + k).is_multiple_of(5))
    }

    /// An error in the start-up of the C library, or in reading the time, ends the process before
    /// our code runs. Killing it there is covered.
    fn applies_to(self, call: &str) -> bool {
        match self {
            Self::Kill => true,
            Self::Error(_) | Self::ErrorsFromThenOn(_) => {
                strace::touches_files(call) && call != "close"
            }
        }
    }
}

/// How many points were tried, and what failed where.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) points: usize,
    pub(super) failures: Vec<String>,
    /// What else is worth knowing about the run.
    pub(super) notes: BTreeSet<String>,
    /// And what is worth counting.
    pub(super) counts: BTreeMap<&'static str, usize>,
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
        for (what, count) in other.counts {
            self.count(what, count);
        }
    }

    pub(super) fn count(&mut self, what: &'static str, count: usize) {
        *self.counts.entry(what).or_insert(0) += count;
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
            (Fault::ErrorsFromThenOn(_), _) if strace::syncs(call) => 1,
            (Fault::ErrorsFromThenOn(_), _) => return self == Self::Full,
            (Fault::Kill, true) => 1,
            (Fault::Error(_), true) => 2,
            (_, false) => 7,
        };
        self == Self::Full || (strace::touches_files(call) && k.is_multiple_of(step))
    }
}

pub(super) fn sweep(subject: &Subject, path: &Path, faults: &[Fault], depth: Depth) -> Tally {
    let lab = Lab::new(subject, path);
    let calls = lab.calls();
    let mut tally = Tally::default();
    for fault in faults.iter().copied() {
        for (call, count) in calls.iter().filter(|(call, _)| fault.applies_to(call)) {
            for k in (1..=*count).filter(|k| depth.wants(fault, call, *k)) {
                if subject.satisfied_by(&tally) {
                    return tally;
                }
                // On paths that wait for others, each call gets two of the ten errors.
                if path.has_children && depth == Depth::Full && !fault.has_its_turn_at(k) {
                    tally.count("points left out, on paths with children: each call is told two of the ten errors", 1);
                    continue;
                }
                let at = format!("{}: {fault} at {call} #{k}", path.name);
                tally.add(at, point(&lab, fault, call, k));
            }
        }
    }
    tally
}

fn point(lab: &Lab<'_>, fault: Fault, call: &str, k: usize) -> Result<(), String> {
    let hurt = hurt(lab, fault, call, k)?;
    if fault != Fault::Kill {
        if !struck_dumb(&hurt) {
            check::answered(lab.path, &hurt)?;
        }
        synced_once(call, &hurt)?;
    }
    lab.check(&hurt)
}

/// Neither stdout nor stderr could be written to: all it can do is exit with 1.
fn struck_dumb(hurt: &Ran) -> bool {
    let to_stderr = |line: &str| line.contains("write(2<") && line.contains("(INJECTED)");
    let silent = hurt.stdout.is_empty() && hurt.stderr.is_empty();
    hurt.code == Some(1) && silent && hurt.trace.lines().any(to_stderr)
}

/// A failed sync is not repeated for the same file: the second one may report success although the
/// data was never written.
fn synced_once(call: &str, hurt: &Ran) -> Result<(), String> {
    if !strace::syncs(call) {
        return Ok(());
    }
    let mut asked = BTreeSet::new();
    let failed = |line: &&str| line.contains("(INJECTED)");
    for line in hurt.trace.lines().filter(failed) {
        // As `fdatasync(4</the/file>) = …`.
        let file = line.split_once('<').map_or(line, |(_, rest)| rest);
        let file = file.split_once('>').map_or(file, |(file, _)| file);
        if !asked.insert(file) {
            return Err(format!("a sync of {file} that failed was asked again"));
        }
    }
    Ok(())
}

/// Runs the path with the fault, which must fire. On paths that wait for others, that may take a
/// few tries.
pub(super) fn hurt(lab: &Lab<'_>, fault: Fault, call: &str, k: usize) -> Result<Ran, String> {
    for _ in 0..lab.tries() {
        lab.reset();
        let hurt = lab.inject(call, &fault.inject(call, k));
        check::ended(&hurt)?;
        if fault.fired(&hurt) {
            return Ok(hurt);
        }
    }
    Err("the fault did not fire".into())
}
