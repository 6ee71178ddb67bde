//! One line of Codex's rollout.

use std::borrow::Cow;
use std::path::PathBuf;

use mainspring_kernel::SessionId;
use serde::Deserialize;

use crate::env::Environment;
use crate::hosts::files;
use crate::transcript::{
    Entry, Outcome, PromptLine, Saying, Shows, TranscriptFormat, UNREAD, time,
};

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat {
    entry,
    prompt,
    shows: Shows::Holds,
    find,
    ..UNREAD
};

/// Rollouts are in a folder per day, and their names end in the session's id.
fn find(env: &Environment, session: &SessionId) -> Option<PathBuf> {
    let sessions = super::SPEC.own_folder(env)?.join("sessions");
    let end = format!("-{session}.jsonl");
    files::newest_below(&sessions, 3, |name| name.ends_with(&end))
}

fn entry(line: &[u8]) -> Option<Entry> {
    Some(match read(line)? {
        Line::ResponseItem(ResponseItem::Message(message)) => message.into_entry(),
        Line::ResponseItem(ResponseItem::Call {}) => Entry::Agent(Saying {
            message: None,
            texts: Vec::new(),
            tools: 1,
        }),
        Line::ResponseItem(ResponseItem::Output { output }) => Entry::ToolResults(outcome(&output)),
        Line::EventMsg(Event::ItemCompleted { item }) => match item {
            Completed::UserMessage { .. } => Entry::Prompt,
            Completed::HookPrompt {} => Entry::Block,
            Completed::Other => Entry::Other,
        },
        Line::ResponseItem(ResponseItem::Other) | Line::EventMsg(Event::Other) | Line::Other => {
            Entry::Other
        }
    })
}

/// What a person typed is an item of its own; what the client adds for the model is not.
fn prompt(line: &[u8]) -> Option<PromptLine> {
    let Line::EventMsg(Event::ItemCompleted { item }) = read(line)? else {
        return None;
    };
    let Completed::UserMessage { content } = item else {
        return None;
    };
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|part| part.text.as_deref())
        .collect();
    let text = texts.join("\n");
    let at = mainspring_json::read::<Stamp<'_>>(line).ok();
    (!text.is_empty()).then(|| PromptLine {
        at: at.and_then(|at| time(&at.timestamp)),
        text,
    })
}

fn read(line: &[u8]) -> Option<Line<'_>> {
    let tag: Tag<'_> = mainspring_json::read(line).ok()?;
    Some(match &*tag.kind {
        "response_item" => Line::ResponseItem(
            mainspring_json::read::<Of<ResponseItem<'_>>>(line)
                .ok()?
                .payload,
        ),
        "event_msg" => Line::EventMsg(mainspring_json::read::<Of<Event<'_>>>(line).ok()?.payload),
        _ => Line::Other,
    })
}

/// The tool says how its command ended.
fn outcome(output: &CallOutput<'_>) -> Outcome {
    const ENDED: &str = "Process exited with code ";
    let CallOutput::Text(text) = output else {
        return Outcome::Fine;
    };
    let code = text.lines().find_map(|line| line.strip_prefix(ENDED));
    Outcome::failed_if(code.is_some_and(|code| code.trim() != "0"))
}

enum Line<'a> {
    ResponseItem(ResponseItem<'a>),
    EventMsg(Event<'a>),
    Other,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Stamp<'a> {
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Of<T> {
    payload: T,
}

#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    bound(deserialize = "'de: 'a")
)]
enum ResponseItem<'a> {
    Message(Message<'a>),
    #[serde(
        rename = "function_call",
        alias = "custom_tool_call",
        alias = "local_shell_call",
        alias = "web_search_call"
    )]
    Call {},
    #[serde(rename = "function_call_output", alias = "custom_tool_call_output")]
    Output {
        output: CallOutput<'a>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(untagged, bound(deserialize = "'de: 'a"))]
enum CallOutput<'a> {
    Text(Cow<'a, str>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Message<'a> {
    id: Option<Cow<'a, str>>,
    role: Cow<'a, str>,
    #[serde(default)]
    content: Vec<Part<'a>>,
}

impl Message<'_> {
    fn into_entry(self) -> Entry {
        match &*self.role {
            "assistant" => {
                let texts = self.content.into_iter().filter_map(|part| part.text);
                let texts = texts.filter(|text| !text.trim().is_empty());
                Entry::Agent(Saying {
                    message: self.id.map(Cow::into_owned),
                    texts: texts.map(Cow::into_owned).collect(),
                    tools: 0,
                })
            }
            // Beside it is an item that says who wrote it.
            _ => Entry::Other,
        }
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Part<'a> {
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    bound(deserialize = "'de: 'a")
)]
enum Event<'a> {
    ItemCompleted {
        item: Completed<'a>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", bound(deserialize = "'de: 'a"))]
enum Completed<'a> {
    UserMessage {
        #[serde(default)]
        content: Vec<Part<'a>>,
    },
    HookPrompt {},
    #[serde(other)]
    Other,
}
