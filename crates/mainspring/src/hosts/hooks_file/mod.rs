//! A file of hooks in the shape that most hosts copied from Claude Code: for each event a list of
//! groups, and in each group a list of handlers. One host leaves the groups out.

pub(super) mod handlers;

use std::path::Path;

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Map, Value, json};

use self::handlers::{handler, handlers, handlers_of_drop_ins, is_drop_in, is_ours, without_guard};
use super::call::Caller;
use super::install::{Calls, Found, Handler, Hooks, Wish};
use super::jsonc;

/// What differs between the files.
#[derive(Debug)]
pub(super) struct HooksFile {
    /// The events to register, each with a pattern for tools and with how many seconds the host
    /// is to wait for us.
    pub(super) events: &'static [(&'static str, Option<&'static str>, u64)],
    /// The event before a tool.
    pub(super) before_tool: &'static str,
    pub(super) shape: Shape,
    /// How many units of the host's are a second.
    pub(super) units: u64,
}

/// How a handler is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// As Claude Code has it.
    Groups,
    /// Handlers without groups, with the host's own field names, in a file with a version.
    Flat,
}

/// The installation of a host whose settings are such a file.
macro_rules! installation {
    ($file:path, $hooks:expr, $trial:path) => {{
        use $crate::hosts::hooks_file;
        use $crate::hosts::install::{Installation, Trial};
        Installation {
            file: $file,
            look: |text| hooks_file::look(&$hooks, text),
            register: |text, wish| hooks_file::register(&$hooks, text, wish),
            register_drop_in: None,
            unregister: |text, _| hooks_file::unregister(text),
            wanted: |caller| hooks_file::wanted(&$hooks, caller),
            plugin: None,
            variables: &[],
            has_status_line: false,
            own_files: |_| Vec::new(),
            trial: Trial {
                event: hooks_file::longest(&$hooks),
                stop: $trial,
                holds: hooks_file::holds,
            },
        }
    }};
}
pub(super) use installation;

/// The event that the host waits longest for: the stop.
pub(super) const fn longest(file: &HooksFile) -> &'static str {
    let mut stop = file.events[0];
    let mut at = 1;
    while at < file.events.len() {
        if file.events[at].2 > stop.2 {
            stop = file.events[at];
        }
        at += 1;
    }
    stop.0
}

/// What every host has in the first stop of a session.
pub(super) fn trial_stop(event: &str, project: &Path) -> Value {
    json!({
        "session_id": "mainspring-trial",
        "transcript_path": null,
        "cwd": project.to_str(),
        "hook_event_name": event,
        "stop_hook_active": false,
        "last_assistant_message": "",
    })
}

pub(super) fn holds(answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    answer["decision"] == "block"
}

/// A handler as the file has it, with its timeout in seconds.
fn in_seconds(file: &HooksFile, mut handler: Handler) -> Handler {
    handler.timeout = handler.timeout.map(|timeout| timeout / file.units);
    handler
}

pub(super) fn look(file: &HooksFile, text: &str) -> Result<Found, String> {
    let root = jsonc::read(text)?;
    let in_seconds = |one: Handler| in_seconds(file, one);
    let (ours, guard) = without_guard(&root, file.before_tool);
    let ours: Vec<Handler> = ours.into_iter().map(in_seconds).collect();
    let stop = longest(file);
    let at_stop = ours
        .iter()
        .filter(|one| one.event == stop && one.calls != Calls::Watch);
    let off = root.get(HOOKS_OFF).and_then(Value::as_bool) == Some(true);
    Ok(Found {
        stop_timeout: at_stop.filter_map(|one| one.timeout).min(),
        handlers: ours,
        guard: guard.map(in_seconds),
        drop_ins: handlers_of_drop_ins(&root),
        hooks_off: off.then_some(HOOKS_OFF),
        empty: is_empty(&root),
        ..Found::default()
    })
}

const HOOKS_OFF: &str = "disableAllHooks";

/// Is there nothing but what every such file has?
fn is_empty(root: &Map<String, Value>) -> bool {
    root.keys().all(|key| key == "version")
}

pub(super) fn register(file: &HooksFile, text: &str, wish: &Wish<'_>) -> Result<String, String> {
    let mut wanted = match wish.hooks {
        Hooks::File => hooks(file, wish.caller),
        Hooks::Plugin => Map::new(),
    };
    if wish.guard {
        let guard = hook(file, wish.caller, None, GUARD_TIMEOUT);
        wanted.insert(file.before_tool.into(), guard);
    }
    let have = jsonc::read(text)?;
    let mut want = Map::new();
    want.insert("hooks".into(), Value::Object(wanted.clone()));
    if handlers(&have, is_ours) == handlers(&want, is_ours) {
        return Ok(text.to_owned());
    }
    jsonc::edit(text, |root| {
        take_out(root, is_ours);
        if file.shape == Shape::Flat && jsonc::member(root, "version").is_none() {
            root.append("version", jsonc::input(&json!(1)));
        }
        put_in(root, &wanted)
    })
}

