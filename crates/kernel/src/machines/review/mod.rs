//! `review`: plan, tasks and code are reviewed by a fresh model until two reviews in a row
//! are clean.
//!
//! The plan's `state.json` says what comes next. Where that is a review, the stop runs a
//! reviewer and holds the agent with its findings; the agent answers, stops, and the next
//! reviewer follows. Two clean ones in a row, or too many, and the person has the word.
//! Where no review is due, the plan's directory is checked against the ground rules.

pub mod phase;
pub mod plan;
pub mod route;
pub mod structure;
pub mod table;
pub mod verbs;
pub mod words;

mod after;
mod session;
mod stop;

#[cfg(test)]
mod arrows;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use phase::{Phase, PlanStage, Review as Kind, TaskId};
pub use plan::{Fields, Memory, Plan, Record, State};

use super::Name;
pub use super::looping::OtherSessions;
use crate::effect::Fence;
use crate::ids::Millis;
use crate::machine::{Arrow, Input, Machine, Nothing, OnContext, OnStop, Settled, Step};
use table::Tasks;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Review;

/// What the shell saw of the plan's directory and of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    pub door: Door,
    pub company: OtherSessions,
    /// The ground rules that the directory breaks.
    pub violations: Vec<String>,
    /// What is wrong with `state.json`, for the person only.
    pub warnings: Vec<String>,
    pub tasks: Tasks,
    /// The numbers of the reviews of the due kind that lie there.
    pub written: Vec<u32>,
    pub answer: AnswerFile,
    pub settings: Settings,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    Hook,
    /// The drop-in for the public hook: plans have no owner there.
    Compat,
}

/// The answer to the review that waits for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFile {
    Missing,
    /// Written after the review was.
    Written,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The models that take turns, the strongest first.
    pub models: Vec<String>,
    pub on_failure: OnFailure,
    /// The cycle stops when the plan has cost this much, in millionths of a dollar.
    pub max_cost: Option<u64>,
    /// How long one review may take.
    pub deadline: Millis,
}

/// What becomes of a stop whose review did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Let it through; the review stays due.
    Approve,
    /// Keep the agent and try again, twice, then let it through.
    Retry,
    /// Let it through, and start no review before a person says so.
    Park,
}

/// One review, to be run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request {
    pub plan: String,
    pub review: Kind,
    pub task: Option<TaskId>,
    pub iteration: u32,
    pub model: String,
    /// The tasks whose files the reviewer reads, where it reads several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// Not to be started before: a failed one was just tried.
    pub not_before: Millis,
    /// The intents of processes that died in the same review. What one of them left is
    /// taken over if it is finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumes: Vec<Fence>,
}

impl Request {
    /// The name of the file that the reviewer is to write.
    pub fn file(&self) -> String {
        self.review.file(self.task.as_ref(), self.iteration)
    }

