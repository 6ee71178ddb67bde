//! `review`: a fresh model reviews plan, tasks and code until two reviews in a row are clean.
//!
//! The plan's `state.json` says what comes next. If that is a review, a reviewer runs at the stop,
//! and its findings hold the agent. The agent answers and stops, and the next reviewer runs. After
//! two clean reviews in a row, or too many reviews, it is the person's turn to decide. If no review
//! is due, the plan's directory is checked against the ground rules.

pub mod consent;
pub mod cycle;
pub mod findings;
pub mod messages;
pub mod phase;
pub mod plan;
pub mod route;
pub mod standstill;
pub mod structure;
pub mod table;
pub mod verbs;

mod after;
mod due;
mod examine;
mod session;
mod stop;

#[cfg(test)]
mod arrows;
#[cfg(test)]
mod counts;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use cycle::{CLEAN_IN_A_ROW, CycleKey};
use findings::{Entry, Reply, Report};
pub use phase::{Phase, Review as Kind, TaskId};
pub use plan::{BarePlan, Fields, Lack, Memory, Plan, State};

use super::Name;
pub use super::looping::OtherSessions;
use crate::at_work::{Count, Describe, Work};
use crate::effect::{EffectStatus, Fence, HasEffects};
use crate::hidden::quote;
use crate::ids::{Digest, Millis};
use crate::machine::{
    Arrow, Input, InputOf, Machine, Nothing, OnContext, OnStop, SAME, Settled, Step, Waits,
};
use crate::receipt::{Receipt, Reviewed};
use crate::reduce::Reducer;
use table::Tasks;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Review;

/// After a review that took this long, the person may have turned away.
const LONG: Millis = Millis::seconds(60);

/// What the shell read of the plan's directory and of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    pub asker: Asker,
    /// The ground rules that the directory breaks.
    pub violations: Vec<String>,
    /// What is wrong with `state.json`; only the person is told.
    pub warnings: Vec<String>,
    pub tasks: Tasks,
    /// The numbers of the reviews of the due kind that are in the directory.
    pub written: Vec<u32>,
    pub answer: AnswerFile,
    /// The agent's answers in the post-review file of the last review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Reply>,
    /// Did this session write a plan without recording it?
    pub unrecorded: bool,
    pub settings: Settings,
}

/// Who asks for a plan's next review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// A session that stops. Plans belong to sessions, and its agent records with commands what it
    /// did.
    Session(OtherSessions),
    /// A command, which asks now for what is otherwise done at a stop. Nobody stops, and whose plan
    /// it is does not matter.
    Command,
    /// An agent that stops, of which nothing is known. It keeps `state.json` itself.
    Unknown,
}

impl Asker {
    /// Does the agent record with commands what it did? Then what is not recorded was forgotten.
    const fn records(self) -> bool {
        matches!(self, Self::Session(_))
    }
}

/// What came of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upshot {
    /// A review came back, and counts.
    Reviewed,
    /// It was the last one of its cycle.
    Passed,
    /// No review is wanted.
    Skipped,
    /// The cycle had all its reviews.
    Limit,
    NoSubject,
    /// No review came back. The ground rules are kept.
    Kept,
    Other,
}

impl Upshot {
    /// `rule` is the arrow that was taken.
    pub fn of(rule: &str) -> Self {
        match rule {
            "issues" | "clean" | "escalated" => Self::Reviewed,
            "passed" | "passed-last" => Self::Passed,
            "skip" | "skip-last" => Self::Skipped,
            "limit" => Self::Limit,
            "no-subject" => Self::NoSubject,
            "valid" | "unanswered" | "costs" | "parked" | "contested" | "failed" => Self::Kept,
            _ => Self::Other,
        }
    }
}

/// Is the review answered?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFile {
    Missing,
    /// It was written after the review.
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
    /// Reviewers report their findings as data, too, and each is followed until it is settled.
    pub findings: bool,
}

/// What happens at a stop whose review failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Let the agent go; the review stays due.
    Approve,
    /// Hold the agent and try again, twice; then let it go.
    Retry,
    /// Let the agent go, and start no review until a person asks for it.
    Park,
}

