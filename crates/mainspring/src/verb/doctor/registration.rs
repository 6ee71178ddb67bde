//! The host's settings: are we registered, once, as we should be, and do hooks run at all?

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::Findings;
use crate::env::name;
use crate::host::claude::settings::{self, Scope, Settings, wanted};
use crate::verb::CommandContext;

type Files = Vec<(Scope, Settings)>;

fn read(cmd: &CommandContext, findings: &mut Findings) -> Files {
    let Ok((project, _)) = cmd.project() else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for scope in Scope::ALL {
        let Some(path) = scope.file(&cmd.env, &project.worktree) else {
            continue;
        };
        match Settings::read(&path) {
            Ok(settings) => files.push((scope, settings)),
            Err(error) => {
                let fix = format!("put it right: $EDITOR {}", path.display());
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
        .filter(|(_, file)| !file.ours().is_empty())
        .collect();
    let plugin = settings::plugin_is_on(&cmd.env, files.iter().map(|(_, file)| file));
    match (registered.as_slice(), plugin) {
        ([], false) => {
            findings.error(
                "hooks",
                "no hook of ours is registered",
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
                format!("registered in {} ({scope})", file.path.display()),
            );
        }
        ([_, (scope, _), ..], false) => findings.warn(
            "hooks",
            "registered in more than one settings file: every event is decided twice",
            &format!("mainspring uninstall --scope {scope}"),
        ),
    }
    for (scope, file) in registered {
        handlers(*scope, file, findings);
    }
}

/// Is each handler of ours what `install` would write today? The first that is not is enough:
/// the same command puts all of them right.
fn handlers(scope: Scope, file: &Settings, findings: &mut Findings) {
    let again = format!("mainspring install --scope {scope}");
    let ours = file.ours();
    for (event, handler) in &ours {
        if let Some(wrong) = wrong(event, handler) {
            return match wrong {
                Wrong::Gone(what) => findings.error("hooks", what, &again),
                Wrong::Other(what) => findings.warn("hooks", what, &again),
            };
        }
    }
    let Ok(wanted) = wanted(Path::new("mainspring")) else {
        return;
    };
    let missing = |event: &&String| !ours.iter().any(|(have, _)| have == event);
    let missing: Vec<&str> = wanted.keys().filter(missing).map(String::as_str).collect();
    if !missing.is_empty() {
        let what = format!("not registered for {}", missing.join(", "));
        findings.warn("hooks", what, &again);
    }
}

/// What a handler does not do as it should.
enum Wrong {
    /// It cannot run at all.
    Gone(String),
    Other(String),
}

fn wrong(event: &str, handler: &Map<String, Value>) -> Option<Wrong> {
    let command = handler.get("command").and_then(Value::as_str);
    let program = command.and_then(|command| command.split_whitespace().next());
    let program = Path::new(program.unwrap_or_default());
    if program.is_absolute() && !program.is_file() {
        let what = format!("{event} calls {}, which is not there", program.display());
        return Some(Wrong::Gone(what));
    }
    let me = std::env::current_exe().and_then(fs::canonicalize).ok();
    let other = fs::canonicalize(program)
        .ok()
        .filter(|_| program.is_absolute());
    if let (Some(me), Some(other)) = (me, other)
        && me != other
    {
        let what = format!(
            "{event} calls {}, and this is {}",
            program.display(),
            me.display()
        );
        return Some(Wrong::Other(what));
    }
    let wanted = wanted(program).ok()?;
    let groups = wanted.get(event).and_then(Value::as_array);
    let same = |one: &&Value| one["args"] == handler.get("args").cloned().unwrap_or_default();
    let least = groups
        .into_iter()
        .flatten()
        .filter_map(|group| group["hooks"].as_array())
        .flatten()
        .find(same)
        .and_then(|one| one["timeout"].as_u64())?;
    match handler.get("timeout").and_then(Value::as_u64) {
        Some(has) if has >= least => None,
        Some(has) => Some(Wrong::Other(format!(
            "{event} is given {has} s; what it may start takes longer"
        ))),
        None => Some(Wrong::Other(format!(
            "{event} has no timeout of its own, and the host's is not ours to know"
        ))),
    }
}

fn switches(cmd: &CommandContext, files: &Files, findings: &mut Findings) {
    for (scope, file) in files {
        if file.root.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
            findings.error(
                "switched off",
                format!("disableAllHooks is set in the {scope} settings: no hook runs"),
                &format!("delete disableAllHooks from {}", file.path.display()),
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
            format!("{} is set here", name::DISABLE),
            "unset MAINSPRING_DISABLE",
        );
    }
}

fn variables(cmd: &CommandContext, files: &Files, findings: &mut Findings) {
    let value = |variable: &str| {
        let set = files
            .iter()
            .rev()
            .find_map(|(_, file)| file.variable(variable));
        set.map(str::to_owned).or_else(|| cmd.env.var(variable))
    };
    match value(name::CLAUDE_BLOCK_CAP).map(|text| text.parse::<u32>()) {
        Some(Ok(0)) => findings.fine("block cap", "off"),
        Some(Ok(cap)) if cap >= 50 => findings.fine("block cap", cap.to_string()),
        Some(Ok(cap)) => findings.warn(
            "block cap",
            format!("the host ends a turn after {cap} blocks without tool use"),
            &format!("set {} to 100 in the settings' env", name::CLAUDE_BLOCK_CAP),
        ),
        Some(Err(_)) | None => findings.warn(
            "block cap",
            "the host ends a turn after 8 blocks without tool use",
            "mainspring install",
        ),
    }
    match value(name::CLAUDE_TODO_TOOLS).as_deref() {
        None | Some("0") => findings.warn(
            "task tools",
            "the host's task tools may be off: a skill's list is then only told",
            "mainspring install",
        ),
        Some(_) => findings.fine("task tools", "on"),
    }
}
