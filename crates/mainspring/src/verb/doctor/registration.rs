//! The host's settings: is Mainspring registered, only once and correctly, and do hooks run at
//! all?

use std::path::{Path, PathBuf};

use mainspring_platform::{path, program};
use mainspring_store::ShownPath as _;

use super::Findings;
use crate::env::name;
use crate::host;
use crate::host::call::{self, Caller};
use crate::host::install::{Calls, Handler, Installation, Purpose, Scope, Settings};
use crate::verb::CommandContext;

type Files = Vec<(Scope, Settings)>;

/// The host whose settings are checked.
fn host(cmd: &CommandContext) -> &'static Installation {
    &host::of_environment(&cmd.env).installation
}

fn read(cmd: &CommandContext, findings: &mut Findings) -> Files {
    let host = host(cmd);
    let Ok((project, _)) = cmd.project() else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for scope in Scope::ALL {
        let Some(path) = (host.file)(scope, &cmd.env, &project.worktree) else {
            continue;
        };
        match Settings::read(host, &path) {
            Ok(settings) => files.push((scope, settings)),
            Err(error) => {
                let fix = format!("fix it: $EDITOR {}", path.shown());
                findings.error("settings", error.cause, &fix);
            }
        }
    }
    files
}

pub(super) fn examine(cmd: &CommandContext, findings: &mut Findings) {
    let files = read(cmd, findings);
    registration(cmd, &files, findings);
    switches(cmd, &files, findings);
    variables(cmd, &files, findings);
}

fn registration(cmd: &CommandContext, files: &Files, findings: &mut Findings) {
    let registered: Vec<&(Scope, Settings)> = files
        .iter()
        .filter(|(_, file)| !file.found.handlers.is_empty())
        .collect();
    let enabled = files.iter().any(|(_, file)| file.found.plugin);
    let plugin = enabled && (host(cmd).has_plugin)(&cmd.env);
    match (registered.as_slice(), plugin) {
        ([], false) => {
            findings.error(
                "hooks",
                "mainspring's hooks are not registered",
                "mainspring install",
            );
        }
        ([], true) => findings.fine("hooks", "registered by the plugin"),
        ([(scope, _), ..], true) => findings.warn(
            "hooks",
            format!("registered twice: by the plugin and in the {scope} settings"),
            &format!("mainspring uninstall --scope {scope}"),
        ),
        ([(scope, file)], false) => {
            findings.fine(
                "hooks",
                format!("registered in {} ({scope})", file.path.shown()),
            );
        }
        ([_, (scope, _), ..], false) => findings.warn(
            "hooks",
            "registered in more than one settings file: two hooks run at every event",
            &format!("mainspring uninstall --scope {scope}"),
        ),
    }
    for (scope, file) in registered {
        handlers(host(cmd), *scope, file, findings);
    }
}

/// Is each of Mainspring's handlers what `install` would write today? One finding is enough,
/// because the same command fixes all of them.
fn handlers(host: &Installation, scope: Scope, file: &Settings, findings: &mut Findings) {
    let again = format!("mainspring install --scope {scope}");
    let ours = &file.found.handlers;
    for handler in ours {
        if let Some(wrong) = wrong(host, handler) {
            return match wrong {
                Wrong::Gone(what) => findings.error("hooks", what, &again),
                Wrong::Other(what) => findings.warn("hooks", what, &again),
            };
        }
    }
    let is_there = |wanted: &Handler| {
        let is_watch = |one: &Handler| one.calls == Calls::Watch;
        let mut ours = ours.iter();
        ours.any(|one| one.event == wanted.event && is_watch(one) == is_watch(wanted))
    };
    let mut missing: Vec<String> = (host.wanted)(&Caller::by_name())
        .into_iter()
        .filter(|wanted| !is_there(wanted))
        .map(|handler| handler.event)
        .collect();
    missing.dedup();
    if !missing.is_empty() {
        let what = format!("not registered for {}", missing.join(", "));
        findings.warn("hooks", what, &again);
    }
}

