//! The stop, in the order of the table: whose plan, which review, what came of it, and
//! the ground rules where none is run.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::phase::Phase;
use super::plan::{CLEAN_ENOUGH, Complaint, Parked, Target, Trouble, alternate};
use super::words::{block, directory, dollars};
use super::{
    AnswerFile, Company, Door, Failure, Fields, Finding, Kind, OnFailure, Outcome, Plan, Record,
    Request, Review, State, Verdict, structure,
};
use crate::effect::Standing;
use crate::event::{self, Background, Chain};
use crate::ids::Millis;
use crate::machine::{Input, Nothing, OnContext, OnStop, Step};

type Stop = Step<Review, OnStop>;

/// A failed review is tried this often again while the agent waits.
const RETRIES: u32 = 2;
/// Before the first of them; before the second, four times as long.
const BACK_OFF: Millis = Millis::seconds(5);

pub(super) fn on_stop(state: &State, input: &Input<'_, Review>) -> Stop {
    let State::Plan(plan) = state else {
        return Step::take("no-plan", State::Nothing, OnStop::Pass);
    };
    let mut plan = plan.clone();
    if let Standing::Done(intent, outcome) = input.standing
        && intent.effect.plan == plan.id
    {
        plan.memory.spent = plan.memory.spent.saturating_add(outcome.cost);
    }
    match claim(plan, input) {
        Claim::NoSession => Step::ignore(state, OnStop::Pass),
        Claim::Others(plan, notes) => with_notes(
            Step::take("not-ours", State::Plan(plan), OnStop::Pass),
            notes,
        ),
        Claim::Ours(plan, notes) => {
            let mut step = decide(plan, input);
            step.notes.splice(0..0, notes);
            step
        }
    }
}

/// Whose plan it is.
enum Claim {
    NoSession,
    Others(Plan, Vec<String>),
    Ours(Plan, Vec<String>),
}

fn claim(mut plan: Plan, input: &Input<'_, Review>) -> Claim {
    if input.facts.door == Door::Compat {
        return Claim::Ours(plan, Vec::new());
    }
    let Some(here) = &input.event.session else {
        return Claim::NoSession;
    };
    let live = is_live(&plan);
    match (&plan.memory.owner, input.facts.company) {
        (Some(owner), _) if owner == here => Claim::Ours(plan, Vec::new()),
        (None, Company::Alone) if !live => Claim::Ours(plan, Vec::new()),
        (None, Company::Alone) => {
            plan.memory.moved_by(Some(here));
            let note = format!(
                "plan '{}' had no session and is now this one's. `mainspring plan set next_phase \
                 null` ends its reviews",
                plan.id
            );
            Claim::Ours(plan, [note].into())
        }
        (Some(_), _) | (None, Company::Several) => {
            let matters = live || !input.facts.violations.is_empty();
            let mut notes = Vec::new();
            if matters && plan.memory.tell(here) {
                let whose = match &plan.memory.owner {
                    Some(owner) => format!("belongs to session {owner}"),
                    None => String::from("belongs to no session, and several are at work here"),
                };
                notes.push(format!(
                    "plan '{}' {whose}: this stop neither reviews it nor waits for it. \
                     `mainspring plan adopt` takes it over",
                    plan.id
                ));
            }
            Claim::Others(plan, notes)
        }
    }
}

/// Is a review due, or an answer to one?
fn is_live(plan: &Plan) -> bool {
    match &plan.record {
        Record::Missing | Record::Unreadable(_) => false,
        Record::Fields(fields) => {
            fields.unknown().is_none() && (fields.due().is_some() || fields.unanswered().is_some())
        }
    }
}

