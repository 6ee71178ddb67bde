//! Factory Droid, as version 0.225.2 does it.

mod transcript;

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::hooks_file::{self, HooksFile, Shape, installation};
use super::install::Scope;
use super::reading::{self, ChainFrom, Means, PromptBy, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, OWN_CAP, Variables, Wording, files, skills};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".factory/",
    program: "droid",
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
        is_stop,
        chain: ChainFrom::Payload,
        last_words: |_| None,
        prompt_id: reading::no_prompt_id,
        skill: Some(SkillTool {
            tool: "Skill",
            field: "skill",
        }),
        subagents: Subagents::InOwnSession,
    },
    answers: Answers {
        context: ContextIn::Output,
        deny: DenyBy::Permission,
        object: ObjectBy::Context,
        notifies: false,
        reason_is_prompt: true,
        orders: OrdersBy::Nowhere,
    },
    wording: |_, _| Wording::Block,
    rewakes: |_, _| false,
    outranked: |_, _, _| false,
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables {
        project: Some("FACTORY_PROJECT_DIR"),
        client: None,
        attended: None,
        plugin: None,
    },
    transcript: transcript::TRANSCRIPT,
    task_files: skills::in_folder!(".factory/skills", |env| Some(
        config_dir(env)?.join("skills")
    )),
    installation: installation!(file, HOOKS, trial),
    doctor: Doctor {
        get: "npm install --global @factory/cli",
        version: &["--version"],
        oldest: "0.225.2",
        resume: "droid --resume",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Factory Droid",
    session: None,
    marks: &[],
    shell_only: &[],
    programs: &["droid"],
    folders: &["node_modules/@factory/cli"],
};

/// In its `settings.json` the hooks have the shape of most hosts'; in its `hooks.json` they have
/// not.
const HOOKS: HooksFile = HooksFile {
    events: &[
        ("SessionStart", None, 15),
        ("UserPromptSubmit", None, 25),
        ("PostToolUse", Some("Skill"), 15),
        ("Stop", None, 3000),
        ("SessionEnd", None, 2),
    ],
    before_tool: "PreToolUse",
    shape: Shape::Groups,
    units: 1,
};

fn sent(env: &Environment, wire: &Wire<'_>) -> bool {
    let path = wire.transcript_path.text().unwrap_or_default();
    files::leads_through(&path, ".factory/sessions")
        || path.is_empty() && env.is_set("DROID_PROJECT_DIR")
}

/// A sub-agent's first prompt is not a person's.
fn prompt(wire: &Wire<'_>) -> PromptBy {
    if transcript::is_subagents(&path(wire)) {
        return PromptBy::Nobody;
    }
    reading::not_our_reason(wire)
}

/// It sends the event for sub-agents, too, without a mark, and when its API gave an error.
fn is_stop(wire: &Wire<'_>) -> bool {
    let path = path(wire);
    !transcript::is_subagents(&path) && !transcript::ends_with_error(&path)
}

fn path(wire: &Wire<'_>) -> PathBuf {
    let path = wire.transcript_path.text().unwrap_or_default();
    PathBuf::from(&*path)
}

/// A stop as the host sends it, to try a registration with.
fn trial(project: &Path) -> String {
    let mut stop = hooks_file::trial_stop("Stop", project);
    stop["transcript_path"] = "/.factory/sessions/trial.jsonl".into();
    stop.to_string()
}

fn file(scope: Scope, env: &Environment, here: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("settings.json")),
        Scope::Project => Some(here.join(".factory/settings.json")),
        Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    Some(env.home()?.join(".factory"))
}
