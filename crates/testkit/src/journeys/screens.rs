//! The client in a terminal.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Outcome;
use super::stage::{Stage, TOKEN, token};
use crate::model::{Model, Turn};
use crate::process::wait_until;
use crate::tmux::Terminal;

const NOT_TRIED: Outcome = Outcome::Cannot("not tried in a terminal");

/// How long a client may take to take a line, before Enter is pressed again: right after a text,
/// some take Enter for a part of what was pasted.
const AGAIN: Duration = Duration::from_secs(1);

/// Types a line, and presses Enter until it has its effect.
fn enter(terminal: &Terminal, line: &str, has_effect: impl Fn() -> bool) {
    terminal.type_text(line);
    terminal.wait_for(line);
    let mut pressed: Option<Instant> = None;
    wait_until(&format!("{line:?} has its effect"), || {
        let effect = has_effect();
        if !effect && pressed.is_none_or(|at| at.elapsed() > AGAIN) {
            terminal.press("Enter");
            pressed = Some(Instant::now());
        }
        effect
    });
}

/// A person interrupts: nothing holds that, and the hold is still there for the next stop.
pub(super) fn escape(stage: &Stage) -> Outcome {
    let model = Model::play([Turn::hang(), Turn::say("Hello."), Turn::say("Again.")]);
    let cast = stage.installed(&model);
    cast.mainspring(&["pulse", "1"]);
    let Some(terminal) = cast.client.interactive() else {
        return NOT_TRIED;
    };
    enter(&terminal, "PROMPT-1 please", || model.saw_text("PROMPT-1"));
    terminal.press("Escape");
    // While they work, they all say which key ends it.
    terminal.wait_until("the turn is interrupted", |screen| {
        !screen.to_lowercase().contains("esc to")
    });
    enter(&terminal, "PROMPT-2 please", || model.saw_text("PROMPT-2"));
    wait_until("the second prompt was held once", || {
        model.requests().len() == 3
    });
    model.assert_played_out();
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
        Turn::say(token)
    });
    let old = Turn::decide(move |_| {
        let token = first.lock().unwrap_or_else(PoisonError::into_inner);
        Turn::say(token.clone())
    });
    let model = Model::play([Turn::say("Done."), keep, old, token("TOKEN")]);
    let cast = stage.gated(&model);
    let Some(terminal) = cast.client.interactive() else {
        return NOT_TRIED;
    };
    enter(&terminal, "PROMPT-1 please", || model.saw_text("PROMPT-1"));
    wait_until("the first session is let go", || {
        model.requests().len() == 2 && cast.mainspring(&["log"]).lines().count() > 1
    });
    enter(&terminal, "/clear", || {
        let screen = terminal.screen();
        !screen.contains("PROMPT-1") && !screen.contains("/clear")
    });
    enter(&terminal, "PROMPT-2 please", || model.saw_text("PROMPT-2"));
    wait_until("the second session is let go", || {
        model.requests().len() == 4
    });
    cast.expect_holds(2);
    Outcome::Pass
}
