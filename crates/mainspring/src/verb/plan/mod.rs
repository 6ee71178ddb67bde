//! `mainspring plan`: the commands of `review`, for agents and people.

mod change;
mod review;
mod route;
pub(super) mod view;

use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::review::{Plan, State};

use super::{CommandContext, Result};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::FoundFile;
use crate::machine::review::memories::Memories;
use crate::machine::review::{self as plans, Opened};

/// Record a plan, move it to its next phase, or show its state.
///
/// All subcommands but `init` are about the plan that was changed last, unless `--plan` names
/// another.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring plan init weather           after you wrote .taskie/plans/weather/plan.md\n  mainspring plan status\n  mainspring plan set max_reviews 4\n  mainspring plan set next_phase null    no more reviews"
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
            Some(name) => CliError::new(format!("there is no plan {name:?} here"))
                .hint("`mainspring plan list` shows all plans"),
            None => CliError::new("there is no plan here")
                .hint("`mainspring plan init NAME` records one"),
        })
    }
}

/// The plan as it was found.
fn plan(opened: &Opened) -> Plan {
    let id = &opened.dir.id;
    Plan {
        id: id.clone(),
        record: opened.record.clone(),
        memory: opened.memory(),
        passing: None,
    }
}

/// What is remembered of a plan after a command: which session owns it.
fn remembered(memories: &Memories, after: &State) -> Result<Vec<FileChange>> {
    match after {
        State::Nothing => Ok(Vec::new()),
        State::Plan(plan) => Ok(vec![memories.remember(&plan.id, plan.memory.clone())?]),
    }
}

/// A plan's state after a command, and which session owns it.
fn changes(state: &FoundFile, memories: &Memories, after: &State) -> Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    if let Some(fields) = after.fields() {
        changes.push(plans::write_state(state, fields));
    }
    changes.extend(remembered(memories, after)?);
    Ok(changes)
}
