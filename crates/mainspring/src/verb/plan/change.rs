//! What changes a plan's state. Each is one record, under the lock.

use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::review::verbs::{self, Actor, Refused, Setting};
use mainspring_kernel::machines::review::{Fields, Phase, TaskId};
use mainspring_kernel::{Name, SessionId};
use mainspring_store::read_json;

use super::{Which, fields, memory};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::FoundFile;
use crate::machine::review::{self as plans, Opened, directory};
use crate::verb::{CommandContext, Result};

/// Record a new plan, whose first review is then due
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The name of its directory in .taskie/plans
    name: String,
}

/// Record that an action is done: the state is then what it must be
#[derive(Debug, clap::Args)]
pub(super) struct AdvanceArgs {
    /// The action, such as post-code-review
    phase: String,
    /// The task that it was about
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    #[command(flatten)]
    which: Which,
}

/// Set one field by hand: `max_reviews` N, `next_phase` PHASE or null, `tdd` true or false,
/// `current_task` ID or null
#[derive(Debug, clap::Args)]
pub(super) struct SetArgs {
    field: String,
    value: String,
    #[command(flatten)]
    which: Which,
}

/// Give the plan to this session; typed by a person, to the next one that stops here
#[derive(Debug, clap::Args)]
pub(super) struct AdoptArgs {
    /// To this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    which: Which,
}

fn actor(cmd: &CommandContext) -> Actor {
    match cmd.env.agent_session() {
        Some(_) => Actor::Agent,
        None => Actor::Person,
    }
}

pub(super) fn init(args: &InitArgs, cmd: &CommandContext) -> Result {
    let name = directory::plan_id(&args.name)
        .filter(|name| !name.starts_with('-'))
        .ok_or_else(|| {
            CliError::new(format!("{:?} cannot be a plan's name", args.name))
                .hint("it is a folder in .taskie/plans: letters, digits, `-` and `_`")
        })?;
    let did = cmd.commit(&format!("plan init {name}"), |context| {
        let path = context
            .project
            .file(directory::PLANS)
            .join(&name)
            .join(directory::STATE);
        if std::fs::symlink_metadata(&path).is_ok() {
            return Err(CliError::new(format!("{} exists already", path.display()))
                .hint("`mainspring plan status` shows it; `mainspring plan advance` moves it"));
        }
        let file = FoundFile { path, bytes: None };
        let state = plans::write_state(&file, &verbs::init(&plans::models(context)?));
        let found = read_json::<plans::Memories>(context.store.machine_file(Name::Review))?;
        let memories = found.value.unwrap_or_default();
        let mut memory = memories.plans.get(&name).cloned().unwrap_or_default();
        memory.moved_by(context.session().as_ref());
        let file = FoundFile {
            path: found.path,
            bytes: found.bytes,
        };
        let memory = plans::remember(&file, &name, memory)?;
        let did = format!("plan '{name}' is recorded; its review starts at the next stop");
        Ok((vec![state, memory], did))
    })?;
    Ok(format!("{did}\n"))
}

pub(super) fn advance(args: &AdvanceArgs, cmd: &CommandContext) -> Result {
    let phase = Phase::parse(&args.phase);
    let task = args.task.as_deref().map(task_id).transpose()?;
    let command = match &task {
        Some(task) => format!("plan advance {phase} --task {task}"),
        None => format!("plan advance {phase}"),
    };
    let did = cmd.commit(&command, |context| {
        let opened = args.which.open(context)?;
        let models = plans::models(context)?;
        let next = verbs::advance(fields(&opened)?, &phase, task.as_ref(), actor(cmd), &models)
            .map_err(|error| refused(&error))?;
        Ok((changes(context, &opened, &next)?, told(&opened, &next)))
    })?;
    Ok(format!("{did}\n"))
}

