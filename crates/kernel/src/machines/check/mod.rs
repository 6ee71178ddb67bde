//! `check`: no stop while a check that a person trusted is red over this very tree.
//!
//! A check is a command, such as the tests. Its result is kept under a key: a digest of the command
//! and of everything that it depends on. At a stop the shell first looks at the keys. A check that
//! passed under the same key need not run again; the others run, side by side. A check that failed
//! holds the agent. One that could not run, or that passed at the second try, lets it go, and the
//! person is told.
//!
//! After red, per check and tree, only a run makes green: no older pass counts, and a run that does
//! not come to its end is red again. Until it is green, no review and no hand-off starts.

pub mod messages;
pub mod results;
pub mod verbs;

mod stop;

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use results::{Failure, Kept, Looked, Pass, Ran, Results, Unproved, Verdict};

use super::{InputOf, Name};
use crate::at_work::{Describe, Work};
use crate::effect::{EffectStatus, Fence, HasEffects};
use crate::event::Chain;
use crate::ids::{Digest, Millis};
use crate::machine::{ANY, Arrow, Input, Machine, Nothing, OnStop, SAME, Step, Waits};
use crate::reduce::Reducer;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Check;

/// The results of all checks of the project, and what is remembered of this session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    pub results: Results,
    pub memory: Memory,
}

/// What is remembered of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Memory {
    pub stage: Stage,
    /// How often a stop found something red since the user's last prompt.
    pub reds: u32,
    /// The checks that failed at the last stop, and how often in a row for the same reason.
    pub streaks: Vec<Streak>,
    /// The trees that were red when a stop looked at them. Each is due until it is green, wherever
    /// the agent stops: another worktree would be the way past every check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red_in: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing is red.
    #[default]
    Quiet,
    /// A stop passed while a sub-agent worked: the next one looks, whatever its turn did.
    Owed,
    /// The last stop was held.
    Red,
    /// The last stop was red and passed, because there were too many.
    GaveUp,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Streak {
    pub check: String,
    pub reason: Digest,
    pub times: u32,
}

/// What the shell observed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    /// The checks that a person trusted, in the order of their file.
    pub checks: Vec<Defined>,
    /// What happens at this stop besides the stop itself.
    pub occasions: Vec<Occasion>,
    /// The folder of the tree that the agent stops in.
    #[serde(default)]
    pub tree: String,
    pub activity: Activity,
    /// The number of reds since a prompt at which the agent is let go; 0 for never.
    pub max: u32,
    /// How long this stop may still take.
    pub left: Millis,
    /// A person's command, and no host, asks for these, whatever has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Vec<String>>,
}

/// A check, as far as decisions need it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Defined {
    pub name: String,
    pub when: Vec<Occasion>,
    pub timeout: Millis,
    /// How often a check that failed is run again on the same tree.
    pub retries: u32,
}

/// When a check must be green.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// The agent stops after a turn in which it used tools.
    Stop,
    /// A review starts.
    Review,
    /// A task of a plan is completed.
    Complete,
    /// A pull request is opened.
    Handoff,
}

impl Occasion {
    pub const ALL: [Self; 4] = [Self::Stop, Self::Review, Self::Complete, Self::Handoff];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Review => "review",
            Self::Complete => "complete",
            Self::Handoff => "handoff",
        }
    }
}

/// Did the agent use a tool since the user's last prompt?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    Tools,
    NoTools,
    /// The transcript does not tell, so it may have.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Take the keys of these checks. It changes nothing.
    Look {
        checks: Vec<String>,
        /// Other trees whose keys are taken, too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// Wait first until this run of another process is over.
        after: Option<Fence>,
    },
    Run(Run),
}

/// The checks that must run, and what was found out about the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Run {
    pub checks: Vec<Request>,
    pub pinned: Vec<Pinned>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request {
    pub name: String,
    /// Its key when it was looked at.
    pub key: Digest,
    pub timeout: Millis,
    pub retries: u32,
    /// How long it took the last time.
    pub last: Option<Millis>,
    /// Its last run failed under this key: if it passes now, it is flaky.
    pub failed: bool,
    /// The tree, if it is not the one that the agent stops in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// A check that is not run, because files that a person pinned have changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pinned {
    pub name: String,
    pub files: Vec<String>,
    /// The tree, if it is not the one that the agent stops in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Looked(Vec<Looked>),
    Ran(Vec<Ran>),
    /// Neither was possible; the text says why.
    Fault(String),
}

impl Describe for Effect {
    fn work(&self) -> Work {
        match self {
            Self::Look { .. } => Work::new("taking the keys of the checks"),
            Self::Run(run) => {
                let names: Vec<&str> = run.checks.iter().map(|one| one.name.as_str()).collect();
                // They run side by side: the longest tells how long all of them may take.
                let last = run.checks.iter().filter_map(|one| one.last).max();
                Work {
                    more: last.map(|last| format!("last time {}", last.in_words())),
                    ..Work::new(names.join(", "))
                }
            }
        }
    }
}

impl HasEffects for Check {
    type Effect = Effect;
    type Outcome = Outcome;

    fn only_looks(effect: &Effect) -> bool {
        matches!(effect, Effect::Look { .. })
    }
}

