//! A plugin of ours, for a host that has no hooks for programs: one whole file, written by
//! `install`.

use serde_json::Value;

use super::answers::{Answers, ContextIn, ObjectBy, OrdersBy};
use super::call::{self, Caller};
use super::install::{Calls, Handler, Installation, OurPart, SettingsFiles, Shape, Wish};
use super::reading::{self, Means, Reading, Subagents};
use super::{HostSpec, hooks_file};

/// The events that the plugins tell us of.
pub(super) const READING: Reading = Reading {
    events: &[
        ("SessionStart", Means::Start),
        ("SessionEnd", Means::End),
        ("UserPromptSubmit", Means::Prompt),
        ("Stop", Means::Stop),
    ],
    prompt: reading::not_our_reason,
    subagents: Subagents::Untold,
    ..Reading::USUAL
};

/// What the plugins do with an answer.
pub(super) const ANSWERS: Answers = Answers {
    context: ContextIn::Nowhere,
    object: ObjectBy::Context,
    reason_is_prompt: true,
    orders: OrdersBy::Nowhere,
    ..Answers::USUAL
};

/// The installation of a host for which we have such a plugin: its place in the host's own folder,
/// and its text, with [`UNSET`] in the place of our command line.
pub(super) const fn installation(place: &'static str, text: &'static str) -> Installation {
    Installation {
        files: SettingsFiles {
            user: place,
            project: None,
            local: None,
        },
        shape: Shape::Plugin(text),
        look,
        register,
        unregister,
        wanted,
        ..hooks_file::installation("", "")
    }
}

/// The line of a plugin that says how we are called, before `install` has filled it in.
const UNSET: &str = "const LINE = \"\"";
const LINE: &str = "const LINE = ";
/// The words that the first line of every plugin of ours has.
const OURS: &str = "Mainspring's plugin for ";

fn look(host: &HostSpec, text: &str) -> Result<OurPart, String> {
    if text.trim().is_empty() {
        return Ok(OurPart {
            empty: true,
            ..OurPart::default()
        });
    }
    let first = text.lines().next().unwrap_or_default();
    if !first.contains(OURS) {
        return Err("this plugin is not Mainspring's".into());
    }
    let line = text.lines().find_map(|line| line.strip_prefix(LINE));
    let line: Option<String> = line.and_then(|line| serde_json::from_str(line.trim()).ok());
    let line = line.ok_or("it does not say how Mainspring is called")?;
    let handlers = handlers(host, &line);
    Ok(OurPart {
        stop_timeout: handlers.iter().filter_map(|one| one.timeout).max(),
        handlers,
        ..OurPart::default()
    })
}

fn register(host: &HostSpec, text: &str, wish: &Wish<'_>) -> Result<String, String> {
    // Nothing of anybody else's is overwritten.
    look(host, text)?;
    let Shape::Plugin(plugin) = host.installation.shape else {
        return Err("there is no plugin for this host".into());
    };
    let line = Value::from(line(host, wish.caller)).to_string();
    Ok(plugin.replacen(UNSET, &format!("{LINE}{line}"), 1))
}

/// Nothing but our plugin is in the file.
fn unregister(host: &HostSpec, text: &str, _: &[String]) -> Result<String, String> {
    look(host, text).map(|_| String::new())
}

fn wanted(host: &HostSpec, caller: &Caller) -> Vec<Handler> {
    handlers(host, &line(host, caller))
}

fn line(host: &HostSpec, caller: &Caller) -> String {
    caller.line(&["hook", "--host", host.program])
}

fn handlers(host: &HostSpec, line: &str) -> Vec<Handler> {
    let mut words = call::words(line).into_iter();
    let program = words.next().unwrap_or_default();
    let args: Vec<String> = words.collect();
    let handler = |(event, _, seconds): (&str, _, u64)| Handler {
        event: event.to_owned(),
        calls: Calls::Hook,
        program: program.clone().into(),
        args: args.clone(),
        line: Some(line.to_owned()),
        needs_list: false,
        timeout: Some(seconds),
    };
    let mut all: Vec<Handler> = host.registered().map(handler).collect();
    all.sort_by(|a, b| a.event.cmp(&b.event));
    all
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::hosts::install::Hooks;
    use crate::hosts::{opencode, pi};

    #[test]
    fn a_plugin_is_written_whole_read_back_and_taken_out() {
        for host in [&opencode::SPEC, &pi::SPEC] {
            let caller = Caller::Own {
                program: "/home/o'brien/my bin/mainspring".into(),
                hook: "/home/o'brien/my bin/mainspring-hook".into(),
            };
            let wish = Wish {
                caller: &caller,
                hooks: Hooks::File,
                variables: &[],
                status_line: false,
                replace: false,
                guard: false,
            };
            let text = register(host, "", &wish).unwrap();
            assert_eq!(register(host, &text, &wish).unwrap(), text);
            let found = look(host, &text).unwrap();
            assert_eq!(found.handlers, wanted(host, &caller));
            let stop = &found.handlers[2];
            assert_eq!(stop.program, caller_program(&caller));
            assert_eq!(stop.args, ["hook", "--host", host.program]);
            assert_eq!(unregister(host, &text, &[]).unwrap(), "");
            assert!(register(host, "// a plugin of mine\n", &wish).is_err());
        }
    }

    fn caller_program(caller: &Caller) -> &Path {
        match caller {
            Caller::Own { program, .. } => program,
            Caller::Shared => Path::new(""),
        }
    }
}
