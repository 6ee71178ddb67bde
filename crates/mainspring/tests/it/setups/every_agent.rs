//! One command is the set-up for every coding agent that is on the computer, and another takes it
//! back.

use std::fs;

use serde_json::Value;

use super::Bench;

/// Each agent's program, its name, and the file that has our hooks.
const AGENTS: [(&str, &str, &str); 4] = [
    ("codex", "Codex", ".codex/hooks.json"),
    ("gemini", "Gemini CLI", ".gemini/settings.json"),
    ("qwen", "Qwen Code", ".qwen/settings.json"),
    ("copilot", "Copilot CLI", ".copilot/hooks/mainspring.json"),
];

#[test]
fn one_install_is_for_every_agent_that_is_here_and_one_uninstall_for_all() {
    let bench = Bench::bare();
    for (program, ..) in AGENTS {
        bench.program(program, "echo 9.9.9");
    }
    let said = bench.run(&["install", "--yes", "--trust"]).ok();
    let names = AGENTS.map(|(_, name, _)| name);
    for name in names.into_iter().chain(["Claude Code"]) {
        let proved = format!("proved: a stop, sent as {name} sends it, was held");
        assert!(said.contains(&proved), "{name}: {said}");
    }
    for (_, name, file) in AGENTS {
        let text = fs::read_to_string(bench.env.home().join(file)).unwrap();
        assert!(text.contains("mainspring"), "{name}: {text}");
        // Only one host knows how to wake an agent.
        assert!(!text.contains("asyncRewake"), "{name}: {text}");
        assert!(!text.contains("claim watch"), "{name}: {text}");
    }
    let hooks: Vec<Value> = bench
        .findings()
        .into_iter()
        .filter(|one| one["about"] == "hooks" || one["about"] == "trial")
        .collect();
    assert_eq!(hooks, Vec::<Value>::new());
    let itself = bench.run(&["debug", "self"]).ok();
    for (_, name, _) in AGENTS {
        assert!(
            itself.contains(&format!("registered with {name} ")),
            "{itself}"
        );
    }
    bench.run(&["uninstall", "--all", "--yes"]).ok();
    let itself = bench.run(&["debug", "self"]).ok();
    assert!(itself.contains("registered nowhere here"), "{itself}");
    for (_, name, file) in AGENTS {
        let file = bench.env.home().join(file);
        assert!(!file.exists(), "{name}: {}", file.display());
    }
}

#[test]
fn an_agent_that_is_not_here_gets_no_file() {
    let bench = Bench::installed();
    for (_, name, file) in AGENTS {
        assert!(!bench.env.home().join(file).exists(), "{name}");
    }
}
