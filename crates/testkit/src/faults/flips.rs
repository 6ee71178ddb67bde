//! One changed byte in a file of Mainspring's own: the next stop is answered as before, or the
//! person is told which file it is. Nobody is let go without a word, no second reviewer is
//! started and no order is lifted.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::lab::{Subject, event_file};
use super::paths::review;
use super::sweep::{Depth, Tally};
use super::tree::{Node, Tree};
use crate::files::{sealed, write};
use crate::process::wait_until;
use crate::world::World;

/// A world in which something is in force that must not end without a word.
struct Story {
    name: &'static str,
    prepare: fn(&World) -> Option<Child>,
    /// What must be so after every stop.
    verify: fn(&World, &str) -> Result<(), String>,
}

const STORIES: [Story; 3] = [
    Story {
        name: "all machines",
        prepare: all_machines,
        verify: |world, _| reviewers(world, 0),
    },
    Story {
        name: "a review under way",
        prepare: review_under_way,
        verify: |world, _| reviewers(world, 1),
    },
    Story {
        name: "a person's stop",
        prepare: stopped,
        verify: |_, said| {
            let held = said.contains("\"block\"");
            if held {
                Err(format!("the stop was lifted: {said}"))
            } else {
                Ok(())
            }
        },
    },
];

pub(super) fn sweep(subject: &Subject, depth: Depth) -> Tally {
    let mut sum = Tally::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for story in &STORIES {
        let parts: Vec<Tally> = std::thread::scope(|scope| {
            let each = |part| move || part_of(subject, story, depth, (part, threads));
            let all: Vec<_> = (0..threads).map(|part| scope.spawn(each(part))).collect();
            all.into_iter()
                .map(|one| one.join().expect("a sweep ends"))
                .collect()
        });
        for part in parts {
            sum.join(part);
        }
    }
    sum
}

/// Every so many-th byte, in a world of its own.
fn part_of(subject: &Subject, story: &Story, depth: Depth, (part, of): (usize, usize)) -> Tally {
    let world = subject.world();
    let child = (story.prepare)(&world);
    let kept = Kept::of(&world);
    let before = stop(&world);
    kept.restore();
    let mut tally = Tally::default();
    for (path, bytes) in kept.ours() {
        let (step, flips) = reach(&path, depth);
        for at in (0..bytes.len()).step_by(step) {
            if (at / step) % of != part {
                continue;
            }
            for flip in flips.clone() {
                if subject.satisfied_by(&tally) {
                    break;
                }
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                fs::write(&path, changed).expect("a file of ours");
                let said = stop(&world);
                let title = format!("{}: {}, byte {at} ^ {flip}", story.name, path.display());
                tally.add(title, judge(story, &world, &path, (&before, &said)));
                kept.restore();
            }
        }
    }
    if let Some(mut child) = child {
        let _ = child.kill();
        let _ = child.wait();
    }
    wait_until("what was started has ended", || !world.is_lived_in());
    tally
}

/// Which bytes of a file are changed, and how: each bit, and all of them. That every other value of
/// a byte is found as well is a property of the checksum alone, and crates/store tests it for every
/// byte of a sealed file. Of a journal, which a hook reads only after a power loss, fewer are
/// changed: crates/store has a test that changes each of its bytes.
fn reach(path: &FilePath, depth: Depth) -> (usize, Vec<u8>) {
    let is_journal = path.extension().is_some_and(|end| end == "jsonl");
    match (depth, is_journal) {
        (Depth::Quick, true) => (211, vec![1, 1 << 5]),
        (Depth::Quick, false) | (Depth::Full, true) => (1, vec![1, 1 << 5]),
        (Depth::Full, false) => (1, vec![1, 2, 4, 8, 16, 32, 64, 128, u8::MAX]),
    }
}

fn judge(
    story: &Story,
    world: &World,
    path: &FilePath,
    (before, said): (&str, &str),
) -> Result<(), String> {
    (story.verify)(world, said)?;
    if said == before {
        return Ok(());
    }
    let answer: Value = serde_json::from_str(said).unwrap_or_default();
    let told = answer["systemMessage"].as_str().unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if told.contains(name.as_ref()) {
        return Ok(());
    }
    Err(format!("silent\n  before: {before}  now:    {said}"))
}

