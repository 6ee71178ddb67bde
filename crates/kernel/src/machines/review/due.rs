//! A review is due at this stop: can a reviewer start now, and with which request?

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cycle::{Counting, Cycle, CycleKey};
use super::findings::{Entry, EntryState};
use super::messages::directory;
use super::phase::{Phase, TaskId};
use super::plan::{CLEAN_ENOUGH, OverdueReview, Target};
use super::standstill::Standstill;
use super::{Door, Fields, Kind, OnFailure, OpenLedger, Plan, Progress, Request, Review};
use crate::effect::{EffectStatus, Intent};
use crate::event::{self, Background};
use crate::ids::Millis;
use crate::machine::Input;

/// How long after a failed review the next one starts. Each further failure makes it four
/// times as long.
const BACK_OFF: Millis = Millis::seconds(5);

pub(super) struct DueReview<'a> {
    pub(super) plan: &'a Plan,
    pub(super) fields: &'a Fields,
    pub(super) review: Kind,
    /// For a code review: the task whose code is reviewed.
    pub(super) task: Option<TaskId>,
    pub(super) input: &'a Input<'a, Review>,
}

/// What happens at the stop. The text is the rule of the table.
pub(super) enum Next {
    /// No review is needed; the plan goes on to the next phase.
    Pass(&'static str, Target),
    /// No reviewer starts, because the plan waits for a person. The ground rules decide whether
    /// the agent may stop.
    Wait(Standstill),
    /// No reviewer starts, and the agent may stop.
    LetGo(&'static str, Option<String>),
    Run(Request),
}

impl DueReview<'_> {
    /// Was this request made for the review that is due?
    pub(super) fn is_for(&self, request: &Request) -> bool {
        request.is_for(&self.plan.id, self.review, self.task.as_ref())
    }

    pub(super) fn next(self) -> Next {
        let Self {
            plan,
            fields,
            review,
            input,
            ..
        } = self;
        let facts = input.facts;
        let settings = &facts.settings;
        if is_waiting(input) {
            return Next::LetGo("background", None);
        }
        let target = || fields.target(review, &facts.tasks, &settings.models);
        if fields.max_reviews == 0 {
            return Next::Pass("skip", target());
        }
        // The last review was clean enough, but another machine held that stop.
        if self.streak() >= CLEAN_ENOUGH {
            return Next::Pass("passed", target());
        }
        let abandoned = self.abandoned();
        let iteration = match abandoned {
            Some(intent) => intent.effect.iteration,
            None => next_free(self.last_number(), &facts.written),
        };
        if let Some(still) = self
            .limit(iteration)
            .or_else(|| Standstill::cost(plan, settings))
        {
            return Next::Wait(still);
        }
        if let Some(missing) = self.missing_subject() {
            let note = format!("no {} of plan '{}': {missing}", review.label(), plan.id);
            return Next::LetGo("no-subject", Some(note));
        }
        if let EffectStatus::Running(intent) = input.effect_status {
            return Next::LetGo("busy", Some(busy_note(&intent.effect, facts.door)));
        }
        if let Some(still) = Standstill::parked(plan, &self.key()) {
            return Next::Wait(still);
        }
        Next::Run(self.request(iteration, abandoned))
    }

    /// Had the cycle all its reviews?
    fn limit(&self, iteration: u32) -> Option<Standstill> {
        let fields = self.fields;
        let counting = self.input.facts.counting;
        if counting == Counting::Files && iteration > fields.max_reviews {
            return Some(Standstill::Limit {
                done: fields.phase_iteration.unwrap_or(0),
                most: fields.max_reviews,
            });
        }
        Standstill::limit(self.plan, fields, self.review, counting)
    }

    fn key(&self) -> CycleKey {
        CycleKey {
            review: self.review,
            task: self.task.clone(),
        }
    }

    /// Our record of the cycle, if that is what counts.
    fn cycle(&self) -> Option<&Cycle> {
        match self.input.facts.counting {
            Counting::Files => None,
            Counting::Cycles => self.plan.memory.in_cycle(&self.key()),
        }
    }

    /// How many of the last reviews were clean.
    fn streak(&self) -> u32 {
        let fields = self.fields;
        match self.input.facts.counting {
            Counting::Files if fields.phase != Some(Phase::Review(self.review)) => 0,
            Counting::Files => fields.consecutive_clean,
            Counting::Cycles => self.cycle().map_or(0, |cycle| cycle.streak),
        }
    }

    /// The number of the last review's file.
    fn last_number(&self) -> u32 {
        match self.input.facts.counting {
            Counting::Files => self.fields.phase_iteration.unwrap_or(0),
            Counting::Cycles => self.cycle().map_or(0, |cycle| cycle.number),
        }
    }

    /// The review that a dead process left behind, if it is the one that is due.
    fn abandoned(&self) -> Option<&Intent<Review>> {
        let EffectStatus::Abandoned(intent) = self.input.effect_status else {
            return None;
        };
        let newer = intent.effect.iteration > self.last_number();
        (self.is_for(&intent.effect) && newer).then_some(intent)
    }

    fn missing_subject(&self) -> Option<&'static str> {
        let facts = self.input.facts;
        let mut tasks = facts.tasks.numbered();
        let unknown = |task: &TaskId| {
            let rows = &facts.tasks.rows;
            !rows.is_empty() && !rows.iter().any(|row| row.id == *task)
        };
        match self.review {
            Kind::Code if self.task.is_none() => Some("state.json names no usable current_task"),
            Kind::Code
                if facts.counting == Counting::Cycles
                    && self.task.as_ref().is_some_and(unknown) =>
            {
                Some("tasks.md has no such task as its current_task")
            }
            Kind::Tasks | Kind::AllCode if tasks.next().is_none() => Some("tasks.md names no task"),
            Kind::Plan | Kind::Code | Kind::Tasks | Kind::AllCode => None,
        }
    }

