//! The loop's state as its stores have it: one JSON document, of which we know some fields
//! and keep all.

use mainspring_kernel::machines::looping::{
    Client, Ending, Frame, MOST_FRAMES, Mode, Owner, Past, Run, State,
};
use mainspring_kernel::{Millis, SessionId};
use serde_json::{Map, Value, json};

/// The format that the documents name.
const SCHEMA: u64 = 1;

/// What a document says. What is no state of a loop, but wants to be one, is corrupt; what
/// does not even want to is none.
pub(crate) fn read(text: &str) -> State {
    let doc: Value = match serde_json::from_str(text) {
        Ok(doc) => doc,
        Err(error) => return State::Corrupt(format!("it is not JSON: {error}")),
    };
    match state(&doc) {
        Ok(state) => state,
        Err(problem) => State::Corrupt(problem),
    }
}

fn state(doc: &Value) -> Result<State, String> {
    if doc.get("schema").is_none_or(Value::is_null) {
        return Ok(State::Idle(Past::Blank));
    }
    let stack = match doc.get("stack") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(stack)) => stack,
        Some(other) => return Err(format!("stack is {other}, not a list")),
    };
    let event = doc.get("event").and_then(Value::as_str).unwrap_or("STATE");
    let reason = doc.get("reason").and_then(Value::as_str);
    let owner = owner(doc);
    match event {
        "ABORT" if stack.is_empty() => Ok(State::Idle(Past::Aborted)),
        "ABORT" => Ok(State::Aborted {
            cause: reason.unwrap_or("no reason was given").into(),
            owner,
        }),
        "DONE" => Ok(State::Idle(
            reason
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
                id: text(doc, "run_id").unwrap_or_default(),
                updated: updated(doc)?,
                owner,
                outer: outer.iter().map(frame).collect::<Result<_, _>>()?,
                top: frame(top)?,
            };
            Ok(
                match text(doc, "accepted").as_deref().and_then(Ending::parse) {
                    Some(ending) => State::Completing { run, ending },
                    None => State::Active(run),
                },
            )
        }
        other => Err(format!("event is {other:?}, not STATE, DONE or ABORT")),
    }
}

