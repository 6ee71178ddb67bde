//! Liveness without faults: every behaviour comes to an end, and the end is good.
//!
//! A system without a cycle of states has only finite behaviours, so no fairness assumption is
//! needed: it ends, whatever the order of steps. What must hold at the end is checked in every
//! state from which nothing can happen.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::checker::{Model, fingerprint};

#[derive(Debug, Clone)]
pub(super) struct Ends {
    pub(super) states: usize,
    pub(super) last: usize,
    /// The longest behaviour, in steps.
    pub(super) longest: usize,
    pub(super) time: Duration,
    pub(super) wrong: Option<&'static str>,
}

/// Records are numbered, so an endless behaviour goes through ever new states.
const MOST: usize = 4_000_000;

/// Checks every behaviour. The system must be small, because its edges are stored.
pub(super) fn every_behaviour_ends<M: Model>(model: &M) -> Ends {
    let begun = Instant::now();
    let first = model.initial();
    let mut ids = HashMap::from([(fingerprint(&first), 0_u32)]);
    let mut edges: Vec<Vec<u32>> = vec![Vec::new()];
    let mut todo = vec![(0_u32, first)];
    let mut actions = Vec::new();
    let mut ends = Ends {
        states: 0,
        last: 0,
        longest: 0,
        time: Duration::ZERO,
        wrong: None,
    };
    while let Some((id, state)) = todo.pop() {
        if edges.len() > MOST {
            ends.wrong = Some("a behaviour goes on for ever");
            break;
        }
        actions.clear();
        model.actions(&state, &mut actions);
        if actions.is_empty() {
            ends.last += 1;
            ends.wrong = ends.wrong.or_else(|| model.unfinished(&state));
        }
        ends.wrong = ends.wrong.or_else(|| model.broken(&state));
        for action in &actions {
            let next = model.apply(&state, action);
            let fresh = u32::try_from(edges.len()).expect("a small system");
            let to = *ids.entry(fingerprint(&next)).or_insert(fresh);
            if to == fresh {
                edges.push(Vec::new());
                todo.push((fresh, next));
            }
            edges[id as usize].push(to);
        }
    }
    ends.states = edges.len();
    match longest(&edges) {
        Some(steps) => ends.longest = steps,
        None => ends.wrong = ends.wrong.or(Some("a behaviour goes on for ever")),
    }
    ends.time = begun.elapsed();
    ends
}

/// The longest path; `None` if there is a cycle.
fn longest(edges: &[Vec<u32>]) -> Option<usize> {
    let mut incoming = vec![0_u32; edges.len()];
    for to in edges.iter().flatten() {
        incoming[*to as usize] += 1;
    }
    let mut free: Vec<u32> = (0..)
        .zip(&incoming)
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| id)
        .collect();
    let mut far = vec![0_usize; edges.len()];
    let mut done = 0;
    while let Some(id) = free.pop() {
        done += 1;
        for to in &edges[id as usize] {
            let to = *to as usize;
            far[to] = far[to].max(far[id as usize] + 1);
            incoming[to] -= 1;
            if incoming[to] == 0 {
                free.push(u32::try_from(to).expect("a small system"));
            }
        }
    }
    (done == edges.len()).then(|| far.into_iter().max().unwrap_or(0))
}
