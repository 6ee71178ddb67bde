//! The loop's state as one JSON document. We know some of its fields and keep all of them.

use std::borrow::Cow;

use mainspring_json::{Fields, list};
use mainspring_kernel::machines::looping::{
    Client, Ending, Frame, LoopOwner, MOST_FRAMES, Mode, Past, Run, State,
};
use mainspring_kernel::{Millis, SessionId};
use serde::de::IgnoredAny;

/// The version of the format.
const SCHEMA: u64 = 1;

/// Reads a document. A document that claims to be a loop's state but cannot be read as one is
/// corrupt; any other document is no loop.
pub fn read(text: &str) -> State {
    match Fields::read(text) {
        Ok(doc) => state(&doc).unwrap_or_else(State::Corrupt),
        Err(error) if error.is_data() && serde_json::from_str::<IgnoredAny>(text).is_ok() => {
            State::Idle(Past::Blank)
        }
        Err(error) => State::Corrupt(format!("it is not JSON: {error}")),
    }
}

fn state(doc: &Fields<'_>) -> Result<State, String> {
    if doc.known("schema").is_none() {
        return Ok(State::Idle(Past::Blank));
    }
    let stack = match doc.known("stack") {
        None => Vec::new(),
        Some(stack) => list(stack).ok_or_else(|| format!("stack is {stack}, not a list"))?,
    };
    let event = text(doc, "event")?;
    let reason = text(doc, "reason")?;
    let owner = owner(doc)?;
    match event.as_deref().unwrap_or("STATE") {
        "ABORT" if stack.is_empty() => Ok(State::Idle(Past::Aborted)),
        "ABORT" => Ok(State::Aborted {
            cause: reason.unwrap_or_else(|| "no reason was given".into()),
            owner,
        }),
        "DONE" => Ok(State::Idle(
            reason
                .as_deref()
                .and_then(Ending::parse)
                .map_or(Past::Blank, Past::Done),
        )),
        "STATE" => {
            let Some((top, outer)) = stack.split_last() else {
                return Ok(State::Idle(Past::Blank));
            };
            if stack.len() > MOST_FRAMES {
                return Err(format!("the stack has more than {MOST_FRAMES} frames"));
            }
            let run = Run {
                id: text(doc, "run_id")?.unwrap_or_default(),
                updated: updated(doc)?,
                owner,
                outer: outer
                    .iter()
                    .map(|text| frame(text))
                    .collect::<Result<_, _>>()?,
                top: frame(top)?,
                adopted: doc.known("adopted") == Some("true"),
            };
            let accepted = text(doc, "accepted")?;
            Ok(match accepted.as_deref().and_then(Ending::parse) {
                Some(ending) => State::Completing { run, ending },
                None => State::Active(run),
            })
        }
        other => Err(format!("event is {other:?}, not STATE, DONE or ABORT")),
    }
}

/// Without a date a loop counts as stale; a date that cannot be read makes the document
/// corrupt.
fn updated(doc: &Fields<'_>) -> Result<Millis, String> {
    match (doc.known("updated_at"), text(doc, "updated_at")?) {
        (None, _) => Ok(Millis(0)),
        (Some(_), Some(text)) => date(&text),
        (Some(other), None) => Err(format!("updated_at is {other}, not a date")),
    }
}

/// `2024-12-21T10:30:00Z`, or the same with an offset.
pub(super) fn date(text: &str) -> Result<Millis, String> {
    let parsed: jiff::Timestamp = text
        .trim()
        .parse()
        .map_err(|_| format!("updated_at is {text:?}, not a date"))?;
    Ok(Millis(u64::try_from(parsed.as_millisecond()).unwrap_or(0)))
}

