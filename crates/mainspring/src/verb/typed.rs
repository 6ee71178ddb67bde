//! `/mainspring:stop`, `/mainspring:pause`, `/mainspring:resume`, typed in the client: the hook
//! carries them out itself, with no model in the path.

use clap::Parser;
use mainspring_kernel::Kind;

use super::brake::{self, PauseArgs, ResumeArgs, StopArgs};
use super::{CommandContext, Result, TypedIn};
use crate::env::Environment;
use crate::error::CliError;
use crate::host::{self, Payload};
use crate::output::Paint;

/// What the client calls our commands.
const PREFIX: &str = "mainspring:";

/// The commands that are carried out.
#[derive(Debug, Parser)]
#[command(name = "mainspring")]
enum Order {
    Stop(StopArgs),
    Pause(PauseArgs),
    Resume(ResumeArgs),
}

impl Order {
    fn run(words: &[&str], cmd: &CommandContext) -> Result {
        let words = ["mainspring"].iter().chain(words);
        let order = Self::try_parse_from(words).map_err(|error| CliError::new(error.render()))?;
        match order {
            Self::Stop(args) => brake::stop(&args, cmd),
            Self::Pause(args) => brake::pause(&args, cmd),
            Self::Resume(args) => brake::resume(&args, cmd),
        }
    }
}

/// For how long, if the user does not say.
const PAUSE: &str = "30m";

/// Carries out an order that the user typed; the line for the host, which then keeps it from
/// the model. `None` for everything else, and where nothing shows that a user typed it: the
/// command's text then tells the agent what to tell them.
pub(super) fn carry_out(env: &Environment, payload: &Payload) -> Option<String> {
    let Kind::Expansion { command } = &payload.event.kind else {
        return None;
    };
    let handled = payload.host.handled?;
    let verb = command.strip_prefix(PREFIX)?;
    if !matches!(verb, "stop" | "pause" | "resume") || !was_typed(env, payload) {
        return None;
    }
    let cmd = CommandContext {
        env: env.clone(),
        cwd: payload.cwd.clone().unwrap_or_default(),
        paint: Paint::Plain,
        width: None,
        typed_in: TypedIn::Client,
        typed: String::new(),
    };
    let mut words = vec![verb];
    words.extend(
        payload
            .command_args
            .iter()
            .flat_map(|args| args.split_whitespace()),
    );
    if words == ["pause"] {
        words.push(PAUSE);
    }
    let said = Order::run(&words, &cmd).unwrap_or_else(|error| error.to_string());
    Some(handled(said.trim()))
}

/// Did the client itself run this hook, for a user who attends?
fn was_typed(env: &Environment, payload: &Payload) -> bool {
    host::is_attended(env) && env.is_run_by(payload.host.agent)
}
