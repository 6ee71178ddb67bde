//! A review is due at this stop: can a reviewer start now, and with which request?

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::after::{Ending, conclude, pass};
use super::cycle::{Cycle, CycleKey};
use super::examine::examine;
use super::findings::{Entry, EntryState};
use super::messages::directory;
use super::plan::{OverdueReview, Plan, Waiting};
use super::standstill::Standstill;
use super::stop::{Stop, late, with_notes};
use super::{Asker, Facts, Kind, Memory, OnFailure, OpenLedger, Progress, Request, Review};
use crate::effect::{EffectStatus, Intent};
use crate::event::{self, Background};
use crate::ids::Millis;
use crate::machine::{Input, OnStop, Step};

/// How long after a failed review the next one starts. Each further failure makes it four
/// times as long.
const BACK_OFF: Millis = Millis::seconds(5);

/// A review must run, or has just run.
pub(super) fn due(mut plan: Plan, review: Kind, input: &Input<'_, Review>) -> Stop {
    let key = CycleKey::of(review, &plan.fields);
    let begun = begin(&mut plan, &key, input.facts);
    let step = match input.effect_status {
        EffectStatus::Done(intent, outcome) if intent.effect.is_for(&plan.id, &key) => {
            conclude(plan, &intent.effect, outcome, input)
        }
        _ => with_notes(start(plan, &key, input), late(input)),
    };
    with_notes(step, begun)
}

/// Begins the cycle of the due review, if the plan is not in it yet: an earlier phase led here, or
/// somebody edited `state.json`. Counts that we have no record of are not believed.
fn begin(plan: &mut Plan, key: &CycleKey, facts: &Facts) -> Option<String> {
    if plan.memory.in_cycle(key).is_some() || plan.memory.is_exhausted(key) {
        return None;
    }
    let claimed = core::mem::take(&mut plan.fields.consecutive_clean);
    plan.fields.phase_iteration = Some(0);
    plan.memory.begin(key.clone()).open = facts.tasks.open_beside(key.task.as_ref()).count();
    (claimed > 0).then(|| {
        format!(
            "state.json of plan '{}' has consecutive_clean {claimed}, but there is no record of \
             such a {} in this cycle: it counts from 0",
            plan.id,
            key.review.label()
        )
    })
}

fn start(plan: Plan, key: &CycleKey, input: &Input<'_, Review>) -> Stop {
    let facts = input.facts;
    let let_go = |plan: Plan, rule| Step::take(rule, plan.into(), OnStop::Pass);
    if is_waiting(input) {
        return let_go(plan, "background");
    }
    if plan.fields.max_reviews == 0 {
        return pass(plan, key.review, Ending::Skipped, input).drop_abandoned();
    }
    // The last review was clean enough, but another machine held that stop.
    if plan.memory.in_cycle(key).is_some_and(Cycle::is_passed) {
        return pass(plan, key.review, Ending::Passed, input).drop_abandoned();
    }
    let still = Standstill::limit(&plan, key);
    if let Some(still) = still.or_else(|| Standstill::cost(&plan, &facts.settings)) {
        return wait(plan, key, &still, input);
    }
    if let Some(missing) = missing_subject(key, facts) {
        let note = format!("no {} of plan '{}': {missing}", key.review.label(), plan.id);
        return let_go(plan, "no-subject").note(note);
    }
    if let EffectStatus::Running(intent) = input.effect_status {
        return let_go(plan, "busy").note(busy_note(&intent.effect, facts.asker));
    }
    if let Some(still) = Standstill::parked(&plan, key) {
        return wait(plan, key, &still, input);
    }
    let request = request(&plan, key, input);
    let wait = request.not_before.since(input.now);
    let limit = facts.settings.deadline.plus(wait);
    Step::need("review", plan.into(), request, limit)
}

