//! The shell of `claim`: its file, and the effects at GitHub.

mod change;
pub(crate) mod commands;
mod effect;
pub(crate) mod file;
pub(crate) mod gh;
pub(crate) mod github_context;
pub(crate) mod lease;
pub(crate) mod open;
pub(crate) mod places;
pub(crate) mod poll;
pub(crate) mod programs;
pub(crate) mod query;
pub(crate) mod route;
pub(crate) mod settings;

pub(crate) use change::Change;
pub(crate) use effect::release;
pub(crate) use places::place;
pub(crate) use settings::phrases;

use std::path::Path;

use mainspring_kernel::effect::Intent;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::check::Occasion;
use mainspring_kernel::machines::claim::branch;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::phase::{Phase, Task};
use mainspring_kernel::machines::claim::rounds;
use mainspring_kernel::machines::claim::watch::Before;
use mainspring_kernel::machines::claim::work::Outcome;
use mainspring_kernel::machines::claim::{BoardUse, Claim, Facts, State};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_kernel::{Kind, Millis, SessionId};
use mainspring_store::{Trouble, atomic, digest, path_text, read_json};

use self::places::memory_path;
use super::{FoundFile, HandedOn, Loaded, MachineShell, json_state};
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::git_dir;
use crate::limits;
use crate::people::sessions;
use crate::people::told;

#[derive(Debug)]
pub(crate) struct Shell;

/// What a claim was loaded from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) file: FoundFile,
    pub(crate) memory: FoundFile,
    /// The linked worktree of the claim: each has effects of its own.
    worktree: Option<String>,
}

impl MachineShell for Shell {
    type Machine = Claim;
    type Found = Found;

    const ABOUT: &'static str = "issue → branch → pull request → CI → merged → closed";

    /// There is a claim, there are unread messages, or the event is one at which a project
    /// without a claim may be looked at.
    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        let Some(payload) = context.payload() else {
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
                Ok((state, _)) => {
                    !state.rests(context.env.now()) || (state.is_watched() && is_headless(context))
                }
                Err(_) => true,
            };
            return Ok(works && context.heeds_repository());
        }
        if let Kind::Watch = payload.event.kind {
            let now = context.env.now();
            let session = payload.event.session.as_ref();
            // Without a limit, so that no setting is read: the kernel knows it.
            let before = state(context)?.0.before_look(session, 0, now, now);
            let leaves = before == Before::Leave;
            return Ok(!leaves && context.heeds_repository());
        }
        let place = place(context);
        if std::fs::symlink_metadata(place.join(file::NAME)).is_ok() {
            return Ok(context.heeds_repository());
        }
        let memory = read_json::<ClaimMemory>(memory_path(context, &place))?.value;
        if memory.is_some_and(|memory| !memory.mail.is_empty()) {
            return Ok(true);
        }
        let trusted = || context.is_trusted();
        match payload.event.kind {
            Kind::Idle => Ok(current_branch(context).is_some() && trusted()),
            Kind::SessionStart { .. } => {
                Ok(trusted() && github_context::board_name(context)?.is_some())
            }
            _ => Ok(false),
        }
    }

    fn subject(found: &Found) -> Option<&str> {
        found.worktree.as_deref()
    }

    fn load(
        context: &EventContext<'_>,
        subject: Option<&str>,
    ) -> Result<Option<Loaded<Self>>, Trouble> {
        let place = match subject {
            Some(worktree) => path_text::from_text(worktree).into_owned(),
            None => place(context),
        };
        let (state, found) = match state_at(context, &place) {
            Err(trouble) if was_told(context, &trouble) => return Ok(None),
            found => found?,
        };
        // If there is no claim, a view shows nothing.
        if context.payload().is_none() && matches!(state, State::Unclaimed(_)) {
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

    fn run(
        context: &EventContext<'_>,
        permit: Permit,
        intent: &Intent<Claim>,
        handed_on: &mut HandedOn,
    ) -> Outcome {
        let limit = Millis(intent.deadline.0.saturating_sub(intent.since.0));
        let checks = handed_on.checks.as_ref();
        effect::run(context, permit, (&intent.effect, limit), checks)
    }

    fn occasions(context: &EventContext<'_>) -> Vec<Occasion> {
        let claim = context.project.has(file::NAME).then(|| state(context));
        let Some(Ok((State::Claimed { claim, .. }, _))) = claim else {
            return Vec::new();
        };
        // Does this stop open a pull request?
        match claim.phase {
            Phase::ReadyForPr => vec![Occasion::Handoff],
            Phase::Failed(failure) if failure.during == Task::Open => vec![Occasion::Handoff],
            Phase::Failed(_)
            | Phase::Coding
            | Phase::PrCreated
            | Phase::ChecksRunning
            | Phase::MergedDetected
            | Phase::Done => Vec::new(),
        }
    }

    fn works_for(input: &InputOf<Claim>, session: &SessionId) -> bool {
        match &input.state {
            State::Claimed { memory, .. } => memory.owner.as_ref() == Some(session),
            State::Unclaimed(_) | State::Newer { .. } => false,
        }
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
                    1 => ", 1 message waits".into(),
                    count => format!(", {count} messages wait"),
                };
                let trouble = memory.trouble.as_ref();
                let trouble = trouble.map(|trouble| format!("; {}", trouble.words()));
                format!(
                    "issue #{} on {}{pr}{mail}{}",
                    claim.issue_number,
                    claim.branch,
                    trouble.unwrap_or_default()
                )
            }
        }
    }
}

