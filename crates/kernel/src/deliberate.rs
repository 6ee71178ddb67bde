//! One event, all machines, one answer.
//!
//! 1. An event delivered twice gets the same answer and changes nothing.
//! 2. Every machine is asked. Handlers are cheap; what is expensive is an effect, and a
//!    handler can only ask for one.
//! 3. If any machine holds a stop, no effect is started: the agent is told at once
//!    everything that is missing. What waits, waits for the next stop.
//! 4. Else the first effect in the machines' order is to be run, and all are asked again.
//! 5. Else the decision is final: the ledger counts it, and at the stop that the host
//!    would override we let go ourselves. Machines are told how it ended.
//!
//! A person's orders stand above all of it: a braked machine is not asked, and in
//! observation the answer is nothing, whatever was decided.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decision::{Answer, Decision, Note, Reasons, Voice};
use crate::effect::{Fence, Intent, Owner, Standing};
use crate::event::{Event, Kind, Speaker};
use crate::ids::{Digest, Millis};
use crate::ledger::{Cap, Delivered, Ledger, Mark, ToolUse};
use crate::machine::{
    AfterTool, BeforeTool, Input, Machine, Nothing, OnContext, OnIdle, OnStop, Settled, Step,
    Verdict,
};
use crate::machines::{Move, Moved, Name, Part, Pending, Slot};
use crate::orders::{Mode, Orders, Until};
use crate::tally::Tally;

/// Everything a decision is made from. It is what the journal keeps, so that the same
/// decision can be made again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    pub event: Event,
    pub now: Millis,
    /// Tells this delivery of the event from any other.
    pub delivery: Digest,
    pub parts: Vec<Part>,
    /// Machines whose state could not be read. They let go, and the person is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Broken>,
    /// The machine whose effect came back after another event had taken its work over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overtaken: Option<Name>,
    pub ledger: Ledger,
    pub cap: Cap,
    pub tools: ToolUse,
    /// How far the transcript has come, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Mark>,
    pub trust: Trust,
    #[serde(default, skip_serializing_if = "Orders::is_empty")]
    pub orders: Orders,
    /// The last fence number that was given out.
    pub fence: Fence,
    /// Who would run an effect; nobody, where nothing can be started.
    #[serde(default, skip_serializing_if = "Owner::is_nobody")]
    pub me: Owner,
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
pub enum Deliberation {
    /// The same delivery was answered a moment ago.
    Repeated(Answer),
    /// An effect must be run first.
    Intends(Pending),
    Settled(Settlement),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settlement {
    pub answer: Answer,
    pub moves: Vec<Move>,
    /// The counts; what is kept with them, [`Settlement::kept`] knows.
    pub ledger: Ledger,
    /// Is this delivery given the same answer again, should it come twice?
    pub repeatable: bool,
    pub outcome: Outcome,
}

impl Settlement {
    /// The session's ledger as it is kept: the counts with the answer, of which a record has
    /// one already.
    pub fn kept(&self, case: &Case) -> Ledger {
        let last = if self.repeatable {
            Some(Delivered {
                delivery: case.delivery.clone(),
                at: case.now,
                answer: self.answer.clone(),
            })
        } else {
            case.ledger.last.clone()
        };
        Ledger {
            last,
            ..self.ledger.clone()
        }
    }
}

/// How it came out, for the journal and for `why`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was asked of the host.
    Passed,
    /// The agent is kept going.
    Held,
    /// It would be, but the host would override one more hold.
    Capped,
    /// Something was said at an event that cannot be held.
    Told,
    /// Something would have been said or started, but a person only wants to see it.
    Observed,
}

/// What one machine said.
pub(crate) struct Heard {
    pub(crate) moved: Move,
    pub(crate) notes: Vec<String>,
    pub(crate) need: Option<Pending>,
}

