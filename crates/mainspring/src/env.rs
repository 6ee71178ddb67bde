//! The only module that reads the clock, the environment variables and the user's identity.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use mainspring_kernel::{Millis, Uptime};
use mainspring_platform::process::{self, Ancestor};
use mainspring_platform::{folders, host, program};

/// Names of the variables we read, so that the reference and the tests can list them.
pub(crate) mod name {
    /// Switches Mainspring off: every hook lets the agent stop.
    pub(crate) const DISABLE: &str = "MAINSPRING_DISABLE";
    /// Mainspring sets it for every program that it starts; a hook that sees it does nothing.
    pub(crate) const DEPTH: &str = "MAINSPRING_DEPTH";
    /// Your home directory. Windows names it `USERPROFILE`.
    pub(crate) const HOME: &str = "HOME";
    /// The directory for state, in place of the system's own: `~/.local/state` on Linux.
    pub(crate) const STATE_HOME: &str = "XDG_STATE_HOME";
    /// The directory for your own settings, in place of `~/.config`, or of `%APPDATA%` on Windows.
    pub(crate) const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
    /// No colours, even on a terminal.
    pub(crate) const NO_COLOR: &str = "NO_COLOR";
    /// `dumb` means a terminal without colours.
    pub(crate) const TERM: &str = "TERM";
    /// The program that shows what is longer than the window; `cat` for none.
    pub(crate) const PAGER: &str = "PAGER";
    /// Your editor, for `mainspring config edit`.
    pub(crate) const VISUAL: &str = "VISUAL";
    /// Your editor, if `VISUAL` is not set.
    pub(crate) const EDITOR: &str = "EDITOR";
    /// The directories to search for `claude`, `gh` and `git`.
    pub(crate) const PATH: &str = "PATH";
    /// Under `sudo`: the user who called it. Root accepts this user's files, too.
    pub(crate) const SUDO_UID: &str = "SUDO_UID";
    /// Under `sudo`: that user's group.
    pub(crate) const SUDO_GID: &str = "SUDO_GID";
    /// The directory for the gate's counters; they get a folder of their own in it.
    pub(crate) const TMPDIR: &str = "TMPDIR";
    /// Switches the loop off: it lets the agent stop.
    pub(crate) const IDLE_DISABLE: &str = "IDLE_LOOP_DISABLE";
    /// The store of the message tool `jwz`, in place of the project's `.jwz`.
    pub(crate) const JWZ_STORE: &str = "JWZ_STORE";
    /// The folder of task lists, in place of the host's; the public script reads it, too.
    pub(crate) const FSM_TASKS: &str = "FSM_TASK_ROOT";
    /// The host's list of plugins, in place of its usual path.
    pub(crate) const FSM_PLUGINS: &str = "FSM_PLUGINS_FILE";
    /// The folder of your own skills, in place of the host's.
    pub(crate) const FSM_USER_SKILLS: &str = "FSM_USER_SKILLS_ROOT";
    /// `1` lets the agent read a skill's own files.
    pub(crate) const FSM_BYPASS: &str = "FSM_BYPASS";
}

#[derive(Debug, Clone)]
pub(crate) struct Environment {
    vars: Vars,
    now: Millis,
}

#[derive(Debug, Clone)]
enum Vars {
    Process,
    /// Used by tests and the demo.
    Given(BTreeMap<String, OsString>),
}

impl Environment {
    /// Reads the clock, once.
    pub(crate) fn real() -> Self {
        Self {
            vars: Vars::Process,
            now: clock(),
        }
    }

    #[cfg(test)]
    pub(crate) fn given(vars: &[(&str, &str)], now: Millis) -> Self {
        let vars = vars
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect();
        Self::staged(vars, now)
    }

    /// When this process began: every decision uses this time, unless an effect ran before it.
    pub(crate) fn now(&self) -> Millis {
        self.now
    }

    /// The time now, for use after something that took long.
    pub(crate) fn later(&self) -> Millis {
        match self.vars {
            Vars::Process => clock(),
            Vars::Given(_) => self.now,
        }
    }

    /// How long the machine is up, as of now.
    pub(crate) fn uptime(&self) -> Uptime {
        match self.vars {
            Vars::Process => Uptime(host::uptime()),
            Vars::Given(_) => Uptime(self.now.0),
        }
    }

    /// The same environment with the clock read again, for a process that decides more than
    /// once.
    pub(crate) fn afresh(&self) -> Self {
        Self {
            now: self.later(),
            vars: self.vars.clone(),
        }
    }

    /// An environment with only these variables, at this time.
    pub(crate) fn staged(vars: BTreeMap<String, OsString>, now: Millis) -> Self {
        Self {
            vars: Vars::Given(vars),
            now,
        }
    }

    /// A variable's value. An empty value counts as unset.
    pub(crate) fn var_os(&self, name: &str) -> Option<OsString> {
        let value = match &self.vars {
            #[expect(clippy::disallowed_methods, reason = "only this module reads them")]
            Vars::Process => std::env::var_os(name),
            Vars::Given(vars) => vars.get(name).cloned(),
        };
        value.filter(|value| !value.is_empty())
    }

    /// A variable's value, if it is valid UTF-8.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        self.var_os(name)?.into_string().ok()
    }

    /// Every variable, with its value unchanged.
    pub(crate) fn vars(&self) -> Vec<(OsString, OsString)> {
        match &self.vars {
            #[expect(clippy::disallowed_methods, reason = "only this module reads them")]
            Vars::Process => std::env::vars_os().collect(),
            Vars::Given(vars) => vars
                .iter()
                .map(|(name, value)| (name.into(), value.clone()))
                .collect(),
        }
    }

    /// A variable's value, if it is an absolute path.
    pub(crate) fn dir(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.var_os(name)?);
        path.is_absolute().then_some(path)
    }

    /// The words that this process was started with.
    pub(crate) fn command_line(&self) -> Vec<OsString> {
        match &self.vars {
            Vars::Process => std::env::args_os().collect(),
            Vars::Given(_) => Vec::new(),
        }
    }

    /// A program of this name on the PATH.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        program::find(&self.var_os(name::PATH)?, name)
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.dir(folders::HOME)
    }

    /// The folder for our own state. `None` if there is no home directory.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        let base = self
            .dir(name::STATE_HOME)
            .or_else(|| folders::state(&self.home()?, |name| self.dir(name)))?;
        Some(base.join("mainspring"))
    }

    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        let base = self
            .dir(name::CONFIG_HOME)
            .or_else(|| folders::settings(&self.home()?, |name| self.dir(name)))?;
        Some(base.join("mainspring").join("config.toml"))
    }

    /// Is Mainspring switched off, or is this process a child of ours?
    pub(crate) fn silenced(&self) -> bool {
        let on = |name| self.var_os(name).is_some_and(|value| value != "0");
        on(name::DISABLE) || on(name::DEPTH)
    }

    /// Is it set, and not to `0`?
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.var_os(name).is_some_and(|value| value != "0")
    }

    pub(crate) fn ancestors(&self) -> Vec<Ancestor> {
        match &self.vars {
            Vars::Process => process::ancestors(),
            Vars::Given(_) => Vec::new(),
        }
    }
}

fn clock() -> Millis {
    #[expect(clippy::disallowed_methods, reason = "only this module reads it")]
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = now.map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    Millis(millis)
}
