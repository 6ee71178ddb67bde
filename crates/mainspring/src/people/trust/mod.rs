//! What a person has allowed a project to do.
//!
//! A project's files are ignored until a person runs `mainspring trust` there: they start no
//! program, hold no stop and say nothing to the agent. What was trusted
//! is one project ([`identity`]) with one version of the file that can act, `mainspring.toml`:
//! what it starts and whom it speaks to stays in force until a person trusts another
//! ([`config::asks_again`]). So a pull disarms nothing, and an agent's edit starts nothing.

mod identity;
mod notice;
pub(crate) mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use mainspring_kernel::deliberate::Trust;
use mainspring_store::Trouble;

pub(crate) use self::notice::TrustNotice;
use self::record::{OnRecord, Pin, Record};
use crate::config::checks::{self, CheckDefinition};
use crate::config::{self, PROJECT_FILE};
use crate::env::Environment;
use crate::people::own_files::OwnFile;
use crate::people::ownership::Ignored;
use crate::store::StateDir;

/// What a person has allowed in a project.
#[derive(Debug)]
pub(crate) enum Permission {
    /// Nobody has allowed anything.
    None,
    /// A person trusted this project, with these versions of its settings.
    Trusted(Box<Record>),
    /// There is a record, and it cannot be read: it allows nothing, and the person is told
    /// at every stop.
    Unreadable(Trouble),
    /// A person trusted the project that was at this path before. Somebody may have put another
    /// one there, or only deleted its id, to end what holds the agent: the person is told at every
    /// stop.
    Replaced,
    /// It is in a folder whose projects the user's own configuration trusts.
    BelowRoot { before: Before },
}

/// Did a person trust the project that was at this path before?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    /// Then more than this counted there, and the person is told at every stop.
    Trusted,
}

/// Checks as a person trusted them.
#[derive(Debug, Default)]
pub(crate) struct TrustedChecks {
    pub(crate) definitions: Vec<CheckDefinition>,
    pub(crate) pins: BTreeMap<String, Pin>,
}

/// The project's own settings, as far as they count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProjectSettings {
    /// There is no `mainspring.toml`, and none was trusted.
    None,
    /// There is one, and nobody trusted it.
    Untrusted,
    /// The file as it is now is in force: this version was trusted, or it starts and says nothing
    /// else than the trusted one.
    Current(String),
    /// The file has changed; the trusted version is in force.
    Newer { trusted: Option<String> },
    /// The file is gone; the trusted version is in force.
    Removed { trusted: String },
    /// The file is ignored because of its owner; the trusted version is in force.
    Ignored {
        ignored: Ignored,
        trusted: Option<String>,
    },
}

impl ProjectSettings {
    /// The text in force.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::None | Self::Untrusted => None,
            Self::Current(text) | Self::Removed { trusted: text } => Some(text),
            Self::Newer { trusted } | Self::Ignored { trusted, .. } => trusted.as_deref(),
        }
    }
}

impl Permission {
    pub(crate) fn look(env: &Environment, state: &StateDir, root: &Path) -> Self {
        let before = match Record::read(state, root) {
            Ok(OnRecord::This(record)) => return Self::Trusted(Box::new(record)),
            Ok(OnRecord::Another) => Before::Trusted,
            Ok(OnRecord::Nothing) => Before::Nothing,
            Err(trouble) => return Self::Unreadable(trouble),
        };
        // A configuration that cannot be read trusts nobody, and is reported where it counts.
        let roots = config::trust_roots(env).unwrap_or_default();
        if config::is_below(root, &roots) {
            return Self::BelowRoot { before };
        }
        match before {
            Before::Trusted => Self::Replaced,
            Before::Nothing => Self::None,
        }
    }

    /// Did a person trust a version of the settings that defines checks? This is asked at every
    /// stop, so it only looks for the word.
    pub(crate) fn may_have_checks(&self) -> bool {
        self.newest().is_some_and(|text| text.contains("check"))
    }

    /// The checks that a person trusted: those of the newest trusted version, whichever version is
    /// there now. So an agent cannot go back to one that asked for less.
    pub(crate) fn checks(&self, root: &Path) -> Result<TrustedChecks, Trouble> {
        let (Self::Trusted(record), Some(text)) = (self, self.newest()) else {
            return Ok(TrustedChecks::default());
        };
        Ok(TrustedChecks {
            definitions: checks::of_any(&root.join(PROJECT_FILE), text)?,
            pins: record.pins.clone(),
        })
    }

