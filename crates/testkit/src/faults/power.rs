//! Power is lost at any moment of two events in a row. Everything that was not synced may be there,
//! missing, torn or zero; every answer that was given must still be true.

use std::collections::HashSet;
use std::fs;

use super::check;
use super::disk::{Data, Story};
use super::lab::{Lab, Ran, Subject};
use super::paths::Path;
use super::sweep::{Depth, Tally};
use super::tree::Tree;

const TRACED: &str = "trace=openat,openat2,close,write,pwrite64,fsync,fdatasync,syncfs,rename,\
                      renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate";
const BOOT: &str = "11111111-2222-4333-8444-555555555555\n";

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let mut tally = Tally::default();
    // A child's writes are not in our trace.
    if path.has_children {
        return tally;
    }
    let mut world = subject.world();
    let boot = world.root().join("boot");
    fs::write(&boot, BOOT).expect("room for an id");
    world.in_boot(Some(boot));
    let mut lab = Lab::of(world, path);
    lab.reset();
    let mut story = Story::new(&lab.tree);
    let mut marks = vec![lab.old.clone()];
    let mut answers = Vec::new();
    for again in [false, true] {
        let ran = traced(&lab, again);
        story.add(&ran.trace, lab.world.root());
        marks.push(lab.mark());
        answers.push(ran.stdout);
    }
    // From here on it is another boot.
    lab.world.in_boot(None);
    let mut seen = HashSet::new();
    let step = match depth {
        Depth::Quick => 3,
        Depth::Full => 1,
    };
    // The last moment is always included: everything was answered, and little synced.
    for count in (0..=story.ops.len()).rev().step_by(step) {
        // Only answers with text count.
        let said = story.said(count);
        for tree in states(&story, count, depth) {
            if seen.insert((tree.digest(), said)) {
                let at = format!("{}: power lost after {count} operations", path.name);
                tally.add(at, state(&lab, &tree, &marks, said.min(2)));
            }
        }
    }
    tally
}

fn traced(lab: &Lab<'_>, again: bool) -> Ran {
    let options = ["-xx", "-s", "1000000", "-e", TRACED];
    if again {
        lab.again_under(&options)
    } else {
        lab.traced(&options)
    }
}

/// Every legal subset if there are few; otherwise the extremes, and random ones.
fn states(story: &Story, count: usize, depth: Depth) -> Vec<Tree> {
    let (names, files) = story.pending(count);
    let kinds = [Data::Kept, Data::Lost, Data::Torn, Data::Zero];
    let most = match depth {
        Depth::Quick => 1,
        Depth::Full => 64,
    };
    let mut found = Vec::new();
    let mut build = |kept: &dyn Fn(usize) -> bool, data: &dyn Fn(usize) -> Data| {
        let sure = |at: usize| !names.contains(&at) || kept(at);
        found.push(story.after(count, &sure, data));
    };
    for kind in kinds {
        build(&|_| true, &|_| kind);
        build(&|_| false, &|_| kind);
    }
    for one in names.iter().filter(|_| depth == Depth::Full) {
        for kind in kinds {
            build(&|at| at != *one, &|_| kind);
            build(&|at| at == *one, &|_| kind);
        }
    }
    for one in files.iter().filter(|_| depth == Depth::Full) {
        for kind in kinds {
            build(&|_| true, &|file| {
                if file == *one { kind } else { Data::Kept }
            });
        }
    }
    // The moment is the random seed, so that a failure can be repeated.
    let mut seed = count as u64 + 1;
    for _ in 0..most {
        let names: Vec<bool> = (0..story.ops.len())
            .map(|_| random(&mut seed, 2) == 0)
            .collect();
        let kinds: Vec<Data> = (0..1_000).map(|_| kinds[random(&mut seed, 4)]).collect();
        build(&|at| names[at], &|file| kinds[file % kinds.len()]);
    }
    found
}

/// A small Lehmer generator: it need not be good, only the same everywhere.
fn random(seed: &mut u64, below: u64) -> usize {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from((*seed >> 33) % below).unwrap_or(0)
}

fn state(lab: &Lab<'_>, tree: &Tree, marks: &[String], said: usize) -> Result<(), String> {
    tree.restore(lab.world.root());
    lab.age_locks();
    let passed = lab.pass_by();
    if passed.code != Some(0) {
        return Err(format!("the next event ended with {:?}", passed.code));
    }
    let mark = lab.mark();
    // An answer without text cannot be distinguished from the one before.
    let least = if lab.healthy.stdout.is_empty() {
        0
    } else {
        said
    };
    if !marks[least..].contains(&mark) {
        return Err(format!(
            "{said} answers were given, and the state is {mark:?}: expected one of {:?}\n  {}",
            &marks[least..],
            passed.stdout
        ));
    }
    let next = lab.again();
    check::answered(lab.path, &next)?;
    for complaint in ["cannot read", "not JSON", "was edited while"] {
        if next.stdout.contains(complaint) && !lab.healthy.stdout.contains(complaint) {
            return Err(format!("it does not recover: {}", next.stdout));
        }
    }
    Ok(())
}
