//! `mainspring plan answer`: what became of a finding.

use mainspring_kernel::Name;
use mainspring_kernel::hidden::quote;
use mainspring_kernel::machines::review::findings::{How, Reply};
use mainspring_kernel::machines::review::verbs;
use mainspring_kernel::verbs::Actor;

use super::{Asker, Which, remembered};
use crate::command::{CommandContext, Result};
use crate::error::CliError;

/// Longer texts belong in the post-review file.
const MOST_TEXT: usize = 1_000;

/// Answer a finding of a review.
///
/// An agent records that it fixed the finding or disputes it; the next reviewer judges that. What a
/// person says is a decision: `disputed` drops the finding, `fixed` has it looked at again.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The finding, such as F3; `mainspring plan status` lists them
    id: String,
    how: HowArg,
    /// What was changed, or why nothing was
    why: String,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum HowArg {
    Fixed,
    Disputed,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if args.why.trim().is_empty() {
        return Err(CliError::usage("an answer needs a reason")
            .hint("say in one sentence what was changed, or why nothing was"));
    }
    let reply = Reply {
        id: args.id.clone(),
        how: match args.how {
            HowArg::Fixed => How::Fixed,
            HowArg::Disputed => How::Disputed,
        },
        why: args.why.chars().take(MOST_TEXT).collect(),
    };
    let did = cmd.commit(Name::Review, "plan answer", |context| {
        let opened = args.which.open(context)?;
        let asker = Asker::new(cmd, context)?;
        let step = verbs::answer(opened.plan()?, &reply, asker.about(&opened)?)?;
        let whose = match (cmd.actor(), reply.how) {
            (Actor::Agent(_), How::Fixed) => "is answered: fixed. The next reviewer looks",
            (Actor::Agent(_), How::Disputed) => "is disputed. The next reviewer looks",
            (Actor::Person, How::Fixed) => "is looked at again",
            (Actor::Person, How::Disputed) => "is dropped",
        };
        let did = format!(
            "plan '{}': finding {} {whose}",
            opened.dir.id,
            quote(&reply.id, 40)
        );
        Ok((remembered(&opened.memories, &step.state)?, did))
    })?;
    Ok(format!("{did}\n"))
}
