//! How a stop ends: with a review that is back, with one that did not happen, or with the ground
//! rules.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::cycle::{Counting, Cycle, CycleKey};
use super::messages::{
    answer_it, block, command, command_without_plan, directory, quoted, result_line, touched_notes,
};
use super::phase::Phase;
use super::plan::{CLEAN_ENOUGH, Complaint, OverdueReview, Parked, Target, Waiting, alternate};
use super::standstill::Standstill;
use super::{
    Door, Failure, Fields, Finding, OnFailure, Outcome, Plan, Record, Request, Review, State,
    Verdict, structure,
};
use crate::event::{self, Chain};
use crate::hidden::quote;
use crate::machine::{Input, OnStop, Step};

pub(super) type Stop = Step<Review, OnStop>;

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
    let Record::Fields(fields) = &mut plan.record else {
        return examine(plan, input, "valid");
    };
    let models = &input.facts.settings.models;
    fields.phase = Some(Phase::Review(asked.review));
    fields.review_model = alternate(&asked.model, models);
    count(
        fields,
        plan.memory.cycle.as_mut(),
        (asked, verdict, outcome),
        input,
    );
    let key = CycleKey::of(asked.review, fields);
    let passed = fields.consecutive_clean >= CLEAN_ENOUGH;
    if !passed {
        fields.next_phase = Some(Phase::PostReview(asked.review));
    }
    let target = fields.target(asked.review, &input.facts.tasks, models);
    if input.facts.counting == Counting::Cycles {
        let round = plan.memory.report(&key, outcome.report.as_ref());
        let mut notes = vec![result_line(asked, outcome, verdict, round)];
        notes.extend(touched_notes(asked, outcome, verdict));
        let step = if passed {
            pass(plan, "passed", target)
        } else {
            hold(plan, asked, verdict, &key)
        };
        return with_notes(step, notes);
    }
    if passed {
        return pass(plan, "passed", target);
    }
    let rule = match verdict {
        Verdict::Pass => "clean",
        Verdict::Fail | Verdict::Unsaid => "issues",
    };
    let step = Step::take(rule, State::Plan(plan.into()), OnStop::Hold(block(asked)));
    match verdict {
        Verdict::Pass | Verdict::Fail => step,
        Verdict::Unsaid => step.note(format!(
            "the reviewer ({}) wrote {} but gave no verdict, so it counts as not clean",
            asked.model,
            asked.file()
        )),
    }
}

/// Counts a review that came back, where it is counted: in our record, or in the file.
fn count(
    fields: &mut Fields,
    cycle: Option<&mut Cycle>,
    (asked, verdict, outcome): (&Request, Verdict, &Outcome),
    input: &Input<'_, Review>,
) {
    if let Some(cycle) = cycle.filter(|_| input.facts.counting == Counting::Cycles) {
        cycle.count(verdict, outcome, input.facts.settings.streak);
        cycle.number = asked.iteration;
        cycle.at = input.now;
        fields.phase_iteration = Some(cycle.done);
        fields.consecutive_clean = cycle.streak;
    } else {
        fields.phase_iteration = Some(asked.iteration);
        fields.consecutive_clean = match verdict {
            Verdict::Pass => fields.consecutive_clean.saturating_add(1),
            Verdict::Fail | Verdict::Unsaid => 0,
        };
    }
}

/// The agent answers the review, or the person decides what the two cannot agree about.
fn hold(mut plan: Plan, asked: &Request, verdict: Verdict, key: &CycleKey) -> Stop {
    if let Some(still) = Standstill::contested(&plan, key) {
        plan.memory.waiting.get_or_insert(Waiting::Untold);
        let note = still.sentence(&plan.id, asked.review);
        return Step::take("escalated", State::Plan(plan.into()), OnStop::Pass).note(note);
    }
    let reason = answer_it(asked, verdict, plan.memory.open_findings(key));
    let rule = match verdict {
        Verdict::Pass => "clean",
        Verdict::Fail | Verdict::Unsaid => "issues",
    };
    Step::take(rule, State::Plan(plan.into()), OnStop::Hold(reason))
}

/// The cycle is over: the plan goes on to the next phase once every machine lets the agent go.
pub(super) fn pass(mut plan: Plan, rule: &'static str, target: Target) -> Stop {
    let rule = match (&target, rule) {
        (Target::FinalReview(_), "skip") => "skip-last",
        (Target::FinalReview(_), _) => "passed-last",
        (Target::Step(..), rule) => rule,
    };
    let how = match rule {
        "skip" | "skip-last" => "max_reviews is 0, so there was no review",
        _ => "two clean reviews in a row",
    };
    let note = format!(
        "plan '{}': {how}. Next: {}, when you continue the plan",
        plan.id,
        target.phase()
    );
    plan.passing = Some(target);
    Step::take(rule, State::Plan(plan.into()), OnStop::Pass).note(note)
}

/// How often this review has failed in a row. One that a person cancelled has not failed.
fn failures(plan: &mut Plan, asked: &Request, failure: &Failure, input: &Input<'_, Review>) -> u32 {
    let cycles = input.facts.counting == Counting::Cycles;
    let before = plan.memory.trouble.take().filter(|trouble| {
        trouble.review == asked.review
            && trouble.task == asked.task
            && (cycles || chain(input) == Chain::Continued)
    });
    let before = before.map_or(0, |trouble| trouble.failures);
    let counts = !(cycles && *failure == Failure::Cancelled);
    before.saturating_add(u32::from(counts))
}