/// The lock that the only watcher of this claim holds.
pub(crate) fn watch_lock(context: &EventContext<'_>) -> String {
    let memory = memory_path(context, &place(context));
    let name = memory.file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}-watch.lock")
}

/// Was this session told of a file that cannot be read? It is told once of each.
fn was_told(context: &EventContext<'_>, trouble: &Trouble) -> bool {
    let (Trouble::Corrupt { path, .. }, Some(session)) = (trouble, context.session()) else {
        return false;
    };
    if context.payload().is_none() || context.is_looking() {
        return false;
    }
    let bytes = atomic::read(path, limits::STATE_FILE).ok().flatten();
    let about = path.join(digest::of(&[&bytes.unwrap_or_default()]).0);
    !told::is_news(context.store.state(), &about, session.as_str())
}

/// The state of the claim that is meant here, and the two files that it was loaded from.
pub(crate) fn state(context: &EventContext<'_>) -> Result<(State, Found), Trouble> {
    state_at(context, &place(context))
}

/// The state of this checkout.
pub(crate) fn state_at(
    context: &EventContext<'_>,
    place: &Path,
) -> Result<(State, Found), Trouble> {
    let path = place.join(file::NAME);
    let bytes = atomic::read(&path, limits::STATE_FILE)?;
    let memory = read_json::<ClaimMemory>(memory_path(context, place))?;
    let remembered = memory.value.unwrap_or_default();
    let state = match &bytes {
        None => State::Unclaimed(remembered),
        Some(bytes) => {
            let unreadable = |problem| {
                Trouble::corrupt(
                    &path,
                    format!("{problem}; `mainspring claim repair` mends it"),
                )
            };
            // The public script does for an unknown phase what it does while the agent codes: it
            // moves the card. So does its drop-in, and leaves the word in the file.
            let unknown = is_script(context).then_some(Phase::Coding);
            match file::read_with(bytes, unknown).map_err(unreadable)? {
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
        worktree: (place != context.project.root).then(|| path_text::to_text(place)),
    };
    Ok((state, found))
}

/// Was the drop-in for the public script called?
fn is_script(context: &EventContext<'_>) -> bool {
    context.is_registered(Name::Claim)
}

/// Is this a stop at which nobody attends, so that no watcher waits for news?
fn is_headless(context: &EventContext<'_>) -> bool {
    context.at_stop() && !context.is_by_command() && !context.is_attended()
}

/// The configuration is read only if the kernel will need the board, which it does not at a
/// stop while the agent codes.
fn facts(context: &EventContext<'_>, state: &State) -> Result<Facts, Trouble> {
    let kind = context.payload().map(|payload| &payload.event.kind);
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
        (Some(Kind::Idle), State::Unclaimed(_)) => current_branch(context),
        _ => None,
    };
    let headless = is_headless(context);
    let asks = may_ask(state, headless);
    let red = |memory: &ClaimMemory| memory.mail.iter().any(|mail| mail.red);
    let max_ci_rounds = if asks || state.memory().is_some_and(red) {
        context.config()?.claim.max_ci_rounds
    } else {
        rounds::MOST
    };
    Ok(Facts {
        is_script: is_script(context),
        board,
        branch,
        headless,
        max_ci_rounds,
        phrases: if asks {
            phrases(context.config()?)
        } else {
            Vec::new()
        },
        owner_is_gone: owner_is_gone(context, state),
    })
}

/// Is the claim another session's, and that one not live any more?
fn owner_is_gone(context: &EventContext<'_>, state: &State) -> bool {
    let (Some(session), Some(owner)) = (
        context.session(),
        state.memory().and_then(|memory| memory.owner.as_ref()),
    ) else {
        return false;
    };
    if *owner == session {
        return false;
    }
    !sessions::life(context.env, context.store.state(), owner).is_live()
}

/// May this event lead to the question whether to close the issue?
fn may_ask(state: &State, headless: bool) -> bool {
    match state {
        State::Claimed { claim, .. } => match claim.phase {
            Phase::PrCreated | Phase::ChecksRunning | Phase::ReadyForPr | Phase::Failed(_) => true,
            Phase::Coding | Phase::MergedDetected | Phase::Done => headless,
        },
        State::Unclaimed(_) | State::Newer { .. } => false,
    }
}

/// The checked-out branch, if it may have a pull request. It is read from git's own file,
/// because no program is started before the kernel asks for it.
fn current_branch(context: &EventContext<'_>) -> Option<String> {
    let git = context.project.worktree.join(".git");
    let folder = if git.is_dir() {
        git
    } else {
        git_dir::named(&git)?
    };
    let head = atomic::read_text(&folder.join("HEAD"), limits::CONFIG).ok()??;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    let usable = !branch::is_usual_default(branch) && branch::check(branch).is_ok();
    usable.then(|| branch.to_owned())
}

/// The files that lead from one state to the other.
pub(crate) fn changes(found: &Found, old: &State, new: &State) -> Result<Vec<FileChange>, Trouble> {
    let Found {
        file: claim,
        memory,
        ..
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
