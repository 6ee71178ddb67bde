//! Factory Droid, as version 0.225.2 does it.

mod transcript;

use std::path::PathBuf;

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ObjectBy, OrdersBy};
use super::install::{Installation, Trial};
use super::reading::{self, PromptBy, Reading, SkillTool, Subagents};
use super::wire::Wire;
use super::{Doctor, HostSpec, OWN_CAP, Variables, files, hooks_file, task_files};
use crate::env::Environment;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".factory/",
    program: "droid",
    in_home: ".factory",
    moved: None,
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        prompt,
        is_stop,
        last_words: |_| None,
        skill: Some(SkillTool {
            tool: "Skill",
            field: "skill",
        }),
        subagents: Subagents::InOwnSession,
        ..Reading::USUAL
    },
    answers: Answers {
        object: ObjectBy::Context,
        reason_is_prompt: true,
        orders: OrdersBy::Nowhere,
        ..Answers::USUAL
    },
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables {
        project: Some("FACTORY_PROJECT_DIR"),
        ..Variables::NONE
    },
    transcript: transcript::TRANSCRIPT,
    task_files: task_files::with_skills_in(".factory/skills"),
    installation: Installation {
        trial: Trial {
            transcript: Some("/.factory/sessions/trial.jsonl"),
            ..hooks_file::TRIAL
        },
        // In its `settings.json` the hooks have the shape of most hosts'; in its `hooks.json` they
        // have not.
        ..hooks_file::installation("settings.json", ".factory/settings.json")
    },
    doctor: Doctor {
        get: "npm install --global @factory/cli",
        oldest: "0.225.2",
        resume: "droid --resume",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Factory Droid",
    session: None,
    marks: &[],
    programs: &["droid"],
    folders: &["node_modules/@factory/cli"],
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
