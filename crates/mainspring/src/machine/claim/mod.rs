//! The shell of `claim`: its file, and the effects at GitHub.

mod change;
mod effect;
pub(crate) mod file;
pub(crate) mod gh;
mod gh_lock;
pub(crate) mod github_context;
pub(crate) mod lease;
mod open;
pub(crate) mod poll;
pub(crate) mod programs;
pub(crate) mod query;

pub(crate) use change::Change;

use std::path::PathBuf;

use mainspring_kernel::effect::Intent;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::watch::Before;
use mainspring_kernel::machines::claim::work::Outcome;
use mainspring_kernel::machines::claim::{BoardUse, Claim, Door, Facts, State};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_kernel::{Kind, Millis};
use mainspring_store::{Trouble, atomic, digest, read_json};

use super::{FoundFile, Loaded, MachineShell, Spec, json_state};
use crate::config::{Key, Kind as Setting, Reach};
use crate::event_context::EventContext;
use crate::limits;
use crate::permit::Permit;

#[derive(Debug)]
pub(crate) struct Shell;

/// What a claim was loaded from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) file: FoundFile,
    pub(crate) memory: FoundFile,
}

impl MachineShell for Shell {
    type Machine = Claim;
    type Found = Found;

    const SPEC: Spec = Spec {
        about: "issue → branch → pull request → CI → merged → closed",
        markers: &[file::NAME],
        keys: &[
            Key {
                name: "claim.project",
                kind: Setting::Number { most: 1_000_000 },
                default: "0",
                reach: Reach::Anyone,
                variable: Some("MOLTNET_PROJECT_NUMBER"),
                about: "number of the GitHub project board; 0: none",
            },
            Key {
                name: "claim.owner",
                kind: Setting::Text,
                default: "",
                reach: Reach::Anyone,
                variable: Some("MOLTNET_PROJECT_OWNER"),
                about: "the board's owner; if empty, the repository's owner",
            },
            Key {
                name: "claim.remote",
                kind: Setting::Text,
                default: "origin",
                reach: Reach::Anyone,
                variable: None,
                about: "the git remote that names the repository",
            },
            Key {
                name: "claim.hosts",
                kind: Setting::List,
                default: "",
                reach: Reach::User,
                variable: None,
                about: "GitHub Enterprise servers, in addition to those that gh is signed in to",
            },
            Key {
                name: "claim.gh",
                kind: Setting::Text,
                default: "gh",
                reach: Reach::User,
                variable: None,
                about: "the GitHub command line: a name on PATH, or an absolute path",
            },
            Key {
                name: "claim.git",
                kind: Setting::Text,
                default: "git",
                reach: Reach::User,
                variable: None,
                about: "git: a name on PATH, or an absolute path",
            },
            Key {
                name: "claim.watch",
                kind: Setting::Span,
                default: "2m",
                reach: Reach::User,
                variable: Some("MAINSPRING_CLAIM_WATCH"),
                about: "how often `claim watch` looks at the pull request",
            },
        ],
    };

    /// There is a claim, there are unread messages, or the event is one at which a project
    /// without a claim may be looked at.
    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        let Some(payload) = context.payload else {
            return Ok(false);
        };
        let listens = matches!(
            payload.event.kind,
            Kind::Stop { .. }
                | Kind::Idle
                | Kind::Watch
                | Kind::Prompt { .. }
                | Kind::SessionStart { .. }
                | Kind::SessionEnd { .. }
        );
        if !listens || (context.at_stop() && context.is_vacant()) {
            return Ok(false);
        }
        // While the agent codes, a stop costs the reading of two small files and no lock.
        if let Kind::Stop { .. } = payload.event.kind {
            let works = match state(context) {
                Ok((state, _)) => !state.rests(),
                Err(_) => true,
            };
            return Ok(works && context.heeds_repository());
        }
        if let Kind::Watch = payload.event.kind {
            let now = context.env.now();
            let leaves = state(context)?.0.before_look(now, now) == Before::Leave;
            return Ok(!leaves && context.heeds_repository());
        }
        if context.project.has(file::NAME) {
            return Ok(context.heeds_repository());
        }
        let memory = read_json::<ClaimMemory>(memo_path(context))?.value;
        if memory.is_some_and(|memory| !memory.mail.is_empty()) {
            return Ok(true);
        }
        let trusted = || context.is_trusted();
        match payload.event.kind {
            Kind::Idle => Ok(branch(context).is_some() && trusted()),
            Kind::SessionStart { .. } => {
                Ok(trusted() && github_context::board_name(context)?.is_some())
            }
            _ => Ok(false),
        }
    }

    fn load(context: &EventContext<'_>, _: Option<&str>) -> Result<Option<Loaded<Self>>, Trouble> {
        let (state, found) = state(context)?;
        // If there is no claim, a view shows nothing.
        if context.payload.is_none() && matches!(state, State::Unclaimed(_)) {
            return Ok(None);
        }
        let facts = facts(context, &state)?;
        Ok(Some(Loaded {
            input: InputOf::new(state, facts),
            found,
        }))
    }

    fn files(
        _: &EventContext<'_>,
        input: &InputOf<Claim>,
        found: &Found,
        transition: &TransitionOf<Claim>,
    ) -> Result<Vec<FileChange>, Trouble> {
        changes(found, &input.state, &transition.state)
    }

    fn run(context: &EventContext<'_>, permit: Permit, intent: &Intent<Claim>) -> Outcome {
        let limit = Millis(intent.deadline.0.saturating_sub(intent.since.0));
        effect::run(context, permit, &intent.effect, limit)
    }

    fn summary(input: &InputOf<Claim>) -> String {
        match &input.state {
            State::Unclaimed(_) => "no issue is claimed".into(),
            State::Newer { version } => {
                format!("schema_version {version} is too new for this version of Mainspring")
            }
            State::Claimed { claim, memory } => {
                let pr = claim
                    .pr_number
                    .map_or_else(String::new, |pr| format!(", PR #{pr}"));
                let mail = match memory.mail.len() {
                    0 => String::new(),
                    count => format!(", {count} messages wait"),
                };
                format!(
                    "issue #{} on {}{pr}{mail}",
                    claim.issue_number, claim.branch
                )
            }
        }
    }
}

