//! What the code relies on in each host, as named checks against its real client: this is how we
//! learn of a host's change before its users do.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::clients::{self, workspace};
use crate::files;
use crate::hosts::{Host, HostClient};
use crate::model::{Model, Script, Turn};
use crate::process::{PATIENCE, Running};

/// Check against the real clients what the code relies on
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this host, by its program's name
    #[arg(long)]
    host: Option<String>,
    /// The newest published version instead of the pinned one
    #[arg(long)]
    newest: bool,
}

/// One fact, and whether it holds.
struct Fact {
    name: String,
    holds: bool,
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command's output"
)]
pub fn run(args: &Args) -> ExitCode {
    let mut changed = false;
    let wanted = |host: &Host| {
        let has_hooks = !matches!(host, Host::Opencode | Host::Pi);
        let is_named = args.host.as_deref().is_none_or(|name| name == host.name());
        has_hooks && is_named && (args.newest || host.is_here())
    };
    println!("| host | version | fact | |\n|---|---|---|---|");
    for host in Host::ALL.into_iter().filter(wanted) {
        let pinned = || (clients::pinned_version(host.name()).to_owned(), None);
        let newest = args.newest.then(|| fetch_newest(host));
        let (shown, program) = match newest.unwrap_or_else(|| Ok(pinned())) {
            Ok(found) => found,
            Err(problem) => {
                eprintln!("{}: {problem}", host.name());
                changed = true;
                continue;
            }
        };
        for fact in facts(host, program) {
            let outcome = if fact.holds { "holds" } else { "changed" };
            changed |= !fact.holds;
            println!("| {} | {shown} | {} | {outcome} |", host.name(), fact.name);
        }
    }
    if changed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// The newest version, and its program if it is not the pinned one: that is installed beside the
/// pinned ones.
fn fetch_newest(host: Host) -> Result<(String, Option<PathBuf>), String> {
    let name = host.name();
    let package = clients::package(name);
    let version = npm(&["view", package, "version"])?.trim().to_owned();
    if version == clients::pinned_version(name) {
        return Ok((version, None));
    }
    let place = workspace().join(format!("target/clients/{name}-{version}"));
    let folder = place.to_string_lossy();
    let wanted = format!("{package}@{version}");
    npm(&[
        "install",
        "--no-audit",
        "--no-fund",
        "--prefix",
        &folder,
        &wanted,
    ])?;
    let program = place.join("node_modules").join(clients::program(name));
    Ok((version, Some(program)))
}

/// What npm prints.
fn npm(args: &[&str]) -> Result<String, String> {
    let mut npm = Command::new("npm");
    if let Some(node) = clients::node_folder() {
        let path = std::env::var("PATH").unwrap_or_default();
        npm.env("PATH", format!("{}:{path}", node.display()));
    }
    let done = Running::start(npm.args(args)).wait(PATIENCE);
    if done.succeeded() {
        return Ok(done.stdout_text());
    }
    Err(format!("npm {}: {}", args.join(" "), done.stderr_text()))
}

fn facts(host: Host, program: Option<PathBuf>) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(held_once(host, program.clone()));
    facts.extend(told_and_refused(host, program.clone()));
    facts.extend(held_always(host, program.clone()));
    facts.extend(ended_prompt(host, program));
    facts
}

/// Where a person's order may be a message: the hook ends it, and the model does not read it.
fn ended_prompt(host: Host, program: Option<PathBuf>) -> Option<Fact> {
    if !matches!(
        host,
        Host::Codex | Host::Gemini | Host::Qwen | Host::Copilot
    ) {
        return None;
    }
    let model = Model::play(Script::new([]).and_then_always(|_| Turn::say("Done.")));
    let client = client(host, &model, program);
    hook(&client, host.prompt(), BLOCK, 1);
    let _ = client.run("PROMPT-1 please");
    let was_asked = !client.hook_calls().is_empty();
    Some(fact(
        "a block at a prompt keeps it from the model",
        was_asked && !model.saw_text("PROMPT-1"),
    ))
}

fn fact(name: impl Into<String>, holds: bool) -> Fact {
    Fact {
        name: name.into(),
        holds,
    }
}

/// The client, talking to this model.
fn client(host: Host, model: &Model, program: Option<PathBuf>) -> HostClient {
    let client = match program {
        Some(program) => Some(HostClient::at(host, model, program)),
        None => HostClient::new(host, model),
    };
    client.expect("the client is installed: run scripts/fetch-clients")
}

/// A hook that prints this, as often as `most` says.
fn hook(client: &HostClient, event: &str, prints: &str, most: u32) {
    let count = client.home.join(format!("{event}.count"));
    let script = client.home.join(format!("{event}.sh"));
    let mut text = String::from("#!/bin/sh\ncat > /dev/null\n");
    let count = count.display();
    write!(
        text,
        "n=$(cat '{count}' 2>/dev/null || echo 0)\necho $((n+1)) > '{count}'\n\
         [ \"$n\" -lt {most} ] && printf '%s' '{prints}'\nexit 0\n"
    )
    .expect("a string takes it");
    files::write(&script, text);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    client.hook(event, &script.display().to_string());
}

const BLOCK: &str = r#"{"decision":"block","reason":"REASON-ONE go on"}"#;

