//! `tasks`: when a skill is invoked, its task list is laid out.
//!
//! A skill may have a list of tasks, `fsm.json`, beside its text. When the skill is invoked, by the
//! agent or by a person who types `/name`, the list goes into the client's own task list, all of it
//! or nothing. It replaces the tasks that skills laid out before; the tasks of the agent or a
//! person stay.
//!
//! [`draft`] is the file as it is, [`check`] says whether it is a list, [`task_list`] is the
//! client's list and the layout, [`advice`] is for authors, [`messages`] is for the agent.

pub mod advice;
pub mod check;
pub mod draft;
pub mod messages;
pub mod task_list;
#[cfg(test)]
mod tests;
pub mod text;
pub mod verbs;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use self::check::{List, Problem};
use self::draft::Status;
use self::task_list::{Maker, Reset, TaskList};
use super::{InputOf, Name};
use crate::data::Never;
use crate::effect::HasEffects;
use crate::machine::{
    ANY, AfterTool, Arrow, BeforeTool, Input, Machine, Obeys, OnContext, SAME, Step,
};
use crate::reduce::Reducer;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tasks;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// The event does not concern a skill with a task list.
    Nothing,
    Invoked(Invoked),
    /// A tool is about to read a skill's own files, and the guard is on.
    Peek {
        file: String,
    },
}

/// A skill with a task list was invoked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Invoked {
    /// The client's name for it, with its plugin.
    pub skill: String,
    pub offer: Offer,
    #[serde(default)]
    pub reset: Reset,
    pub guard: Guard,
    pub tools: TaskTools,
    /// Files in the client's list that are not tasks. They are left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strangers: Vec<String>,
}

/// What the skill lays out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    List(List),
    /// The first problems, and how many more there are.
    Invalid {
        problems: Vec<Problem>,
        more: usize,
    },
    /// The skill's list or the client's list could not be read; the text says why.
    Unavailable(String),
}

impl Offer {
    pub fn of(checked: Result<List, Vec<Problem>>) -> Self {
        match checked {
            Ok(list) => Self::List(list),
            Err(mut problems) => {
                let more = problems.len().saturating_sub(messages::MOST_PROBLEMS);
                problems.truncate(messages::MOST_PROBLEMS);
                Self::Invalid { problems, more }
            }
        }
    }
}

/// May a layout discard tasks that are in progress?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    #[default]
    Off,
    Active,
}

/// Does the agent see the client's list by itself?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskTools {
    Shown,
    /// The task tools are off, or nobody knows: the agent gets the task list as text.
    Unknown,
}

impl HasEffects for Tasks {
    type Effect = Never;
    type Outcome = Never;
}