fn stop(world: &World) -> String {
    let event = world.stop("Not done.");
    let mut command = world.command_under(&[], &["hook"]);
    let ran = super::lab::finish(command.stdin(event_file(world, &event)));
    assert!(ran.code == Some(0) && !ran.overdue, "{ran:?}");
    ran.stdout
}

/// What a stop may change: our state first.
struct Kept([(PathBuf, Tree); 3]);

impl Kept {
    fn of(world: &World) -> Self {
        let state = world.home().join(".local/state/mainspring");
        let folders = [state, world.root().join("tmp"), world.root().join("bin")];
        Self(folders.map(|folder| (folder.clone(), Tree::capture(&folder))))
    }

    fn restore(&self) {
        for (folder, tree) in &self.0 {
            tree.restore(folder);
        }
    }

    /// Files that a hook reads, and that nobody but us writes.
    fn ours(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (folder, tree) = &self.0[0];
        let files = tree.nodes.iter().filter_map(|(below, node)| match node {
            Node::File { bytes, .. } if !is_anothers(below) => {
                Some((folder.join(below), bytes.clone()))
            }
            Node::File { .. } | Node::Dir { .. } | Node::Link(_) => None,
        });
        files.collect()
    }
}

/// For people, or what a reviewer printed, or what it is told.
fn is_anothers(below: &FilePath) -> bool {
    let name = below.file_name().unwrap_or_default().to_string_lossy();
    let text = below.to_string_lossy();
    name == "root"
        || name == "reviews.jsonl"
        || text.contains("/reviews/")
        || below.extension().is_some_and(|end| end == "md")
}

fn reviewers(world: &World, most: usize) -> Result<(), String> {
    match review::starts(world) {
        count if count <= most => Ok(()),
        count => Err(format!("{count} reviewers were started")),
    }
}

/// A gate, a loop, a check of the set-up, a plan that is to be reviewed, a claim, and trust.
fn all_machines(world: &World) -> Option<Child> {
    review::to_be_reviewed(world);
    world.person(&["trust", "--yes"]);
    world.person(&["gate", "on", "--project"]);
    world.mainspring(&["gate", "on"]);
    world.mainspring(&["plan", "adopt"]);
    world.mainspring(&["loop", "start", "--max", "50"]);
    world.person(&["pulse", "50"]);
    let claim = json!({
        "schema_version": 1, "issue_number": 42, "branch": "agent/42", "phase": "coding",
    });
    write(world.project().join(".agent-claim.json"), claim.to_string());
    let memory = json!({ "issue": 42, "owner": "s" });
    write(world.state().join("claim.json"), sealed(memory));
    world.hook(&world.stop("Begun."));
    None
}

/// The gate is stopped, and would hold.
fn stopped(world: &World) -> Option<Child> {
    world.mainspring(&["gate", "on"]);
    world.hook(&world.stop("Begun."));
    world.person(&["stop"]);
    None
}

/// The first one takes its time; no other may be started.
const REVIEWER: &str = r#"#!/bin/sh
starts=${0%/*}/starts
if [ -e "$starts" ]; then echo x >> "$starts"; exit 1; fi
echo x > "$starts"
exec sleep 3000
"#;

/// A hook waits for its reviewer.
fn review_under_way(world: &World) -> Option<Child> {
    review::to_be_reviewed(world);
    let program = world.root().join("bin/reviewer");
    write(&program, REVIEWER);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    world.person(&["trust", "--yes"]);
    let event = world.root().join("first");
    fs::write(&event, world.stop("Begun.")).expect("room for an event");
    let hook = world
        .command_under(&[], &["hook"])
        .stdin(File::open(&event).expect("the event is there"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("mainspring runs");
    wait_until("the reviewer starts", || review::starts(world) == 1);
    Some(hook)
}
