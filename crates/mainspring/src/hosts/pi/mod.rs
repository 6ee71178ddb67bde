//! pi, as version 0.74.2 does it. It has no hooks for programs, so a plugin of ours tells us of
//! its events.

use mainspring_kernel::block_ledger::Cap;

use super::agent::KnownAgent;
use super::{Doctor, HostSpec, OWN_CAP, Variables, plugin_file, task_files};
use crate::transcript::UNREAD;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".pi/",
    program: "pi",
    in_home: ".pi/agent",
    moved: None,
    agent: &AGENT,
    // Our plugin says whose its events are.
    sent: Some(|_, _| false),
    reading: plugin_file::READING,
    answers: plugin_file::ANSWERS,
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables::NONE,
    transcript: UNREAD,
    task_files: task_files::with_skills_in(".pi/skills"),
    installation: plugin_file::installation("extensions/mainspring.ts", include_str!("plugin.ts")),
    doctor: Doctor {
        get: "npm install --global @earendil-works/pi-coding-agent",
        oldest: "0.74.2",
        resume: "pi --continue",
        also: super::nothing_else,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "pi",
    session: None,
    marks: &[],
    programs: &["pi"],
    folders: &["pi-coding-agent"],
};
