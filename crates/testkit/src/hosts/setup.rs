//! What each client needs to talk to the scripted model and to nobody else.

mod second_tier;

use std::path::Path;

use serde_json::{Value, json};

use super::{Host, HostClient};

/// A port that nothing listens on.
const NOWHERE: &str = "http://127.0.0.1:9";

pub(super) fn prepare(client: &mut HostClient, model: &str) {
    for name in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
    ] {
        client.set(name, NOWHERE);
    }
    client.set("NO_PROXY", "127.0.0.1,localhost");
    client.set("no_proxy", "127.0.0.1,localhost");
    match client.host {
        Host::Claude => claude(client, model),
        Host::Codex => codex(client, model),
        Host::Gemini => gemini(client, model),
        Host::Qwen => qwen(client, model),
        Host::Copilot => copilot(client, model),
        Host::Droid => second_tier::droid(client, model),
        Host::Grok => second_tier::grok(client, model),
        Host::Opencode => second_tier::opencode(client, model),
        Host::Pi => second_tier::pi(client, model),
    }
}

fn claude(client: &mut HostClient, model: &str) {
    for (name, value) in [
        ("ANTHROPIC_BASE_URL", model),
        ("ANTHROPIC_API_KEY", "dummy"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ] {
        client.set(name, value);
    }
    let project = client.project.to_string_lossy().into_owned();
    client.edit(".claude.json", |memory| {
        *memory = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true}},
        });
    });
    client.edit(".claude/settings.json", |settings| {
        *settings = json!({
            "permissions": {
                "defaultMode": "default",
                "allow": ["Bash", "Edit", "Write", "Skill"],
            },
        });
    });
}

fn codex(client: &mut HostClient, model: &str) {
    client.set("FAKE_KEY", "dummy");
    client.set("CODEX_HOME", client.home.join(".codex"));
    let project = client.project.display();
    let config = format!(
        "model = \"gpt-5-codex\"\nmodel_provider = \"fake\"\n\
         [model_providers.fake]\nname = \"fake\"\nbase_url = \"{model}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\nrequest_max_retries = 0\n\
         stream_max_retries = 0\n[projects.\"{project}\"]\ntrust_level = \"trusted\"\n"
    );
    client.put(Path::new(".codex/config.toml"), &config);
}

fn gemini(client: &mut HostClient, model: &str) {
    for (name, value) in [
        ("GEMINI_API_KEY", "dummy"),
        ("GOOGLE_GEMINI_BASE_URL", model),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ] {
        client.set(name, value);
    }
    client.edit(".gemini/settings.json", |settings| {
        *settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": false, "disableUpdateNag": true},
            "privacy": {"usageStatisticsEnabled": false},
            "model": {"name": "gemini-2.5-pro"},
        });
    });
}

fn qwen(client: &mut HostClient, model: &str) {
    client.set("OPENAI_API_KEY", "dummy");
    client.set("OPENAI_BASE_URL", format!("{model}/v1"));
    client.set("OPENAI_MODEL", "qwen3-coder-plus");
    client.set("QWEN_TELEMETRY_ENABLED", "false");
    client.edit(".qwen/settings.json", |settings| {
        *settings = json!({
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"enableAutoUpdate": false, "disableUpdateNag": true},
            "privacy": {"usageStatisticsEnabled": false},
            // Else it asks the model once more, with tools, after each turn.
            "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
        });
    });
}

fn copilot(client: &mut HostClient, model: &str) {
    client.set("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1"));
    client.set("COPILOT_HOME", client.home.join(".copilot"));
    for (name, value) in [
        ("COPILOT_PROVIDER_API_KEY", "dummy"),
        ("COPILOT_MODEL", "gpt-4.1"),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ] {
        client.set(name, value);
    }
}

