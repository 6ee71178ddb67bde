//! The real clients of other hosts, with a scripted model: held once and let go, a token in a
//! fence, the limit on holds, and an order that is typed as a message.

use mainspring_testkit::hosts::{Host, HostClient};
use mainspring_testkit::model::{Model, Script, Turn};
use mainspring_testkit::process::wait_until;

use crate::env::MAINSPRING;

/// The token has the session's id, which only the reason tells.
fn token(said: &str) -> Turn {
    let said = said.to_owned();
    Turn::decide(move |request| {
        let token = request.last_word("TASKMASTER_DONE::");
        Turn::say(said.replace("TOKEN", &token.unwrap_or_default()))
    })
}

/// The client with our hook at each event that matters to a stop.
fn hooked(host: Host, model: &Model) -> Option<HostClient> {
    let client = HostClient::new(host, model)?;
    for event in ["SessionStart", host.prompt(), host.stop()] {
        client.hook(event, &format!("{MAINSPRING} hook"));
    }
    Some(client)
}

fn mainspring(client: &HostClient, args: &[&str]) -> String {
    client.person(MAINSPRING, args)
}

/// Held without the token, and with the token in a fence, and let go once it is said bare. A tool
/// that is used between the holds is seen.
fn journey(host: Host) {
    let model = Model::play(Script::new([
        Turn::say("Done, I think."),
        Turn::shell("false"),
        token("As asked:\n\n```\nTOKEN\n```"),
        token("Checked.\n\nTOKEN"),
    ]));
    let Some(client) = hooked(host, &model) else {
        return;
    };
    mainspring(&client, &["trust", "--yes"]);
    mainspring(&client, &["gate", "on", "--project"]);
    let run = client.run("do it please");
    let name = host.name();
    assert!(
        run.succeeded(),
        "{name}: {}{}",
        run.stdout_text(),
        run.stderr_text()
    );
    assert_eq!(
        client.held(),
        [true, true, false],
        "{name}: {:#?}",
        client.hook_calls()
    );
    assert!(model.saw_text("token in a code fence"), "{name}");
    model.assert_played_out();
    let log = mainspring(&client, &["log"]);
    let held = log.lines().filter(|line| line.contains(" held  ")).count();
    assert_eq!(held, 2, "{name}: {log}");
    let sessions = mainspring(&client, &["sessions", "--json"]);
    assert!(
        sessions.contains(client_name(host)) || host == Host::Codex,
        "{sessions}"
    );
    // npm's script and the program that it starts are one client, which no agent started.
    assert!(!sessions.contains("helper"), "{name}: {sessions}");
}

fn client_name(host: Host) -> &'static str {
    match host {
        Host::Gemini => "Gemini CLI",
        Host::Qwen => "Qwen Code",
        Host::Copilot => "Copilot CLI",
        other => other.name(),
    }
}

/// At the limit on holds we let go ourselves and say so: at the host's, where it has one, and at
/// our own otherwise. A tool call resets the count only where the host does so.
fn cap(host: Host) {
    let (limit, tools_reset) = match host {
        Host::Qwen => (7, false),
        Host::Copilot => (8, false),
        _ => (3, true),
    };
    let mut turns = Vec::new();
    if tools_reset {
        turns.extend([Turn::say("Done."), Turn::say("Done."), Turn::shell("true")]);
    } else {
        turns.extend([Turn::say("Done."), Turn::shell("true")]);
    }
    let more = if tools_reset { limit + 1 } else { limit };
    turns.extend((0..more).map(|n| Turn::say(format!("Done {n}."))));
    let model = Model::play(Script::new(turns));
    let Some(client) = hooked(host, &model) else {
        return;
    };
    let config = client.home.join(".config/mainspring");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[host]\ncap = 3\n").unwrap();
    mainspring(&client, &["gate", "on", "--project"]);
    let run = client.run("do it please");
    let name = host.name();
    assert!(
        run.succeeded(),
        "{name}: {}{}",
        run.stdout_text(),
        run.stderr_text()
    );
    let held = client.held();
    let (last, before) = held.split_last().unwrap();
    assert!(!last && before.iter().all(|held| *held), "{name}: {held:?}");
    let holds = if tools_reset { 2 + limit } else { limit };
    assert_eq!(before.len(), holds, "{name}");
    let calls = client.hook_calls();
    let last = calls
        .iter()
        .rfind(|call| call.event() == host.stop())
        .unwrap();
    let note = last.answer()["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        note.contains(&format!("let go after {limit} blocks")),
        "{name}: {note}"
    );
    model.assert_played_out();
}

#[test]
fn codex_is_held_and_let_go() {
    journey(Host::Codex);
}

#[test]
fn gemini_is_held_and_let_go() {
    journey(Host::Gemini);
}

#[test]
fn qwen_is_held_and_let_go() {
    journey(Host::Qwen);
}

#[test]
fn copilot_is_held_and_let_go() {
    journey(Host::Copilot);
}

#[test]
fn codex_is_let_go_at_our_own_limit() {
    cap(Host::Codex);
}

#[test]
fn gemini_is_let_go_at_our_own_limit() {
    cap(Host::Gemini);
}

#[test]
fn qwen_is_let_go_before_it_overrides_us() {
    cap(Host::Qwen);
}

#[test]
fn copilot_is_let_go_before_it_overrides_us() {
    cap(Host::Copilot);
}

/// A user without a second terminal types an order as a message: the hook carries it out, twice,
/// and the model reads nothing of it.
fn orders(host: Host) {
    let model = Model::play([Turn::say("Not held."), Turn::say("Held."), token("TOKEN")]);
    let Some(client) = HostClient::new(host, &model) else {
        return;
    };
    let install = ["install", "--host", host.name(), "--yes", "--trust"];
    mainspring(&client, &install);
    mainspring(&client, &["gate", "on", "--project"]);
    let is_stopped = || mainspring(&client, &["status"]).contains("mainspring resume");
    let window = client.interactive();
    window.enter("mainspring stop", is_stopped);
    window.enter("PROMPT-1 please", || model.saw_text("PROMPT-1"));
    window.wait_for_rest("Not held.");
    window.enter("mainspring resume", || !is_stopped());
    window.enter("PROMPT-2 please", || model.saw_text("PROMPT-2"));
    wait_until("the second prompt was held", || model.requests().len() == 3);
    model.assert_played_out();
    let is_read = model.saw_text("mainspring stop") || model.saw_text("mainspring resume");
    assert!(!is_read, "{}: {:#?}", host.name(), model.requests());
}

#[test]
fn an_order_is_typed_in_codex() {
    orders(Host::Codex);
}

#[test]
fn an_order_is_typed_in_gemini() {
    orders(Host::Gemini);
}

#[test]
fn an_order_is_typed_in_qwen() {
    orders(Host::Qwen);
}

#[test]
fn an_order_is_typed_in_copilot() {
    orders(Host::Copilot);
}
