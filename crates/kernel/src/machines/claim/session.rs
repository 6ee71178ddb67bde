//! When a session starts, gets a prompt or ends: the agent is told how far the claim is, and the
//! claim gets its session.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::ClaimFile;
use super::memory::{ClaimMemory, Consent};
use super::phase::{Next, Phase};
use super::rounds::Rounds;
use super::text::unended;
use super::visit::{Answer, At, Visit};
use super::work::{Item, Outcome, Seen, Survey};
use super::{Claim, State};
use crate::event::{Author, Kind};
use crate::hidden::quote;
use crate::machine::{Input, Nothing, Step};

impl Visit<'_> {
    /// What was read for a session that starts.
    pub(super) fn arrived(self, state: State, outcome: &Outcome) -> Answer {
        let (seen, survey) = match outcome {
            Outcome::Surveyed(survey) => (None, Some(survey.clone())),
            Outcome::Arrived { survey, seen } => (Some(seen.clone()), Some(survey.clone())),
            Outcome::Polled(pull) => (Some(Seen::Pull(pull.clone())), None),
            Outcome::Failed(fault) if state.is_watched() => {
                (Some(Seen::Failed(fault.clone())), None)
            }
            Outcome::Failed(fault) => (None, Some(Survey::Unavailable(fault.cause.clone()))),
            _ => (None, None),
        };
        let (rule, state) = match (&state, &seen) {
            (State::Claimed { claim, memory }, Some(seen)) if claim.watched_pull().is_some() => {
                let held = self.held(claim, memory);
                let meaning = match seen {
                    Seen::Pull(pull) => held.saw(pull),
                    Seen::Failed(fault) => held.saw_nothing(At::Start, fault),
                };
                (meaning.rule, meaning.state)
            }
            _ => ("welcome", state),
        };
        match survey {
            Some(Survey::Board {
                title,
                columns,
                next,
            }) => self.welcome(rule, &state, Some(board(&title, &columns, &next))),
            Some(Survey::Unavailable(cause)) => {
                let note = format!("the board could not be read: {}", quote(&cause, 300));
                self.welcome(rule, &state, None).note(note)
            }
            Some(Survey::Off) | None => self.welcome(rule, &state, None),
        }
    }

    pub(super) fn newer(self, version: u64) -> Answer {
        if self.at != At::Start {
            return self.ignore();
        }
        Step::take("welcome", self.state.clone(), None).note(format!(
            ".agent-claim.json has schema_version {version}, which is newer than this Mainspring \
             understands: it is left alone"
        ))
    }

    /// Tells the agent where things stand, with its mail, and the person once of a trouble.
    pub(super) fn welcome(
        self,
        rule: &'static str,
        state: &State,
        board: Option<String>,
    ) -> Answer {
        let session = self.input.event.session.as_ref();
        let Some(mut memory) = state.memory().cloned() else {
            return self.ignore();
        };
        let mut paragraphs: Vec<String> = Vec::new();
        let mut trouble = None;
        if let State::Claimed { claim, .. } = state {
            paragraphs.push(standing(claim));
            if memory.owner.is_none() || self.input.facts.owner_is_gone {
                memory.owner = session.cloned();
            }
            trouble = memory.untold_trouble();
        }
        paragraphs.extend(memory.fetch(session, self.input.now));
        paragraphs.extend(board);
        let said = (!paragraphs.is_empty()).then(|| paragraphs.join("\n"));
        let mut step = Step::take(rule, state.with_memo(memory), said);
        step.notes.extend(trouble);
        step
    }
}

/// How far a claim is, and what comes next.
fn standing(claim: &ClaimFile) -> String {
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

fn board(title: &str, columns: &[(String, u32)], next: &[Item]) -> String {
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

pub(super) fn on_prompt(state: &State, input: &Input<'_, Claim>) -> Answer {
    let Some(mut memory) = state.memory().cloned() else {
        return Step::ignore(state, None);
    };
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
        return Step::ignore(state, None);
    }
    let mut step = Step::take("mail", state.with_memo(memory), text);
    step.notes.extend(trouble);
    step
}

/// The claim's session has ended, so the next session that starts here gets the claim.
pub(super) fn on_end(state: &State, input: &Input<'_, Claim>) -> Step<Claim, Nothing> {
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
