//! Grok Build, as version 1.0.41 does it.

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::hooks_file::{self, HooksFile, Shape, installation};
use super::install::Scope;
use super::reading::{self, ChainFrom, Means, PromptBy, Reading, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, Wording, files, skills};
use crate::env::Environment;
use crate::transcript::UNREAD;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".grok/",
    program: "grok",
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
        prompt,
        // A second stop comes when the client ends.
        is_stop: |wire| wire.reason.text().as_deref() != Some("shutdown"),
        chain: ChainFrom::Payload,
        last_words: |wire| wire.last_assistant_message_camel.words(),
        prompt_id: reading::no_prompt_id,
        skill: None,
        subagents: Subagents::InOwnSession,
    },
    answers: Answers {
        context: ContextIn::Output,
        deny: DenyBy::Permission,
        object: ObjectBy::Block,
        notifies: false,
        reason_is_prompt: false,
        orders: OrdersBy::Nowhere,
    },
    wording: |_, _| Wording::Block,
    rewakes: |_, _| false,
    outranked: |_, _, _| false,
    cap: |_| Cap::InTurn(HOLDS),
    variables: Variables {
        project: None,
        client: None,
        attended: None,
        plugin: None,
    },
    transcript: UNREAD,
    task_files: skills::in_folder!(".grok/skills", |env| Some(config_dir(env)?.join("skills"))),
    installation: installation!(file, HOOKS, trial),
    doctor: Doctor {
        get: "npm install --global @xai-official/grok",
        version: &["--version"],
        oldest: "1.0.41",
        resume: "grok --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Grok Build",
    session: Some(SESSION),
    marks: &["GROK_AGENT"],
    shell_only: &["GROK_AGENT"],
    programs: &["grok"],
    folders: &["node_modules/@xai-official/grok"],
};

/// The session's id, in hooks and in the agent's shell.
const SESSION: &str = "GROK_SESSION_ID";

/// It runs the hook nine times, and drops the ninth block.
const HOLDS: u32 = 8;

const HOOKS: HooksFile = HooksFile {
    events: &[
        ("SessionStart", None, 15),
        ("UserPromptSubmit", None, 25),
        ("Stop", None, 3000),
        ("SessionEnd", None, 2),
    ],
    before_tool: "PreToolUse",
    shape: Shape::Groups,
    units: 1,
};

fn sent(env: &Environment, wire: &Wire<'_>) -> bool {
    let path = wire.transcript_path.text().unwrap_or_default();
    files::leads_through(&path, ".grok/sessions")
        || path.is_empty() && env.is_set("GROK_HOOK_EVENT")
}

/// It tells of the end of a sub-agent as of a prompt.
fn prompt(wire: &Wire<'_>) -> PromptBy {
    let id = wire.prompt_id_camel.text().unwrap_or_default();
    let prompt = wire.prompt.text().unwrap_or_default();
    if id.starts_with("subagent-completed-") || prompt.starts_with("<system-reminder>") {
        PromptBy::Host
    } else {
        PromptBy::Person
    }
}

/// A stop as the host sends it, to try a registration with.
fn trial(project: &Path) -> String {
    let mut stop = hooks_file::trial_stop("Stop", project);
    stop["transcript_path"] = "/.grok/sessions/trial/updates.jsonl".into();
    stop["reason"] = "end_turn".into();
    stop.to_string()
}

fn file(scope: Scope, env: &Environment, here: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("hooks/mainspring.json")),
        Scope::Project => Some(here.join(".grok/hooks/mainspring.json")),
        Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    let set = env.dir("GROK_HOME");
    set.or_else(|| Some(env.home()?.join(".grok")))
}