/// A time as the stores have it, in whole seconds.
pub(super) fn stamp(at: Millis) -> String {
    let seconds = i64::try_from(at.0 / 1_000).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

fn frame(value: &str) -> Result<Frame, String> {
    let fields = Fields::read(value).map_err(|_| format!("a frame of the stack is {value}"))?;
    let mode = match (fields.known("mode"), text(&fields, "mode")?) {
        (None, _) => Mode::Loop,
        (Some(_), Some(text)) => Mode::parse(&text)
            .ok_or_else(|| format!("mode is {text:?}, not loop, issue or grind"))?,
        (Some(other), None) => return Err(format!("mode is {other}")),
    };
    Ok(Frame {
        id: text(&fields, "id")?.unwrap_or_default(),
        mode,
        iter: count(&fields, "iter")?.unwrap_or(1),
        max: count(&fields, "max")?.unwrap_or(mode.default_max()),
    })
}

fn count(fields: &Fields<'_>, name: &str) -> Result<Option<u32>, String> {
    match (fields.known(name), text(fields, name)?) {
        (None, _) => Ok(None),
        (Some(_), Some(text)) => number(&text, name).map(Some),
        (Some(value), None) => number(value, name).map(Some),
    }
}

/// A count; the error says what is wrong with it.
pub(super) fn number(text: &str, name: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{name} is {text:?}, not a count"))
}

/// A value that must be text. A text with half a surrogate pair is corrupt.
fn text(fields: &Fields<'_>, name: &str) -> Result<Option<String>, String> {
    fields
        .string(name)
        .map_err(|error| format!("{name} is not text: {error}"))
}

fn owner(doc: &Fields<'_>) -> Result<LoopOwner, String> {
    let id = text(doc, "session")?.and_then(|id| SessionId::parse(&id));
    Ok(match id {
        None if doc.known("next") == Some("true") => LoopOwner::Next,
        None => LoopOwner::Nobody,
        Some(id) => LoopOwner::Session {
            id,
            client: doc
                .get("client")
                .and_then(|pid| pid.parse().ok())
                .map(Client),
        },
    })
}

/// The document for a state. Fields that are not ours stay as they were.
pub fn write(before: Option<&str>, state: &State, now: Millis) -> String {
    let mut doc = before
        .and_then(|text| Fields::read(text).ok())
        .unwrap_or_default();
    if doc.get("schema").is_none() {
        doc.set("schema", &SCHEMA);
    }
    doc.remove("reason");
    doc.remove("accepted");
    doc.remove("adopted");
    let stamped = |doc: &mut Fields<'_>, event: &str, at: Millis| {
        doc.set("event", event);
        doc.set("updated_at", &stamp(at));
    };
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => {
            doc.set("event", "STATE");
            doc.set("run_id", &run.id);
            doc.set("updated_at", &stamp(run.updated));
            set_owner(&mut doc, &run.owner);
            let stack = frames(doc.get("stack"), run);
            doc.set_text("stack", stack.into());
            if let State::Completing { ending, .. } = state {
                doc.set("accepted", ending.as_str());
            }
            if run.adopted {
                doc.set("adopted", &true);
            }
        }
        State::Aborted { cause, owner } => {
            stamped(&mut doc, "ABORT", now);
            doc.set("reason", cause);
            set_owner(&mut doc, owner);
            if doc.get("stack").is_none() {
                doc.set_text("stack", "[]".into());
            }
        }
        State::Idle(past) => {
            match past {
                Past::Done(ending) => {
                    stamped(&mut doc, "DONE", now);
                    doc.set("reason", ending.as_str());
                }
                Past::Aborted => stamped(&mut doc, "ABORT", now),
                Past::Blank => stamped(&mut doc, "STATE", now),
            }
            doc.set_text("stack", "[]".into());
        }
        // What could not be read is never overwritten.
        State::Corrupt(_) => return before.unwrap_or_default().into(),
    }
    format!("{doc}\n")
}

fn set_owner(doc: &mut Fields<'_>, owner: &LoopOwner) {
    doc.remove("session");
    doc.remove("client");
    doc.remove("next");
    match owner {
        LoopOwner::Nobody => {}
        LoopOwner::Next => doc.set("next", &true),
        LoopOwner::Session { id, client } => {
            doc.set("session", id);
            if let Some(Client(pid)) = client {
                doc.set("client", pid);
            }
        }
    }
}

/// The frames, each with the unknown fields of the frame that was at its place before.
fn frames(before: Option<&str>, run: &Run) -> String {
    let before = before.and_then(list).unwrap_or_default();
    let all = run.outer.iter().chain([&run.top]).enumerate();
    let frames = all.map(|(index, now)| match before.get(index) {
        Some(text) => changed(text, now),
        None => written(Fields::default(), now).into(),
    });
    format!("[{}]", frames.collect::<Vec<_>>().join(","))
}

/// A frame that did not change keeps its bytes.
fn changed<'a>(before: &'a str, now: &Frame) -> Cow<'a, str> {
    match frame(before) {
        Ok(was) if was == *now => before.into(),
        Ok(was) if was.id == now.id => {
            written(Fields::read(before).unwrap_or_default(), now).into()
        }
        Ok(_) | Err(_) => written(Fields::default(), now).into(),
    }
}

fn written(mut fields: Fields<'_>, now: &Frame) -> String {
    fields.set("id", &now.id);
    fields.set("mode", now.mode.as_str());
    fields.set("iter", &now.iter);
    fields.set("max", &now.max);
    fields.to_string()
}

/// A frame's prompt: its text, or the name of its file.
pub(crate) enum Prompt {
    Text(String),
    File(String),
}

/// The prompt of a frame: `depth` is 0 for the top one, 1 for the one around it.
pub(crate) fn prompt(doc: &str, depth: usize) -> Option<Prompt> {
    let text = of_frame(doc, depth, "prompt").map(Prompt::Text);
    text.or_else(|| of_frame(doc, depth, "prompt_file").map(Prompt::File))
}

/// A text field of the top frame.
pub(super) fn of_top(doc: &str, name: &str) -> Option<String> {
    of_frame(doc, 0, name)
}

fn of_frame(doc: &str, depth: usize, name: &str) -> Option<String> {
    let doc = Fields::read(doc).ok()?;
    let stack = list(doc.get("stack")?)?;
    let frame = stack.iter().rev().nth(depth)?;
    let frame = Fields::read(frame).ok()?;
    frame.string(name).ok().flatten()
}

/// The document with this prompt in its top frame.
pub(crate) fn with_prompt(doc: &str, prompt: &Prompt) -> String {
    given(doc, prompt).unwrap_or_else(|| doc.into())
}

fn given(doc: &str, prompt: &Prompt) -> Option<String> {
    let mut fields = Fields::read(doc).ok()?;
    let mut stack = list(fields.get("stack")?)?;
    let mut top = Fields::read(stack.pop()?).ok()?;
    match prompt {
        Prompt::Text(text) => top.set("prompt", text),
        Prompt::File(path) => top.set("prompt_file", path),
    }
    let top = top.to_string();
    stack.push(&top);
    let stack = format!("[{}]", stack.join(","));
    fields.set_text("stack", stack.into());
    Some(format!("{fields}\n"))
}

#[cfg(test)]
mod tests;