impl Machine for Tasks {
    const NAME: Name = Name::Tasks;
    const OBEYS: Obeys = Obeys::OrdersThatNameIt;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "start",        on: "verb",                  from: ANY, to: SAME,
            when: "`tasks start ID`, and it waits for nothing", does: "mark it in progress", remedy: "`mainspring tasks next` shows what can be started" },
        Arrow { rule: "done",         on: "verb",                  from: ANY, to: SAME,
            when: "`tasks done ID`", does: "mark it completed", remedy: "`mainspring tasks start ID` takes it up again" },
        Arrow { rule: "note",         on: "verb",                  from: ANY, to: SAME,
            when: "`tasks note ID TEXT`", does: "add the note to it", remedy: "" },
        Arrow { rule: "add",          on: "verb",                  from: ANY, to: SAME,
            when: "`tasks add SUBJECT`", does: "add a task that no skill replaces", remedy: "" },
        Arrow { rule: "unavailable",  on: "after_tool, expansion", from: ANY, to: SAME,
            when: "a list cannot be read", does: "change nothing, tell agent and person", remedy: "repair what the message names, and invoke it again" },
        Arrow { rule: "invalid",      on: "after_tool, expansion", from: ANY, to: SAME,
            when: "the list has faults", does: "change nothing, tell all of them", remedy: "`mainspring tasks validate` the skill's fsm.json" },
        Arrow { rule: "exhausted",    on: "after_tool, expansion", from: ANY, to: SAME,
            when: "no ids are left", does: "change nothing, tell agent and person", remedy: "remove the file with the huge number, or its high-water mark" },
        Arrow { rule: "guarded",      on: "after_tool, expansion", from: &["laid-out"], to: SAME,
            when: "guard on, a task in progress would go", does: "change nothing, name the tasks", remedy: "finish the tasks, or turn `guard_active` off" },
        Arrow { rule: "lay-out",      on: "after_tool, expansion", from: &["bare"], to: "laid-out",
            when: "no skill's tasks yet", does: "lay the list out", remedy: "invoke another skill to replace it" },
        Arrow { rule: "reset",        on: "after_tool, expansion", from: &["laid-out"], to: "laid-out",
            when: "skills' tasks are there", does: "replace them", remedy: "`reset = \"skill\"` keeps other skills' tasks" },
        Arrow { rule: "empty",        on: "after_tool, expansion", from: ANY, to: "bare",
            when: "the list has no tasks", does: "discard skills' tasks", remedy: "give the skill's fsm.json a task" },
        Arrow { rule: "empty-beside", on: "after_tool, expansion", from: &["laid-out"], to: SAME,
            when: "the list has no tasks, and other skills' stay", does: "discard the tasks of this skill", remedy: "give the skill's fsm.json a task" },
        Arrow { rule: "peek",         on: "before_tool",           from: ANY, to: SAME,
            when: "guard on, a skill's files are read", does: "deny", remedy: "FSM_BYPASS=1 lifts the guard" },
    ];

    type State = TaskList;
    type Facts = Facts;

    fn label(state: &TaskList) -> &'static str {
        let of_a_skill = |entry: &task_list::Entry| entry.maker != Maker::Hand;
        if state.tasks.iter().any(of_a_skill) {
            "laid-out"
        } else {
            "bare"
        }
    }

    fn on_expansion(state: &TaskList, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        let Facts::Invoked(invoked) = input.facts else {
            return Step::ignore(state, OnContext::Pass);
        };
        // A refusal here would erase what the person typed, so the agent is told instead.
        invoke(state, invoked).step(invoked, |word| match word {
            Word::Nothing => OnContext::Pass,
            Word::Told(text) | Word::Refused(text) => OnContext::Tell(text),
        })
    }

    fn after_tool(state: &TaskList, input: &Input<'_, Self>) -> Step<Self, AfterTool> {
        let Facts::Invoked(invoked) = input.facts else {
            return Step::ignore(state, AfterTool::Pass);
        };
        invoke(state, invoked).step(invoked, |word| match word {
            Word::Nothing => AfterTool::Pass,
            Word::Told(text) => AfterTool::Tell(text),
            Word::Refused(text) => AfterTool::Object(text),
        })
    }

    fn before_tool(state: &TaskList, input: &Input<'_, Self>) -> Step<Self, BeforeTool> {
        let Facts::Peek { file } = input.facts else {
            return Step::ignore(state, BeforeTool::Pass);
        };
        let deny = alloc::format!(
            "{} belongs to the skill's machinery: its tasks are laid out for you when the skill \
             is invoked. Work from the skill's instructions and the task list.",
            crate::hidden::name(file)
        );
        Step::take("peek", state.clone(), BeforeTool::Deny(deny))
    }

    fn reduce(input: &mut InputOf<Self>, reducer: Reducer) {
        let Facts::Invoked(invoked) = &mut input.facts else {
            return;
        };
        match &mut invoked.offer {
            Offer::List(list) => {
                for item in &mut list.items {
                    reducer.text(&mut item.subject);
                }
            }
            Offer::Invalid { problems, .. } => {
                for problem in problems {
                    problem.fault.reduce(reducer);
                }
            }
            Offer::Unavailable(_) => {}
        }
    }
}

/// The result of an invocation, whichever event brought it.
struct Invocation {
    rule: &'static str,
    after: TaskList,
    word: Word,
}

enum Word {
    Nothing,
    Told(String),
    /// Nothing was changed; the text says why.
    Refused(String),
}

fn invoke(before: &TaskList, invoked: &Invoked) -> Invocation {
    let refuse = |rule, cause: &str| Invocation {
        rule,
        after: before.clone(),
        word: Word::Refused(messages::refused(&invoked.skill, cause)),
    };
    let list = match &invoked.offer {
        Offer::Unavailable(cause) => return refuse("unavailable", cause),
        Offer::Invalid { problems, more } => {
            return refuse("invalid", &messages::invalid(problems, *more));
        }
        Offer::List(list) => list,
    };
    let active: Vec<u64> = match invoked.guard {
        Guard::Off => Vec::new(),
        Guard::Active => before
            .discarded(&invoked.skill, invoked.reset)
            .filter(|entry| entry.status == Status::InProgress)
            .map(|entry| entry.id)
            .collect(),
    };
    if !active.is_empty() {
        return refuse("guarded", &messages::guarded(&active));
    }
    let Ok(after) = before.lay_out(list, &invoked.skill, invoked.reset) else {
        let cause = "A task or the high-water mark there has a number so large that none is left.";
        return refuse("exhausted", cause);
    };
    let rule = match (Tasks::label(before), Tasks::label(&after)) {
        (_, "bare") => "empty",
        (_, _) if list.items.is_empty() => "empty-beside",
        ("bare", _) => "lay-out",
        (_, _) => "reset",
    };
    let word = match invoked.tools {
        TaskTools::Shown => Word::Nothing,
        TaskTools::Unknown => Word::Told(messages::laid_out(&invoked.skill, list, &after)),
    };
    Invocation { rule, after, word }
}

impl Invocation {
    fn step<V>(self, invoked: &Invoked, say: impl FnOnce(Word) -> V) -> Step<Tasks, V> {
        let mut notes: Vec<String> = invoked
            .strangers
            .iter()
            .map(|file| crate::hidden::name(file))
            .map(|file| alloc::format!("left alone, because it is not a task: {file}"))
            .collect();
        // The skill's list was not laid out, so the person is told too.
        if let Word::Refused(text) = &self.word {
            notes.insert(0, text.clone());
        }
        let mut step = Step::take(self.rule, self.after, say(self.word));
        step.notes = notes;
        step
    }
}
