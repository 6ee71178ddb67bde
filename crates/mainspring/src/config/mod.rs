//! The settings in force, and where each value came from.
//!
//! Built-in defaults, then the project's `mainspring.toml`, then the user's
//! `config.toml`, then the environment. A repository's file counts only as far as a person
//! trusted it, and what is executed comes from the user alone ([`Reach::User`]).

pub(crate) mod checks;
mod file;
mod key;
pub(crate) mod schema;
mod trust_roots;

use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use crate::markers::PROJECT_FILE;
pub(crate) use file::unknown;
pub(crate) use key::{Key, Kind, Reach, Value};
pub(crate) use trust_roots::{is_below, trust_roots};

use mainspring_store::{ShownPath as _, Trouble};

use crate::env::Environment;
use crate::people::own_files::OwnFile;
use crate::people::ownership::Ignored;
use crate::people::trust::ProjectSettings;

/// The project's `mainspring.toml`, if its owner allows that it counts.
pub(crate) fn project_file(env: &Environment, root: &Path) -> Result<OwnFile, Trouble> {
    file::of_project(env, &root.join(PROJECT_FILE))
}

/// Keys that belong to no machine.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: trust_roots::NAME,
        kind: Kind::List,
        default: "",
        reach: Reach::User,
        variable: None,
        about: "folders, from / or ~/: you trust every project in them, and what its files start",
    },
    Key {
        name: "state.keep",
        kind: Kind::Span,
        default: "90d",
        reach: Reach::User,
        variable: None,
        about: "how long state that nobody uses is kept: of sessions that ended, of projects whose folder is gone, old decisions; at least a day",
    },
    Key {
        name: "notify.desktop",
        kind: Kind::Switch,
        default: "false",
        reach: Reach::User,
        variable: None,
        about: "a notice on the desktop (notify-send) when the agent needs you, a review ends, the checks of a pull request change, or a limit lets the agent go",
    },
    Key {
        name: "notify.command",
        kind: Kind::List,
        default: "",
        reach: Reach::User,
        variable: None,
        about: "a program and its arguments that are run for each notice; the text is added as the last argument",
    },
    Key {
        name: "host.continue_as",
        kind: Kind::Choice(&["auto", "block", "context"]),
        default: "auto",
        reach: Reach::Anyone,
        variable: Some("MAINSPRING_CONTINUE_AS"),
        about: "how the agent is told to go on: context (quiet in Claude Code), block (what every host understands), auto (context where Claude Code runs us)",
    },
    Key {
        name: "host.cap",
        kind: Kind::Number { most: 10_000 },
        default: "100",
        reach: Reach::User,
        variable: None,
        about: "how many times in a row an agent is held without using a tool, in a host that has no limit of its own (Codex, Gemini CLI); 0: no limit",
    },
];

/// Can this text be read as a settings file? What is ignored in it is no mistake.
pub(crate) fn check_text(path: &Path, text: &str, writer: Reach) -> Result<(), Trouble> {
    file::said(path, text, writer).map(drop)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File(PathBuf),
    Variable(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.shown()),
            Self::Variable(name) => write!(f, "${name}"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    pub(crate) source: Source,
}

/// A setting in force, borrowed.
#[derive(Debug)]
pub(crate) struct InForce<'a> {
    pub(crate) key: &'static Key,
    pub(crate) value: &'a Value,
    pub(crate) source: &'a Source,
}

#[derive(Debug)]
pub(crate) struct Config {
    /// Values that were set somewhere; the last one counts.
    written: Vec<Setting>,
    /// The defaults, in the order of [`crate::machines::keys`]. Each is made when it is first
    /// needed: most events need one or two.
    defaults: Vec<OnceCell<Value>>,
    /// Problems: unknown keys, values that only the user may set.
    pub(crate) warnings: Vec<String>,
    /// Files that were ignored because of their owner.
    pub(crate) ignored: Vec<Ignored>,
}

impl Config {
    /// The user's settings alone.
    pub(crate) fn of_user(env: &Environment) -> Result<Self, Trouble> {
        Self::load(env, Path::new(""), &ProjectSettings::None)
    }

    /// The user's settings, with those of the project at `root` as far as a person trusted
    /// them.
    pub(crate) fn load(
        env: &Environment,
        root: &Path,
        project: &ProjectSettings,
    ) -> Result<Self, Trouble> {
        let mut config = Self {
            written: Vec::new(),
            defaults: crate::machines::keys().map(|_| OnceCell::new()).collect(),
            warnings: Vec::new(),
            ignored: Vec::new(),
        };
        if let ProjectSettings::Ignored { ignored, .. } = project {
            config.ignored.push(ignored.clone());
        }
        if let Some(text) = project.text() {
            let path = root.join(PROJECT_FILE);
            let said = file::said(&path, text, Reach::Anyone)?;
            config.take(&path, said);
        }
        if let Some(path) = env.config_file() {
            let said = file::read(env, &path, Reach::User)?;
            config.take(&path, said);
        }
        for key in crate::machines::keys() {
            let Some(name) = key.variable else { continue };
            let Some(text) = env.var(name) else {
                continue;
            };
            match key.parse(&text) {
                Ok(value) => config.set(key, value, Source::Variable(name)),
                Err(problem) => config.warnings.push(format!("${name}: {problem}")),
            }
        }
        Ok(config)
    }

    /// Adds a file's settings; a later file overrides an earlier one.
    fn take(&mut self, path: &Path, said: file::Said) {
        for (key, value) in said.settings {
            self.set(key, value, Source::File(path.into()));
        }
        let place = path.shown();
        let warnings = said.warnings.iter();
        let placed = warnings.map(|warning| format!("{place}: {warning}"));
        self.warnings.extend(placed);
        self.ignored.extend(said.ignored);
    }

    /// Checks one file, as its writer would: how many settings it has, and what is wrong.
    pub(crate) fn check(
        env: &Environment,
        path: &Path,
        writer: Reach,
    ) -> Result<(usize, Vec<String>), Trouble> {
        let mut said = file::read(env, path, writer)?;
        let ignored = said.ignored.iter();
        said.warnings
            .extend(ignored.map(|ignored| format!("ignored: it {}", ignored.doubt)));
        Ok((said.settings.len(), said.warnings))
    }

    fn set(&mut self, key: &'static Key, value: Value, source: Source) {
        self.written.push(Setting { key, value, source });
    }

    /// Every setting, in the order of the keys' names.
    pub(crate) fn all(&self) -> Vec<InForce<'_>> {
        let mut all: Vec<_> = crate::machines::keys()
            .zip(&self.defaults)
            .map(|(key, default)| self.in_force(key, default))
            .collect();
        all.sort_by_key(|setting| setting.key.name);
        all
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        crate::machines::keys()
            .zip(&self.defaults)
            .find(|(key, _)| key.name == name)
            .map(|(key, default)| self.in_force(key, default).value)
    }

    fn in_force<'a>(&'a self, key: &'static Key, default: &'a OnceCell<Value>) -> InForce<'a> {
        match self.written.iter().rfind(|setting| setting.key == key) {
            Some(Setting { value, source, .. }) => InForce { key, value, source },
            None => InForce {
                key,
                value: default.get_or_init(|| key.default_value()),
                source: &Source::Default,
            },
        }
    }
}
