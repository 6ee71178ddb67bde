//! Registration with a host, as far as it is the same for every host: a settings file is read
//! whole, its host changes the text, and it is written whole.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::path;
use mainspring_store::{ShownPath as _, Trouble, atomic};

use super::call::Caller;
use super::{CalledBy, HostSpec, Payload};
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

/// How a host is told to call us. Except for `outranked`, `plugin` and `own_files`, the functions
/// only work on text.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) files: SettingsFiles,
    pub(crate) shape: Shape,
    /// How many units of the host's are a second.
    pub(crate) units: u64,
    /// What a settings file says about us.
    pub(crate) look: fn(&HostSpec, &str) -> Result<OurPart, String>,
    /// The text with what is wished for. Entries that are as wanted stay untouched.
    pub(crate) register: fn(&HostSpec, &str, &Wish<'_>) -> Result<String, String>,
    /// The text with the drop-in for this script registered as its document says. A drop-in
    /// that is already there stays untouched. `None` if the public scripts are not for this host.
    pub(crate) register_drop_in: Option<RegisterDropIn>,
    /// The text without our entries, drop-ins and our status line included, and without these
    /// variables, unless their value has changed since we set them.
    pub(crate) unregister: fn(&HostSpec, &str, &[String]) -> Result<String, String>,
    /// What `register` writes.
    pub(crate) wanted: fn(&HostSpec, &Caller) -> Vec<Handler>,
    /// Is a hook that was called like this not to answer, because another registration of ours
    /// answers the same event?
    pub(crate) outranked: fn(&Environment, &Payload, CalledBy) -> bool,
    /// Our plugin for this host, if there is one.
    pub(crate) plugin: Option<Plugin>,
    pub(crate) variables: &'static [Variable],
    /// Can this host show a line of ours below its prompt?
    pub(crate) has_status_line: bool,
    /// Files that belong to a set-up for all projects, with their texts: our commands and the
    /// checklist. Without a home there are none.
    pub(crate) own_files: fn(&Environment) -> Vec<(PathBuf, &'static str)>,
    pub(crate) trial: Trial,
}

/// The host's settings files, as far as there are any.
#[derive(Debug)]
pub(crate) struct SettingsFiles {
    /// Below the host's own folder.
    pub(crate) user: &'static str,
    /// Below the project's folder, both.
    pub(crate) project: Option<&'static str>,
    pub(crate) local: Option<&'static str>,
}

/// How we are written into a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As Claude Code has it: handlers in groups.
    Groups,
    /// Handlers without groups, with the host's own field names, in a file with a version.
    Flat,
    /// The file is a plugin of ours, with this text.
    Plugin(&'static str),
}

pub(crate) type RegisterDropIn = fn(&str, &Caller, Script) -> Result<String, String>;

/// What a settings file should have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) hooks: Hooks,
    /// A hook before every tool, whoever brings the others: a setting denies some tools. It costs
    /// a process for each call, so it is there only while a setting needs it.
    pub(crate) guard: bool,
    /// These variables, unless they are already set.
    pub(crate) variables: &'a [&'a str],
    /// Our status line, unless there is one.
    pub(crate) status_line: bool,
    /// The public scripts that we stand in for, and drop-ins for them, are taken out.
    pub(crate) replace: bool,
}

/// Who brings the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// This file, once for each event.
    File,
    /// The plugin: this file needs none.
    Plugin,
}

/// Our plugin for a host: the other way to be registered.
#[derive(Debug)]
pub(crate) struct Plugin {
    /// Does the host load it for the project at this path? This is asked only if its settings
    /// enable it.
    pub(crate) state: fn(&Environment, &Path) -> PluginState,
    /// The arguments with which the host's program removes it.
    pub(crate) remove: &'static [&'static str],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PluginState {
    /// It is not installed, or not enabled.
    Absent,
    /// It is loaded, with these hooks of ours.
    Loads(Vec<Handler>),
    /// It is enabled, and the host cannot load it.
    Fails(String),
}

/// A stop to try a registration with: what the host sends at the first stop of a session.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The transcript that it names, from the project's folder.
    pub(crate) transcript: Option<&'static str>,
    /// Fields of its own.
    pub(crate) also: &'static [(&'static str, &'static str)],
    /// Does this answer keep the agent going?
    pub(crate) holds: fn(&str) -> bool,
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

/// A part of the set-up that a person can decline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Purpose {
    /// The limit on blocked stops: 100 in a row instead of 8
    Cap,
    /// The agent's task tools
    TaskTools,
    /// The line below the prompt that says what runs
    StatusLine,
    /// Our commands and the checklist
    Commands,
}

