//! Is the harness any good? Each protection is taken away in a build that can do without
//! it, and the part that is to miss it must fail.

use std::path::PathBuf;
use std::process::Command;

use super::lab::Subject;
use super::paths::{self, Path};
use super::sweep::{Depth, Tally};
use super::{PARTS, Progress};
use crate::clients::workspace;

/// A protection, the part that misses it, and the path on which it does.
struct Bug {
    without: &'static str,
    part: &'static str,
    path: &'static str,
    depth: Depth,
}

const fn bug(without: &'static str, part: &'static str, path: &'static str, depth: Depth) -> Bug {
    Bug {
        without,
        part,
        path,
        depth,
    }
}

const BUGS: &[Bug] = &[
    bug("lock", "crowd", "gate: hold", Depth::Quick),
    bug("a lasting lock file", "crowd", "gate: hold", Depth::Quick),
    bug("sync", "power", "pulse: later hold", Depth::Quick),
    bug("directory sync", "power", "command: gate on", Depth::Quick),
    bug("torn rests", "power", "pulse: later hold", Depth::Quick),
    bug(
        "record before answer",
        "kill",
        "pulse: later hold",
        Depth::Quick,
    ),
    bug("temporary file", "kill", "pulse: later hold", Depth::Quick),
    bug(
        "one temporary name",
        "kill",
        "pulse: later hold",
        Depth::Quick,
    ),
    bug("roll forward", "kill", "pulse: recovery", Depth::Quick),
    bug("read errors", "errors", "pulse: recovery", Depth::Full),
    bug("ledger", "kill", "the host's own limit", Depth::Quick),
    bug("trust", "kill", "review: not trusted", Depth::Quick),
    bug("redelivery", "preempt", "pulse: later hold", Depth::Quick),
    bug("intent", "preempt", "review: by a child", Depth::Quick),
    bug("fence", "preempt", "review: by a child", Depth::Quick),
    bug("no links", "places", "pulse: later hold", Depth::Full),
    bug(
        "no waiting for files",
        "places",
        "pulse: later hold",
        Depth::Full,
    ),
    // Of this machine's alone, as the part is.
    #[cfg(target_arch = "x86_64")]
    bug(
        "reads that go on",
        "short",
        "pulse: later hold",
        Depth::Quick,
    ),
    bug(
        "a probe by key",
        "kill",
        "claim: an issue is closed",
        Depth::Quick,
    ),
    bug(
        "containment by parts",
        "kill",
        "loop: a prompt beside the project",
        Depth::Quick,
    ),
];

/// A build of the program that can do without its protections.
pub(super) fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = workspace().join("target/seeded");
    let status = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--package=mainspring",
            "--bin=mainspring",
        ])
        .args(["--features=seeded-bugs", "--target-dir"])
        .arg(&target)
        .current_dir(workspace())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the build with seeded bugs failed");
    let this = std::env::current_exe().expect("it has a path");
    // …/target/<triple>/<profile>/program
    let triple = this.ancestors().nth(2).and_then(std::path::Path::file_name);
    target
        .join(triple.expect("it is in a folder of the target's"))
        .join("debug/mainspring")
}

/// Takes every protection away in turn; one that nobody misses is a failure. And where all
/// are there, the same parts find nothing.
pub(super) fn run(subject: &Subject, only: Option<&str>, report: &dyn Fn(&str)) -> Tally {
    let mut tally = Tally::default();
    let mut control: Vec<&Bug> = Vec::new();
    for bug in BUGS {
        if only.is_some_and(|only| !bug.without.contains(only)) {
            continue;
        }
        let found = try_one(subject, bug, Some(bug.without));
        let first = found.failures.first().and_then(|text| text.lines().next());
        report(&format!(
            "without {:<22} {:<8} {:>4} of {} points fail: {}",
            bug.without,
            bug.part,
            found.failures.len(),
            found.points,
            first.unwrap_or("NOBODY MISSES IT")
        ));
        let caught = first.map(drop).ok_or_else(|| "nobody misses it".to_owned());
        tally.add(format!("without {}", bug.without), caught);
        let same =
            |other: &&Bug| (other.part, other.path, other.depth) == (bug.part, bug.path, bug.depth);
        if !control.iter().any(same) {
            control.push(bug);
        }
    }
    for bug in control {
        let found = try_one(subject, bug, None);
        let first = found.failures.first();
        report(&format!(
            "with everything: {} on {}: {} points, {} failed{}",
            bug.part,
            bug.path,
            found.points,
            found.failures.len(),
            first.map_or(String::new(), |first| format!(": {first}"))
        ));
        tally.failures.extend(found.failures);
    }
    tally
}

fn try_one(subject: &Subject, bug: &Bug, without: Option<&str>) -> Tally {
    let mut subject = subject.clone();
    subject.error = Some("EIO".into());
    if let Some(protection) = without {
        let variable = ("MAINSPRING_SEEDED_BUG".into(), protection.into());
        subject.vars.push(variable);
        subject.one_will_do = true;
    }
    let part = PARTS.iter().find(|part| part.name == bug.part);
    let part = part.expect("a part of that name");
    let paths: Vec<&Path> = paths::ALL
        .iter()
        .filter(|path| path.name == bug.path)
        .collect();
    assert_eq!(paths.len(), 1, "one path named {}", bug.path);
    // A world that cannot even be laid out is a way to notice, too.
    part.run(&subject, &paths, bug.depth, Progress::Silent)
}
