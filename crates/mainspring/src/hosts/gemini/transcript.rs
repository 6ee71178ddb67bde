//! One line of Gemini CLI's record of a chat.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use serde::Deserialize;

use crate::env::Environment;
use crate::hosts::answers::is_our_reason;
use crate::hosts::files;
use crate::transcript::{Entry, Outcome, Saying, Shows, Transcript, TranscriptFormat, UNREAD};

pub(super) const TRANSCRIPT: TranscriptFormat = TranscriptFormat {
    entry,
    // The reason of any hook looks like a prompt here, so no line is a person's word.
    shows: Shows::Holds,
    find,
    ..UNREAD
};

/// A chat's name ends in the first part of the session's id.
fn find(env: &Environment, session: &SessionId) -> Option<PathBuf> {
    let first = session.as_str().split('-').next()?;
    let end = format!("-{first}.jsonl");
    let projects = super::SPEC.own_folder(env)?.join("tmp");
    files::newest_below(&projects, 2, |name| name.ends_with(&end))
}

/// What it writes when a person interrupts.
const CANCELLED: &str = "Request cancelled.";

/// Did a person interrupt the agent, after everything that was said?
pub(super) fn ends_with_interrupt(path: &Path) -> bool {
    let last = |line: &[u8]| {
        if let Ok(said) = mainspring_json::read::<AgentLine<'_>>(line) {
            let is_cancelled = said.kind == "info" && said.content == CANCELLED;
            return (is_cancelled || said.kind == "gemini").then_some(is_cancelled);
        }
        let user = mainspring_json::read::<UserLine<'_>>(line).ok()?;
        (user.kind == "user").then_some(false)
    };
    let file = Transcript::open(path).ok();
    file.and_then(|file| file.find_last(last)) == Some(true)
}

fn entry(line: &[u8]) -> Option<Entry> {
    if let Ok(user) = mainspring_json::read::<UserLine<'_>>(line)
        && user.kind == "user"
    {
        return Some(user.into_entry());
    }
    if let Ok(agent) = mainspring_json::read::<AgentLine<'_>>(line)
        && agent.kind == "gemini"
    {
        return Some(agent.into_entry());
    }
    // The head of the file, or a change of what is before.
    mainspring_json::read::<serde::de::IgnoredAny>(line)
        .ok()
        .map(|_| Entry::Other)
}

#[derive(Deserialize)]
struct UserLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    content: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    function_response: Option<Answered<'a>>,
}

#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow)]
    response: Option<ToolResponse<'a>>,
}

#[derive(Deserialize)]
struct ToolResponse<'a> {
    error: Option<serde::de::IgnoredAny>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
}

impl UserLine<'_> {
    fn into_entry(self) -> Entry {
        let results: Vec<&Answered<'_>> = self
            .content
            .iter()
            .filter_map(|part| part.function_response.as_ref())
            .collect();
        if !results.is_empty() {
            let failed = results.iter().any(|result| {
                let response = result.response.as_ref();
                response.is_some_and(|response| response.error.is_some() || has_code(response))
            });
            return Entry::ToolResults(Outcome::failed_if(failed));
        }
        let ours = |part: &Part<'_>| part.text.as_deref().is_some_and(is_our_reason);
        if self.content.iter().any(ours) {
            Entry::Block
        } else {
            Entry::Prompt
        }
    }
}

/// A command's exit code is written only if it is not zero.
fn has_code(response: &ToolResponse<'_>) -> bool {
    let output = response.output.as_deref().unwrap_or_default();
    output.lines().any(|line| line.starts_with("Exit Code: "))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Cow<'a, str>,
    #[serde(default)]
    tool_calls: Vec<serde::de::IgnoredAny>,
}

impl AgentLine<'_> {
    /// A message is written again with its tool calls, once they are known.
    fn into_entry(self) -> Entry {
        let text = Some(self.content).filter(|text| !text.trim().is_empty());
        Entry::Agent(Saying {
            message: self.id.map(Cow::into_owned),
            texts: text.map(Cow::into_owned).into_iter().collect(),
            tools: u32::try_from(self.tool_calls.len()).unwrap_or(u32::MAX),
        })
    }
}