    /// The checks of this version of the settings that wait for a person: a folder that the
    /// person's own configuration trusts allows no command of a project.
    pub(crate) fn waiting_checks(&self, root: &Path, text: &str) -> Result<Vec<String>, Trouble> {
        if !matches!(self, Self::BelowRoot { .. }) {
            return Ok(Vec::new());
        }
        let all = checks::of_any(&root.join(PROJECT_FILE), text)?;
        Ok(all.into_iter().map(|check| check.name).collect())
    }

    /// The newest version of the project's settings that a person trusted.
    pub(crate) fn newest(&self) -> Option<&str> {
        match self {
            Self::Trusted(record) => record.settings.last().map(String::as_str),
            Self::None | Self::Unreadable(_) | Self::Replaced | Self::BelowRoot { .. } => None,
        }
    }

    pub(crate) fn trust(&self) -> Trust {
        match self {
            Self::None | Self::Unreadable(_) | Self::Replaced => Trust::Untrusted,
            Self::Trusted(_) | Self::BelowRoot { .. } => Trust::Trusted,
        }
    }

    /// Which version of the project's settings is in force.
    pub(crate) fn settings(
        &self,
        env: &Environment,
        root: &Path,
    ) -> Result<ProjectSettings, Trouble> {
        let trusted: &[String] = match self {
            Self::None | Self::Unreadable(_) | Self::Replaced | Self::BelowRoot { .. } => &[],
            Self::Trusted(record) => &record.settings,
        };
        let read = config::project_file(env, root).and_then(|file| match file {
            OwnFile::Read(bytes) => text(root, bytes).map(|text| (Some(text), None)),
            OwnFile::Absent => Ok((None, None)),
            OwnFile::Ignored(ignored) => Ok((None, Some(ignored))),
        });
        let found = match (read, trusted.last().cloned()) {
            (Ok((_, Some(ignored))), trusted) => {
                return Ok(ProjectSettings::Ignored { ignored, trusted });
            }
            (Ok((found, None)), _) => found,
            // A link or a folder in its place disarms nothing: neither what a person trusted, nor
            // what they switched on themselves.
            (Err(trouble), trusted) => {
                return match self {
                    Self::Trusted(_) => Ok(ProjectSettings::Newer { trusted }),
                    Self::BelowRoot { .. } => Err(trouble),
                    Self::None | Self::Unreadable(_) | Self::Replaced => {
                        Ok(ProjectSettings::Untrusted)
                    }
                };
            }
        };
        Ok(match (self, found) {
            (Self::Trusted(_), found) => in_force(trusted, found),
            (Self::BelowRoot { .. }, Some(text)) => ProjectSettings::Current(text),
            (_, Some(_)) => ProjectSettings::Untrusted,
            (_, None) => ProjectSettings::None,
        })
    }
}

fn in_force(trusted: &[String], found: Option<String>) -> ProjectSettings {
    match (found, trusted.last()) {
        (Some(text), _) if trusted.contains(&text) => ProjectSettings::Current(text),
        (Some(text), newest) if !config::asks_again(newest.map_or("", String::as_str), &text) => {
            ProjectSettings::Current(text)
        }
        (Some(_), newest) => ProjectSettings::Newer {
            trusted: newest.cloned(),
        },
        (None, Some(newest)) => ProjectSettings::Removed {
            trusted: newest.clone(),
        },
        (None, None) => ProjectSettings::None,
    }
}

/// The project's `mainspring.toml` as it is now, if it counts.
fn settings_file(env: &Environment, root: &Path) -> Result<Option<String>, Trouble> {
    match config::project_file(env, root)? {
        OwnFile::Absent | OwnFile::Ignored(_) => Ok(None),
        OwnFile::Read(bytes) => text(root, bytes).map(Some),
    }
}

fn text(root: &Path, bytes: Vec<u8>) -> Result<String, Trouble> {
    String::from_utf8(bytes)
        .map_err(|_| Trouble::corrupt(&root.join(PROJECT_FILE), "it is not UTF-8 text"))
}

/// What `mainspring trust` would change here.
#[derive(Debug)]
pub(crate) struct Proposal {
    root: PathBuf,
    before: Option<Record>,
    settings: Option<String>,
    pins: BTreeMap<String, Pin>,
}

