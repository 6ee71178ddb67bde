//! A review is due at this stop: can a reviewer start now, and with which request?

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::messages::{directory, dollars};
use super::phase::{Phase, TaskId};
use super::plan::{CLEAN_ENOUGH, OverdueReview, Parked, Target};
use super::{Door, Fields, Kind, OnFailure, Plan, Progress, Request, Review};
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
    /// No reviewer starts, and the ground rules decide whether the agent may stop.
    Examine(&'static str, String),
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
        if fields.phase == Some(Phase::Review(review)) && fields.consecutive_clean >= CLEAN_ENOUGH {
            return Next::Pass("passed", target());
        }
        let abandoned = self.abandoned();
        let iteration = match abandoned {
            Some(intent) => intent.effect.iteration,
            None => next_free(fields.phase_iteration.unwrap_or(0), &facts.written),
        };
        if iteration > fields.max_reviews {
            return Next::Examine("limit", limit_note(plan, fields, review));
        }
        if let Some(most) = settings.max_cost
            && plan.memory.spent >= most
        {
            return Next::Examine("costs", cost_note(plan, most));
        }
        if let Some(missing) = self.missing_subject() {
            let note = format!("no {} of plan '{}': {missing}", review.label(), plan.id);
            return Next::LetGo("no-subject", Some(note));
        }
        if let EffectStatus::Running(intent) = input.effect_status {
            return Next::LetGo("busy", Some(busy_note(&intent.effect)));
        }
        if self
            .trouble()
            .is_some_and(|trouble| trouble.parked == Parked::Yes)
        {
            return Next::Examine("parked", parked_note(plan, review));
        }
        Next::Run(self.request(iteration, abandoned))
    }

    /// The review that a dead process left behind, if it is the one that is due.
    fn abandoned(&self) -> Option<&Intent<Review>> {
        let EffectStatus::Abandoned(intent) = self.input.effect_status else {
            return None;
        };
        let done = self.fields.phase_iteration.unwrap_or(0);
        (self.is_for(&intent.effect) && intent.effect.iteration > done).then_some(intent)
    }

    fn missing_subject(&self) -> Option<&'static str> {
        let mut tasks = self.input.facts.tasks.numbered();
        match self.review {
            Kind::Code if self.task.is_none() => Some("state.json names no usable current_task"),
            Kind::Tasks | Kind::AllCode if tasks.next().is_none() => Some("tasks.md names no task"),
            Kind::Plan | Kind::Code | Kind::Tasks | Kind::AllCode => None,
        }
    }

    /// How the last attempts at this review failed.
    fn trouble(&self) -> Option<&OverdueReview> {
        let trouble = self.plan.memory.trouble.as_ref();
        trouble.filter(|trouble| trouble.review == self.review && trouble.task == self.task)
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
                streak: self.fields.consecutive_clean,
            }),
            tasks: match self.review {
                Kind::Plan | Kind::Code => Vec::new(),
                Kind::Tasks | Kind::AllCode => facts.tasks.numbered().cloned().collect(),
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

fn cost_note(plan: &Plan, most: u64) -> String {
    format!(
        "the reviews of plan '{}' have cost {}, and max_cost_usd is {}: the cycle waits. Raise \
         it, or `mainspring plan set next_phase null`",
        plan.id,
        dollars(plan.memory.spent),
        dollars(most)
    )
}

fn busy_note(running: &Request) -> String {
    format!(
        "a reviewer is already at work on {}/{}: this stop goes through, and the review stays due",
        directory(&running.plan),
        running.file()
    )
}

fn parked_note(plan: &Plan, review: Kind) -> String {
    format!(
        "the {} of plan '{}' is parked after a failure: `mainspring plan review --now` tries again",
        review.label(),
        plan.id
    )
}

fn limit_note(plan: &Plan, fields: &Fields, review: Kind) -> String {
    format!(
        "plan '{}': {} of {} {}s are done without two clean ones in a row. Decide: \
         `mainspring plan set max_reviews N` allows more, `mainspring plan set next_phase …` moves on",
        plan.id,
        fields.phase_iteration.unwrap_or(0),
        fields.max_reviews,
        review.label()
    )
}
