//! The shell of `tasks`: it reads a skill's `fsm.json` and writes the client's task files.
//!
//! [`locate`] finds the skill's list, [`source`] reads it, [`ClientList`] reads the client's
//! own list under its lock, and [`changes`] are the files. They go into the turn's one record,
//! as every machine's files do, so a crash leaves the old list or the new one.

pub(crate) mod changes;
pub(crate) mod commands;
mod folders;
mod locate;
#[cfg(test)]
mod schema;
pub(crate) mod settings;
pub(crate) mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mainspring_kernel::data::Never;
use mainspring_kernel::effect::Intent;
use mainspring_kernel::event::{Kind, Speaker};
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::tasks::check::Problem;
use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::task_list::{Reset, TaskList};
use mainspring_kernel::machines::tasks::{Facts, Guard, Invoked, Offer, Tasks, messages};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_kernel::{Answer, Decision, HoldTexts, Note, Voice};
use mainspring_store::{ShownPath as _, Trouble};

pub(crate) use self::folders::{all_lists, folder_named, folder_of, list_folder, newest_lists};
pub(crate) use self::locate::FILE;
use self::locate::Origin;
use self::source::{Fault, Source};
use super::{HandedOn, Loaded, MachineShell};
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::env::{Environment, name};
use crate::hosts::Payload;
use crate::hosts::task_files::list::ClientList;
use crate::hosts::task_files::lock::Held;
use crate::people::told;

#[derive(Debug)]
pub(crate) struct Shell;

/// What the tasks were loaded from.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing that can be changed: for a view, a refusal, or a read of a skill's files.
    Nothing,
    Lists(Box<Lists>),
}

/// A skill's list, and the client's.
#[derive(Debug)]
pub(crate) struct Lists {
    skill: Source,
    client: ClientList,
    /// The client's own locks; `None` if nothing will be changed.
    _locks: Option<Held>,
}

impl MachineShell for Shell {
    type Machine = Tasks;
    type Found = Found;

    const ABOUT: &'static str = "lays out a skill's task list when the skill is invoked";

    /// Nothing is asked about trust: the host has just run the SKILL.md beside the `fsm.json`.
    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        match context.payload() {
            Some(payload) => Ok(concerns(context.env, payload) || peeks(context, payload)?),
            None => Ok(false),
        }
    }

    fn load(context: &EventContext<'_>, _: Option<&str>) -> Result<Option<Loaded<Self>>, Trouble> {
        let Some(payload) = context.payload() else {
            return view(context);
        };
        if let Kind::BeforeTool { .. } = payload.event.kind {
            let file = peeked(payload).unwrap_or_default().into();
            return Ok(Some(unchangeable(
                TaskList::default(),
                Facts::Peek { file },
            )));
        }
        let Some((skill, place)) = invocation(context.env, payload) else {
            return Ok(None);
        };
        if place.is_err() && !context.is_drop_in() && !may_have_list(context.env, payload, skill) {
            return Ok(None);
        }
        let stopped = context.orders()?.suspension(Name::Tasks, context.env.now());
        if stopped.is_some() && matches!(place, Ok(Some(_))) {
            tell_once(context, "stopped", || {
                format!(
                    "the task list of the skill '{skill}' was not laid out, because you stopped \
                     or paused tasks. `mainspring resume tasks` undoes this"
                )
            });
        }
        Ok(place.transpose().map(|path| invoked(context, skill, path)))
    }

    fn files(
        _: &EventContext<'_>,
        _: &InputOf<Tasks>,
        found: &Found,
        transition: &TransitionOf<Tasks>,
    ) -> Result<Vec<FileChange>, Trouble> {
        match found {
            Found::Nothing => Err(Trouble::Other(
                "internal: tasks made a transition without a list".into(),
            )),
            Found::Lists(lists) => changes::changes(&lists.client, &lists.skill, &transition.state),
        }
    }

    fn run(_: &EventContext<'_>, _: Permit, intent: &Intent<Tasks>, _: &mut HandedOn) -> Never {
        match intent.effect {}
    }

    fn summary(input: &InputOf<Tasks>) -> String {
        let of = |status| {
            let tasks = input.state.tasks.iter();
            tasks.filter(|task| task.status == status).count()
        };
        format!(
            "{} tasks: {} completed, {} in progress, {} pending",
            input.state.tasks.len(),
            of(Status::Completed),
            of(Status::InProgress),
            of(Status::Pending)
        )
    }

    fn fail_closed(env: &Environment, payload: &Payload, trouble: &Trouble) -> Option<Answer> {
        has_list(env, payload).then(|| not_laid_out(payload, trouble))
    }
}

/// Tells the person something once in a session.
fn tell_once(context: &EventContext<'_>, what: &str, text: impl FnOnce() -> String) {
    let about = context.root().join(format!("tasks: {what}"));
    let session = context.session();
    let session = session.as_ref().map_or("", |id| id.as_str());
    if !context.is_looking() && told::is_news(context.store.state(), &about, session) {
        context.tell(text());
    }
}