/// Without a date nobody can tell that it is fresh, so it counts as stale; one that cannot
/// be read is corrupt.
fn updated(doc: &Value) -> Result<Millis, String> {
    match doc.get("updated_at") {
        None | Some(Value::Null) => Ok(Millis(0)),
        Some(Value::String(text)) => date(text),
        Some(other) => Err(format!("updated_at is {other}, not a date")),
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

/// A date as the stores have it, in whole seconds.
pub(super) fn stamp(at: Millis) -> String {
    let seconds = i64::try_from(at.0 / 1_000).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

fn frame(value: &Value) -> Result<Frame, String> {
    let Value::Object(_) = value else {
        return Err(format!("a frame of the stack is {value}"));
    };
    let mode = match value.get("mode") {
        None | Some(Value::Null) => Mode::Loop,
        Some(Value::String(text)) => Mode::parse(text)
            .ok_or_else(|| format!("mode is {text:?}, not loop, issue or grind"))?,
        Some(other) => return Err(format!("mode is {other}")),
    };
    Ok(Frame {
        id: text(value, "id").unwrap_or_default(),
        mode,
        iter: count(value, "iter")?.unwrap_or(1),
        max: count(value, "max")?.unwrap_or(mode.default_max()),
    })
}

fn count(value: &Value, name: &str) -> Result<Option<u32>, String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => number(text, name).map(Some),
        Some(Value::Number(count)) => number(count.as_str(), name).map(Some),
        Some(other) => number(&other.to_string(), name).map(Some),
    }
}

/// A count, or what is wrong with it.
pub(super) fn number(text: &str, name: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{name} is {text:?}, not a count"))
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

fn owner(doc: &Value) -> Owner {
    let id = text(doc, "session").and_then(|id| SessionId::parse(&id));
    match id {
        None => Owner::Nobody,
        Some(id) => Owner::Session {
            id,
            client: doc
                .get("client")
                .and_then(Value::as_u64)
                .and_then(|pid| u32::try_from(pid).ok())
                .map(Client),
        },
    }
}

/// The document for a state, on top of what was there: fields that are not ours stay.
pub(crate) fn write(before: Option<&str>, state: &State, now: Millis) -> String {
    let parsed = before.and_then(|text| serde_json::from_str(text).ok());
    let mut doc = match parsed {
        Some(Value::Object(doc)) => doc,
        Some(_) | None => Map::new(),
    };
    doc.entry("schema").or_insert(json!(SCHEMA));
    // In their order: what is not ours keeps its place.
    doc.shift_remove("reason");
    doc.shift_remove("accepted");
    let stamped = |doc: &mut Map<String, Value>, event: &str, at: Millis| {
        doc.insert("event".into(), json!(event));
        doc.insert("updated_at".into(), json!(stamp(at)));
    };
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck { run, .. } => {
            doc.insert("event".into(), json!("STATE"));
            doc.insert("run_id".into(), json!(run.id));
            doc.insert("updated_at".into(), json!(stamp(run.updated)));
            set_owner(&mut doc, &run.owner);
            let stack = frames(doc.get("stack"), run);
            doc.insert("stack".into(), stack);
            if let State::Completing { ending, .. } = state {
                doc.insert("accepted".into(), json!(ending.as_str()));
            }
        }
        State::Aborted { cause, owner } => {
            stamped(&mut doc, "ABORT", now);
            doc.insert("reason".into(), json!(cause));
            set_owner(&mut doc, owner);
            doc.entry("stack").or_insert(json!([]));
        }
        State::Idle(past) => {
            match past {
                Past::Done(ending) => {
                    stamped(&mut doc, "DONE", now);
                    doc.insert("reason".into(), json!(ending.as_str()));
                }
                Past::Aborted => stamped(&mut doc, "ABORT", now),
                Past::Blank => stamped(&mut doc, "STATE", now),
            }
            doc.insert("stack".into(), json!([]));
        }
        // The machine never writes what it could not read.
        State::Corrupt(_) => return before.unwrap_or_default().into(),
    }
    let text = mainspring_json::text(&doc).unwrap_or_default();
    text + "\n"
}

fn set_owner(doc: &mut Map<String, Value>, owner: &Owner) {
    doc.shift_remove("session");
    doc.shift_remove("client");
    if let Owner::Session { id, client } = owner {
        doc.insert("session".into(), json!(id));
        if let Some(Client(pid)) = client {
            doc.insert("client".into(), json!(pid));
        }
    }
}

/// The frames, each on top of what its place in the stack held before.
fn frames(before: Option<&Value>, run: &Run) -> Value {
    let all = run.outer.iter().chain([&run.top]);
    let frames = all.enumerate().map(|(index, frame)| {
        let known = before.and_then(|stack| stack.get(index));
        let same = known.filter(|known| text(known, "id").unwrap_or_default() == frame.id);
        let mut out = same.and_then(Value::as_object).cloned().unwrap_or_default();
        out.insert("id".into(), json!(frame.id));
        out.insert("mode".into(), json!(frame.mode.as_str()));
        out.insert("iter".into(), json!(frame.iter));
        out.insert("max".into(), json!(frame.max));
        Value::Object(out)
    });
    Value::Array(frames.collect())
}

/// The prompt of the top frame: its text, or the name of its file.
pub(crate) enum Prompt {
    Text(String),
    File(String),
}

pub(crate) fn prompt(doc: &str) -> Option<Prompt> {
    let doc: Value = serde_json::from_str(doc).ok()?;
    let top = doc.get("stack")?.as_array()?.last()?;
    text(top, "prompt")
        .map(Prompt::Text)
        .or_else(|| text(top, "prompt_file").map(Prompt::File))
}

/// The document with a prompt given to its top frame.
pub(crate) fn with_prompt(doc: &str, prompt: &Prompt) -> String {
    let Ok(mut doc) = serde_json::from_str::<Value>(doc) else {
        return doc.into();
    };
    let top = doc.get_mut("stack").and_then(Value::as_array_mut);
    if let Some(Value::Object(top)) = top.and_then(|stack| stack.last_mut()) {
        match prompt {
            Prompt::Text(text) => top.insert("prompt".into(), json!(text)),
            Prompt::File(path) => top.insert("prompt_file".into(), json!(path)),
        };
    }
    format!("{doc}\n")
}

#[cfg(test)]
mod tests;