pub(super) fn unregister(text: &str) -> Result<String, String> {
    jsonc::edit(text, |root| {
        take_out(root, |fields| is_ours(fields) || is_drop_in(fields));
        Ok(())
    })
}

pub(super) fn wanted(file: &HooksFile, caller: &Caller) -> Vec<Handler> {
    let mut root = Map::new();
    root.insert("hooks".into(), Value::Object(hooks(file, caller)));
    let all = handlers(&root, is_ours).into_iter();
    all.filter_map(handler)
        .map(|one| in_seconds(file, one))
        .collect()
}

/// The hooks to register.
fn hooks(file: &HooksFile, caller: &Caller) -> Map<String, Value> {
    let hooks = file.events.iter().map(|(event, matcher, seconds)| {
        let groups = hook(file, caller, *matcher, *seconds);
        ((*event).to_owned(), groups)
    });
    hooks.collect()
}

/// How many seconds a host is to wait for us before a tool.
pub(super) const GUARD_TIMEOUT: u64 = 15;

/// What an event's list gets.
fn hook(file: &HooksFile, caller: &Caller, matcher: Option<&str>, seconds: u64) -> Value {
    let line = caller.hook();
    let timeout = seconds * file.units;
    match (file.shape, matcher) {
        (Shape::Flat, _) => json!([{ "type": "command", "bash": line, "timeoutSec": timeout }]),
        (Shape::Groups, None) => json!([{ "hooks": [handler_of(&line, timeout)] }]),
        (Shape::Groups, Some(matcher)) => {
            json!([{ "matcher": matcher, "hooks": [handler_of(&line, timeout)] }])
        }
    }
}

fn handler_of(line: &str, timeout: u64) -> Value {
    json!({ "type": "command", "command": line, "timeout": timeout })
}

/// Appends these hooks to what is there.
pub(super) fn put_in(root: &CstObject, hooks: &Map<String, Value>) -> Result<(), String> {
    if hooks.is_empty() {
        return Ok(());
    }
    let there = jsonc::object_of(root, "hooks")?;
    for (event, groups) in hooks {
        let list =
            jsonc::list_of(&there, event).ok_or_else(|| format!("hooks.{event} is not a list"))?;
        for group in groups.as_array().into_iter().flatten() {
            list.append(jsonc::input(group));
        }
    }
    Ok(())
}

/// Removes these handlers, and the lists that become empty.
pub(super) fn take_out(root: &CstObject, these: fn(&Map<String, Value>) -> bool) {
    let Some(member) = jsonc::member(root, "hooks") else {
        return;
    };
    let Some(hooks) = member.object_value() else {
        return;
    };
    let mut emptied = false;
    for event in hooks.properties() {
        let Some(groups) = event.array_value() else {
            continue;
        };
        if take_out_of(&groups, these) && jsonc::is_bare(&event) {
            jsonc::remove(event);
            emptied = true;
        }
    }
    if emptied && jsonc::is_bare(&member) {
        jsonc::remove(member);
    }
}

/// Removes these handlers from one event's groups; returns whether there were any.
fn take_out_of(groups: &CstArray, these: fn(&Map<String, Value>) -> bool) -> bool {
    let mut taken = false;
    for group in groups.elements() {
        let handlers = group
            .as_object()
            .and_then(|group| jsonc::member(&group, "hooks")?.array_value());
        let Some(handlers) = handlers else {
            taken |= take_if(group, these);
            continue;
        };
        let mut taken_here = false;
        for handler in handlers.elements() {
            taken_here |= take_if(handler, these);
        }
        if taken_here && handlers.elements().is_empty() && !jsonc::has_comment(&group) {
            jsonc::remove(group);
        }
        taken |= taken_here;
    }
    taken
}

fn take_if(handler: CstNode, these: fn(&Map<String, Value>) -> bool) -> bool {
    let fields = handler.to_serde_value();
    let is_one = fields
        .as_ref()
        .and_then(Value::as_object)
        .is_some_and(these);
    if is_one {
        jsonc::remove(handler);
    }
    is_one
}

#[cfg(test)]
mod tests;
