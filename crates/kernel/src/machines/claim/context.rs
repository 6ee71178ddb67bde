//! When a session starts, gets a prompt or ends: the agent is told how far the claim is, and the
//! claim gets its session.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::{ClaimFile, is_due};
use super::memory::{ClaimMemory, Consent};
use super::news::{Look, PullNews};
use super::phase::{Next, Phase};
use super::rounds::Rounds;
use super::text::unended;
use super::work::{Effect, Outcome, Seen, Survey};
use super::{BoardUse, Claim, State};
use crate::effect::EffectStatus;
use crate::event::{Author, Kind, StartSource};
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machine::{Input, Nothing, OnContext, Step};

type Context = Step<Claim, OnContext>;
type In<'a> = Input<'a, Claim>;

/// How long a session may wait for this at its start.
const SURVEY_LIMIT: Millis = Millis::seconds(10);

pub(super) fn on_start(state: &State, input: &In<'_>) -> Context {
    match input.effect_status {
        EffectStatus::Done(_, outcome) => arrived(state, outcome, input),
        EffectStatus::Running(_) => welcome("welcome", state, Vec::new(), input),
        EffectStatus::Clear | EffectStatus::Abandoned(_) => match look(state, input) {
            Some((rule, effect)) => Step::need(rule, state.clone(), effect, SURVEY_LIMIT),
            None => welcome("welcome", state, Vec::new(), input),
        },
    }
}

/// What a session that starts looks at: the board, and a pull request that nobody has looked at
/// for two minutes. It may have been merged overnight.
fn look(state: &State, input: &In<'_>) -> Option<(&'static str, Effect)> {
    let surveys = match &input.event.kind {
        Kind::SessionStart { source } => {
            let starts = matches!(source, StartSource::Startup | StartSource::Clear);
            starts && input.facts.board == BoardUse::On && !matches!(state, State::Newer { .. })
        }
        _ => false,
    };
    let poll = match state {
        State::Claimed { claim, memory } => {
            let told_to_wait = memory.not_before.is_some_and(|at| input.now < at);
            let may = !told_to_wait && is_due(claim.last_check_poll, input.now);
            Effect::poll(claim, &memory.about(claim.issue_number)).filter(|_| may)
        }
        State::Unclaimed(_) | State::Newer { .. } => None,
    };
    match (surveys, poll) {
        (true, Some(Effect::Poll { pr, known })) => Some(("survey", Effect::Arrive { pr, known })),
        (true, _) => Some(("survey", Effect::Survey)),
        (false, Some(poll)) => Some(("look-in-start", poll)),
        (false, None) => None,
    }
}

fn arrived(before: &State, outcome: &Outcome, input: &In<'_>) -> Context {
    let mut extra = Vec::new();
    let mut state = before.clone();
    let survey = match outcome {
        Outcome::Surveyed(survey) => Some(survey.clone()),
        Outcome::Arrived { survey, seen } => {
            state = saw(&state, seen, input);
            Some(survey.clone())
        }
        Outcome::Polled(pull) => {
            state = saw(&state, &Seen::Pull(pull.clone()), input);
            None
        }
        Outcome::Failed(fault) if state.is_watched() => {
            state = saw(&state, &Seen::Failed(fault.clone()), input);
            None
        }
        Outcome::Failed(fault) => Some(Survey::Unavailable(fault.cause.clone())),
        _ => None,
    };
    let mut note = None;
    match survey {
        Some(Survey::Board {
            title,
            columns,
            next,
        }) => extra.push(board(&title, &columns, &next)),
        Some(Survey::Unavailable(cause)) => {
            note = Some(format!(
                "the board could not be read: {}",
                quote(&cause, 300)
            ));
        }
        Some(Survey::Off) | None => {}
    }
    let rule = match (before.is_watched(), &state) {
        (true, State::Claimed { claim, .. }) if before != &state => match &claim.phase {
            Phase::MergedDetected => "welcome-merged",
            Phase::ChecksRunning => "welcome-open",
            _ => "welcome",
        },
        _ => "welcome",
    };
    let step = welcome(rule, &state, extra, input);
    match note {
        Some(text) => step.note(text),
        None => step,
    }
}

/// The claim after a look at its pull request.
fn saw(state: &State, seen: &Seen, input: &In<'_>) -> State {
    let State::Claimed { claim, memory } = state else {
        return state.clone();
    };
    if claim.watched_pull().is_none() {
        return state.clone();
    }
    let mut memory = memory.about(claim.issue_number);
    match seen {
        Seen::Pull(pull) => {
            let look = Look {
                pull,
                now: input.now,
                phrases: &input.facts.phrases,
            };
            let seen = PullNews::of(claim, &memory, look).posted();
            State::Claimed {
                claim: seen.claim,
                memory: seen.memory,
            }
        }
        Seen::Failed(fault) => {
            memory.look_failed(fault, input.now);
            let mut claim = claim.clone();
            claim.last_check_poll = Some(input.now);
            State::Claimed { claim, memory }
        }
    }
}

