//! Kills a process again during the recovery from a first kill.
//!
//! Most first kills leave the same state as another one: if nothing was written between the two,
//! every byte is the same. Such a state is tested once, and the pairs are counted for each first
//! kill that leads to it.

use std::collections::HashMap;

use super::lab::{Lab, Ran, Subject};
use super::paths::Path;
use super::strace::{self, Injection};
use super::sweep::{self, Depth, Fault, Tally};
use super::tree::Tree;

/// The results of every second kill in one state.
type Pairs = Vec<(String, Result<(), String>)>;

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let lab = Lab::new(subject, path);
    let mut tally = Tally::default();
    let mut seen: HashMap<(u64, bool), Pairs> = HashMap::new();
    for (call, count) in lab.calls() {
        for k in (1..=count).filter(|k| first(depth, &call, *k)) {
            let at = format!("{}: killed at {call} #{k}", path.name);
            let hurt = match sweep::hurt(&lab, Fault::Kill, &call, k) {
                Ok(hurt) => hurt,
                Err(problem) => {
                    tally.add(at, Err(problem));
                    continue;
                }
            };
            lab.settle();
            lab.age_locks();
            let crashed = Tree::capture(lab.world.root());
            let state = (crashed.digest(), lab.acknowledged(&hurt));
            if let Some(pairs) = seen.get(&state) {
                tally.count(
                    "of them in a state that is, byte for byte, another's",
                    pairs.len(),
                );
            } else if worth(path, &call, k) {
                seen.insert(state, recover(&lab, &crashed, &hurt, depth));
            } else {
                tally.count(
                    "first kills were left out: they change nothing, and differ from others in a time",
                    1,
                );
            }
            for (then, result) in seen.get(&state).into_iter().flatten() {
                tally.add(format!("{at}, then at {then}"), result.clone());
            }
        }
    }
    tally
}

/// Kills the recovering process at every call, and lets another process recover.
fn recover(lab: &Lab<'_>, crashed: &Tree, hurt: &Ran, depth: Depth) -> Pairs {
    let mut pairs = Pairs::new();
    let calls = strace::calls(&lab.pass_by_under(&[]).trace);
    for (call, count) in calls {
        for k in (1..=count).filter(|k| second(lab.path, depth, &call, *k)) {
            crashed.restore(lab.world.root());
            let fault = Fault::Kill.inject(&call, k);
            let inject = Injection::new(lab.path, &call, &fault);
            let again = lab.pass_by_under(&inject.options());
            let result = if Fault::Kill.fired(&again) {
                lab.check(hurt)
            } else {
                Err("the fault did not fire".into())
            };
            pairs.push((format!("{call} #{k}"), result));
        }
    }
    pairs
}

fn first(depth: Depth, call: &str, k: usize) -> bool {
    match depth {
        Depth::Quick => strace::changes_files(call) && k.is_multiple_of(5),
        Depth::Full => strace::touches_files(call),
    }
}

/// If only a time differs from the state after another kill, one in four is enough; on paths that
/// wait for others, none.
fn worth(path: &Path, call: &str, k: usize) -> bool {
    strace::changes_files(call) || (!path.has_children && k.is_multiple_of(4))
}

fn second(path: &Path, depth: Depth, call: &str, k: usize) -> bool {
    match depth {
        Depth::Quick => strace::changes_files(call) && k.is_multiple_of(2),
        Depth::Full if path.has_children => strace::changes_files(call),
        Depth::Full => strace::touches_files(call),
    }
}
