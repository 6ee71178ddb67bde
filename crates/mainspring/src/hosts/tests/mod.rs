use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use mainspring_kernel::block_ledger::Cap;
use pretty_assertions::assert_eq;

use super::*;

mod events;
mod matrix;
mod transcripts;

fn given(vars: &[(&str, &str)]) -> Environment {
    Environment::given(vars, Millis(0))
}

#[test]
fn exactly_one_host_speaks_for_whoever_is_not_recognised() {
    let assumed: Vec<&str> = HOSTS
        .iter()
        .filter(|host| host.sent.is_none())
        .map(|host| host.agent.name)
        .collect();
    assert_eq!(assumed, [DEFAULT.agent.name]);
    let nobody = br#"{"hook_event_name":"Stop","of":"a host that nobody knows"}"#;
    let host = decode(&given(&[]), nobody.to_vec(), DecodeAs::Named, None)
        .unwrap()
        .host;
    assert_eq!(host.agent.name, DEFAULT.agent.name);
    assert_eq!(of_environment(&given(&[])).agent.name, DEFAULT.agent.name);
}

#[test]
fn what_a_host_tells_its_hooks_is_asked_of_every_host() {
    for host in HOSTS {
        let Variables {
            project,
            client: process,
            attended,
            session: _,
            plugin: _,
        } = &host.variables;
        if let Some(name) = project {
            let dir = project_dir(&given(&[(name, "/p")]));
            assert_eq!(dir, Some(PathBuf::from("/p")));
        }
        if let Some(name) = process {
            assert_eq!(client(&given(&[(name, "42")])), Some(42));
            assert_eq!(client(&given(&[(name, "none")])), None);
        }
        if let Some(name) = attended {
            assert!(!is_attended(&given(&[(name, "0")])));
            assert!(is_attended(&given(&[(name, "1")])));
        }
    }
    assert!(is_attended(&given(&[])));
    assert_eq!(client(&given(&[])), None);
}

/// A client that an agent started has inherited what the agent's host told.
#[test]
fn what_another_host_tells_is_not_the_senders() {
    let of = |host: &HostSpec| {
        let told = [
            (host.variables.project, "/p"),
            (host.variables.client, "42"),
            (host.variables.attended, "0"),
        ];
        let named = told.into_iter();
        named.filter_map(|(name, value)| Some((name?, value)))
    };
    for sender in HOSTS {
        let others = HOSTS.iter().filter(|other| other.program != sender.program);
        let inherited: Vec<_> = others.flat_map(|other| of(other)).collect();
        let env = given(&inherited);
        let name = sender.agent.name;
        assert_eq!(sender.project_dir(&env), None, "{name}");
        assert_eq!(sender.client(&env), None, "{name}");
        assert!(sender.is_attended(&env), "{name}");
        let own: Vec<_> = inherited.into_iter().chain(of(sender)).collect();
        let env = given(&own);
        let told = sender.variables.project.map(|_| PathBuf::from("/p"));
        assert_eq!(sender.project_dir(&env), told, "{name}");
        assert_eq!(
            sender.is_attended(&env),
            sender.variables.attended.is_none(),
            "{name}"
        );
    }
}

