//! Which of a settings file's handlers are ours.

use std::borrow::Cow;
use std::path::Path;

use mainspring_platform::program;
use serde_json::{Map, Value};

use crate::hosts::call::{self, HOOK, PROGRAM, SHARED};
use crate::hosts::files;
use crate::hosts::install::{Calls, Handler, Script};

/// What this handler is for; `None` if it is not ours.
pub(in crate::hosts) fn calls_of(fields: &Map<String, Value>) -> Option<Calls> {
    let words = called(fields);
    let (program, args) = words.split_first()?;
    let program = program::name(Path::new(program.as_ref()))?;
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    match (program, args.as_slice()) {
        (HOOK, []) | (PROGRAM, ["hook"] | ["hook", "--host", _]) => Some(Calls::Hook),
        (HOOK, [SHARED]) => Some(Calls::SharedHook),
        (PROGRAM, ["claim", "watch"]) => Some(Calls::Watch),
        (PROGRAM, ["compat", _, ..]) => Some(Calls::DropIn),
        _ => None,
    }
}

/// Does this handler run our program as a hook?
pub(in crate::hosts) fn is_ours(fields: &Map<String, Value>) -> bool {
    calls_of(fields).is_some_and(|calls| calls != Calls::DropIn)
}

/// Does it run our program in the place of a public script?
pub(in crate::hosts) fn is_drop_in(fields: &Map<String, Value>) -> bool {
    calls_of(fields) == Some(Calls::DropIn)
}

/// The public script that this handler runs.
pub(in crate::hosts) fn public_script(fields: &Map<String, Value>) -> Option<Script> {
    let words = called(fields);
    let of_word = |word: &Cow<'_, str>| {
        let path = word.to_lowercase();
        match files::name_in(&path) {
            "check-completion.sh" => Some(Script::Taskmaster),
            "agent-sync.sh" => Some(Script::AgentSync),
            "hydrate-tasks.py" => Some(Script::Fsm),
            "validate-ground-rules.sh" => Some(Script::Taskie),
            // Two of them have a script of this name.
            "stop-hook.sh" if path.contains("taskie") => Some(Script::Taskie),
            "stop-hook.sh" if path.contains("idle") => Some(Script::Idle),
            _ => None,
        }
    };
    words.iter().find_map(of_word)
}

pub(in crate::hosts) fn is_public_script(fields: &Map<String, Value>) -> bool {
    public_script(fields).is_some()
}

pub(in crate::hosts) fn handlers_of_drop_ins(root: &Map<String, Value>) -> Vec<Handler> {
    let all = handlers(root, is_drop_in).into_iter();
    all.filter_map(handler).collect()
}

/// Our handlers, and the one for the event before a tool by itself.
pub(in crate::hosts) fn without_guard(
    root: &Map<String, Value>,
    before_tool: &str,
) -> (Vec<Handler>, Option<Handler>) {
    let ours = handlers(root, is_ours).into_iter().filter_map(handler);
    let (mut guards, others): (Vec<_>, Vec<_>) = ours.partition(|one| one.event == before_tool);
    (others, guards.pop())
}

/// These handlers with their events' names, in the file's order.
pub(in crate::hosts) fn handlers(
    root: &Map<String, Value>,
    these: fn(&Map<String, Value>) -> bool,
) -> Vec<(&str, &Map<String, Value>)> {
    let events = root
        .get("hooks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut ours: Vec<(&str, &Map<String, Value>)> = events
        .flat_map(|(event, groups)| {
            let groups = groups.as_array().into_iter().flatten();
            let handlers = groups.flat_map(|group| match group.get("hooks") {
                Some(handlers) => handlers.as_array().map_or(&[][..], Vec::as_slice),
                None => std::slice::from_ref(group),
            });
            let ours = handlers
                .filter_map(Value::as_object)
                .filter(|one| these(one));
            ours.map(|handler| (event.as_str(), handler))
        })
        .collect();
    ours.sort_by_key(|(event, _)| *event);
    ours
}

pub(in crate::hosts) fn handler((event, fields): (&str, &Map<String, Value>)) -> Option<Handler> {
    let mut words = called(fields).into_iter().map(Cow::into_owned);
    let listed = fields.get("args").and_then(Value::as_array);
    Some(Handler {
        event: event.to_owned(),
        calls: calls_of(fields)?,
        program: words.next().unwrap_or_default().into(),
        args: words.collect(),
        line: match listed {
            Some(_) => None,
            None => fields
                .get("command")
                .and_then(Value::as_str)
                .map(str::to_owned),
        },
        needs_list: listed.is_some_and(|args| !args.is_empty()),
        timeout: fields
            .get("timeout")
            .or_else(|| fields.get("timeoutSec"))
            .and_then(Value::as_u64),
    })
}

/// The program and its arguments, from an argument list or from a command line.
fn called(fields: &Map<String, Value>) -> Vec<Cow<'_, str>> {
    let command = fields.get("command").or_else(|| fields.get("bash"));
    let Some(command) = command.and_then(Value::as_str) else {
        return Vec::new();
    };
    match fields.get("args").and_then(Value::as_array) {
        Some(args) => {
            let args = args.iter().filter_map(Value::as_str);
            std::iter::once(command)
                .chain(args)
                .map(Cow::Borrowed)
                .collect()
        }
        None => call::words(command).into_iter().map(Cow::Owned).collect(),
    }
}