/// One review that must run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request {
    pub plan: String,
    pub review: Kind,
    pub task: Option<TaskId>,
    pub iteration: u32,
    pub model: String,
    pub progress: Progress,
    /// The tasks whose files the reviewer reads, if it reads several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// Must the reviewer report its findings as data? Then these were open before it,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<OpenLedger>,
    /// Do not start it earlier, because it has just failed.
    pub not_before: Millis,
    /// The intents of processes that died in the same review. If one of them left a finished
    /// review, that is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumes: Vec<Fence>,
}

/// What a reviewer is told of the rounds before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpenLedger {
    /// Each gets a status in its answer.
    pub open: Vec<Entry>,
    /// A person decided that these are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dismissed: Vec<Entry>,
    /// The number of the next new finding.
    pub next: usize,
}

/// How far a cycle is when one of its reviews starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Progress {
    /// How many reviews the cycle may have.
    pub max_reviews: u32,
    /// How many clean ones in a row there are.
    pub streak: u32,
    /// How many it had.
    pub done: u32,
}

impl Describe for Request {
    fn work(&self) -> Work {
        let what = match &self.task {
            Some(task) => format!("{} of task {task}", self.review.label()),
            None => self.review.label().into(),
        };
        Work {
            count: Some(Count {
                number: self.progress.done.saturating_add(1),
                of: self.progress.max_reviews,
            }),
            who: Some(quote(&self.model, 40)),
            more: Some(format!("streak {}", self.progress.streak)),
            ..Work::new(what)
        }
    }
}

impl Request {
    /// The name of the file that the reviewer is to write.
    pub fn file(&self) -> String {
        self.review.file(self.task.as_ref(), self.iteration)
    }

    /// The cycle that it belongs to.
    pub(super) fn key(&self) -> CycleKey {
        CycleKey {
            review: self.review,
            task: self.task.clone(),
        }
    }

    /// Is it the review that is due here, whatever its number?
    fn is_for(&self, plan: &str, key: &CycleKey) -> bool {
        self.plan == plan && self.review == key.review && self.task == key.task
    }
}

/// The result of a review.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outcome {
    pub result: Finding,
    pub took: Millis,
    /// In millionths of a dollar, if the reviewer's program reported it.
    pub cost: u64,
    #[serde(default, skip_serializing_if = "Saw::is_empty")]
    pub saw: Saw,
    /// Its findings, if it was asked for them and gave a complete answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// What a reviewer looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Saw {
    /// The contents of the files that it reviewed; `None` if they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Digest>,
    /// Those of them that changed while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// What else changed while it ran and is not a reviewer's to change: the plan's state, or
    /// branches and tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<String>,
}

impl Saw {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Outcome {
    /// Of a review about which nothing else is known.
    pub fn new(result: Finding, took: Millis, cost: u64) -> Self {
        Self {
            result,
            took,
            cost,
            saw: Saw::default(),
            report: None,
        }
    }
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
    /// The answer has no verdict: the review counts as not clean.
    Unsaid,
}

/// Why a review did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The reviewer's program was not found.
    NoProgram(String),
    /// It failed; the text is an excerpt of its output.
    Exit {
        status: String,
        said: String,
    },
    TimedOut {
        after: Millis,
    },
    /// It succeeded, but wrote no review.
    NoFile,
    /// We could not start it, or could not store its output.
    Fault(String),
    /// A person stopped or paused the machine while it ran.
    Cancelled,
}

impl HasEffects for Review {
    type Effect = Request;
    type Outcome = Outcome;
}

