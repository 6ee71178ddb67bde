//! One verb, one file. A verb returns the text that it prints, so that the demo can show
//! it and a test can read it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mainspring_kernel::authority::{self, Grounds};
use mainspring_kernel::journal::{Entry, FileChange};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Name, SessionId};
use mainspring_platform::owner::Owner;
use mainspring_store::{ShownPath as _, Trouble, atomic, digest};
use serde::Serialize;

use crate::children::permit::{Denied, Permit};
use crate::config::Config;
use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::error::CliError;
use crate::output::Paint;
use crate::path_contains::path_contains;
use crate::people::ownership;
use crate::people::sessions as live_sessions;
use crate::people::trust::Permission;
use crate::project::{self, Project};
use crate::store::{ProjectStore, StateDir};
pub(crate) use crate::timestamp::timestamp;
use crate::wrap::wrap;

pub(crate) type Result<T = String> = std::result::Result<T, CliError>;

/// What a command changes.
pub(crate) struct Change {
    pub(crate) files: Vec<FileChange>,
    /// What it did, for the record and for whoever typed it.
    pub(crate) did: String,
    /// What to do once the change is durable, still under the lock.
    pub(crate) then: Option<Then>,
}

pub(crate) type Then = Box<dyn FnOnce(&EventContext<'_>) -> std::result::Result<(), Trouble>>;

impl From<(Vec<FileChange>, String)> for Change {
    fn from((files, did): (Vec<FileChange>, String)) -> Self {
        Self {
            files,
            did,
            then: None,
        }
    }
}

/// Where a command was typed, and how its answer may look.
#[derive(Debug)]
pub(crate) struct CommandContext {
    pub(crate) env: Environment,
    pub(crate) cwd: PathBuf,
    pub(crate) paint: Paint,
    /// The columns of the window, if the answer goes to one.
    pub(crate) width: Option<usize>,
    pub(crate) typed_in: TypedIn,
    /// The command line as a shell takes it, without our name. Empty if nobody typed one.
    pub(crate) typed: String,
}

/// Where a command was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypedIn {
    /// In a shell: an agent's or a person's, as the environment tells.
    Shell,
    /// In the client, by its user; the client ran our hook for it.
    Client,
}

impl CommandContext {
    /// A view with its lines broken so that it fits the window.
    pub(crate) fn fitted(&self, text: &str) -> String {
        wrap(text, self.width)
    }

    pub(crate) fn state(&self) -> Result<StateDir> {
        StateDir::of(&self.env).ok_or_else(|| {
            CliError::new("there is no place for mainspring's state")
                .hint("set HOME or XDG_STATE_HOME")
        })
    }

    /// The settings of a project.
    pub(crate) fn config(&self, project: &Project, store: &ProjectStore) -> Result<Config> {
        let permission = Permission::look(&self.env, store.state(), &project.root);
        let settings = permission.settings(&self.env, &project.root)?;
        Ok(Config::load(&self.env, &project.root, &settings)?)
    }

    /// Refuses to let an agent do what is a person's to do. `command` is what was typed; if it has
    /// no arguments, those that were typed are added, so that the person gets the whole command.
    pub(crate) fn may(&self, command: &str, grounds: Grounds<'_>) -> Result<()> {
        let mut denied = match authority::may(command, &self.actor(), grounds) {
            Ok(()) => return Ok(()),
            Err(denied) => denied,
        };
        let is_whole = authority::of(command).is_none_or(|row| row.command != command);
        let args = self.typed.strip_prefix(command);
        if !is_whole && args.is_some_and(|args| args.starts_with(' ')) {
            denied.command.clone_from(&self.typed);
        }
        // For a person who is taken for an agent.
        let reason = self.env.agent().map(|agent| agent.reason());
        Err(reason.into_iter().fold(denied.into(), CliError::hint))
    }

    /// Permission for a command that starts programs for this machine. A person always has
    /// it; an agent has it unless a person's order covers the machine.
    pub(crate) fn permit(&self, machine: Name) -> Result<Permit> {
        let context = self.context()?;
        context.permit(machine).map_err(|denied| match denied {
            Denied::Ordered(forbidden) => CliError::refused(forbidden)
                .hint("a person can run this command, or end the order with `mainspring resume`"),
            Denied::Trouble(trouble) => trouble.into(),
        })
    }

