//! Stops that are held, and what lets go.

use super::Outcome;
use super::stage::{Stage, TOKEN, token};
use crate::hosts::Host;
use crate::model::{Model, Script, Turn};

pub(super) fn held_once(stage: &Stage) -> Outcome {
    let model = Model::play([Turn::say("Hello."), Turn::say("Again.")]);
    let cast = stage.installed(&model);
    cast.mainspring(&["pulse", "1"]);
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    Outcome::Pass
}

pub(super) fn token_in_a_fence(stage: &Stage) -> Outcome {
    let model = Model::play([
        Turn::say("Done, I think."),
        token("As asked:\n\n```\nTOKEN\n```"),
        token("Checked.\n\nTOKEN"),
    ]);
    let cast = stage.gated(&model);
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    cast.expect_holds(2);
    assert!(model.saw_text("token in a code fence"));
    Outcome::Pass
}

pub(super) fn token_in_a_result(stage: &Stage) -> Outcome {
    let print = Turn::decide(|request| {
        let token = request.last_word(TOKEN).unwrap_or_default();
        Turn::shell(format!("echo {token}"))
    });
    let model = Model::play([
        Turn::say("Done, I think."),
        print,
        Turn::say("I looked."),
        token("Checked.\n\nTOKEN"),
    ]);
    let cast = stage.gated(&model);
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    cast.expect_holds(2);
    Outcome::Pass
}

pub(super) fn token_bare(stage: &Stage) -> Outcome {
    let model = Model::play([Turn::say("Done, I think."), token("TOKEN")]);
    let cast = stage.gated(&model);
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    cast.expect_holds(1);
    Outcome::Pass
}

pub(super) fn loop_of_three(stage: &Stage) -> Outcome {
    let model = Model::play([
        Turn::say("One."),
        Turn::say("Two."),
        Turn::say("Three.\n\n<loop-done>COMPLETE</loop-done>"),
    ]);
    let cast = stage.installed(&model);
    cast.mainspring(&["loop", "start", "--max", "5", "--prompt", "Count to three"]);
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    cast.expect_holds(2);
    Outcome::Pass
}

/// At the limit we let go ourselves and say so: at the host's, or at our own where it has none.
pub(super) fn cap(stage: &Stage) -> Outcome {
    let limit = match stage.host {
        Host::Claude | Host::Copilot | Host::Grok => 8,
        Host::Qwen => 7,
        Host::Codex | Host::Gemini | Host::Droid | Host::Opencode | Host::Pi => 3,
    };
    let turns = (0..=limit).map(|n| Turn::say(format!("Done {n}.")));
    let model = Model::play(Script::new(turns));
    let cast = stage.gated(&model);
    cast.configure("[host]\ncap = 3\n");
    cast.run("PROMPT-1 please");
    model.assert_played_out();
    cast.expect_holds(limit);
    // Grok Build does not ask once more after the last hold that it accepts.
    if stage.host != Host::Grok {
        let why = cast.mainspring(&["why"]);
        assert!(why.contains(&format!("{limit} blocks")), "{why}");
    }
    Outcome::Pass
}
