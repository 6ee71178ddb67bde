//! Codex, as version 0.166.0 does it.

mod daemon;
pub(super) mod reviewer;
mod transcript;

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;
use mainspring_store::atomic;

use super::agent::KnownAgent;
use super::answers::{Answers, ContextIn, DenyBy, ObjectBy, OrdersBy};
use super::decode::given;
use super::hooks_file::{self, HooksFile, Shape, installation};
use super::install::Scope;
use super::reading::{self, ChainFrom, Means, PromptBy, Reading, Subagents};
use super::wire::Wire;
use super::{Advice, Doctor, HostSpec, OWN_CAP, Variables, Wording, skills};
use crate::env::Environment;
use crate::limits;

pub(super) static SPEC: HostSpec = HostSpec {
    folder: ".codex/",
    program: "codex",
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
        prompt: |_| PromptBy::Person,
        is_stop: reading::every_stop,
        chain: ChainFrom::Payload,
        last_words: reading::last_assistant_message,
        prompt_id: |wire| given(&wire.turn_id),
        // The model reads a skill's file in its shell.
        skill: None,
        subagents: Subagents::Marked,
    },
    // A block with an unknown field counts for nothing.
    answers: Answers {
        context: ContextIn::Output,
        deny: DenyBy::Permission,
        object: ObjectBy::Block,
        notifies: false,
        reason_is_prompt: false,
        orders: OrdersBy::Message,
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
    transcript: transcript::TRANSCRIPT,
    task_files: skills::in_folder!(".codex/skills", |env| Some(config_dir(env)?.join("skills"))),
    installation: installation!(file, HOOKS, trial),
    doctor: Doctor {
        get: "npm install --global @openai/codex",
        version: &["--version"],
        oldest: "0.166.0",
        resume: "codex resume --last",
        also: trust_and_daemon,
    },
};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "Codex",
    session: Some("CODEX_SESSION_ID"),
    marks: &["CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX"],
    shell_only: &["CODEX_SESSION_ID"],
    programs: &["codex"],
    folders: &["node_modules/@openai/codex"],
};

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
    let config = config_dir(env).map(|folder| folder.join("config.toml"));
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

/// A stop as the host sends it, to try a registration with.
fn trial(project: &Path) -> String {
    let mut stop = hooks_file::trial_stop("Stop", project);
    stop["turn_id"] = "trial".into();
    stop.to_string()
}

fn file(scope: Scope, env: &Environment, here: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(config_dir(env)?.join("hooks.json")),
        Scope::Project => Some(here.join(".codex/hooks.json")),
        Scope::Local => None,
    }
}

/// The host's own folder.
fn config_dir(env: &Environment) -> Option<PathBuf> {
    let set = env.dir("CODEX_HOME");
    set.or_else(|| Some(env.home()?.join(".codex")))
}