/// What is wrong with a handler.
enum Wrong {
    /// It cannot run at all.
    Gone(String),
    Other(String),
}

fn wrong(host: &Installation, handler: &Handler) -> Option<Wrong> {
    let Handler { event, program, .. } = handler;
    if program.is_absolute() && !program.is_file() {
        let what = format!("{event} calls {}, which does not exist", program.shown());
        return Some(Wrong::Gone(what));
    }
    if let Some(me) = stranger(program) {
        let what = format!(
            "{event} calls {}, but this program is {}",
            program.shown(),
            me.shown()
        );
        return Some(Wrong::Other(what));
    }
    if handler.needs_list {
        return Some(Wrong::Other(format!(
            "{event} gives mainspring its arguments in a list, which other agents that read this \
             file drop"
        )));
    }
    let wanted = (host.wanted)(&Caller::by_name());
    let is_watch = handler.calls == Calls::Watch;
    let same = |one: &&Handler| one.event == *event && (one.calls == Calls::Watch) == is_watch;
    let least = wanted.iter().find(same)?.timeout?;
    match handler.timeout {
        Some(has) if has >= least => None,
        Some(has) => Some(Wrong::Other(format!(
            "{event} has a timeout of {has} s, too short for what it may start"
        ))),
        None => Some(Wrong::Other(format!(
            "{event} has no timeout, and the host's default may be too short"
        ))),
    }
}

/// This program, if the registered one is another. Our two names are in one folder.
fn stranger(registered: &Path) -> Option<PathBuf> {
    let me = std::env::current_exe()
        .and_then(|me| path::real(&me))
        .ok()?;
    let other = path::real(registered).ok()?;
    let is_ours = other == me || other == me.with_file_name(program::file_name(call::HOOK));
    (registered.is_absolute() && !is_ours).then_some(me)
}

fn switches(cmd: &CommandContext, files: &Files, findings: &mut Findings) {
    for (scope, file) in files {
        if let Some(switch) = file.found.hooks_off {
            findings.error(
                "switched off",
                format!("{switch} is set in the {scope} settings: no hook runs"),
                &format!("delete {switch} from {}", file.path.shown()),
            );
        }
    }
    let silenced = cmd
        .env
        .var_os(name::DISABLE)
        .is_some_and(|value| value != "0");
    if silenced {
        findings.warn(
            "switched off",
            format!(
                "{} is set here: mainspring ignores every event",
                name::DISABLE
            ),
            "unset MAINSPRING_DISABLE",
        );
    }
}

fn variables(cmd: &CommandContext, files: &Files, findings: &mut Findings) {
    for variable in host(cmd).variables {
        let name = variable.name;
        let mut set = files.iter().rev();
        let set = set.find_map(|(_, file)| file.found.variables.get(name));
        let value = set.cloned().or_else(|| cmd.env.var(name));
        match variable.purpose {
            Purpose::Cap => cap(name, value.as_deref(), findings),
            Purpose::TaskTools => task_tools(value.as_deref(), findings),
        }
    }
}

fn cap(name: &str, value: Option<&str>, findings: &mut Findings) {
    match value.map(str::parse::<u32>) {
        Some(Ok(0)) => findings.fine("block cap", "off"),
        Some(Ok(cap)) if cap >= 50 => findings.fine("block cap", cap.to_string()),
        Some(Ok(cap)) => findings.warn(
            "block cap",
            format!("the host ends a turn after {cap} blocks without tool use"),
            &format!("set {name} to 100 in the settings' env"),
        ),
        Some(Err(_)) | None => findings.warn(
            "block cap",
            "the host ends a turn after 8 blocks without tool use",
            "mainspring install",
        ),
    }
}

fn task_tools(value: Option<&str>, findings: &mut Findings) {
    match value {
        None | Some("0") => findings.warn(
            "task tools",
            "the host's task tools may be off: the agent then gets the task list only as text",
            "mainspring install",
        ),
        Some(_) => findings.fine("task tools", "on"),
    }
}
