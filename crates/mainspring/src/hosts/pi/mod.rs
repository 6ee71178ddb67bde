//! pi, as version 0.74.2 does it. It has no hooks for programs, so a plugin of ours tells us of
//! its events.

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::install::Scope;
use super::plugin_file::{PluginFile, installation};
use super::reading::{self, ChainFrom, Means, Reading, Subagents};
use super::{Doctor, HostSpec, OWN_CAP, Variables, Wording, skills};
use crate::env::Environment;
use crate::transcript::UNREAD;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".pi/",
    program: "pi",
    agent: &AGENT,
    // Our plugin says whose its events are.
    sent: Some(|_, _| false),
    reading: Reading {
        events: &[
            ("SessionStart", Means::Start),
            ("SessionEnd", Means::End),
            ("UserPromptSubmit", Means::Prompt),
            ("Stop", Means::Stop),
        ],
        prompt: reading::not_our_reason,
        is_stop: reading::every_stop,
        chain: ChainFrom::Payload,
        last_words: reading::last_assistant_message,
        prompt_id: reading::no_prompt_id,
        skill: None,
        // The plugin tells nothing of theirs.
        subagents: Subagents::Untold,
    },
    answers: Answers {
        context: ContextIn::Nowhere,
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
        project: None,
        client: None,
        attended: None,
        plugin: None,
    },
    transcript: UNREAD,
    task_files: skills::in_folder!(".pi/skills", |env| Some(config_dir(env)?.join("skills"))),
    installation: installation!(file, PLUGIN),
    doctor: Doctor {
        get: "npm install --global @earendil-works/pi-coding-agent",
        version: &["--version"],
        oldest: "0.74.2",
        resume: "pi --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "pi",
    session: None,
    marks: &[],
    shell_only: &[],
    programs: &["pi"],
    folders: &["pi-coding-agent"],
};

pub(super) const PLUGIN: PluginFile = PluginFile {
    host: "pi",
    text: include_str!("plugin.ts"),
};

fn file(scope: Scope, env: &Environment, _: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("extensions/mainspring.ts")),
        Scope::Project | Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    Some(env.home()?.join(".pi/agent"))
}
