//! A stop whose checks are all green: the keys are taken, and nothing runs.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::{Curve, World};

pub(super) const FILES: Curve = Curve {
    name: "check-files",
    title: "A stop with a green check, in a tree of files",
    axis: "files in the tree",
    about: "Git lists them, and each is looked at once. None is read that has not changed.",
    measure: |lab| {
        lab.grow(
            &[100, 6_500, 100_000],
            "",
            |world, size| green(world, size, 1),
            |_, _| {},
        )
    },
};

pub(super) const CHECKS: Curve = Curve {
    name: "checks",
    title: "A stop with green checks",
    axis: "checks",
    about: "The tree, of 6,500 files, is read once for all of them.",
    measure: |lab| {
        lab.grow(
            &[1, 4, 16, 32],
            "",
            |world, size| green(world, 6_500, size),
            |_, _| {},
        )
    },
};

/// File systems note times in steps: what changed a moment ago is read again.
const SETTLED: Duration = Duration::from_millis(2_500);

/// A repository of that many files, in which all of that many checks have passed.
fn green(world: &World, files: u64, checks: u64) -> Vec<u8> {
    let project = world.project();
    for number in 0..files {
        let folder = project.join(format!("src/{:03}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&folder).expect("a folder in it");
        }
        let text = format!("pub fn number() -> u64 {{ {number} }}\n");
        fs::write(folder.join(format!("file_{number}.rs")), text).expect("a file in it");
    }
    let one = |number| format!("[[check]]\nname = \"check-{number}\"\nrun = [\"true\"]\n");
    let settings = (0..checks).map(one).collect::<Vec<_>>().concat();
    fs::write(project.join("mainspring.toml"), settings).expect("a file in it");
    git(world, &["init", "--quiet"]);
    git(world, &["add", "--all"]);
    world.person(&["trust", "--yes"]);
    std::thread::sleep(SETTLED);
    world.person(&["check", "run"]);
    world.stop("Done.")
}

fn git(world: &World, args: &[&str]) {
    let status = Command::new("git")
        .args(args)
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(world.project())
        .status();
    assert!(status.expect("git is here").success(), "{args:?}");
}
