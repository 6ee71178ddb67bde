//! What the agents, the server and a person can do, one act at a time.

use mainspring_kernel::event::{Background, Chain, Kind};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::pull::PullState;
use mainspring_kernel::orders::{Scope, Until};

use super::super::world::{NAMES, World};
use super::{
    Act, CLOSED, Claim, Env, LATE_REQUEST, REFUSED, SUSPENDED, Status, Stops, What, Work, claim,
    consent, edit, look,
};

impl Claim {
    /// What can happen now.
    pub(super) fn possible(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        let env = &world.env;
        let phase = claim(&world.disk).map(|claim| &claim.phase);
        for (at, session) in env.sessions.iter().enumerate() {
            let busy = world.hooks.iter().any(|hook| hook.session == at);
            let room = world.hooks.len() < self.bounds.hooks;
            if busy || !room || phase.is_none() {
                continue;
            }
            let due = matches!(phase, Some(Phase::ReadyForPr | Phase::Done));
            let stops = match self.stops {
                Stops::AtMost(_) => session.stops > 0,
                Stops::AsNeeded => {
                    let held = session.chain == Chain::Continued;
                    session.events == 0 || held || (due && world.hooks.is_empty())
                }
            };
            if stops {
                acts.push(Act::Stop(at));
            }
            let merged = env.server.pulls.contains(&PullState::Merged);
            let watched = matches!(phase, Some(Phase::PrCreated | Phase::ChecksRunning));
            if session.polls > 0 && watched && merged && at == 0 {
                acts.push(Act::Idle(at));
                acts.push(Act::Watch(at));
            }
        }
        acts.extend((0..env.flight.len()).map(Act::Arrive));
        // A request takes seconds, a person longer.
        let sending = world
            .hooks
            .iter()
            .any(|hook| matches!(hook.work, Some(Work::Send { .. } | Work::Await { .. })));
        if env.server.open_pull().is_some() && env.flight.is_empty() && !sending {
            acts.push(Act::Merge);
        }
        if phase == Some(&Phase::MergedDetected) {
            acts.push(Act::Consent);
        }
        if world.spent.edits < self.bounds.edits {
            if matches!(phase, Some(Phase::ReadyForPr | Phase::PrCreated)) {
                acts.push(Act::Rework);
            }
            if !env.suspended {
                acts.push(Act::Suspend);
            }
        }
        if env.suspended {
            acts.push(Act::Release);
        }
    }

    /// It happens.
    pub(super) fn happens(&self, world: &mut World<Env, Work>, act: &Act) {
        match act {
            Act::Stop(at) => {
                let session = &mut world.env().sessions[*at];
                session.stops = session.stops.saturating_sub(1);
                session.events += 1;
                let (number, chain) = (u32::from(session.events), session.chain);
                let kind = Kind::Stop {
                    chain,
                    background: Background::Quiet,
                };
                world.start(*at, kind, number, 0);
            }
            Act::Idle(at) => look(world, *at, Kind::Idle),
            Act::Watch(at) => look(world, *at, Kind::Watch),
            Act::Arrive(at) => {
                let request = world.env().flight.remove(*at);
                let status = world.env().server.take(request.what, self.without);
                match status {
                    Status::Exists => world.moment |= REFUSED,
                    Status::Closed => world.moment |= CLOSED,
                    Status::Created(_) => {}
                }
                if world.is_running(request.from) {
                    world.env().replies.push((request.from, status));
                } else {
                    world.moment |= LATE_REQUEST;
                }
            }
            Act::Merge => {
                for pull in &mut world.env().server.pulls {
                    *pull = PullState::Merged;
                }
            }
            Act::Consent => {
                edit(world.disk(), Phase::Done);
                consent(world.disk());
            }
            Act::Rework => {
                world.spent.edits += 1;
                let next = match claim(&world.disk).map(|claim| &claim.phase) {
                    Some(Phase::ReadyForPr) => Phase::Coding,
                    _ => Phase::ReadyForPr,
                };
                edit(world.disk(), next);
            }
            Act::Suspend => {
                world.spent.edits += 1;
                world.env().suspended = true;
                world.moment |= SUSPENDED;
                let disk = world.disk();
                disk.orders =
                    std::mem::take(&mut disk.orders).stopped(Scope::Everything, Until::Resumed);
            }
            Act::Release => {
                let now = world.now;
                world.env().suspended = false;
                let disk = world.disk();
                disk.orders = std::mem::take(&mut disk.orders).resumed(Scope::Everything, now);
            }
        }
    }
}

impl Act {
    pub(super) fn describe(&self, world: &World<Env, Work>) -> String {
        match self {
            Act::Stop(at) => format!("session {} stops", NAMES[*at]),
            Act::Idle(at) => format!("session {} is idle", NAMES[*at]),
            Act::Watch(at) => format!("session {}'s watcher looks", NAMES[*at]),
            Act::Arrive(at) => {
                let request = &world.env.flight[*at];
                let what = match request.what {
                    What::Create => "create a pull request",
                    What::Close { .. } => "close the issue",
                };
                let whose = if world.is_running(request.from) {
                    ""
                } else {
                    " (of a process that is gone)"
                };
                format!("the server is asked to {what}{whose}")
            }
            Act::Merge => "the person merges the pull request".into(),
            Act::Consent => "the person lets the issue be closed".into(),
            Act::Rework => "somebody sets the phase by hand".into(),
            Act::Suspend => "the person says stop".into(),
            Act::Release => "the person says resume".into(),
        }
    }
}