/// No reviewer starts until a person decides.
pub(super) fn wait(
    mut plan: Plan,
    key: &CycleKey,
    still: &Standstill,
    input: &Input<'_, Review>,
) -> Stop {
    let said = plan.memory.waiting.is_some();
    if let Standstill::Limit { .. } = still {
        plan.memory.exhaust(key);
    }
    plan.memory.waiting.get_or_insert(Waiting::Untold);
    let note = still.sentence(&plan.id, key.review);
    let step = examine(plan, input, still.rule());
    match still {
        Standstill::Parked { .. } if said => step,
        _ => step.note(note),
    }
}

fn missing_subject(key: &CycleKey, facts: &Facts) -> Option<&'static str> {
    match (key.review, &key.task) {
        (Kind::Code, None) => Some("state.json names no usable current_task"),
        (Kind::Code, Some(task)) if !facts.tasks.may_have(task) => {
            Some("tasks.md has no such task as its current_task")
        }
        (Kind::Tasks | Kind::AllCode, _) if facts.tasks.numbered().next().is_none() => {
            Some("tasks.md names no task")
        }
        (Kind::Plan | Kind::Code | Kind::Tasks | Kind::AllCode, _) => None,
    }
}

fn request(plan: &Plan, key: &CycleKey, input: &Input<'_, Review>) -> Request {
    let facts = input.facts;
    let (done, streak, number) = match plan.memory.in_cycle(key) {
        Some(cycle) => (cycle.done, cycle.streak, cycle.number),
        None => (0, 0, 0),
    };
    let abandoned = match input.effect_status {
        EffectStatus::Abandoned(intent) if intent.effect.is_for(&plan.id, key) => Some(intent),
        _ => None,
    };
    // The review that a dead process left behind keeps its number.
    let abandoned = abandoned.filter(|intent| intent.effect.iteration > number);
    let trouble = plan.memory.trouble.as_ref();
    Request {
        plan: plan.id.clone(),
        review: key.review,
        task: key.task.clone(),
        iteration: match abandoned {
            Some(intent) => intent.effect.iteration,
            None => next_free(number, &facts.written),
        },
        model: plan.fields.review_model.clone(),
        progress: Progress {
            max_reviews: plan.fields.max_reviews,
            streak,
            done,
        },
        tasks: match key.review {
            Kind::Plan | Kind::Code => Vec::new(),
            Kind::Tasks | Kind::AllCode => facts.tasks.numbered().cloned().collect(),
        },
        ledger: facts
            .settings
            .findings
            .then(|| open_ledger(&plan.memory, key)),
        not_before: match trouble.filter(|trouble| trouble.key == *key) {
            Some(trouble) if facts.settings.on_failure == OnFailure::Retry => back_off(trouble),
            Some(_) | None => Millis(0),
        },
        resumes: abandoned.map_or_else(Vec::new, |intent: &Intent<Review>| {
            let mut fences = intent.effect.resumes.clone();
            fences.push(intent.fence);
            fences
        }),
    }
}

/// What the reviewer is told of the rounds before.
fn open_ledger(memory: &Memory, key: &CycleKey) -> OpenLedger {
    let dismissed = |entry: &&Entry| entry.key == *key && entry.state == EntryState::Dismissed;
    OpenLedger {
        open: memory.open_findings(key).cloned().collect(),
        dismissed: memory.ledger.iter().filter(dismissed).cloned().collect(),
        next: memory.ledger.len() + 1,
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
const fn is_waiting(input: &Input<'_, Review>) -> bool {
    matches!(
        input.event.kind,
        event::Kind::Stop {
            background: Background::Working,
            ..
        }
    )
}

fn busy_note(running: &Request, asker: Asker) -> String {
    let then = match asker {
        Asker::Session(_) | Asker::Unknown => "this stop goes through, and the review stays due",
        Asker::Command => "`mainspring status` says when it is back",
    };
    format!(
        "a reviewer is already at work on {}/{}: {then}",
        directory(&running.plan),
        running.file()
    )
}
