//! One line of Claude Code's transcript.
//!
//! The host calls its format internal, so we list the lines that we know, and every other line
//! is [`Entry::Other`]. The formats come from transcripts of Claude Code 2.1.197 and 2.1.325.

mod played;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use mainspring_kernel::SessionId;
use mainspring_kernel::client_queue::{self, QueueLine};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

pub(crate) use self::played::{Speaker, played_line, played_transcript};
use crate::env::Environment;
use crate::transcript::{
    Entry, Outcome, PromptLine, Saying, Shows, TranscriptFormat, repair, time,
};

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat {
    entry,
    prompt,
    queue: Some(queue),
    about_stop: None,
    shows: Shows::Holds,
    find,
};

/// Transcripts are in one folder per project and named by the session's id.
fn find(env: &Environment, session: &SessionId) -> Option<PathBuf> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !session.as_str().bytes().all(plain) {
        return None;
    }
    let folders = std::fs::read_dir(super::SPEC.own_folder(env)?.join("projects")).ok()?;
    folders
        .filter_map(Result::ok)
        .map(|folder| folder.path().join(format!("{session}.jsonl")))
        .find(|path| path.is_file())
}

/// Reads a line; `None` if it is not complete JSON, or has an unknown format.
fn entry(line: &[u8]) -> Option<Entry> {
    // serde would also accept a list of a line's values.
    let is_object = |line: &[u8]| line.trim_ascii_start().first() == Some(&b'{');
    if is_object(line)
        && let Ok(line) = mainspring_json::read::<Line<'_>>(line)
    {
        return Some(line.into_entry());
    }
    let line = repair(line);
    if !is_object(line.as_bytes()) {
        return None;
    }
    serde_json::from_str::<Line<'_>>(&line)
        .ok()
        .map(Line::into_entry)
}

/// A message that a person typed, at once or while the agent was at work. What the host writes
/// in their place (a command's text, a finished task) is none.
fn prompt(line: &[u8]) -> Option<PromptLine> {
    let typed: Typed<'_> = mainspring_json::read(line).ok()?;
    let by_host = typed.is_meta == Some(true) || typed.is_compact_summary == Some(true);
    let elsewhere = typed.is_sidechain == Some(true) || typed.agent_id.is_some();
    if by_host || elsewhere || !typed.is_persons() {
        return None;
    }
    let text = match (&*typed.kind, typed.message, typed.attachment) {
        ("user", Some(message), _) => typed_command(message.into_text()?),
        ("attachment", _, Some(queued)) if queued.is_persons() => queued.prompt?.into_owned(),
        _ => return None,
    };
    Some(PromptLine {
        at: typed.timestamp.as_deref().and_then(time),
        text,
    })
}

/// What a line says about the queue of what is typed while the agent is at work.
fn queue(line: &[u8]) -> Option<QueueLine> {
    let operation: Operation<'_> = mainspring_json::read(line).ok()?;
    let at = operation.timestamp.as_deref().and_then(time);
    let text = operation.content.map(Cow::into_owned);
    match &*operation.kind {
        "queue-operation" => {}
        "attachment" => {
            let PromptLine { at, text } = prompt(line)?;
            return Some(QueueLine::Absorbed(client_queue::Typed { at, text }));
        }
        "user" => {
            // A command of the client's own, or an interruption, begins no turn.
            let begins = |text: &String| !text.starts_with(['/', '<', '[']);
            let text = prompt(line)?.text;
            return Some(text).filter(begins).map(QueueLine::Prompt);
        }
        _ => return None,
    }
    match operation.what.as_deref()? {
        "enqueue" => Some(QueueLine::Enqueued(client_queue::Typed { at, text: text? })),
        "dequeue" => Some(QueueLine::Dequeued(at)),
        "remove" => Some(QueueLine::Removed(text?)),
        "popAll" => Some(QueueLine::Emptied),
        _ => None,
    }
}

/// A line, as far as it is about the queue.
#[derive(Deserialize)]
struct Operation<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(rename = "operation")]
    what: Option<Cow<'a, str>>,
    timestamp: Option<Cow<'a, str>>,
    content: Option<Cow<'a, str>>,
}

/// A typed command is recorded with tags: `<command-name>/name</command-name>`.
fn typed_command(text: String) -> String {
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    if !text.starts_with("<command-") {
        return text;
    }
    match (tag("command-name"), tag("command-args")) {
        (Some(name), Some(args)) if !args.is_empty() => format!("{name} {args}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => text,
    }
}

/// A line, as far as it tells who wrote it, and when.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    is_compact_summary: Option<bool>,
    agent_id: Option<IgnoredAny>,
    timestamp: Option<Cow<'a, str>>,
    origin: Option<WrittenBy<'a>>,
    message: Option<Message<'a>>,
    attachment: Option<Queued<'a>>,
}