pub fn deliberate(case: &Case) -> Deliberation {
    // What an effect has brought back cannot be had twice: the second delivery, which came
    // while it ran, was only told to wait.
    let returned = case.parts.iter().any(Part::has_returned);
    if !returned && let Some(answer) = case.ledger.repeated(&case.delivery, case.now) {
        return Deliberation::Repeated(answer.clone());
    }
    let heard: Vec<Heard> = case.parts.iter().map(|part| hear(part, case)).collect();
    let decision = heard
        .iter()
        .fold(Decision::nothing(&case.event.kind), |all, one| {
            all.join(one.moved.said().clone())
        });
    let mut notes = opening_notes(case);
    let held = matches!(&decision, Decision::Stop { hold } if !hold.is_empty());

    let mut starts = Vec::new();
    let mut moves = Vec::with_capacity(heard.len());
    for (part, one) in case.parts.iter().zip(heard) {
        let by = Voice::Machine(part.name());
        notes.extend(one.notes.into_iter().map(|text| Note { by, text }));
        match one.need {
            None => moves.push(one.moved),
            Some(pending) if case.orders.mode == Mode::Observe => {
                starts.push(pending.name());
                moves.push(one.moved);
            }
            Some(_) if held => moves.push(part.unmoved(case, "deferred")),
            Some(pending) => match case.trust {
                Trust::Trusted => return Deliberation::Intends(pending),
                Trust::Untrusted => {
                    notes.push(Note {
                        by,
                        text: format!(
                            "{} has work to start here, and this project is not trusted yet: \
                             `mainspring trust` allows it",
                            part.name()
                        ),
                    });
                    moves.push(part.unmoved(case, "untrusted"));
                }
            },
        }
    }
    Deliberation::Settled(match case.orders.mode {
        Mode::Act => settle(case, decision, notes, moves),
        Mode::Observe => observed(case, &decision, &starts, moves),
    })
}

/// Asks a machine, unless a person holds it back. What an effect of a braked machine has
/// brought back is still taken in, because it cannot be had twice, but it asks for nothing.
fn hear(part: &Part, case: &Case) -> Heard {
    if case.orders.brake(part.name(), case.now).is_none() {
        return part.hear(case);
    }
    let idle = || Heard {
        moved: part.unmoved(case, "braked"),
        notes: Vec::new(),
        need: None,
    };
    if !part.has_returned() {
        return idle();
    }
    let mut heard = part.hear(case);
    if heard.need.is_some() {
        return idle();
    }
    heard.moved.hush(&case.event.kind);
    heard
}

fn settle(
    case: &Case,
    decision: Decision,
    mut notes: Vec<Note>,
    mut moves: Vec<Move>,
) -> Settlement {
    let mut ledger = case.ledger.clone().opened(&case.event.kind, case.tools);
    let mut decision = decision;
    let outcome = match &decision {
        Decision::Stop { hold } if hold.is_empty() => {
            // A sub-agent's stop is not the end of what the agent is kept going for.
            let tally = match case.event.speaker {
                Speaker::Main => ledger.tally.take(),
                Speaker::Subagent => None,
            };
            if let Some(mut tally) = tally {
                tally.take_in(&case.parts);
                notes.push(Note::courtesy(tally.receipt(case.now)));
            }
            Outcome::Passed
        }
        Decision::Stop { hold } if ledger.exhausted(case.cap) => {
            notes.push(capped_note(hold, &ledger));
            ledger.tally = None;
            Outcome::Capped
        }
        Decision::Stop { hold } => {
            ledger.hold(case.transcript);
            let tally = ledger.tally.get_or_insert_with(|| Tally::begin(case.now));
            tally.hold(hold);
            tally.take_in(&case.parts);
            if tally.holds == 1 {
                notes.push(held_note(hold));
            }
            Outcome::Held
        }
        said if said.is_nothing() => Outcome::Passed,
        Decision::Context { .. }
        | Decision::AfterTool { .. }
        | Decision::BeforeTool { .. }
        | Decision::Idle { .. }
        | Decision::Silent => Outcome::Told,
    };
    if let Decision::Stop { .. } = decision {
        let settled = match outcome {
            Outcome::Passed => Settled::Released,
            Outcome::Held | Outcome::Told | Outcome::Observed => Settled::Continued,
            // The agent stops against the machines' will: they stay as they were found,
            // so that the next prompt goes on where this one was cut off.
            Outcome::Capped => {
                decision = Decision::nothing(&case.event.kind);
                moves = capped_moves(case, moves);
                Settled::Continued
            }
        };
        for moved in &mut moves {
            // A braked machine did not consent: what it took in is not what ended the turn.
            match case.orders.brake(moved.name(), case.now) {
                Some(_) => moved.settle(Settled::Continued),
                None => moved.settle(settled),
            }
        }
    }
    answered(case, Answer { decision, notes }, moves, ledger, outcome)
}