/// The arguments of a headless run in which every tool may run.
pub(super) fn args(host: Host, prompt: &str) -> Vec<String> {
    let args: &[&str] = match host {
        Host::Claude => &["--model", "sonnet", "--output-format", "json", "-p"],
        Host::Codex => &[
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
        ],
        Host::Gemini => &["-y", "--skip-trust", "-o", "json", "-p"],
        Host::Qwen => &["-y", "-o", "json", "-p"],
        Host::Copilot => &[
            "--allow-all-tools",
            "--allow-all-paths",
            "--output-format",
            "json",
            "-p",
        ],
        Host::Droid => &[
            "exec",
            "--skip-permissions-unsafe",
            "-m",
            "custom:fake-0",
            "-o",
            "json",
        ],
        Host::Grok => &[
            "--always-approve",
            "-m",
            "fake",
            "--output-format",
            "json",
            "-p",
        ],
        Host::Opencode => &["run", "--format", "json"],
        Host::Pi => &[
            "--offline",
            "--mode",
            "json",
            "--provider",
            "fake",
            "--model",
            "fake-model",
            "-p",
        ],
    };
    with(args, prompt)
}

/// The same, in the session before; `None` for a host that fetches that from its own servers.
pub(super) fn resume_args(host: Host, prompt: &str) -> Option<Vec<String>> {
    let first: &[&str] = match host {
        Host::Claude | Host::Qwen | Host::Copilot | Host::Grok | Host::Pi => &["--continue"],
        Host::Gemini => &["--resume", "latest"],
        Host::Codex => {
            return Some(with(
                &[
                    "exec",
                    "resume",
                    "--last",
                    "--json",
                    "--skip-git-repo-check",
                    "--dangerously-bypass-approvals-and-sandbox",
                    "--dangerously-bypass-hook-trust",
                ],
                prompt,
            ));
        }
        Host::Opencode => {
            return Some(with(&["run", "--format", "json", "--continue"], prompt));
        }
        Host::Droid => return None,
    };
    let first = first.iter().map(|word| (*word).to_owned());
    Some(first.chain(args(host, prompt)).collect())
}

fn with(args: &[&str], prompt: &str) -> Vec<String> {
    let args = args.iter().copied().chain([prompt]);
    args.map(str::to_owned).collect()
}

pub(super) fn add_hook(client: &HostClient, event: &str, line: &str) {
    add_handler(client, event, line, &Value::Null);
}

/// A command line, and what some hosts take as its arguments.
pub(super) fn add_handler(client: &HostClient, event: &str, line: &str, args: &Value) {
    let append = |handler: Value| {
        move |settings: &mut Value| {
            let list = &mut settings["hooks"][event];
            match list {
                Value::Array(list) => list.push(handler),
                other => *other = json!([handler]),
            }
        }
    };
    let with_args = |mut handler: Value| {
        if !args.is_null() {
            handler["args"] = args.clone();
        }
        handler
    };
    let in_group = |timeout: u64| {
        let handler = json!({"type": "command", "command": line, "timeout": timeout});
        json!({"hooks": [with_args(handler)]})
    };
    match client.host {
        Host::Claude => client.edit(".claude/settings.json", append(in_group(60))),
        Host::Codex => client.edit(".codex/hooks.json", append(in_group(60))),
        Host::Gemini => client.edit(".gemini/settings.json", append(in_group(60_000))),
        Host::Qwen => client.edit(".qwen/settings.json", append(in_group(60))),
        Host::Copilot => client.edit(".copilot/hooks/test.json", |settings| {
            settings["version"] = 1.into();
            let handler = json!({"type": "command", "bash": line, "timeoutSec": 60});
            append(with_args(handler))(settings);
        }),
        Host::Droid => client.edit(".factory/settings.json", append(in_group(60))),
        Host::Grok => client.edit(".grok/hooks/test.json", append(in_group(60))),
        Host::Opencode | Host::Pi => panic!("{} has plugins, and no hooks", client.host.name()),
    }
}
