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

use std::path::PathBuf;

use mainspring_kernel::SessionId;
use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::reading::{self, ChainFrom, Means, PromptBy, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, Wording};
use crate::env::Environment;

pub(super) const PROGRAM: &str = "claude";

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".claude/",
    program: PROGRAM,
    agent: &AGENT,
    sent: None,
    reading: READING,
    answers: Answers {
        context: ContextIn::Output,
        deny: DenyBy::Permission,
        object: ObjectBy::Block,
        notifies: true,
        reason_is_prompt: false,
        orders: OrdersBy::Command,
    },
    wording,
    rewakes,
    outranked: rank::outranked,
    cap,
    variables: Variables {
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
        version: &["--version"],
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
    is_stop: reading::every_stop,
    chain: ChainFrom::Payload,
    last_words: reading::last_assistant_message,
    prompt_id: reading::prompt_id,
    skill: Some(SkillTool {
        tool: "Skill",
        field: "skill",
    }),
    subagents: Subagents::Marked,
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
    shell_only: &[name::SHELLS_CLIENT],
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

/// Claude Code names the current session to its hooks. Another host with the same payloads may
/// know only blocks, even if an agent of Claude Code started it.
fn wording(env: &Environment, session: Option<&SessionId>) -> Wording {
    if is_sender(env, session) {
        Wording::Context
    } else {
        Wording::Block
    }
}

fn rewakes(env: &Environment, session: Option<&SessionId>) -> bool {
    is_sender(env, session)
}

/// Was this session's event sent by Claude Code itself?
fn is_sender(env: &Environment, session: Option<&SessionId>) -> bool {
    let named = env.var(name::SESSION).and_then(|id| SessionId::parse(&id));
    named.is_some() && named.as_ref() == session
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    let set = env.dir(name::CONFIG);
    set.or_else(|| Some(env.home()?.join(".claude")))
}
