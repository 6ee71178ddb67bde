//! `claim`: from a claimed issue to a merged and closed one.
//!
//! The phase in the claim file says how far the work is. Agents and people may set it by hand, and
//! it counts at the next stop. GitHub is called at a stop (to open a pull request, close an issue,
//! move a card) or when the agent is idle (to read the state of the pull request), never while the
//! agent works. Every effect looks before it acts, so an effect whose process died is simply run
//! again.

pub mod branch;
pub mod claim_file;
pub mod consent;
mod context;
mod idle;
pub mod memory;
pub mod news;
pub mod phase;
pub mod pull;
mod refused;
pub mod remote;
mod stop;
#[cfg(test)]
mod tests;
pub mod text;
pub mod verbs;
pub mod watch;
pub mod work;

use serde::{Deserialize, Serialize};

use super::{InputOf, Name};
use crate::machine::{
    ANY, Arrow, Input, Machine, Nothing, OnContext, OnIdle, OnStop, OnWatch, SAME, Step,
};
use crate::receipt::Receipt;
use crate::reduce::Reducer;
use claim_file::ClaimFile;
use memory::{ClaimMemory, Weight};
use phase::Phase;
use work::{Effect, Outcome};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a handful live at a time")]
pub enum State {
    /// No claim file.
    Unclaimed(ClaimMemory),
    Claimed {
        #[serde(alias = "signal")]
        claim: ClaimFile,
        #[serde(alias = "memo")]
        memory: ClaimMemory,
    },
    /// A file of a later version. It is read, and never written.
    Newer { version: u64 },
}

/// What the shell saw for this event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    #[serde(default)]
    pub door: Door,
    pub board: BoardUse,
    /// The checked-out branch, if it may have a pull request without a claim.
    pub branch: Option<alloc::string::String>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    #[default]
    Hook,
    /// The drop-in for the public script: there the agent writes the phase itself.
    Compat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardUse {
    On,
    Off,
}

/// Every state with a claim.
const CLAIMED: &[&str] = &[
    "coding",
    "ready_for_pr",
    "pr_created",
    "checks_running",
    "merged_detected",
    "done",
    "failed",
];