fn answered(
    case: &Case,
    answer: Answer,
    moves: Vec<Move>,
    mut ledger: Ledger,
    outcome: Outcome,
) -> Settlement {
    // What changed something without a word must not change it again. What was answered
    // because something could not be read is not worth repeating.
    let mut each = case.parts.iter().zip(&moves);
    let counts = !answer.is_nothing() || each.any(|(part, moved)| part.changed_by(moved));
    ledger.last = None;
    Settlement {
        answer,
        moves,
        ledger,
        repeatable: counts && case.broken.is_empty(),
        outcome,
    }
}

/// What would have happened, with nothing come of it: the machines stay as they were found,
/// so that each stop is judged as if it were the first.
fn observed(case: &Case, decision: &Decision, starts: &[Name], moves: Vec<Move>) -> Settlement {
    let outcome = if decision.is_nothing() && starts.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Observed
    };
    let mut notes = opening_notes(case);
    if let Decision::Stop { hold } = decision {
        let mut would = Vec::new();
        if !hold.is_empty() {
            would.push(format!("kept the agent going for {}", names(hold)));
        }
        would.extend(starts.iter().map(|name| format!("started {name}'s effect")));
        if !would.is_empty() {
            notes.push(Note::ours(format!(
                "only observing; it would have {}. `mainspring why` tells more",
                would.join(" and ")
            )));
        }
    }
    let each = case.parts.iter().zip(moves);
    let moves = each.map(|(part, moved)| part.unchanged(moved)).collect();
    let decision = Decision::nothing(&case.event.kind);
    let ledger = case.ledger.clone();
    answered(case, Answer { decision, notes }, moves, ledger, outcome)
}

fn speakers(reasons: &Reasons) -> Vec<&'static str> {
    let mut names: Vec<&str> = reasons.iter().map(|reason| reason.by.as_str()).collect();
    names.dedup();
    names
}

