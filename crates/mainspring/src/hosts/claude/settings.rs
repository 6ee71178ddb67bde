//! Adds our entries to Claude Code's settings files and removes them. Everything else in a file
//! stays as it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{name, own_plugin, rank, status_line};
use crate::hosts::HostSpec;
use crate::hosts::call::{self, Caller};
use crate::hosts::hooks_file::handlers::{
    calls_of, handlers, handlers_of_drop_ins, is_drop_in, is_ours, is_public_script, public_script,
};
use crate::hosts::hooks_file::{self, GUARD_TIMEOUT, put_in, take_out};
use crate::hosts::install::{
    Calls, Handler, Hooks, Installation, OurPart, Plugin, Purpose, Script, SettingsFiles, Trial,
    Variable, Wish,
};
use crate::hosts::jsonc;
use crate::hosts::reading::Means;

/// `install` registers the same hooks as the plugin: one list, in the plugin's own file, which
/// calls us by our names on the PATH.
const PLUGIN_HOOKS: &str = mainspring_plugins::HOOKS;

pub(super) const INSTALLATION: Installation = Installation {
    files: SettingsFiles {
        user: "settings.json",
        project: Some(".claude/settings.json"),
        local: Some(".claude/settings.local.json"),
    },
    look,
    register,
    register_drop_in: Some(register_drop_in),
    unregister,
    wanted,
    outranked: rank::outranked,
    plugin: Some(Plugin {
        state: own_plugin::state,
        remove: &["plugin", "uninstall", "mainspring@mainspring"],
    }),
    has_status_line: true,
    own_files: own_plugin::files,
    trial: Trial {
        transcript: Some("transcript.jsonl"),
        holds,
        ..hooks_file::TRIAL
    },
    variables: &[
        // The host ends a turn after eight blocks without tool use. Our own limits let the
        // agent go long before a hundred.
        Variable {
            name: name::BLOCK_CAP,
            value: "100",
            purpose: Purpose::Cap,
            question: "Claude Code ends a turn after 8 held stops in a row without a tool call. Raise that to 100?",
        },
        Variable {
            name: name::TODO_TOOLS,
            value: "1",
            purpose: Purpose::TaskTools,
            question: "A skill's task list needs Claude Code's task tools, which may be off. Switch them on?",
        },
    ],
    ..hooks_file::installation("", "")
};

fn look(host: &HostSpec, text: &str) -> Result<OurPart, String> {
    let root = jsonc::read(text)?;
    let variables = root.get("env").and_then(Value::as_object);
    let variables: BTreeMap<String, String> = variables
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let plugins = root.get("enabledPlugins").and_then(Value::as_object);
    let mut plugins = plugins.into_iter().flatten();
    let plugin = plugins.find(|(name, _)| name.starts_with("mainspring@"));
    let mut scripts: Vec<Script> = all_handlers(&root).filter_map(public_script).collect();
    scripts.dedup();
    Ok(OurPart {
        variables,
        scripts,
        plugin: plugin.map(|(_, on)| on.as_bool() != Some(false)),
        status_line: status_line::of(&root),
        empty: text.split_whitespace().collect::<String>() == "{}",
        ..hooks_file::found(host, &root)
    })
}

fn all_handlers(root: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let all = handlers(root, |_| true).into_iter();
    all.map(|(_, fields)| fields)
}

/// Does this text call us like this at an event?
pub(super) fn calls_at(text: &str, event: &str, calls: Calls) -> bool {
    let root = jsonc::read(text).unwrap_or_default();
    let ours = handlers(&root, is_ours);
    ours.into_iter()
        .any(|(at, fields)| at == event && calls_of(fields) == Some(calls))
}

fn holds(answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let context = &answer["hookSpecificOutput"]["additionalContext"];
    answer["decision"] == "block" || context.is_string()
}

fn register(host: &HostSpec, text: &str, wish: &Wish<'_>) -> Result<String, String> {
    let mut wanted = match wish.hooks {
        Hooks::File => hooks(wish.caller),
        Hooks::Plugin => Map::new(),
    };
    if wish.guard {
        wanted.insert(
            host.reading.name_of(Means::BeforeTool).into(),
            guard(wish.caller),
        );
    }
    let have = jsonc::read(text)?;
    let same = {
        let mut want = Map::new();
        want.insert("hooks".into(), Value::Object(wanted.clone()));
        handlers(&have, is_ours) == handlers(&want, is_ours)
    };
    let is_set = |name: &str| have.get("env").is_some_and(|env| env.get(name).is_some());
    let missing: Vec<&Variable> = INSTALLATION
        .variables
        .iter()
        .filter(|variable| wish.variables.contains(&variable.name) && !is_set(variable.name))
        .collect();
    let beside = |fields: &Map<String, Value>| is_public_script(fields) || is_drop_in(fields);
    let replaces = wish.replace && all_handlers(&have).any(beside);
    let line = wish.status_line && status_line::is_due(&have, wish.caller);
    if same && missing.is_empty() && !replaces && !line {
        return Ok(text.to_owned());
    }
    jsonc::edit(text, |root| {
        if replaces {
            take_out(root, beside);
        }
        if !same {
            take_out(root, is_ours);
            put_in(root, &wanted)?;
        }
        if !missing.is_empty() {
            let env = jsonc::object_of(root, "env")?;
            for variable in missing {
                jsonc::append_text(&env, variable.name, variable.value);
            }
        }
        if line {
            status_line::put_in(root, wish.caller);
        }
        Ok(())
    })
}

