//! Registration with a host, as far as it is the same for every host: a settings file is read
//! whole, its host changes the text, and it is written whole.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::path;
use mainspring_store::{Trouble, atomic};

use super::call::Caller;
use crate::env::Environment;
use crate::error::CliError;
use crate::limits;

/// Which of a host's settings files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// Your own settings: every project
    User,
    /// The project's settings: this project, for everybody who works on it
    Project,
    /// The project's settings that are not shared: this project, for you
    Local,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        })
    }
}

/// How a host is told to call us. Except for `file` and `has_plugin`, the functions only work
/// on text.
#[derive(Debug)]
pub(crate) struct Installation {
    /// The settings file of a scope, for the project at this path.
    pub(crate) file: fn(Scope, &Environment, &Path) -> Option<PathBuf>,
    /// What a settings file says about us.
    pub(crate) look: fn(&str) -> Result<Found, String>,
    /// The text with us registered once for each event, and with these variables, unless they
    /// are already set. Entries that are as wanted stay untouched.
    pub(crate) register: fn(&str, &Caller, &[&str]) -> Result<String, String>,
    /// The text with the drop-in for this script registered as its document says. A drop-in
    /// that is already there stays untouched.
    pub(crate) register_drop_in: fn(&str, &Caller, Script) -> Result<String, String>,
    /// The text without our entries, drop-ins included, and without these variables, unless their value has
    /// changed since we set them.
    pub(crate) unregister: fn(&str, &[String]) -> Result<String, String>,
    /// What `register` writes.
    pub(crate) wanted: fn(&Caller) -> Vec<Handler>,
    /// Is our plugin installed with the host?
    pub(crate) has_plugin: fn(&Environment) -> bool,
    /// The command that removes the plugin.
    pub(crate) remove_plugin: &'static str,
    pub(crate) variables: &'static [Variable],
}

/// A public script that a drop-in stands in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Script {
    /// Claimed issues
    AgentSync,
    /// A skill's task list
    Fsm,
    /// Loops
    Idle,
    /// The done token
    Taskmaster,
    /// Reviews of plans
    Taskie,
}

impl Script {
    /// As `mainspring compat` is given it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AgentSync => "agent-sync",
            Self::Fsm => "fsm",
            Self::Idle => "idle",
            Self::Taskmaster => "taskmaster",
            Self::Taskie => "taskie",
        }
    }
}

/// A variable that the host needs so that the machines work as intended. A value that the
/// person set is not changed.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) value: &'static str,
    /// What it is for; a person can decline it by this name.
    pub(crate) purpose: Purpose,
    /// The question to the person before it is set.
    pub(crate) question: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Purpose {
    /// The limit on blocked stops: 100 in a row instead of 8
    Cap,
    /// The agent's task tools
    TaskTools,
}

/// What a settings file says about us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) handlers: Vec<Handler>,
    /// How many seconds the host gives us at a stop.
    pub(crate) stop_timeout: Option<u64>,
    /// The drop-ins for public scripts that are registered.
    pub(crate) drop_ins: Vec<Handler>,
    /// The variables that the settings give the host.
    pub(crate) variables: BTreeMap<String, String>,
    /// The name of the setting that switches all hooks off, if it is set.
    pub(crate) hooks_off: Option<&'static str>,
    /// Is our plugin enabled in this file?
    pub(crate) plugin: bool,
    /// Is the file empty, without even a comment?
    pub(crate) empty: bool,
}

/// What one of our handlers is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// It answers an event.
    Hook,
    /// It answers an event, from a file that people share.
    SharedHook,
    /// It waits in the background for news of a pull request.
    Watch,
    /// It stands in for a public script.
    DropIn,
}

/// A program that the host calls at an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handler {
    pub(crate) event: String,
    pub(crate) calls: Calls,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// The arguments are in a list of their own, which other hosts that read the file drop.
    pub(crate) needs_list: bool,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
}

/// A settings file.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    /// `None` if the file does not exist yet.
    pub(crate) text: Option<String>,
    pub(crate) found: Found,
}

impl Settings {
    /// Reads the file. If it is a symlink, as with dotfiles that are kept elsewhere, the file
    /// behind it is read, and later replaced.
    pub(crate) fn read(host: &Installation, path: &Path) -> Result<Self, CliError> {
        let path = match path::real(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(Trouble::io("find", path)(error).into()),
        };
        let text = atomic::read_text(&path, limits::CONFIG)?;
        let found = (host.look)(text.as_deref().unwrap_or_default())
            .map_err(|problem| left_alone(&path, &problem))?;
        Ok(Self { path, text, found })
    }

    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The text after a change of its host's.
    pub(crate) fn changed(&self, text: Result<String, String>) -> Result<String, CliError> {
        text.map_err(|problem| left_alone(&self.path, &problem))
    }
}

fn left_alone(path: &Path, problem: &str) -> CliError {
    CliError::new(format!(
        "{}: {problem}; the file was not changed",
        path.display()
    ))
    .hint("fix the file, or add by hand what `mainspring install --print` shows")
}

/// Where else we are registered, and the command that ends each registration.
pub(crate) fn elsewhere(
    host: &Installation,
    env: &Environment,
    here: &Path,
    scope: Scope,
) -> Vec<String> {
    let paths = Scope::ALL.map(|scope| (scope, (host.file)(scope, env, here)));
    let files: Vec<(Scope, Settings)> = paths
        .into_iter()
        .filter_map(|(scope, path)| Some((scope, Settings::read(host, &path?).ok()?)))
        .collect();
    let others = files
        .iter()
        .filter(|(other, file)| *other != scope && !file.found.handlers.is_empty());
    let mut found: Vec<String> = others
        .map(|(other, _)| {
            format!("in the {other} settings; `mainspring uninstall --scope {other}`")
        })
        .collect();
    if files.iter().any(|(_, file)| file.found.plugin) && (host.has_plugin)(env) {
        found.push(format!("by the plugin; `{}`", host.remove_plugin));
    }
    found
}
