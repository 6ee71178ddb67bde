//! One event, all machines, one answer.
//!
//! 1. An event delivered twice gets the same answer and changes nothing, unless a person gave an
//!    order in between.
//! 2. Every machine is asked. That is cheap: only effects are expensive, and a handler does not
//!    run an effect, it asks for one.
//! 3. If any machine holds a stop, no effect is started: the agent learns at once everything
//!    that is missing, and the effects wait for the next stop.
//! 4. Otherwise the first effect in the order of the machines runs, and all are asked again.
//! 5. If no effect is needed, the decision is final. The ledger counts it; where the host would
//!    override one more hold, or the agent only repeats itself, we let the agent go ourselves. If
//!    nobody holds the agent, a machine may send it on with its next work. The machines are told
//!    how the stop ended.
//!
//! A person's orders come before all of it: a suspended machine is not asked, and in observe mode
//! the answer is nothing, whatever was decided.

mod notes;
mod receipts;
mod time;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::block_ledger::{BlockLedger, Cap, Delivered, Delivery, Mark, ToolUse};
use crate::decision::{Answer, Decision, HoldTexts, Note, Voice};
use crate::effect::{EffectOwner, Fence};
use crate::event::{Event, Kind, Speaker};
use crate::ids::{Digest, Millis, Uptime};
use crate::machine::Settled;
use crate::machines::{MachineInput, Name, Occasion, Pending, SUSPENDED, Transition, Vote};
use crate::orders::{Allowance, Mode, Orders, TypedHere, Until};
use notes::{names, untrusted_note};
use receipts::settle_stop;
use time::{out_of_time, postponed};

/// Everything a decision is made from. It is what the journal keeps, so that the same
/// decision can be made again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    pub event: Event,
    /// The time of day, for people and for dates that others wrote.
    pub now: Millis,
    /// Measures how long something took, or may take.
    #[serde(default)]
    pub uptime: Uptime,
    /// Distinguishes this delivery of the event from any other.
    pub delivery: Digest,
    /// Which of our registrations the host called. `None` if the same delivery is the same event,
    /// through whichever it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<Digest>,
    /// What the agent said last, at a stop. `None` if it is not known, or does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Digest>,
    pub inputs: Vec<MachineInput>,
    /// Machines whose state could not be read. They let the agent go, and the person is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Broken>,
    /// The machines whose results came after another event had taken over their work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overtaken: Vec<Name>,
    pub ledger: BlockLedger,
    pub cap: Cap,
    pub tools: ToolUse,
    /// How far the transcript has come, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Mark>,
    pub trust: Trust,
    #[serde(default, skip_serializing_if = "Orders::is_empty")]
    pub orders: Orders,
    /// A command makes this stop: no agent stops, so nobody is kept going by it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub by_command: bool,
    /// What a person must do before an order that they type in this client reaches us.
    #[serde(default, skip_serializing_if = "TypedHere::is_at_once")]
    pub typed_here: TypedHere,
    /// The last fence number that was given out.
    pub fence: Fence,
    /// The process that would run an effect; nobody, if nothing can be started.
    #[serde(default, skip_serializing_if = "EffectOwner::is_nobody")]
    pub me: EffectOwner,
    /// How long the host still waits for the answer, once an effect has run at this event. Before
    /// that, every effect may start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Broken {
    pub machine: Name,
    pub cause: String,
}

/// May effects run here? A person says so, outside the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    Trusted,
    Untrusted,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The same delivery was answered a moment ago.
    Repeated(Answer),
    /// An effect must be run first.
    Intends(Pending),
    Settled(Settlement),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settlement {
    pub answer: Answer,
    pub transitions: Vec<Transition>,
    /// The counts. [`Settlement::stored_ledger`] adds the answer to them.
    pub ledger: BlockLedger,
    /// Does a second delivery get the same answer again?
    pub repeatable: bool,
    pub outcome: Outcome,
}

impl Case {
    /// What a person's orders allow this machine.
    fn allowance(&self, machine: Name) -> Allowance {
        self.orders.allowance(machine, self.now)
    }