pub(super) fn set(args: &SetArgs, cmd: &CommandContext) -> Result {
    let setting = setting(&args.field, &args.value)?;
    let command = format!("plan set {} {}", args.field, args.value);
    let did = cmd.commit(&command, |context| {
        let opened = args.which.open(context)?;
        let next =
            verbs::set(fields(&opened)?, setting, actor(cmd)).map_err(|error| refused(&error))?;
        Ok((changes(context, &opened, &next)?, told(&opened, &next)))
    })?;
    Ok(format!("{did}\n"))
}

pub(super) fn adopt(args: &AdoptArgs, cmd: &CommandContext) -> Result {
    let session = match &args.session {
        Some(id) => Some(
            SessionId::parse(id)
                .ok_or_else(|| CliError::new(format!("{id:?} cannot be a session")))?,
        ),
        None => cmd.env.agent_session(),
    };
    let did = cmd.commit("plan adopt", |context| {
        let opened = args.which.open(context)?;
        let mut memory = memory(&opened);
        memory.moved_by(session.as_ref());
        memory.owner.clone_from(&session);
        let whose = match &session {
            Some(session) => format!("belongs to session {session}"),
            None => "belongs to the next session that stops here".into(),
        };
        let id = &opened.dir.id;
        let change = plans::remember(&opened.memory_file, id, memory)?;
        Ok((vec![change], format!("plan '{id}' {whose}")))
    })?;
    Ok(format!("{did}\n"))
}

/// The state, and whose the plan is from now on.
fn changes(context: &EventContext<'_>, opened: &Opened, next: &Fields) -> Result<Vec<FileChange>> {
    let mut memory = memory(opened);
    memory.moved_by(context.session().as_ref());
    Ok(vec![
        plans::write_state(&opened.state_file, next),
        plans::remember(&opened.memory_file, &opened.dir.id, memory)?,
    ])
}

fn told(opened: &Opened, fields: &Fields) -> String {
    let text = |phase: &Option<Phase>| {
        phase
            .as_ref()
            .map_or_else(|| "nothing".to_owned(), ToString::to_string)
    };
    let (phase, next) = (text(&fields.phase), text(&fields.next_phase));
    format!("plan '{}': phase {phase}, next {next}", opened.dir.id)
}

fn task_id(text: &str) -> Result<TaskId> {
    TaskId::parse(text).ok_or_else(|| {
        CliError::new(format!("{text:?} cannot be a task's id"))
            .hint("letters, digits, `_` and `-` can")
    })
}

fn setting(field: &str, value: &str) -> Result<Setting> {
    let wrong = |wanted: &str| CliError::new(format!("{value:?} cannot be {field}: {wanted}"));
    match field {
        "max_reviews" => match value.parse() {
            Ok(count @ 0..=1000) => Ok(Setting::MaxReviews(count)),
            Ok(_) | Err(_) => Err(wrong("a whole number up to 1000 is wanted")),
        },
        "next_phase" if value == "null" => Ok(Setting::NextPhase(None)),
        "next_phase" => Ok(Setting::NextPhase(Some(Phase::parse(value)))),
        "current_task" if value == "null" => Ok(Setting::CurrentTask(None)),
        "current_task" => Ok(Setting::CurrentTask(Some(task_id(value)?))),
        "tdd" => match value {
            "true" => Ok(Setting::Tdd(true)),
            "false" => Ok(Setting::Tdd(false)),
            _ => Err(wrong("true or false is wanted")),
        },
        _ => Err(CliError::new(format!("{field:?} cannot be set"))
            .hint("max_reviews, next_phase, current_task and tdd can")),
    }
}

fn refused(refused: &Refused) -> CliError {
    let phases = || {
        let names: Vec<String> = Phase::ALL.iter().map(ToString::to_string).collect();
        format!("the phases are {}", names.join(", "))
    };
    let hint = match refused {
        Refused::NoSuchPhase(_) => Some(phases()),
        Refused::Unknown(..) | Refused::NoTask(_) | Refused::UnderReview(_) => None,
    };
    let error = CliError::new(refused);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