    /// Is it the review that is due here, whichever its number?
    fn is_for(&self, plan: &str, review: Kind, task: Option<&TaskId>) -> bool {
        self.plan == plan && self.review == review && self.task.as_ref() == task
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outcome {
    pub result: Finding,
    pub took: Millis,
    /// In millionths of a dollar, where the reviewer's program said.
    pub cost: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// A review file was written.
    Reviewed(Verdict),
    /// The review did not happen.
    NotDone(Failure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Fail,
    /// None in the place of the schema: not clean.
    Unsaid,
}

/// Why a review did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The reviewer's program was not found.
    NoProgram(String),
    /// It ended badly; an excerpt of what it said.
    Exit {
        status: String,
        said: String,
    },
    TimedOut {
        after: Millis,
    },
    /// It ended well and wrote no review.
    NoFile,
    /// We could not start it, or not keep its output.
    Fault(String),
}

impl Machine for Review {
    const NAME: Name = Name::Review;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "no-plan",     from: "none",      on: "stop", when: "no plan in .taskie/plans",                   to: "none",      does: "pass",                              remedy: "`mainspring plan init NAME` records one" },
        Arrow { rule: "not-ours",    from: "idle",      on: "stop", when: "another session's plan, or nobody's among several", to: "idle",  does: "pass, tell the person once",        remedy: "`mainspring plan adopt` takes it over" },
        Arrow { rule: "not-ours",    from: "due",       on: "stop", when: "another session's plan, or nobody's among several", to: "due",   does: "pass, tell the person once",        remedy: "`mainspring plan adopt` takes it over" },
        Arrow { rule: "not-ours",    from: "answering", on: "stop", when: "another session's plan, or nobody's among several", to: "answering", does: "pass, tell the person once",    remedy: "`mainspring plan adopt` takes it over" },
        Arrow { rule: "valid",       from: "idle",      on: "stop", when: "no review due, ground rules kept",           to: "idle",      does: "pass",                              remedy: "`mainspring plan route` says what comes next" },
        Arrow { rule: "invalid",     from: "idle",      on: "stop", when: "no review due, ground rules broken",         to: "idle",      does: "hold with every violation",         remedy: "put the plan's files right" },
        Arrow { rule: "unchanged",   from: "idle",      on: "stop", when: "broken as when we last held for it",         to: "idle",      does: "pass, tell the person",             remedy: "put the plan's files right" },
        Arrow { rule: "unanswered",  from: "answering", on: "stop", when: "the review has no answer yet",               to: "answering", does: "pass, tell the person",             remedy: "write the post-review file, or `mainspring plan set next_phase null`" },
        Arrow { rule: "invalid",     from: "answering", on: "stop", when: "no answer yet, ground rules broken",         to: "answering", does: "hold with every violation",         remedy: "put the plan's files right" },
        Arrow { rule: "unchanged",   from: "answering", on: "stop", when: "broken as when we last held for it",         to: "answering", does: "pass, tell the person",             remedy: "put the plan's files right" },
        Arrow { rule: "review",      from: "due",       on: "stop", when: "a review is due",                            to: "due",       does: "start a reviewer",                  remedy: "`mainspring plan set next_phase null` stops the loop" },
        Arrow { rule: "review",      from: "answering", on: "stop", when: "the answer is written, the state forgotten", to: "answering", does: "start the next reviewer",           remedy: "`mainspring plan set next_phase null` stops the loop" },
        Arrow { rule: "issues",      from: "due",       on: "stop", when: "the review found something, or gave no verdict", to: "answering", does: "hold: answer it",               remedy: "answer it, or `mainspring plan set next_phase null`" },
        Arrow { rule: "issues",      from: "answering", on: "stop", when: "the next review found something",            to: "answering", does: "hold: answer it",                   remedy: "answer it, or `mainspring plan set next_phase null`" },
        Arrow { rule: "clean",       from: "due",       on: "stop", when: "the review is clean, the one before was not", to: "answering", does: "hold: answer it",                  remedy: "two clean reviews in a row end the cycle" },
        Arrow { rule: "clean",       from: "answering", on: "stop", when: "the next review is clean, its first",        to: "answering", does: "hold: answer it",                   remedy: "two clean reviews in a row end the cycle" },
        Arrow { rule: "passed",      from: "due",       on: "stop", when: "two clean reviews in a row",                 to: "idle",      does: "pass to the next phase",            remedy: "`continue-plan` goes on" },
        Arrow { rule: "passed",      from: "answering", on: "stop", when: "two clean reviews in a row",                 to: "idle",      does: "pass to the next phase",            remedy: "`continue-plan` goes on" },
        Arrow { rule: "passed-last", from: "due",       on: "stop", when: "two clean reviews of the last task",         to: "due",       does: "pass; all code is reviewed next",   remedy: "`continue-plan` goes on; `mainspring plan advance complete` skips it" },
        Arrow { rule: "passed-last", from: "answering", on: "stop", when: "two clean reviews of the last task",         to: "due",       does: "pass; all code is reviewed next",   remedy: "`continue-plan` goes on; `mainspring plan advance complete` skips it" },
        Arrow { rule: "skip",        from: "due",       on: "stop", when: "max_reviews is 0",                           to: "idle",      does: "pass to the next phase",            remedy: "`mainspring plan set max_reviews 8` reviews again" },
        Arrow { rule: "skip",        from: "answering", on: "stop", when: "max_reviews is 0",                           to: "idle",      does: "pass to the next phase",            remedy: "`mainspring plan set max_reviews 8` reviews again" },
        Arrow { rule: "skip-last",   from: "due",       on: "stop", when: "max_reviews is 0, no task is left",          to: "due",       does: "pass; all code comes next",         remedy: "`mainspring plan set max_reviews 8` reviews again" },
        Arrow { rule: "skip-last",   from: "answering", on: "stop", when: "max_reviews is 0, no task is left",          to: "due",       does: "pass; all code comes next",         remedy: "`mainspring plan set max_reviews 8` reviews again" },
        Arrow { rule: "limit",       from: "due",       on: "stop", when: "max_reviews are done",                       to: "due",       does: "pass, wait for the person",         remedy: "`mainspring plan set max_reviews N` with more" },
        Arrow { rule: "limit",       from: "answering", on: "stop", when: "max_reviews are done",                       to: "due",       does: "pass, wait for the person",         remedy: "`mainspring plan set max_reviews N` with more" },
        Arrow { rule: "costs",       from: "due",       on: "stop", when: "the plan's reviews cost max_cost_usd",       to: "due",       does: "pass, wait for the person",         remedy: "raise `[review] max_cost_usd`" },
        Arrow { rule: "costs",       from: "answering", on: "stop", when: "the plan's reviews cost max_cost_usd",       to: "due",       does: "pass, wait for the person",         remedy: "raise `[review] max_cost_usd`" },
        Arrow { rule: "no-subject",  from: "due",       on: "stop", when: "there is no task to review",                 to: "due",       does: "pass, tell the person",             remedy: "name it in tasks.md or `mainspring plan set current_task ID`" },
        Arrow { rule: "no-subject",  from: "answering", on: "stop", when: "there is no task to review",                 to: "due",       does: "pass, tell the person",             remedy: "name it in tasks.md or `mainspring plan set current_task ID`" },
        Arrow { rule: "background",  from: "due",       on: "stop", when: "a sub-agent or workflow still runs",         to: "due",       does: "pass",                              remedy: "the host wakes the agent when it ends" },
        Arrow { rule: "background",  from: "answering", on: "stop", when: "a sub-agent or workflow still runs",         to: "due",       does: "pass",                              remedy: "the host wakes the agent when it ends" },
        Arrow { rule: "busy",        from: "due",       on: "stop", when: "a reviewer is at work for another stop",     to: "due",       does: "pass, tell the person",             remedy: "stop again when it is back" },
        Arrow { rule: "busy",        from: "answering", on: "stop", when: "a reviewer is at work for another stop",     to: "due",       does: "pass, tell the person",             remedy: "stop again when it is back" },
        Arrow { rule: "parked",      from: "due",       on: "stop", when: "it failed, and on_failure is park",          to: "due",       does: "pass, tell the person",             remedy: "`mainspring plan review --now`" },
        Arrow { rule: "parked",      from: "answering", on: "stop", when: "it failed, and on_failure is park",          to: "due",       does: "pass, tell the person",             remedy: "`mainspring plan review --now`" },
        Arrow { rule: "failed",      from: "due",       on: "stop", when: "the review did not happen",                  to: "due",       does: "pass, tell the person",             remedy: "`.review-N.log` beside the plan says why" },
        Arrow { rule: "failed",      from: "answering", on: "stop", when: "the review did not happen",                  to: "due",       does: "pass, tell the person",             remedy: "`.review-N.log` beside the plan says why" },
        Arrow { rule: "retry",       from: "due",       on: "stop", when: "it did not happen, tries are left",          to: "due",       does: "hold: stop again",                  remedy: "stop again, or `mainspring plan set next_phase null`" },
        Arrow { rule: "retry",       from: "answering", on: "stop", when: "it did not happen, tries are left",          to: "due",       does: "hold: stop again",                  remedy: "stop again, or `mainspring plan set next_phase null`" },
        Arrow { rule: "invalid-due", from: "due",       on: "stop", when: "no review could be run, ground rules broken", to: "due",      does: "hold with every violation",         remedy: "put the plan's files right" },
        Arrow { rule: "invalid-due", from: "answering", on: "stop", when: "no review could be run, ground rules broken", to: "due",      does: "hold with every violation",         remedy: "put the plan's files right" },
        Arrow { rule: "unchanged-due", from: "due",       on: "stop", when: "broken as when we last held for it",         to: "due",       does: "pass, tell the person",             remedy: "put the plan's files right" },
        Arrow { rule: "unchanged-due", from: "answering", on: "stop", when: "broken as when we last held for it",         to: "due",       does: "pass, tell the person",             remedy: "put the plan's files right" },
        Arrow { rule: "take",        from: "due",       on: "session_start", when: "nobody's plan, and a new session",  to: "due",       does: "give it to the session, tell it",   remedy: "`mainspring plan set next_phase null`" },
        Arrow { rule: "take",        from: "answering", on: "session_start", when: "nobody's plan, and a new session",  to: "answering", does: "give it to the session, tell it",   remedy: "`mainspring plan set next_phase null`" },
        Arrow { rule: "leave",       from: "idle",      on: "session_end",   when: "the owner ends",                    to: "idle",      does: "the plan is nobody's",              remedy: "`mainspring plan adopt`" },
        Arrow { rule: "leave",       from: "due",       on: "session_end",   when: "the owner ends",                    to: "due",       does: "the plan is nobody's",              remedy: "`mainspring plan adopt`" },
        Arrow { rule: "leave",       from: "answering", on: "session_end",   when: "the owner ends",                    to: "answering", does: "the plan is nobody's",              remedy: "`mainspring plan adopt`" },
    ];

    type State = State;
    type Facts = Facts;
    type Effect = Request;
    type Outcome = Outcome;

    fn label(state: &State) -> &'static str {
        let State::Plan(plan) = state else {
            return "none";
        };
        match &plan.record {
            Record::Fields(fields) if fields.unknown().is_some() => "idle",
            Record::Fields(fields) if fields.due().is_some() => "due",
            Record::Fields(fields) if fields.unanswered().is_some() => "answering",
            Record::Missing | Record::Unreadable(_) | Record::Fields(_) => "idle",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        stop::on_stop(state, input)
    }

    fn on_start(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        session::on_start(state, input)
    }

    fn on_end(state: &State, input: &Input<'_, Self>) -> Step<Self, Nothing> {
        session::on_end(state, input)
    }

    fn settle(state: State, settled: Settled) -> State {
        let State::Plan(mut plan) = state else {
            return state;
        };
        let passing = plan.passing.take();
        if let (Some(target), Settled::Released, Record::Fields(fields)) =
            (passing, settled, &mut plan.record)
        {
            fields.go(&target);
        }
        State::Plan(plan)
    }
}
