//! What the agents and a person can do, one act at a time.

use mainspring_kernel::event::{Author, Chain, Kind};
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::looping::{self, OwnerLife, State};
use mainspring_kernel::orders::{Scope, Until};
use mainspring_kernel::verbs::Actor;

use super::super::world::{NAMES, World};
use super::{ABORTED, Act, Env, Loops, Spoken, Work, run_verb, stop};

impl Loops {
    /// What can happen now.
    pub(super) fn possible(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        let env = &world.env;
        let room = world.hooks.len() < self.bounds.hooks;
        for (at, session) in env.sessions.iter().enumerate() {
            let busy = world.hooks.iter().any(|hook| hook.session == at);
            let held = session.chain == Chain::Continued;
            let stops = session.stops > 0 || (self.paced && held);
            if room && stops && !busy {
                let bools = [false, true];
                for (signal, token) in bools.into_iter().flat_map(|s| bools.map(|t| (s, t))) {
                    let quiet = Spoken {
                        signal,
                        token,
                        tools: false,
                    };
                    if at == 0 || !(signal || token) {
                        acts.push(Act::Stop(at, quiet));
                    }
                    if at == 0 && held && !self.paced {
                        acts.push(Act::Stop(
                            at,
                            Spoken {
                                tools: true,
                                ..quiet
                            },
                        ));
                    }
                }
            }
            let fresh = session.again.as_ref();
            if room && fresh.is_some_and(|(_, at)| *at == world.now) {
                acts.push(Act::Redeliver(at));
            }
        }
        let free = world.disk.lock.is_none() && world.disk.unfinished.is_empty();
        let active = match &world.disk.inputs[1] {
            MachineInput::Loop(input) => matches!(input.state, State::Active(_)),
            _ => false,
        };
        if world.spent.edits < self.bounds.edits {
            if free && active {
                acts.push(Act::Push);
                acts.push(Act::Abort);
            }
            if !env.suspended {
                acts.push(Act::Suspend);
            }
            if room && !world.hooks.iter().any(|hook| hook.session == 0) {
                acts.push(Act::Prompt);
            }
        }
        if env.suspended {
            acts.push(Act::Release);
        }
    }

    /// It happens.
    pub(super) fn happens(&self, world: &mut World<Env, Work>, act: &Act) {
        let now = world.now;
        match act {
            Act::Stop(at, spoken) => stop(world, *at, *spoken),
            Act::Redeliver(at) => {
                let session = &mut world.env().sessions[*at];
                let number = u32::from(session.events);
                if let Some((kind, _)) = session.again.take() {
                    world.start(*at, kind, number, 1);
                }
            }
            Act::Prompt => {
                world.spent.edits += 1;
                let session = &mut world.env().sessions[0];
                session.events += 1;
                session.chain = Chain::First;
                session.again = None;
                let number = u32::from(session.events);
                let kind = Kind::Prompt {
                    author: Author::Person,
                };
                world.start(0, kind, number, 0);
            }
            Act::Push => {
                let frame = self.frame("pushed");
                run_verb(world, |state| looping::verbs::push(state, frame, now));
                world.env().oracle.stack.push(1);
            }
            Act::Abort => {
                run_verb(world, |state| {
                    looping::verbs::abort(state, &Actor::Person, OwnerLife::Live, "")
                });
                world.env().oracle.stack.clear();
                world.moment |= ABORTED;
            }
            Act::Suspend => {
                world.spent.edits += 1;
                world.env().suspended = true;
                let disk = world.disk();
                disk.orders =
                    std::mem::take(&mut disk.orders).stopped(Scope::Everything, Until::Resumed);
            }
            Act::Release => {
                world.env().suspended = false;
                let disk = world.disk();
                disk.orders = std::mem::take(&mut disk.orders).resumed(Scope::Everything, now);
            }
        }
    }
}

impl Act {
    pub(super) fn describe(&self) -> String {
        match self {
            Act::Stop(at, spoken) => {
                let mut said = Vec::new();
                if spoken.tools {
                    said.push("used a tool");
                }
                if spoken.signal {
                    said.push("said the signal");
                }
                if spoken.token {
                    said.push("said the token");
                }
                let how = match said.len() {
                    0 => String::new(),
                    _ => format!(", having {}", said.join(" and ")),
                };
                format!("session {} stops{how}", NAMES[*at])
            }
            Act::Redeliver(at) => format!("the same stop of session {} again", NAMES[*at]),
            Act::Prompt => "the person prompts".into(),
            Act::Push => "an inner loop is pushed".into(),
            Act::Abort => "the loop is aborted".into(),
            Act::Suspend => "the person says stop".into(),
            Act::Release => "the person says resume".into(),
        }
    }
}
