//! What can happen next, for the state at hand: what the machine would do if the agent stopped
//! now, and what time alone will change.

use mainspring_kernel::deliberate::{Ruling, deliberate};
use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::claim::State as Claimed;
use mainspring_kernel::machines::claim::claim_file::poll_due;
use mainspring_kernel::machines::claim::phase::{Next as Retry, Phase};
use mainspring_kernel::machines::looping::State as Loop;
use mainspring_kernel::machines::{MachineInput, Name};
use mainspring_kernel::{Event, Millis, SessionId};
use serde::Serialize;

use crate::command::timestamp;
use crate::context::{Caller, EventContext};
use crate::hook::drive;
use crate::hosts::Payload;
use crate::show::records;

/// What the machine does if the agent stops now.
#[derive(Debug, Serialize)]
pub(crate) struct Next {
    pub(crate) on: &'static str,
    pub(crate) when: String,
    pub(crate) to: String,
    pub(crate) does: String,
    /// What would change it.
    pub(crate) otherwise: String,
}

/// What happens at a time, if nothing happens before.
#[derive(Debug, Serialize)]
pub(crate) struct Due {
    pub(crate) at: String,
    /// From now; nothing if it is due.
    pub(crate) within: Millis,
    pub(crate) what: &'static str,
}

impl Next {
    /// Would it do more than let the agent go?
    pub(crate) fn matters(&self) -> bool {
        !self.does.starts_with("pass")
    }
}

/// What this machine alone would do at a stop. `None` if it would not be asked, or if that cannot
/// be told without doing it.
pub(super) fn at_a_stop(name: Name, context: &EventContext<'_>) -> Option<Next> {
    let session = context.session();
    let session = session.or_else(|| SessionId::parse("the-next-session"));
    let event = Event::stop(session, Chain::First);
    let here = context.project.worktree.clone();
    let payload = Payload::played(event, here, context.env.now());
    let context = context.seen_by(Caller::Simulation(&payload));
    let case = drive::look(&context, &payload, &[name]).ok()?;
    match deliberate(&case) {
        Ruling::Repeated(_) => None,
        Ruling::Intends(pending) => Some(Next {
            on: "stop",
            when: "it is due".into(),
            to: String::new(),
            does: format!("start {}", records::effect(pending.name())),
            otherwise: String::new(),
        }),
        Ruling::Settled(settlement) => {
            let moved = settlement.transitions.first()?;
            let mut arrows = name.table().iter();
            let arrow = arrows.find(|one| one.rule == moved.rule() && one.leaves(moved.from()))?;
            Some(Next {
                on: arrow.on,
                when: arrow.when.into(),
                to: moved.to().into(),
                does: arrow.does.into(),
                otherwise: arrow.remedy.into(),
            })
        }
    }
}

/// What time alone will change.
pub(super) fn by_time(input: &MachineInput, now: Millis) -> Vec<Due> {
    let due = |at: Millis, what: &'static str| Due {
        at: timestamp(at),
        within: at.since(now),
        what,
    };
    match input {
        MachineInput::Loop(input) => match &input.state {
            Loop::Active(run) => {
                let end = run.updated.plus(input.facts.ttl);
                vec![due(end, "without progress it does not go on")]
            }
            Loop::Idle(_)
            | Loop::Completing { .. }
            | Loop::Stuck(_)
            | Loop::Aborted { .. }
            | Loop::Corrupt(_) => Vec::new(),
        },
        MachineInput::Claim(input) => match &input.state {
            Claimed::Claimed { claim, memory } => {
                let wait = memory.not_before.filter(|at| *at > now);
                if let Phase::Failed(failure) = &claim.phase {
                    return match failure.next {
                        Retry::At(at) => vec![due(at, "what failed is tried again")],
                        Retry::Never => Vec::new(),
                    };
                }
                let look = poll_due(claim).filter(|_| claim.pr_number.is_some());
                let wait = wait.map(|at| due(at, "GitHub may be asked again"));
                let look = look.map(|at| due(at, "the pull request may be looked at again"));
                wait.or(look).into_iter().collect()
            }
            Claimed::Unclaimed(_) | Claimed::Newer { .. } => Vec::new(),
        },
        MachineInput::Gate(_)
        | MachineInput::Check(_)
        | MachineInput::Review(_)
        | MachineInput::Tasks(_)
        | MachineInput::Pulse(_) => Vec::new(),
    }
}
