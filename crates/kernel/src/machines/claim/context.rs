//! When a session starts, gets a prompt or ends: the agent is told how far the claim is, and the
//! claim gets its session.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::ClaimFile;
use super::memory::{ClaimMemory, Consent, Weight};
use super::phase::{Next, Phase};
use super::work::{Effect, Outcome, Survey};
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
    let asks = match &input.event.kind {
        Kind::SessionStart { source } => {
            matches!(source, StartSource::Startup | StartSource::Clear)
        }
        _ => false,
    };
    let survey = match input.effect_status {
        EffectStatus::Done(_, Outcome::Surveyed(survey)) => Some(survey.clone()),
        EffectStatus::Done(_, Outcome::Failed(fault)) => {
            Some(Survey::Unavailable(fault.cause.clone()))
        }
        EffectStatus::Done(..) | EffectStatus::Running(_) => None,
        EffectStatus::Clear | EffectStatus::Abandoned(_) => {
            if asks && input.facts.board == BoardUse::On && !matches!(state, State::Newer { .. }) {
                return Step::need("survey", state.clone(), Effect::Survey, SURVEY_LIMIT);
            }
            None
        }
    };
    welcome(state, survey.as_ref(), input)
}

fn welcome(state: &State, survey: Option<&Survey>, input: &In<'_>) -> Context {
    let session = input.event.session.as_ref();
    let mut paragraphs: Vec<String> = Vec::new();
    let mut note = None;
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
                if memory.owner.is_none() {
                    memory.owner = session.cloned();
                }
            }
            paragraphs.extend(memory.fetch(session, input.now, Weight::Info));
            state.with_memo(memory)
        }
    };
    match survey {
        Some(Survey::Board {
            title,
            columns,
            next,
        }) => {
            paragraphs.push(board(title, columns, next));
        }
        Some(Survey::Unavailable(cause)) => {
            note = Some(format!(
                "the board could not be read: {}",
                quote(cause, 300)
            ));
        }
        Some(Survey::Off) | None => {}
    }
    let say = if paragraphs.is_empty() {
        OnContext::Pass
    } else {
        OnContext::Tell(paragraphs.join("\n"))
    };
    let step = Step::take("welcome", next, say);
    match note {
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
                "Failed {}: {}. {when}; setting `phase` to `{}` tries at once.",
                failure.during.as_str(),
                quote(&failure.cause, 300),
                failure.during.phase().as_str()
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
    let text = memory.fetch(input.event.session.as_ref(), input.now, Weight::Info);
    if text.is_none() && Some(&memory) == state.memory() {
        return Step::ignore(state, OnContext::Pass);
    }
    let say = text.map_or(OnContext::Pass, OnContext::Tell);
    Step::take("mail", state.with_memo(memory), say)
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