/// Is this the invocation of a skill that has a task list, as far as we can see?
fn has_list(env: &Environment, payload: &Payload) -> bool {
    invocation(env, payload).is_some_and(|(skill, place)| match place {
        Ok(place) => place.is_some(),
        Err(_) => may_have_list(env, payload, skill),
    })
}

/// Could a plugin's skill have a list, although the client's registry cannot be read?
fn may_have_list(env: &Environment, payload: &Payload, skill: &str) -> bool {
    let roots = payload.host.roots(env, payload.cwd.as_deref());
    roots.is_some_and(|roots| locate::is_anywhere(&roots, skill))
}

/// Is this the invocation of a skill with a task list?
fn concerns(env: &Environment, payload: &Payload) -> bool {
    // If we cannot find out, we must say so; so this concerns us.
    invocation(env, payload).is_some_and(|(_, place)| !matches!(place, Ok(None)))
}

/// The commands and skills of our own plugin have no lists.
const OWN_PLUGIN: &str = "mainspring:";

/// The invoked skill, and where its list is. A sub-agent's skill does not count: its list would
/// replace the one that the agent works on.
fn invocation<'a>(
    env: &Environment,
    payload: &'a Payload,
) -> Option<(&'a str, Result<Option<PathBuf>, String>)> {
    let skill = match (&payload.event.kind, payload.event.speaker) {
        (Kind::AfterTool { skill, .. }, Speaker::Main) => skill.as_deref()?,
        (Kind::Expansion { command }, Speaker::Main) => command.as_str(),
        _ => return None,
    };
    if skill.starts_with(OWN_PLUGIN) {
        return None;
    }
    let origin = match payload.command_source.as_deref() {
        None | Some("plugin") => Origin::Unsaid,
        Some(_) => Origin::Own,
    };
    let host = payload.host;
    let roots = host.roots(env, payload.cwd.as_deref())?;
    Some((
        skill,
        locate::locate(&host.task_files, env, &roots, skill, origin),
    ))
}

/// Loads the list of an invoked skill, and the client's.
fn invoked(
    context: &EventContext<'_>,
    skill: &str,
    path: Result<PathBuf, String>,
) -> Loaded<Shell> {
    let mut invoked = Invoked {
        skill: skill.into(),
        offer: Offer::Unavailable(String::new()),
        reset: Reset::default(),
        guard: Guard::default(),
        tools: (context.host().task_files.tools)(context.env),
        strangers: Vec::new(),
    };
    match context.config() {
        Ok(config) => {
            invoked.reset = config.tasks.reset;
            if config.tasks.guard_active {
                invoked.guard = Guard::Active;
            }
        }
        Err(trouble) => return unavailable(invoked, trouble.to_string()),
    }
    let read = path.map_err(Fault::File).and_then(|path| {
        let source = Source::parse(&path, &Source::read(&path)?)?;
        let offered = source.check()?;
        // The document lays out what the file says.
        let offered = if context.is_drop_in() {
            offered
        } else {
            offered.mirrored()
        };
        Ok((source, offered))
    });
    let (skill, offered) = match read {
        Ok(read) => read,
        Err(Fault::Tasks(problems)) => {
            invoked.offer = Offer::of(Err(problems));
            return unchangeable(TaskList::default(), Facts::Invoked(invoked));
        }
        Err(Fault::File(cause)) => return unavailable(invoked, cause),
    };
    let taken = take(context, |before| {
        before.lay_out(&offered, &invoked.skill, invoked.reset).ok()
    });
    let (client, locks) = match taken {
        Ok(taken) => taken,
        Err(trouble) => return unavailable(invoked, trouble.to_string()),
    };
    invoked.strangers = client.strangers();
    invoked.offer = Offer::List(offered);
    Loaded {
        input: InputOf::new(client.task_list(), Facts::Invoked(invoked)),
        found: Found::Lists(Box::new(Lists {
            skill,
            client,
            _locks: locks,
        })),
    }
}

fn unchangeable(state: TaskList, facts: Facts) -> Loaded<Shell> {
    Loaded {
        input: InputOf::new(state, facts),
        found: Found::Nothing,
    }
}

fn unavailable(mut invoked: Invoked, cause: String) -> Loaded<Shell> {
    invoked.offer = Offer::Unavailable(cause);
    unchangeable(TaskList::default(), Facts::Invoked(invoked))
}

/// The client's list, and its locks if the list will be changed.
fn take(
    context: &EventContext<'_>,
    after: impl Fn(&TaskList) -> Option<TaskList>,
) -> Result<(ClientList, Option<Held>), Trouble> {
    let folder = folder(context)?;
    if context.is_looking() {
        return Ok((ClientList::read(&folder)?, None));
    }
    let mut held = Held::list(&folder)?;
    let mut found = ClientList::read(&folder)?;
    found.sweep();
    found.settle_under(&mut held, after)?;
    Ok((found, Some(held)))
}

/// The same for a command that changes these tasks.
pub(crate) fn take_in(folder: &Path, ids: &[u64]) -> Result<(ClientList, Held), Trouble> {
    let mut held = Held::list(folder)?;
    let mut found = ClientList::read(folder)?;
    for id in ids.iter().collect::<BTreeSet<_>>() {
        held.task(*id)?;
        found.reread(*id)?;
    }
    Ok((found, held))
}

