//! What the agent and its person read about a loop.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Ending, Facts, Frame, Mode, Run, Welcome};
use crate::ids::{Millis, SessionId};
use crate::receipt::times;

/// What the agent reads at an iteration: the same sentence as the script that `loop` replaces, and
/// what else it has to know.
pub(super) fn continuation(run: &Run, facts: &Facts, welcome: Welcome) -> String {
    let mut reason = format!("{} {GO_ON}", label(&run.top));
    if facts.rules.sentence_alone {
        reason.push_str(facts.worktree.as_deref().unwrap_or_default());
        return reason;
    }
    reason.push_str(&facts.heard.near_miss());
    match welcome {
        Welcome::Known => {}
        Welcome::First => {
            reason.push(' ');
            reason.push_str(&ends(run.top.mode));
        }
        Welcome::New => {
            reason.push_str("\n\n");
            reason.push_str(&given(run));
        }
    }
    append(&mut reason, facts.prompt.as_deref());
    reason
}

const GO_ON: &str = "Continue working on the task. Check your progress and either complete the \
                     task or keep iterating.";

fn label(frame: &Frame) -> String {
    format!("[ITERATION {}/{}]", frame.iter, frame.max)
}

/// What the agent reads when the inner frame has ended and the outer one goes on.
pub(super) fn onward(inner: &Frame, outer: &Frame, ending: Ending, facts: &Facts) -> String {
    let outer = Frame {
        iter: outer.iter + 1,
        ..outer.clone()
    };
    let mut reason = format!(
        "{} The inner loop is over ({}, after {}). Go on with the outer one, {}. \
         To end it say one of {} on a line of its own.",
        label(&outer),
        ending.as_str(),
        times(inner.iter, "iteration"),
        kind(outer.mode),
        signals(outer.mode)
    );
    append(&mut reason, facts.outer_prompt.as_deref());
    reason
}

fn append(reason: &mut String, prompt: Option<&str>) {
    if let Some(prompt) = prompt {
        reason.push_str("\n\n");
        reason.push_str(prompt);
    }
}

fn kind(mode: Mode) -> &'static str {
    match mode {
        Mode::Loop => "a loop",
        Mode::Issue => "an issue's loop",
        Mode::Grind => "a grind",
    }
}

fn signals(mode: Mode) -> String {
    let signals: Vec<String> = mode
        .signals()
        .iter()
        .map(|(element, ending)| format!("`<{element}>{}</{element}>`", ending.as_str()))
        .collect();
    signals.join(", ")
}

/// What a session is told when a loop is given to it.
pub(super) fn given(run: &Run) -> String {
    let top = &run.top;
    format!(
        "There was {} without an owner in this project, and it was given to this session \
         (iteration {} of {}). {}",
        kind(top.mode),
        top.iter,
        top.max,
        ends(top.mode)
    )
}

/// What a session is told of its own loop after it was cleared, resumed or compacted.
pub(super) fn reminder(run: &Run, prompt: Option<&str>) -> String {
    let top = &run.top;
    let nested = match run.outer.len() {
        0 => String::new(),
        1 => ", inside another loop".into(),
        more => format!(", inside {more} other loops"),
    };
    let mut text = format!(
        "This session is in {}: iteration {} of {}{nested}. {}",
        kind(top.mode),
        top.iter,
        top.max,
        ends(top.mode)
    );
    append(&mut text, prompt);
    text
}

fn ends(mode: Mode) -> String {
    format!(
        "To end it say one of {} on a line of its own, or run `mainspring loop abort`.",
        signals(mode)
    )
}

/// The line for the person beside a reminder.
pub(super) fn goes_on(run: &Run) -> String {
    format!(
        "the loop goes on in this session: iteration {} of {}. `mainspring loop abort` ends it",
        run.top.iter, run.top.max
    )
}

pub(super) fn stale(run: &Run, here: Option<&SessionId>, now: Millis) -> String {
    let whose = match run.owner.session() {
        Some(id) if here != Some(id) => format!(" of session {id}"),
        Some(_) => String::new(),
        None => " without an owner".into(),
    };
    format!(
        "the loop{whose} is off: it made no progress for {} minutes (iteration {} of {})",
        now.since(run.updated).0 / 60_000,
        run.top.iter,
        run.top.max
    )
}

pub(super) fn spent(run: &Run) -> String {
    let outer = match run.outer.len() {
        0 => String::new(),
        1 => " One outer frame ends with it.".into(),
        more => format!(" {more} outer frames end with it."),
    };
    format!(
        "the loop is off: iteration {} of {} was the last.{outer}",
        run.top.iter, run.top.max
    )
}

pub(super) fn inner_spent(run: &Run) -> String {
    format!(
        "the inner loop is over without a signal: iteration {} of {} was the last. The outer one \
         goes on",
        run.top.iter, run.top.max
    )
}

/// It names the session that stops, so that the command works wherever it is typed.
pub(super) fn unclaimed(run: &Run, here: Option<&SessionId>) -> String {
    let session = here.map_or_else(|| "last".into(), ToString::to_string);
    format!(
        "a loop without an owner waits here (iteration {} of {}) and holds nobody, because \
         several sessions are live: `mainspring loop adopt --session {session}` gives it to this \
         one, `mainspring loop abort` ends it",
        run.top.iter, run.top.max
    )
}
