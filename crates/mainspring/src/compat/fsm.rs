//! Replaces `hydrate-tasks.py`: exits with 0 and `{"continue": true}`, or with 1 and the errors
//! on stderr; what it does is on stderr, too. It reads the script's three variables, as the
//! machine itself does.

use std::ffi::OsString;

use mainspring_kernel::event::Speaker;
use mainspring_kernel::machines::tasks::check::Problem;
use mainspring_kernel::machines::tasks::messages;
use mainspring_kernel::machines::tasks::task_list::{Maker, TaskList};
use mainspring_kernel::{Answer, Decision, Kind, Name};
use mainspring_store::ShownPath as _;
use serde_json::Value;

use super::{Reply, stop};
use crate::env::Environment;
use crate::env::name::{FSM_PLUGINS, FSM_TASKS, FSM_USER_SKILLS};
use crate::hook::decide_among;
use crate::hook::input::Input;
use crate::hosts::task_files::list::ClientList;
use crate::hosts::{self, DecodeAs, Payload};
use crate::machines::tasks;

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let mut log = Log::default();
    match hydrate(env, input, &mut log) {
        Ok(()) => Reply {
            stdout: super::spaced(&[("continue", true.into())]),
            stderr: log.0.join("\n"),
            code: 0,
        },
        Err(cause) => {
            log.line(format!("ERROR: {cause}"));
            Reply {
                stdout: String::new(),
                stderr: log.0.join("\n"),
                code: 1,
            }
        }
    }
}

/// What the script does, a line each.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn line(&mut self, text: impl AsRef<str>) {
        self.0.push(format!("[fsm] {}", text.as_ref()));
    }
}

fn hydrate(env: &Environment, input: Input, log: &mut Log) -> Result<(), String> {
    let payload = read(env, input)?;
    absolute_roots(env)?;
    let Some(skill) = skill(&payload) else {
        log.line("This is no successful call of a skill: no task was changed");
        return Ok(());
    };
    log.line(format!("Processing skill: {skill}"));
    if payload.event.speaker == Speaker::Subagent {
        log.line("A sub-agent invoked it: the agent's own list stays as it is");
        return Ok(());
    }
    let list = || tasks::list_folder(env, &payload).and_then(|folder| ClientList::read(&folder));
    let before = list().map(|list| list.task_list());
    let answer = decide_among(Name::Tasks, env, &payload, payload.event.session.as_ref())
        .map_err(|trouble| trouble.to_string())?;
    let place = tasks::place(env, &payload);
    if let Some(path) = &place {
        log.line(format!("Found fsm.json: {}", path.shown()));
    }
    if let Some(cause) = refused(&answer) {
        // A record keeps only the first of many; the script tells all of them.
        let all = place.filter(|_| messages::is_invalid(&cause));
        let all = all.and_then(|path| tasks::problems(&path));
        return Err(all.map_or(cause, |all| {
            let all: Vec<Problem> = all.into_iter().map(Problem::without_id).collect();
            messages::invalid(&all, 0)
        }));
    }
    for note in &answer.notes {
        log.line(&note.text);
    }
    match (place, before, list().map(|list| list.task_list())) {
        (None, ..) => log.line("No fsm.json found: there are no tasks to lay out"),
        (Some(_), Ok(before), Ok(after)) => changes(&before, &after, skill, log),
        (Some(_), Err(trouble), _) | (_, _, Err(trouble)) => return Err(trouble.to_string()),
    }
    Ok(())
}

/// The script is registered for skills only, and its payload need not say so.
fn read(env: &Environment, input: Input) -> Result<Payload, String> {
    let invalid = |problem: &str| format!("Invalid JSON input: {problem}");
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err(invalid("it is too large")),
        Input::Unreadable(problem) => return Err(invalid(&problem)),
    };
    let fields: Value =
        mainspring_json::read(&bytes).map_err(|problem| invalid(&problem.to_string()))?;
    if !fields.is_object() {
        return Err(invalid("it is not an object"));
    }
    let mut payload = hosts::decode(env, bytes, DecodeAs::Skill, None)
        .map_err(|problem| invalid(&problem.to_string()))?;
    let named = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let missing = |field: &str| Err(format!("Missing required field: {field}"));
    if payload.event.session.is_none() {
        return missing("session_id");
    }
    // A command that a person typed has its name elsewhere.
    match payload.event.kind {
        Kind::Expansion { .. } if !named(&fields["command_name"]) => {
            return missing("command_name");
        }
        Kind::AfterTool { .. } if !named(&fields["tool_response"]["commandName"]) => {
            return missing("tool_response.commandName");
        }
        _ => {}
    }
    payload.cwd = payload.cwd.or_else(stop::own_directory);
    Ok(payload)
}

fn skill(payload: &Payload) -> Option<&str> {
    match &payload.event.kind {
        Kind::AfterTool { skill, .. } => skill.as_deref(),
        Kind::Expansion { command } => Some(command),
        _ => None,
    }
}

/// A relative root would depend on the folder that the host runs us in. The real one must not be
/// used in its place: somebody asked for another.
fn absolute_roots(env: &Environment) -> Result<(), String> {
    for name in [FSM_TASKS, FSM_PLUGINS, FSM_USER_SKILLS] {
        if let (Some(value), None) = (env.var_os(name), env.dir(name)) {
            return Err(format!(
                "{name} is {}, a relative path: give it from / on. No task was changed",
                value.display()
            ));
        }
    }
    Ok(())
}

/// Why the list was not laid out; `None` if it was, or if there is none.
fn refused(answer: &Answer) -> Option<String> {
    let refused = match &answer.decision {
        Decision::AfterTool { object, .. } => object.text(),
        // A skill that a person typed cannot be refused, so only the notes say that it failed.
        _ => answer
            .notes
            .iter()
            .find(|note| messages::is_refusal(&note.text))
            .map_or_else(String::new, |note| note.text.clone()),
    };
    (!refused.is_empty()).then(|| messages::cause(&refused).to_owned())
}

/// The tasks of skills that went, and those that came.
fn changes(before: &TaskList, after: &TaskList, skill: &str, log: &mut Log) {
    let ours = Maker::Skill(skill.to_owned());
    let stays = |id: u64| {
        after
            .tasks
            .iter()
            .any(|task| task.id == id && task.maker != ours)
    };
    for task in before.tasks.iter().filter(|task| task.maker != Maker::Hand) {
        if !stays(task.id) {
            log.line(format!("Deleted FSM task: {}.json", task.id));
        }
    }
    let mut created = 0;
    for task in after.tasks.iter().filter(|task| task.maker == ours) {
        created += 1;
        log.line(format!("Created task: {}.json", task.id));
    }
    log.line(format!("Hydrated {created} tasks"));
}