impl Proposal {
    /// A check with a mistake in it is not trusted.
    pub(crate) fn of(env: &Environment, state: &StateDir, root: &Path) -> Result<Self, Trouble> {
        let settings = settings_file(env, root)?;
        let checks = match &settings {
            Some(text) => checks::of_any(&root.join(PROJECT_FILE), text)?,
            None => Vec::new(),
        };
        Ok(Self {
            before: Record::read(state, root)?.this(),
            root: root.to_owned(),
            settings,
            pins: record::pins(root, &checks)?,
        })
    }

    /// The checks that would be in force.
    pub(crate) fn checks(&self, root: &Path) -> Vec<CheckDefinition> {
        let text = self.settings.as_deref().unwrap_or_default();
        checks::of_any(&root.join(PROJECT_FILE), text).unwrap_or_default()
    }

    /// The pinned files that are not as they were trusted: their names, and both texts.
    pub(crate) fn changed_pins(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let before = |name: &String| {
            self.before
                .as_ref()
                .and_then(|record| record.pins.get(name))
        };
        self.pins.iter().filter_map(move |(name, pin)| {
            let before = before(name)?;
            let changed = before.digest != pin.digest;
            changed.then_some((name.as_str(), before.text.as_str(), pin.text.as_str()))
        })
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.before.is_some()
    }

    /// Is everything trusted already, as it is now?
    pub(crate) fn is_nothing(&self) -> bool {
        self.before.as_ref().is_some_and(|record| {
            let is_same = record.settings.last() == self.settings.as_ref();
            is_same && record.pins == self.pins && record.is_at(&self.root)
        })
    }

    /// The version of the settings that is in force now, and the one that would be.
    pub(crate) fn settings(&self) -> (Option<&str>, Option<&str>) {
        let before = self
            .before
            .as_ref()
            .and_then(|record| record.settings.last());
        (before.map(String::as_str), self.settings.as_deref())
    }

