//! `mainspring plan`: the commands of `review`, for agents and people.

mod accept;
mod answer;
mod change;
mod repair;
mod review;
mod route;
pub(crate) mod view;

use std::cell::OnceCell;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::review::messages::quoted;
use mainspring_kernel::machines::review::table::Tasks;
use mainspring_kernel::machines::review::verbs::{Asked, Typed};
use mainspring_kernel::machines::review::{Phase, State};
use mainspring_kernel::verbs::Actor;

use crate::command::{CommandContext, Result};
use crate::context::EventContext;
use crate::error::CliError;
use crate::machines::FoundFile;
use crate::machines::review as plans;
use crate::machines::review::Opened;
use crate::machines::review::memories::Memories;
use crate::people::last_word;

/// Record a plan, move it to its next phase, or show its state.
///
/// All subcommands but `init` are about the plan that was changed last, unless `--plan` names
/// another.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring plan init weather           after you wrote .taskie/plans/weather/plan.md\n  mainspring plan status\n  mainspring plan set max_reviews 4\n  mainspring plan accept                 good enough: no more reviews, go on\n  mainspring plan review restart plan    review plan.md from the start"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Init(change::InitArgs),
    Advance(change::AdvanceArgs),
    Set(change::SetArgs),
    Accept(accept::Args),
    Repair(repair::Args),
    Answer(answer::Args),
    Adopt(change::AdoptArgs),
    Route(route::Args),
    Status(view::StatusArgs),
    List(view::ListArgs),
    Review(review::Args),
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.verb {
        Verb::Init(args) => cmd.said_until_trusted(change::init(args, cmd)?),
        Verb::Advance(args) => cmd.said_until_trusted(change::advance(args, cmd)?),
        Verb::Set(args) => cmd.said_until_trusted(change::set(args, cmd)?),
        Verb::Accept(args) => accept::run(args, cmd),
        Verb::Repair(args) => repair::run(args, cmd),
        Verb::Answer(args) => answer::run(args, cmd),
        Verb::Adopt(args) => cmd.said_until_trusted(change::adopt(args, cmd)?),
        Verb::Route(args) => route::run(args, cmd),
        Verb::Status(args) => view::status(args, cmd),
        Verb::List(args) => view::list(args, cmd),
        Verb::Review(args) => review::run(args, cmd),
    }
}

/// Which plan is meant.
#[derive(Debug, Clone, Default, clap::Args)]
struct Which {
    /// The plan's name; default: the plan that was changed last
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
}

impl Which {
    fn open(&self, context: &EventContext<'_>) -> Result<Opened> {
        let named = self.plan.as_deref();
        plans::open(context, named)?.ok_or_else(|| match named {
            Some(name) => CliError::not_found(format!("there is no plan {name:?} here"))
                .hint("`mainspring plan list` shows all plans"),
            None => CliError::not_found("there is no plan here")
                .hint("`mainspring plan init NAME` records one"),
        })
    }
}

/// Refuses to let an agent do what is a person's to do. What the person types instead names the
/// plan, because another one may have been changed last by then.
fn may(which: &Which, cmd: &CommandContext, command: &str, grounds: Grounds<'_>) -> Result<()> {
    let opened = which.open(&cmd.context()?);
    let named = opened.map(|opened| format!("{command} --plan {}", quoted(&opened.dir.id)));
    cmd.may(named.as_deref().unwrap_or(command), grounds)
}

/// Who runs a command, and what it needs to know besides the plan.
struct Asker {
    actor: Actor,
    typed: Typed,
    models: Vec<String>,
    tasks: OnceCell<Tasks>,
}

impl Asker {
    fn new(cmd: &CommandContext, context: &EventContext<'_>) -> Result<Self> {
        Ok(Self {
            actor: cmd.actor(),
            typed: Typed::No,
            models: plans::models(context)?,
            tasks: OnceCell::new(),
        })
    }

    /// If the user typed `/taskie:PHASE` in the client, the agent carries out the user's word.
    fn carrying_out(mut self, cmd: &CommandContext, phase: &Phase) -> Self {
        if let Actor::Agent(Some(session)) = &self.actor
            && let Some(last) = last_word::in_transcript(cmd, session)
            && last
                .command()
                .and_then(|typed| typed.strip_prefix("taskie:"))
                == Some(phase.as_str())
        {
            self.typed = Typed::ByUser;
        }
        self
    }

    fn about(&self, opened: &Opened) -> Result<Asked<'_>> {
        if self.tasks.get().is_none() {
            let text = plans::text(&opened.dir, "tasks.md")?;
            let tasks = text.as_deref().map(Tasks::parse).unwrap_or_default();
            let _ = self.tasks.set(tasks);
        }
        Ok(self.alone())
    }

    /// For a plan that has no tasks yet.
    fn alone(&self) -> Asked<'_> {
        Asked {
            actor: &self.actor,
            typed: self.typed,
            models: &self.models,
            tasks: self.tasks.get_or_init(Tasks::default),
        }
    }
}

/// What is remembered of a plan after a command: which session owns it.
fn remembered(memories: &Memories, after: &State) -> Result<Vec<FileChange>> {
    Ok(memories.remember(after)?.into_iter().collect())
}

/// A plan's state after a command, and which session owns it.
fn changes(state: &FoundFile, memories: &Memories, after: &State) -> Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    if let Some(plan) = after.plan() {
        changes.push(plans::write_state(state, &plan.fields));
    }
    changes.extend(remembered(memories, after)?);
    Ok(changes)
}
