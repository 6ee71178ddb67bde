//! The settings in force, and where each value came from.
//!
//! Built-in defaults, then the project's `mainspring.toml`, then the user's
//! `config.toml`, then the environment. A repository's file counts only as far as a person
//! trusted it, and what is executed comes from the user alone ([`Reach::User`]).

pub(crate) mod checks;
mod file;
pub(crate) mod schema;
pub(crate) mod setting;
mod trust_roots;

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

pub(crate) use crate::markers::PROJECT_FILE;
pub(crate) use file::unknown;
pub(crate) use setting::{
    Amount, Choice, Key, List, Reach, Setting, Text, Value, Writer, owned, settings,
};
pub(crate) use trust_roots::{is_below, trust_roots};

use mainspring_kernel::Millis;
use mainspring_store::{ShownPath as _, Trouble};

use crate::env::Environment;
use crate::hosts::Wording;
use crate::machines::check::settings::CheckSettings;
use crate::machines::claim::settings::ClaimSettings;
use crate::machines::gate::settings::GateSettings;
use crate::machines::looping::settings::LoopSettings;
use crate::machines::pulse::settings::PulseSettings;
use crate::machines::review::settings::ReviewSettings;
use crate::machines::tasks::settings::TaskSettings;
use crate::people::own_files::OwnFile;
use crate::people::ownership::Ignored;
use crate::people::trust::ProjectSettings;

/// The project's `mainspring.toml`, if its owner allows that it counts.
pub(crate) fn project_file(env: &Environment, root: &Path) -> Result<OwnFile, Trouble> {
    file::of_project(env, &root.join(PROJECT_FILE))
}

/// All settings, by section, and the keys of all.
macro_rules! sections {
    ($($place:ident: $section:ty,)+) => {
        #[derive(Debug)]
        pub(crate) struct Settings {
            $(pub(crate) $place: $section,)+
        }

        impl Settings {
            const DEFAULT: Self = Self { $($place: <$section>::DEFAULT,)+ };
        }

        pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
            [$(<$section>::KEYS,)+].into_iter().flatten()
        }
    };
}

sections! {
    trust: TrustSettings,
    state: StateSettings,
    notify: NotifySettings,
    host: HostSettings,
    gate: GateSettings,
    looping: LoopSettings,
    checks: CheckSettings,
    review: ReviewSettings,
    claim: ClaimSettings,
    tasks: TaskSettings,
    pulse: PulseSettings,
}

settings! {
    [trust] TrustSettings at trust {
        /// folders, from / or ~/: you trust every project in them, and what its files start
        roots: List = List::Borrowed(&[]), User;
    }
}

settings! {
    [state] StateSettings at state {
        /// how long state that nobody uses is kept: of sessions that ended, of projects whose
        /// folder is gone, old decisions; at least a day
        keep: Millis = Millis::seconds(90 * 86_400), User;
    }
}

settings! {
    [notify] NotifySettings at notify {
        /// a notice on the desktop (notify-send) when the agent needs you, a review ends, the
        /// checks of a pull request change, or a limit lets the agent go
        desktop: bool = false, User;
        /// a program and its arguments that are run for each notice; the text is added as the last
        /// argument
        command: List = List::Borrowed(&[]), User;
    }
}

settings! {
    [host] HostSettings at host {
        /// how the agent is told to go on: context (quiet in Claude Code), block (what every host
        /// understands), auto (context where Claude Code runs us)
        continue_as: Option<Wording> = None, Anyone, variable "MAINSPRING_CONTINUE_AS";
        /// how many times in a row an agent is held without using a tool, in a host that has no
        /// limit of its own (Codex, Gemini CLI); 0: no limit
        cap: u32 = 100, User, most 10_000;
    }
}

/// `None`: as the host is best told.
impl Choice for Option<Wording> {
    const WORDS: &'static [&'static str] = &["auto", "block", "context"];
    const VALUES: &'static [Self] = &[None, Some(Wording::Block), Some(Wording::Context)];
}

/// Does this version of a project's file start or say something else than the trusted one? Then
/// it waits for a person. A version that cannot be read waits, too.
pub(crate) fn asks_again(trusted: &str, found: &str) -> bool {
    let acting = |text: &str| {
        let path = Path::new(PROJECT_FILE);
        let mut acting = file::said(path, text, Writer::Project).ok()?.settings;
        acting.retain(|(key, _)| key.reach == Reach::Trusted);
        let named = acting.into_iter().map(|(key, value)| (key.name, value));
        Some((named.collect::<Vec<_>>(), checks::of(path, text).ok()?))
    };
    match (acting(trusted), acting(found)) {
        (Some(trusted), Some(found)) => trusted != found,
        (None, _) | (_, None) => true,
    }
}

/// Can this text be read as a settings file? What is ignored in it is no mistake.
pub(crate) fn check_text(path: &Path, text: &str, writer: Writer) -> Result<(), Trouble> {
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

/// A setting, its value, and where that comes from.
#[derive(Debug)]
pub(crate) struct InForce<'a> {
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    pub(crate) source: &'a Source,
}

/// The settings in force. Its fields are the sections.
#[derive(Debug)]
pub(crate) struct Config {
    settings: Settings,
    /// Who set what; the last one counts.
    sources: Vec<(&'static Key, Source)>,
    /// Problems: unknown keys, values that only the user may set.
    pub(crate) warnings: Vec<String>,
    /// Files that were ignored because of their owner.
    pub(crate) ignored: Vec<Ignored>,
}

impl Deref for Config {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
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
            settings: Settings::DEFAULT,
            sources: Vec::new(),
            warnings: Vec::new(),
            ignored: Vec::new(),
        };
        if let ProjectSettings::Ignored { ignored, .. } = project {
            config.ignored.push(ignored.clone());
        }
        if let Some(text) = project.text() {
            let path = root.join(PROJECT_FILE);
            let said = file::said(&path, text, Writer::Project)?;
            config.take(&path, said);
        }
        if let Some(path) = env.config_file() {
            let said = file::read(env, &path, Writer::User)?;
            config.take(&path, said);
        }
        let variables = keys().filter_map(|key| key.variable.map(|name| (key, name)));
        for (key, name) in variables {
            let Some(text) = env.var(name) else {
                continue;
            };
            match key.notation.parse(&text) {
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
        writer: Writer,
    ) -> Result<(usize, Vec<String>), Trouble> {
        let mut said = file::read(env, path, writer)?;
        let ignored = said.ignored.iter();
        said.warnings
            .extend(ignored.map(|ignored| format!("ignored: it {}", ignored.doubt)));
        Ok((said.settings.len(), said.warnings))
    }

    fn set(&mut self, key: &'static Key, value: Value, source: Source) {
        (key.set)(&mut self.settings, value);
        self.sources.push((key, source));
    }

    /// Every setting, in the order of the keys' names.
    pub(crate) fn all(&self) -> Vec<InForce<'_>> {
        let mut all: Vec<_> = keys().map(|key| self.in_force(key)).collect();
        all.sort_by_key(|setting| setting.key.name);
        all
    }

    pub(crate) fn in_force(&self, key: &'static Key) -> InForce<'_> {
        let mut sources = self.sources.iter();
        let set = sources.rfind(|(set, _)| set.name == key.name);
        InForce {
            key,
            value: (key.get)(&self.settings),
            source: set.map_or(&Source::Default, |(_, source)| source),
        }
    }
}