    pub(crate) fn grant(self, state: &StateDir, root: &Path, now: Millis) -> Result<(), Trouble> {
        let content = (self.settings, self.pins);
        Record::grant(self.before, state, root, content, now).map(drop)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write plain files")]
mod tests {
    use std::fs;

    use super::*;

    struct Place {
        _temp: tempfile::TempDir,
        env: Environment,
        state: StateDir,
        root: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let root = mainspring_platform::path::real(temp.path())
                .unwrap()
                .join("project");
            fs::create_dir_all(root.join(".git")).unwrap();
            Self {
                env: Environment::given(&[], Millis(0)),
                state: StateDir::at(temp.path().join("state")),
                _temp: temp,
                root,
            }
        }

        fn trust(&self) {
            let proposal = Proposal::of(&self.env, &self.state, &self.root).unwrap();
            proposal.grant(&self.state, &self.root, Millis(7)).unwrap();
        }

        fn write(&self, text: &str) {
            fs::write(self.root.join(PROJECT_FILE), text).unwrap();
        }

        fn permission(&self) -> Permission {
            Permission::look(&self.env, &self.state, &self.root)
        }

        fn in_force(&self) -> ProjectSettings {
            self.permission().settings(&self.env, &self.root).unwrap()
        }
    }

    #[test]
    fn what_was_trusted_stays_in_force_until_a_person_trusts_another() {
        let place = Place::new();
        place.write("one");
        assert_eq!(place.in_force(), ProjectSettings::Untrusted);
        place.trust();
        assert_eq!(place.in_force(), ProjectSettings::Current("one".into()));
        place.write("two");
        let one = || Some("one".to_owned());
        assert_eq!(place.in_force(), ProjectSettings::Newer { trusted: one() });
        place.trust();
        assert_eq!(place.in_force(), ProjectSettings::Current("two".into()));
        place.write("one");
        assert_eq!(
            place.in_force(),
            ProjectSettings::Current("one".into()),
            "a version once trusted stays so"
        );
        fs::remove_file(place.root.join(PROJECT_FILE)).unwrap();
        let trusted = "two".to_owned();
        assert_eq!(place.in_force(), ProjectSettings::Removed { trusted });
        place.trust();
        assert_eq!(place.in_force(), ProjectSettings::None);
    }

    #[test]
    fn a_change_that_starts_says_and_weakens_nothing_counts_at_once() {
        let place = Place::new();
        let check = "[[check]]\nname = \"t\"\nrun = [\"true\"]\n";
        let trusted = format!("[gate]\nenabled = true\n{check}");
        place.write(&trusted);
        place.trust();
        for (text, counts) in [
            (format!("{trusted}# a word\n"), true),
            (format!("{trusted}[tasks]\nreset = \"skill\"\n"), true),
            (format!("{trusted}[loop]\nttl = \"3h\"\n"), false),
            (format!("{trusted}[pulse]\nbeets = 3\n"), true),
            (format!("{trusted}[claim]\nproject = 7\n"), false),
            (format!("{trusted}retries = 1\n"), false),
            (check.to_owned(), false),
            (format!("{trusted}["), false),
        ] {
            place.write(&text);
            let is_current = place.in_force() == ProjectSettings::Current(text.clone());
            assert_eq!(is_current, counts, "{text}");
        }
    }

    #[test]
    fn a_file_that_came_after_the_trust_does_not_count() {
        let place = Place::new();
        place.trust();
        place.write("pulled");
        assert_eq!(place.in_force(), ProjectSettings::Newer { trusted: None });
        assert_eq!(place.in_force().text(), None);
    }

    #[test]
    fn below_a_trusted_folder_everything_counts_as_it_is() {
        let place = Place::new();
        place.write("one");
        let home = place.root.parent().unwrap();
        fs::create_dir_all(home.join(".config/mainspring")).unwrap();
        let config = format!("[trust]\nroots = [{home:?}]\n");
        fs::write(home.join(".config/mainspring/config.toml"), config).unwrap();
        let env = Environment::given(&[("HOME", home.to_str().unwrap())], Millis(0));
        let permission = Permission::look(&env, &place.state, &place.root);
        assert_eq!(permission.trust(), Trust::Trusted);
        let settings = permission.settings(&env, &place.root).unwrap();
        assert_eq!(settings, ProjectSettings::Current("one".into()));
    }

    #[test]
    fn a_repository_that_was_moved_keeps_its_trust_and_a_copy_of_it_has_none() {
        let place = Place::new();
        place.write("one");
        place.trust();
        let new = place.root.with_file_name("new");
        let look = |root: &Path| Permission::look(&place.env, &place.state, root);
        let settings = |root: &Path| look(root).settings(&place.env, root).unwrap();
        fs::create_dir_all(new.join(".git")).unwrap();
        let id = ".git/mainspring-id";
        fs::copy(place.root.join(id), new.join(id)).unwrap();
        assert_eq!(look(&new).trust(), Trust::Untrusted, "a copy");
        fs::remove_dir_all(&new).unwrap();
        fs::rename(&place.root, &new).unwrap();
        assert_eq!(settings(&new), ProjectSettings::Current("one".into()));
        fs::create_dir_all(place.root.join(".git")).unwrap();
        assert_eq!(look(&new).trust(), Trust::Trusted, "another is there now");
        assert_eq!(place.permission().trust(), Trust::Untrusted);

        let proposal = Proposal::of(&place.env, &place.state, &new).unwrap();
        assert!(!proposal.is_nothing(), "it has another path now");
        proposal.grant(&place.state, &new, Millis(8)).unwrap();
        let all = record::all(&place.state).unwrap();
        let since = all.get(new.to_str().unwrap());
        assert_eq!((all.len(), since), (1, Some(&Millis(7))), "{all:?}");
        assert!(record::revoke(&place.state, &new).unwrap());
        assert_eq!(look(&new).trust(), Trust::Untrusted);
    }

    #[test]
    fn a_record_in_anothers_place_and_a_broken_one_trust_nobody() {
        let place = Place::new();
        place.trust();
        let path = place.state.trust_of(&place.root);
        let other = place.root.with_file_name("other");
        fs::create_dir_all(&other).unwrap();
        fs::copy(&path, place.state.trust_of(&other)).unwrap();
        let permission = Permission::look(&place.env, &place.state, &other);
        assert_eq!(permission.trust(), Trust::Untrusted);
        for garbage in ["", "{", "[]", "{\"project\":7}", "\u{0}"] {
            fs::write(&path, garbage).unwrap();
            assert_eq!(place.permission().trust(), Trust::Untrusted, "{garbage:?}");
        }
        assert!(
            record::all(&place.state).is_err(),
            "and a person is told which"
        );
    }
}
