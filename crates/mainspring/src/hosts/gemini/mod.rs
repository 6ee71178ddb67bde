//! Gemini CLI, as version 0.61.0 does it.

pub(super) mod reviewer;
mod transcript;

use std::path::Path;

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, DenyBy};
use super::install::{Installation, Trial};
use super::reading::{self, ChainFrom, Means, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, OWN_CAP, Variables, hooks_file, task_files};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".gemini/",
    program: "gemini",
    in_home: ".gemini",
    moved: None,
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        events: &[
            ("SessionStart", Means::Start),
            ("BeforeAgent", Means::Prompt),
            ("BeforeTool", Means::BeforeTool),
            ("AfterTool", Means::AfterTool),
            ("AfterAgent", Means::Stop),
            ("SessionEnd", Means::End),
        ],
        prompt: reading::not_our_reason,
        is_stop,
        // At the second stop of a turn the event still says that no hook has blocked.
        chain: ChainFrom::Transcript,
        last_words,
        skill: Some(SkillTool {
            tool: "activate_skill",
            field: "name",
        }),
        subagents: Subagents::Unmarked,
    },
    answers: Answers {
        deny: DenyBy::Decision,
        reason_is_prompt: true,
        ..Answers::USUAL
    },
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables {
        project: Some("GEMINI_PROJECT_DIR"),
        ..Variables::NONE
    },
    transcript: transcript::TRANSCRIPT,
    task_files: task_files::with_skills_in(".gemini/skills"),
    installation: Installation {
        units: 1000,
        trial: Trial {
            also: &[("prompt_response", "")],
            ..hooks_file::TRIAL
        },
        ..hooks_file::installation("settings.json", ".gemini/settings.json")
    },
    doctor: Doctor {
        get: "npm install --global @google/gemini-cli",
        oldest: "0.61.0",
        resume: "gemini --resume latest",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Gemini CLI",
    session: None,
    marks: &["GEMINI_CLI"],
    programs: &["gemini"],
    folders: &["node_modules/@google/gemini-cli"],
};

/// The names of its events are its own, but for a session's start and end.
fn sent(env: &Environment, wire: &Wire<'_>) -> bool {
    let name = wire.hook_event_name.text();
    match name.as_deref() {
        Some("BeforeAgent" | "AfterAgent" | "BeforeTool" | "AfterTool" | "PreCompress") => true,
        Some("SessionStart" | "SessionEnd" | "Notification") => {
            let session = wire.session_id.text();
            let named = env.var("GEMINI_SESSION_ID");
            named.is_some() && named.as_deref() == session.as_deref()
        }
        Some(_) | None => false,
    }
}

/// When a person interrupts it, and has seen no text, it says this. Once there was a text, only
/// the transcript tells.
const INTERRUPTED: &str = "[no response text]";

fn is_stop(wire: &Wire<'_>) -> bool {
    let path = wire.transcript_path.text().unwrap_or_default();
    wire.prompt_response.text().as_deref() != Some(INTERRUPTED)
        && !transcript::ends_with_interrupt(Path::new(&*path))
}

/// The event has every text of the turn, and an earlier one is not the last. The transcript
/// tells them apart.
fn last_words(wire: &Wire<'_>) -> Option<String> {
    match wire.transcript_path.text() {
        Some(path) if !path.is_empty() => None,
        Some(_) | None => wire.prompt_response.words(),
    }
}
