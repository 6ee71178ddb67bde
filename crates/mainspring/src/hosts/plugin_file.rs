//! A plugin of ours, for a host that has no hooks for programs: one whole file, written by
//! `install`.

use std::path::Path;

use serde_json::Value;

use super::call::{self, Caller};
use super::hooks_file::trial_stop;
use super::install::{Calls, Found, Handler, Wish};

/// A plugin as it is shipped.
#[derive(Debug)]
pub(super) struct PluginFile {
    /// The host's program.
    pub(super) host: &'static str,
    /// The plugin's text, with [`UNSET`] in the place of our command line.
    pub(super) text: &'static str,
}

/// The line of a plugin that says how we are called, before `install` has filled it in.
const UNSET: &str = "const LINE = \"\"";
const LINE: &str = "const LINE = ";
/// The words that the first line of every plugin of ours has.
const OURS: &str = "Mainspring's plugin for ";

/// What the plugins tell us of, and how many seconds they wait.
const EVENTS: &[(&str, u64)] = &[
    ("SessionEnd", 2),
    ("SessionStart", 15),
    ("Stop", 3000),
    ("UserPromptSubmit", 25),
];

/// The installation of a host for which we have such a plugin.
macro_rules! installation {
    ($file:path, $plugin:expr) => {{
        use $crate::hosts::install::{Installation, Trial};
        use $crate::hosts::{hooks_file, plugin_file};
        Installation {
            file: $file,
            look: plugin_file::look,
            register: |text, wish| plugin_file::register(&$plugin, text, wish),
            register_drop_in: None,
            unregister: |text, _| plugin_file::unregister(text),
            wanted: |caller| plugin_file::wanted(&$plugin, caller),
            plugin: None,
            variables: &[],
            has_status_line: false,
            own_files: |_| Vec::new(),
            trial: Trial {
                event: "Stop",
                stop: plugin_file::trial,
                holds: hooks_file::holds,
            },
        }
    }};
}
pub(super) use installation;

pub(super) fn trial(project: &Path) -> String {
    trial_stop("Stop", project).to_string()
}

pub(super) fn look(text: &str) -> Result<Found, String> {
    if text.trim().is_empty() {
        return Ok(Found {
            empty: true,
            ..Found::default()
        });
    }
    let first = text.lines().next().unwrap_or_default();
    if !first.contains(OURS) {
        return Err("this plugin is not Mainspring's".into());
    }
    let line = text.lines().find_map(|line| line.strip_prefix(LINE));
    let line: Option<String> = line.and_then(|line| serde_json::from_str(line.trim()).ok());
    let line = line.ok_or("it does not say how Mainspring is called")?;
    let handlers = handlers(&line);
    Ok(Found {
        stop_timeout: handlers.iter().filter_map(|one| one.timeout).max(),
        handlers,
        ..Found::default()
    })
}

pub(super) fn register(plugin: &PluginFile, text: &str, wish: &Wish<'_>) -> Result<String, String> {
    // Nothing of anybody else's is overwritten.
    look(text)?;
    let line = Value::from(line(plugin, wish.caller)).to_string();
    Ok(plugin.text.replacen(UNSET, &format!("{LINE}{line}"), 1))
}

/// Nothing but our plugin is in the file.
pub(super) fn unregister(text: &str) -> Result<String, String> {
    look(text).map(|_| String::new())
}

pub(super) fn wanted(plugin: &PluginFile, caller: &Caller) -> Vec<Handler> {
    handlers(&line(plugin, caller))
}

fn line(plugin: &PluginFile, caller: &Caller) -> String {
    caller.line(&["hook", "--host", plugin.host])
}

fn handlers(line: &str) -> Vec<Handler> {
    let mut words = call::words(line).into_iter();
    let program = words.next().unwrap_or_default();
    let args: Vec<String> = words.collect();
    let handler = |(event, seconds): &(&str, u64)| Handler {
        event: (*event).to_owned(),
        calls: Calls::Hook,
        program: program.clone().into(),
        args: args.clone(),
        line: Some(line.to_owned()),
        needs_list: false,
        timeout: Some(*seconds),
    };
    EVENTS.iter().map(handler).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::install::Hooks;
    use crate::hosts::{opencode, pi};

    #[test]
    fn a_plugin_is_written_whole_read_back_and_taken_out() {
        for plugin in [&opencode::PLUGIN, &pi::PLUGIN] {
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
            let text = register(plugin, "", &wish).unwrap();
            assert_eq!(register(plugin, &text, &wish).unwrap(), text);
            let found = look(&text).unwrap();
            assert_eq!(found.handlers, wanted(plugin, &caller));
            let stop = &found.handlers[2];
            assert_eq!(stop.program, caller_program(&caller));
            assert_eq!(stop.args, ["hook", "--host", plugin.host]);
            assert_eq!(unregister(&text).unwrap(), "");
            assert!(register(plugin, "// a plugin of mine\n", &wish).is_err());
        }
    }

    fn caller_program(caller: &Caller) -> &Path {
        match caller {
            Caller::Own { program, .. } => program,
            Caller::Shared => Path::new(""),
        }
    }
}