    fn delivery(&self) -> Delivery<'_> {
        Delivery {
            id: &self.delivery,
            registration: self.registration.as_ref(),
        }
    }

    fn occasion(&self) -> Occasion<'_> {
        Occasion {
            event: &self.event,
            now: self.now,
            uptime: self.uptime,
            fence: self.fence,
            me: &self.me,
        }
    }
}

impl Settlement {
    /// The session's ledger for its file: the counts and the answer. In the record, the answer is
    /// stored once, outside the ledger.
    pub fn stored_ledger(&self, case: &Case) -> BlockLedger {
        let last = if self.repeatable {
            Some(Delivered {
                delivery: case.delivery.clone(),
                registration: case.registration.clone(),
                uptime: case.uptime,
                answer: self.answer.clone(),
            })
        } else {
            case.ledger.last.clone()
        };
        BlockLedger {
            last,
            ..self.ledger.clone()
        }
    }
}

/// How the event ended, for the journal and for `why`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was asked of the host.
    Passed,
    /// The agent is kept going.
    Held,
    /// A machine held the agent, but the host would override one more hold.
    Capped,
    /// A machine held the agent, but it gave the same answer again and again.
    SameAnswer,
    /// Something was said at an event other than a stop, or to who typed a command.
    Told,
    /// Something would have been said or started, but the person only wants to observe.
    Observed,
}

impl Outcome {
    /// Of an event at which nobody can be kept going.
    const fn of_saying(said: bool) -> Self {
        if said { Self::Told } else { Self::Passed }
    }
}

pub fn deliberate(case: &Case) -> Ruling {
    // A result cannot be fetched a second time, so it is always taken in. A second delivery that
    // came while the effect ran has only been told to wait.
    let returned = case.inputs.iter().any(MachineInput::has_returned);
    if !returned
        && let Some(answer) = case.ledger.repeated(&case.delivery(), case.uptime)
        && stands(answer, case)
    {
        return Ruling::Repeated(answer.clone());
    }
    let votes: Vec<Vote> = case.inputs.iter().map(|input| vote(input, case)).collect();
    let mut decision = said(case, &votes, Allowance::Act);
    let mut notes = opening_notes(case);
    let held = matches!(&decision, Decision::Stop { hold } if !hold.is_empty());
    let would = said(case, &votes, Allowance::Observe);

    let mut starts = Vec::new();
    let mut next = HoldTexts::default();
    let mut alone = false;
    let mut transitions = Vec::with_capacity(votes.len());
    for (input, one) in case.inputs.iter().zip(votes) {
        if case.allowance(input.name()) == Allowance::Observe {
            starts.extend(one.need.map(|pending| pending.name()));
            transitions.push(input.unchanged(one.transition));
            continue;
        }
        let by = Voice::Machine(input.name());
        notes.extend(one.notes.into_iter().map(|text| Note { by, text }));
        if let Some(text) = one.next {
            next = next.join(HoldTexts::one(input.name(), text));
        }
        match one.need {
            None => transitions.push(one.transition),
            Some(_) if held || alone => {
                transitions.push(input.unmoved(&case.event.kind, "deferred"));
            }
            Some(pending) if out_of_time(case, &pending) => {
                decision = decision.join(postponed(case, input.name()));
                transitions.push(input.unmoved(&case.event.kind, "deferred"));
                // What comes after it waits with it.
                alone = true;
            }
            Some(_) if case.trust == Trust::Untrusted && input.name().needs_trust() => {
                notes.extend(untrusted_note(input.name(), &case.event.kind));
                transitions.push(input.unmoved(&case.event.kind, "untrusted"));
            }
            Some(pending) => return Ruling::Intends(pending),
        }
        alone |= one.alone;
    }
    Ruling::Settled(match case.orders.mode {
        Mode::Observe if decision.is_nothing() => {
            observed(case, &would, &starts, notes, transitions)
        }
        // A machine that gave up wants a person to look, so nobody is sent on.
        Mode::Act | Mode::Observe if alone => {
            settle(case, decision, HoldTexts::default(), notes, transitions)
        }
        Mode::Act | Mode::Observe => settle(case, decision, next, notes, transitions),
    })
}