/// The folder of the agent's task list: the one that its environment names, else its team's,
/// else its session's.
fn folder(context: &EventContext<'_>) -> Result<PathBuf, Trouble> {
    match context.payload() {
        Some(payload) => list_folder(context.env, payload),
        None => folder_of(
            context.env,
            context.session().map(|session| session.to_string()),
        ),
    }
}

/// The agent's task list, for another machine; `None` if it cannot be read.
pub(super) fn list(context: &EventContext<'_>) -> Option<TaskList> {
    let folder = folder(context).ok()?;
    ClientList::read(&folder).ok().map(|list| list.task_list())
}

/// The task list of the skill that an event invokes, if it has one that can be found.
pub(crate) fn place(env: &Environment, payload: &Payload) -> Option<PathBuf> {
    let (_, place) = invocation(env, payload)?;
    place.ok().flatten()
}

/// Everything that is wrong with the tasks of this list; `None` if it is something else.
pub(crate) fn problems(path: &Path) -> Option<Vec<Problem>> {
    let source = Source::read(path).and_then(|bytes| Source::parse(path, &bytes));
    match source.and_then(|source| source.check()) {
        Err(Fault::Tasks(problems)) => Some(problems),
        Err(Fault::File(_)) | Ok(_) => None,
    }
}

/// Without an event: the list as it is now, if we know which one is meant.
fn view(context: &EventContext<'_>) -> Result<Option<Loaded<Shell>>, Trouble> {
    let Ok(folder) = folder(context) else {
        return Ok(None);
    };
    let list = ClientList::read(&folder)?.task_list();
    Ok((!list.tasks.is_empty()).then(|| unchangeable(list, Facts::Nothing)))
}

/// Is the agent about to read a skill's own files although that is denied?
fn peeks(context: &EventContext<'_>, payload: &Payload) -> Result<bool, Trouble> {
    // The cheap checks come first, because this runs at every tool call.
    if peeked(payload).is_none() || context.env.var(name::FSM_BYPASS).as_deref() == Some("1") {
        return Ok(false);
    }
    Ok(context.config()?.tasks.guard_files)
}

fn peeked(payload: &Payload) -> Option<&'static str> {
    let input = payload.tool_input.as_deref()?;
    [locate::FILE, "SKILL.md"]
        .into_iter()
        .find(|file| input.contains(file))
}

/// The answer if we failed to lay out the task list, or did only a part of it. Unlike other
/// failures, this one is told to the agent as well as to the person.
fn not_laid_out(payload: &Payload, trouble: &Trouble) -> Answer {
    let kind = &payload.event.kind;
    let skill = match kind {
        Kind::AfterTool {
            skill: Some(skill), ..
        } => skill,
        Kind::Expansion { command } => command,
        _ => return Answer::fault(kind, trouble.to_string()),
    };
    let text = match trouble {
        Trouble::Unfinished(file) => half_done(file).unwrap_or_else(|| {
            format!("The task list of the skill '{skill}' is laid out, but {file}")
        }),
        refusal => messages::refused(skill, &refusal.to_string()),
    };
    let said = HoldTexts::one(Name::Tasks, text.clone());
    Answer {
        decision: match kind {
            Kind::AfterTool { .. } => Decision::AfterTool {
                tell: HoldTexts::default(),
                object: said,
            },
            _ => Decision::Context { tell: said },
        },
        notes: vec![Note {
            by: Voice::Machine(Name::Tasks),
            text,
        }],
    }
}

/// What to clean up, and where, if the record was written but a task's file could not be.
fn half_done(trouble: &Trouble) -> Option<String> {
    let Trouble::Io {
        doing,
        path,
        source,
    } = trouble
    else {
        return None;
    };
    let doing = match *doing {
        "delete" => "delete",
        _ => "write",
    };
    let id = path.file_stem()?.to_str()?;
    let id = id.trim_start_matches('.').trim_end_matches(".json");
    let folder = path.parent().unwrap_or(Path::new("/"));
    id.parse::<u64>().ok()?;
    Some(format!(
        "Failed to {doing} task {id}: {source}. Manual cleanup required at {}/",
        folder.shown()
    ))
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn a_file_that_could_not_be_changed_says_what_to_clean_up() {
        let trouble = |doing, path: &str| Trouble::Io {
            doing,
            path: path.into(),
            source: Error::from(ErrorKind::PermissionDenied),
        };
        assert_eq!(
            half_done(&trouble("delete", "/t/list/7.json")).unwrap(),
            "Failed to delete task 7: permission denied. Manual cleanup required at /t/list/"
        );
        assert_eq!(
            half_done(&trouble("write", "/t/list/.7.json.mainspring")).unwrap(),
            "Failed to write task 7: permission denied. Manual cleanup required at /t/list/"
        );
        assert_eq!(half_done(&trouble("write", "/t/journal.jsonl")), None);
    }
}
