//! The client: what it does to its own list, in two steps while it holds a lock.

use std::sync::Arc;

use mainspring_kernel::Ask;
use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::task_list::{Entry, Maker, Source};

use super::super::disk::{Task, TaskFolder};
use super::super::world::{Hook, World};
use super::{Env, TAKEN, WAITED, Work, oracle};

#[derive(Debug, Clone, Hash)]
pub(super) struct Client {
    left: u8,
    at: Option<At>,
}

/// What it is in the middle of.
#[derive(Debug, Clone, Hash)]
enum At {
    /// With the list's lock: the number that it found free.
    Adding(u64),
    /// With the task's lock: the content that it read.
    Changing(Box<Task>),
}

#[derive(Debug, Clone, Copy)]
pub(in crate::explore) enum Deed {
    BeginAdding,
    BeginChanging(u64),
    /// Without any lock, as the real client does.
    Delete(u64),
    Finish,
}

impl Deed {
    pub(super) fn words(self) -> String {
        match self {
            Self::BeginAdding => "the client locks its list and looks for a number".into(),
            Self::BeginChanging(id) => format!("the client locks task {id} and reads it"),
            Self::Delete(id) => format!("the client deletes task {id}"),
            Self::Finish => "the client writes the task".into(),
        }
    }
}

impl Client {
    pub(super) fn new(left: u8) -> Self {
        Self { left, at: None }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.at.is_none()
    }

    /// Does it hold the list's lock, or that of one of these tasks?
    pub(super) fn holds(&self, tasks: &[u64]) -> bool {
        match &self.at {
            None => false,
            Some(At::Adding(_)) => true,
            Some(At::Changing(task)) => tasks.contains(&task.entry.id),
        }
    }

    /// Does it want to do something?
    pub(super) fn is_eager(&self) -> bool {
        self.left > 0
    }
}

fn task(id: u64, maker: Maker, local: u64, blocked_by: Vec<u64>) -> Task {
    Task {
        entry: Entry {
            id,
            maker,
            status: Status::Pending,
            blocked_by,
            blocks: Vec::new(),
            source: Source::Found,
        },
        local,
        version: 0,
    }
}

/// A task made by hand that waits for a task of an earlier skill; a third task was deleted.
pub(super) fn first_list() -> TaskFolder {
    let old = Maker::Skill("old".into());
    TaskFolder {
        tasks: [task(1, Maker::Hand, 0, vec![2]), task(2, old, 1, vec![])]
            .map(|task| (task.entry.id, task))
            .into(),
        mark: 3,
    }
}

/// What it may do now.
pub(super) fn deeds(world: &World<Env, Work>) -> Vec<Deed> {
    let client = &world.env.client;
    if client.at.is_some() {
        return vec![Deed::Finish];
    }
    if client.left == 0 {
        return Vec::new();
    }
    let held = &world.env.held;
    let mut deeds = Vec::new();
    if held.is_empty() {
        deeds.push(Deed::BeginAdding);
    }
    let tasks = &world.disk.list.tasks;
    for (id, task) in tasks {
        if !held.iter().any(|held| held.tasks.contains(id)) {
            deeds.push(Deed::BeginChanging(*id));
        }
        // A task that others refer to is not deleted: dropping the references is not modelled.
        let named = tasks
            .values()
            .any(|task| task.entry.blocked_by.contains(id));
        if !named && (task.by_hand() || task.local > 1) {
            deeds.push(Deed::Delete(*id));
        }
    }
    deeds
}

pub(super) fn act(world: &mut World<Env, Work>, deed: Deed) {
    match deed {
        Deed::BeginAdding => {
            let list = &world.disk.list;
            let taken = list.tasks.keys().copied().max().unwrap_or(0);
            let free = taken.max(list.mark) + 1;
            oracle::chosen(world, free);
            begin(world, At::Adding(free));
        }
        Deed::BeginChanging(id) => {
            let task = world.disk.list.tasks[&id].clone();
            begin(world, At::Changing(Box::new(task)));
        }
        Deed::Delete(id) => {
            world.env().client.left -= 1;
            let list = &mut world.disk().list;
            list.mark = list.mark.max(id);
            list.tasks.remove(&id);
            oracle::deleted(world, id);
        }
        Deed::Finish => finish(world),
    }
}

fn begin(world: &mut World<Env, Work>, at: At) {
    let client = &mut world.env().client;
    client.left -= 1;
    client.at = Some(at);
}

fn finish(world: &mut World<Env, Work>) {
    let waits = |hook: &Arc<Hook<Work>>| hook.ask == Ask::Load && super::invokes(hook);
    if world.hooks.iter().any(waits) {
        world.moment |= WAITED;
    }
    let written = match world.env().client.at.take() {
        None => return,
        Some(At::Adding(id)) => {
            if oracle::is_ours(world, id) {
                world.moment |= TAKEN;
            }
            task(id, Maker::Hand, 0, Vec::new())
        }
        Some(At::Changing(task)) => {
            let mut task = *task;
            task.version += 1;
            if task.by_hand() {
                // It must wait for the last task of a skill.
                let mut skills = world.disk.list.tasks.values();
                let last = skills.rfind(|task| !task.by_hand());
                task.entry.blocked_by = last.map(|task| task.entry.id).into_iter().collect();
            } else {
                task.entry.status = Status::InProgress;
            }
            task
        }
    };
    let id = written.entry.id;
    world.disk().list.tasks.insert(id, written.clone());
    oracle::written(world, written);
}