/// There is one memory file per claim file, because two worktrees may work on two issues.
fn memo_path(context: &EventContext<'_>) -> PathBuf {
    if context.project.worktree == context.project.root {
        return context.store.machine_file(Name::Claim);
    }
    let place = digest::of(&[context.project.worktree.as_os_str().as_encoded_bytes()]).0;
    context
        .store
        .dir()
        .join(format!("claim-{}.json", &place[..16]))
}

/// The lock that the only watcher of this checkout holds.
pub(crate) fn watch_lock(context: &EventContext<'_>) -> String {
    let memory = memo_path(context);
    let name = memory.file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}-watch.lock")
}

/// The state of this checkout, and the two files that it was loaded from.
pub(crate) fn state(context: &EventContext<'_>) -> Result<(State, Found), Trouble> {
    let path = context.project.file(file::NAME);
    let bytes = atomic::read(&path, limits::STATE_FILE)?;
    let memory = read_json::<ClaimMemory>(memo_path(context))?;
    let remembered = memory.value.unwrap_or_default();
    let state = match &bytes {
        None => State::Unclaimed(remembered),
        Some(bytes) => {
            match file::read(bytes).map_err(|problem| Trouble::corrupt(&path, problem))? {
                file::Read::Newer(version) => State::Newer { version },
                file::Read::Signal(claim) => State::Claimed {
                    claim: *claim,
                    memory: remembered,
                },
            }
        }
    };
    let found = Found {
        file: FoundFile { path, bytes },
        memory: FoundFile {
            path: memory.path,
            bytes: memory.bytes,
        },
    };
    Ok((state, found))
}

/// The configuration is read only if the kernel will need the board, which it does not at a
/// stop while the agent codes.
fn facts(context: &EventContext<'_>, state: &State) -> Result<Facts, Trouble> {
    let kind = context.payload.map(|payload| &payload.event.kind);
    let matters = match (kind, state) {
        (Some(Kind::SessionStart { .. }), _) => true,
        (Some(Kind::Stop { .. }), State::Claimed { claim, .. }) => claim.card_is_behind(),
        _ => false,
    };
    let board = if matters && github_context::board_name(context)?.is_some() {
        BoardUse::On
    } else {
        BoardUse::Off
    };
    let branch = match (kind, state) {
        (Some(Kind::Idle), State::Unclaimed(_)) => branch(context),
        _ => None,
    };
    let door = if context.is_registered(Name::Claim) {
        Door::Compat
    } else {
        Door::Hook
    };
    Ok(Facts {
        door,
        board,
        branch,
    })
}

/// The checked-out branch, if it may have a pull request. It is read from git's own file,
/// because no program is started before the kernel asks for it.
fn branch(context: &EventContext<'_>) -> Option<String> {
    let git = context.project.worktree.join(".git");
    let folder = if git.is_dir() {
        git
    } else {
        let text = atomic::read_text(&git, limits::CONFIG).ok()??;
        let path = PathBuf::from(text.strip_prefix("gitdir:")?.trim());
        context.project.worktree.join(path)
    };
    let head = atomic::read_text(&folder.join("HEAD"), limits::CONFIG).ok()??;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    let usual = matches!(branch, "main" | "master" | "trunk" | "develop");
    let usable = !usual && mainspring_kernel::machines::claim::branch::check(branch).is_ok();
    usable.then(|| branch.to_owned())
}

/// The files that lead from one state to the other.
pub(crate) fn changes(found: &Found, old: &State, new: &State) -> Result<Vec<FileChange>, Trouble> {
    let Found {
        file: claim,
        memory,
    } = found;
    let before = match old {
        State::Claimed { claim, .. } => Some(claim),
        State::Unclaimed(_) | State::Newer { .. } => None,
    };
    let mut files = Vec::new();
    match new {
        State::Newer { .. } => return Ok(files),
        State::Claimed { claim: after, .. } if before != Some(after) => {
            let text = file::write(claim.bytes.as_deref(), before, after);
            files.push(atomic::change(
                &claim.path,
                claim.bytes.as_deref(),
                Some(text),
            ));
        }
        State::Unclaimed(_) if claim.bytes.is_some() => {
            files.push(atomic::change(&claim.path, claim.bytes.as_deref(), None));
        }
        State::Claimed { .. } | State::Unclaimed(_) => {}
    }
    // An empty memory leaves no file, so that the next event has nothing to read.
    let remembered = new
        .memory()
        .filter(|memory| **memory != ClaimMemory::default());
    files.push(json_state::change(memory, remembered)?);
    Ok(files)
}