fn decide(mut plan: Plan, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &mut plan.record else {
        return examine(plan, input, "valid");
    };
    if let Some((field, phase)) = fields.unknown() {
        let note = format!(
            "{field} of plan '{}' is \"{phase}\", which this version does not know: it is left as \
             it is, and no review is run",
            plan.id
        );
        return examine(plan, input, "valid").note(note);
    }
    if let Some(review) = fields.unanswered() {
        match input.facts.answer {
            AnswerFile::Written => fields.answered(review),
            AnswerFile::Missing => {
                let note = unanswered_note(&plan.id, fields, review);
                return examine(plan, input, "unanswered").note(note);
            }
        }
    }
    match fields.due() {
        Some(review) => due(plan, review, input),
        None => with_notes(examine(plan, input, "valid"), late(input)),
    }
}

/// The reviewer came back to a plan that somebody had moved meanwhile.
fn late(input: &Input<'_, Review>) -> Option<String> {
    match input.standing {
        Standing::Done(intent, _) => Some(format!(
            "{}/{} came when the plan had moved on: it decides nothing",
            directory(&intent.effect.plan),
            intent.effect.file()
        )),
        Standing::Clear | Standing::Running(_) | Standing::Abandoned(_) => None,
    }
}

/// A review is to be run, or has just been.
fn due(plan: Plan, review: Kind, input: &Input<'_, Review>) -> Stop {
    let Record::Fields(fields) = &plan.record else {
        return examine(plan, input, "valid");
    };
    let task = match review {
        Kind::Code => fields.task(),
        Kind::Plan | Kind::Tasks | Kind::AllCode => None,
    };
    let facts = input.facts;
    if let Standing::Done(intent, outcome) = input.standing
        && intent.effect.is_for(&plan.id, review, task.as_ref())
    {
        return conclude(plan, &intent.effect, outcome, input);
    }
    let step = match before(&plan, review, task, input) {
        Before::Pass(rule, target) => pass(plan, rule, target),
        Before::Examine(rule, note) => examine(plan, input, rule).note(note),
        Before::LetGo(rule, note) => {
            with_notes(Step::take(rule, State::Plan(plan), OnStop::Pass), note)
        }
        Before::Run(request) => {
            let wait = request.not_before.since(input.now);
            let limit = facts.settings.deadline.plus(wait);
            Step::need("review", State::Plan(plan), request, limit)
        }
    };
    with_notes(step, late(input))
}

