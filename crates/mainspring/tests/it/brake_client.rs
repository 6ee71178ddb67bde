//! The brake in the real client: an agent is held, and the person types in the same terminal.

use std::fs;
use std::path::Path;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Cue, Model, Turn};
use mainspring_testkit::process::{PATIENCE, Running, wait_until};
use mainspring_testkit::tmux::Terminal;
use serde_json::json;

use crate::env::MAINSPRING;

const EVENTS: [&str; 4] = [
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
];

fn mainspring(claude: &Claude, args: &[&str]) -> String {
    let done = Running::start(claude.command(MAINSPRING).args(args)).wait(PATIENCE);
    assert!(done.succeeded(), "{args:?}: {}", done.stderr_text());
    done.stdout_text()
}

/// The client with the commands of our plugin, and with our hook as it is registered here.
fn client(model: &Model, events: &[&str], hook: &Hook) -> Option<Claude> {
    let claude = Claude::new(model)?.in_repository();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let ours = crates.parent().unwrap().join("plugins/mainspring");
    let plugin = claude.home().join("plugin");
    for part in [".claude-plugin", "commands"] {
        fs::create_dir_all(plugin.join(part)).unwrap();
        for file in fs::read_dir(ours.join(part)).unwrap().flatten() {
            fs::copy(file.path(), plugin.join(part).join(file.file_name())).unwrap();
        }
    }
    Some(
        claude
            .plugin_dir(plugin)
            .hooks(events.iter().copied(), hook),
    )
}

/// An agent that is held in a loop. The person types while it works on its second answer.
fn typed_while_held(events: &[&str], words: &str, second: Turn) -> Option<(Claude, Terminal)> {
    let answered = Cue::default();
    let mut turns = vec![Turn::say("One."), second.on(&answered)];
    turns.extend((3..9).map(|number| Turn::say(format!("Answer {number}."))));
    let model = Model::play(turns);
    let claude = client(&model, events, &Hook::exec(MAINSPRING, ["hook"]))?;
    mainspring(&claude, &["loop", "start", "--max", "6"]);
    let terminal = claude.interactive();
    terminal.enter("do it");
    wait_until("the agent is held", || model.requests().len() == 2);
    terminal.enter(words);
    terminal.wait_for("Press up to edit queued messages");
    wait_until("the transcript has it", || {
        transcripts(&claude).contains("\"enqueue\"")
    });
    answered.give();
    terminal.wait_for("you stopped loop; it did not check this stop");
    let log = mainspring(&claude, &["log"]);
    let held = log.lines().filter(|line| line.contains(" held  ")).count();
    assert_eq!(held, 1, "{log}");
    assert!(log.contains("mainspring stop: "), "{log}");
    Some((claude, terminal))
}

fn transcripts(claude: &Claude) -> String {
    let folders = fs::read_dir(claude.home().join(".claude/projects"));
    let files = folders.into_iter().flatten().flatten();
    let files = files.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    let texts = files.flatten().map(|file| fs::read_to_string(file.path()));
    texts.filter_map(Result::ok).collect()
}

fn bash() -> Turn {
    Turn::call("Bash", json!({ "command": "true", "description": "work" }))
}

#[test]
fn a_command_that_waits_lets_the_agent_go_at_its_next_stop() {
    let words = "/mainspring:stop";
    let Some((claude, terminal)) = typed_while_held(&EVENTS, words, Turn::say("Two.")) else {
        return;
    };
    // Its own event comes when the turn is over.
    let screen = terminal.wait_for("done: nothing here holds the agent any more");
    for error in ["Original prompt", "rror:", "task list", "nothing changed"] {
        assert!(!screen.contains(error), "{error}: {screen}");
    }
    let log = mainspring(&claude, &["log"]);
    assert_eq!(log.matches("mainspring stop: ").count(), 2, "{log}");
    terminal.enter("/mainspring:resume");
    terminal.wait_for("done: everything here is resumed");
}

#[test]
fn a_message_that_waits_lets_the_agent_go_at_its_next_stop() {
    // The event of a message comes when it is typed.
    typed_while_held(&EVENTS, "mainspring stop", Turn::say("Two."));
    // Without that event, only the queue tells.
    typed_while_held(
        &["SessionStart", "Stop"],
        "mainspring stop",
        Turn::say("Two."),
    );
}

#[test]
fn a_message_that_the_agent_read_in_its_turn_lets_it_go_at_its_next_stop() {
    typed_while_held(&EVENTS, "mainspring stop", bash());
    let events = ["SessionStart", "Stop"];
    let Some((claude, _terminal)) = typed_while_held(&events, "mainspring stop", bash()) else {
        return;
    };
    assert!(transcripts(&claude).contains("absorbed_mid_turn"));
}

#[test]
fn an_order_works_when_the_hook_is_registered_through_a_shell_or_a_wrapper() {
    let wrapper = ["-k", "1", "30", MAINSPRING, "hook"];
    for hook in [
        Hook::shell(format!("{MAINSPRING} hook; exit $?")),
        Hook::exec("timeout", wrapper),
    ] {
        let model = Model::play([Turn::say("Not held."), Turn::say("Held."), Turn::say("On.")]);
        let Some(claude) = client(&model, &EVENTS, &hook) else {
            return;
        };
        mainspring(&claude, &["loop", "start", "--max", "1"]);
        let terminal = claude.interactive();
        terminal.enter("/mainspring:stop");
        let screen = terminal.wait_for("done: nothing here holds the agent any more");
        assert!(!screen.contains("task list"), "{screen}");
        terminal.enter("do it");
        terminal.wait_for("did not check this stop");
        terminal.enter("mainspring resume");
        terminal.wait_for("done: everything here is resumed");
        assert_eq!(model.requests().len(), 1, "no model is in an order's path");
        terminal.enter("go on");
        terminal.wait_for("On.");
    }
}
