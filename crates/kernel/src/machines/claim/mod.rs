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
pub mod memory;
pub mod news;
pub mod phase;
pub mod pull;
mod refused;
pub mod remote;
mod results;
pub mod rounds;
mod say;
mod session;
#[cfg(test)]
mod tests;
pub mod text;
pub mod trouble;
pub mod verbs;
mod visit;
pub mod watch;
pub mod work;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{InputOf, Name};
use crate::effect::{EffectStatus, HasEffects};
use crate::ids::Millis;
use crate::machine::{
    ANY, Arrow, Input, Machine, Nothing, OnContext, OnIdle, OnStop, OnWatch, SAME, Step,
};
use crate::receipt::Receipt;
use crate::reduce::Reducer;
use claim_file::ClaimFile;
use memory::{ClaimMemory, Weight};
use phase::Phase;
use visit::{At, visit};
use work::{Effect, HeartBeat, Outcome};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a handful live at a time")]
pub enum State {
    /// No claim file.
    Unclaimed(ClaimMemory),
    Claimed {
        claim: ClaimFile,
        memory: ClaimMemory,
    },
    /// A file of a later version. It is read, and never written.
    Newer { version: u64 },
}

/// What the shell saw for this event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    /// The public script was called. It acts on `done` in the file, and speaks to the agent when
    /// that is idle.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_script: bool,
    pub board: BoardUse,
    /// The checked-out branch, if it may have a pull request without a claim.
    pub branch: Option<String>,
    /// Nobody attends, so that no watcher can wake the agent.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub headless: bool,
    /// What else counts as a yes to the question whether to close the issue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phrases: Vec<String>,
    /// How often since a prompt the agent is told of red CI; 0: no limit.
    pub max_ci_rounds: u32,
    /// The session that has the claim does not run any more.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub owner_is_gone: bool,
}

impl Facts {
    /// Without a board, a branch or anything special.
    pub const fn plain() -> Self {
        Self {
            is_script: false,
            board: BoardUse::Off,
            branch: None,
            headless: false,
            phrases: Vec::new(),
            max_ci_rounds: rounds::MOST,
            owner_is_gone: false,
        }
    }
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

impl HasEffects for Claim {
    type Effect = Effect;
    type Outcome = Outcome;