impl Machine for Claim {
    const NAME: Name = Name::Claim;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "claim",        on: "verb",          from: &["unclaimed"], to: "coding",
            when: "`claim N`, and nobody else has it", does: "card to In Progress, assign, write file", remedy: "`mainspring claim abort` gives it back" },
        Arrow { rule: "handoff",      on: "verb",          from: &["coding", "ready_for_pr", "pr_created", "checks_running", "failed"], to: "ready_for_pr",
            when: "`handoff`, and the pull request is not merged", does: "keep the summary", remedy: "set `phase` back to `coding`" },
        Arrow { rule: "done",         on: "verb",          from: &["merged_detected", "done", "failed"], to: "done",
            when: "`claim done`, and the user said yes since the merge was reported", does: "close the issue at the next stop", remedy: "ask the user" },
        Arrow { rule: "done-yes",     on: "verb",          from: CLAIMED, to: "done",
            when: "`claim done --yes`, by a person", does: "close the issue at once", remedy: "" },
        Arrow { rule: "seen",         on: "verb",          from: &["pr_created", "checks_running"], to: "checks_running",
            when: "`claim status --now`: it is open or closed", does: "say what changed, once", remedy: "" },
        Arrow { rule: "seen-merged",  on: "verb",          from: &["pr_created", "checks_running"], to: "merged_detected",
            when: "`claim status --now`: it is merged", does: "ask whether to close, once", remedy: "" },
        Arrow { rule: "abort",        on: "verb",          from: CLAIMED, to: "unclaimed",
            when: "`claim abort`", does: "give the issue back, remove the file", remedy: "" },
        Arrow { rule: "unclaimed",    on: "stop",          from: &["unclaimed"], to: SAME,
            when: "no claim here", does: "pass; give waiting mail", remedy: "claim an issue with `mainspring claim N`" },
        Arrow { rule: "coding",       on: "stop",          from: &["coding"], to: SAME,
            when: "the board is current", does: "pass, start nothing; give waiting mail", remedy: "`mainspring handoff --summary TEXT` hands the work over" },
        Arrow { rule: "open",         on: "stop",          from: &["ready_for_pr"], to: SAME,
            when: "branch and summary are there", does: "find or create the pull request", remedy: "set `phase` back to `coding`" },
        Arrow { rule: "lacking",      on: "stop",          from: &["ready_for_pr", "failed"], to: "ready_for_pr",
            when: "branch, summary, remote or push missing", does: "tell the agent, once", remedy: "do what the message asks" },
        Arrow { rule: "busy",         on: "stop",          from: &["ready_for_pr", "done", "failed"], to: SAME,
            when: "another process is at it", does: "pass", remedy: "wait for it" },
        Arrow { rule: "opened",       on: "stop",          from: &["ready_for_pr", "failed"], to: "pr_created",
            when: "the pull request is there", does: "card to In Review; tell the address", remedy: "" },
        Arrow { rule: "open-failed",  on: "stop",          from: &["ready_for_pr"], to: "failed",
            when: "GitHub did not let us", does: "tell the agent; try again later", remedy: "fix the cause, then set `phase` to `ready_for_pr`" },
        Arrow { rule: "watched",      on: "stop",          from: &["pr_created", "checks_running"], to: SAME,
            when: "the board is current", does: "pass; give waiting mail", remedy: "" },
        Arrow { rule: "asked",        on: "stop",          from: &["merged_detected"], to: SAME,
            when: "the board is current", does: "pass; give waiting mail", remedy: "close with `mainspring claim done` when the user says so" },
        Arrow { rule: "card",         on: "stop",          from: &["coding", "pr_created", "checks_running", "merged_detected"], to: SAME,
            when: "the status differs from the board's", does: "move the card", remedy: "set `status` back, or wait" },
        Arrow { rule: "unconsented",  on: "stop",          from: &["done", "failed"], to: SAME,
            when: "the file says `done`, and nobody let it be closed", does: "tell the agent once, then the person", remedy: "`mainspring claim done` after the user's yes" },
        Arrow { rule: "close",        on: "stop",          from: &["done"], to: SAME,
            when: "the user let it be closed", does: "comment, close, card to Done, release", remedy: "set `phase` back to `merged_detected`" },
        Arrow { rule: "closed",       on: "stop",          from: &["done", "failed"], to: "unclaimed",
            when: "the issue is closed", does: "remove the signal file; tell the agent", remedy: "" },
        Arrow { rule: "close-failed", on: "stop",          from: &["done"], to: "failed",
            when: "GitHub did not let us", does: "tell the agent; try again later", remedy: "fix the cause, then set `phase` to `done`" },
        Arrow { rule: "failed",       on: "stop",          from: &["failed"], to: SAME,
            when: "not time to try again, or given up", does: "pass", remedy: "set `phase` to `ready_for_pr` or `done` to try at once" },
        Arrow { rule: "retry",        on: "stop",          from: &["failed"], to: SAME,
            when: "time to try again", does: "look, then do what is not there yet", remedy: "" },
        Arrow { rule: "retry-failed", on: "stop",          from: &["failed"], to: SAME,
            when: "GitHub did not let us again", does: "wait longer; after five times give up", remedy: "fix the cause, then set the phase again" },
        Arrow { rule: "late",         on: "stop",          from: ANY, to: SAME,
            when: "a result for a phase that moved on", does: "keep the pull request's number", remedy: "" },
        Arrow { rule: "backoff",      on: "idle",          from: &["unclaimed"], to: SAME,
            when: "looked less than two minutes ago", does: "pass", remedy: "wait" },
        Arrow { rule: "look",         on: "idle",          from: &["unclaimed"], to: SAME,
            when: "the branch may have a pull request", does: "look at it and at the board", remedy: "" },
        Arrow { rule: "looked",       on: "idle",          from: &["unclaimed"], to: SAME,
            when: "the look came back", does: "if merged, name the next item, once", remedy: "" },
        Arrow { rule: "poll-backoff", on: "idle",          from: &["pr_created", "checks_running"], to: SAME,
            when: "polled less than two minutes ago", does: "pass", remedy: "`mainspring claim status --now` asks at once" },
        Arrow { rule: "poll",         on: "idle",          from: &["pr_created", "checks_running"], to: SAME,
            when: "two minutes since the last poll", does: "ask GitHub, one query", remedy: "" },
        Arrow { rule: "polled",       on: "idle",          from: &["pr_created", "checks_running"], to: "checks_running",
            when: "it is open or closed", does: "say what changed, once", remedy: "" },
        Arrow { rule: "merged",       on: "idle",          from: &["pr_created", "checks_running"], to: "merged_detected",
            when: "it is merged", does: "ask whether to close, once", remedy: "" },
        Arrow { rule: "unpolled",     on: "idle",          from: &["pr_created", "checks_running"], to: SAME,
            when: "GitHub did not answer", does: "wait for the next poll", remedy: "" },
        Arrow { rule: "wake",         on: "watch",         from: ANY, to: SAME,
            when: "mail waits that is worth a turn", does: "wake the agent with it", remedy: "" },
        Arrow { rule: "watch",        on: "watch",         from: &["pr_created", "checks_running"], to: SAME,
            when: "a pull request is open", does: "ask GitHub, one query", remedy: "" },
        Arrow { rule: "noticed",      on: "watch",         from: &["pr_created", "checks_running"], to: "checks_running",
            when: "it is open or closed", does: "wake the agent if it must know, once", remedy: "" },
        Arrow { rule: "noticed-merged", on: "watch",       from: &["pr_created", "checks_running"], to: "merged_detected",
            when: "it is merged", does: "wake the agent to ask whether to close, once", remedy: "" },
        Arrow { rule: "unwatched",    on: "watch",         from: &["pr_created", "checks_running"], to: SAME,
            when: "GitHub said when to come back", does: "wait until then", remedy: "" },
        Arrow { rule: "survey",       on: "session_start", from: ANY, to: SAME,
            when: "a board is configured", does: "ask what is on it", remedy: "" },
        Arrow { rule: "welcome",      on: "session_start", from: ANY, to: SAME,
            when: "a claim, a board or mail is there", does: "tell the agent where things stand", remedy: "" },
        Arrow { rule: "mail",         on: "prompt",        from: ANY, to: SAME,
            when: "mail waits, or the person was asked", does: "give it; note that the person spoke", remedy: "" },
        Arrow { rule: "left",         on: "session_end",   from: ANY, to: SAME,
            when: "the claim's session ends", does: "leave it to the next session", remedy: "" },
    ];

    type State = State;
    type Facts = Facts;
    type Effect = Effect;
    type Outcome = Outcome;

    fn label(state: &State) -> &'static str {
        match state {
            State::Unclaimed(_) => "unclaimed",
            State::Claimed { claim, .. } => claim.phase.as_str(),
            State::Newer { .. } => "newer",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        stop::on_stop(state, input)
    }

    fn on_idle(state: &State, input: &Input<'_, Self>) -> Step<Self, OnIdle> {
        idle::on_idle(state, input)
    }

    fn on_watch(state: &State, input: &Input<'_, Self>) -> Step<Self, OnWatch> {
        watch::on_watch(state, input)
    }

    fn on_start(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        context::on_start(state, input)
    }

    fn on_prompt(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        context::on_prompt(state, input)
    }

    fn on_end(state: &State, input: &Input<'_, Self>) -> Step<Self, Nothing> {
        context::on_end(state, input)
    }

    fn only_looks(effect: &Effect) -> bool {
        match effect {
            Effect::Poll { .. } | Effect::Look { .. } | Effect::Survey => true,
            Effect::Open(_) | Effect::Close(_) | Effect::Sync(_) => false,
        }
    }

    fn reduce(input: &mut InputOf<Self>, reducer: Reducer) {
        if let State::Claimed { claim, .. } = &mut input.state {
            claim.reduce(reducer);
        }
        let intent = input.effect_status.intent_mut();
        if let Some(Effect::Open(open)) = intent.map(|intent| &mut intent.effect) {
            reducer.text(&mut open.summary);
        }
    }

    fn summarize(outcome: &Outcome, receipt: &mut Receipt) {
        if let Outcome::Opened { pr, .. } = outcome {
            receipt.open_pull(*pr);
        }
    }
}

