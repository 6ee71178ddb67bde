//! `mainspring claim N`.

use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::memo::Memo;
use mainspring_kernel::machines::claim::signal::{Signal, status};
use mainspring_kernel::machines::claim::text::quote;
use mainspring_kernel::machines::claim::work::Board as Moved;
use mainspring_kernel::machines::claim::{State, branch};

use super::{Desk, Result, shop};
use crate::digest;
use crate::error::{CliError, Trouble};
use crate::limits;
use crate::machine::claim::lease::{self, Holder, Taken};
use crate::machine::claim::query::{self, Board, Found};
use crate::machine::claim::shop::Shop;
use crate::machine::claim::{self, Change, file};
use crate::project::Site;
use crate::scene::Scene;
use crate::store::{ProjectStore, atomic, trust};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// The issue's number
    #[arg(required = true, value_name = "ISSUE", value_parser = clap::value_parser!(u64).range(1..))]
    issue: Option<u64>,
    /// The branch to work on, in place of one made from the issue's title
    #[arg(long, allow_hyphen_values = true)]
    branch: Option<String>,
    /// Work in a new worktree beside this checkout
    #[arg(long)]
    worktree: bool,
    /// Take it over from somebody who has had it for more than a day
    #[arg(long)]
    steal: bool,
}

pub(super) fn run(args: &Args, desk: &Desk) -> Result {
    let issue = args
        .issue
        .ok_or_else(|| CliError::new("which issue?").hint("`mainspring claim N`"))?;
    let (site, store) = desk.site()?;
    let scene = Scene::new(&desk.world, &site, &store, None);
    if let State::Claimed { signal, .. } = claim::state(&scene)?.0
        && !args.worktree
    {
        return already(&signal, issue);
    }
    let shop = shop(&scene)?;
    let wanted = args.branch.as_deref();
    if let Some(name) = wanted {
        branch::check(name)
            .map_err(|bad| CliError::new(format!("{name:?} cannot be a branch: {bad}")))?;
    }
    let found = query::find(
        &shop.github(),
        issue,
        wanted.unwrap_or_default(),
        shop.board.as_ref(),
    )
    .map_err(|fault| CliError::new(fault.cause))?;
    let Some(seen) = &found.issue else {
        return Err(CliError::new(format!(
            "{} has no issue #{issue}",
            shop.repository
        )));
    };
    if !seen.is_open {
        return Err(CliError::new(format!("issue #{issue} is closed"))
            .hint(format!("`gh issue reopen {issue}`, or claim another one")));
    }
    let name = wanted.map_or_else(|| branch::for_issue(issue, &seen.title), str::to_owned);
    let agent = agent_id(desk);
    let mut warnings = Vec::new();
    let lease = reserve(args, desk, &shop, issue, &site.here, &agent, &mut warnings)?;
    let place = if args.worktree {
        worktree(&shop, &site, issue, &name)?
    } else {
        site.here.clone()
    };
    let (item, synced) = begin(&shop, &found, &agent, &mut warnings);
    let claim = Signal {
        last_synced_status: synced.then(|| status::IN_PROGRESS.to_owned()),
        ..Signal::claimed(issue, name, agent, item)
    };
    let memo = Memo {
        issue: Some(issue),
        owner: desk.world.agent_session(),
        lease,
        ..Memo::default()
    };
    write(desk, &site, &store, &place, &claim, memo)?;
    if trust::of(store.state(), &site.root) == mainspring_kernel::deliberate::Trust::Untrusted {
        warnings.push(
            "this project is not trusted yet: no pull request is opened until a person runs \
             `mainspring trust`"
                .into(),
        );
    }
    Ok(told(&claim, &seen.title, args, &place, &warnings))
}