/// Windows separates folders with backslashes.
#[test]
fn a_host_is_recognised_by_the_place_of_its_transcript_on_every_system() {
    let sent = |path: &str, has_mode: bool| {
        let mut stop = serde_json::json!({
            "hook_event_name": "Stop",
            "transcript_path": path,
            "timestamp": "2026-11-18T00:00:00.000Z",
        });
        if has_mode {
            stop["permission_mode"] = "default".into();
        }
        let bytes = stop.to_string().into_bytes();
        let payload = decode(&given(&[]), bytes, DecodeAs::Named, None);
        payload.unwrap().host.program
    };
    for (program, path, has_mode) in [
        ("qwen", ".qwen/projects/p/chats/s.jsonl", true),
        ("copilot", ".copilot/session-state/s/events.jsonl", false),
        ("droid", ".factory/sessions/p/s.jsonl", true),
        ("grok", ".grok/sessions/p/s/updates.jsonl", true),
        (DEFAULT.program, ".claude/projects/p/s.jsonl", true),
    ] {
        let unix = format!("/home/a/{path}");
        let windows = format!(r"C:\Users\a\{}", path.replace('/', r"\"));
        assert_eq!(sent(&unix, has_mode), program, "{unix}");
        assert_eq!(sent(&windows, has_mode), program, "{windows}");
    }
}

#[test]
fn the_default_host_overrides_after_eight_holds_unless_it_is_told_otherwise() {
    let variable = DEFAULT.installation.variables;
    let name = variable
        .iter()
        .find(|one| one.purpose == install::Purpose::Cap)
        .unwrap()
        .name;
    for (value, cap) in [
        ("", Cap::After(8)),
        ("20", Cap::After(20)),
        (" 9 ", Cap::After(9)),
        ("0", Cap::Never),
        ("many", Cap::After(8)),
    ] {
        assert_eq!((DEFAULT.cap)(&given(&[(name, value)])), cap, "{value:?}");
    }
}

/// A host's variables, paths, event names and fields.
const A_HOSTS: &[&str] = &[
    "hosts::claude",
    "CLAUDE_",
    "CLAUDECODE",
    ".claude",
    "claude/settings",
    "hook_event_name",
    "hookEventName",
    "hookSpecificOutput",
    "stop_hook_active",
    "last_assistant_message",
    "notification_type",
    "idle_prompt",
    "disableAllHooks",
    "installed_plugins",
    "\"Stop\"",
    "\"SessionStart\"",
    "\"SessionEnd\"",
    "\"UserPromptSubmit\"",
    "\"UserPromptExpansion\"",
    "\"PreToolUse\"",
    "\"PostToolUse\"",
    "\"Notification\"",
];

/// The exceptions, each with its reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "markers.rs",
        ".claude/idle-loop.local.md",
        "the loop's seed puts it there",
    ),
    (
        "machines/looping/markdown.rs",
        ".claude/idle-loop.local.md",
        "the loop's seed puts it there",
    ),
    (
        "machines/looping/commands/mod.rs",
        ".claude/idle-loop.local.md",
        "the loop's seed puts it there",
    ),
    (
        "machines/tasks/commands/mod.rs",
        ".claude/skills/ship",
        "an example in the help",
    ),
    (
        "demo/scenes.rs",
        ".claude/skills/fix-bug",
        "the demo's project is one of Claude Code's",
    ),
    (
        "debug/simulate.rs",
        "last_assistant_message",
        "an example in the help",
    ),
];

/// The product's source files outside this folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "hosts" | "fuzz" | "tests") {
                sources(&path, out);
            }
        } else if name.ends_with(".rs")
            && !matches!(name, "tests.rs" | "hostile.rs" | "reference.rs")
        {
            out.push(path);
        }
    }
}

#[test]
fn nothing_outside_this_folder_knows_a_host() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 80, "{}", files.len());
    let mut found = Vec::new();
    let mut unused: Vec<&str> = ALLOWED.iter().map(|(file, ..)| *file).collect();
    for path in files {
        let file = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (at, line) in product.lines().enumerate() {
            let mut line = line.to_owned();
            for (_, words, _) in ALLOWED.iter().filter(|(place, ..)| *place == file) {
                if line.contains(words) {
                    line = line.replace(words, "");
                    unused.retain(|place| *place != file);
                }
            }
            let words = A_HOSTS.iter().filter(|word| line.contains(**word));
            found.extend(words.map(|word| format!("{file}:{}: {word}", at + 1)));
        }
    }
    assert_eq!(found, [""; 0], "a host is known outside of its folder");
    assert_eq!(unused, [""; 0], "these need no exception any more");
}