/// `gate`, `gate and loop`, `gate, loop and review`.
fn names(reasons: &Reasons) -> String {
    match speakers(reasons).as_slice() {
        [] => String::new(),
        [one] => (*one).into(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// What an effect brought back is kept: it cannot be had twice.
fn capped_moves(case: &Case, moves: Vec<Move>) -> Vec<Move> {
    let each = case.parts.iter().zip(moves);
    each.map(|(part, moved)| {
        if part.has_returned() {
            moved
        } else {
            part.unmoved(case, "capped")
        }
    })
    .collect()
}

/// What the person must hear whatever the machines say.
fn opening_notes(case: &Case) -> Vec<Note> {
    let asked = |name: Name| case.orders.brake(name, case.now).is_none();
    let broken = case.broken.iter().filter(|broken| asked(broken.machine));
    let broken = broken.map(|broken| Note {
        by: Voice::Machine(broken.machine),
        text: broken.cause.clone(),
    });
    let overtaken = case.overtaken.map(|machine| Note {
        by: Voice::Machine(machine),
        text: "a result came too late: another event had taken the work over".into(),
    });
    broken.chain(overtaken).chain(braked_note(case)).collect()
}

/// Said at every stop that a brake lets through: what is switched off must not be forgotten.
fn braked_note(case: &Case) -> Option<Note> {
    let Kind::Stop { .. } = case.event.kind else {
        return None;
    };
    if case.event.speaker == Speaker::Subagent {
        return None;
    }
    let braked: Vec<(Name, Until)> = case
        .parts
        .iter()
        .filter_map(|part| Some((part.name(), case.orders.brake(part.name(), case.now)?)))
        .collect();
    Orders::note(&braked).map(Note::ours)
}

/// Once for a run of holds: at every one it would only be noise.
fn held_note(hold: &Reasons) -> Note {
    let keep = match speakers(hold).len() {
        1 => "keeps",
        _ => "keep",
    };
    Note::courtesy(format!(
        "{} {keep} the agent going. `mainspring why` tells more, `mainspring stop` ends it",
        names(hold)
    ))
}

fn capped_note(hold: &Reasons, ledger: &Ledger) -> Note {
    Note::ours(format!(
        "let go after {} blocks in a row without tool use, because the host would override the \
         next one. Still waiting: {}. Say \"continue\" to go on, or `mainspring why` for the reasons",
        ledger.blocks,
        names(hold)
    ))
}

/// Asks one machine about the case.
pub(crate) fn ask<M: Machine>(
    slot: &Slot<M>,
    case: &Case,
) -> (Moved<M>, Vec<String>, Option<Intent<M>>) {
    let input = Input {
        event: &case.event,
        now: case.now,
        facts: &slot.facts,
        standing: &slot.standing,
    };
    if case.event.speaker == Speaker::Subagent {
        return (stay(slot, case, "subagent"), Vec::new(), None);
    }
    match &case.event.kind {
        Kind::Stop { .. } => finish(slot, case, M::on_stop(&slot.state, &input)),
        Kind::SessionStart { .. } => finish(slot, case, M::on_start(&slot.state, &input)),
        Kind::Prompt { .. } => finish(slot, case, M::on_prompt(&slot.state, &input)),
        Kind::Expansion { .. } => finish(slot, case, M::on_expansion(&slot.state, &input)),
        Kind::BeforeTool { .. } => finish(slot, case, M::before_tool(&slot.state, &input)),
        Kind::AfterTool { .. } => finish(slot, case, M::after_tool(&slot.state, &input)),
        Kind::Idle => finish(slot, case, M::on_idle(&slot.state, &input)),
        Kind::SessionEnd { .. } => finish(slot, case, M::on_end(&slot.state, &input)),
        Kind::Other { .. } => (stay(slot, case, ""), Vec::new(), None),
    }
}

/// A machine that stays as it was found, and says nothing.
pub(crate) fn stay<M: Machine>(slot: &Slot<M>, case: &Case, rule: &str) -> Moved<M> {
    Moved {
        rule: rule.to_string(),
        from: M::label(&slot.state).into(),
        to: M::label(&slot.state).into(),
        state: slot.state.clone(),
        intent: slot.standing.recorded().cloned(),
        said: Decision::nothing(&case.event.kind),
    }
}

fn finish<M: Machine, V: Say>(
    slot: &Slot<M>,
    case: &Case,
    step: Step<M, V>,
) -> (Moved<M>, Vec<String>, Option<Intent<M>>) {
    let mut moved = stay(slot, case, step.rule);
    match step.verdict {
        Verdict::Say(verdict) => {
            moved.to = M::label(&step.state).into();
            moved.state = step.state;
            moved.said = verdict.say(M::NAME);
            // What came back is taken in with this step; what runs elsewhere goes on; what
            // was abandoned is forgotten only by a machine that has dealt with it.
            moved.intent = match &slot.standing {
                Standing::Clear | Standing::Done(..) | Standing::Abandoned(_) => None,
                Standing::Running(intent) => Some(intent.clone()),
            };
            (moved, step.notes, None)
        }
        Verdict::Need { effect, limit } => {
            let intent = Intent {
                fence: case.fence.next(),
                effect,
                owner: case.me.clone(),
                since: case.now,
                deadline: case.now.plus(limit),
            };
            (moved, step.notes, Some(intent))
        }
    }
}

/// A verdict, as the decision it would be if nobody else spoke.
trait Say {
    fn say(self, by: Name) -> Decision;
}

impl Say for OnStop {
    fn say(self, by: Name) -> Decision {
        Decision::Stop {
            hold: match self {
                Self::Pass => Reasons::default(),
                Self::Hold(text) => Reasons::one(by, text),
            },
        }
    }
}

impl Say for OnContext {
    fn say(self, by: Name) -> Decision {
        Decision::Context {
            tell: match self {
                Self::Pass => Reasons::default(),
                Self::Tell(text) => Reasons::one(by, text),
            },
        }
    }
}

impl Say for AfterTool {
    fn say(self, by: Name) -> Decision {
        let (tell, object) = match self {
            Self::Pass => (Reasons::default(), Reasons::default()),
            Self::Tell(text) => (Reasons::one(by, text), Reasons::default()),
            Self::Object(text) => (Reasons::default(), Reasons::one(by, text)),
        };
        Decision::AfterTool { tell, object }
    }
}

impl Say for BeforeTool {
    fn say(self, by: Name) -> Decision {
        Decision::BeforeTool {
            deny: match self {
                Self::Pass => Reasons::default(),
                Self::Deny(text) => Reasons::one(by, text),
            },
        }
    }
}

impl Say for OnIdle {
    fn say(self, by: Name) -> Decision {
        Decision::Idle {
            notify: match self {
                Self::Pass => Reasons::default(),
                Self::Notify(text) => Reasons::one(by, text),
            },
        }
    }
}

impl Say for Nothing {
    fn say(self, _: Name) -> Decision {
        Decision::Silent
    }
}
