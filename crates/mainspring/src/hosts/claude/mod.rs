//! Everything that is specific to Claude Code.

mod environment;
pub(crate) mod name;
mod own_plugin;
pub(crate) mod plugins;
mod rank;
pub(super) mod reviewer;
mod roots;
mod settings;
mod status_line;
pub(super) mod transcript;

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, OrdersBy};
use super::reading::{Means, PromptBy, Reading, SkillTool};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables};
use crate::env::Environment;

pub(super) const PROGRAM: &str = "claude";

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".claude/",
    program: PROGRAM,
    in_home: ".claude",
    moved: Some((name::CONFIG, ".claude")),
    agent: &AGENT,
    sent: None,
    reading: READING,
    answers: Answers {
        notifies: true,
        orders: OrdersBy::Command,
        ..Answers::USUAL
    },
    cap,
    variables: Variables {
        session: Some(name::SESSION),
        project: Some(name::PROJECT),
        client: Some(name::CLIENT),
        attended: Some(name::ATTENDED),
        plugin: Some(name::PLUGIN),
    },
    transcript: transcript::TRANSCRIPT,
    task_files: roots::TASK_FILES,
    installation: settings::INSTALLATION,
    doctor: Doctor {
        get: "npm install --global @anthropic-ai/claude-code",
        oldest: "2.1.197",
        resume: "claude --continue",
        also: super::nothing_else,
    },
};

const READING: Reading = Reading {
    events: &[
        ("SessionStart", Means::Start),
        ("SessionEnd", Means::End),
        ("UserPromptSubmit", Means::Prompt),
        ("UserPromptExpansion", Means::Expansion),
        ("PreToolUse", Means::BeforeTool),
        ("PostToolUse", Means::AfterTool),
        ("Stop", Means::Stop),
        ("Notification", Means::Notification),
    ],
    prompt,
    skill: Some(SkillTool {
        tool: "Skill",
        field: "skill",
    }),
    ..Reading::USUAL
};

/// When a background task ends, the host sends a prompt that no person wrote.
fn prompt(wire: &Wire<'_>) -> PromptBy {
    let prompt = wire.prompt.text().unwrap_or_default();
    if prompt.trim_start().starts_with("<task-notification>") {
        PromptBy::Host
    } else {
        PromptBy::Person
    }
}

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Claude Code",
    session: Some(name::SESSION),
    marks: &["CLAUDECODE"],
    programs: &[PROGRAM],
    folders: &["node_modules/@anthropic-ai/claude-code"],
};

/// Claude Code ends a turn after this many blocks without tool use.
const BLOCKS: u32 = 8;

fn cap(env: &Environment) -> Cap {
    let text = env.var(name::BLOCK_CAP);
    match text.and_then(|text| text.trim().parse().ok()) {
        Some(0) => Cap::Never,
        Some(limit) => Cap::After(limit),
        None => Cap::After(BLOCKS),
    }
}
