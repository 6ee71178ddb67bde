//! One line of Factory Droid's record of a session. Its first line tells a sub-agent's.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::env::Environment;
use crate::hosts::answers::is_our_reason;
use crate::hosts::files;
use crate::transcript::{
    Entry, Outcome, PromptLine, Saying, Shows, Transcript, TranscriptFormat, UNREAD, time,
};

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat {
    entry,
    prompt,
    shows: Shows::Talk,
    find,
    ..UNREAD
};

fn find(env: &Environment, session: &SessionId) -> Option<PathBuf> {
    let sessions = super::SPEC.own_folder(env)?.join("sessions");
    let name = format!("{session}.jsonl");
    files::newest_below(&sessions, 2, |found| found == name)
}

/// Is this the transcript of a sub-agent?
pub(super) fn is_subagents(path: &Path) -> bool {
    let head = Transcript::open(path)
        .ok()
        .and_then(|file| file.first_line());
    let head = head.unwrap_or_default();
    let head = mainspring_json::read::<FirstLine>(&head);
    head.is_ok_and(|head| head.calling_session_id.is_some())
}

/// Is the last message an error of the API's, and not the agent's?
pub(super) fn ends_with_error(path: &Path) -> bool {
    let last = |line: &[u8]| {
        let line: Line<'_> = mainspring_json::read(line).ok()?;
        let message = line.message?;
        match &*message.role {
            "assistant" => Some(false),
            // Only the person sees it, and no hook said it.
            _ if message.is_notice() => Some(true),
            _ => None,
        }
    };
    let file = Transcript::open(path).ok();
    file.and_then(|file| file.find_last(last)) == Some(true)
}

fn entry(line: &[u8]) -> Option<Entry> {
    let line: Line<'_> = mainspring_json::read(line).ok()?;
    let Some(message) = line.message else {
        return Some(Entry::Other);
    };
    Some(match &*message.role {
        "assistant" => message.into_saying(line.id),
        _ if message.is_persons() => Entry::Prompt,
        _ => message.outcome().map_or(Entry::Other, Entry::ToolResults),
    })
}

fn prompt(line: &[u8]) -> Option<PromptLine> {
    let line: Line<'_> = mainspring_json::read(line).ok()?;
    let message = line.message.filter(Message::is_persons)?;
    Some(PromptLine {
        at: line.timestamp.as_deref().and_then(time),
        text: message.texts().join("\n"),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstLine {
    calling_session_id: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    timestamp: Option<Cow<'a, str>>,
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(default)]
    content: Vec<Part<'a>>,
    visibility: Option<Cow<'a, str>>,
    hook_event_name: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    is_error: Option<bool>,
}

impl Message<'_> {
    fn texts(&self) -> Vec<&str> {
        let parts = self.content.iter().filter(|part| part.kind == "text");
        let texts = parts.filter_map(|part| part.text.as_deref());
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    /// A text that the host shows the person and not the model.
    fn is_notice(&self) -> bool {
        let hidden = self.visibility.as_deref() == Some("user_only");
        hidden && self.hook_event_name.is_none() && !self.texts().is_empty()
    }

    fn is_persons(&self) -> bool {
        let texts = self.texts();
        let by_others = |text: &&str| {
            is_our_reason(text)
                || text.starts_with("<system-reminder>")
                || text.starts_with("Background task completed.")
        };
        self.role == "user"
            && self.visibility.is_none()
            && !texts.is_empty()
            && !texts.iter().any(by_others)
    }

    fn outcome(&self) -> Option<Outcome> {
        let mut results = self
            .content
            .iter()
            .filter(|part| part.kind == "tool_result");
        let first = results.next()?;
        let failed =
            first.is_error == Some(true) || results.any(|part| part.is_error == Some(true));
        Some(Outcome::failed_if(failed))
    }

    fn into_saying(self, id: Option<Cow<'_, str>>) -> Entry {
        let calls = self.content.iter().filter(|part| part.kind == "tool_use");
        Entry::Agent(Saying {
            message: id.map(Cow::into_owned),
            tools: u32::try_from(calls.count()).unwrap_or(u32::MAX),
            texts: self.texts().into_iter().map(str::to_owned).collect(),
        })
    }
}
