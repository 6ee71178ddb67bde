//! Grok Build, as version 1.0.41 does it.

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, OrdersBy};
use super::install::{Installation, Trial};
use super::reading::{PromptBy, Reading, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, Variables, files, hooks_file, task_files};
use crate::env::Environment;
use crate::transcript::UNREAD;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".grok/",
    program: "grok",
    in_home: ".grok",
    moved: Some(("GROK_HOME", ".grok")),
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        prompt,
        // A second stop comes when the client ends.
        is_stop: |wire| wire.reason.text().as_deref() != Some("shutdown"),
        last_words: |wire| wire.last_assistant_message_camel.words(),
        subagents: Subagents::InOwnSession,
        ..Reading::USUAL
    },
    answers: Answers {
        orders: OrdersBy::Nowhere,
        ..Answers::USUAL
    },
    cap: |_| Cap::InTurn(HOLDS),
    variables: Variables::NONE,
    transcript: UNREAD,
    task_files: task_files::with_skills_in(".grok/skills"),
    installation: Installation {
        trial: Trial {
            transcript: Some("/.grok/sessions/trial/updates.jsonl"),
            also: &[("reason", "end_turn")],
            ..hooks_file::TRIAL
        },
        ..hooks_file::installation("hooks/mainspring.json", ".grok/hooks/mainspring.json")
    },
    doctor: Doctor {
        get: "npm install --global @xai-official/grok",
        oldest: "1.0.41",
        resume: "grok --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Grok Build",
    session: Some(SESSION),
    marks: &["GROK_AGENT"],
    programs: &["grok"],
    folders: &["node_modules/@xai-official/grok"],
};

/// The session's id, in hooks and in the agent's shell.
const SESSION: &str = "GROK_SESSION_ID";

/// It runs the hook nine times, and drops the ninth block.
const HOLDS: u32 = 8;

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
