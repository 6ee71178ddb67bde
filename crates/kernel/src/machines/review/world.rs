//! For tests: a plan, its directory, and the session that stops there.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use pretty_assertions::assert_eq;

use super::cycle::Cycle;
use super::phase::Phase;
use super::table::Tasks;
use super::*;
use crate::block_ledger::{BlockLedger, Cap, ToolUse};
use crate::decision::Decision;
use crate::deliberate::{Case, Outcome as Came, Ruling, Trust, deliberate};
use crate::effect::{EffectOwner, EffectStatus, Intent};
use crate::event::{Background, Chain, Event, Kind as EventKind, Speaker};
use crate::ids::{Digest, SessionId, Uptime};
use crate::machines::{InputOf, MachineInput, Pending, Transition, TransitionOf};

pub(super) const TABLE_MD: &str = "| Id | Status |\n|--|--|\n| 1 | done |\n| 2 | pending |\n";

/// A plan in a directory, and the session that stops there.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) facts: Facts,
    pub(super) event: Event,
    pub(super) effect_status: EffectStatus<Review>,
    pub(super) cap: Cap,
    pub(super) now: Millis,
}

/// How a stop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StopResult {
    Runs(Box<Intent<Review>>),
    Says { hold: String, notes: Vec<String> },
}

pub(super) fn session(text: &str) -> SessionId {
    SessionId::parse(text).expect("an id")
}

pub(super) fn stop(chain: Chain) -> EventKind {
    EventKind::Stop {
        chain,
        background: Background::Quiet,
    }
}

impl World {
    pub(super) fn new(fields: Fields) -> Self {
        Self {
            plan: Plan {
                id: "demo".into(),
                fields,
                memory: Memory {
                    owner: Some(session("s")),
                    ..Memory::default()
                },
                passing: None,
            },
            facts: Facts {
                asker: Asker::Session(OtherSessions::Alone),
                unrecorded: false,
                replies: Vec::new(),
                violations: vec![],
                warnings: vec![],
                tasks: Tasks::parse(TABLE_MD),
                written: vec![],
                answer: AnswerFile::Missing,
                settings: Settings {
                    models: ["opus", "sonnet"].map(ToOwned::to_owned).into(),
                    on_failure: OnFailure::Approve,
                    max_cost: None,
                    deadline: Millis::seconds(600),
                    findings: true,
                },
            },
            event: Event {
                session: Some(session("s")),
                speaker: Speaker::Main,
                kind: stop(Chain::First),
            },
            effect_status: EffectStatus::Clear,
            cap: Cap::After(8),
            now: Millis(1_000_000),
        }
    }

    pub(super) fn due(review: Kind) -> Self {
        let mut world = Self::new(Fields {
            current_task: Some("1".into()),
            phase_iteration: Some(0),
            next_phase: Some(Phase::Review(review)),
            ..Fields::default()
        });
        world.begin(0, 0);
        world
    }

    /// The plan is in the cycle that its fields name, with this many reviews, the last of them
    /// clean.
    pub(super) fn begin(&mut self, done: u32, streak: u32) {
        let fields = self.fields();
        fields.phase_iteration = Some(done);
        fields.consecutive_clean = streak;
        let key = fields.cycle();
        let open = self.facts.tasks.open_beside(None).count();
        self.plan.memory.cycle = key.map(|key| Cycle {
            open,
            done,
            streak,
            number: done,
            ..Cycle::new(key)
        });
    }

    pub(super) fn fields(&mut self) -> &mut Fields {
        &mut self.plan.fields
    }

    pub(super) fn case(&self, state: State) -> Case {
        let mut input = InputOf::new(state, self.facts.clone());
        input.effect_status = self.effect_status.clone();
        Case {
            left: None,
            event: self.event.clone(),
            now: self.now,
            uptime: Uptime(self.now.0),
            delivery: Digest(format!("{:?}", self.now)),
            inputs: vec![MachineInput::Review(input)],
            broken: vec![],
            overtaken: Vec::new(),
            by_command: false,
            registration: None,
            said: None,
            ledger: BlockLedger::default(),
            cap: self.cap,
            tools: ToolUse::NotSeen,
            transcript: None,
            trust: Trust::Trusted,
            orders: crate::Orders::default(),
            typed_here: crate::orders::TypedHere::AtOnce,
            fence: Fence(7),
            me: EffectOwner {
                pid: 1,
                started: 1,
                boot: "b".into(),
            },
        }
    }

