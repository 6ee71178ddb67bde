//! Advice for the author of a valid list. It is never a reason to refuse the list.
//!
//! Circles are allowed, as in the client's own lists; the tasks in a circle can never start.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::check::List;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// These tasks wait for each other in a circle: each for the next, and the last for the first.
    Circle(Vec<u64>),
    /// It waits, directly or not, for a task in a circle.
    Unreachable(u64),
}

/// All of it, in a fixed order.
pub fn advise(list: &List) -> Vec<Advice> {
    let waits = waits(list);
    let reached: BTreeSet<u64> = waves_of(&waits).into_iter().flatten().collect();
    let stuck: BTreeSet<u64> = waits
        .keys()
        .copied()
        .filter(|id| !reached.contains(id))
        .collect();
    let circles = circles(&waits, &stuck);
    let circled: BTreeSet<u64> = circles.iter().flatten().copied().collect();
    let unreachable = stuck.difference(&circled).copied();
    let circles = circles.iter().cloned().map(Advice::Circle);
    circles
        .chain(unreachable.map(Advice::Unreachable))
        .collect()
}

/// What each task waits for, whichever of the two fields says so.
pub fn waits(list: &List) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut waits: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for item in &list.items {
        let own = waits.entry(item.local).or_default();
        own.extend(&item.blocked_by);
        for blocked in &item.blocks {
            waits.entry(*blocked).or_default().insert(item.local);
        }
    }
    waits
}

/// In which waves the tasks can be worked on: first those that wait for nothing, then those that
/// wait only for them, and so on. Tasks that can never start are in no wave.
pub fn waves(list: &List) -> Vec<Vec<u64>> {
    waves_of(&waits(list))
}

fn waves_of(waits: &BTreeMap<u64, BTreeSet<u64>>) -> Vec<Vec<u64>> {
    let mut followers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut missing: BTreeMap<u64, usize> = BTreeMap::new();
    for (id, blockers) in waits {
        missing.insert(*id, blockers.len());
        for blocker in blockers {
            followers.entry(*blocker).or_default().push(*id);
        }
    }
    let free = missing.iter().filter(|(_, count)| **count == 0);
    let mut wave: Vec<u64> = free.map(|(id, _)| *id).collect();
    let mut waves = Vec::new();
    while !wave.is_empty() {
        let mut next = Vec::new();
        for follower in wave.iter().filter_map(|id| followers.get(id)).flatten() {
            if let Some(count) = missing.get_mut(follower) {
                *count -= 1;
                if *count == 0 {
                    next.push(*follower);
                }
            }
        }
        next.sort_unstable();
        waves.push(core::mem::replace(&mut wave, next));
    }
    waves
}

/// One circle for every group of tasks that only wait for each other. Following stuck blockers from
/// any stuck task never ends, so the path must come back to itself.
fn circles(waits: &BTreeMap<u64, BTreeSet<u64>>, stuck: &BTreeSet<u64>) -> Vec<Vec<u64>> {
    let mut circles = Vec::new();
    let mut walked: BTreeSet<u64> = BTreeSet::new();
    for start in stuck {
        let mut way: Vec<u64> = Vec::new();
        let mut here = *start;
        while walked.insert(here) {
            way.push(here);
            let mut blockers = waits.get(&here).into_iter().flatten();
            match blockers.find(|id| stuck.contains(id)) {
                Some(next) => here = *next,
                None => break,
            }
        }
        if let Some(first) = way.iter().position(|id| *id == here) {
            let mut circle = way.split_off(first);
            let least = circle.iter().enumerate().min_by_key(|(_, id)| **id);
            let turn = least.map_or(0, |(index, _)| index);
            circle.rotate_left(turn);
            circles.push(circle);
        }
    }
    circles
}