fn failed(mut plan: Plan, asked: &Request, failure: &Failure, input: &Input<'_, Review>) -> Stop {
    let failures = failures(&mut plan, asked, failure, input);
    // A reviewer ran, so whatever the plan waited for before is settled.
    plan.memory.waiting = None;
    let breaks = input.facts.counting == Counting::Cycles && failures >= MOST_FAILURES;
    let on_failure = match (failure, input.facts.settings.on_failure) {
        (Failure::Cancelled, _) if input.facts.counting == Counting::Cycles => OnFailure::Approve,
        _ if breaks => OnFailure::Park,
        (_, set) => set,
    };
    plan.memory.trouble = Some(OverdueReview {
        review: asked.review,
        task: asked.task.clone(),
        iteration: asked.iteration,
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
    let tries = || command(&asked.plan, "review --now");
    match on_failure {
        OnFailure::Approve | OnFailure::Retry if input.facts.door == Door::Command => {
            examine(plan, input, "failed").note(format!(
                "{cause}. The review stays due: it is tried at the agent's next stop, and {} tries \
                 it now",
                tries()
            ))
        }
        OnFailure::Retry if failures <= RETRIES && !hopeless => {
            let reason = format!(
                "{cause}. You need not do anything: change nothing and stop again; then it \
                 is tried once more (attempt {} of {}).",
                failures + 1,
                RETRIES + 1
            );
            Step::take("retry", State::Plan(plan.into()), OnStop::Hold(reason)).note(cause)
        }
        OnFailure::Approve | OnFailure::Retry => examine(plan, input, "failed").note(format!(
            "{cause}. The stop goes through and the review stays due: it is tried at the next stop"
        )),
        OnFailure::Park if breaks => {
            // The person reads it now; the stops after it need not repeat it.
            plan.memory.waiting = Some(Waiting::Untold);
            examine(plan, input, "failed").note(format!(
                "{cause}. That was the third failure in a row, so it is parked: {} tries again",
                tries()
            ))
        }
        OnFailure::Park => examine(plan, input, "failed")
            .note(format!("{cause}. It is parked: {} tries again", tries())),
    }
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

/// Checks the ground rules. `rule` is the arrow that is taken if they hold.
pub(super) fn examine(mut plan: Plan, input: &Input<'_, Review>, rule: &'static str) -> Stop {
    let facts = input.facts;
    let first = chain(input) == Chain::First;
    let compat = facts.door == Door::Compat;
    let was_due = plan.label() == "due";
    let mut notes: Vec<String> = if compat || first {
        facts.warnings.clone()
    } else {
        Vec::new()
    };
    let mut violations = facts.violations.clone();
    violations.extend(broken_record(&plan, input));
    if violations.is_empty() {
        let repaired = plan.memory.complaint.take().is_some();
        if compat || repaired {
            notes.push(format!(
                "Plan '{}' structure validated successfully",
                plan.id
            ));
        }
        return with_notes(
            Step::take(rule, State::Plan(plan.into()), OnStop::Pass),
            notes,
        );
    }
    let text = structure::complaint(&plan.id, &violations);
    let complaint = Complaint {
        session: input.event.session.clone(),
        text: text.clone(),
    };
    let asked = facts.door != Door::Hook && first;
    let again = plan.memory.complaint.as_ref() == Some(&complaint) && !asked;
    let step = if again {
        notes.push(format!("still broken, as said before: {text}"));
        let rule = if was_due {
            "unchanged-due"
        } else {
            "unchanged"
        };
        Step::take(rule, State::Plan(plan.into()), OnStop::Pass)
    } else {
        plan.memory.complaint = Some(complaint);
        let rule = if was_due { "invalid-due" } else { "invalid" };
        Step::take(rule, State::Plan(plan.into()), OnStop::Hold(text))
    };
    with_notes(step, notes)
}

/// What is wrong with `state.json`, and what mends it. An agent can run that.
fn broken_record(plan: &Plan, input: &Input<'_, Review>) -> Option<String> {
    if input.facts.counting == Counting::Files {
        return None;
    }
    let repair = || command(&plan.id, "repair");
    match &plan.record {
        Record::Missing if input.facts.unrecorded => Some(format!(
            "it has no state.json, so nothing reviews it: run {}",
            command_without_plan(&format!("init {}", quoted(&plan.id)))
        )),
        Record::Missing => None,
        Record::Unreadable(problem) => Some(format!("{problem}: run {}", repair())),
        Record::Fields(fields) => fields.undecidable().map(|(field, phase)| {
            format!(
                "{field} in state.json is \"{}\", which is no phase: run {}",
                quote(phase, 80),
                repair()
            )
        }),
    }
}

fn chain(input: &Input<'_, Review>) -> Chain {
    match &input.event.kind {
        event::Kind::Stop { chain, .. } => *chain,
        _ => Chain::First,
    }
}

pub(super) fn with_notes(mut step: Stop, notes: impl IntoIterator<Item = String>) -> Stop {
    step.notes.extend(notes);
    step
}
