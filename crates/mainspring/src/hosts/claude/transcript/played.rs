//! A transcript that the demo plays, in the client's own format.

use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use serde_json::json;

use crate::timestamp::timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    Person,
    Agent,
}

/// The line for what somebody said, with its end.
pub(crate) fn played_line(who: Speaker, text: &str, at: Millis) -> String {
    let (role, origin) = match who {
        Speaker::Person => ("user", json!({ "kind": "human" })),
        Speaker::Agent => ("assistant", json!(null)),
    };
    let content = json!([{ "type": "text", "text": text }]);
    let message = json!({ "role": role, "content": content });
    let line = json!({
        "type": role, "timestamp": timestamp(at), "origin": origin, "message": message,
    });
    format!("{line}\n")
}

/// Where the client would keep it.
pub(crate) fn played_transcript(home: &Path, session: &str) -> PathBuf {
    home.join(".claude/projects/demo")
        .join(format!("{session}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::super::TRANSCRIPT;
    use super::*;
    use crate::transcript::{Entry, PromptLine};

    #[test]
    fn a_played_line_is_read_as_the_clients_own() {
        let at = Millis(1_767_600_000_000);
        let asked = played_line(Speaker::Agent, "Should I close it?", at);
        assert!(
            matches!((TRANSCRIPT.entry)(asked.as_bytes()), Some(Entry::Agent(saying)) if saying.texts == ["Should I close it?"])
        );
        assert!((TRANSCRIPT.prompt)(asked.as_bytes()).is_none());
        let said = played_line(Speaker::Person, "Yes.", at);
        let prompt = (TRANSCRIPT.prompt)(said.as_bytes());
        assert!(
            matches!(prompt, Some(PromptLine { at: Some(said_at), text }) if said_at == at && text == "Yes.")
        );
    }
}
