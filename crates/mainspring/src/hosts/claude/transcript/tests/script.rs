//! Transcripts for tests, in the formats of real ones.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::transcript::{LastBlock, Tail, Transcript};

/// A file in a directory of its own.
pub(super) struct Written {
    _directory: TempDir,
    pub(super) path: PathBuf,
}

pub(super) fn written(bytes: &[u8]) -> Written {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.jsonl");
    File::create(&path).unwrap().write_all(bytes).unwrap();
    Written {
        _directory: directory,
        path,
    }
}

thread_local! {
    /// A test reads thousands of transcripts, so it uses one file for all of them.
    static SCRATCH: (Written, File) = {
        let written = written(b"");
        let file = File::options().write(true).open(&written.path).unwrap();
        (written, file)
    };
}

pub(super) fn tail_of_bytes(bytes: &[u8]) -> Tail {
    tail_after(LastBlock::None, bytes)
}

pub(super) fn tail_after(last_block: LastBlock, bytes: &[u8]) -> Tail {
    SCRATCH.with(|(written, file)| {
        file.write_all_at(bytes, 0).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        Transcript::open(&written.path)
            .unwrap()
            .tail(super::super::entry, last_block)
            .unwrap()
    })
}

pub(super) fn tail(lines: &[Value]) -> Tail {
    tail_of_bytes(&jsonl(lines))
}

pub(super) fn jsonl(lines: &[Value]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}

pub(super) fn prompt(text: &str) -> Value {
    json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": text}})
}

pub(super) fn says(message: &str, text: &str) -> Value {
    agent(message, &json!({"type": "text", "text": text}))
}

pub(super) fn uses_tool(message: &str) -> Value {
    agent(
        message,
        &json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "true"}}),
    )
}

pub(super) fn agent(message: &str, block: &Value) -> Value {
    json!({
        "type": "assistant",
        "isSidechain": false,
        "message": {"id": message, "type": "message", "role": "assistant", "model": "m", "content": [block]},
    })
}

pub(super) fn tool_result(text: &str, is_error: bool) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": is_error});
    json!({
        "type": "user",
        "isSidechain": false,
        "message": {"role": "user", "content": [block]},
        "toolUseResult": {"stdout": text},
    })
}

/// The three ways in which a blocked stop is recorded: a decision, exit code 2, additional
/// context.
#[derive(Debug, Clone, Copy)]
pub(super) enum Blocked {
    Decision,
    ExitTwo,
    Context,
}

pub(super) fn blocked(how: Blocked, reason: &str) -> Vec<Value> {
    let feedback = json!({
        "type": "user",
        "isSidechain": false,
        "isMeta": true,
        "message": {"role": "user", "content": format!("Stop hook feedback:\n{reason}")},
    });
    let attachment = |kind: &str| {
        json!({
            "type": "attachment",
            "isSidechain": false,
            "attachment": {"type": kind, "hookName": "Stop", "hookEvent": "Stop", "content": [reason]},
        })
    };
    let summary = json!({"type": "system", "subtype": "stop_hook_summary", "hookErrors": [reason]});
    match how {
        Blocked::Decision => vec![feedback, attachment("hook_blocking_error"), summary],
        Blocked::ExitTwo => vec![feedback, summary],
        Blocked::Context => {
            vec![
                attachment("hook_success"),
                attachment("hook_additional_context"),
                summary,
            ]
        }
    }
}
