//! `mainspring plan`: the verbs of `review`, for the agent and for people.

mod change;
mod review;
mod route;
mod view;

use mainspring_kernel::machines::review::{Fields, Memory, Record};

use super::{CommandContext, Result};
use crate::error::CliError;
use crate::event_context::EventContext;
use crate::machine::review::{self as plans, Opened};

/// A plan's state: record it, move it, look at it.
///
/// All but `init` are about the plan that was changed last, unless `--plan` names another.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring plan init weather           after .taskie/plans/weather/plan.md was written\n  mainspring plan status\n  mainspring plan set max_reviews 4\n  mainspring plan set next_phase null    no more reviews"
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
        Verb::Init(args) => change::init(args, cmd),
        Verb::Advance(args) => change::advance(args, cmd),
        Verb::Set(args) => change::set(args, cmd),
        Verb::Adopt(args) => change::adopt(args, cmd),
        Verb::Route(args) => route::run(args, cmd),
        Verb::Status(args) => view::status(args, cmd),
        Verb::List(args) => view::list(args, cmd),
        Verb::Review(args) => review::run(args, cmd),
    }
}

/// Which plan is meant.
#[derive(Debug, Clone, Default, clap::Args)]
struct Which {
    /// The plan's name, if it is not the one that was changed last
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
}

impl Which {
    fn open(&self, context: &EventContext<'_>) -> Result<Opened> {
        let named = self.plan.as_deref();
        plans::open(context, named)?.ok_or_else(|| match named {
            Some(name) => CliError::new(format!("there is no plan {name:?} here"))
                .hint("`mainspring plan list` shows what there is"),
            None => CliError::new("there is no plan here")
                .hint("`mainspring plan init NAME` records one"),
        })
    }
}

/// The plan's fields, or why there are none.
fn fields(opened: &Opened) -> Result<&Fields> {
    let id = &opened.dir.id;
    match &opened.record {
        Record::Fields(fields) => Ok(fields),
        Record::Missing => Err(CliError::new(format!("plan '{id}' has no state.json"))
            .hint(format!("`mainspring plan init {id}` makes one"))),
        Record::Unreadable(problem) => Err(CliError::new(format!("plan '{id}': {problem}")).hint(
            format!(
                "put {} right by hand; it is never written over",
                opened.state_file.path.display()
            ),
        )),
    }
}

fn memory(opened: &Opened) -> Memory {
    let memories = &opened.memories.plans;
    memories.get(&opened.dir.id).cloned().unwrap_or_default()
}
