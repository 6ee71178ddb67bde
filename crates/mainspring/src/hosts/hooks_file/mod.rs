//! A file of hooks in the shape that most hosts copied from Claude Code: for each event a list of
//! groups, and in each group a list of handlers. One host leaves the groups out.

pub(super) mod handlers;

use std::path::Path;

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Map, Value, json};

use self::handlers::{handler, handlers, handlers_of_drop_ins, is_drop_in, is_ours, without_guard};
use super::call::Caller;
use super::install::{
    Calls, Handler, Hooks, Installation, OurPart, SettingsFiles, Shape, Trial, Wish,
};
use super::reading::Means;
use super::{HostSpec, jsonc};

/// The installation of a host with such a file: in its own folder, and in a project.
pub(super) const fn installation(user: &'static str, project: &'static str) -> Installation {
    Installation {
        files: SettingsFiles {
            user,
            project: Some(project),
            local: None,
        },
        shape: Shape::Groups,
        units: 1,
        look,
        register,
        register_drop_in: None,
        unregister,
        wanted,
        outranked: |_, _, _| false,
        plugin: None,
        variables: &[],
        has_status_line: false,
        own_files: |_| Vec::new(),
        trial: TRIAL,
    }
}

pub(super) const TRIAL: Trial = Trial {
    transcript: None,
    also: &[],
    holds,
};

impl HostSpec {
    /// The host's name for a stop.
    pub(crate) fn stop_event(&self) -> &'static str {
        self.reading.name_of(Means::Stop)
    }

    /// What the host sends at the first stop of a session in this folder.
    pub(crate) fn trial_stop(&self, project: &Path) -> String {
        let Trial {
            transcript, also, ..
        } = &self.installation.trial;
        let transcript = transcript.map(|name| project.join(name));
        let mut stop = json!({
            "session_id": "mainspring-trial",
            "transcript_path": transcript.as_deref().and_then(Path::to_str),
            "cwd": project.to_str(),
            "hook_event_name": self.stop_event(),
            "stop_hook_active": false,
            "last_assistant_message": "",
        });
        for (name, value) in *also {
            stop[*name] = (*value).into();
        }
        stop.to_string()
    }

    /// The events to register, each with the tool that it is about and with how many seconds the
    /// host is to wait for us.
    pub(super) fn registered(
        &self,
    ) -> impl Iterator<Item = (&'static str, Option<&'static str>, u64)> {
        let skill = self.reading.skill.as_ref().map(|skill| skill.tool);
        self.reading.events.iter().filter_map(move |(name, means)| {
            let tool = match means {
                Means::AfterTool => Some(skill?),
                _ => None,
            };
            Some((*name, tool, seconds(*means)?))
        })
    }
}

/// How long a host is to wait for us; `None` if the event is not registered. At a stop checks and a
/// reviewer may run, one after the other.
const fn seconds(means: Means) -> Option<u64> {
    match means {
        Means::Stop => Some(3000),
        Means::Prompt => Some(25),
        Means::Start | Means::Expansion | Means::AfterTool => Some(15),
        Means::End => Some(2),
        Means::BeforeTool | Means::Notification => None,
    }
}

pub(super) fn holds(answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    answer["decision"] == "block"
}

/// A handler as the file has it, with its timeout in seconds.
fn in_seconds(host: &HostSpec, mut handler: Handler) -> Handler {
    handler.timeout = handler
        .timeout
        .map(|timeout| timeout / host.installation.units);
    handler
}

pub(super) fn look(host: &HostSpec, text: &str) -> Result<OurPart, String> {
    Ok(found(host, &jsonc::read(text)?))
}