/// What a settings file says about us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OurPart {
    /// Without the guard.
    pub(crate) handlers: Vec<Handler>,
    /// Our hook before every tool.
    pub(crate) guard: Option<Handler>,
    /// How many seconds the host gives us at a stop.
    pub(crate) stop_timeout: Option<u64>,
    /// The drop-ins for public scripts that are registered.
    pub(crate) drop_ins: Vec<Handler>,
    /// The public scripts themselves that are registered.
    pub(crate) scripts: Vec<Script>,
    /// The variables that the settings give the host.
    pub(crate) variables: BTreeMap<String, String>,
    /// The name of the setting that switches all hooks off, if it is set.
    pub(crate) hooks_off: Option<&'static str>,
    /// Does this file enable our plugin, or disable it?
    pub(crate) plugin: Option<bool>,
    pub(crate) status_line: StatusLine,
    /// Is the file empty, without even a comment?
    pub(crate) empty: bool,
}

/// Whose line the host shows below its prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum StatusLine {
    #[default]
    None,
    Ours,
    Other,
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
    /// The line that the host gives to a shell. `None` if it starts the program itself.
    pub(crate) line: Option<String>,
    /// The arguments are in a list of their own, which other hosts that read the file drop.
    pub(crate) needs_list: bool,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
}

impl HostSpec {
    /// The settings file of a scope, for the project at this path. `None` if the host has no such
    /// file.
    pub(crate) fn settings_file(
        &self,
        scope: Scope,
        env: &Environment,
        here: &Path,
    ) -> Option<PathBuf> {
        let files = &self.installation.files;
        match scope {
            Scope::User => Some(self.own_folder(env)?.join(files.user)),
            Scope::Project => Some(here.join(files.project?)),
            Scope::Local => Some(here.join(files.local?)),
        }
    }

    /// What a settings file says about us.
    pub(crate) fn look(&self, text: &str) -> Result<OurPart, String> {
        (self.installation.look)(self, text)
    }

    /// What `install` writes into a settings file.
    pub(crate) fn wanted(&self, caller: &Caller) -> Vec<Handler> {
        (self.installation.wanted)(self, caller)
    }
}

/// A settings file.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    /// `None` if the file does not exist yet.
    pub(crate) text: Option<String>,
    pub(crate) found: OurPart,
}

impl Settings {
    /// Reads the file. If it is a symlink, as with dotfiles that are kept elsewhere, the file
    /// behind it is read, and later replaced.
    pub(crate) fn read(host: &HostSpec, path: &Path) -> Result<Self, CliError> {
        let path = match path::real(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(Trouble::io("find", path)(error).into()),
        };
        let text = atomic::read_text(&path, limits::CONFIG)?;
        let found = host
            .look(text.as_deref().unwrap_or_default())
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
    CliError::damaged(format!(
        "{}: {problem}; the file was not changed",
        path.shown()
    ))
    .hint("fix the file, or add by hand what `mainspring install --print` shows")
}

/// The settings files of a host, from the widest scope to the narrowest, as far as they can be
/// read.
pub(crate) fn files(
    host: &HostSpec,
    env: &Environment,
    here: &Path,
) -> Vec<(Scope, Result<Settings, CliError>)> {
    let paths = Scope::ALL.map(|scope| Some((scope, host.settings_file(scope, env, here)?)));
    let read = |(scope, path): (Scope, PathBuf)| (scope, Settings::read(host, &path));
    paths.into_iter().flatten().map(read).collect()
}

/// Does the host load our plugin? The narrowest file that names it decides whether it is
/// enabled.
pub(crate) fn plugin<'a>(
    host: &HostSpec,
    env: &Environment,
    here: &Path,
    files: impl DoubleEndedIterator<Item = &'a Settings>,
) -> PluginState {
    let enabled = files.rev().find_map(|file| file.found.plugin);
    match &host.installation.plugin {
        Some(plugin) if enabled == Some(true) => (plugin.state)(env, here),
        Some(_) | None => PluginState::Absent,
    }
}

/// The command that removes our plugin from this host.
pub(crate) fn remove_plugin(host: &HostSpec) -> Option<String> {
    let plugin = host.installation.plugin.as_ref()?;
    Some(format!("{} {}", host.program, plugin.remove.join(" ")))
}

/// Where else we are registered, and the command that ends each registration.
pub(crate) fn elsewhere(
    host: &HostSpec,
    env: &Environment,
    here: &Path,
    scope: Scope,
) -> Vec<String> {
    let files: Vec<(Scope, Settings)> = files(host, env, here)
        .into_iter()
        .filter_map(|(scope, file)| Some((scope, file.ok()?)))
        .collect();
    let others = files
        .iter()
        .filter(|(other, file)| *other != scope && !file.found.handlers.is_empty());
    let mut found: Vec<String> = others
        .map(|(other, _)| {
            format!("in the {other} settings; `mainspring uninstall --scope {other}`")
        })
        .collect();
    let plugin = plugin(host, env, here, files.iter().map(|(_, file)| file));
    if let (PluginState::Loads(_), Some(remove)) = (plugin, remove_plugin(host)) {
        found.push(format!("by the plugin; `{remove}`"));
    }
    found
}

/// Is this host on this computer: its program, or a folder of its settings?
pub(crate) fn is_here(host: &HostSpec, env: &Environment) -> bool {
    let settings = host.settings_file(Scope::User, env, Path::new(""));
    let folder = settings.as_deref().and_then(Path::parent);
    env.program(host.program).is_some() || folder.is_some_and(Path::is_dir)
}