impl Typed<'_> {
    /// Older clients do not say whose a line is.
    fn is_persons(&self) -> bool {
        let origin = self.origin.as_ref();
        origin.is_none_or(|origin| origin.kind == "human")
    }
}

#[derive(Deserialize)]
struct WrittenBy<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

/// What was typed while the agent worked; or what the host put into the same queue.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Queued<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    prompt: Option<Cow<'a, str>>,
    is_meta: Option<bool>,
    origin: Option<WrittenBy<'a>>,
    command_mode: Option<Cow<'a, str>>,
}

impl Queued<'_> {
    fn is_persons(&self) -> bool {
        let origin = self.origin.as_ref();
        self.kind == "queued_command"
            && self.is_meta != Some(true)
            && origin.is_none_or(|origin| origin.kind == "human")
            && self
                .command_mode
                .as_deref()
                .is_none_or(|mode| mode == "prompt")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    is_compact_summary: Option<bool>,
    is_api_error_message: Option<bool>,
    agent_id: Option<IgnoredAny>,
    message: Option<Message<'a>>,
    attachment: Option<Attachment<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    role: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    content: Content<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    hook_event: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    is_error: Option<bool>,
}

/// The host writes a single text as a string.
#[derive(Default)]
struct Content<'a>(Vec<Block<'a>>);

impl Line<'_> {
    fn into_entry(self) -> Entry {
        // Today's hosts give sub-agents files of their own; older ones marked their lines.
        if self.is_sidechain == Some(true) || self.agent_id.is_some() {
            return Entry::Other;
        }
        match (&*self.kind, self.message, self.attachment) {
            ("user", Some(message), _) if self.is_meta == Some(true) => message.into_feedback(),
            ("user", Some(message), _) if self.is_compact_summary != Some(true) => {
                message.into_user_entry()
            }
            ("assistant", Some(message), _)
                if self.is_meta != Some(true) && self.is_api_error_message != Some(true) =>
            {
                message.into_agent_entry()
            }
            ("attachment", _, Some(attachment)) => attachment.into_entry(),
            _ => Entry::Other,
        }
    }
}

impl Message<'_> {
    /// The text of a message that is nothing but text.
    fn into_text(self) -> Option<String> {
        let texts = self.content.0.into_iter().map(|block| match &*block.kind {
            "text" => block.text,
            _ => None,
        });
        let texts: Option<Vec<Cow<'_, str>>> = texts.collect();
        texts
            .map(|texts| texts.join("\n"))
            .filter(|text| !text.is_empty())
    }

    fn into_feedback(self) -> Entry {
        let is_feedback = |block: &Block<'_>| {
            block
                .text
                .as_ref()
                .is_some_and(|text| text.starts_with("Stop hook feedback:"))
        };
        if self.content.0.iter().any(is_feedback) {
            Entry::Block
        } else {
            Entry::Other
        }
    }

    fn into_user_entry(self) -> Entry {
        let mut results = self
            .content
            .0
            .iter()
            .filter(|block| block.kind == "tool_result")
            .peekable();
        if results.peek().is_none() {
            return Entry::Prompt;
        }
        let failed = results.any(|block| block.is_error == Some(true));
        Entry::ToolResults(Outcome::failed_if(failed))
    }

    fn into_agent_entry(self) -> Entry {
        let by_agent = self.role.is_none_or(|role| role == "assistant");
        let by_model = self.model.is_none_or(|model| model != "<synthetic>");
        if !(by_agent && by_model) {
            return Entry::Other;
        }
        let mut saying = Saying {
            message: self.id.map(Cow::into_owned),
            texts: Vec::new(),
            tools: 0,
        };
        for block in self.content.0 {
            match (&*block.kind, block.text) {
                ("text", Some(text)) if !text.trim().is_empty() => {
                    saying.texts.push(text.into_owned());
                }
                ("tool_use", _) => saying.tools += 1,
                _ => {}
            }
        }
        Entry::Agent(saying)
    }
}

impl Attachment<'_> {
    fn into_entry(self) -> Entry {
        let blocks = matches!(
            &*self.kind,
            "hook_blocking_error" | "hook_additional_context"
        );
        if blocks && self.hook_event.as_deref() == Some("Stop") {
            Entry::Block
        } else {
            Entry::Other
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::of_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::of_text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Self::Value, A::Error> {
        let mut content = Content::default();
        while let Some(block) = blocks.next_element()? {
            content.0.push(block);
        }
        Ok(content)
    }
}

impl<'a> Content<'a> {
    fn of_text(text: Cow<'a, str>) -> Self {
        Self(vec![Block {
            kind: Cow::Borrowed("text"),
            text: Some(text),
            is_error: None,
        }])
    }
}

#[cfg(test)]
mod tests;
