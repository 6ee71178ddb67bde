//! GitHub Copilot CLI, as version 1.0.102 does it.

pub(super) mod reviewer;
mod transcript;

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::hooks_file::{self, HooksFile, Shape, installation};
use super::install::Scope;
use super::reading::{self, ChainFrom, Means, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, Wording, files, skills};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".github/hooks/",
    program: "copilot",
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        events: &[
            ("SessionStart", Means::Start),
            ("SessionEnd", Means::End),
            ("UserPromptSubmit", Means::Prompt),
            ("PreToolUse", Means::BeforeTool),
            ("PostToolUse", Means::AfterTool),
            ("Stop", Means::Stop),
        ],
        prompt: reading::not_our_reason,
        is_stop: reading::every_stop,
        chain: ChainFrom::Payload,
        last_words: |_| None,
        prompt_id: reading::no_prompt_id,
        skill: Some(SkillTool {
            tool: "skill",
            field: "skill",
        }),
        subagents: Subagents::InOwnSession,
    },
    answers: Answers {
        context: ContextIn::TopLevel,
        deny: DenyBy::Permission,
        object: ObjectBy::Block,
        notifies: false,
        reason_is_prompt: true,
        orders: OrdersBy::Message,
    },
    wording: |_, _| Wording::Block,
    rewakes: |_, _| false,
    outranked: |_, _, _| false,
    cap: |_| Cap::InTurn(HOLDS),
    variables: Variables {
        project: Some("COPILOT_PROJECT_DIR"),
        client: None,
        attended: None,
        plugin: None,
    },
    transcript: transcript::TRANSCRIPT,
    task_files: skills::in_folder!(".github/skills", |env| Some(
        config_dir(env)?.join("skills")
    )),
    installation: installation!(file, HOOKS, trial),
    doctor: Doctor {
        get: "npm install --global @github/copilot",
        version: &["--version"],
        oldest: "1.0.102",
        resume: "copilot --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Copilot CLI",
    session: Some("COPILOT_AGENT_SESSION_ID"),
    marks: &[],
    shell_only: &["COPILOT_AGENT_SESSION_ID"],
    programs: &["copilot"],
    folders: &["node_modules/@github/copilot"],
};

/// It runs the hook nine times, and drops the ninth block.
const HOLDS: u32 = 8;

const HOOKS: HooksFile = HooksFile {
    events: &[
        ("SessionStart", None, 15),
        ("UserPromptSubmit", None, 25),
        ("PostToolUse", None, 15),
        ("Stop", None, 3000),
        ("SessionEnd", None, 2),
    ],
    before_tool: "PreToolUse",
    shape: Shape::Flat,
    units: 1,
};

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

/// A stop as the host sends it, to try a registration with.
fn trial(project: &Path) -> String {
    let mut stop = hooks_file::trial_stop("Stop", project);
    stop["timestamp"] = "".into();
    stop["transcript_path"] = "/session-state/trial/events.jsonl".into();
    stop.to_string()
}

fn file(scope: Scope, env: &Environment, here: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("hooks/mainspring.json")),
        Scope::Project => Some(here.join(".github/hooks/mainspring.json")),
        Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    let set = env.dir("COPILOT_HOME");
    set.or_else(|| Some(env.home()?.join(".copilot")))
}