fn already(signal: &Signal, issue: u64) -> Result {
    if signal.issue_number == issue {
        return Ok(format!(
            "issue #{issue} is claimed here already, on branch {}, phase {}\n",
            signal.branch,
            signal.phase.as_str()
        ));
    }
    Err(CliError::new(format!(
        "issue #{} is claimed here, phase {}",
        signal.issue_number,
        signal.phase.as_str()
    ))
    .hint("finish it, or give it back with `mainspring claim abort`")
    .hint("`--worktree` claims another one beside it"))
}

/// Who works on it: the person, and when they began.
fn agent_id(desk: &Desk) -> String {
    format!("{}-{}", user(desk), desk.world.now().0 / 1_000)
}

fn user(desk: &Desk) -> String {
    let name = desk.world.var("USER").or_else(|| desk.world.var("LOGNAME"));
    quote(&name.unwrap_or_else(|| "agent".into()), 60)
}

fn machine() -> String {
    let name = atomic::read_text(Path::new("/proc/sys/kernel/hostname"), 256);
    name.ok()
        .flatten()
        .map_or_else(|| "unknown".into(), |text| quote(&text, 80))
}

/// Takes the issue on the git server, before anything else is touched.
fn reserve(
    args: &Args,
    desk: &Desk,
    shop: &Shop,
    issue: u64,
    place: &Path,
    agent: &str,
    warnings: &mut Vec<String>,
) -> Result<Option<String>> {
    let now = desk.world.now();
    let mut me = Holder {
        owner: format!("{}@{}", user(desk), machine()),
        agent: agent.to_owned(),
        place: digest::of(&[place.as_os_str().as_encoded_bytes()]).0,
        at: now,
        generation: 1,
    };
    let taken = lease::take(&shop.programs, &shop.remote, issue, &me).map_err(CliError::new)?;
    let taken = match taken {
        Taken::Theirs { holder, commit } if args.steal && holder.is_expired(now) => {
            me.generation = holder.generation.saturating_add(1);
            lease::steal(&shop.programs, &shop.remote, issue, &me, &commit)
                .map_err(CliError::new)?
        }
        taken => taken,
    };
    match taken {
        Taken::Ours(commit) => Ok(Some(commit)),
        Taken::Refused(why) => {
            warnings.push(format!(
                "the git server takes no claims ({why}): another machine may claim this issue too"
            ));
            Ok(None)
        }
        Taken::Theirs { holder, .. } => Err(held_by(issue, &holder, now)),
    }
}

fn held_by(issue: u64, holder: &Holder, now: Millis) -> CliError {
    let owner = if holder.owner.is_empty() {
        "somebody"
    } else {
        &holder.owner
    };
    let hours = now.since(holder.at).0 / 3_600_000;
    let error = CliError::new(format!(
        "issue #{issue} is claimed by {owner} ({}), since {} ({hours} h ago)",
        holder.agent,
        file::iso(holder.at)
    ));
    if holder.is_expired(now) {
        error.hint("`--steal` takes it over: it has been held for more than a day")
    } else {
        error.hint("it can be taken over a day after it was claimed")
    }
}

/// Card, agent and assignee, in one call. The card's id, and whether it was moved.
fn begin(shop: &Shop, found: &Found, agent: &str, warnings: &mut Vec<String>) -> (String, bool) {
    let mut change = Change::default();
    if let Some(issue) = &found.issue {
        change.assign(&issue.id, &found.me);
    }
    change.card(&found.board, status::IN_PROGRESS, agent);
    let applied = change.apply(&shop.github());
    if let Err(fault) = applied.part("assign") {
        warnings.push(format!("the issue was not assigned: {}", fault.cause));
    }
    let moved = match applied.board() {
        Moved::Moved => true,
        Moved::Off => false,
        Moved::Lacks(cause) | Moved::Unreachable(cause) => {
            warnings.push(format!("the board was not updated: {cause}"));
            false
        }
    };
    let item = match &found.board {
        Board::Card(card) => card.item.clone(),
        Board::Off | Board::Lacks(_) => String::new(),
    };
    (item, moved)
}

