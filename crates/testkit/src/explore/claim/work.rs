//! What a hook does at the server: it waits for its turn, looks, sends, waits, and looks again.

use std::sync::Arc;

use mainspring_kernel::Ask;
use mainspring_kernel::machines::claim::pull::{Extent, Outlook, Pull, PullState, Review};
use mainspring_kernel::machines::claim::work::{CardMove, Effect, Fault, How, Outcome, Release};
use mainspring_kernel::machines::{Finished, Pending, Returned};

use super::super::world::{self, Without};
use super::{Claim, Env, FOUND, REPLY_LOST, Request, Status, What};

type World = world::World<Env, Work>;

/// The sender of a request whose reply nobody waits for.
const NOBODY: u32 = u32::MAX;

/// The progress of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) enum Work {
    /// Waits until no other request of this project is under way.
    Queue,
    Look,
    Send {
        comment: bool,
        again: bool,
    },
    Await {
        again: bool,
    },
    /// The reply was lost, or another request was faster: is the result there after all?
    LookAgain,
    Poll,
}

pub(super) fn choices(claim: &Claim, world: &World, at: usize) -> u8 {
    let hook = &world.hooks[at];
    let may_lose = u8::from(world.spent.losses < claim.bounds.losses);
    match hook.work {
        Some(Work::Queue) => u8::from(world.env.alone.is_none()),
        Some(Work::Look | Work::LookAgain | Work::Poll | Work::Send { .. }) => 1,
        // The last choice is always that the reply is lost.
        Some(Work::Await { .. }) => u8::from(is_replied(world, at)) + may_lose,
        None => 0,
    }
}

pub(super) fn words(world: &World, at: usize, choice: u8) -> String {
    match world.hooks[at].work {
        Some(Work::Queue) => "is alone with the server",
        Some(Work::Look) => "looks at what the server has",
        Some(Work::Send { .. }) => "sends its request",
        Some(Work::Await { .. }) if is_replied(world, at) && choice == 0 => "gets the reply",
        Some(Work::Await { .. }) => "never gets the reply",
        Some(Work::LookAgain) => "looks again",
        Some(Work::Poll) => "looks at the pull request",
        None => "",
    }
    .into()
}

fn is_replied(world: &World, at: usize) -> bool {
    let pid = world.hooks[at].pid();
    world.env.replies.iter().any(|(to, _)| *to == pid)
}

/// The result of the effect, or its next step.
enum Next {
    Go(Work),
    Done(Box<Outcome>),
}

pub(super) fn go_on(claim: &Claim, world: &mut World, at: usize, choice: u8) -> Option<Finished> {
    let hook = Arc::clone(&world.hooks[at]);
    let Ask::Run(pending) = &hook.ask else {
        return None;
    };
    let Pending::Claim(intent) = &**pending else {
        return None;
    };
    let pid = hook.pid();
    let next = match hook.work? {
        Work::Queue => {
            world.env().alone = Some(pid);
            Next::Go(match claim.without {
                Without::Probe => Work::Send {
                    comment: true,
                    again: false,
                },
                _ => Work::Look,
            })
        }
        Work::Look => look(world, &intent.effect),
        Work::Send { comment, again } => send(world, pid, &intent.effect, comment, again),
        Work::Await { again } => wait(world, pid, choice, again),
        Work::LookAgain => look_again(world, &intent.effect),
        Work::Poll => Next::Done(Box::new(poll(world, &intent.effect))),
    };
    match next {
        Next::Go(work) => {
            world.hook(at).work = Some(work);
            None
        }
        Next::Done(outcome) => {
            let env = world.env();
            if env.alone == Some(pid) {
                env.alone = None;
            }
            env.replies.retain(|(to, _)| *to != pid);
            let (intent, outcome) = (intent.clone(), *outcome);
            Some(Finished::Claim(Returned { intent, outcome }))
        }
    }
}

fn look(world: &mut World, effect: &Effect) -> Next {
    if let Effect::Open(_) = effect {
        return match world.env.server.adoptable() {
            Some(pr) => {
                world.moment |= FOUND;
                Next::Done(Box::new(opened(pr, How::Already)))
            }
            None => Next::Go(Work::Send {
                comment: false,
                again: false,
            }),
        };
    }
    if world.env.server.closed > 0 {
        return Next::Done(Box::new(closed(How::Already)));
    }
    Next::Go(Work::Send {
        comment: world.env.server.comments == 0,
        again: false,
    })
}

fn send(world: &mut World, pid: u32, effect: &Effect, comment: bool, again: bool) -> Next {
    let env = world.env();
    let what = if let Effect::Open(_) = effect {
        env.creates += 1;
        What::Create
    } else {
        env.closes += 1;
        What::Close { comment }
    };
    env.flight.push(Request { from: pid, what });
    Next::Go(Work::Await { again })
}

fn wait(world: &mut World, pid: u32, choice: u8, again: bool) -> Next {
    let reply = world.env.replies.iter().find(|(to, _)| *to == pid);
    match (reply.map(|(_, status)| *status), choice) {
        (Some(Status::Created(pr)), 0) => Next::Done(Box::new(opened(pr, How::Now))),
        (Some(Status::Closed), 0) => Next::Done(Box::new(closed(How::Now))),
        (Some(Status::Exists), 0) => Next::Go(Work::LookAgain),
        (lost, _) => {
            world.spent.losses += 1;
            if lost.is_some() {
                world.moment |= REPLY_LOST;
            }
            let env = world.env();
            env.replies.retain(|(to, _)| *to != pid);
            // Nobody waits any more for a request that is still on its way.
            for request in &mut env.flight {
                if request.from == pid {
                    request.from = NOBODY;
                }
            }
            if again {
                Next::Done(Box::new(fault()))
            } else {
                Next::Go(Work::LookAgain)
            }
        }
    }
}

fn look_again(world: &World, effect: &Effect) -> Next {
    if let Effect::Open(_) = effect {
        return Next::Done(Box::new(match world.env.server.open_pull() {
            Some(pr) => opened(pr, How::Already),
            None => fault(),
        }));
    }
    if world.env.server.closed > 0 {
        return Next::Done(Box::new(closed(How::Now)));
    }
    Next::Go(Work::Send {
        comment: world.env.server.comments == 0,
        again: true,
    })
}

fn poll(world: &World, effect: &Effect) -> Outcome {
    let (Effect::Poll { pr, .. } | Effect::CheckMerge { pr }) = effect else {
        return fault();
    };
    let index = usize::try_from(*pr).unwrap_or(1) - 1;
    let state = world.env.server.pulls.get(index).copied();
    let pull = Pull {
        number: *pr,
        url: format!("pull/{pr}"),
        state: state.unwrap_or(PullState::Closed),
        review: Review::None,
        head: "h".into(),
        checks: Vec::new(),
        awaited: Vec::new(),
        extent: Extent::All,
        outlook: Outlook::default(),
        merged_at: None,
        log: Vec::new(),
    };
    match effect {
        Effect::CheckMerge { .. } => {
            Outcome::MergeChecked(Some(pull).filter(|pull| pull.state == PullState::Merged))
        }
        _ => Outcome::Polled(pull),
    }
}

fn opened(pr: u64, how: How) -> Outcome {
    Outcome::Opened {
        pr,
        url: format!("pull/{pr}"),
        how,
        board: CardMove::Off,
    }
}

fn closed(how: How) -> Outcome {
    Outcome::Closed {
        how,
        board: CardMove::Off,
        release: Release::NotHeld,
    }
}

fn fault() -> Outcome {
    Outcome::Failed(Fault::new("no reply"))
}
