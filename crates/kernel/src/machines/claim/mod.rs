//! `claim`: from a claimed issue to a merged and closed one.
//!
//! The signal file's phase says where the work stands; agents and people may set it by
//! hand, and it counts at the next stop. What GitHub is asked for is asked at a stop
//! (a pull request, a close, a card moved) or when the agent is idle (how is the pull
//! request?), never while the agent codes. Every effect looks before it acts, so that one
//! whose process died is simply run again.

pub mod branch;
pub mod claim_file;
mod context;
mod idle;
pub mod memory;
pub mod news;
pub mod phase;
pub mod pull;
pub mod remote;
mod stop;
#[cfg(test)]
mod tests;
pub mod text;
pub mod work;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::machine::{Arrow, Input, Machine, Nothing, OnContext, OnIdle, OnStop, Step};
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
    /// No signal file.
    Unclaimed(ClaimMemory),
    Claimed {
        claim: ClaimFile,
        memory: ClaimMemory,
    },
    /// A file of a later version: read, and never written.
    Newer { version: u64 },
}

/// What the shell saw for this event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    pub board: BoardUse,
    /// The branch that is checked out, where it may have a pull request of its own.
    pub branch: Option<alloc::string::String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardUse {
    On,
    Off,
}

impl Machine for Claim {
    const NAME: Name = Name::Claim;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "claim",            from: "unclaimed",       on: "verb",   when: "`claim N`, and nobody else has it",        to: "coding",          does: "card to In Progress, assign, write the file", remedy: "" },
        Arrow { rule: "handoff",          from: "coding",          on: "verb",   when: "`handoff`, or the phase set by hand",      to: "ready_for_pr",    does: "keep the summary",                            remedy: "" },
        Arrow { rule: "handoff-again",    from: "failed",          on: "verb",   when: "`handoff`, or the phase set by hand",      to: "ready_for_pr",    does: "forget the failures",                         remedy: "" },
        Arrow { rule: "done",             from: "merged_detected", on: "verb",   when: "`claim done`, and the person has spoken",  to: "done",            does: "nothing before the next stop",                remedy: "ask the person" },
        Arrow { rule: "abort",            from: "any",             on: "verb",   when: "`claim abort`",                            to: "unclaimed",       does: "give the issue back, remove the file",        remedy: "" },
        Arrow { rule: "unclaimed",        from: "unclaimed",       on: "stop",   when: "no claim here",                            to: "unclaimed",       does: "pass; give waiting mail",                     remedy: "claim an issue with `mainspring claim N`" },
        Arrow { rule: "coding",           from: "coding",          on: "stop",   when: "the board is current",                     to: "coding",          does: "pass, starting nothing; give waiting mail",   remedy: "hand the work over with `mainspring handoff --summary TEXT`" },
        Arrow { rule: "coding-card",      from: "coding",          on: "stop",   when: "the status differs from the board's",      to: "coding",          does: "move the card",                               remedy: "set `status` back, or wait" },
        Arrow { rule: "open",             from: "ready_for_pr",    on: "stop",   when: "branch and summary are there",             to: "ready_for_pr",    does: "find or create the pull request",             remedy: "set `phase` back to `coding`" },
        Arrow { rule: "lacking",          from: "ready_for_pr",    on: "stop",   when: "branch, summary, remote or push missing",  to: "ready_for_pr",    does: "tell the agent, once",                        remedy: "do what the message asks" },
        Arrow { rule: "opening",          from: "ready_for_pr",    on: "stop",   when: "another process is creating it",           to: "ready_for_pr",    does: "pass",                                        remedy: "wait for it" },
        Arrow { rule: "opened",           from: "ready_for_pr",    on: "stop",   when: "the pull request is there",                to: "pr_created",      does: "card to In Review; tell the address",         remedy: "" },
        Arrow { rule: "open-failed",      from: "ready_for_pr",    on: "stop",   when: "GitHub did not let us",                    to: "failed",          does: "tell the agent; try again later",             remedy: "fix the cause, then set `phase` to `ready_for_pr`" },
        Arrow { rule: "created",          from: "pr_created",      on: "stop",   when: "the board is current",                     to: "pr_created",      does: "pass; give waiting mail",                     remedy: "" },
        Arrow { rule: "created-card",     from: "pr_created",      on: "stop",   when: "the status differs from the board's",      to: "pr_created",      does: "move the card",                               remedy: "set `status` back, or wait" },
        Arrow { rule: "running",          from: "checks_running",  on: "stop",   when: "the board is current",                     to: "checks_running",  does: "pass; give waiting mail",                     remedy: "" },
        Arrow { rule: "running-card",     from: "checks_running",  on: "stop",   when: "the status differs from the board's",      to: "checks_running",  does: "move the card",                               remedy: "set `status` back, or wait" },
        Arrow { rule: "asked",            from: "merged_detected", on: "stop",   when: "the board is current",                     to: "merged_detected", does: "pass; give waiting mail",                     remedy: "close with `mainspring claim done` when the user says so" },
        Arrow { rule: "asked-card",       from: "merged_detected", on: "stop",   when: "the status differs from the board's",      to: "merged_detected", does: "move the card",                               remedy: "set `status` back, or wait" },
        Arrow { rule: "close",            from: "done",            on: "stop",   when: "always",                                   to: "done",            does: "comment, close, card to Done, release",       remedy: "set `phase` back to `merged_detected`" },
        Arrow { rule: "closing",          from: "done",            on: "stop",   when: "another process is closing it",            to: "done",            does: "pass",                                        remedy: "wait for it" },
        Arrow { rule: "closed",           from: "done",            on: "stop",   when: "the issue is closed",                      to: "unclaimed",       does: "remove the signal file; tell the agent",      remedy: "" },
        Arrow { rule: "close-failed",     from: "done",            on: "stop",   when: "GitHub did not let us",                    to: "failed",          does: "tell the agent; try again later",             remedy: "fix the cause, then set `phase` to `done`" },
        Arrow { rule: "failed",           from: "failed",          on: "stop",   when: "not time to try again, or given up",       to: "failed",          does: "pass",                                        remedy: "set `phase` to `ready_for_pr` or `done` to try at once" },
        Arrow { rule: "retry",            from: "failed",          on: "stop",   when: "time to try again",                        to: "failed",          does: "look, then do what is not there yet",         remedy: "" },
        Arrow { rule: "retrying",         from: "failed",          on: "stop",   when: "another process is at it",                 to: "failed",          does: "pass",                                        remedy: "wait for it" },
        Arrow { rule: "retry-lacking",    from: "failed",          on: "stop",   when: "branch, summary, remote or push missing",  to: "ready_for_pr",    does: "tell the agent",                              remedy: "do what the message asks" },
        Arrow { rule: "retry-opened",     from: "failed",          on: "stop",   when: "the pull request is there",                to: "pr_created",      does: "card to In Review; tell the address",         remedy: "" },
        Arrow { rule: "retry-closed",     from: "failed",          on: "stop",   when: "the issue is closed",                      to: "unclaimed",       does: "remove the signal file; tell the agent",      remedy: "" },
        Arrow { rule: "retry-failed",     from: "failed",          on: "stop",   when: "GitHub did not let us again",              to: "failed",          does: "wait longer; after five times give up",       remedy: "fix the cause, then set the phase again" },
        Arrow { rule: "late",             from: "any",             on: "stop",   when: "a result for a phase that moved on",       to: "any",             does: "keep the pull request's number",              remedy: "" },
        Arrow { rule: "backoff",          from: "unclaimed",       on: "idle",   when: "looked less than two minutes ago",         to: "unclaimed",       does: "pass",                                        remedy: "wait" },
        Arrow { rule: "look",             from: "unclaimed",       on: "idle",   when: "the branch may have a pull request",       to: "unclaimed",       does: "look at it and at the board",                 remedy: "" },
        Arrow { rule: "looked",           from: "unclaimed",       on: "idle",   when: "the look came back",                       to: "unclaimed",       does: "if merged, name the next item, once",         remedy: "" },
        Arrow { rule: "created-backoff",  from: "pr_created",      on: "idle",   when: "polled less than two minutes ago",         to: "pr_created",      does: "pass",                                        remedy: "`mainspring claim status --now` asks at once" },
        Arrow { rule: "created-poll",     from: "pr_created",      on: "idle",   when: "two minutes since the last poll",          to: "pr_created",      does: "ask GitHub, one query",                       remedy: "" },
        Arrow { rule: "created-polled",   from: "pr_created",      on: "idle",   when: "it is open or closed",                     to: "checks_running",  does: "say what changed, once",                      remedy: "" },
        Arrow { rule: "created-merged",   from: "pr_created",      on: "idle",   when: "it is merged",                             to: "merged_detected", does: "ask whether to close, once",                  remedy: "" },
        Arrow { rule: "created-unpolled", from: "pr_created",      on: "idle",   when: "GitHub did not answer",                    to: "pr_created",      does: "wait for the next poll",                      remedy: "" },
        Arrow { rule: "running-backoff",  from: "checks_running",  on: "idle",   when: "polled less than two minutes ago",         to: "checks_running",  does: "pass",                                        remedy: "`mainspring claim status --now` asks at once" },
        Arrow { rule: "running-poll",     from: "checks_running",  on: "idle",   when: "two minutes since the last poll",          to: "checks_running",  does: "ask GitHub, one query",                       remedy: "" },
        Arrow { rule: "running-polled",   from: "checks_running",  on: "idle",   when: "it is open or closed",                     to: "checks_running",  does: "say what changed, once",                      remedy: "" },
        Arrow { rule: "running-merged",   from: "checks_running",  on: "idle",   when: "it is merged",                             to: "merged_detected", does: "ask whether to close, once",                  remedy: "" },
        Arrow { rule: "running-unpolled", from: "checks_running",  on: "idle",   when: "GitHub did not answer",                    to: "checks_running",  does: "wait for the next poll",                      remedy: "" },
        Arrow { rule: "survey",           from: "any",             on: "session_start", when: "a board is configured",                    to: "any",             does: "ask what is on it",                           remedy: "" },
        Arrow { rule: "welcome",          from: "any",             on: "session_start", when: "a claim, a board or mail is there",        to: "any",             does: "tell the agent where things stand",           remedy: "" },
        Arrow { rule: "mail",             from: "any",             on: "prompt", when: "mail waits, or the person was asked",      to: "any",             does: "give it; note that the person spoke",         remedy: "" },
        Arrow { rule: "left",             from: "any",             on: "session_end", when: "the claim's session ends",                 to: "any",             does: "leave it to the next session",                remedy: "" },
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

    fn on_start(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        context::on_start(state, input)
    }

    fn on_prompt(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        context::on_prompt(state, input)
    }

    fn on_end(state: &State, input: &Input<'_, Self>) -> Step<Self, Nothing> {
        context::on_end(state, input)
    }
}

impl State {
    pub fn memory(&self) -> Option<&ClaimMemory> {
        match self {
            Self::Unclaimed(memory) | Self::Claimed { memory, .. } => Some(memory),
            Self::Newer { .. } => None,
        }
    }

    /// The same claim with another memo.
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

    /// Would a stop leave everything as it is and say nothing, whatever else is seen? Then
    /// it need not be looked at.
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

    /// The pull request to watch, where there is one.
    pub fn watched(&self) -> Option<(&ClaimFile, &ClaimMemory, u64)> {
        match self {
            Self::Claimed { claim, memory } => match (&claim.phase, claim.pr_number) {
                (Phase::PrCreated | Phase::ChecksRunning, Some(pr)) => Some((claim, memory, pr)),
                _ => None,
            },
            Self::Unclaimed(_) | Self::Newer { .. } => None,
        }
    }
}