fn held_once(host: Host, program: Option<PathBuf>) -> Vec<Fact> {
    let model = Model::play(Script::new([]).and_then_always(|request| {
        let again = request.has_text("REASON-ONE");
        Turn::say(if again { "Words two." } else { "Words one." })
    }));
    let client = client(host, &model, program);
    hook(&client, host.stop(), BLOCK, 1);
    hook(&client, host.prompt(), "", 0);
    let _ = client.run("PROMPT-1 please");
    let calls = client.hook_calls();
    let back = calls.iter().any(|call| {
        let prompt = call.input["prompt"].as_str().unwrap_or_default();
        call.event() == host.prompt() && prompt.contains("REASON-ONE")
    });
    let stops: Vec<&Value> = calls
        .iter()
        .filter(|call| call.event() == host.stop())
        .map(|call| &call.input)
        .collect();
    let first = stops.first().copied().unwrap_or(&Value::Null);
    let comes_back = matches!(host, Host::Gemini | Host::Qwen | Host::Copilot);
    let mut facts = vec![
        fact(
            "a block at a stop continues the agent with its reason",
            model.saw_text("REASON-ONE go on"),
        ),
        if comes_back {
            fact("our reason comes back as a prompt event", back)
        } else {
            fact("our reason is no prompt event", !back)
        },
    ];
    match host {
        Host::Claude | Host::Codex | Host::Qwen => facts.push(fact(
            "the stop has the last words",
            first["last_assistant_message"] == "Words one.",
        )),
        Host::Grok => facts.push(fact(
            "the stop has the last words",
            first["lastAssistantMessage"] == "Words one.",
        )),
        Host::Opencode | Host::Pi => {}
        Host::Gemini | Host::Droid => facts.push(fact(
            "the transcript has the last words at the end",
            transcript(first).contains("Words two."),
        )),
        Host::Copilot => {
            let stamp = first["timestamp"].as_str().unwrap_or_default();
            let about_stop = |line: &str| {
                line.contains("\"hook.start\"")
                    && line.contains("\"agentStop\"")
                    && line.contains(&format!("\"timestamp\":\"{stamp}\""))
            };
            let lines = transcript(first);
            facts.push(fact(
                "the transcript's line about a stop has the stop's time",
                !stamp.is_empty() && lines.lines().any(about_stop),
            ));
        }
    }
    facts
}

/// The transcript that an event names, as it is now.
fn transcript(event: &Value) -> String {
    let path = event["transcript_path"].as_str().unwrap_or_default();
    fs::read_to_string(path).unwrap_or_default()
}

fn told_and_refused(host: Host, program: Option<PathBuf>) -> Vec<Fact> {
    let model = Model::play(
        Script::new([
            Turn::shell("touch refused.txt"),
            Turn::shell("env > shell.txt"),
            Turn::say("Done."),
        ])
        .and_then_always(|_| Turn::say("Done.")),
    );
    let client = client(host, &model, program);
    let context = match host {
        Host::Copilot => r#"{"additionalContext":"CONTEXT-ONE"}"#,
        _ => {
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"CONTEXT-ONE"}}"#
        }
    };
    let (before, deny) = match host {
        Host::Gemini => ("BeforeTool", r#"{"decision":"deny","reason":"DENIED"}"#),
        _ => (
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"DENIED"}}"#,
        ),
    };
    hook(&client, "SessionStart", context, 1);
    hook(&client, before, deny, 1);
    let _ = client.run("PROMPT-1 please");
    let shell = fs::read_to_string(client.project.join("shell.txt")).unwrap_or_default();
    let variable = match host {
        Host::Claude => "CLAUDE_CODE_SESSION_ID=",
        Host::Grok => "GROK_SESSION_ID=",
        Host::Droid | Host::Opencode | Host::Pi => "",
        Host::Codex => "CODEX_SESSION_ID=",
        Host::Gemini => "GEMINI_CLI=1",
        Host::Qwen => "QWEN_CODE_SESSION_ID=",
        Host::Copilot => "COPILOT_AGENT_SESSION_ID=",
    };
    let told = model.saw_text("CONTEXT-ONE");
    let mut facts = vec![
        if host == Host::Grok {
            fact("text at a session's start is lost", !told)
        } else {
            fact("text at a session's start reaches the model", told)
        },
        fact(
            "a refused tool does not run",
            !client.project.join("refused.txt").exists() && model.saw_text("DENIED"),
        ),
    ];
    if !variable.is_empty() {
        facts.push(fact(
            format!("the agent's shell has {}", variable.trim_end_matches('=')),
            shell.lines().any(|line| line.starts_with(variable)),
        ));
    }
    facts
}

/// More than any host's limit.
const MANY: u32 = 12;

fn held_always(host: Host, program: Option<PathBuf>) -> Vec<Fact> {
    let model = Model::play(Script::new([]).and_then_always(|_| Turn::say("Done.")));
    let client = client(host, &model, program);
    hook(&client, host.stop(), BLOCK, MANY);
    let _ = client.run("PROMPT-1 please");
    let accepted = model.requests().len().saturating_sub(1);
    let (name, expected) = match host {
        Host::Qwen => ("it accepts 7 holds in a row", 7),
        Host::Claude | Host::Copilot | Host::Grok => ("it accepts 8 holds in a row", 8),
        _ => ("it has no limit on holds", MANY),
    };
    vec![fact(name, u32::try_from(accepted) == Ok(expected))]
}
