//! Codex, as version 0.166.0 does it.

mod daemon;
pub(super) mod reviewer;
mod transcript;

use std::path::Path;

use mainspring_kernel::block_ledger::Cap;
use mainspring_store::atomic;

use super::agent::KnownAgent;
use super::answers::Answers;
use super::install::{Installation, Trial};
use super::reading::Reading;
use super::wire::Wire;
use super::{Advice, Doctor, HostSpec, OWN_CAP, Variables, hooks_file, task_files};
use crate::env::Environment;
use crate::limits;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".codex/",
    program: "codex",
    in_home: ".codex",
    moved: Some(("CODEX_HOME", ".codex")),
    agent: &AGENT,
    sent: Some(sent),
    reading: Reading {
        // The model reads a skill's file in its shell.
        ..Reading::USUAL
    },
    // A block with an unknown field counts for nothing.
    answers: Answers::USUAL,
    cap: |_| Cap::Ours(OWN_CAP),
    variables: Variables::NONE,
    transcript: transcript::TRANSCRIPT,
    task_files: task_files::with_skills_in(".codex/skills"),
    installation: Installation {
        trial: Trial {
            also: &[("turn_id", "trial")],
            ..hooks_file::TRIAL
        },
        ..hooks_file::installation("hooks.json", ".codex/hooks.json")
    },
    doctor: Doctor {
        get: "npm install --global @openai/codex",
        oldest: "0.166.0",
        resume: "codex resume --last",
        also: trust_and_daemon,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Codex",
    session: Some("CODEX_SESSION_ID"),
    marks: &["CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX"],
    programs: &["codex"],
    folders: &["node_modules/@openai/codex"],
};

/// Most of its events have the turn's id, and all name a transcript of this kind, unless the
/// session is kept nowhere.
fn sent(env: &Environment, wire: &Wire<'_>) -> bool {
    let transcript = wire.transcript_path.text();
    let is_rollout = |path: &str| {
        let name = Path::new(path).file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("rollout-"))
    };
    wire.turn_id.is_there()
        || transcript.as_deref().is_some_and(is_rollout)
        || transcript.is_none() && env.is_set("CODEX_MANAGED_BY_NPM")
}

/// It runs no hook that the person has not reviewed. In a terminal it runs hooks in a process of
/// its own, which stays.
fn trust_and_daemon(env: &Environment, file: &Path) -> Vec<Advice> {
    let config = SPEC
        .own_folder(env)
        .map(|folder| folder.join("config.toml"));
    let config = config.and_then(|path| atomic::read_text(&path, limits::CONFIG).ok()?);
    let config = config.unwrap_or_default();
    let trusts = |event: &str| config.contains(&format!("{}:{event}:", file.display()));
    let all = ["session_start", "user_prompt_submit", "stop", "session_end"];
    let trust = if all.into_iter().all(trusts) {
        Advice {
            about: "trust",
            what: "you reviewed these hooks in Codex".into(),
            fix: None,
        }
    } else {
        Advice {
            about: "trust",
            what: "nobody reviewed these hooks in Codex: `codex exec` runs none of them, and says \
                   nothing"
                .into(),
            fix: Some("codex    # and choose \"Trust all and continue\""),
        }
    };
    vec![trust, daemon::advice(env)]
}
