//! A hook's stdin.

use std::path::Path;

use mainspring_kernel::event::Kind;
use serde_json::Value;

use crate::json;
use mainspring::formats::event::{DecodeAs, DecodeError, decode};

/// The members that we read.
const OURS: [&str; 18] = [
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "agent_id",
    "team_name",
    "stop_hook_active",
    "last_assistant_message",
    "background_tasks",
    "source",
    "reason",
    "prompt",
    "command_name",
    "command_source",
    "tool_name",
    "tool_input",
    "tool_response",
    "notification_type",
];

/// Every object is an event, whatever it contains, unless a name occurs twice. What we read from it
/// is what any other reader reads.
pub(crate) fn run(bytes: &[u8]) {
    let decoded = decode(bytes.to_vec(), DecodeAs::Named);
    let text = std::str::from_utf8(bytes);
    let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    let (payload, text) = match (decoded, text) {
        (Ok(payload), Ok(text)) => (payload, text),
        (Err(DecodeError::NotText), Err(_)) => return,
        (Err(error), Ok(text)) => {
            let object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
            assert!(
                !object || json::repeats(text, &OURS),
                "{error} for {text:?}"
            );
            return;
        }
        (decoded, Err(_)) => panic!("bytes that are no text gave {decoded:?}"),
    };
    let Ok(Value::Object(seen)) = serde_json::from_str::<Value>(text) else {
        // Deeper, or with larger numbers, than a tree of values can hold.
        return;
    };
    json::agrees(text);
    let said = |name: &str| seen.get(name).and_then(Value::as_str);
    assert_eq!(payload.wire_name, said("hook_event_name").unwrap_or(""));
    assert_eq!(
        payload.last_message.as_deref(),
        said("last_assistant_message")
    );
    let path = |name: &str| said(name).filter(|text| !text.is_empty()).map(Path::new);
    assert_eq!(payload.cwd.as_deref(), path("cwd"));
    assert_eq!(payload.transcript.as_deref(), path("transcript_path"));
    match &payload.event.session {
        None => {
            let id = said("session_id").unwrap_or("");
            let hidden = id.chars().any(char::is_control);
            assert!(
                id.is_empty() || id == "null" || id.len() > 256 || hidden,
                "{id:?}"
            );
        }
        Some(id) => assert_eq!(Some(id.as_str()), said("session_id")),
    }
    // Each host has one event that is a stop.
    if !matches!(payload.wire_name.as_str(), "Stop" | "AfterAgent") {
        assert!(!matches!(payload.event.kind, Kind::Stop { .. }));
    }
}
