//! Claude Code and Codex in one repository at once.

use std::fs;

use mainspring_testkit::hosts::{Host, HostClient};
use mainspring_testkit::model::{Cue, Model, Request, Turn};
use mainspring_testkit::process::{PATIENCE, Running, wait_until};
use serde_json::Value;

use crate::env::MAINSPRING;

const TOKEN: &str = "TASKMASTER_DONE::";

fn mainspring(client: &HostClient, args: &[&str]) -> String {
    client.person(MAINSPRING, args)
}

/// Both clients in one home and one repository that a person trusts, with our hooks.
fn both(claude: &Model, codex: &Model) -> Option<[HostClient; 2]> {
    let claude = HostClient::new(Host::Claude, claude)?;
    let codex = claude.beside(Host::Codex, codex)?;
    let said = mainspring(&codex, &["install", "--host", "all", "--yes", "--trust"]);
    assert_eq!(said.matches("proved:").count(), 2, "{said}");
    Some([claude, codex])
}

fn token(request: &Request) -> String {
    request.last_word(TOKEN).unwrap_or_default()
}

/// The token that this model was told.
fn told(model: &Model) -> String {
    model.wait_for_text(TOKEN);
    let requests = model.requests();
    let mut tokens = requests.iter().map(token);
    tokens.find(|token| !token.is_empty()).unwrap()
}

fn ended(client: &HostClient, running: Running) {
    let run = running.wait(PATIENCE);
    let output = [run.stdout_text(), run.stderr_text()].concat();
    assert!(run.succeeded(), "{}: {output}", client.host.name());
}

/// Each is held until it says its own token: the other's opens nothing. The ledger counts each
/// session's holds alone, and each record names its own session.
#[test]
fn two_hosts_in_one_repository_are_kept_apart() {
    let cue = Cue::default();
    let own = || Turn::decide(|request| Turn::say(token(request)));
    let claude_model = Model::play([Turn::say("Done."), own().on(&cue)]);
    let (theirs, wait) = std::sync::mpsc::channel::<String>();
    let other = Turn::decide(move |_| Turn::say(wait.recv_timeout(PATIENCE).unwrap()));
    let codex_model = Model::play([Turn::say("Done."), other, own()]);
    let Some([claude, codex]) = both(&claude_model, &codex_model) else {
        return;
    };
    mainspring(&claude, &["gate", "on", "--project"]);
    let first = claude.start("PROMPT-1 please");
    let claudes = told(&claude_model);
    let second = codex.start("PROMPT-2 please");
    let codexs = told(&codex_model);
    assert_ne!(claudes, codexs);
    // Both are held at this moment.
    let sessions = mainspring(&claude, &["sessions", "--json"]);
    for token in [&claudes, &codexs] {
        let id = token.trim_start_matches(TOKEN);
        assert!(sessions.contains(id), "{id}: {sessions}");
    }
    for name in ["Claude Code", "Codex"] {
        assert!(sessions.contains(name), "{sessions}");
    }
    theirs.send(claudes).unwrap();
    ended(&codex, second);
    codex_model.assert_played_out();
    cue.give();
    ended(&claude, first);
    claude_model.assert_played_out();
    let log = mainspring(&claude, &["log"]);
    let held = log.lines().filter(|line| line.contains(" held  ")).count();
    assert_eq!(held, 3, "one in Claude Code, two in Codex: {log}");
}

/// A loop belongs to the session that started it: the other host's agent is not held by it, and
/// not even while both run.
#[test]
fn a_loop_of_one_host_does_not_hold_the_other() {
    let cue = Cue::default();
    let start = format!("{MAINSPRING} loop start --max 5 --prompt 'Count'");
    let claude_model = Model::play([
        Turn::shell(start),
        Turn::say("One."),
        Turn::say("Two.\n\n<loop-done>COMPLETE</loop-done>").on(&cue),
    ]);
    let codex_model = Model::play([Turn::say("Nothing holds me.")]);
    let Some([claude, codex]) = both(&claude_model, &codex_model) else {
        return;
    };
    let first = claude.start("PROMPT-1 please");
    claude_model.wait_for_text("Count");
    wait_until("the loop holds Claude Code", || {
        claude_model.requests().len() == 3
    });
    let second = codex.start("PROMPT-2 please");
    ended(&codex, second);
    codex_model.assert_played_out();
    cue.give();
    ended(&claude, first);
    claude_model.assert_played_out();
}

/// A plan that Claude Code's agent began is Claude Code's, until Codex's agent adopts it.
#[test]
fn a_plan_begun_in_one_host_is_adopted_in_the_other() {
    let init = format!("{MAINSPRING} plan init demo");
    let adopt = format!("printenv CODEX_SESSION_ID > session.txt; {MAINSPRING} plan adopt");
    let claude_model = Model::play([Turn::shell(init), Turn::say("Planned.")]);
    let codex_model = Model::play([
        Turn::say("Nothing of mine."),
        Turn::shell(adopt),
        Turn::say("Mine now."),
    ]);
    let Some([claude, codex]) = both(&claude_model, &codex_model) else {
        return;
    };
    let plan = claude.project.join(".taskie/plans/demo");
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Plan\n\nBuild it.\n").unwrap();
    let owner = |client: &HostClient| -> Option<String> {
        let text = mainspring(client, &["plan", "status", "--json"]);
        let status: Value = serde_json::from_str(&text).unwrap();
        status["owner"].as_str().map(str::to_owned)
    };
    // Whose the plan is shows without a review.
    mainspring(&claude, &["pause", "1h", "review"]);
    ended(&claude, claude.start("PROMPT-1 please"));
    claude_model.assert_played_out();
    let first = owner(&claude).unwrap();
    ended(&codex, codex.start("PROMPT-2 please"));
    assert_eq!(owner(&codex), Some(first.clone()), "a stop takes nothing");
    ended(&codex, codex.start("PROMPT-3 please"));
    codex_model.assert_played_out();
    let session = fs::read_to_string(codex.project.join("session.txt")).unwrap();
    assert_eq!(owner(&codex).as_deref(), Some(session.trim()));
    assert_ne!(first, session.trim());
}
