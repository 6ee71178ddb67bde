//! The effect: what a hook does to get a review, one step at a time.

use mainspring_kernel::effect::Fence;
use mainspring_kernel::machines::Pending;
use mainspring_kernel::machines::review::{Failure, Finding, Request};

use super::super::world::{Without, World};
use super::{ADOPTED, ENDED, Env, Reviewer, Reviews, Work};

impl Reviews {
    /// Does a hook notice that its intent is no longer the current one?
    pub(super) fn heeds(&self, world: &World<Env, Work>, attempt: u64) -> bool {
        let current = match world.disk.intents[0].as_deref() {
            Some(Pending::Review(intent)) => intent.fence.0 == attempt,
            _ => false,
        };
        let checks = !matches!(self.without, Without::Intent | Without::Recheck);
        checks && !current
    }

    /// Ends the reviewers that this attempt replaces, and adopts a review that one of them
    /// has written.
    pub(super) fn take_over(
        &self,
        world: &mut World<Env, Work>,
        at: usize,
        asked: &Request,
    ) -> Option<Finding> {
        let resumes: &[Fence] = match self.without {
            Without::Adoption => &[],
            _ => &asked.resumes,
        };
        for fence in resumes.iter().rev() {
            let before = world.env.reviewers.len();
            world.env().reviewers.retain(|one| one.attempt != fence.0);
            if world.env.reviewers.len() < before {
                world.moment |= ENDED;
            }
        }
        let by = world.env.written.get(&asked.iteration).copied();
        let by = by.filter(|by| resumes.iter().any(|fence| fence.0 == *by));
        match by.map(|by| world.env.said.get(&by).copied()) {
            Some(Some(verdict)) => {
                world.moment |= ADOPTED;
                return Some(Finding::Reviewed(verdict));
            }
            // What a kill interrupted is no review. It is set aside.
            Some(None) => {
                world.env().written.remove(&asked.iteration);
            }
            None => {}
        }
        world.hook(at).work = Some(Work::Start);
        None
    }

    pub(super) fn start_reviewer(
        &self,
        world: &mut World<Env, Work>,
        at: usize,
        attempt: u64,
        iteration: u32,
    ) -> Option<Finding> {
        let there = world.env.written.contains_key(&iteration);
        if there && self.without != Without::Adoption {
            return Some(Finding::NotDone(Failure::Fault("it is there".into())));
        }
        // A person who edits the plan may leave reviews behind that nobody needs.
        let mut others = world.env.written.keys();
        if world.spent.edits == 0 && others.any(|other| !world.env.counted.contains_key(other)) {
            world.break_("what a dead hook's reviewer wrote is taken over or set aside");
        }
        let hook = world.hooks[at].pid();
        let env = world.env();
        env.reviewers.push(Reviewer {
            attempt,
            iteration,
            hook,
            wrote: false,
        });
        *env.started.entry(iteration).or_default() += 1;
        world.hook(at).work = Some(Work::Wait);
        None
    }

    pub(super) fn ended(
        &self,
        world: &mut World<Env, Work>,
        attempt: u64,
        iteration: u32,
    ) -> Finding {
        let mine = world.env.written.get(&iteration) == Some(&attempt);
        if mine && let Some(verdict) = world.env.said.get(&attempt) {
            return Finding::Reviewed(*verdict);
        }
        // Another hook ended the reviewer. The file of a failed reviewer is set aside.
        if !self.heeds(world, attempt)
            && let Some(by) = world.env().written.remove(&iteration)
            && by != attempt
        {
            world.break_("a hook never sets another one's review aside");
        }
        killed()
    }
}

pub(super) fn killed() -> Finding {
    Finding::NotDone(Failure::Exit {
        status: "137".into(),
        said: String::new(),
    })
}