/// May this answer still be given? Not if a person has since suspended a machine that spoke in it.
fn stands(answer: &Answer, case: &Case) -> bool {
    let mut texts = answer.decision.texts();
    texts.all(|one| case.allowance(one.by) == Allowance::Act)
}

/// Joins what the machines with this allowance say.
fn said(case: &Case, votes: &[Vote], allowance: Allowance) -> Decision {
    votes
        .iter()
        .filter(|vote| case.allowance(vote.transition.name()) == allowance)
        .fold(Decision::nothing(&case.event.kind), |all, one| {
            all.join(one.transition.said().clone())
        })
}

/// Asks a machine, unless a person suspended it. A suspended machine still takes in the result of
/// its effect, because a result cannot be fetched a second time; but it asks for nothing.
fn vote(input: &MachineInput, case: &Case) -> Vote {
    match case.allowance(input.name()) {
        Allowance::Act | Allowance::Observe => input.vote(&case.occasion()),
        Allowance::Suspended(_) => suspended(input, case),
    }
}

fn suspended(input: &MachineInput, case: &Case) -> Vote {
    let idle = || Vote {
        transition: input.unmoved(&case.event.kind, SUSPENDED),
        notes: Vec::new(),
        need: None,
        alone: false,
        next: None,
    };
    if !input.has_returned() {
        return idle();
    }
    let mut vote = input.vote(&case.occasion());
    if vote.need.is_some() {
        return idle();
    }
    vote.transition.drop_verdict(&case.event.kind);
    vote
}

/// `next` is what machines have for an agent that nobody holds.
fn settle(
    case: &Case,
    decision: Decision,
    next: HoldTexts,
    mut notes: Vec<Note>,
    mut transitions: Vec<Transition>,
) -> Settlement {
    let mut ledger = case.ledger.clone();
    if !case.by_command {
        ledger = ledger.opened(&case.event.kind, case.tools, case.cap);
    }
    let Decision::Stop { hold } = decision else {
        let outcome = Outcome::of_saying(!decision.is_nothing());
        let answer = Answer { decision, notes };
        return answered(case, answer, transitions, ledger, outcome);
    };
    let sends_on = hold.is_empty() && !next.is_empty();
    let texts = if sends_on { next } else { hold };
    let (outcome, note) = if case.by_command {
        (Outcome::of_saying(!texts.is_empty()), None)
    } else {
        settle_stop(case, &texts, &mut ledger)
    };
    notes.extend(note);
    let notices = case.inputs.iter().filter_map(MachineInput::notice);
    notes.extend(notices.map(Note::desktop));
    let settled = match outcome {
        Outcome::Passed => Settled::Released,
        // Nobody holds the agent: its present work is done, whether or not it is sent on.
        _ if sends_on => Settled::Released,
        Outcome::Held | Outcome::Told | Outcome::Observed => Settled::Continued,
        // The agent stops although a machine would hold it. The machines keep the state they
        // had before, so that the next prompt goes on from there.
        Outcome::Capped | Outcome::SameAnswer => {
            transitions = released_transitions(case, transitions, outcome);
            Settled::Continued
        }
    };
    let said = matches!(outcome, Outcome::Held | Outcome::Told);
    for transition in &mut transitions {
        match case.allowance(transition.name()) {
            Allowance::Act => transition.settle(settled),
            // This machine was not asked whether the agent may stop, so this stop does not
            // finish its work.
            Allowance::Suspended(_) => transition.settle(Settled::Continued),
            Allowance::Observe => {}
        }
        let by = transition.name();
        let onward = texts.iter().find(|one| said && sends_on && one.by == by);
        if let Some(one) = onward {
            let hold = HoldTexts::one(by, one.text.clone());
            transition.send_on(Decision::Stop { hold });
        }
    }
    let hold = if said { texts } else { HoldTexts::default() };
    let decision = Decision::Stop { hold };
    let answer = Answer { decision, notes };
    answered(case, answer, transitions, ledger, outcome)
}

