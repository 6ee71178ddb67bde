//! GitHub Copilot CLI, as version 1.0.102 does it.

pub(super) mod reviewer;
mod transcript;

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn};
use super::install::{Installation, Shape, Trial};
use super::reading::{self, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, files, hooks_file, task_files};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".github/hooks/",
    program: "copilot",
    in_home: ".copilot",
    moved: Some(("COPILOT_HOME", ".copilot")),
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        prompt: reading::not_our_reason,
        last_words: |_| None,
        skill: Some(SkillTool {
            tool: "skill",
            field: "skill",
        }),
        subagents: Subagents::InOwnSession,
        ..Reading::USUAL
    },
    answers: Answers {
        context: ContextIn::TopLevel,
        reason_is_prompt: true,
        ..Answers::USUAL
    },
    cap: |_| Cap::InTurn(HOLDS),
    variables: Variables {
        project: Some("COPILOT_PROJECT_DIR"),
        ..Variables::NONE
    },
    transcript: transcript::TRANSCRIPT,
    task_files: task_files::with_skills_in(".github/skills"),
    installation: Installation {
        shape: Shape::Flat,
        trial: Trial {
            transcript: Some("/session-state/trial/events.jsonl"),
            also: &[("timestamp", "")],
            ..hooks_file::TRIAL
        },
        ..hooks_file::installation("hooks/mainspring.json", ".github/hooks/mainspring.json")
    },
    doctor: Doctor {
        get: "npm install --global @github/copilot",
        oldest: "1.0.102",
        resume: "copilot --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Copilot CLI",
    session: Some("COPILOT_AGENT_SESSION_ID"),
    marks: &[],
    programs: &["copilot"],
    folders: &["node_modules/@github/copilot"],
};

/// It runs the hook nine times, and drops the ninth block.
const HOLDS: u32 = 8;

/// Its events have a time and neither a mode nor a turn.
fn sent(env: &Environment, wire: &Wire<'_>) -> bool {
    let path = wire.transcript_path.text();
    let is_its = |path: &str| {
        let is_state = files::leads_through(path, "session-state");
        is_state && files::name_in(path) == "events.jsonl"
    };
    let plain = wire.timestamp.is_there() && !wire.permission_mode.is_there();
    plain && (path.as_deref().is_some_and(is_its) || path.is_none() && env.is_set("COPILOT_CLI"))
}