impl Machine for Check {
    const NAME: Name = Name::Check;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "idle",       on: "stop",        from: &["quiet", "red", "gave_up"], to: SAME,
            when: "the turn used no tool, and nothing is handed over", does: "pass", remedy: "`mainspring check run` runs them" },
        Arrow { rule: "background", on: "stop",        from: ANY, to: "owed",
            when: "a sub-agent or workflow still runs", does: "pass", remedy: "the host wakes the agent when it ends" },
        Arrow { rule: "look",       on: "stop",        from: ANY, to: SAME,
            when: "a check is due", does: "take its key", remedy: "" },
        Arrow { rule: "wait",       on: "stop",        from: ANY, to: SAME,
            when: "checks run for another stop here", does: "wait for them", remedy: "`mainspring status` shows them" },
        Arrow { rule: "busy",       on: "stop",        from: ANY, to: SAME,
            when: "they still run, and no time is left", does: "hold: stop again", remedy: "stop again when they are back" },
        Arrow { rule: "run",        on: "stop",        from: ANY, to: SAME,
            when: "no pass under this key, or red since", does: "run it", remedy: "`mainspring stop check` ends it" },
        Arrow { rule: "green",      on: "stop",        from: ANY, to: "quiet",
            when: "every check that is due has passed on this tree", does: "pass", remedy: "" },
        Arrow { rule: "unsure",     on: "stop",        from: ANY, to: "quiet",
            when: "none failed, but one could not run or is flaky", does: "pass, tell the person", remedy: "`mainspring check log` shows its output" },
        Arrow { rule: "unproved",   on: "stop",        from: ANY, to: "quiet",
            when: "the same, of a check that was red and has not passed since, where something is handed over", does: "pass, tell the person; nothing is handed over", remedy: "make it pass; `mainspring check run` runs it" },
        Arrow { rule: "red",        on: "stop",        from: ANY, to: "red",
            when: "a check failed, or hangs, or was red and did not come to its end", does: "hold with the lines that matter", remedy: "make it pass; `mainspring check log` shows its output" },
        Arrow { rule: "pinned",     on: "stop",        from: ANY, to: "red",
            when: "a pinned file is not as it was trusted", does: "hold: put it back", remedy: "put it back, or `mainspring trust` accepts it" },
        Arrow { rule: "gave-up",    on: "stop",        from: ANY, to: "gave_up",
            when: "red for `[checks] max` times since the prompt", does: "pass, tell the person; nothing is handed over", remedy: "say what to do next: the count starts again at the next prompt" },
        Arrow { rule: "later",      on: "stop",        from: ANY, to: SAME,
            when: "no time is left for all of them", does: "hold: the rest runs at the next stop", remedy: "stop again" },
        Arrow { rule: "fault",      on: "stop",        from: ANY, to: "quiet",
            when: "the keys could not be taken", does: "pass, tell the person", remedy: "`mainspring check` shows why" },
        Arrow { rule: "blind",      on: "stop",        from: ANY, to: "red",
            when: "the keys could not be taken, and a check was red", does: "hold: put it back", remedy: "`mainspring check` shows why; make it pass" },
        Arrow { rule: "leave",      on: "session_end", from: ANY, to: "quiet",
            when: "the session ends", does: "forget it", remedy: "" },
    ];

    const WAITS: &'static [(&'static str, Waits)] = &[
        ("gave-up", Waits::Limit),
        ("unsure", Waits::Failed),
        ("fault", Waits::Failed),
    ];

    type State = State;
    type Facts = Facts;

    fn label(state: &State) -> &'static str {
        match state.memory.stage {
            Stage::Quiet => "quiet",
            Stage::Owed => "owed",
            Stage::Red => "red",
            Stage::GaveUp => "gave_up",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        stop::on_stop(state, input)
    }

    fn on_end(state: &State, _: &Input<'_, Self>) -> Step<Self, Nothing> {
        let left = State {
            memory: Memory::default(),
            ..state.clone()
        };
        if state.memory == left.memory {
            return Step::ignore(state, Nothing);
        }
        Step::take("leave", left, Nothing)
    }

    /// What a check printed is not ours.
    fn reduce(input: &mut InputOf<Self>, reducer: Reducer) {
        if let EffectStatus::Done(_, Outcome::Ran(all)) = &mut input.effect_status {
            for ran in all {
                if let Some(failure) = ran.verdict.failure_mut() {
                    reducer.text(&mut failure.said);
                }
            }
        }
    }
}

impl Memory {
    /// As the first stop after a prompt finds it: the reds are counted anew.
    fn opened(&self, chain: Chain) -> Self {
        let mut memory = self.clone();
        if chain == Chain::First {
            memory.reds = 0;
        }
        memory
    }

    /// Counts how often in a row each check failed for the same reason. A check that did not run
    /// now keeps its count.
    fn follow(&mut self, ran: &[Ran]) {
        let failed = |one: &Ran| one.verdict.failure().is_some();
        for one in ran {
            // Of several trees, the first red one counts.
            let same = || ran.iter().filter(|other| other.name == one.name);
            let counts = same().find(|other| failed(other));
            if counts.or_else(|| same().next()) != Some(one) {
                continue;
            }
            let before = self.streaks.iter().position(|kept| kept.check == one.name);
            let before = before.map(|at| self.streaks.swap_remove(at));
            if let Some(failure) = one.verdict.failure() {
                let same = before.filter(|kept| kept.reason == failure.reason);
                self.streaks.push(Streak {
                    check: one.name.clone(),
                    reason: failure.reason.clone(),
                    times: same.map_or(1, |kept| kept.times.saturating_add(1)),
                });
            }
        }
        self.streaks.sort_by(|a, b| a.check.cmp(&b.check));
    }

    fn times(&self, check: &str) -> u32 {
        let streak = self.streaks.iter().find(|kept| kept.check == check);
        streak.map_or(0, |kept| kept.times)
    }
}
