//! Killed again while what the first kill left is mended.

use super::lab::{Lab, Subject};
use super::paths::Path;
use super::strace;
use super::sweep::{self, Depth, Fault, Tally};
use super::tree::Tree;

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let lab = Lab::new(subject, path);
    let mut tally = Tally::default();
    for (call, count) in lab.calls() {
        for k in (1..=count).filter(|k| first(depth, &call, *k)) {
            let at = format!("{}: killed at {call} #{k}", path.name);
            match sweep::hurt(&lab, Fault::Kill, &call, k) {
                Err(problem) => tally.add(at, Err(problem)),
                Ok(hurt) => {
                    lab.settle();
                    lab.age_locks();
                    let crashed = Tree::capture(lab.world.root());
                    let mending = strace::calls(&lab.pass_by_under(&[]).trace);
                    for (call, count) in mending {
                        for k in (1..=count).filter(|k| second(depth, &call, *k)) {
                            crashed.restore(lab.world.root());
                            let inject = format!("inject={}", Fault::Kill.inject(&call, k));
                            let again = lab.pass_by_under(&["-e", &inject]);
                            let result = if Fault::Kill.fired(&again) {
                                lab.check(&hurt)
                            } else {
                                Err("the fault did not fire".into())
                            };
                            tally.add(format!("{at}, then at {call} #{k}"), result);
                        }
                    }
                }
            }
        }
    }
    tally
}

/// What a first kill can leave differs only where something is changed.
fn first(depth: Depth, call: &str, k: usize) -> bool {
    let changes = strace::changes_files(call);
    match depth {
        Depth::Quick => changes && k.is_multiple_of(5),
        Depth::Full => changes || (strace::touches_files(call) && k.is_multiple_of(4)),
    }
}

fn second(depth: Depth, call: &str, k: usize) -> bool {
    match depth {
        Depth::Quick => strace::changes_files(call) && k.is_multiple_of(2),
        Depth::Full => strace::touches_files(call),
    }
}