    fn only_looks(effect: &Effect) -> bool {
        match effect {
            Effect::Poll { .. }
            | Effect::CheckMerge { .. }
            | Effect::Look { .. }
            | Effect::Survey
            | Effect::Arrive { .. } => true,
            Effect::Open(_)
            | Effect::Close(_)
            | Effect::Sync(_)
            | Effect::Beat(_)
            | Effect::GiveBack { .. } => false,
        }
    }
}

impl Machine for Claim {
    const NAME: Name = Name::Claim;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "claim",          on: "verb",          from: &["unclaimed"], to: "coding",
            when: "`claim N`, and nobody else has it", does: "card to In Progress, assign, switch to the branch, write file", remedy: "`mainspring claim abort` gives it back" },
        Arrow { rule: "handoff",        on: "verb",          from: &["coding", "ready_for_pr", "pr_created", "checks_running", "failed"], to: "ready_for_pr",
            when: "`handoff`, and the pull request is not merged", does: "keep the summary; adopt the current branch", remedy: "`mainspring claim rework` goes back to coding" },
        Arrow { rule: "done",           on: "verb",          from: CLAIMED, to: "done",
            when: "`claim done`: it is merged, and the user agreed in their last message", does: "close the issue at once", remedy: "ask the user" },
        Arrow { rule: "done-yes",       on: "verb",          from: CLAIMED, to: "done",
            when: "`claim done --yes`, by a person", does: "close the issue at once", remedy: "" },
        Arrow { rule: "integrate",      on: "verb",          from: &["coding", "ready_for_pr", "pr_created", "checks_running", "merged_detected", "failed"], to: "merged_detected",
            when: "`claim done`: the base branch has every commit", does: "note that it is merged", remedy: "" },
        Arrow { rule: "integrate",      on: "verb",          from: &["done"], to: SAME,
            when: "`claim done`: the base branch has every commit", does: "note that it is merged", remedy: "" },
        Arrow { rule: "retry-open",     on: "verb",          from: &["failed"], to: "ready_for_pr",
            when: "`claim retry`, and there is no pull request", does: "try again at the next stop", remedy: "" },
        Arrow { rule: "retry-close",    on: "verb",          from: &["failed"], to: "done",
            when: "`claim retry`, and the issue is not closed", does: "try again at the next stop", remedy: "" },
        Arrow { rule: "rework",         on: "verb",          from: CLAIMED, to: "coding",
            when: "`claim rework`", does: "go on working on the issue", remedy: "" },
        Arrow { rule: "abort",          on: "verb",          from: CLAIMED, to: "unclaimed",
            when: "`claim abort`", does: "give the issue back, remove the file", remedy: "" },
        Arrow { rule: "unclaimed",      on: "stop",          from: &["unclaimed"], to: SAME,
            when: "no claim here", does: "pass; give waiting mail", remedy: "claim an issue with `mainspring claim N`" },
        Arrow { rule: "give-back",      on: "stop",          from: &["unclaimed"], to: SAME,
            when: "the claim file is gone, and the issue still reserved", does: "give it back on the git server", remedy: "`mainspring claim N` takes it again" },
        Arrow { rule: "given-back",     on: "stop",          from: &["unclaimed"], to: SAME,
            when: "the git server answered", does: "tell the person", remedy: "" },
        Arrow { rule: "coding",         on: "stop",          from: &["coding"], to: SAME,
            when: "the board is current", does: "pass, start nothing; give waiting mail", remedy: "`mainspring handoff --summary TEXT` hands the work over" },
        Arrow { rule: "open",           on: "stop",          from: &["ready_for_pr"], to: SAME,
            when: "branch and summary are there", does: "find or create the pull request", remedy: "`mainspring claim rework` goes back to coding" },
        Arrow { rule: "lacking",        on: "stop, idle, watch", from: &["ready_for_pr", "failed"], to: "ready_for_pr",
            when: "branch, summary, remote or push missing", does: "tell the agent, once", remedy: "do what the message asks" },
        Arrow { rule: "integrated",     on: "stop, idle, watch", from: &["ready_for_pr", "failed"], to: "merged_detected",
            when: "the base branch has every commit", does: "ask whether to close", remedy: "" },
        Arrow { rule: "busy",           on: "stop",          from: &["ready_for_pr", "done", "failed"], to: SAME,
            when: "another process is at it", does: "pass", remedy: "wait for it" },
        Arrow { rule: "opened",         on: "stop, idle, watch", from: &["ready_for_pr", "failed"], to: "pr_created",
            when: "the pull request is there", does: "card to In Review; tell the address", remedy: "" },
        Arrow { rule: "watched",        on: "stop",          from: &["pr_created", "checks_running"], to: SAME,
            when: "the board is current", does: "pass; give waiting mail", remedy: "" },
        Arrow { rule: "ci-limit",       on: "stop",          from: &["pr_created", "checks_running"], to: SAME,
            when: "CI failed again, and the agent was told of as many failures since the last prompt as `max_ci_rounds` says", does: "pass; tell the person, once", remedy: "write to the agent: your prompt tells it" },
        Arrow { rule: "asked",          on: "stop",          from: &["merged_detected"], to: SAME,
            when: "the board is current", does: "pass; give waiting mail", remedy: "close with `mainspring claim done` when the user says so" },
        Arrow { rule: "card",           on: "stop",          from: &["coding", "pr_created", "checks_running", "merged_detected"], to: SAME,
            when: "the status differs from the board's", does: "move the card", remedy: "set `status` back, or wait" },
        Arrow { rule: "beat",           on: "stop",          from: CLAIMED, to: SAME,
            when: "the claim on the git server is an hour old, or says another phase", does: "write it again", remedy: "" },
        Arrow { rule: "unconsented",    on: "stop",          from: &["done", "failed"], to: SAME,
            when: "the file says `done`, but the user did not allow it", does: "tell the agent once, then the person", remedy: "`mainspring claim done` after the user's yes" },
        Arrow { rule: "close",          on: "stop",          from: &["done"], to: SAME,
            when: "the user let it be closed", does: "comment, close, card to Done, release", remedy: "`mainspring claim rework` keeps it open" },
        Arrow { rule: "closed",         on: "stop, idle, watch", from: &["done", "failed"], to: "unclaimed",
            when: "the issue is closed", does: "remove the claim file; tell the agent", remedy: "" },
        Arrow { rule: "failed",         on: "stop",          from: &["failed"], to: SAME,
            when: "not time to try again, or given up", does: "pass", remedy: "`mainspring claim retry` tries at the next stop" },
        Arrow { rule: "retry",          on: "stop, idle, watch", from: &["failed"], to: SAME,
            when: "time to try again", does: "look, then do what is not there yet", remedy: "" },
        Arrow { rule: "github-failed",  on: "stop, idle, watch", from: &["ready_for_pr", "done", "failed"], to: "failed",
            when: "GitHub did not let us", does: "tell the agent; try again later, five times at most", remedy: "fix the cause, then `mainspring claim retry`" },
        Arrow { rule: "late",           on: "stop",          from: ANY, to: SAME,
            when: "a result for a phase that moved on", does: "keep the pull request's number", remedy: "" },
        Arrow { rule: "backoff",        on: "idle",          from: &["unclaimed"], to: SAME,
            when: "looked less than two minutes ago", does: "pass", remedy: "wait" },
        Arrow { rule: "look",           on: "idle",          from: &["unclaimed"], to: SAME,
            when: "the branch may have a pull request", does: "look at it and at the board", remedy: "" },
        Arrow { rule: "looked",         on: "idle",          from: &["unclaimed"], to: SAME,
            when: "the look came back", does: "if merged, name the next item, once", remedy: "" },
        Arrow { rule: "poll",           on: "stop, idle, watch, session_start", from: &["pr_created", "checks_running"], to: SAME,
            when: "it is time to look; at a stop, only where nobody attends", does: "ask GitHub, one query", remedy: "" },
        Arrow { rule: "poll-backoff",   on: "idle",          from: &["pr_created", "checks_running"], to: SAME,
            when: "not merged, and polled less than two minutes ago; or GitHub said when to come back", does: "pass", remedy: "`mainspring claim status --now` asks at once" },
        Arrow { rule: "polled",         on: "stop, idle, watch, session_start, verb", from: &["pr_created", "checks_running"], to: "checks_running",
            when: "it is open or closed", does: "tell what changed, once", remedy: "" },
        Arrow { rule: "merged",         on: "stop, idle, watch, session_start, verb", from: &["pr_created", "checks_running", "merged_detected"], to: "merged_detected",
            when: "it is merged", does: "ask whether to close, once", remedy: "" },
        Arrow { rule: "unpolled",       on: "stop, idle, watch, session_start", from: &["pr_created", "checks_running"], to: SAME,
            when: "GitHub did not answer", does: "tell the person, once; wait for the next look", remedy: "`gh auth status` shows whether gh is signed in" },
        Arrow { rule: "wake",           on: "watch",         from: ANY, to: SAME,
            when: "mail waits that is worth a turn, and the claim is this session's", does: "wake the agent with it", remedy: "" },
        Arrow { rule: "survey",         on: "session_start", from: ANY, to: SAME,
            when: "a board is configured", does: "ask what is on it, and how the pull request is", remedy: "" },
        Arrow { rule: "welcome",        on: "session_start", from: ANY, to: SAME,
            when: "a claim, a board or mail is there", does: "tell the agent where things stand", remedy: "" },
        Arrow { rule: "mail",           on: "prompt",        from: ANY, to: SAME,
            when: "mail waits, GitHub was out of reach, the person was asked, or red CI was told", does: "give it; note that the person spoke", remedy: "" },
        Arrow { rule: "left",           on: "session_end",   from: ANY, to: SAME,
            when: "the claim's session ends", does: "leave it to the next session", remedy: "" },
    ];

    type State = State;
    type Facts = Facts;

    fn label(state: &State) -> &'static str {
        match state {
            State::Unclaimed(_) => "unclaimed",
            State::Claimed { claim, .. } => claim.phase.as_str(),
            State::Newer { .. } => "newer",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        visit(At::Stop, state, input).map(|text| text.map_or(OnStop::Pass, OnStop::Hold))
    }

    fn on_idle(state: &State, input: &Input<'_, Self>) -> Step<Self, OnIdle> {
        visit(At::Idle, state, input).map(|text| text.map_or(OnIdle::Pass, OnIdle::Notify))
    }

    fn on_watch(state: &State, input: &Input<'_, Self>) -> Step<Self, OnWatch> {
        visit(At::Watch, state, input).map(|text| text.map_or(OnWatch::Pass, OnWatch::Wake))
    }

    fn on_start(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        visit(At::Start, state, input).map(|text| text.map_or(OnContext::Pass, OnContext::Tell))
    }

    fn on_prompt(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        session::on_prompt(state, input).map(|text| text.map_or(OnContext::Pass, OnContext::Tell))
    }

    fn on_end(state: &State, input: &Input<'_, Self>) -> Step<Self, Nothing> {
        session::on_end(state, input)
    }

    fn reduce(input: &mut InputOf<Self>, reducer: Reducer) {
        if let State::Claimed { claim, .. } = &mut input.state {
            claim.reduce(reducer);
        }
        if let State::Claimed { memory, .. } | State::Unclaimed(memory) = &mut input.state {
            for mail in &mut memory.mail {
                reducer.text(&mut mail.log);
            }
        }
        if let EffectStatus::Done(_, outcome) = &mut input.effect_status {
            outcome.reduce(reducer);
        }
        for intent in input.intents_mut() {
            if let Effect::Open(open) = &mut intent.effect {
                reducer.text(&mut open.summary);
            }
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

    /// Is it the same as before, but for the time of a look?
    pub(crate) fn differs_only_in_time(&self, before: &Self) -> bool {
        match (self, before) {
            (
                Self::Claimed { claim, memory },
                Self::Claimed {
                    claim: old,
                    memory: known,
                },
            ) => claim.phase == old.phase && *memory == known.about(claim.issue_number),
            _ => self == before,
        }
    }

    /// Would a stop change nothing and say nothing, whatever the shell observes? Then it observes
    /// nothing. A look where nobody attends is not counted.
    pub fn rests(&self, now: Millis) -> bool {
        let no_news = self
            .memory()
            .is_none_or(|memory| memory.mail.iter().all(|mail| mail.weight == Weight::Info));
        match self {
            Self::Newer { .. } => true,
            Self::Unclaimed(memory) => no_news && memory.leftover(now).is_none(),
            Self::Claimed { claim, memory } => {
                let quiet = match &claim.phase {
                    Phase::Coding
                    | Phase::PrCreated
                    | Phase::ChecksRunning
                    | Phase::MergedDetected => !claim.card_is_behind(),
                    Phase::Failed(_) | Phase::ReadyForPr | Phase::Done => false,
                };
                quiet
                    && no_news
                    && memory.issue == Some(claim.issue_number)
                    && HeartBeat::due(claim, memory, now).is_none()
            }
        }
    }

    /// Is there a pull request to watch?
    pub const fn is_watched(&self) -> bool {
        match self {
            Self::Claimed { claim, .. } => claim.watched_pull().is_some(),
            Self::Unclaimed(_) | Self::Newer { .. } => false,
        }
    }
}