    /// What this command knows of its project, and where it keeps what it changes.
    pub(crate) fn context(&self) -> Result<EventContext<'_>> {
        let place = self.project()?;
        Ok(EventContext::new(&self.env, place, Caller::COMMAND))
    }

    /// The project that this command is about: the agent's, if an agent typed it.
    pub(crate) fn project(&self) -> Result<(Project, ProjectStore)> {
        let state = self.state()?;
        let session = self.env.agent_session();
        let project = project::of_command(&self.env, &state, session.as_ref(), &self.cwd)?;
        let store = ProjectStore::new(state, &project.root);
        if let Some(above) = self.session_above(&project, &store) {
            let project = project::of_command(&self.env, store.state(), None, &above)?;
            let store = ProjectStore::new(store.state().clone(), &project.root);
            return Ok((project, store));
        }
        Ok((project, store))
    }

    /// Outside a repository, nothing tells where a project begins. If nothing is kept for this
    /// folder yet, and a session was started in a folder above it, that folder is meant.
    fn session_above(&self, project: &Project, store: &ProjectStore) -> Option<PathBuf> {
        if store.dir().exists() || project::is_in_own_repository(&project.root, &self.env) {
            return None;
        }
        let folders = live_sessions::live(&self.env, store.state()).into_iter();
        let home = self.env.home();
        let above = folders.map(|session| session.folder).filter(|folder| {
            let is_above = path_contains(&project.root, folder) && *folder != project.root;
            is_above && Some(folder) != home.as_ref() && self.is_own(folder)
        });
        above.max_by_key(|folder| folder.components().count())
    }

    /// May nobody else write into this folder?
    fn is_own(&self, folder: &Path) -> bool {
        let meta = std::fs::metadata(folder);
        meta.is_ok_and(|meta| ownership::doubt(Owner::of(folder, &meta), &self.env, None).is_none())
    }

    /// Is this the project of the agent that typed the command, and not of a session that
    /// `--session` named?
    fn is_in_project_of(&self, session: &SessionId, project: &Project) -> Result<bool> {
        let own = project::of_command(&self.env, &self.state()?, Some(session), &self.cwd)?;
        Ok(own.root == project.root)
    }

    /// What a command said, and that nothing comes of it before a person trusts the project.
    pub(crate) fn said_until_trusted(&self, said: String) -> Result {
        if self.context()?.is_trusted() {
            return Ok(said);
        }
        let warning = "this project is not trusted yet: nothing comes of it until a person runs \
                       `mainspring trust` here";
        Ok(format!("{said}{} {warning}\n", self.paint.warn("warning:")))
    }

    /// Who typed the command.
    pub(crate) fn actor(&self) -> Actor {
        match self.typed_in {
            TypedIn::Client => Actor::Person,
            TypedIn::Shell => self.env.actor(),
        }
    }

    /// Changes state as a command does: under the lock and with a record. Binds the agent's
    /// session to this project.
    pub(crate) fn commit<C: Into<Change>>(
        &self,
        machine: impl Into<Option<Name>>,
        command: &str,
        change: impl FnOnce(&EventContext<'_>) -> Result<C>,
    ) -> Result {
        self.commit_in(&self.project()?, machine, command, change)
    }

    /// The same in this project, for a command that names a session: it may be typed anywhere.
    pub(crate) fn commit_in<C: Into<Change>>(
        &self,
        (project, store): &(Project, ProjectStore),
        machine: impl Into<Option<Name>>,
        command: &str,
        change: impl FnOnce(&EventContext<'_>) -> Result<C>,
    ) -> Result {
        let place = (project.clone(), store.clone());
        let context = EventContext::new(&self.env, place, Caller::COMMAND);
        let mut lock = store.lock()?;
        let Change { files, did, then } = change(&context)?.into();
        let machine = machine.into();
        // A claim's command changes the git server, too.
        let only_files = then.is_none() && machine != Some(Name::Claim);
        let unchanged = only_files && !files.is_empty() && files.iter().all(leaves_as_it_is);
        let did = match self.typed_in {
            TypedIn::Shell if unchanged => format!("nothing changed: {did}"),
            // It may have waited in the client's queue, and was carried out at a stop.
            TypedIn::Shell | TypedIn::Client => did,
        };
        let session = self.env.agent_session();
        let entry = Entry::Verb {
            command: command.into(),
            machine,
            session: session.clone(),
            did: did.clone(),
        };
        lock.commit(self.env.now(), entry, files)?;
        for news in lock.news() {
            crate::output::stderr(news);
        }
        if let Some(then) = then {
            then(&context)?;
        }
        if let Some(path) = lock.edited().first() {
            return Err(CliError::busy(format!(
                "somebody edited {path} in the meantime, so it was left as it is"
            ))
            .hint(format!("run `mainspring {command}` again")));
        }
        if let Some(session) = session {
            if self.is_in_project_of(&session, project)? {
                project::bind(store.state(), &session, &project.root)?;
            }
            live_sessions::note_command(&self.env, &session, &self.cwd);
        }
        Ok(did)
    }
}

/// Is the file afterwards what it was before?
fn leaves_as_it_is(change: &FileChange) -> bool {
    let now = change.now.as_ref();
    now.map(|text| digest::of(&[text.as_bytes()])) == change.was
}

/// The number of an issue or a task, as a person types it.
pub(crate) fn number(text: &str) -> std::result::Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("use a whole number from 1".into()),
        Ok(number) => Ok(number),
    }
}

/// Writes files into a folder, which is created if necessary. Returns their paths, one per line.
pub(crate) fn write_all(dir: &Path, files: &[(String, String)]) -> Result {
    std::fs::create_dir_all(dir).map_err(Trouble::io("create", dir))?;
    let mut out = String::new();
    for (name, text) in files {
        let path = dir.join(name);
        atomic::replace(&path, text.as_bytes())?;
        out += &format!("{}\n", path.shown());
    }
    Ok(out)
}

/// The version of the JSON of every view. A field that goes or changes its meaning makes a new
/// one; a new field does not.
pub(crate) const VIEW_VERSION: u32 = 1;

/// A view as JSON: an object with a version, and the view's fields.
pub(crate) fn json<T: Serialize>(value: &T) -> Result {
    #[derive(Serialize)]
    struct Versioned<'a, T> {
        version: u32,
        #[serde(flatten)]
        view: &'a T,
    }
    plain_json(&Versioned {
        version: VIEW_VERSION,
        view: value,
    })
}

/// A view that is a list, under this name.
pub(crate) fn json_list<T: Serialize>(name: &'static str, list: &[T]) -> Result {
    json(&BTreeMap::from([(name, list)]))
}

/// JSON whose form somebody else fixed: it has no version of ours.
pub(crate) fn plain_json<T: Serialize>(value: &T) -> Result {
    pretty(value).map(|text| text + "\n")
}

/// Indented for people. It is made from the compact text, so that the code that writes every
/// machine's state is in the binary only once.
pub(crate) fn pretty<T: Serialize>(value: &T) -> Result {
    let text = mainspring_json::text(value)?;
    let value: serde_json::Value = serde_json::from_str(&text)?;
    Ok(serde_json::to_string_pretty(&value)?)
}