/// Tells the agent where things stand, with its mail, and the person once of a trouble.
fn welcome(rule: &'static str, state: &State, extra: Vec<String>, input: &In<'_>) -> Context {
    let session = input.event.session.as_ref();
    let mut paragraphs: Vec<String> = Vec::new();
    let mut trouble = None;
    let next = match state {
        State::Newer { version } => {
            let text = format!(
                ".agent-claim.json has schema_version {version}, which is newer than this Mainspring \
                 understands: it is left alone"
            );
            return Step::take("welcome", state.clone(), OnContext::Pass).note(text);
        }
        State::Unclaimed(memory) | State::Claimed { memory, .. } => {
            let mut memory = memory.clone();
            if let State::Claimed { claim, .. } = state {
                memory = memory.about(claim.issue_number);
                paragraphs.push(effect_status(claim));
                if memory.owner.is_none() || input.facts.owner_is_gone {
                    memory.owner = session.cloned();
                }
                trouble = memory.untold_trouble();
            }
            paragraphs.extend(memory.fetch(session, input.now));
            state.with_memo(memory)
        }
    };
    paragraphs.extend(extra);
    let say = if paragraphs.is_empty() {
        OnContext::Pass
    } else {
        OnContext::Tell(paragraphs.join("\n"))
    };
    let step = Step::take(rule, next, say);
    match trouble {
        Some(text) => step.note(text),
        None => step,
    }
}

/// How far a claim is, and what comes next.
pub(super) fn effect_status(claim: &ClaimFile) -> String {
    let issue = claim.issue_number;
    let pr = match claim.pr_number {
        Some(pr) => format!("PR #{pr}"),
        None => "The pull request".into(),
    };
    let next = match &claim.phase {
        Phase::Coding => {
            "When the work is done, run `mainspring handoff --summary \"…\" --push`.".into()
        }
        Phase::ReadyForPr => "The pull request is created when you stop.".into(),
        Phase::PrCreated | Phase::ChecksRunning => {
            format!("{pr} is open; you are told when its checks fail or pass, or it is merged.")
        }
        Phase::MergedDetected => format!(
            "{pr} is merged. Ask the user whether to close the issue; when they say yes, run \
             `mainspring claim done`."
        ),
        Phase::Done => "The issue is closed when you stop.".into(),
        Phase::Failed(failure) => {
            let when = match failure.next {
                Next::At(_) => "It is tried again later",
                Next::Never => "It is not tried again by itself",
            };
            format!(
                "Failed {}: {}. {when}; `mainspring claim retry` tries at the next stop.",
                failure.during.as_str(),
                unended(&quote(&failure.cause, 300)),
            )
        }
    };
    format!(
        "Issue #{issue} is claimed here, on branch `{}`, phase {}. {next}",
        quote(&claim.branch, 200),
        claim.phase.as_str()
    )
}

fn board(title: &str, columns: &[(String, u32)], next: &[super::work::Item]) -> String {
    let counts: Vec<String> = columns
        .iter()
        .map(|(name, count)| format!("{} {count}", quote(name, 40)))
        .collect();
    let mut text = format!("Project board {}: {}.", quote(title, 80), counts.join(", "));
    let items: Vec<String> = next
        .iter()
        .map(|item| format!("\n- #{} {}", item.issue, quote(&item.title, 120)))
        .collect();
    if !items.is_empty() {
        text.push_str(" Next up:");
        text.push_str(&items.concat());
    }
    text
}

pub(super) fn on_prompt(state: &State, input: &In<'_>) -> Context {
    let Some(memory) = state.memory() else {
        return Step::ignore(state, OnContext::Pass);
    };
    let mut memory = memory.clone();
    let person = matches!(
        input.event.kind,
        Kind::Prompt {
            author: Author::Person
        }
    );
    if person && memory.consent == Consent::Asked {
        memory.consent = Consent::Spoken;
    }
    if input.facts.owner_is_gone {
        memory.owner = None;
    }
    let session = input.event.session.as_ref();
    if person && memory.is_own(session) {
        memory.rounds = Rounds::default();
    }
    let text = memory.fetch(session, input.now);
    let trouble = memory.untold_trouble().filter(|_| person);
    if text.is_none() && Some(&memory) == state.memory() {
        return Step::ignore(state, OnContext::Pass);
    }
    let say = text.map_or(OnContext::Pass, OnContext::Tell);
    let step = Step::take("mail", state.with_memo(memory), say);
    match trouble {
        Some(text) => step.note(text),
        None => step,
    }
}

/// The claim's session has ended, so the next session that starts here gets the claim.
pub(super) fn on_end(state: &State, input: &In<'_>) -> Step<Claim, Nothing> {
    match state.memory() {
        Some(memory) if memory.owner.is_some() && memory.owner == input.event.session => {
            let memory = ClaimMemory {
                owner: None,
                ..memory.clone()
            };
            Step::take("left", state.with_memo(memory), Nothing)
        }
        Some(_) | None => Step::ignore(state, Nothing),
    }
}
