//! The end of a session's transcript.

use serde_json::{Value, json};

use mainspring::formats::transcript::{Tail, Transcript, repair, tail as read_tail};

/// The agent's text is in a line of the main chain that the agent itself wrote, and it is dropped
/// at the user's next prompt. Nothing before it keeps a later line from counting.
pub(crate) fn run(bytes: &[u8]) {
    let Some(tail) = tail(bytes) else { return };
    assert!(tail.size <= bytes.len() as u64);
    assert!(tail.bytes_read <= 1 << 20);
    for text in &tail.final_texts {
        let theirs = bytes
            .split(|byte| *byte == b'\n')
            .any(|line| says(line, text));
        assert!(theirs, "nobody said {text:?}");
    }
    let shown = String::from_utf8_lossy(bytes);
    let prompt = json!({"type": "user", "message": {"role": "user", "content": shown}});
    let result = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": shown},
        {"type": "text", "text": shown},
    ]}});
    let quiet = [bytes, format!("\n{prompt}\n{result}\n").as_bytes()].concat();
    if let Some(tail) = self::tail(&quiet) {
        assert_eq!(
            tail.final_texts, [""; 0],
            "a prompt or a tool's result spoke"
        );
    }
    let honest = json!({"type": "assistant", "message": {
        "id": "last", "role": "assistant", "content": [{"type": "text", "text": "said"}],
    }});
    let spoken = [bytes, format!("\n{prompt}\n{honest}\n").as_bytes()].concat();
    if let Some(tail) = self::tail(&spoken) {
        assert_eq!(tail.final_texts, ["said"], "an honest line was lost");
    }
}

fn tail(bytes: &[u8]) -> Option<Tail> {
    let transcript = Transcript::of("fuzz".as_ref(), crate::file(bytes)?).ok()?;
    read_tail(&transcript)
}

/// Is this line the agent's, and does it contain that text? Written without the reader's types.
fn says(line: &[u8], text: &str) -> bool {
    let read = |json: &str| serde_json::from_str::<Value>(json).ok();
    let strict = std::str::from_utf8(line).ok().and_then(read);
    // A number beyond a float, or a depth, that a tree cannot hold is not suspicious.
    let Some(line) = strict.or_else(|| read(&repair(line))) else {
        return true;
    };
    let message = &line["message"];
    let content = &message["content"];
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    // Within a line, a list of an object's values is read as that object. The host writes no such
    // lists, and somebody who can write its lines does not need them.
    let positional = message.is_array() || blocks.iter().any(Value::is_array);
    line["type"] == "assistant"
        && ["isSidechain", "isMeta", "isApiErrorMessage"]
            .iter()
            .all(|flag| line[*flag] != true)
        && line["agentId"].is_null()
        && message["model"] != "<synthetic>"
        && (message["role"].is_null() || message["role"] == "assistant")
        && (content == text
            || positional
            || blocks
                .iter()
                .any(|block| block["type"] == "text" && block["text"] == text))
}
