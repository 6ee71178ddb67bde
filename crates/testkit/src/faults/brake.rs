//! The brake: a person stops a machine whose program runs, and the program ends within a second.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::lab::Subject;
use super::paths::review;
use super::sweep::{Depth, Tally};
use crate::process::{Running, wait_until};
use crate::world::World;

const LIMIT: Duration = Duration::from_secs(1);
/// Longer than the brake may take, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(60);

/// It never ends by itself, and says that it began and who it is.
const SCRIPT: &str = "echo $$ > ../began\nwhile :; do sleep 600; done\n";
const SCRIPT_OF_A_REVIEWER: &str = "#!/bin/sh\nprintf '# Half' > .taskie/plans/demo/plan-review-1.md\necho $$ > ../began\nwhile :; do sleep 600; done\n";
const SETTINGS: &str = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\n";

/// A machine that runs a program, and how a person stops it.
struct Story {
    name: &'static str,
    prepare: fn(&World),
    orders: [&'static [&'static str]; 2],
}

const STORIES: [Story; 2] = [
    Story {
        name: "check",
        prepare: check,
        orders: [&["stop", "check"], &["pause", "10m"]],
    },
    Story {
        name: "reviewer",
        prepare: |world| review::to_be_reviewed_by(world, SCRIPT_OF_A_REVIEWER),
        orders: [&["stop"], &["pause", "10m", "review"]],
    },
];

pub(super) fn sweep(subject: &Subject, depth: Depth) -> Tally {
    let rounds = match depth {
        Depth::Quick => 3,
        Depth::Full => 100,
    };
    let mut tally = Tally::default();
    for story in &STORIES {
        let mut times = Vec::new();
        for order in story.orders {
            for _ in 0..rounds {
                tally.points += 1;
                match brake(&subject.world(), story, order) {
                    // The quick one runs with the tests, on a machine that may be busy.
                    Ok(took) if took > LIMIT && depth == Depth::Full => {
                        let problem =
                            format!("{}: {order:?} took {} ms", story.name, took.as_millis());
                        tally.failures.push(problem);
                    }
                    Ok(took) => times.push(took),
                    Err(problem) => tally.failures.push(format!("{}: {problem}", story.name)),
                }
            }
        }
        times.sort();
        let at = |part: usize| times.get(times.len() * part / 100).copied();
        let shown = |time: Option<Duration>| time.unwrap_or_default().as_millis();
        tally.notes.insert(format!(
            "from the command until the {} and its hook have ended: median {} ms, longest {} ms",
            story.name,
            shown(at(50)),
            shown(times.last().copied())
        ));
    }
    tally
}

fn check(world: &World) {
    let project = world.project();
    fs::remove_dir_all(project.join(".git")).expect("an empty folder");
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&project)
        .status();
    assert!(made.expect("git is here").success());
    fs::write(project.join("mainspring.toml"), SETTINGS).expect("room for it");
    fs::write(project.join("test.sh"), SCRIPT).expect("room for it");
}

/// Starts the program, gives the order, and waits until everything has ended.
fn brake(world: &World, story: &Story, order: &[&str]) -> Result<Duration, String> {
    (story.prepare)(world);
    world.person(&["trust", "--yes"]);
    let mut command = world.command_under(&[], &["hook"]);
    let hook = Running::start_with(&mut command, world.stop("Done."));
    wait_until("the program runs", || world.root().join("began").exists());
    let given = Instant::now();
    world.person(order);
    let ended = hook.wait(PATIENCE);
    let took = given.elapsed();
    let said = ended.stdout_text();
    if !ended.succeeded() || said.contains("\"block\"") || !said.contains("cancelled") {
        return Err(format!("the hook answered {said:?}"));
    }
    if world.is_lived_in() {
        return Err("the program outlived its hook".into());
    }
    Ok(took)
}
