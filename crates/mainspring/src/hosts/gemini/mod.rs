//! Gemini CLI, as version 0.61.0 does it.

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
use super::{Doctor, HostSpec, OWN_CAP, Variables, Wording, skills};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".gemini/",
    program: "gemini",
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        events: &[
            ("SessionStart", Means::Start),
            ("SessionEnd", Means::End),
            ("BeforeAgent", Means::Prompt),
            ("BeforeTool", Means::BeforeTool),
            ("AfterTool", Means::AfterTool),
            ("AfterAgent", Means::Stop),
        ],
        prompt: reading::not_our_reason,
        is_stop,
        // At the second stop of a turn the event still says that no hook has blocked.
        chain: ChainFrom::Transcript,
        last_words,
        prompt_id: reading::no_prompt_id,
        skill: Some(SkillTool {
            tool: "activate_skill",
            field: "name",
        }),
        subagents: Subagents::Unmarked,
    },
    answers: Answers {
        context: ContextIn::Output,
        deny: DenyBy::Decision,
        object: ObjectBy::Block,
        notifies: false,
        reason_is_prompt: true,
        orders: OrdersBy::Message,
    },
    wording: |_, _| Wording::Block,
    rewakes: |_, _| false,
    outranked: |_, _, _| false,
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables {
        project: Some("GEMINI_PROJECT_DIR"),
        client: None,
        attended: None,
        plugin: None,
    },
    transcript: transcript::TRANSCRIPT,
    task_files: skills::in_folder!(".gemini/skills", |env| Some(
        config_dir(env)?.join("skills")
    )),
    installation: installation!(file, HOOKS, trial),
    doctor: Doctor {
        get: "npm install --global @google/gemini-cli",
        version: &["--version"],
        oldest: "0.61.0",
        resume: "gemini --resume latest",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Gemini CLI",
    session: None,
    marks: &["GEMINI_CLI"],
    shell_only: &["GEMINI_CLI"],
    programs: &["gemini"],
    folders: &["node_modules/@google/gemini-cli"],
};

const HOOKS: HooksFile = HooksFile {
    events: &[
        ("SessionStart", None, 15),
        ("BeforeAgent", None, 25),
        ("AfterTool", Some("activate_skill"), 15),
        ("AfterAgent", None, 3000),
        ("SessionEnd", None, 2),
    ],
    before_tool: "BeforeTool",
    shape: Shape::Groups,
    units: 1000,
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

/// A stop as the host sends it, to try a registration with.
fn trial(project: &Path) -> String {
    let mut stop = hooks_file::trial_stop("AfterAgent", project);
    stop["prompt_response"] = "".into();
    stop.to_string()
}

fn file(scope: Scope, env: &Environment, here: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("settings.json")),
        Scope::Project => Some(here.join(".gemini/settings.json")),
        Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    Some(env.home()?.join(".gemini"))
}
