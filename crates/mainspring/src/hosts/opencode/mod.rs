//! opencode, as version 1.18.33 does it. It has no hooks for programs, so a plugin of ours tells us of
//! its events.

pub(super) mod reviewer;

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::{Doctor, HostSpec, OWN_CAP, Variables, plugin_file, task_files};
use crate::transcript::UNREAD;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".opencode/",
    program: "opencode",
    in_home: ".config/opencode",
    moved: Some(("XDG_CONFIG_HOME", ".config")),
    agent: &AGENT,
    // Our plugin says whose its events are.
    sent: Some(|_, _| false),
    reading: plugin_file::READING,
    answers: plugin_file::ANSWERS,
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables::NONE,
    transcript: UNREAD,
    task_files: task_files::with_skills_in(".opencode/skills"),
    installation: plugin_file::installation("plugins/mainspring.js", include_str!("plugin.js")),
    doctor: Doctor {
        get: "npm install --global opencode-ai",
        oldest: "1.18.33",
        resume: "opencode --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "opencode",
    session: None,
    marks: &["OPENCODE", "OPENCODE_PID"],
    programs: &["opencode"],
    folders: &["node_modules/opencode-ai"],
};
