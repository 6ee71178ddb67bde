//! What should be in the list, according to what the client wrote and what was decided.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_kernel::machines::tasks::task_list::{Source, TaskList};

use super::super::disk::{Change, Placed, Task, TaskFolder};
use super::super::world::{Placing, World};
use super::{BESIDE, CHANGE_WON, DROPPED, Env, Work};

const LOST: &str = "no task of the client's is lost or changed";
const GIVEN_AGAIN: &str = "no number that the client used up is given again";
const CAME_BACK: &str = "what the client deleted stays deleted";
const TAKEN: &str = "once a list has begun to appear, nobody takes its numbers";
const NOT_WHOLE: &str = "the list is whole: all of the last layout, nothing of what it replaced";
const STRAY: &str = "a task waits only for tasks of its own list";
const MEANING: &str = "a reference never comes to mean another task";
const TWICE: &str = "I3: an invocation that is delivered twice is laid out once";

pub(in crate::explore) const PROPERTIES: &[&str] = &[
    LOST,
    GIVEN_AGAIN,
    CAME_BACK,
    TAKEN,
    NOT_WHOLE,
    STRAY,
    MEANING,
    TWICE,
    "I2 nothing printed without its record",
    "neither a hook nor the client waits for ever",
];

#[derive(Debug, Clone, Hash)]
pub(super) struct Oracle {
    by_hand: BTreeMap<u64, Hand>,
    /// The tasks of skills, as they should be when the last record is finished.
    laid_out: BTreeMap<u64, Task>,
    /// Numbers that the client has used.
    deleted: BTreeSet<u64>,
    /// Files that the client changed after a kill: its change stays, and the person is told.
    told: BTreeSet<u64>,
    applied: BTreeMap<(usize, u8), u8>,
}

/// A task as the client wrote it last.
#[derive(Debug, Clone, Hash)]
struct Hand {
    task: Task,
    /// References to tasks that still exist, and to tasks that a layout has removed since.
    meant: Vec<u64>,
    gone: Vec<u64>,
}

impl Oracle {
    pub(super) fn new(list: &TaskFolder) -> Self {
        let mut oracle = Self {
            by_hand: BTreeMap::new(),
            laid_out: BTreeMap::new(),
            deleted: (1..=list.mark)
                .filter(|id| !list.tasks.contains_key(id))
                .collect(),
            told: BTreeSet::new(),
            applied: BTreeMap::new(),
        };
        for (id, task) in &list.tasks {
            if task.by_hand() {
                oracle.by_hand.insert(*id, Hand::new(task.clone()));
            } else {
                oracle.laid_out.insert(*id, task.clone());
            }
        }
        oracle
    }

    pub(super) fn layouts(&self) -> usize {
        self.applied.values().map(|times| usize::from(*times)).sum()
    }
}

impl Hand {
    fn new(task: Task) -> Self {
        Self {
            meant: task.entry.blocked_by.clone(),
            task,
            gone: Vec::new(),
        }
    }
}

/// A layout is decided.
pub(super) fn laid_out(
    world: &mut World<Env, Work>,
    delivery: (usize, u8),
    found: &TaskFolder,
    before: &TaskList,
    after: &TaskList,
) {
    let list = world.disk.list.clone();
    let oracle = &mut world.env().oracle;
    let times = oracle.applied.entry(delivery).or_default();
    *times += 1;
    let times = *times;
    let mut given = BTreeSet::new();
    oracle.laid_out = BTreeMap::new();
    for row in &after.tasks {
        let task = match (row.source, list.tasks.get(&row.id)) {
            (Source::Local(local), _) => {
                given.insert(row.id);
                Task::laid_out(row, local)
            }
            (Source::Found, Some(task)) if !task.by_hand() => match before.entry(row.id) {
                Some(found) if found == row => task.clone(),
                _ => Task {
                    entry: row.clone(),
                    ..task.clone()
                },
            },
            (Source::Found, _) => continue,
        };
        oracle.laid_out.insert(row.id, task);
    }
    let stays = |id: &u64| {
        after
            .entry(*id)
            .is_some_and(|row| row.source == Source::Found)
    };
    let gone: BTreeSet<u64> = before.tasks.iter().map(|row| row.id).collect();
    let gone = |id: &u64| given.contains(id) || (gone.contains(id) && !stays(id));
    // What the client wrote after the list was read refers to the new tasks.
    let as_read = |id: &u64| found.tasks.get(id) == list.tasks.get(id);
    for (_, hand) in oracle.by_hand.iter_mut().filter(|(id, _)| as_read(id)) {
        let (gone, meant) = hand.meant.iter().partition(|id| gone(id));
        hand.meant = meant;
        hand.gone.extend::<Vec<u64>>(gone);
    }
    let used_up = |id: &u64| *id <= found.mark || oracle.by_hand.contains_key(id);
    let used_up = given.iter().any(used_up);
    let skills: BTreeSet<_> = oracle.laid_out.values().map(Task::generation).collect();
    if skills.len() > 1 {
        world.moment |= BESIDE;
    }
    if times > 1 {
        world.break_(TWICE);
    } else if used_up {
        world.break_(GIVEN_AGAIN);
    }
}

