//! Qwen Code, as version 0.24.4 does it.

pub(super) mod reviewer;
mod transcript;

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::hooks_file::{self, HooksFile, Shape, installation};
use super::install::Scope;
use super::reading::{self, ChainFrom, Means, PromptBy, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, Wording, files, skills};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".qwen/",
    program: "qwen",
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        events: &[
            ("SessionStart", Means::Start),
            ("SessionEnd", Means::End),
            ("UserPromptSubmit", Means::Prompt),
            ("UserPromptExpansion", Means::Expansion),
            ("PreToolUse", Means::BeforeTool),
            ("PostToolUse", Means::AfterTool),
            // Its notification of an idle agent comes right after each stop, so it is none.
            ("Stop", Means::Stop),
        ],
        prompt,
        is_stop: reading::every_stop,
        chain: ChainFrom::Payload,
        last_words: reading::last_assistant_message,
        prompt_id: reading::no_prompt_id,
        skill: Some(SkillTool {
            tool: "skill",
            field: "skill",
        }),
        subagents: Subagents::Marked,
    },
    answers: Answers {
        context: ContextIn::Output,
        deny: DenyBy::Permission,
        object: ObjectBy::Context,
        notifies: false,
        reason_is_prompt: true,
        orders: OrdersBy::Message,
    },
    wording: |_, _| Wording::Block,
    rewakes: |_, _| false,
    outranked: |_, _, _| false,
    cap,
    variables: Variables {
        project: Some("QWEN_PROJECT_DIR"),
        client: None,
        attended: None,
        plugin: None,
    },
    transcript: transcript::TRANSCRIPT,
    task_files: skills::in_folder!(".qwen/skills", |env| Some(config_dir(env)?.join("skills"))),
    installation: installation!(file, HOOKS, trial),
    doctor: Doctor {
        get: "npm install --global @qwen-code/qwen-code",
        version: &["--version"],
        oldest: "0.24.4",
        resume: "qwen --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Qwen Code",
    session: Some(SESSION),
    marks: &["QWEN_CODE"],
    shell_only: &["QWEN_CODE"],
    programs: &["qwen"],
    folders: &["node_modules/@qwen-code/qwen-code"],
};

/// The session's id, in hooks and in the agent's shell.
const SESSION: &str = "QWEN_CODE_SESSION_ID";

/// A timeout of a thousand or more is in milliseconds.
const HOOKS: HooksFile = HooksFile {
    events: &[
        ("SessionStart", None, 15),
        ("UserPromptSubmit", None, 25),
        ("UserPromptExpansion", None, 15),
        ("PostToolUse", Some("skill"), 15),
        ("Stop", None, 3000),
        ("SessionEnd", None, 2),
    ],
    before_tool: "PreToolUse",
    shape: Shape::Groups,
    units: 1000,
};

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

/// A stop as the host sends it, to try a registration with.
fn trial(project: &Path) -> String {
    let mut stop = hooks_file::trial_stop("Stop", project);
    stop["timestamp"] = "".into();
    stop["permission_mode"] = "".into();
    stop["transcript_path"] = "/.qwen/trial.jsonl".into();
    stop.to_string()
}

fn file(scope: Scope, env: &Environment, here: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("settings.json")),
        Scope::Project => Some(here.join(".qwen/settings.json")),
        Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    Some(env.home()?.join(".qwen"))
}
