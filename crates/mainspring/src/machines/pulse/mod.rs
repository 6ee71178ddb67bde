//! The shell of `pulse`: its state is one file, and its effect starts our own program.

pub(crate) mod commands;
pub(crate) mod settings;

use std::time::Duration;

use mainspring_kernel::SessionId;
use mainspring_kernel::effect::Intent;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::pulse::{Probed, Pulse, State};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_store::Trouble;

use super::{FoundFile, HandedOn, Loaded, MachineShell, json_state};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::context::EventContext;
use crate::hosts::text::excerpt;

#[derive(Debug)]
pub(crate) struct Shell;

impl MachineShell for Shell {
    type Machine = Pulse;
    type Found = FoundFile;

    const ABOUT: &'static str =
        "checks that Mainspring reaches the agent: it holds a few stops and says so";

    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        Ok(!context.is_vacant()
            && std::fs::symlink_metadata(context.store.machine_file(Name::Pulse)).is_ok())
    }

    fn load(context: &EventContext<'_>, _: Option<&str>) -> Result<Option<Loaded<Self>>, Trouble> {
        let (state, found) = json_state::load::<State>(context, Name::Pulse)?;
        Ok(state.map(|state| Loaded {
            input: InputOf::new(state, ()),
            found,
        }))
    }

    fn files(
        _: &EventContext<'_>,
        _: &InputOf<Pulse>,
        found: &FoundFile,
        transition: &TransitionOf<Pulse>,
    ) -> Result<Vec<FileChange>, Trouble> {
        // When a check is over its file is deleted, so that the next event finds nothing.
        let state = (transition.state != State::Still).then_some(&transition.state);
        Ok(vec![json_state::change(found, state)?])
    }

    fn run(_: &EventContext<'_>, permit: Permit, _: &Intent<Pulse>, _: &mut HandedOn) -> Probed {
        probe(permit)
    }

    fn works_for(input: &InputOf<Pulse>, session: &SessionId) -> bool {
        match &input.state {
            State::Beating { session: owner, .. } => owner.as_ref() == Some(session),
            State::Spent { session: owner, .. } => owner == session,
            State::Still => false,
        }
    }

    fn summary(input: &InputOf<Pulse>) -> String {
        match &input.state {
            State::Still => "no pulse is under way".into(),
            State::Beating { beat, of, session } => {
                let whose = session.as_ref().map_or_else(
                    || "the next session".to_owned(),
                    |id| format!("session {id}"),
                );
                format!("beat {beat} of {of} given, for {whose}")
            }
            State::Spent { of: 1, .. } => "its beat was given".into(),
            State::Spent { of, .. } => format!("all {of} beats were given"),
        }
    }
}

/// Runs our own program to get its version.
fn probe(permit: Permit) -> Probed {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Probed::Failed(error.to_string()),
    };
    match Job::new(permit, program, Duration::from_secs(4))
        .args(["--version"])
        .run()
    {
        Ok(finished) if finished.code == Some(0) => {
            Probed::Version(excerpt(&String::from_utf8_lossy(&finished.stdout)))
        }
        Ok(finished) => Probed::Failed(format!("it ended with {}", finished.ending())),
        Err(failure) => Probed::Failed(failure.to_string()),
    }
}
