//! A task list on disk: one JSON file per task in a folder of its own, under the client's own
//! locks. The format is Claude Code's, the only host that keeps such files; for a host without
//! any the list is kept the same way and the agent gets it as text.

pub(crate) mod list;
pub(crate) mod lock;

use std::path::PathBuf;

use mainspring_kernel::machines::tasks::TaskTools;

use crate::env::Environment;

/// Where a host keeps what `tasks` looks at, and whether its agent sees the list.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    /// `None` without a home: then there is no client either.
    pub(crate) roots: fn(&Environment, Option<&std::path::Path>) -> Option<Roots>,
    /// The list that the environment names for this agent, if it does.
    pub(crate) named: fn(&Environment) -> Option<String>,
    /// The folder of a list of this name, below the one of all lists.
    pub(crate) folder: fn(&str) -> String,
    pub(crate) tools: fn(&Environment) -> TaskTools,
    /// The folders of skills of a plugin that is installed here; none if it is not, an error if
    /// that cannot be found out.
    pub(crate) of_plugin: fn(&Environment, &Roots, &str) -> Result<Vec<PathBuf>, String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Roots {
    /// The folder of all task lists.
    pub(crate) tasks: PathBuf,
    /// The host's list of plugins.
    pub(crate) registry: PathBuf,
    /// Folders of skills and commands, the project's first.
    pub(crate) skills: Vec<PathBuf>,
    pub(crate) cwd: PathBuf,
}
