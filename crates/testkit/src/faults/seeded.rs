//! Does the harness find bugs? Each protection is removed by a patch, in a copy of the tree, and the
//! part that should notice must fail.
//!
//! The patches are `seeded/NAME.patch`: a sentence that says what is removed, and a diff with as
//! little context as possible. A patch that no longer applies is a failure, here and in `./test`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use super::lab::Subject;
use super::paths::{self, Path};
use super::sweep::{Depth, Tally};
use super::{PARTS, Progress};
use crate::clients::workspace;

/// A protection, the part that notices its removal, and the path on which it does.
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
    bug("checksums", "flips", "gate: hold", Depth::Quick),
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
    // Only on this architecture, as the part is.
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

impl Bug {
    fn patch(&self) -> PathBuf {
        folder().join(format!("{}.patch", self.without.replace(' ', "-")))
    }
}

fn folder() -> PathBuf {
    workspace().join("crates/testkit/seeded")
}

/// A copy of the tree, from which protections can be removed.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn new() -> Self {
        let place = workspace().join("target/seeded");
        Self {
            tree: place.join("tree"),
            target: place.join("target"),
        }
    }

    /// Copies the tree. Unchanged files are not written, so that they are not built again.
    fn restore(&self) {
        let listed = git(
            &workspace(),
            &["ls-files", "-z", "-co", "--exclude-standard"],
        );
        assert!(listed.status.success(), "{}", words(&listed));
        let names = String::from_utf8(listed.stdout).expect("names of ours are text");
        let before = self.tree.with_file_name("names");
        let once = fs::read_to_string(&before).unwrap_or_default();
        let all: BTreeSet<&str> = once.split('\0').chain(names.split('\0')).collect();
        fs::create_dir_all(&self.tree).expect("the target folder is ours");
        fs::write(before, &names).expect("the target folder is ours");
        for name in all.into_iter().filter(|name| !name.is_empty()) {
            let copy = self.tree.join(name);
            let Ok(bytes) = fs::read(workspace().join(name)) else {
                // The file existed once.
                let _ = fs::remove_file(copy);
                continue;
            };
            if fs::read(&copy).is_ok_and(|found| found == bytes) {
                continue;
            }
            let above = copy.parent().expect("it is in the tree");
            fs::create_dir_all(above).expect("the target folder is ours");
            fs::write(&copy, bytes).expect("the target folder is ours");
        }
    }

    /// Removes a protection.
    fn apply(&self, bug: &Bug) -> Result<(), String> {
        apply(&self.tree, bug, &[])
    }

    /// Builds the program of this tree.
    fn build(&self) -> Result<PathBuf, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--locked", "--package=mainspring"])
            .args(["--bin=mainspring", "--target-dir"])
            .arg(&self.target)
            .current_dir(&self.tree)
            .stdin(Stdio::null())
            .output()
            .expect("cargo runs");
        if !built.status.success() {
            return Err(format!("it does not build: {}", words(&built)));
        }
        let this = std::env::current_exe().expect("it has a path");
        // …/target/<triple>/<profile>/program
        let triple = this.ancestors().nth(2).and_then(std::path::Path::file_name);
        let triple = triple.expect("it is in a folder of the target's");
        Ok(self.target.join(triple).join("debug/mainspring"))
    }
}

/// `git apply` for this bug's patch; with `--check` it only tests whether the patch applies.
fn apply(tree: &std::path::Path, bug: &Bug, options: &[&str]) -> Result<(), String> {
    let patch = bug.patch();
    let path = patch.to_string_lossy();
    let mut args = vec!["apply", "--recount"];
    args.extend(options);
    args.push(&path);
    let applied = git(tree, &args);
    if applied.status.success() {
        return Ok(());
    }
    let name = patch.file_name().unwrap_or_default().display();
    Err(format!("{name} no longer applies: {}", words(&applied)))
}

/// Runs git so that it does not find a repository: inside one, `git apply` silently skips files
/// that are elsewhere.
fn git(folder: &std::path::Path, args: &[&str]) -> Output {
    let mut git = Command::new("git");
    if args.first() == Some(&"apply") {
        git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    }
    git.args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("git runs")
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Removes every protection in turn; if nothing notices, that is a failure. With all protections,
/// the same parts must find nothing.
pub(super) fn run(only: Option<&str>, report: &dyn Fn(&str)) -> Tally {
    let copy = Copy::new();
    let mut tally = Tally::default();
    let mut control: Vec<&Bug> = Vec::new();
    for bug in BUGS {
        if only.is_some_and(|only| !bug.without.contains(only)) {
            continue;
        }
        copy.restore();
        let caught = copy.apply(bug).and_then(|()| copy.build()).map(|program| {
            let mut subject = subject(&program);
            subject.one_will_do = true;
            try_one(&subject, bug)
        });
        let caught = caught.and_then(|found| {
            let first = found.failures.first().and_then(|text| text.lines().next());
            let first = first.ok_or_else(|| "NOBODY MISSES IT".to_owned())?;
            let (failed, points) = (found.failures.len(), found.points);
            Ok(format!("{failed:>4} of {points} points fail: {first}"))
        });
        let (Ok(words) | Err(words)) = &caught;
        report(&format!(
            "without {:<22} {:<8} {words}",
            bug.without, bug.part
        ));
        tally.add(format!("without {}", bug.without), caught.map(drop));
        let same =
            |other: &&Bug| (other.part, other.path, other.depth) == (bug.part, bug.path, bug.depth);
        if !control.iter().any(same) {
            control.push(bug);
        }
    }
    copy.restore();
    let program = match copy.build() {
        Ok(program) => program,
        Err(problem) => {
            tally.add("with everything", Err(problem));
            return tally;
        }
    };
    for bug in control {
        let found = try_one(&subject(&program), bug);
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

fn subject(program: &std::path::Path) -> Subject {
    let mut subject = Subject::new(program);
    subject.error = Some("EIO".into());
    subject
}

fn try_one(subject: &Subject, bug: &Bug) -> Tally {
    let part = PARTS.iter().find(|part| part.name == bug.part);
    let part = part.expect("a part of that name");
    let paths: Vec<&Path> = paths::ALL
        .iter()
        .filter(|path| path.name == bug.path)
        .collect();
    assert_eq!(paths.len(), 1, "one path named {}", bug.path);
    // If the world cannot even be set up, the bug is noticed, too.
    part.run(subject, &paths, bug.depth, Progress::Silent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mainspring-testkit faults --seeded` builds them; this only checks that they apply.
    #[test]
    fn every_seeded_bug_still_applies_to_the_tree() {
        let problems: Vec<String> = BUGS
            .iter()
            .filter_map(|bug| apply(&workspace(), bug, &["--check"]).err())
            .collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn every_patch_says_what_it_takes_away_and_is_tried() {
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(folder()).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            let text = fs::read_to_string(&path).expect("a patch is text");
            let words = text.lines().next().unwrap_or_default();
            assert!(words.ends_with('.'), "{}: {words:?}", path.display());
            there.insert(path);
        }
        let tried: BTreeSet<PathBuf> = BUGS.iter().map(Bug::patch).collect();
        assert_eq!(there, tried);
    }
}