/// A file of a record was replaced or skipped.
pub(super) fn placed(world: &mut World<Env, Work>, change: &Change, placed: Placed, how: Placing) {
    let Change::Task { id, was, now } = change else {
        return;
    };
    let there = world.disk.list.tasks.get(id).cloned();
    match placed {
        // The client's locks keep it out, except for a deletion, for which it takes none.
        Placed::Edited if how == Placing::Rolling || there.is_none() => {
            world.env().oracle.told.insert(*id);
            if now.is_none() && there.is_some() {
                world.moment |= CHANGE_WON;
            }
        }
        Placed::Edited => {}
        Placed::Replaced => {
            if was.is_some() && there.is_some_and(|task| task.by_hand()) {
                world.moment |= DROPPED;
            }
        }
    }
}

/// The client wrote a task.
pub(super) fn written(world: &mut World<Env, Work>, task: Task) {
    let id = task.entry.id;
    let before = |change: &Change| matches!(change, Change::Task { id: of, was: Some(was), .. } if *of == id && **was == task);
    // Exactly what it was before the layout: it looks like a file that was not replaced yet.
    let goes_again = !task.by_hand() && world.disk.record().any(before);
    let oracle = &mut world.env().oracle;
    if goes_again {
        oracle.told.insert(id);
    }
    if task.by_hand() {
        oracle.by_hand.insert(id, Hand::new(task));
    } else if let Some(laid_out) = oracle.laid_out.get_mut(&id)
        && laid_out.generation() == task.generation()
    {
        *laid_out = task;
    }
}

/// The client deleted a task, for which it takes no lock. A layout that is under way may give its
/// number again, and an unfinished record cannot distinguish its own deleted task from one that was
/// not created yet.
pub(super) fn deleted(world: &mut World<Env, Work>, id: u64) {
    let by_hand = world.env.oracle.by_hand.contains_key(&id);
    let comes = |change: &Change| match change {
        Change::Task { id: of, was, now } => {
            *of == id && now.is_some() && (was.is_none() || !by_hand)
        }
        _ => false,
    };
    let is_held = world.env.held.iter().any(|held| held.tasks.contains(&id));
    let comes_back = world.disk.record().any(comes) || (is_held && !by_hand);
    let oracle = &mut world.env().oracle;
    oracle.by_hand.remove(&id);
    oracle.laid_out.remove(&id);
    if comes_back {
        oracle.told.insert(id);
    } else {
        oracle.deleted.insert(id);
    }
}

/// Is this the number of a new task of the unfinished record?
pub(super) fn is_ours(world: &World<Env, Work>, id: u64) -> bool {
    new_tasks(world).any(|(of, _)| of == id)
}

/// The client has found this number free.
pub(super) fn chosen(world: &mut World<Env, Work>, id: u64) {
    let there = |(id, task): (u64, &Task)| world.disk.list.tasks.get(&id) == Some(task);
    if is_ours(world, id) && new_tasks(world).any(there) {
        world.break_(TAKEN);
    }
}

fn new_tasks(world: &World<Env, Work>) -> impl Iterator<Item = (u64, &Task)> {
    world.disk.record().filter_map(|change| match change {
        Change::Task {
            id,
            was: None,
            now: Some(task),
        } => Some((*id, &**task)),
        _ => None,
    })
}

pub(super) fn check(world: &World<Env, Work>) -> Option<&'static str> {
    let tasks = &world.disk.list.tasks;
    let oracle = &world.env.oracle;
    let kept = |(id, hand): (&u64, &Hand)| {
        tasks.get(id).is_some_and(|file| {
            let mut alike = file.clone();
            alike
                .entry
                .blocked_by
                .clone_from(&hand.task.entry.blocked_by);
            let named = &file.entry.blocked_by;
            let known = |id: &u64| hand.meant.contains(id) || hand.gone.contains(id);
            alike == hand.task
                && named.iter().all(known)
                && hand.meant.iter().all(|id| named.contains(id))
        })
    };
    if !oracle.by_hand.iter().all(kept) {
        return Some(LOST);
    }
    if oracle.deleted.iter().any(|id| tasks.contains_key(id)) {
        return Some(CAME_BACK);
    }
    if world.disk.record().next().is_some() {
        return None;
    }
    finished(tasks, oracle)
}

/// What must hold whenever no record waits for its files.
fn finished(tasks: &BTreeMap<u64, Task>, oracle: &Oracle) -> Option<&'static str> {
    let told = |id: &u64| oracle.told.contains(id);
    let of_skills = || tasks.iter().filter(|(_, task)| !task.by_hand());
    let there = |(id, task): (&u64, &Task)| told(id) || tasks.get(id) == Some(task);
    let wanted = |(id, _): (&u64, &Task)| told(id) || oracle.laid_out.contains_key(id);
    if !oracle.laid_out.iter().all(there) || !of_skills().all(wanted) {
        return Some(NOT_WHOLE);
    }
    let own = |(id, task): (&u64, &Task)| {
        let of_the_same = |dep: &u64| {
            let other = tasks.get(dep);
            told(dep) || other.is_some_and(|other| other.generation() == task.generation())
        };
        told(id) || task.entry.blocked_by.iter().all(of_the_same)
    };
    if !of_skills().all(own) {
        return Some(STRAY);
    }
    let means_it = |(id, hand): (&u64, &Hand)| {
        let named = tasks.get(id).map(|task| &task.entry.blocked_by);
        let mut gone = named.into_iter().flatten();
        told(id) || !gone.any(|id| hand.gone.contains(id) && tasks.contains_key(id) && !told(id))
    };
    (!oracle.by_hand.iter().all(means_it)).then_some(MEANING)
}
