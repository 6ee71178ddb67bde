//! Sub-agents, errors, two sessions, and the other machines.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use super::Outcome;
use super::stage::{Stage, TOKEN, token};
use crate::files;
use crate::hosts::Host;
use crate::model::{Cue, Model, Request, Script, Turn};
use crate::process::{PATIENCE, wait_until};

/// Says the token once it is known.
fn done(request: &Request) -> Turn {
    let token = request.last_word(TOKEN);
    Turn::say(token.unwrap_or_else(|| "Done.".into()))
}

/// A sub-agent's own stop is not held, and its parent's is.
pub(super) fn subagent(stage: &Stage) -> Outcome {
    const TASK: &str = "SUBTASK do it";
    let general = json!({"description": "d", "prompt": TASK, "subagent_type": "general-purpose"});
    let (tool, input) = match stage.host {
        Host::Claude => ("Agent", general),
        Host::Codex => ("multi_agent_v1/spawn_agent", json!({"message": TASK})),
        Host::Gemini => (
            "invoke_agent",
            json!({"agent_name": "generalist", "prompt": TASK}),
        ),
        Host::Qwen => ("agent", general),
        Host::Copilot => (
            "task",
            json!({"name": "n", "description": "d", "prompt": TASK,
                   "agent_type": "general-purpose", "mode": "sync"}),
        ),
        Host::Droid => (
            "Task",
            json!({"description": "d", "prompt": TASK, "subagent_type": "worker"}),
        ),
        Host::Grok => ("spawn_subagent", general),
        Host::Opencode => (
            "task",
            json!({"description": "d", "prompt": TASK, "subagent_type": "general"}),
        ),
        Host::Pi => return Outcome::Cannot("it has no sub-agents"),
    };
    let is_child = |request: &Request| {
        let texts = request.texts();
        let has = |part: &str| texts.iter().any(|text| text.contains(part));
        has(TASK) && !has("PROMPT-1")
    };
    let words = if stage.host == Host::Gemini {
        Turn::call(
            "complete_task",
            json!({"result": "Sub.", "response": "Sub."}),
        )
    } else {
        Turn::say("Sub words.")
    };
    let script = Script::new([Turn::call(tool, input)])
        .and_then_always(done)
        .when("the sub-agent", is_child, [words]);
    let model = Model::play(script);
    let cast = stage.gated(&model);
    cast.run("PROMPT-1 please");
    assert!(cast.holds() >= 1, "the agent was not held");
    let asked = model.requests();
    let children: Vec<&Request> = asked.iter().filter(|request| is_child(request)).collect();
    assert!(!children.is_empty(), "there was no sub-agent");
    // Only the reason of a hold tells the token.
    let is_held = children.iter().any(|request| request.has_text(TOKEN));
    assert!(!is_held, "the sub-agent was held: {children:#?}");
    Outcome::Pass
}

/// Nothing is held after an error, so the client ends.
pub(super) fn api_error(stage: &Stage) -> Outcome {
    let model = Model::play(Script::new([]).and_then_always(|_| Turn::error(401)));
    let cast = stage.gated(&model);
    let _ = cast.client.run("PROMPT-1 please");
    cast.expect_holds(0);
    let asked = model.requests().len();
    assert!(asked < 12, "{asked} requests");
    Outcome::Pass
}

/// The same session goes on: a new prompt needs the token anew.
pub(super) fn resumed(stage: &Stage) -> Outcome {
    let model = Model::play([
        Turn::say("Done."),
        token("TOKEN"),
        Turn::say("Done again."),
        token("TOKEN"),
    ]);
    let cast = stage.gated(&model);
    cast.run("PROMPT-1 please");
    if let Some(run) = cast.client.resume("PROMPT-2 please") {
        cast.expect_success(&run);
    } else {
        let window = cast.client.interactive_with(&["--resume", "--last"]);
        window.enter("PROMPT-2 please", || model.requests().len() == 4);
    }
    let knows = |request: &Request| request.has_text("PROMPT-1");
    assert!(model.requests().iter().all(knows), "it is another session");
    model.assert_played_out();
    cast.expect_holds(2);
    Outcome::Pass
}

/// Two sessions are held at the same time, each until it says its own token.
pub(super) fn two_sessions(stage: &Stage) -> Outcome {
    let cue = Cue::default();
    let held = || [Turn::say("Done."), token("TOKEN").on(&cue)];
    let model = Model::play(Script::new(held()).when_told("PROMPT-1", held()));
    let cast = stage.gated(&model);
    let running = ["PROMPT-1", "PROMPT-2"].map(|prompt| {
        let running = cast.client.start(&format!("{prompt} please"));
        if stage.host == Host::Opencode {
            // Of two that start at once in a new home, one may end by itself.
            wait_until("it has begun", || model.saw_text(prompt));
        }
        running
    });
    let tokens = || {
        let requests = model.requests();
        let tokens = requests
            .iter()
            .filter_map(|request| request.last_word(TOKEN));
        tokens.collect::<BTreeSet<String>>()
    };
    wait_until("both are held", || tokens().len() == 2);
    cue.give();
    for running in running {
        cast.expect_success(&running.wait(PATIENCE));
    }
    model.assert_played_out();
    cast.expect_holds(2);
    Outcome::Pass
}