fn register_drop_in(text: &str, caller: &Caller, script: Script) -> Result<String, String> {
    let have = jsonc::read(text)?;
    let is_there = handlers_of_drop_ins(&have)
        .iter()
        .any(|one| one.args.get(1).map(String::as_str) == Some(script.name()));
    if is_there {
        return Ok(text.to_owned());
    }
    jsonc::edit(text, |root| put_in(root, &drop_in_hooks(caller, script)))
}

/// The hooks of a script, as its document registers them.
fn drop_in_hooks(caller: &Caller, script: Script) -> Map<String, Value> {
    // The event, its matcher, what the script is given.
    let hooks: &[(&str, &str, &[&str])] = match script {
        Script::AgentSync => &[
            ("SessionStart", "startup", &["session-start"]),
            ("Stop", "", &["on-stop"]),
            ("Notification", "idle_prompt", &["on-idle"]),
        ],
        Script::Fsm => &[("PostToolUse", "Skill", &[])],
        Script::Idle | Script::Taskmaster | Script::Taskie => &[("Stop", "", &[])],
    };
    let hooks = hooks.iter().map(|(event, matcher, given)| {
        let args = [&["compat", script.name()], *given].concat();
        let handler = json!({
            "type": "command",
            "command": caller.line(&args),
            "timeout": if *event == "Stop" { STOP_TIMEOUT } else { TIMEOUT },
        });
        let group = if matcher.is_empty() {
            json!({ "hooks": [handler] })
        } else {
            json!({ "matcher": matcher, "hooks": [handler] })
        };
        ((*event).to_owned(), json!([group]))
    });
    hooks.collect()
}

/// The hook before every tool.
fn guard(caller: &Caller) -> Value {
    let line = caller.hook();
    let mut handler = json!({ "type": "command", "command": line, "timeout": GUARD_TIMEOUT });
    if call::is_one_word(&line) {
        handler["args"] = json!([]);
    }
    json!([{ "hooks": [handler] }])
}

/// In seconds. At a stop checks and a reviewer may run, one after the other.
const STOP_TIMEOUT: u64 = 3000;
const TIMEOUT: u64 = 30;

fn unregister(_: &HostSpec, text: &str, variables: &[String]) -> Result<String, String> {
    let given = |name: &String| {
        let mut all = INSTALLATION.variables.iter();
        all.find(|variable| variable.name == name)
    };
    jsonc::edit(text, |root| {
        take_out(root, |fields| is_ours(fields) || is_drop_in(fields));
        status_line::take_out(root);
        let Some(member) = jsonc::member(root, "env") else {
            return Ok(());
        };
        let Some(env) = member.object_value() else {
            return Ok(());
        };
        let mut taken = false;
        for variable in variables.iter().filter_map(given) {
            if let Some(set) = jsonc::member(&env, variable.name)
                && set.to_serde_value().as_ref().and_then(Value::as_str) == Some(variable.value)
            {
                jsonc::remove(set);
                taken = true;
            }
        }
        if taken && jsonc::is_bare(&member) {
            jsonc::remove(member);
        }
        Ok(())
    })
}

/// The hooks to register.
fn hooks(caller: &Caller) -> Map<String, Value> {
    let plugin = serde_json::from_str::<Map<String, Value>>(PLUGIN_HOOKS);
    let hooks = plugin.ok().and_then(|mut plugin| plugin.remove("hooks"));
    let Some(Value::Object(mut hooks)) = hooks else {
        return Map::new();
    };
    for groups in hooks.values_mut().filter_map(Value::as_array_mut) {
        let handlers = groups
            .iter_mut()
            .filter_map(|group| group.get_mut("hooks")?.as_array_mut());
        for handler in handlers.flatten().filter_map(Value::as_object_mut) {
            let line = match calls_of(handler) {
                Some(Calls::Watch) => caller.line(&["claim", "watch"]),
                Some(Calls::Hook | Calls::SharedHook | Calls::DropIn) | None => caller.hook(),
            };
            // With an empty list the client starts one word without a shell.
            if !call::is_one_word(&line) {
                handler.remove("args");
            }
            handler.insert("command".into(), line.into());
        }
    }
    hooks
}

fn wanted(_: &HostSpec, caller: &Caller) -> Vec<Handler> {
    hooks_file::ours_in(hooks(caller)).collect()
}

#[cfg(test)]
mod tests;
