//! Commands that change a plan's state. Each writes one record, under the lock.

use mainspring_kernel::Name;
use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::review::route::COMMIT_THE_REST;
use mainspring_kernel::machines::review::verbs::{self, Setting};
use mainspring_kernel::machines::review::{Memory, Phase, State, TaskId, messages};

use super::{Asker, Which, changes, may, remembered};
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::FoundFile;
use crate::machines::review as plans;
use crate::machines::review::directory;
use crate::machines::review::memories::Memories;
use crate::people::which_session;

/// Record a new plan; its first review starts at the agent's next stop
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The name of its directory in .taskie/plans
    name: String,
}

/// Record that an action is done, and set the state that follows from it
#[derive(Debug, clap::Args)]
pub(super) struct AdvanceArgs {
    /// The action, such as post-code-review
    phase: String,
    /// The task that the action was about
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    #[command(flatten)]
    which: Which,
}

/// Change a setting of the plan
#[derive(Debug, clap::Args)]
pub(super) struct SetArgs {
    /// `max_reviews`, `current_task` or `tdd`
    field: String,
    /// A number, a task's id or null, true or false
    value: String,
    #[command(flatten)]
    which: Which,
}

/// Give the plan to the agent's own session; outside an agent, to the next session that stops
/// here
#[derive(Debug, clap::Args)]
pub(super) struct AdoptArgs {
    /// Give it to this session instead: its id, the beginning of it, or `last` for the live one
    /// here
    #[arg(long, value_name = which_session::VALUE)]
    session: Option<String>,
    #[command(flatten)]
    which: Which,
}

