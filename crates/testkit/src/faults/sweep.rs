//! One path, one kind of fault, every point.

use std::fmt;
use std::path::Path as FilePath;

use super::check;
use super::paths::Path;
use super::strace::{self, Ran};
use crate::world::World;

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
    fn inject(self, call: &str, k: usize) -> String {
        match self {
            Self::Kill => format!("{call}:signal=SIGKILL:when={k}"),
            Self::Error(error) => format!("{call}:error={error}:when={k}"),
            Self::ErrorsFromThenOn(error) => format!("{call}:error={error}:when={k}+"),
        }
    }

    fn fired(self, ran: &Ran) -> bool {
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

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) points: usize,
    pub(super) failures: Vec<String>,
}

pub(super) fn sweep(path: &Path, fault: Fault, mainspring: &FilePath, quick: bool) -> Tally {
    let world = World::new(mainspring);
    let event = (path.prepare)(&world);
    let healthy = strace::run(mainspring, &world, &event, None);
    let calls = strace::calls(&healthy.trace);
    let mut tally = Tally::default();
    for (call, count) in calls {
        if !fault.applies_to(&call) || (quick && !strace::touches_files(&call)) {
            continue;
        }
        for k in 1..=count {
            tally.points += 1;
            if let Err(problem) = point(path, fault, mainspring, &call, k) {
                let failure = format!("{}: {fault} at {call} #{k}: {problem}", path.name);
                tally.failures.push(failure);
            }
        }
    }
    tally
}

fn point(
    path: &Path,
    fault: Fault,
    mainspring: &FilePath,
    call: &str,
    k: usize,
) -> Result<(), String> {
    let world = World::new(mainspring);
    let event = (path.prepare)(&world);
    let hurt = strace::run(mainspring, &world, &event, Some(&fault.inject(call, k)));
    if !fault.fired(&hurt) {
        return Err("the fault did not fire".into());
    }
    if fault != Fault::Kill {
        check::answered(&hurt)?;
    }
    check::nothing_torn(&world)?;
    let said = hurt.stdout.trim_end().to_owned();
    if hurt.stdout.ends_with('\n') && said.contains("\"decision\":\"block\"") {
        check::durable(&world)?;
    }
    // The host delivers the next event; whatever was left unfinished is finished now.
    let next = strace::run(mainspring, &world, &event, None);
    if next.code != Some(0) {
        return Err(format!("the next event ended with {:?}", next.code));
    }
    check::nothing_torn(&world)?;
    check::nothing_left_over(&world)?;
    (path.verify)(&world, &next.stdout).map_err(|problem| {
        format!(
            "{problem}\n  first: {said}\n  next:  {}",
            next.stdout.trim_end()
        )
    })
}
