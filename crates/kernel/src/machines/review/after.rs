//! A reviewer came back: its review counts, or did not happen.

use alloc::format;
use alloc::string::String;
use alloc::vec;

use super::cycle::{CLEAN_IN_A_ROW, CycleKey};
use super::examine::examine;
use super::messages::{answer_it, command, directory, result_line, touched_notes};
use super::phase::Phase;
use super::plan::{OverdueReview, Parked, Plan, Waiting, alternate};
use super::standstill::Standstill;
use super::stop::{Stop, with_notes};
use super::{Asker, Failure, Finding, Kind, Memory, OnFailure, Outcome, Request, Review, Verdict};
use crate::machine::{Input, OnStop, Step};

/// A failed review is retried this often while the agent waits.
const RETRIES: u32 = 2;
/// After so many failures in a row, a review waits for a person.
const MOST_FAILURES: u32 = 3;

/// A reviewer came back.
pub(super) fn conclude(
    mut plan: Plan,
    asked: &Request,
    outcome: &Outcome,
    input: &Input<'_, Review>,
) -> Stop {
    let verdict = match &outcome.result {
        Finding::Reviewed(verdict) => *verdict,
        Finding::NotDone(failure) => return failed(plan, asked, failure, input),
    };
    plan.memory.moved_by(input.event.session.as_ref());
    plan.memory.clear_trouble();
    let fields = &mut plan.fields;
    fields.phase = Some(Phase::Review(asked.review));
    fields.review_model = alternate(&asked.model, &input.facts.settings.models);
    let mut passed = false;
    if let Some(cycle) = &mut plan.memory.cycle {
        cycle.count(asked, verdict, &outcome.saw, input.now);
        fields.phase_iteration = Some(cycle.done);
        fields.consecutive_clean = cycle.streak;
        passed = cycle.is_passed();
    }
    let key = CycleKey::of(asked.review, fields);
    let round = plan.memory.report(&key, outcome.report.as_ref());
    let mut notes = vec![result_line(asked, outcome, verdict, round)];
    notes.extend(touched_notes(asked, outcome, verdict));
    let step = if passed {
        pass(plan, asked.review, Ending::Passed, input)
    } else {
        hold(plan, asked, verdict, &key)
    };
    with_notes(step, notes)
}

/// The agent answers the review, or the person decides what the two cannot agree about.
fn hold(mut plan: Plan, asked: &Request, verdict: Verdict, key: &CycleKey) -> Stop {
    plan.fields.next_phase = Some(Phase::PostReview(asked.review));
    if let Some(still) = Standstill::contested(&plan, key) {
        plan.memory.waiting.get_or_insert(Waiting::Untold);
        let note = still.sentence(&plan.id, asked.review);
        return Step::take("escalated", plan.into(), OnStop::Pass).note(note);
    }
    let reason = answer_it(asked, verdict, plan.memory.open_findings(key));
    let rule = match verdict {
        Verdict::Pass => "clean",
        Verdict::Fail | Verdict::Unsaid => "issues",
    };
    Step::take(rule, plan.into(), OnStop::Hold(reason))
}

/// How a cycle ends by itself.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    Passed,
    Skipped,
}

/// The cycle is over: the plan goes on to the next phase once every machine lets the agent go.
pub(super) fn pass(
    mut plan: Plan,
    review: Kind,
    ending: Ending,
    input: &Input<'_, Review>,
) -> Stop {
    let facts = input.facts;
    let settings = &facts.settings;
    let mut target = plan.fields.target(review, &facts.tasks, &settings.models);
    if facts.asker == Asker::Unknown {
        target.count = plan.fields.phase_iteration;
    }
    let rule = match (ending, target.is_review()) {
        (Ending::Passed, false) => "passed",
        (Ending::Passed, true) => "passed-last",
        (Ending::Skipped, false) => "skip",
        (Ending::Skipped, true) => "skip-last",
    };
    let how = match ending {
        Ending::Passed => CLEAN_IN_A_ROW,
        Ending::Skipped => "max_reviews is 0, so there was no review",
    };
    let note = format!(
        "plan '{}': {how}. Next: {}, when you continue the plan",
        plan.id, target.next
    );
    plan.passing = Some(target);
    Step::take(rule, plan.into(), OnStop::Pass).note(note)
}