pub(super) fn init(args: &InitArgs, cmd: &CommandContext) -> Result {
    let name = directory::plan_id(&args.name)
        .filter(|name| !name.starts_with('-'))
        .ok_or_else(|| {
            CliError::usage(format!("{:?} is not a name for a plan", args.name)).hint(
                "the name becomes a folder in .taskie/plans: use letters, digits, `-` and `_`",
            )
        })?;
    let did = cmd.commit(Name::Review, &format!("plan init {name}"), |context| {
        let found = plans::open(context, Some(&name))?;
        let state = found
            .as_ref()
            .map_or(&State::Nothing, |opened| &opened.state);
        let memories = Memories::read(context)?;
        let memory = match &found {
            Some(opened) if opened.dir.has_reviews() => memories.of(&name),
            // The plan of this name that we remember was deleted: this is another one.
            Some(_) | None => Memory::default(),
        };
        let asker = Asker::new(cmd, context)?;
        let step = verbs::init(state, &name, memory, asker.alone())?;
        let path = context.project.file(directory::PLANS).join(&name);
        let file = FoundFile {
            path: path.join(directory::STATE),
            bytes: None,
        };
        let files = changes(&file, &memories, &step.state)?;
        let written = found.is_some_and(|opened| opened.dir.has("plan.md"));
        let did = if written {
            format!("plan '{name}' is recorded; its review starts at the agent's next stop")
        } else {
            format!(
                "plan '{name}' is recorded, but {}/plan.md does not exist: write it before the \
                 agent stops",
                messages::directory(&name)
            )
        };
        Ok((files, did))
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
    let context = cmd.context()?;
    let asker = Asker::new(cmd, &context)?.carrying_out(cmd, &phase);
    let did = cmd.commit(Name::Review, &command, |context| {
        let opened = args.which.open(context)?;
        let plan = opened.plan()?;
        let asked = asker.about(&opened)?;
        let step = verbs::advance(plan, &phase, task.as_ref(), asked)?;
        let files = changes(&opened.state_file, &opened.memories, &step.state)?;
        Ok((files, told(&plan.id, &step.state)))
    })?;
    Ok(match phase {
        Phase::Complete => format!("{did}\nNow {COMMIT_THE_REST}\n"),
        _ => format!("{did}\n"),
    })
}

pub(super) fn set(args: &SetArgs, cmd: &CommandContext) -> Result {
    let setting = setting(&args.field, &args.value)?;
    let command = format!("plan set {} {}", args.field, args.value);
    may(&args.which, cmd, &command, Grounds::Nothing)?;
    let did = cmd.commit(Name::Review, &command, |context| {
        let opened = args.which.open(context)?;
        let plan = opened.plan()?;
        let asker = Asker::new(cmd, context)?;
        let step = verbs::set(plan, setting, asker.about(&opened)?)?;
        let files = changes(&opened.state_file, &opened.memories, &step.state)?;
        Ok((files, told(&plan.id, &step.state)))
    })?;
    Ok(format!("{did}\n"))
}

pub(super) fn adopt(args: &AdoptArgs, cmd: &CommandContext) -> Result {
    let named = which_session::wanted(cmd, args.session.as_deref())?;
    let session = named.as_ref().map(|named| named.id.clone());
    let own = cmd.env.agent_session();
    let grounds = match &own {
        Some(own) if session.as_ref() == Some(own) => Grounds::BegunBy(own),
        Some(_) | None => Grounds::Nothing,
    };
    let command = match &args.session {
        Some(session) => format!("plan adopt --session {session}"),
        None => "plan adopt".into(),
    };
    may(&args.which, cmd, &command, grounds)?;
    let did = cmd.commit(Name::Review, "plan adopt", |context| {
        let opened = args.which.open(context)?;
        let step = verbs::adopt(&opened.state, session.as_ref());
        let whose = match &named {
            Some(named) => format!("belongs to {named}"),
            None => "belongs to the next session that stops here".into(),
        };
        let did = format!("plan '{}' {whose}", opened.dir.id);
        Ok((remembered(&opened.memories, &step.state)?, did))
    })?;
    Ok(format!("{did}\n"))
}

pub(super) fn told(plan: &str, state: &State) -> String {
    let text = |phase: Option<&Phase>| phase.map_or("nothing", Phase::as_str).to_owned();
    let fields = state.plan().map(|plan| &plan.fields);
    let phase = text(fields.and_then(|fields| fields.phase.as_ref()));
    let next = text(fields.and_then(|fields| fields.next_phase.as_ref()));
    format!("plan '{plan}': phase {phase}, next {next}")
}

pub(super) fn task_id(text: &str) -> Result<TaskId> {
    TaskId::parse(text).ok_or_else(|| {
        CliError::usage(format!("{text:?} is not a task's id"))
            .hint("use letters, digits, `_` and `-`")
    })
}

fn setting(field: &str, value: &str) -> Result<Setting> {
    let wrong =
        |wanted: &str| CliError::usage(format!("{value:?} is not a value for {field}: {wanted}"));
    match field {
        "max_reviews" => match value.parse() {
            Ok(count @ 0..=1000) => Ok(Setting::MaxReviews(count)),
            Ok(_) | Err(_) => Err(wrong("use a whole number up to 1000")),
        },
        "next_phase" if value == "null" => Err(CliError::usage(
            "next_phase is no setting: it follows from what is done",
        )
        .hint("`mainspring plan accept` ends the reviews and goes on")),
        "next_phase" => Err(CliError::usage(
            "next_phase is no setting: it follows from what is done",
        )
        .hint("`mainspring plan review restart KIND` begins a cycle of reviews: plan, tasks, code or all-code")
        .hint("`mainspring plan advance PHASE` records an action")),
        "current_task" if value == "null" => Ok(Setting::CurrentTask(None)),
        "current_task" => Ok(Setting::CurrentTask(Some(task_id(value)?))),
        "tdd" => match value {
            "true" => Ok(Setting::Tdd(true)),
            "false" => Ok(Setting::Tdd(false)),
            _ => Err(wrong("use true or false")),
        },
        _ => Err(CliError::usage(format!("there is no field {field:?} to set"))
            .hint("the fields are max_reviews, current_task and tdd")),
    }
}