/// What every such file may say about us.
pub(super) fn found(host: &HostSpec, root: &Map<String, Value>) -> OurPart {
    let in_seconds = |one: Handler| in_seconds(host, one);
    let (ours, guard) = without_guard(root, host.reading.name_of(Means::BeforeTool));
    let handlers: Vec<Handler> = ours.into_iter().map(in_seconds).collect();
    let drop_ins = handlers_of_drop_ins(root).into_iter().map(in_seconds);
    let drop_ins: Vec<Handler> = drop_ins.collect();
    let stop = host.stop_event();
    let all = handlers.iter().chain(&drop_ins);
    let at_stop = all.filter(|one| one.event == stop && one.calls != Calls::Watch);
    let off = root.get(HOOKS_OFF).and_then(Value::as_bool) == Some(true);
    OurPart {
        stop_timeout: at_stop.filter_map(|one| one.timeout).min(),
        handlers,
        guard: guard.map(in_seconds),
        drop_ins,
        hooks_off: off.then_some(HOOKS_OFF),
        empty: is_empty(root),
        ..OurPart::default()
    }
}

const HOOKS_OFF: &str = "disableAllHooks";

/// Is there nothing but what every such file has?
fn is_empty(root: &Map<String, Value>) -> bool {
    root.keys().all(|key| key == "version")
}

pub(super) fn register(host: &HostSpec, text: &str, wish: &Wish<'_>) -> Result<String, String> {
    let mut wanted = match wish.hooks {
        Hooks::File => hooks(host, wish.caller),
        Hooks::Plugin => Map::new(),
    };
    if wish.guard {
        let guard = hook(host, wish.caller, None, GUARD_TIMEOUT);
        wanted.insert(host.reading.name_of(Means::BeforeTool).into(), guard);
    }
    let have = jsonc::read(text)?;
    let mut want = Map::new();
    want.insert("hooks".into(), Value::Object(wanted.clone()));
    if handlers(&have, is_ours) == handlers(&want, is_ours) {
        return Ok(text.to_owned());
    }
    jsonc::edit(text, |root| {
        take_out(root, is_ours);
        if host.installation.shape == Shape::Flat && jsonc::member(root, "version").is_none() {
            root.append("version", jsonc::input(&json!(1)));
        }
        put_in(root, &wanted)
    })
}

fn unregister(_: &HostSpec, text: &str, _: &[String]) -> Result<String, String> {
    jsonc::edit(text, |root| {
        take_out(root, |fields| is_ours(fields) || is_drop_in(fields));
        Ok(())
    })
}

pub(super) fn wanted(host: &HostSpec, caller: &Caller) -> Vec<Handler> {
    let in_seconds = |one| in_seconds(host, one);
    ours_in(hooks(host, caller)).map(in_seconds).collect()
}

/// Our handlers among these hooks.
pub(super) fn ours_in(hooks: Map<String, Value>) -> impl Iterator<Item = Handler> {
    let mut root = Map::new();
    root.insert("hooks".into(), Value::Object(hooks));
    let all = handlers(&root, is_ours).into_iter().filter_map(handler);
    all.collect::<Vec<_>>().into_iter()
}

/// The hooks to register.
fn hooks(host: &HostSpec, caller: &Caller) -> Map<String, Value> {
    let hooks = host.registered().map(|(event, tool, seconds)| {
        let groups = hook(host, caller, tool, seconds);
        (event.to_owned(), groups)
    });
    hooks.collect()
}

/// How many seconds a host is to wait for us before a tool.
pub(super) const GUARD_TIMEOUT: u64 = 15;

/// What an event's list gets.
fn hook(host: &HostSpec, caller: &Caller, matcher: Option<&str>, seconds: u64) -> Value {
    let line = caller.hook();
    let timeout = seconds * host.installation.units;
    if host.installation.shape == Shape::Flat {
        return json!([{ "type": "command", "bash": line, "timeoutSec": timeout }]);
    }
    let handler = json!({ "type": "command", "command": line, "timeout": timeout });
    match matcher {
        None => json!([{ "hooks": [handler] }]),
        Some(matcher) => json!([{ "matcher": matcher, "hooks": [handler] }]),
    }
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