/// How often this review has failed in a row. One that a person cancelled has not failed.
fn failures(memory: &mut Memory, asked: &Request, failure: &Failure) -> u32 {
    let before = memory.trouble.take();
    let before = before.filter(|trouble| trouble.key == asked.key());
    let before = before.map_or(0, |trouble| trouble.failures);
    before.saturating_add(u32::from(*failure != Failure::Cancelled))
}

fn failed(mut plan: Plan, asked: &Request, failure: &Failure, input: &Input<'_, Review>) -> Stop {
    let failures = failures(&mut plan.memory, asked, failure);
    // A reviewer ran, so whatever the plan waited for before is settled.
    plan.memory.waiting = None;
    let breaks = failures >= MOST_FAILURES;
    let on_failure = match (failure, input.facts.settings.on_failure) {
        (Failure::Cancelled, _) => OnFailure::Approve,
        _ if breaks => OnFailure::Park,
        (_, set) => set,
    };
    plan.memory.trouble = Some(OverdueReview {
        key: asked.key(),
        failures,
        at: input.now,
        parked: match on_failure {
            OnFailure::Park => Parked::Yes,
            OnFailure::Approve | OnFailure::Retry => Parked::No,
        },
    });
    let cause = format!(
        "the {} (iteration {}, {}) of plan '{}' did not happen: {}",
        asked.review.label(),
        asked.iteration,
        asked.model,
        plan.id,
        explain(failure, asked)
    );
    // If the program is missing now, it will still be missing in a moment.
    let hopeless = matches!(failure, Failure::NoProgram(_));
    let now = command(&asked.plan, "review --now");
    let then = match on_failure {
        OnFailure::Park if breaks => {
            // The person reads it now; the stops after it need not repeat it.
            plan.memory.waiting = Some(Waiting::Untold);
            format!("That was the third failure in a row, so it is parked: {now} tries again")
        }
        OnFailure::Park => format!("It is parked: {now} tries again"),
        OnFailure::Approve | OnFailure::Retry if input.facts.asker == Asker::Command => format!(
            "The review stays due: it is tried at the agent's next stop, and {now} tries it now"
        ),
        OnFailure::Retry if failures <= RETRIES && !hopeless => {
            let reason = format!(
                "{cause}. You need not do anything: change nothing and stop again; then it \
                 is tried once more (attempt {} of {}).",
                failures + 1,
                RETRIES + 1
            );
            return Step::take("retry", plan.into(), OnStop::Hold(reason)).note(cause);
        }
        OnFailure::Approve | OnFailure::Retry => {
            "The stop goes through and the review stays due: it is tried at the next stop".into()
        }
    };
    examine(plan, input, "failed").note(format!("{cause}. {then}"))
}

fn explain(failure: &Failure, asked: &Request) -> String {
    let log = format!(
        "see {}/.review-{}.log",
        directory(&asked.plan),
        asked.iteration
    );
    match failure {
        Failure::NoProgram(program) => {
            format!("`{program}` was not found (`mainspring doctor` says how to get it)")
        }
        Failure::Exit { status, said } if said.is_empty() => {
            format!("the reviewer ended with {status}; {log}")
        }
        Failure::Exit { status, said } => {
            format!("the reviewer ended with {status}: {said}; {log}")
        }
        Failure::TimedOut { after } => {
            format!(
                "the reviewer did not finish within {} s; {log}",
                after.0 / 1_000
            )
        }
        Failure::NoFile => format!("the reviewer did not write {}; {log}", asked.file()),
        Failure::Fault(cause) => cause.clone(),
        Failure::Cancelled => "it was cancelled".into(),
    }
}
