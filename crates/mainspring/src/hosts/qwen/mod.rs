//! Qwen Code, as version 0.24.4 does it.

pub(super) mod reviewer;
mod transcript;

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ObjectBy};
use super::install::{Installation, Trial};
use super::reading::{self, Means, PromptBy, Reading, SkillTool};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, files, hooks_file, task_files};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".qwen/",
    program: "qwen",
    in_home: ".qwen",
    moved: None,
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        events: &[
            ("SessionStart", Means::Start),
            ("UserPromptSubmit", Means::Prompt),
            ("UserPromptExpansion", Means::Expansion),
            ("PreToolUse", Means::BeforeTool),
            ("PostToolUse", Means::AfterTool),
            // Its notification of an idle agent comes right after each stop, so it is none.
            ("Stop", Means::Stop),
            ("SessionEnd", Means::End),
        ],
        prompt,
        skill: Some(SkillTool {
            tool: "skill",
            field: "skill",
        }),
        ..Reading::USUAL
    },
    answers: Answers {
        object: ObjectBy::Context,
        reason_is_prompt: true,
        ..Answers::USUAL
    },
    cap,
    variables: Variables {
        project: Some("QWEN_PROJECT_DIR"),
        ..Variables::NONE
    },
    transcript: transcript::TRANSCRIPT,
    task_files: task_files::with_skills_in(".qwen/skills"),
    installation: Installation {
        // A timeout of a thousand or more is in milliseconds.
        units: 1000,
        trial: Trial {
            transcript: Some("/.qwen/trial.jsonl"),
            also: &[("timestamp", ""), ("permission_mode", "")],
            ..hooks_file::TRIAL
        },
        ..hooks_file::installation("settings.json", ".qwen/settings.json")
    },
    doctor: Doctor {
        get: "npm install --global @qwen-code/qwen-code",
        oldest: "0.24.4",
        resume: "qwen --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Qwen Code",
    session: Some(SESSION),
    marks: &["QWEN_CODE"],
    programs: &["qwen"],
    folders: &["node_modules/@qwen-code/qwen-code"],
};

/// The session's id, in hooks and in the agent's shell.
const SESSION: &str = "QWEN_CODE_SESSION_ID";

/// Claude Code has no time in its events, and the others no mode.
fn sent(env: &Environment, wire: &Wire<'_>) -> bool {
    if !wire.timestamp.is_there() || !wire.permission_mode.is_there() {
        return false;
    }
    let path = wire.transcript_path.text().unwrap_or_default();
    let session = wire.session_id.text();
    files::leads_through(&path, ".qwen")
        || session.is_some() && env.var(SESSION).as_deref() == session.as_deref()
}

/// What a person typed is there twice. An empty prompt comes after every tool's result.
fn prompt(wire: &Wire<'_>) -> PromptBy {
    if wire.submitted_prompt.is_there() {
        reading::not_our_reason(wire)
    } else {
        PromptBy::Nobody
    }
}

/// It runs the hook eight times, and drops the eighth block.
const HOLDS: u32 = 7;

fn cap(env: &Environment) -> Cap {
    let text = env.var("QWEN_CODE_STOP_HOOK_BLOCK_CAP");
    let runs: Option<u32> = text.and_then(|text| text.trim().parse().ok());
    Cap::InTurn(runs.map_or(HOLDS, |runs| runs.saturating_sub(1)))
}
