//! The program, the host, and the tools that effects need.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::Findings;
use crate::env::name;
use crate::host::claude::settings::{self, Scope, Settings, on_path, wanted};
use crate::host::text::excerpt;
use crate::process::Job;
use crate::verb::Desk;

/// The clients that the tests run: one `name package version` per line.
const TESTED: &str = include_str!("../../../../../clients.pin");

/// What asking another program may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

pub(super) fn examine(desk: &Desk, findings: &mut Findings) {
    program(desk, findings);
    client(desk, findings);
    let files = read_settings(desk, findings);
    registration(desk, &files, findings);
    switches(desk, &files, findings);
    variables(desk, &files, findings);
    github(desk, findings);
}

fn program(desk: &Desk, findings: &mut Findings) {
    let version = env!("CARGO_PKG_VERSION");
    let Ok(me) = std::env::current_exe() else {
        findings.error(
            "program",
            "our own program cannot be found",
            "install it again",
        );
        return;
    };
    let age = std::fs::metadata(&me)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|age| u64::try_from(age.as_millis()).ok());
    let days = age.map(|made| desk.world.now().0.saturating_sub(made) / 86_400_000);
    let days = days.map_or_else(String::new, |days| format!(", {days} days old"));
    findings.fine(
        "program",
        format!("mainspring {version}{days}, {}", me.display()),
    );
    match on_path(&desk.world, "mainspring") {
        None => findings.warn(
            "program",
            "mainspring is not on the PATH: agents and plugins call it by name",
            &format!("ln -s {} ~/.local/bin/mainspring", me.display()),
        ),
        Some(found) if std::fs::canonicalize(&found).is_ok_and(|real| real != me) => findings.warn(
            "program",
            format!(
                "the mainspring on the PATH is another one: {}",
                found.display()
            ),
            &format!("{} --version", found.display()),
        ),
        Some(_) => {}
    }
}

/// The first line of what a program says of itself.
fn ask(program: &Path, args: &[&str]) -> Result<String, String> {
    match Job::new(program, ANSWER_LIMIT).args(args).run() {
        Err(failure) => Err(failure.to_string()),
        Ok(done) => {
            let said = [done.stdout, done.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            if done.code == Some(0) {
                Ok(said)
            } else {
                Err(said)
            }
        }
    }
}

fn tested(client: &str) -> Vec<&'static str> {
    let rows = TESTED
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.first() == Some(&client))
        .filter_map(|row| row.get(2).copied())
        .collect()
}

fn client(desk: &Desk, findings: &mut Findings) {
    let Some(claude) = on_path(&desk.world, "claude") else {
        findings.warn(
            "claude",
            "claude is not on the PATH: reviews cannot be run",
            "npm install --global @anthropic-ai/claude-code",
        );
        return;
    };
    let known = tested("claude");
    match ask(&claude, &["--version"]) {
        Err(cause) => findings.warn("claude", excerpt(&cause), "claude --version"),
        Ok(said) => {
            let version = said
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
            if known.contains(&version.as_str()) {
                findings.fine("claude", format!("{version}, which the tests run"));
            } else {
                findings.fine(
                    "claude",
                    format!("{version}; the tests run {}", known.join(", ")),
                );
            }
        }
    }
}

type Files = Vec<(Scope, Settings)>;

fn read_settings(desk: &Desk, findings: &mut Findings) -> Files {
    let Ok((site, _)) = desk.site() else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for scope in Scope::ALL {
        let Some(path) = scope.file(&desk.world, &site.here) else {
            continue;
        };
        match Settings::read(&path) {
            Ok(settings) => files.push((scope, settings)),
            Err(error) => findings.error("settings", error.cause, "put that file right"),
        }
    }
    files
}

fn registration(desk: &Desk, files: &Files, findings: &mut Findings) {
    let registered: Vec<&(Scope, Settings)> = files
        .iter()
        .filter(|(_, file)| !file.ours().is_empty())
        .collect();
    let plugin = settings::plugin_is_on(&desk.world, files.iter().map(|(_, file)| file));
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

/// Is each handler of ours what `install` would write today?
fn handlers(scope: Scope, file: &Settings, findings: &mut Findings) {
    let again = format!("mainspring install --scope {scope}");
    for (event, handler) in file.ours() {
        let command = handler
            .get("command")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let program = command.split_whitespace().next().unwrap_or_default();
        if Path::new(program).is_absolute() && !Path::new(program).is_file() {
            findings.error(
                "hooks",
                format!("{event} calls {program}, which is not there"),
                &again,
            );
            return;
        }
        let Ok(wanted) = wanted(Path::new(program)) else {
            return;
        };
        let wanted = wanted.get(event).and_then(Value::as_array);
        let same = |one: &Value| one["args"] == handler.get("args").cloned().unwrap_or_default();
        let least = wanted
            .into_iter()
            .flatten()
            .filter_map(|group| group["hooks"].as_array())
            .flatten()
            .find(|one| same(one))
            .and_then(|one| one["timeout"].as_u64());
        let has = handler.get("timeout").and_then(Value::as_u64);
        if least.is_some_and(|least| has.is_some_and(|has| has < least)) {
            findings.warn(
                "hooks",
                format!(
                    "{event} is given {} s; what it may start takes longer",
                    has.unwrap_or_default()
                ),
                &again,
            );
            return;
        }
    }
}

fn switches(desk: &Desk, files: &Files, findings: &mut Findings) {
    for (scope, file) in files {
        if file.root.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
            findings.error(
                "switched off",
                format!("disableAllHooks is set in the {scope} settings: no hook runs"),
                &format!("delete disableAllHooks from {}", file.path.display()),
            );
        }
    }
    let silenced = desk
        .world
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

fn variables(desk: &Desk, files: &Files, findings: &mut Findings) {
    let value = |variable: &str| {
        let set = files
            .iter()
            .rev()
            .find_map(|(_, file)| file.variable(variable));
        set.map(str::to_owned).or_else(|| desk.world.var(variable))
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

/// Only what is there can be asked; claims are the only ones that need it.
fn github(desk: &Desk, findings: &mut Findings) {
    let Some(gh) = on_path(&desk.world, "gh") else {
        findings.warn(
            "gh",
            "gh is not on the PATH: claims cannot open pull requests",
            "install gh from https://cli.github.com",
        );
        return;
    };
    match ask(&gh, &["auth", "status"]) {
        Err(_) => findings.warn("gh", "gh is not signed in", "gh auth login"),
        Ok(said) => {
            let scopes = said
                .lines()
                .find_map(|line| line.split_once("Token scopes:"));
            let scopes = scopes.map(|(_, scopes)| scopes.trim().replace(['\'', '"'], ""));
            match scopes {
                Some(scopes) if !scopes.split(", ").any(|scope| scope == "repo") => findings.warn(
                    "gh",
                    format!("gh's token may only {}", excerpt(&scopes)),
                    "gh auth refresh --scopes repo",
                ),
                Some(_) | None => findings.fine("gh", "signed in"),
            }
        }
    }
}