impl State {
    pub fn memory(&self) -> Option<&ClaimMemory> {
        match self {
            Self::Unclaimed(memory) | Self::Claimed { memory, .. } => Some(memory),
            Self::Newer { .. } => None,
        }
    }

    /// The same claim with another memory.
    #[must_use]
    pub fn with_memo(&self, memory: ClaimMemory) -> Self {
        match self {
            Self::Unclaimed(_) => Self::Unclaimed(memory),
            Self::Claimed { claim, .. } => Self::Claimed {
                claim: claim.clone(),
                memory,
            },
            Self::Newer { version } => Self::Newer { version: *version },
        }
    }

    /// Would a stop change nothing and say nothing, whatever the shell observes? Then it observes
    /// nothing.
    pub fn rests(&self) -> bool {
        let no_news = self
            .memory()
            .is_none_or(|memory| memory.mail.iter().all(|mail| mail.weight == Weight::Info));
        match self {
            Self::Newer { .. } => true,
            Self::Unclaimed(_) => no_news,
            Self::Claimed { claim, memory } => {
                let quiet = match &claim.phase {
                    Phase::Coding
                    | Phase::PrCreated
                    | Phase::ChecksRunning
                    | Phase::MergedDetected => !claim.card_is_behind(),
                    Phase::Failed(_) | Phase::ReadyForPr | Phase::Done => false,
                };
                quiet && no_news && memory.issue == Some(claim.issue_number)
            }
        }
    }

    /// The pull request to watch, if there is one.
    fn watched(&self) -> Option<(&ClaimFile, &ClaimMemory, u64)> {
        match self {
            Self::Claimed { claim, memory } => match (&claim.phase, claim.pr_number) {
                (Phase::PrCreated | Phase::ChecksRunning, Some(pr)) => Some((claim, memory, pr)),
                _ => None,
            },
            Self::Unclaimed(_) | Self::Newer { .. } => None,
        }
    }
}
