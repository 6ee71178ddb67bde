//! `mainspring plan accept`: it is good enough, and the plan goes on.

use std::time::{Duration, Instant};

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::review::consent;
use mainspring_kernel::machines::review::verbs::{self, Written};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Millis, Name, SessionId};

use super::change::told;
use super::{Asker, Which, changes, may};
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::review as plans;
use crate::people::{ask, last_word};

/// End the reviews: it is good enough, and the plan goes on to its next phase.
///
/// A person types it in a terminal. In an agent's shell, the user's last message must accept the
/// plan, as the client recorded it: `accept it`, `good enough`, or `yes` right after the question.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let opened = args.which.open(&context)?;
    let found = opened.dir.id.clone();
    match cmd.actor() {
        // Whatever has no terminal may be a process that an agent cut off from itself.
        Actor::Person => ask::require_terminal()?,
        Actor::Agent(session) => {
            let since = opened.memory().cycle.map(|cycle| cycle.at);
            let since = since.unwrap_or_default();
            let given = session.is_some_and(|session| consents(cmd, &session, &found, since));
            let grounds = if given {
                Grounds::Consent
            } else {
                Grounds::Nothing
            };
            let list = consent::examples(&found);
            let hint = |error: CliError| {
                error.hint(format!(
                    "or the user's whole message in the client is {list}"
                ))
            };
            may(&args.which, cmd, "plan accept", grounds).map_err(hint)?;
        }
    }
    let which = Which { plan: Some(found) };
    let did = cmd.commit(Name::Review, "plan accept", |context| {
        let opened = which.open(context)?;
        let found = opened.plan()?;
        let asker = Asker::new(cmd, context)?;
        let written = match plans::text(&opened.dir, "plan.md")? {
            Some(_) => Written::Yes,
            None => Written::No,
        };
        let step = verbs::accept(found, written, asker.about(&opened)?)?;
        let files = changes(&opened.state_file, &opened.memories, &step.state)?;
        Ok((files, format!("accepted. {}", told(&found.id, &step.state))))
    })?;
    Ok(format!("{did}\n"))
}

/// Did the user accept the plan? The client may not have written the message yet.
fn consents(cmd: &CommandContext, session: &SessionId, plan: &str, since: Millis) -> bool {
    let began = Instant::now();
    loop {
        let last = last_word::in_transcript(cmd, session);
        if last.is_some_and(|last| consent::is_given(&last, plan, since)) {
            return true;
        }
        if began.elapsed() >= last_word::LAG {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