    /// How the last attempts at this review failed.
    fn trouble(&self) -> Option<&OverdueReview> {
        let trouble = self.plan.memory.trouble.as_ref();
        trouble.filter(|trouble| trouble.review == self.review && trouble.task == self.task)
    }

    /// What the reviewer is told of the rounds before.
    fn open_ledger(&self) -> OpenLedger {
        let memory = &self.plan.memory;
        let key = self.key();
        let dismissed = |entry: &&Entry| entry.key == key && entry.state == EntryState::Dismissed;
        OpenLedger {
            open: memory.open_findings(&key).cloned().collect(),
            dismissed: memory.ledger.iter().filter(dismissed).cloned().collect(),
            next: memory.ledger.len() + 1,
        }
    }

    fn request(&self, iteration: u32, abandoned: Option<&Intent<Review>>) -> Request {
        let facts = self.input.facts;
        let not_before = match (facts.settings.on_failure, self.trouble()) {
            (OnFailure::Retry, Some(trouble)) => back_off(trouble),
            (OnFailure::Retry, None) | (OnFailure::Approve | OnFailure::Park, _) => Millis(0),
        };
        let resumes = abandoned.map_or_else(Vec::new, |intent| {
            let mut fences = intent.effect.resumes.clone();
            fences.push(intent.fence);
            fences
        });
        Request {
            plan: self.plan.id.clone(),
            review: self.review,
            task: self.task.clone(),
            iteration,
            model: self.fields.review_model.clone(),
            progress: facts.tells_progress.then_some(Progress {
                max_reviews: self.fields.max_reviews,
                streak: match facts.counting {
                    Counting::Files => self.fields.consecutive_clean,
                    Counting::Cycles => self.streak(),
                },
                done: self.cycle().map(|cycle| cycle.done),
            }),
            tasks: match self.review {
                Kind::Plan | Kind::Code => Vec::new(),
                Kind::Tasks | Kind::AllCode => facts.tasks.numbered().cloned().collect(),
            },
            ledger: match facts.counting {
                Counting::Files => None,
                Counting::Cycles => Some(self.open_ledger()),
            },
            not_before,
            resumes,
        }
    }
}

/// A number is never used twice, so that no earlier review is overwritten.
fn next_free(done: u32, written: &[u32]) -> u32 {
    let mut number = done.saturating_add(1);
    while written.contains(&number) && number < u32::MAX {
        number += 1;
    }
    number
}

fn back_off(trouble: &OverdueReview) -> Millis {
    let longer = 4_u64.saturating_pow(trouble.failures.saturating_sub(1).min(4));
    trouble.at.plus(Millis(BACK_OFF.0.saturating_mul(longer)))
}

/// Is work still going on in the background, so that the agent continues by itself?
fn is_waiting(input: &Input<'_, Review>) -> bool {
    matches!(
        input.event.kind,
        event::Kind::Stop {
            background: Background::Working,
            ..
        }
    ) && input.facts.door == Door::Hook
}

fn busy_note(running: &Request, door: Door) -> String {
    let then = match door {
        Door::Hook | Door::Compat => "this stop goes through, and the review stays due",
        Door::Command => "`mainspring status` says when it is back",
    };
    format!(
        "a reviewer is already at work on {}/{}: {then}",
        directory(&running.plan),
        running.file()
    )
}
