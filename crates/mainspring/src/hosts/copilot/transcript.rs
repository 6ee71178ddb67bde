//! One line of Copilot CLI's record of a session. It is written up to a tenth of a second later
//! than the events that it is about.

use std::borrow::Cow;
use std::path::PathBuf;

use mainspring_kernel::SessionId;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::env::Environment;
use crate::hosts::answers::is_our_reason;
use crate::transcript::{Entry, Outcome, Saying, Shows, TranscriptFormat, UNREAD};

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat {
    entry,
    // The reason of any hook looks like a prompt here, so no line is a person's word.
    about_stop: Some(about_stop),
    shows: Shows::Holds,
    find,
    ..UNREAD
};

fn find(env: &Environment, session: &SessionId) -> Option<PathBuf> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !session.as_str().bytes().all(plain) {
        return None;
    }
    let folder = super::SPEC.own_folder(env)?.join("session-state");
    let path = folder.join(session.as_str()).join("events.jsonl");
    path.is_file().then_some(path)
}

/// The line that says that a hook is started for the stop at this time.
fn about_stop(line: &[u8], stamp: &str) -> bool {
    let line = mainspring_json::read::<Line<'_>>(line);
    line.is_ok_and(|line| {
        line.kind == "hook.start" && line.data.is_stop() && line.timestamp.as_deref() == Some(stamp)
    })
}

fn entry(line: &[u8]) -> Option<Entry> {
    let line: Line<'_> = mainspring_json::read(line).ok()?;
    let data = line.data;
    Some(match &*line.kind {
        "user.message" if !data.is_our_reason() => Entry::Prompt,
        "hook.end" if data.is_stop() && data.blocks() => Entry::Block,
        "tool.execution_complete" => Entry::ToolResults(data.outcome()),
        "assistant.message" if data.agent_id.is_none() => data.into_saying(),
        _ => Entry::Other,
    })
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    timestamp: Option<Cow<'a, str>>,
    #[serde(default)]
    data: Data<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    message_id: Option<Cow<'a, str>>,
    agent_id: Option<IgnoredAny>,
    content: Option<Cow<'a, str>>,
    #[serde(default)]
    tool_requests: Vec<IgnoredAny>,
    hook_type: Option<Cow<'a, str>>,
    output: Option<HookOutput<'a>>,
    success: Option<bool>,
    shell_execution: Option<ShellExecution>,
}

/// What a hook said.
#[derive(Deserialize)]
struct HookOutput<'a> {
    #[serde(borrow)]
    decision: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellExecution {
    exit_code: Option<i64>,
}

impl Data<'_> {
    fn is_stop(&self) -> bool {
        self.hook_type.as_deref() == Some("agentStop")
    }

    fn blocks(&self) -> bool {
        let said = self
            .output
            .as_ref()
            .and_then(|said| said.decision.as_deref());
        said == Some("block")
    }

    fn is_our_reason(&self) -> bool {
        self.content.as_deref().is_some_and(is_our_reason)
    }

    fn outcome(&self) -> Outcome {
        let code = self
            .shell_execution
            .as_ref()
            .and_then(|shell| shell.exit_code);
        Outcome::failed_if(self.success == Some(false) || code.is_some_and(|code| code != 0))
    }

    fn into_saying(self) -> Entry {
        let text = self.content.filter(|text| !text.trim().is_empty());
        Entry::Agent(Saying {
            message: self.message_id.map(Cow::into_owned),
            texts: text.map(Cow::into_owned).into_iter().collect(),
            tools: u32::try_from(self.tool_requests.len()).unwrap_or(u32::MAX),
        })
    }
}
