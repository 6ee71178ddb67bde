//! One line of Qwen Code's record of a chat. It does not show what a hook said.

use std::borrow::Cow;
use std::path::PathBuf;

use mainspring_kernel::SessionId;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::env::Environment;
use crate::hosts::answers::is_our_reason;
use crate::hosts::files;
use crate::transcript::{
    Entry, Outcome, PromptLine, Saying, Shows, TranscriptFormat, UNREAD, time,
};

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat {
    entry,
    prompt,
    shows: Shows::Talk,
    find,
    ..UNREAD
};

/// Chats are in one folder per project and named by the session's id.
fn find(env: &Environment, session: &SessionId) -> Option<PathBuf> {
    let projects = super::SPEC.own_folder(env)?.join("projects");
    let name = format!("{session}.jsonl");
    files::newest_below(&projects, 2, |found| found == name)
}

fn entry(line: &[u8]) -> Option<Entry> {
    let line: Line<'_> = mainspring_json::read(line).ok()?;
    Some(match &*line.kind {
        "user" if line.is_persons() => Entry::Prompt,
        "tool_result" => Entry::ToolResults(line.outcome()),
        "assistant" => line.into_saying(),
        _ => Entry::Other,
    })
}

fn prompt(line: &[u8]) -> Option<PromptLine> {
    let line: Line<'_> = mainspring_json::read(line).ok()?;
    if line.kind != "user" || !line.is_persons() {
        return None;
    }
    let text = line.texts().join("\n");
    (!text.is_empty()).then(|| PromptLine {
        at: line.timestamp.as_deref().and_then(time),
        text,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    uuid: Option<Cow<'a, str>>,
    timestamp: Option<Cow<'a, str>>,
    provenance: Option<Cow<'a, str>>,
    message: Option<Message<'a>>,
    tool_call_result: Option<Called<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    thought: Option<bool>,
    function_call: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
}

impl Line<'_> {
    fn is_persons(&self) -> bool {
        self.provenance.as_deref() == Some("real_user")
            && !self.texts().iter().any(|text| is_our_reason(text))
    }

    fn texts(&self) -> Vec<&str> {
        let parts = self.message.iter().flat_map(|message| &message.parts);
        let spoken = parts.filter(|part| part.thought != Some(true));
        let texts = spoken.filter_map(|part| part.text.as_deref());
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    fn outcome(&self) -> Outcome {
        let called = self.tool_call_result.as_ref();
        let status = called.and_then(|called| called.status.as_deref());
        Outcome::failed_if(status == Some("error"))
    }

    fn into_saying(self) -> Entry {
        let parts = self.message.iter().flat_map(|message| &message.parts);
        let calls = parts.filter(|part| part.function_call.is_some()).count();
        Entry::Agent(Saying {
            texts: self.texts().into_iter().map(str::to_owned).collect(),
            tools: u32::try_from(calls).unwrap_or(u32::MAX),
            message: self.uuid.map(Cow::into_owned),
        })
    }
}