/// What is clear before a reviewer is started.
enum Before {
    /// On to the next phase.
    Pass(&'static str, Target),
    /// No review; the ground rules have the word.
    Examine(&'static str, String),
    /// No review, and nothing else either.
    LetGo(&'static str, Option<String>),
    Run(Request),
}

fn before(
    plan: &Plan,
    review: Kind,
    task: Option<super::TaskId>,
    input: &Input<'_, Review>,
) -> Before {
    let facts = input.facts;
    let settings = &facts.settings;
    let Record::Fields(fields) = &plan.record else {
        return Before::LetGo("no-subject", None);
    };
    if is_waiting(input) {
        return Before::LetGo("background", None);
    }
    let target = || fields.target(review, &facts.tasks, &settings.models);
    if fields.max_reviews == 0 {
        return Before::Pass("skip", target());
    }
    // Clean enough already: another machine held the stop at which that was found.
    if fields.phase == Some(Phase::Review(review)) && fields.consecutive_clean >= CLEAN_ENOUGH {
        return Before::Pass("passed", target());
    }
    let abandoned = match input.standing {
        Standing::Abandoned(intent) => Some(intent).filter(|intent| {
            let asked = &intent.effect;
            asked.is_for(&plan.id, review, task.as_ref())
                && asked.iteration > fields.phase_iteration.unwrap_or(0)
        }),
        Standing::Clear | Standing::Running(_) | Standing::Done(..) => None,
    };
    let iteration = match abandoned {
        Some(intent) => intent.effect.iteration,
        None => next_free(fields.phase_iteration.unwrap_or(0), &facts.written),
    };
    if iteration > fields.max_reviews {
        return Before::Examine("limit", limit_note(plan, fields, review));
    }
    if let Some(most) = settings.max_cost
        && plan.memory.spent >= most
    {
        let note = format!(
            "the reviews of plan '{}' have cost {}, and max_cost_usd is {}: the cycle waits. Raise \
             it, or `mainspring plan set next_phase null`",
            plan.id,
            dollars(plan.memory.spent),
            dollars(most)
        );
        return Before::Examine("costs", note);
    }
    let tasks: Vec<_> = match review {
        Kind::Plan | Kind::Code => Vec::new(),
        Kind::Tasks | Kind::AllCode => facts.tasks.numbered().cloned().collect(),
    };
    let subject = match review {
        Kind::Plan => Ok(()),
        Kind::Code if task.is_some() => Ok(()),
        Kind::Code => Err("state.json names no usable current_task"),
        Kind::Tasks | Kind::AllCode if tasks.is_empty() => Err("tasks.md names no task"),
        Kind::Tasks | Kind::AllCode => Ok(()),
    };
    if let Err(lack) = subject {
        let note = format!("no {} of plan '{}': {lack}", review.words(), plan.id);
        return Before::LetGo("no-subject", Some(note));
    }
    if let Standing::Running(intent) = input.standing {
        let note = format!(
            "a reviewer is already at work on {}/{}: this stop goes through, and the review stays due",
            directory(&intent.effect.plan),
            intent.effect.file()
        );
        return Before::LetGo("busy", Some(note));
    }
    let trouble = plan
        .memory
        .trouble
        .as_ref()
        .filter(|trouble| trouble.review == review && trouble.task == task);
    if trouble.is_some_and(|trouble| trouble.parked == Parked::Yes) {
        let note = format!(
            "the {} of plan '{}' is parked after a failure: `mainspring plan review --now` tries again",
            review.words(),
            plan.id
        );
        return Before::Examine("parked", note);
    }
    let not_before = match (settings.on_failure, trouble) {
        (OnFailure::Retry, Some(trouble)) => back_off(trouble),
        (OnFailure::Retry, None) | (OnFailure::Approve | OnFailure::Park, _) => Millis(0),
    };
    let resumes = abandoned.map_or_else(Vec::new, |intent| {
        let mut fences = intent.effect.resumes.clone();
        fences.push(intent.fence);
        fences
    });
    Before::Run(Request {
        plan: plan.id.clone(),
        review,
        task,
        iteration,
        model: fields.review_model.clone(),
        tasks,
        not_before,
        resumes,
    })
}

/// Numbers are not used twice: a review that lies there is never written over.
fn next_free(done: u32, written: &[u32]) -> u32 {
    let mut number = done.saturating_add(1);
    while written.contains(&number) && number < u32::MAX {
        number += 1;
    }
    number
}

fn back_off(trouble: &Trouble) -> Millis {
    let longer = 4_u64.saturating_pow(trouble.failures.saturating_sub(1).min(4));
    trouble.at.plus(Millis(BACK_OFF.0.saturating_mul(longer)))
}

/// A reviewer came back.
fn conclude(mut plan: Plan, asked: &Request, outcome: &Outcome, input: &Input<'_, Review>) -> Stop {
    let verdict = match &outcome.result {
        Finding::Reviewed(verdict) => *verdict,
        Finding::NotDone(failure) => return failed(plan, asked, failure, input),
    };
    plan.memory.moved_by(input.event.session.as_ref());
    let Record::Fields(fields) = &mut plan.record else {
        return examine(plan, input, "valid");
    };
    let models = &input.facts.settings.models;
    fields.phase = Some(Phase::Review(asked.review));
    fields.phase_iteration = Some(asked.iteration);
    fields.review_model = alternate(&asked.model, models);
    fields.consecutive_clean = match verdict {
        Verdict::Pass => fields.consecutive_clean.saturating_add(1),
        Verdict::Fail | Verdict::Unsaid => 0,
    };
    if fields.consecutive_clean >= CLEAN_ENOUGH {
        let target = fields.target(asked.review, &input.facts.tasks, models);
        return pass(plan, "passed", target);
    }
    fields.next_phase = Some(Phase::PostReview(asked.review));
    let rule = match verdict {
        Verdict::Pass => "clean",
        Verdict::Fail | Verdict::Unsaid => "issues",
    };
    let step = Step::take(rule, State::Plan(plan), OnStop::Hold(block(asked)));
    match verdict {
        Verdict::Pass | Verdict::Fail => step,
        Verdict::Unsaid => step.note(format!(
            "the reviewer ({}) wrote {} and gave no verdict: it counts as not clean",
            asked.model,
            asked.file()
        )),
    }
}

/// The cycle is over: the phase moves on once every machine lets go.
fn pass(mut plan: Plan, rule: &'static str, target: Target) -> Stop {
    let rule = match (&target, rule) {
        (Target::FinalReview(_), "skip") => "skip-last",
        (Target::FinalReview(_), _) => "passed-last",
        (Target::Step(..), rule) => rule,
    };
    let how = match rule {
        "skip" | "skip-last" => "max_reviews is 0, so nothing was reviewed",
        _ => "two clean reviews in a row",
    };
    let note = format!(
        "plan '{}': {how}. Next: {}, when you continue the plan",
        plan.id,
        target.phase()
    );
    plan.passing = Some(target);
    Step::take(rule, State::Plan(plan), OnStop::Pass).note(note)
}

fn failed(mut plan: Plan, asked: &Request, failure: &Failure, input: &Input<'_, Review>) -> Stop {
    let before = plan.memory.trouble.take().filter(|trouble| {
        trouble.review == asked.review
            && trouble.task == asked.task
            && chain(input) == Chain::Continued
    });
    let failures = before.map_or(1, |trouble| trouble.failures.saturating_add(1));
    let on_failure = input.facts.settings.on_failure;
    plan.memory.trouble = Some(Trouble {
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
        asked.review.words(),
        asked.iteration,
        asked.model,
        plan.id,
        words_of(failure, asked)
    );
    // A program that is not there will not be there in a moment either.
    let hopeless = matches!(failure, Failure::NoProgram(_));
    match on_failure {
        OnFailure::Retry if failures <= RETRIES && !hopeless => {
            let reason = format!(
                "{cause}. Nothing is asked of you: do not change anything, just stop again, and it \
                 is tried once more (attempt {} of {}).",
                failures + 1,
                RETRIES + 1
            );
            Step::take("retry", State::Plan(plan), OnStop::Hold(reason)).note(cause)
        }
        OnFailure::Approve | OnFailure::Retry => examine(plan, input, "failed").note(format!(
            "{cause}. The stop goes through and the review stays due: it is tried at the next stop"
        )),
        OnFailure::Park => examine(plan, input, "failed").note(format!(
            "{cause}. It is parked: `mainspring plan review --now` tries again"
        )),
    }
}

fn words_of(failure: &Failure, asked: &Request) -> String {
    let log = format!(
        "see {}/.review-{}.log",
        directory(&asked.plan),
        asked.iteration
    );
    match failure {
        Failure::NoProgram(program) => format!("`{program}` was not found"),
        Failure::Exit { status, said } if said.is_empty() => {
            format!("the reviewer ended with {status}; {log}")
        }
        Failure::Exit { status, said } => {
            format!("the reviewer ended with {status}: {said}; {log}")
        }
        Failure::TimedOut { after } => {
            format!(
                "the reviewer was not back after {} s; {log}",
                after.0 / 1_000
            )
        }
        Failure::NoFile => format!("the reviewer did not write {}; {log}", asked.file()),
        Failure::Fault(cause) => cause.clone(),
    }
}

/// The ground rules. `rule` is the arrow if they are kept.
fn examine(mut plan: Plan, input: &Input<'_, Review>, rule: &'static str) -> Stop {
    let facts = input.facts;
    let first = chain(input) == Chain::First;
    let compat = facts.door == Door::Compat;
    let was_due = !matches!(rule, "valid" | "unanswered");
    let mut notes: Vec<String> = if compat || first {
        facts.warnings.clone()
    } else {
        Vec::new()
    };
    if facts.violations.is_empty() {
        let mended = plan.memory.complaint.take().is_some();
        if compat || mended {
            notes.push(format!(
                "Plan '{}' structure validated successfully",
                plan.id
            ));
        }
        return with_notes(Step::take(rule, State::Plan(plan), OnStop::Pass), notes);
    }
    let text = structure::complaint(&plan.id, &facts.violations);
    let complaint = Complaint {
        session: input.event.session.clone(),
        text: text.clone(),
    };
    let again = plan.memory.complaint.as_ref() == Some(&complaint) && !(compat && first);
    let step = if again {
        notes.push(format!("still broken, and said before: {text}"));
        let rule = if was_due {
            "unchanged-due"
        } else {
            "unchanged"
        };
        Step::take(rule, State::Plan(plan), OnStop::Pass)
    } else {
        plan.memory.complaint = Some(complaint);
        let rule = if was_due { "invalid-due" } else { "invalid" };
        Step::take(rule, State::Plan(plan), OnStop::Hold(text))
    };
    with_notes(step, notes)
}

pub(super) fn on_start(state: &State, input: &Input<'_, Review>) -> Step<Review, OnContext> {
    let ignore = || Step::ignore(state, OnContext::Pass);
    let event::Kind::SessionStart { source } = &input.event.kind else {
        return ignore();
    };
    let (State::Plan(plan), Some(here)) = (state, &input.event.session) else {
        return ignore();
    };
    if !super::is_new(*source) || plan.memory.owner.is_some() || !is_live(plan) {
        return ignore();
    }
    let mut plan = plan.clone();
    plan.memory.moved_by(Some(here));
    let tell = format!(
        "The plan in {} waits to be continued, and is this session's now: `mainspring plan route` \
         says what comes next. Do nothing about it unless the user asks; `mainspring plan set \
         next_phase null` ends its reviews.",
        directory(&plan.id)
    );
    Step::take("take", State::Plan(plan), OnContext::Tell(tell))
}

pub(super) fn on_end(state: &State, input: &Input<'_, Review>) -> Step<Review, Nothing> {
    let State::Plan(plan) = state else {
        return Step::ignore(state, Nothing);
    };
    if plan.memory.owner.is_none() || plan.memory.owner != input.event.session {
        return Step::ignore(state, Nothing);
    }
    let mut plan = plan.clone();
    plan.memory.owner = None;
    Step::take("leave", State::Plan(plan), Nothing)
}

fn chain(input: &Input<'_, Review>) -> Chain {
    match &input.event.kind {
        event::Kind::Stop { chain, .. } => *chain,
        _ => Chain::First,
    }
}

/// Work is still going on, and the agent will be back by itself.
fn is_waiting(input: &Input<'_, Review>) -> bool {
    matches!(
        input.event.kind,
        event::Kind::Stop {
            background: Background::Working,
            ..
        }
    ) && input.facts.door == Door::Hook
}

fn unanswered_note(plan: &str, fields: &Fields, review: Kind) -> String {
    let iteration = fields.phase_iteration.unwrap_or(0);
    let task = fields.task();
    format!(
        "plan '{plan}': {} waits for its answer, {}",
        review.file(task.as_ref(), iteration),
        review.answer_file(task.as_ref(), iteration)
    )
}

fn limit_note(plan: &Plan, fields: &Fields, review: Kind) -> String {
    format!(
        "plan '{}': {} of {} {}s are done without two clean ones in a row. The word is yours: \
         `mainspring plan set max_reviews N` allows more, `mainspring plan set next_phase …` moves on",
        plan.id,
        fields.phase_iteration.unwrap_or(0),
        fields.max_reviews,
        review.words()
    )
}

fn with_notes(mut step: Stop, notes: impl IntoIterator<Item = String>) -> Stop {
    step.notes.extend(notes);
    step
}
