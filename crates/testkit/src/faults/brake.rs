//! The brake: a person stops a machine whose program runs, and the program ends within a second.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::lab::Subject;
use super::sweep::{Depth, Tally};
use crate::process::{Running, wait_until};
use crate::world::World;

const LIMIT: Duration = Duration::from_secs(1);
/// Longer than the brake may take, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(60);

/// It never ends by itself, and says that it began and who it is.
const SCRIPT: &str = "echo $$ > ../began\nwhile :; do sleep 600; done\n";
const SETTINGS: &str = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\n";

pub(super) fn sweep(subject: &Subject, depth: Depth) -> Tally {
    let rounds = match depth {
        Depth::Quick => 3,
        Depth::Full => 100,
    };
    let mut tally = Tally::default();
    let mut times = Vec::new();
    for order in [&["stop", "check"][..], &["pause", "10m"]] {
        for _ in 0..rounds {
            tally.points += 1;
            match brake(&subject.world(), order) {
                // The quick one runs with the tests, on a machine that may be busy.
                Ok(took) if took > LIMIT && depth == Depth::Full => {
                    let problem = format!("{order:?} took {} ms", took.as_millis());
                    tally.failures.push(problem);
                }
                Ok(took) => times.push(took),
                Err(problem) => tally.failures.push(problem),
            }
        }
    }
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).copied();
    let shown = |time: Option<Duration>| time.unwrap_or_default().as_millis();
    tally.notes.insert(format!(
        "from the command until the check and its hook have ended: median {} ms, longest {} ms",
        shown(at(50)),
        shown(times.last().copied())
    ));
    tally
}

/// Starts a check, gives the order, and waits until everything has ended.
fn brake(world: &World, order: &[&str]) -> Result<Duration, String> {
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
    world.person(&["trust", "--yes"]);
    let mut command = world.command_under(&[], &["hook"]);
    let hook = Running::start_with(&mut command, world.stop("Done."));
    wait_until("the check runs", || world.root().join("began").exists());
    let given = Instant::now();
    world.person(order);
    let ended = hook.wait(PATIENCE);
    let took = given.elapsed();
    if !ended.succeeded() || ended.stdout_text().contains("\"block\"") {
        return Err(format!("the hook answered {:?}", ended.stdout_text()));
    }
    if world.is_lived_in() {
        return Err("the check outlived its hook".into());
    }
    Ok(took)
}