pub(super) fn check(stage: &Stage) -> Outcome {
    // After a turn without a tool nothing is checked.
    let model = Model::play([
        Turn::shell("echo no > good.txt"),
        Turn::say("Done."),
        Turn::shell("echo yes > good.txt"),
        Turn::say("Now it is green."),
    ]);
    let cast = stage.bare(&model);
    cast.put(
        "mainspring.toml",
        "[[check]]\nname = \"tests\"\nrun = [\"grep\", \"-q\", \"yes\", \"good.txt\"]\n",
    );
    cast.install();
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    cast.expect_holds(1);
    assert!(
        model.saw_text("tests"),
        "the agent was not told which check"
    );
    Outcome::Pass
}

/// The plan is reviewed by another vendor's client than the agent's.
pub(super) fn review(stage: &Stage) -> Outcome {
    let other = if stage.host == Host::Codex {
        Host::Gemini
    } else {
        Host::Codex
    };
    let verdict = json!({
        "verdict": "FAIL",
        "findings": [{
            "id": "F1", "severity": "major", "path": null, "line": null,
            "claim": "There is no test.", "evidence": "plan.md names none.",
        }],
        "earlier": [],
    });
    let judge = Model::play(
        Script::new([Turn::say(verdict.to_string())]).and_then_always(|_| Turn::say("Done.")),
    );
    let model = Model::play(Script::new([]).and_then_always(|_| Turn::say("Done.")));
    let mut cast = stage.bare(&model);
    let Some(reviewer) = cast.client.beside(other, &judge) else {
        return Outcome::Cannot("the reviewer's client is not here");
    };
    cast.put(".taskie/plans/demo/plan.md", "# Plan\n\nBuild it.\n");
    let name = other.name();
    cast.configure(&format!(
        "[review]\nreviewers = [\"{name}\"]\nenv = [\"FAKE_KEY\"]\n"
    ));
    cast.client.know(&reviewer);
    cast.install();
    cast.mainspring(&["plan", "init", "demo"]);
    let _ = cast.client.run("PROMPT-1 please");
    let file = cast
        .client
        .project
        .join(".taskie/plans/demo/plan-review-1.md");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let log = cast.mainspring(&["log"]);
    assert!(text.contains("There is no test."), "{log}");
    assert!(model.saw_text("plan-review-1.md"), "the agent was not told");
    Outcome::Pass
}

/// A person ends it from another terminal, while the agent is held again and again.
pub(super) fn brake(stage: &Stage) -> Outcome {
    let cue = Cue::default();
    let model = Model::play([
        Turn::say("One."),
        Turn::say("Two."),
        Turn::say("Three.").on(&cue),
    ]);
    let cast = stage.gated(&model);
    let run = cast.client.start("PROMPT-1 please");
    wait_until("the agent was held twice", || model.requests().len() == 3);
    cast.mainspring(&["stop"]);
    cue.give();
    cast.expect_success(&run.wait(PATIENCE));
    model.assert_played_out();
    cast.expect_holds(2);
    Outcome::Pass
}

/// The model uses a skill that has a task list.
pub(super) fn skill(stage: &Stage) -> Outcome {
    let (tool, field, folder) = match stage.host {
        Host::Claude => ("Skill", "skill", ".claude/skills"),
        Host::Gemini => ("activate_skill", "name", ".gemini/skills"),
        Host::Qwen => ("skill", "skill", ".qwen/skills"),
        Host::Copilot => ("skill", "skill", ".copilot/skills"),
        Host::Droid => ("Skill", "skill", ".factory/skills"),
        Host::Codex | Host::Grok => return Outcome::Cannot("the model reads a skill in its shell"),
        Host::Opencode | Host::Pi => return Outcome::Cannot("its plugins see no skills"),
    };
    let model = Model::play([Turn::call(tool, json!({field: "ship"})), Turn::say("Done.")]);
    let cast = stage.bare(&model);
    let skill = cast.client.home.join(folder).join("ship");
    let text = "---\nname: ship\ndescription: Ship it\n---\nShip it, step by step.\n";
    files::write(skill.join("SKILL.md"), text);
    let steps = r#"[{"id": 1, "subject": "Set up"}, {"id": 2, "subject": "Build the ship", "blockedBy": [1]}]"#;
    files::write(skill.join("fsm.json"), steps);
    cast.install();
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    // Claude Code has a list of its own.
    let files = cast.client.home.join(".claude/tasks");
    let is_listed = fs::read_dir(files).is_ok_and(|mut lists| lists.next().is_some());
    assert!(
        is_listed || model.saw_text("Build the ship"),
        "the agent got no task list"
    );
    Outcome::Pass
}

/// In its shell an agent may not take a project's trust away, and a command of ours knows its
/// session: by a variable of the host's, or because it is the only one that is live here.
pub(super) fn agent(stage: &Stage) -> Outcome {
    let program = stage.program();
    let model = Model::play([
        Turn::shell(format!("{program} untrust; echo status $?")),
        Turn::shell(format!("{program} gate on; echo switched $?")),
        Turn::say("Done."),
        token("TOKEN"),
    ]);
    let cast = stage.installed(&model);
    cast.run("PROMPT-1 please");
    assert!(!model.saw_text("status 0"), "the agent may untrust");
    assert!(model.saw_text("switched 0"), "the agent may not switch");
    model.assert_played_out();
    cast.expect_holds(1);
    Outcome::Pass
}