impl Machine for Review {
    const NAME: Name = Name::Review;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "init",          on: "verb",          from: &["none", "idle"], to: "due",
            when: "`plan init NAME`, and it has no state.json", does: "make its review due", remedy: "`mainspring plan accept` ends the reviews" },
        Arrow { rule: "advance-due",   on: "verb",          from: &["idle", "due", "answering"], to: "due",
            when: "`plan advance PHASE`, and a review follows it", does: "record the phase", remedy: "`mainspring plan accept` ends the reviews" },
        Arrow { rule: "advance-idle",  on: "verb",          from: &["idle", "due", "answering"], to: "idle",
            when: "`plan advance PHASE`, and no review follows it", does: "record the phase", remedy: "`mainspring plan route` says what comes next" },
        Arrow { rule: "continue",      on: "verb",          from: &["idle", "due", "answering"], to: SAME,
            when: "`plan advance continue-task`", does: "record the phase; what is due stays due", remedy: "" },
        Arrow { rule: "set",           on: "verb",          from: &["idle", "due", "answering"], to: SAME,
            when: "`plan set`", does: "set the field", remedy: "" },
        Arrow { rule: "restart",       on: "verb",          from: &["idle", "due", "answering"], to: "due",
            when: "`plan review restart`", does: "begin a fresh cycle", remedy: "`mainspring plan accept` ends it" },
        Arrow { rule: "accept",        on: "verb",          from: &["due", "answering"], to: "idle",
            when: "`plan accept`", does: "end the cycle, go on to the next phase", remedy: "`mainspring plan review restart` reviews again" },
        Arrow { rule: "accept-last",   on: "verb",          from: &["due", "answering"], to: "due",
            when: "`plan accept` for the last task", does: "end the cycle; all code comes next", remedy: "`mainspring plan accept` accepts that, too" },
        Arrow { rule: "answer",        on: "verb",          from: &["idle", "due", "answering"], to: SAME,
            when: "`plan answer ID`", does: "record the answer to a finding", remedy: "" },
        Arrow { rule: "adopt",         on: "verb",          from: &["idle", "due", "answering"], to: SAME,
            when: "`plan adopt`, or an agent's `plan route`", does: "give it to a session", remedy: "" },
        Arrow { rule: "review-now",    on: "verb",          from: &["due", "answering"], to: SAME,
            when: "`plan review --now`", does: "try a review that failed again", remedy: "" },
        Arrow { rule: "no-plan",       on: "stop",          from: &["none"], to: SAME,
            when: "no plan in .taskie/plans", does: "pass", remedy: "`mainspring plan init NAME` records one" },
        Arrow { rule: "not-ours",      on: "stop",          from: &["idle", "due", "answering"], to: SAME,
            when: "another session's plan, or nobody's among several", does: "pass, tell the person once", remedy: "`mainspring plan adopt` takes it over" },
        Arrow { rule: "valid",         on: "stop",          from: &["idle"], to: SAME,
            when: "no review due, ground rules kept", does: "pass", remedy: "`mainspring plan route` says what comes next" },
        Arrow { rule: "invalid",       on: "stop",          from: &["idle", "answering"], to: SAME,
            when: "no review to run, ground rules or state.json broken", does: "hold with every violation", remedy: "repair the plan's files" },
        Arrow { rule: "unchanged",     on: "stop",          from: &["idle", "answering"], to: SAME,
            when: "broken as when we last held for it", does: "pass, tell the person", remedy: "put the plan's files right" },
        Arrow { rule: "forgotten",     on: "stop",          from: &["idle"], to: SAME,
            when: "a task is done in tasks.md, and nobody said so", does: "hold once with the command", remedy: "`mainspring plan advance complete-task --task ID`" },
        Arrow { rule: "none-left",     on: "stop",          from: &["idle"], to: "due",
            when: "a task should follow, and none is left", does: "pass; all code comes next", remedy: "`mainspring plan accept` skips it" },
        Arrow { rule: "task-added",    on: "stop",          from: &["due", "answering"], to: "idle",
            when: "all code is due, and a task was added", does: "pass; the task comes first", remedy: "`mainspring plan review restart all-code` reviews before it" },
        Arrow { rule: "unrecorded",    on: "stop",          from: &["answering"], to: SAME,
            when: "the review is answered, and nobody recorded it", does: "hold once with the command", remedy: "stop again: the answer then counts as it is" },
        Arrow { rule: "unanswered",    on: "stop",          from: &["answering"], to: SAME,
            when: "the review has no answer", does: "pass, tell the person", remedy: "write the post-review file, or `mainspring plan accept`" },
        Arrow { rule: "review",        on: "stop",          from: &["due", "answering"], to: SAME,
            when: "a review is due, or the last one is answered", does: "start a reviewer", remedy: "`mainspring plan accept` ends the reviews" },
        Arrow { rule: "issues",        on: "stop",          from: &["due", "answering"], to: "answering",
            when: "the review found something, or gave no verdict", does: "hold: answer it", remedy: "answer it, or `mainspring plan accept`" },
        Arrow { rule: "clean",         on: "stop",          from: &["due", "answering"], to: "answering",
            when: "the review is clean, the one before was not", does: "hold: answer it", remedy: "two clean reviews in a row end the cycle" },
        Arrow { rule: "escalated",     on: "stop",          from: &["due", "answering"], to: "answering",
            when: "a finding was not fixed twice", does: "pass, ask the person", remedy: "`mainspring plan answer ID disputed` drops the finding, `mainspring plan accept` goes on" },
        Arrow { rule: "contested",     on: "stop",          from: &["due", "answering"], to: SAME,
            when: "a finding was not fixed twice, or disputed twice", does: "pass, wait for the person", remedy: "`mainspring plan answer ID disputed` drops the finding, `mainspring plan accept` goes on" },
        Arrow { rule: "passed",        on: "stop",          from: &["due", "answering"], to: "idle",
            when: CLEAN_IN_A_ROW, does: "pass to the next phase", remedy: "`continue-plan` goes on" },
        Arrow { rule: "passed-last",   on: "stop",          from: &["due", "answering"], to: "due",
            when: "two clean reviews of the last task", does: "pass; all code comes next", remedy: "`continue-plan`, or `mainspring plan advance complete`" },
        Arrow { rule: "skip",          on: "stop",          from: &["due", "answering"], to: "idle",
            when: "max_reviews is 0", does: "pass to the next phase", remedy: "`mainspring plan set max_reviews 8` reviews again" },
        Arrow { rule: "skip-last",     on: "stop",          from: &["due", "answering"], to: "due",
            when: "max_reviews is 0, no task is left", does: "pass; all code comes next", remedy: "`mainspring plan set max_reviews 8` reviews again" },
        Arrow { rule: "limit",         on: "stop",          from: &["due", "answering"], to: "due",
            when: "max_reviews are done", does: "pass, wait for the person", remedy: "`mainspring plan accept`, or `mainspring plan review restart`" },
        Arrow { rule: "costs",         on: "stop",          from: &["due", "answering"], to: "due",
            when: "the plan's reviews cost max_cost_usd", does: "pass, wait for the person", remedy: "raise `[review] max_cost_usd`" },
        Arrow { rule: "no-subject",    on: "stop",          from: &["due", "answering"], to: "due",
            when: "there is no task to review", does: "pass, tell the person", remedy: "name it in tasks.md or `mainspring plan set current_task ID`" },
        Arrow { rule: "background",    on: "stop",          from: &["due", "answering"], to: "due",
            when: "a sub-agent or workflow still runs", does: "pass", remedy: "the host wakes the agent when it ends" },
        Arrow { rule: "busy",          on: "stop",          from: &["due", "answering"], to: "due",
            when: "a reviewer is at work for another stop", does: "pass, tell the person", remedy: "stop again when it is back" },
        Arrow { rule: "parked",        on: "stop",          from: &["due", "answering"], to: "due",
            when: "it failed, and on_failure is park", does: "pass, tell the person", remedy: "`mainspring plan review --now`" },
        Arrow { rule: "failed",        on: "stop",          from: &["due", "answering"], to: "due",
            when: "the review did not happen", does: "pass, tell the person", remedy: "the note says why; if a reviewer ran, `.review-N.log` beside the plan has what it printed" },
        Arrow { rule: "retry",         on: "stop",          from: &["due", "answering"], to: "due",
            when: "it did not happen, tries are left", does: "hold: stop again", remedy: "stop again, or `mainspring plan accept`" },
        Arrow { rule: "invalid-due",   on: "stop",          from: &["due", "answering"], to: "due",
            when: "no review could run, ground rules broken", does: "hold with every violation", remedy: "repair the plan's files" },
        Arrow { rule: "unchanged-due", on: "stop",          from: &["due", "answering"], to: "due",
            when: "broken as when we last held for it", does: "pass, tell the person", remedy: "put the plan's files right" },
        Arrow { rule: "ask",           on: "prompt",        from: &["due", "answering"], to: SAME,
            when: "the plan waits for a person, and the agent has not heard of it", does: "tell the agent to ask", remedy: "`mainspring plan status` says what for" },
        Arrow { rule: "spoke",         on: "prompt",        from: &["idle", "due", "answering"], to: SAME,
            when: "a cycle had all its reviews, and a person speaks", does: "let it be entered anew", remedy: "" },
        Arrow { rule: "take",          on: "session_start", from: &["due", "answering"], to: SAME,
            when: "nobody's plan, and a new session", does: "give it to the session, tell it", remedy: "`mainspring plan accept`" },
        Arrow { rule: "leave",         on: "session_end",   from: &["idle", "due", "answering"], to: SAME,
            when: "the owner ends", does: "the plan is nobody's", remedy: "`mainspring plan adopt`" },
    ];

    const WAITS: &'static [(&'static str, Waits)] = &[
        ("limit", Waits::Limit),
        ("costs", Waits::Limit),
        ("failed", Waits::Failed),
        ("parked", Waits::Failed),
        ("unanswered", Waits::Question),
        ("no-subject", Waits::Question),
    ];

    type State = State;
    type Facts = Facts;

    fn label(state: &State) -> &'static str {
        match state {
            State::Nothing => "none",
            State::Bare(_) => "idle",
            State::Plan(plan) => plan.label(),
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        stop::on_stop(state, input)
    }

    fn on_start(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        session::on_start(state, input)
    }

    fn on_prompt(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        session::on_prompt(state, input)
    }

    fn on_end(state: &State, input: &Input<'_, Self>) -> Step<Self, Nothing> {
        session::on_end(state, input)
    }

    fn settle(state: State, settled: Settled) -> State {
        let State::Plan(mut plan) = state else {
            return state;
        };
        if let (Some(target), Settled::Released) = (plan.passing.take(), settled) {
            plan.go(&target);
            plan.follow_awaited();
        }
        State::Plan(plan)
    }

    fn reduce(input: &mut InputOf<Self>, reducer: Reducer) {
        if let Some((_, memory)) = input.state.known() {
            memory.reduce_texts(reducer);
        }
        for reply in &mut input.facts.replies {
            reducer.text(&mut reply.why);
        }
        if let EffectStatus::Done(_, outcome) = &mut input.effect_status
            && let Some(report) = &mut outcome.report
        {
            for found in &mut report.findings {
                reducer.text(&mut found.claim);
                reducer.text(&mut found.evidence);
            }
        }
        let ledgers = input.intents_mut();
        for ledger in ledgers.filter_map(|intent| intent.effect.ledger.as_mut()) {
            for entry in ledger.open.iter_mut().chain(&mut ledger.dismissed) {
                entry.reduce(reducer);
            }
        }
    }

    fn notice(asked: &Request, outcome: &Outcome) -> Option<String> {
        if outcome.took < LONG {
            return None;
        }
        let came = match outcome.result {
            Finding::Reviewed(Verdict::Pass) => "PASS",
            Finding::Reviewed(Verdict::Fail) => "FAIL",
            Finding::Reviewed(Verdict::Unsaid) => "no verdict",
            Finding::NotDone(_) => "it did not happen",
        };
        let what = asked.review.label();
        Some(format!(
            "The {what} of plan '{}' is over: {came}",
            asked.plan
        ))
    }

    fn summarize(outcome: &Outcome, receipt: &mut Receipt) {
        receipt.spend(outcome.cost);
        receipt.review(match outcome.result {
            Finding::Reviewed(Verdict::Pass) => Reviewed::Clean,
            Finding::Reviewed(Verdict::Fail | Verdict::Unsaid) => Reviewed::WithFindings,
            Finding::NotDone(_) => Reviewed::NotDone,
        });
    }
}