    /// One stop; the plan's state changes as decided.
    pub(super) fn hear(&mut self) -> StopResult {
        let case = self.case(State::Plan(self.plan.clone().into()));
        match deliberate(&case) {
            Ruling::Intends(Pending::Review(intent)) => StopResult::Runs(Box::new(intent)),
            Ruling::Settled(settled) => {
                let Transition::Review(moved) = &settled.transitions[0] else {
                    panic!("another machine's move")
                };
                if !moved.rule.is_empty() {
                    assert_in_table(moved, self.event.kind.name());
                }
                let State::Plan(plan) = &moved.state else {
                    panic!("the plan is gone")
                };
                assert_eq!(plan.passing, None, "a target outlives its turn");
                self.plan = Plan::clone(plan);
                self.effect_status = match &moved.intent {
                    Some(intent) => EffectStatus::Abandoned(intent.clone()),
                    None => EffectStatus::Clear,
                };
                let hold = match &settled.answer.decision {
                    Decision::Stop { hold } => hold.text(),
                    Decision::Context { tell } => tell.text(),
                    _ => String::new(),
                };
                assert_eq!(settled.outcome == Came::Held, {
                    matches!(settled.answer.decision, Decision::Stop { .. }) && !hold.is_empty()
                });
                let notes = settled.answer.notes.iter().map(|note| note.text.clone());
                StopResult::Says {
                    hold,
                    notes: notes.collect(),
                }
            }
            other => panic!("{other:?}"),
        }
    }

    /// A stop that must start a reviewer.
    #[track_caller]
    pub(super) fn runs(&mut self) -> Intent<Review> {
        match self.hear() {
            StopResult::Runs(intent) => *intent,
            StopResult::Says { .. } => panic!("no reviewer was started: {self:#?}"),
        }
    }

    /// A stop that must not start a reviewer: what holds the agent, and what the person is told.
    #[track_caller]
    pub(super) fn says(&mut self) -> (String, Vec<String>) {
        match self.hear() {
            StopResult::Says { hold, notes } => (hold, notes),
            StopResult::Runs(intent) => panic!("a reviewer was started: {intent:?}"),
        }
    }

    /// A stop with its review: the reason that holds the agent.
    #[track_caller]
    pub(super) fn reviewed(&mut self, result: Finding) -> (Request, String, Vec<String>) {
        let intent = self.runs();
        let request = intent.effect.clone();
        if let Finding::Reviewed(_) = result {
            self.facts.written.push(request.iteration);
        }
        let outcome = Outcome::new(result, Millis(1), 10_000);
        self.effect_status = EffectStatus::Done(intent, outcome);
        let (hold, notes) = self.says();
        (request, hold, notes)
    }

    /// The agent answers the review as it was asked to.
    pub(super) fn answers(&mut self) {
        let fields = self.fields();
        let review = fields.unanswered().expect("a review to answer");
        fields.phase = Some(Phase::PostReview(review));
        fields.next_phase = Some(Phase::Review(review));
        self.event.kind = stop(Chain::Continued);
    }

    /// The agent was held once for an answer that nobody recorded.
    pub(super) fn remind(&mut self) {
        let fields = &self.plan.fields;
        let number = self.plan.memory.number(fields);
        let answer = |review: Kind| review.answer_file(fields.task().as_ref(), number);
        self.plan.memory.reminded = fields.unanswered().map(answer);
    }

    pub(super) fn line(&mut self) -> String {
        let fields = self.fields();
        let text =
            |phase: &Option<Phase>| phase.as_ref().map_or("null".into(), ToString::to_string);
        format!(
            "{} → {} iter {} {} clean {}",
            text(&fields.phase),
            text(&fields.next_phase),
            fields
                .phase_iteration
                .map_or("null".into(), |n| n.to_string()),
            fields.review_model,
            fields.consecutive_clean,
        )
    }
}

pub(super) const PASS: Finding = Finding::Reviewed(Verdict::Pass);
pub(super) const FAIL: Finding = Finding::Reviewed(Verdict::Fail);

pub(super) fn assert_in_table(moved: &TransitionOf<Review>, on: &str) -> &'static Arrow {
    Review::TABLE
        .iter()
        .find(|arrow| {
            arrow.rule == moved.rule
                && arrow.leaves(&moved.from)
                && arrow.target(&moved.from) == moved.to
                && arrow.on == on
        })
        .unwrap_or_else(|| {
            panic!(
                "no arrow {} from {} to {} on {on}",
                moved.rule, moved.from, moved.to
            )
        })
}
