//! The client in a terminal.

use std::sync::{Arc, Mutex, PoisonError};

use super::Outcome;
use super::stage::{Stage, TOKEN, token};
use crate::hosts::Host;
use crate::model::{Model, Request, Turn};
use crate::process::wait_until;

/// A person interrupts, in the middle of what the agent says: nothing holds that, and the hold is
/// still there for the next stop.
pub(super) fn escape(stage: &Stage) -> Outcome {
    let model = Model::play([
        // Some show only whole lines of what is being said.
        Turn::half("Half of it.\n\nThe other"),
        Turn::say("Hello."),
        Turn::say("Again."),
    ]);
    let cast = stage.installed(&model);
    cast.mainspring(&["pulse", "1"]);
    let window = cast.client.interactive();
    window.enter("PROMPT-1 please", || model.saw_text("PROMPT-1"));
    window.interrupt("Half of it.");
    window.enter("PROMPT-2 please", || model.saw_text("PROMPT-2"));
    wait_until("the second prompt was held once", || {
        model.requests().len() == 3
    });
    model.assert_played_out();
    cast.expect_holds(1);
    Outcome::Pass
}

/// A new session in the same client: the token of the one before opens nothing.
pub(super) fn clear(stage: &Stage) -> Outcome {
    let first = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&first);
    let keep = Turn::decide(move |request| {
        let token = request.last_word(TOKEN).unwrap_or_default();
        kept.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&token);
        Turn::say(format!("First session.\n\n{token}"))
    });
    let old = Turn::decide(move |_| {
        let token = first.lock().unwrap_or_else(PoisonError::into_inner);
        Turn::say(token.clone())
    });
    let model = Model::play([Turn::say("Done."), keep, old, token("TOKEN")]);
    let cast = stage.gated(&model);
    let window = cast.client.interactive();
    window.enter("PROMPT-1 please", || model.saw_text("PROMPT-1"));
    window.wait_for_rest("First session.");
    window.clear(|| !window.shows("First session."));
    window.enter("PROMPT-2 please", || model.saw_text("PROMPT-2"));
    wait_until("the second session is let go", || {
        model.requests().len() == 4
    });
    model.assert_played_out();
    cast.expect_holds(2);
    Outcome::Pass
}

/// The user types an order in the client: the hook carries it out, and the model never reads it.
pub(super) fn order(stage: &Stage) -> Outcome {
    let [stop, resume] = match stage.host {
        Host::Claude => ["/mainspring:stop", "/mainspring:resume"],
        Host::Codex | Host::Gemini | Host::Qwen | Host::Copilot => {
            ["mainspring stop", "mainspring resume"]
        }
        Host::Droid => return Outcome::Cannot("the model read the message when it was tried"),
        Host::Grok => return Outcome::Cannot("messages ran together in its input after one"),
        Host::Opencode | Host::Pi => return Outcome::Cannot("its plugins cannot end a prompt"),
    };
    let model = Model::play([Turn::say("Not held."), Turn::say("Held."), token("TOKEN")]);
    let cast = stage.gated(&model);
    let is_stopped = || cast.mainspring(&["status"]).contains("mainspring resume");
    let window = cast.client.interactive();
    window.enter(stop, is_stopped);
    window.enter("PROMPT-1 please", || model.saw_text("PROMPT-1"));
    window.wait_for_rest("Not held.");
    cast.expect_holds(0);
    window.enter(resume, || !is_stopped());
    window.enter("PROMPT-2 please", || model.saw_text("PROMPT-2"));
    wait_until("the second prompt was held", || model.requests().len() == 3);
    model.assert_played_out();
    cast.expect_holds(1);
    let asked = model.requests();
    let texts = asked.iter().flat_map(Request::texts);
    let orders: Vec<String> = texts
        .filter(|text| text.contains(stop) || text.contains(resume))
        .collect();
    assert!(orders.is_empty(), "the model read of it: {orders:#?}");
    Outcome::Pass
}
