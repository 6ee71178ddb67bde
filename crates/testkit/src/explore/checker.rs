//! Breadth-first search over every reachable state.
//!
//! States are distinguished by 64 bits of their hash. Of a visited state only its hash and its
//! parent's are stored, so ten million states fit in a few hundred megabytes. Levels are finished
//! one after the other, so the first broken state is one of the nearest. Its path is found by
//! walking again from the start along the stored hashes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A transition system.
pub(super) trait Model: Sync {
    type State: Clone + Hash + Send + Sync;
    type Action: Clone + Send;

    fn initial(&self) -> Self::State;
    /// Everything that may happen next.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);
    fn apply(&self, state: &Self::State, action: &Self::Action) -> Self::State;
    /// The step in words, for a person.
    fn describe(&self, state: &Self::State, action: &Self::Action) -> String;
    /// The property that does not hold here.
    fn broken(&self, state: &Self::State) -> Option<&'static str>;
    /// The situations that must occur somewhere; otherwise a property might hold only because they
    /// never do.
    fn situations(&self) -> Vec<(u64, &'static str)>;
    /// Which of them occurred in the last step, as bits.
    fn seen(&self, state: &Self::State) -> u64;
    /// In a state from which nothing can happen: what is wrong with it?
    fn unfinished(&self, state: &Self::State) -> Option<&'static str>;
}

#[derive(Debug, Clone)]
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) steps: usize,
    pub(super) depth: usize,
    pub(super) ends: usize,
    pub(super) time: Duration,
    pub(super) seen: u64,
    pub(super) broken: Option<Counterexample>,
    /// The search ended before it had visited every state.
    pub(super) cut: bool,
}

/// A shortest path to a state in which a property does not hold.
#[derive(Debug, Clone)]
pub(super) struct Counterexample {
    pub(super) property: &'static str,
    pub(super) path: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) states: usize,
    /// One thread finds the same counterexample every time.
    pub(super) threads: usize,
}

/// The keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

type Parents = HashMap<u64, u64, BuildHasherDefault<AsItIs>>;
const SHARDS: usize = 64;

struct Visited {
    shards: Vec<Mutex<Parents>>,
    count: AtomicUsize,
}

impl Visited {
    fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            count: AtomicUsize::new(0),
        }
    }

    fn shard(&self, print: u64) -> &Mutex<Parents> {
        &self.shards[usize::try_from(print >> 58).expect("six bits")]
    }

    /// Is it new?
    fn insert(&self, print: u64, parent: u64) -> bool {
        let mut shard = self.shard(print).lock().expect("nobody panics here");
        let new = !shard.contains_key(&print);
        if new {
            shard.insert(print, parent);
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        new
    }

    fn parent(&self, print: u64) -> Option<u64> {
        let shard = self.shard(print).lock().expect("nobody panics here");
        shard.get(&print).copied()
    }
}

pub(super) fn fingerprint<S: Hash>(state: &S) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// What one thread returns for its share of a level.
struct Harvest<S> {
    next: Vec<S>,
    steps: usize,
    ends: usize,
    broken: Option<(u64, &'static str)>,
}

pub(super) fn explore<M: Model>(model: &M, limits: Limits) -> Explored {
    let begun = Instant::now();
    let visited = Visited::new();
    let seen = AtomicU64::new(0);
    let first = model.initial();
    let root = fingerprint(&first);
    visited.insert(root, root);
    let mut explored = Explored {
        states: 1,
        steps: 0,
        depth: 0,
        ends: 0,
        time: Duration::ZERO,
        seen: 0,
        broken: None,
        cut: false,
    };
    let mut level = vec![first];
    while !level.is_empty() {
        if visited.count.load(Ordering::Relaxed) > limits.states {
            explored.cut = true;
            break;
        }
        let share = level.len().div_ceil(limits.threads).max(1);
        let harvests: Vec<Harvest<M::State>> = if limits.threads == 1 {
            vec![reap(model, &level, &visited, &seen)]
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = level
                    .chunks(share)
                    .map(|input| scope.spawn(|| reap(model, input, &visited, &seen)))
                    .collect();
                let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
                joined.map(|done| done.expect("no panic")).collect()
            })
        };
        let mut next = Vec::new();
        let mut broken = None;
        for mut harvest in harvests {
            explored.steps += harvest.steps;
            explored.ends += harvest.ends;
            broken = broken.or(harvest.broken);
            next.append(&mut harvest.next);
        }
        if let Some((print, property)) = broken {
            let path = path(model, &visited, root, print);
            explored.depth = path.len();
            explored.broken = Some(Counterexample { property, path });
            break;
        }
        if !next.is_empty() {
            explored.depth += 1;
        }
        level = next;
    }
    explored.states = visited.count.load(Ordering::Relaxed);
    explored.seen = seen.load(Ordering::Relaxed);
    explored.time = begun.elapsed();
    explored
}

fn reap<M: Model>(
    model: &M,
    level: &[M::State],
    visited: &Visited,
    seen: &AtomicU64,
) -> Harvest<M::State> {
    let mut harvest = Harvest {
        next: Vec::new(),
        steps: 0,
        ends: 0,
        broken: None,
    };
    let mut situations = 0;
    let mut actions = Vec::new();
    for state in level {
        actions.clear();
        model.actions(state, &mut actions);
        let here = fingerprint(state);
        if actions.is_empty() {
            harvest.ends += 1;
            if let Some(property) = model.unfinished(state) {
                harvest.broken = harvest.broken.or(Some((here, property)));
            }
        }
        for action in &actions {
            harvest.steps += 1;
            let next = model.apply(state, action);
            let print = fingerprint(&next);
            situations |= model.seen(&next);
            if !visited.insert(print, here) {
                continue;
            }
            if let Some(property) = model.broken(&next) {
                harvest.broken = harvest.broken.or(Some((print, property)));
            }
            harvest.next.push(next);
        }
    }
    seen.fetch_or(situations, Ordering::Relaxed);
    harvest
}

/// The path to a state, walked again from the start.
fn path<M: Model>(model: &M, visited: &Visited, root: u64, end: u64) -> Vec<String> {
    let mut prints = vec![end];
    while let Some(last) = prints.last().copied().filter(|last| *last != root) {
        match visited.parent(last) {
            Some(parent) => prints.push(parent),
            None => break,
        }
    }
    let mut state = model.initial();
    let mut told = Vec::new();
    let mut actions = Vec::new();
    for print in prints.into_iter().rev().skip(1) {
        actions.clear();
        model.actions(&state, &mut actions);
        let step = actions.iter().find_map(|action| {
            let next = model.apply(&state, action);
            (fingerprint(&next) == print).then(|| (model.describe(&state, action), next))
        });
        let Some((words, next)) = step else {
            told.push("(a step that cannot be found again)".into());
            break;
        };
        told.push(words);
        state = next;
    }
    told
}