fn answered(
    case: &Case,
    answer: Answer,
    transitions: Vec<Transition>,
    mut ledger: BlockLedger,
    outcome: Outcome,
) -> Settlement {
    // A change must not happen twice, even if nothing was said. An answer that was given because a
    // file could not be read is not worth repeating. A look of the watcher is never delivered
    // twice.
    let mut each = case.inputs.iter().zip(&transitions);
    let counts =
        !answer.is_nothing() || each.any(|(input, transition)| input.changed_by(transition));
    ledger.last = None;
    Settlement {
        answer,
        transitions,
        ledger,
        repeatable: counts
            && case.broken.is_empty()
            && case.event.kind != Kind::Watch
            && !case.by_command,
        outcome,
    }
}

/// What would have happened. The machines keep the state they had, so each stop is judged as if it
/// were the first.
fn observed(
    case: &Case,
    would: &Decision,
    starts: &[Name],
    mut notes: Vec<Note>,
    transitions: Vec<Transition>,
) -> Settlement {
    // The watcher looks every two minutes: no record says each time that it would have looked.
    let idle = starts.is_empty() || case.event.kind == Kind::Watch;
    let outcome = if would.is_nothing() && idle {
        Outcome::Passed
    } else {
        Outcome::Observed
    };
    notes.extend(observed_note(would, starts));
    let decision = Decision::nothing(&case.event.kind);
    let ledger = case.ledger.clone();
    answered(
        case,
        Answer { decision, notes },
        transitions,
        ledger,
        outcome,
    )
}

/// At a stop, the person is told what would have been done.
fn observed_note(would: &Decision, starts: &[Name]) -> Option<Note> {
    let Decision::Stop { hold } = would else {
        return None;
    };
    let mut done = Vec::new();
    if !hold.is_empty() {
        done.push(format!("kept the agent going for {}", names(hold)));
    }
    done.extend(starts.iter().map(|name| format!("started {name}'s effect")));
    (!done.is_empty()).then(|| {
        Note::ours(format!(
            "observe mode: it would have {}. `mainspring why` tells more",
            done.join(" and ")
        ))
    })
}

/// A result stays, because it cannot be fetched a second time.
fn released_transitions(
    case: &Case,
    transitions: Vec<Transition>,
    outcome: Outcome,
) -> Vec<Transition> {
    let rule = match outcome {
        Outcome::SameAnswer => "same-answer",
        _ => "capped",
    };
    let each = case.inputs.iter().zip(transitions);
    each.map(|(input, transition)| {
        if input.has_returned() {
            transition
        } else {
            input.unmoved(&case.event.kind, rule)
        }
    })
    .collect()
}

/// What the person must be told, whatever the machines say.
fn opening_notes(case: &Case) -> Vec<Note> {
    let asked = |name: Name| case.orders.suspension(name, case.now).is_none();
    let broken = case.broken.iter().filter(|broken| asked(broken.machine));
    let broken = broken.map(|broken| Note {
        by: Voice::Machine(broken.machine),
        text: broken.cause.clone(),
    });
    let overtaken = case.overtaken.iter().map(|machine| Note {
        by: Voice::Machine(*machine),
        text: "a result came too late: another event had taken over the work".into(),
    });
    broken
        .chain(overtaken)
        .chain(suspended_note(case))
        .collect()
}

/// Said at every stop that passes because of an order, so that nobody forgets it.
fn suspended_note(case: &Case) -> Option<Note> {
    let Kind::Stop { .. } = case.event.kind else {
        return None;
    };
    if case.event.speaker == Speaker::Subagent {
        return None;
    }
    let inputs = case.inputs.iter().map(MachineInput::name);
    let broken = case.broken.iter().map(|broken| broken.machine);
    let suspended: Vec<(Name, Until)> = inputs
        .chain(broken)
        .filter_map(|name| Some((name, case.orders.suspension(name, case.now)?)))
        .collect();
    Orders::note(&suspended).map(Note::ours)
}
