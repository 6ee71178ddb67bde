//! `mainspring debug state purge`: a person ends the state of a project.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::retention::{Folder, Open, Project};
use mainspring_store::ShownPath as _;
use mainspring_store::limits::LOCK_WAIT;

use super::{CommandContext, Result, root_of, size as shown};
use crate::error::CliError;
use crate::people::ask;
use crate::retention;
use crate::retention::projects::{self, Stored};
use crate::retention::survey::{self, Size};
use crate::store::StateDir;

/// Delete the state of this project: its journal, its sessions, and what its machines remember.
///
/// Nothing in the project itself is changed, and a trusted project stays trusted. Refused
/// while something is open, and inside an agent's shell.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The project, if it is not this one
    #[arg(conflicts_with = "all")]
    path: Option<PathBuf>,
    /// Every project whose folder is gone
    #[arg(long)]
    all: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// A project whose state is to go.
struct Doomed {
    stored: Stored,
    name: String,
    size: Size,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.may("debug state purge", Grounds::Nothing)?;
    let state = cmd.state()?;
    let rules = retention::rules(&cmd.env)?;
    let found = if args.all {
        let mut all = survey::projects(&state, &rules);
        all.retain(|project| project.facts.folder == Folder::Gone);
        all
    } else {
        let root = root_of(args.path.as_ref(), cmd)?;
        let stored = Stored::of(&state, &root);
        if !stored.dir.is_dir() {
            return Err(none(&root));
        }
        let project = survey::project(&state, stored, &rules, &[]);
        // A trusted project keeps its empty folder.
        if project.kinds.total().files == 0 {
            return Err(none(&root));
        }
        vec![project]
    };
    let mut doomed = Vec::new();
    for project in found {
        let name = project
            .stored
            .root
            .as_deref()
            .unwrap_or(Path::new(""))
            .shown();
        refuse_open(&name, &project.facts)?;
        doomed.push(Doomed {
            size: project.kinds.total(),
            stored: project.stored,
            name,
        });
    }
    if doomed.is_empty() {
        return Ok("there is no state of a project whose folder is gone\n".into());
    }
    if !args.yes {
        let mut question = String::new();
        for Doomed { name, size, .. } in &doomed {
            question += &format!("{name}  {}\n", shown(*size));
        }
        ask::confirm(&format!("{question}Delete this state?"), cmd.paint)?;
    }
    let mut out = String::new();
    for project in &doomed {
        out += &delete(cmd, &state, project)?;
    }
    Ok(out)
}

fn none(root: &Path) -> CliError {
    CliError::not_found(format!("there is no state of {}", root.shown()))
        .hint("`mainspring debug state` shows what there is")
}

/// Names everything that is open, and how to end it.
fn refuse_open(name: &str, facts: &Project) -> Result<()> {
    let mut obstacles = facts.obstacles().peekable();
    if obstacles.peek().is_none() {
        return Ok(());
    }
    let error = CliError::refused(format!("something is open in {name}: nothing was deleted"));
    Err(obstacles.fold(error, |error, open: &Open| {
        error.hint(format!("{}: {}", open.what(), open.end()))
    }))
}

fn delete(cmd: &CommandContext, state: &StateDir, project: &Doomed) -> Result {
    let Doomed { stored, name, size } = project;
    let store = stored.store();
    let held = store.hold(LOCK_WAIT)?;
    // Somebody may have begun something since the person was asked.
    let facts = stored.facts(state, cmd.env.now());
    refuse_open(name, &facts)?;
    held.delete()?;
    let root = stored.root.as_deref().unwrap_or(Path::new(""));
    for binding in projects::bindings_to(state, root) {
        let _ = fs::remove_file(binding);
    }
    let mut out = format!("the state of {name} is deleted: {}\n", shown(*size));
    if facts.is_trusted() {
        // An event in a trusted project looks further than elsewhere, and finds this folder.
        state.create(&stored.dir)?;
        out += "it is still trusted: `mainspring untrust` takes that back\n";
    }
    Ok(out)
}
