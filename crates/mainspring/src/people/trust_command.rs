//! `mainspring trust`: a person allows what a project brings to have an effect.

use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::hidden;
use mainspring_platform::path;
use mainspring_store::{ShownPath as _, path_text};
use serde::Serialize;

use super::ask;
use crate::command::{CommandContext, Result};
use crate::config::{self, PROJECT_FILE, Writer};
use crate::diff;
use crate::error::CliError;
use crate::markers;
use crate::people::trust::{Proposal, record};
use crate::project::{self, Project};
use crate::setup::install::guard;
use crate::store::ProjectStore;

/// Allow what this project brings: its settings, plans, claims and loops, and the programs
/// that they start (reviewers, pull requests).
///
/// Until then this project's files are ignored. The permission is recorded outside of the
/// project, for this repository and this version of `mainspring.toml`; a newer version is ignored
/// until you run `trust` again. Refused inside an agent's shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring trust           in the project's folder: shows what it allows, and asks\n  mainspring trust --yes     without asking, for scripts\n  mainspring trust --list"
)]
pub(crate) struct Args {
    /// List the trusted projects
    #[arg(long)]
    list: bool,
    /// As JSON
    #[arg(long, requires = "list")]
    json: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "list")]
    yes: bool,
}

/// A trusted project, for a view.
#[derive(Debug, Serialize)]
struct Trusted {
    project: String,
    since: String,
    /// Is the folder still there?
    exists: bool,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if args.list {
        return list(args, cmd);
    }
    cmd.may("trust", Grounds::Nothing)?;
    let state = cmd.state()?;
    let project = project::to_trust(&cmd.env, &state, &cmd.cwd)?;
    let proposal = Proposal::of(&cmd.env, &state, &project.root)?;
    let name = project.root.shown();
    if proposal.is_nothing() {
        return Ok(format!("{name} is trusted already, as it is now\n"));
    }
    if let (_, Some(text)) = proposal.settings() {
        let path = project.root.join(PROJECT_FILE);
        config::check_text(&path, text, Writer::Project).map_err(|trouble| {
            CliError::from(trouble).hint("mend it, and run `mainspring trust` again")
        })?;
    }
    if !args.yes {
        let shown = show(cmd, &project, &proposal);
        ask::confirm(&format!("{shown}\nTrust it?"), cmd.paint)?;
    }
    let news = if proposal.is_trusted() {
        format!("{PROJECT_FILE} counts as it is now")
    } else {
        "what it brings counts, and its machines may start programs".to_owned()
    };
    proposal.grant(&state, &project.root, cmd.env.now())?;
    let store = ProjectStore::new(state, &project.root);
    let next = guard::hint(cmd, &project, &store);
    Ok(format!("{name} is trusted: {news}\n{next}"))
}

fn list(args: &Args, cmd: &CommandContext) -> Result {
    let trusted: Vec<Trusted> = record::all(&cmd.state()?)?
        .into_iter()
        .map(|(project, since)| {
            let folder = path_text::from_text(&project);
            Trusted {
                exists: folder.is_dir(),
                since: crate::command::timestamp(since),
                project: folder.shown(),
            }
        })
        .collect();
    if args.json {
        return crate::command::json_list("projects", &trusted);
    }
    if trusted.is_empty() {
        return Ok(
            "no project is trusted; `mainspring trust` in one allows what it brings\n".into(),
        );
    }
    let mut out = String::new();
    for one in &trusted {
        let gone = if one.exists { "" } else { "  (gone)" };
        out += &format!(
            "{}  since {}{gone}\n",
            hidden::name(&one.project),
            one.since
        );
    }
    Ok(out)
}

/// Longer settings are not compared line by line.
const MOST_LINES: usize = 1_000;

/// What the person is asked to allow.
fn show(cmd: &CommandContext, project: &Project, proposal: &Proposal) -> String {
    let mut out = format!("{}\n", cmd.paint.bold(&project.root.shown()));
    if !proposal.is_trusted() {
        let brought: Vec<&str> = markers::all()
            .filter(|marker| project.has(marker))
            .collect();
        out += &match brought.as_slice() {
            [] => "brings nothing yet. What it brings later will count.\n".to_owned(),
            files => format!("brings {}\n", files.join(", ")),
        };
        out += "Trusted, its machines may hold the agent, speak to it, and start reviewers, `git` \
                and `gh`.\n";
    }
    let (before, after) = proposal.settings();
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if before.lines().count().max(after.lines().count()) > MOST_LINES {
        let (was, is) = (before.lines().count(), after.lines().count());
        return out + &format!("{PROJECT_FILE} has {is} lines now and had {was}: read it first\n");
    }
    let changes = diff::lines(before, after);
    if !changes.is_empty() {
        out += &format!("\n{}\n", cmd.paint.bold(PROJECT_FILE));
    }
    for line in changes {
        out += &format!("{line}\n");
    }
    for check in proposal.checks(&project.root) {
        let words = hidden::escape_name(&check.run.join(" ")).into_owned();
        out += &format!("\nat a stop it runs {}: {}\n", check.name, words);
    }
    for (name, before, after) in proposal.changed_pins() {
        out += &format!("\n{}\n", cmd.paint.bold(&hidden::name(name)));
        let changes = diff::lines(before, after);
        if changes.is_empty() {
            out += "it is not as you trusted it: read it first\n";
        }
        for line in changes {
            out += &format!("{line}\n");
        }
    }
    out
}

/// Stop trusting this project.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring untrust             in the project's folder\n  mainspring untrust ~/old       a project that was moved or deleted"
)]
pub(crate) struct UntrustArgs {
    /// The project, if it is not this one
    path: Option<PathBuf>,
}

pub(crate) fn untrust(args: &UntrustArgs, cmd: &CommandContext) -> Result {
    cmd.may("untrust", Grounds::Nothing)?;
    let root = match &args.path {
        Some(path) => real_path(&cmd.cwd.join(path)),
        None => cmd.project()?.0.root,
    };
    let name = root.shown();
    if !record::revoke(&cmd.state()?, &root)? {
        return Err(CliError::not_found(format!("{name} was not trusted"))
            .hint("`mainspring trust --list` shows what is"));
    }
    Ok(format!(
        "{name} is no longer trusted: its files are ignored\n"
    ))
}

/// The path with its symlinks resolved, as far as it is there: a project that is gone may have
/// been below a link.
fn real_path(path: &Path) -> PathBuf {
    let mut above = path.ancestors();
    let there = above.find_map(|folder| Some((folder, path::real(folder).ok()?)));
    let Some((folder, real)) = there else {
        return path.to_owned();
    };
    match path.strip_prefix(folder) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        Ok(_) | Err(_) => real,
    }
}
