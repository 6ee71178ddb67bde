//! What the agent, its reviewers and a person can do, one act at a time.

use mainspring_kernel::event::{Author, Background, Chain, EndReason, Kind};
use mainspring_kernel::machines::review::{Fields, Kind as Review, Phase, State, Verdict};
use mainspring_kernel::machines::{InputOf, MachineInput};

use super::super::world::{NAMES, World};
use super::{Act, Env, ORPHAN, Reviews, Work, fields, number};

impl Reviews {
    /// What can happen now.
    pub(super) fn possible(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        let env = &world.env;
        let room = world.hooks.len() < self.bounds.hooks;
        let held = env.chain == Chain::Continued;
        let waits = fields(&world.disk).and_then(Fields::unanswered);
        let waits = waits.and_then(|_| number(&world.disk));
        let waits = waits.filter(|iteration| !env.answers.contains(iteration));
        // Two at once: the person interrupted the first one and continued.
        let due = fields(&world.disk).is_some_and(|fields| {
            fields.due().or(fields.unanswered()).is_some() && env.counted.len() < self.most as usize
        });
        let stops = if self.paced {
            let goes_on = held || (due && world.hooks.is_empty());
            env.events < 2 || (goes_on && waits.is_none())
        } else {
            env.stops > 0
        };
        if room && stops {
            acts.push(Act::Stop);
        }
        if room && env.asides > 0 {
            acts.extend([Act::Prompt, Act::End, Act::OtherStop]);
        }
        if let Some(iteration) = waits {
            acts.push(Act::Answer(iteration));
        }
        for (at, reviewer) in env.reviewers.iter().enumerate() {
            if reviewer.wrote {
                acts.push(Act::Say(at, Verdict::Pass));
                acts.push(Act::Say(at, Verdict::Fail));
            } else {
                acts.push(Act::Write(at));
            }
            if !world.is_running(reviewer.hook) {
                acts.push(Act::Follow(at));
            }
        }
        if world.spent.edits < self.bounds.edits {
            acts.push(Act::Turn);
        }
    }

    /// It happens.
    pub(super) fn happens(world: &mut World<Env, Work>, act: &Act) {
        match act {
            Act::Stop => {
                let env = world.env();
                env.stops = env.stops.saturating_sub(1);
                env.events += 1;
                let number = u32::from(env.events);
                // Until it is answered, nobody keeps the agent going.
                let chain = std::mem::replace(&mut env.chain, Chain::First);
                let kind = Kind::Stop {
                    chain,
                    background: Background::Quiet,
                };
                world.start(0, kind, number, 0);
            }
            Act::Prompt => {
                let author = Author::Person;
                aside(world, 0, Kind::Prompt { author });
            }
            Act::End => {
                let reason = EndReason::Other;
                aside(world, 0, Kind::SessionEnd { reason });
            }
            Act::OtherStop => {
                let kind = Kind::Stop {
                    chain: Chain::First,
                    background: Background::Quiet,
                };
                aside(world, 1, kind);
            }
            Act::Answer(iteration) => {
                world.env().answers.insert(*iteration);
            }
            Act::Write(at) => {
                let reviewer = &mut world.env().reviewers[*at];
                reviewer.wrote = true;
                let (iteration, attempt, hook) =
                    (reviewer.iteration, reviewer.attempt, reviewer.hook);
                if !world.is_running(hook) {
                    world.moment |= ORPHAN;
                }
                if world.env().written.insert(iteration, attempt).is_some() {
                    world.break_("no review is ever overwritten");
                }
            }
            Act::Say(at, verdict) => {
                let reviewer = world.env().reviewers.remove(*at);
                world.env().said.insert(reviewer.attempt, *verdict);
            }
            Act::Follow(at) => {
                world.env().reviewers.remove(*at);
            }
            Act::Turn => edit(world),
        }
    }
}

/// The person ends the cycle, or starts it again.
fn edit(world: &mut World<Env, Work>) {
    world.spent.edits += 1;
    if let MachineInput::Review(InputOf {
        state: State::Plan(plan),
        ..
    }) = &mut world.disk().inputs[0]
    {
        let fields = &mut plan.fields;
        fields.next_phase = match fields.next_phase {
            None => Some(Phase::Review(Review::Plan)),
            Some(_) => None,
        };
    }
}

/// An event that is no stop of the plan's session.
fn aside(world: &mut World<Env, Work>, session: usize, kind: Kind) {
    let env = world.env();
    let mut number = env.asides;
    env.asides -= 1;
    if session == 0 {
        env.chain = Chain::First;
        env.events += 1;
        number = env.events;
    }
    world.start(session, kind, number.into(), 0);
}

impl Act {
    pub(super) fn describe(&self, world: &World<Env, Work>) -> String {
        let whose = |at: usize| {
            let reviewer = &world.env.reviewers[at];
            let of = if world.is_running(reviewer.hook) {
                ""
            } else {
                ", whose hook is gone,"
            };
            format!("the reviewer of attempt {}{of}", reviewer.attempt)
        };
        match self {
            Act::Stop => format!("session {} stops", NAMES[0]),
            Act::Prompt => format!("the person types a prompt in session {}", NAMES[0]),
            Act::End => format!("session {} ends", NAMES[0]),
            Act::OtherStop => format!("session {} stops", NAMES[1]),
            Act::Answer(iteration) => format!("the agent answers review {iteration}"),
            Act::Write(at) => format!(
                "{} writes review {}",
                whose(*at),
                world.env.reviewers[*at].iteration
            ),
            Act::Say(at, verdict) => format!("{} says {verdict:?} and ends", whose(*at)),
            Act::Follow(at) => format!("{} ends with it", whose(*at)),
            Act::Turn => "the person edits next_phase".into(),
        }
    }
}
