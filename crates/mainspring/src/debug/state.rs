//! `mainspring debug state`: how much is kept, for which project, and how to end it.

mod purge;

use std::path::PathBuf;

use mainspring_kernel::retention::{Folder, Open};
use mainspring_platform::path;
use mainspring_store::ShownPath as _;
use serde::Serialize;

use crate::command::{CommandContext, Result};
use crate::config::{Config, Setting as _};
use crate::retention;
use crate::retention::survey::{self, Kinds, ProjectSize, Shared, Size};

/// Show what Mainspring keeps for each project, how large it is, and what will be deleted next.
///
/// State that was not used for 90 days (`state.keep`) is deleted once a day, when a session
/// starts. What is still open stays.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  mainspring debug state                  every project, and what will be deleted next\n  mainspring debug state purge            delete the state of this project\n  mainspring debug state purge ~/old      of a project that was moved or deleted\n  mainspring debug state purge --all      of every project whose folder is gone"
)]
pub(super) struct Args {
    #[command(subcommand)]
    task: Option<Task>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    Purge(purge::Args),
}

#[derive(Debug, Serialize)]
struct View {
    folder: String,
    /// As it is set: 90d.
    keep: String,
    total: Size,
    /// What the next sweeps delete.
    swept: Size,
    projects: Vec<Row>,
    shared: Shared,
}

#[derive(Debug, Serialize)]
struct Row {
    /// The project's path, or the folder of its state if the path is not known.
    project: String,
    /// Is its folder there? Not said where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    total: Size,
    kinds: Kinds,
    swept: Size,
    open: Vec<String>,
}

impl Row {
    fn of(project: &ProjectSize) -> Self {
        let ProjectSize { stored, facts, .. } = project;
        Self {
            project: stored.root.as_ref().unwrap_or(&stored.dir).shown(),
            exists: match facts.folder {
                Folder::There => Some(true),
                Folder::Gone => Some(false),
                Folder::Unknown => None,
            },
            total: project.kinds.total(),
            kinds: project.kinds,
            swept: project.swept,
            open: facts.open.iter().map(Open::what).collect(),
        }
    }
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if let Some(Task::Purge(args)) = &args.task {
        return purge::run(args, cmd);
    }
    let state = cmd.state()?;
    let rules = retention::rules(&cmd.env)?;
    let keep = Config::of_user(&cmd.env)?.state.keep;
    let projects = survey::projects(&state, &rules);
    let shared = survey::shared(&state, &rules);
    let projects: Vec<Row> = projects.iter().map(Row::of).collect();
    let rows = projects.iter();
    let (total, swept) = rows.fold((shared.total(), shared.swept), |(total, swept), row| {
        (total.plus(row.total), swept.plus(row.swept))
    });
    let view = View {
        folder: state.root().shown(),
        keep: keep.value().plain(),
        total,
        swept,
        projects,
        shared,
    };
    if args.json {
        return crate::command::json(&view);
    }
    Ok(table(cmd, &view))
}

fn table(cmd: &CommandContext, view: &View) -> String {
    let mut out = format!(
        "{}  {}, kept for {} after the last change\n",
        cmd.paint.bold(&view.folder),
        size(view.total),
        view.keep
    );
    if !view.projects.is_empty() {
        out += &format!(
            "\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  project\n",
            "journal", "sessions", "reviews", "checks", "machines", "total", "goes"
        );
    }
    for row in &view.projects {
        out += &line(row);
    }
    let shared = &view.shared;
    let kinds = [
        ("bindings", shared.bindings),
        ("live", shared.live),
        ("told", shared.told),
        ("task lists", shared.tasks),
        ("trusted", shared.trusted),
        ("installs", shared.installs),
    ];
    let kinds = kinds.map(|(name, size)| format!("{name} {}", files(size)));
    out += &format!("\n{}\n", kinds.join(", "));
    let Size {
        files: 1..,
        bytes: swept,
    } = view.swept
    else {
        return out + "nothing goes yet\n";
    };
    out + &format!(
        "{} of {} go as sessions start, {} of them bindings and marks\n",
        files(view.swept),
        bytes(swept),
        shared.swept.files
    )
}

/// One project: what it takes by kind, and what is open in it.
fn line(row: &Row) -> String {
    let Kinds {
        journal,
        sessions,
        reviews,
        checks,
        machines,
    } = row.kinds;
    let sizes = [
        journal, sessions, reviews, checks, machines, row.total, row.swept,
    ];
    let mut out: String = sizes
        .map(|size| format!("{:>9} ", bytes(size.bytes)))
        .concat();
    out += &format!(" {}", row.project);
    if row.exists == Some(false) {
        out += " (gone)";
    }
    if !row.open.is_empty() {
        out += &format!(": {}", row.open.join(", "));
    }
    out + "\n"
}

/// The project that a path or this place names.
fn root_of(path: Option<&PathBuf>, cmd: &CommandContext) -> Result<PathBuf> {
    match path {
        Some(path) => {
            let path = cmd.cwd.join(path);
            Ok(path::real(&path).unwrap_or(path))
        }
        None => Ok(cmd.project()?.0.root),
    }
}

fn files(size: Size) -> String {
    match size.files {
        1 => "1 file".into(),
        count => format!("{count} files"),
    }
}

/// `3.4 kB in 2 files`.
fn size(size: Size) -> String {
    format!("{} in {}", bytes(size.bytes), files(size))
}

/// `12 B`, `3.4 kB`, `5.6 MB`.
fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{}.{} kB", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}