/// A worktree of its own, beside the checkout, on the claim's branch.
fn worktree(shop: &Shop, site: &Site, issue: u64, branch: &str) -> Result<PathBuf> {
    let name = site.root.file_name().unwrap_or_default().to_string_lossy();
    let place = site.root.with_file_name(format!("{name}-{issue}"));
    if place.exists() {
        return Err(CliError::new(format!(
            "{} is there already",
            place.display()
        )));
    }
    let text = place.to_string_lossy();
    let known = format!("refs/heads/{branch}");
    let exists = shop
        .programs
        .ask_git(&["rev-parse", "--verify", "--quiet", &known])
        .is_ok();
    let made = if exists {
        shop.programs
            .ask_git(&["worktree", "add", "--quiet", &text, branch])
    } else {
        shop.programs
            .ask_git(&["worktree", "add", "--quiet", "-b", branch, &text])
    };
    made.map_err(CliError::new)?;
    std::fs::canonicalize(&place).map_err(|error| Trouble::io("find", &place)(error).into())
}

/// The signal file, and a line in `.gitignore` so that nobody commits it.
fn write(
    desk: &Desk,
    site: &Site,
    store: &ProjectStore,
    place: &Path,
    signal: &Signal,
    memo: Memo,
) -> Result<()> {
    let there = Site {
        here: place.into(),
        ..site.clone()
    };
    let scene = Scene::new(&desk.world, &there, store, None);
    let (old, mut found) = claim::state(&scene)?;
    if found[0].path.parent() != Some(place) {
        // The root's file was found, and a new worktree has none of its own yet.
        found[0] = crate::machine::FoundFile {
            path: place.join(file::NAME),
            bytes: None,
        };
    }
    let new = State::Claimed {
        signal: signal.clone(),
        memo,
    };
    let mut files = claim::changes(&found, &old_or_none(old, &found), &new)?;
    files.extend(ignored(desk, &there, place)?);
    desk.commit(&format!("claim {}", signal.issue_number), |_| {
        Ok((files, format!("issue #{} is claimed", signal.issue_number)))
    })?;
    Ok(())
}

fn old_or_none(old: State, found: &[crate::machine::FoundFile]) -> State {
    match (old, &found[0].bytes) {
        (State::Claimed { memo, .. }, None) => State::Unclaimed(memo),
        (old, _) => old,
    }
}

/// The change of `.gitignore`, if git does not ignore the file yet.
fn ignored(
    desk: &Desk,
    site: &Site,
    place: &Path,
) -> Result<Option<mainspring_kernel::journal::FileChange>> {
    let store = ProjectStore::new(desk.state()?, &site.root);
    let scene = Scene::new(&desk.world, site, &store, None);
    let programs =
        crate::machine::claim::programs::Programs::of(&scene, super::LIMIT)?.in_dir(place);
    let asked = programs.git(&["check-ignore", "--quiet", file::NAME]);
    if asked.is_ok_and(|finished| finished.code == Some(0)) {
        return Ok(None);
    }
    let path = place.join(".gitignore");
    let bytes = atomic::read(&path, limits::CONFIG)?;
    let mut text = match &bytes {
        None => String::new(),
        Some(bytes) => String::from_utf8(bytes.clone())
            .map_err(|_| Trouble::corrupt(&path, "it is not UTF-8 text"))?,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(file::NAME);
    text.push('\n');
    Ok(Some(atomic::change(&path, bytes.as_deref(), Some(text))))
}

fn told(signal: &Signal, title: &str, args: &Args, place: &Path, warnings: &[String]) -> String {
    let mut out = format!(
        "claimed issue #{}: {}\nbranch {}\n",
        signal.issue_number,
        quote(title, 120),
        signal.branch
    );
    if args.worktree {
        out += &format!("worktree {}\n", place.display());
    }
    for warning in warnings {
        out += &format!("warning: {warning}\n");
    }
    out + "when the work is ready: mainspring handoff --summary \"…\" --push\n"
}
