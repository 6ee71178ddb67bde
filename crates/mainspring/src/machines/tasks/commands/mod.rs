//! `mainspring tasks`: the client's task list without the client's tools, and what an
//! author of a skill's list needs.

mod edit;
mod preview;
mod show;
pub(crate) mod spans;
mod validate;

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::tasks::check::List;
use mainspring_store::ShownPath as _;

use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::hosts::task_files::list::ClientList;
use crate::machines::tasks::source::{Fault, Source};
use crate::machines::tasks::{self, FILE};
use crate::people::which_session;

/// Show and change the agent's task list, or check a skill's task list
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring tasks list                            the list of the most recent session\n  mainspring tasks next                            what the agent can start now\n  mainspring tasks validate .claude/skills/ship    check a skill's fsm.json\n  mainspring tasks preview .claude/skills/ship"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show all tasks
    List {
        #[command(flatten)]
        which: Which,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what can be started now
    Next {
        #[command(flatten)]
        which: Which,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Start a task
    Start {
        /// The task's number
        #[arg(value_parser = crate::command::number)]
        id: u64,
        #[command(flatten)]
        which: Which,
    },
    /// Complete a task
    Done {
        /// The task's number
        #[arg(value_parser = crate::command::number)]
        id: u64,
        #[command(flatten)]
        which: Which,
    },
    /// Add a task
    Add {
        /// The task, in one line
        subject: String,
        /// More about it
        #[arg(long, default_value = "")]
        description: String,
        /// A task that must be completed first
        #[arg(long, value_name = "ID", value_parser = crate::command::number)]
        after: Vec<u64>,
        #[command(flatten)]
        which: Which,
    },
    /// Add a note to a task
    Note {
        /// The task's number
        #[arg(value_parser = crate::command::number)]
        id: u64,
        /// The note
        text: String,
        #[command(flatten)]
        which: Which,
    },
    /// Check a skill's fsm.json
    Validate {
        /// The file, or the skill's folder
        path: PathBuf,
    },
    /// Show a skill's fsm.json as a graph
    Preview {
        /// The file, or the skill's folder
        path: PathBuf,
        /// Print it as a Mermaid graph
        #[arg(long)]
        mermaid: bool,
    },
}

/// Which list is meant.
#[derive(Debug, clap::Args)]
struct Which {
    /// The list's name, usually a session's id; default: the agent's own list
    #[arg(long, value_name = "NAME")]
    list: Option<String>,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Verb::List { which, json: false } => Ok(cmd.fitted(&show::list(&which.read(cmd)?))),
        Verb::List { which, json: true } => show::list_json(&which.read(cmd)?),
        Verb::Next { which, json: false } => Ok(cmd.fitted(&show::next(&which.read(cmd)?))),
        Verb::Next { which, json: true } => show::next_json(&which.read(cmd)?),
        Verb::Start { id, which } => edit::start(cmd, &which.folder(cmd)?, *id),
        Verb::Done { id, which } => edit::done(cmd, &which.folder(cmd)?, *id),
        Verb::Add {
            subject,
            description,
            after,
            which,
        } => edit::add(cmd, &which.folder(cmd)?, subject, description, after),
        Verb::Note { id, text, which } => edit::note(cmd, &which.folder(cmd)?, *id, text),
        Verb::Validate { path } => validate::run(cmd, path),
        Verb::Preview {
            path,
            mermaid: false,
        } => Ok(preview::text(&checked(cmd, path)?)),
        Verb::Preview {
            path,
            mermaid: true,
        } => Ok(preview::mermaid(&checked(cmd, path)?)),
    }
}

impl Which {
    fn folder(&self, cmd: &CommandContext) -> Result<PathBuf> {
        if let Some(name) = &self.list {
            return Ok(tasks::folder_named(&cmd.env, name)?);
        }
        let session = cmd.env.agent_session();
        let session = session.as_ref().map(ToString::to_string);
        tasks::folder_of(&cmd.env, session).map_err(|trouble| {
            let mut error = CliError::from(trouble).hint("name the list: `--list NAME`");
            for name in tasks::newest_lists(&cmd.env) {
                error = error.hint(format!("there is `--list {name}`"));
            }
            error
        })
    }

    /// The list to show. If none is named and no agent runs this: the most recent session's.
    fn read(&self, cmd: &CommandContext) -> Result<ClientList> {
        let folder = self.folder(cmd).or_else(|error| {
            let heard = cmd
                .project()
                .ok()
                .and_then(|(_, store)| which_session::latest(&cmd.env, &store));
            let (id, _) = heard.ok_or(error)?;
            Ok::<_, CliError>(tasks::folder_of(&cmd.env, Some(id.to_string()))?)
        })?;
        Ok(ClientList::read(&folder)?)
    }
}

/// The list's file. A person may name the file, or the folder of its skill.
fn file(cmd: &CommandContext, path: &Path) -> PathBuf {
    let path = cmd.cwd.join(path);
    if path.is_dir() { path.join(FILE) } else { path }
}

/// A valid list, or everything that is wrong with it.
fn checked(cmd: &CommandContext, path: &Path) -> Result<List> {
    let path = file(cmd, path);
    let list = Source::read(&path)
        .and_then(|bytes| Source::parse(&path, &bytes))
        .and_then(|source| source.check());
    list.map_err(|fault| match fault {
        Fault::File(cause) => CliError::damaged(cause),
        Fault::Tasks(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            CliError::damaged(format!(
                "{} is not a valid task list:\n  {}",
                path.shown(),
                problems.join("\n  ")
            ))
            .hint("`mainspring tasks validate` names lines and columns")
        }
    })
}
