//! An order that is typed in the client, as the command `/mainspring:stop` or as the message
//! `mainspring stop`: the hook carries it out itself, with no model in the path.

use std::path::PathBuf;

use clap::Parser;
use mainspring_kernel::Kind;
use mainspring_kernel::event::{Author, Speaker};

use super::brake::{self, PauseArgs, ResumeArgs, StopArgs};
use super::{CommandContext, Result, TypedIn};
use crate::env::Environment;
use crate::error::CliError;
use crate::host::{self, OrdersBy, Payload};
use crate::output::Paint;
use crate::project::{self, Bound};
use crate::store::StateDir;

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
    fn parse(words: &[&str]) -> Result<Self> {
        let words = ["mainspring"].iter().chain(words);
        Self::try_parse_from(words).map_err(|error| CliError::new(error.render()))
    }

    fn run(&self, cmd: &CommandContext) -> Result {
        match self {
            Self::Stop(args) => brake::stop(args, cmd),
            Self::Pause(args) => brake::pause(args, cmd),
            Self::Resume(args) => brake::resume(args, cmd),
        }
    }
}

/// For how long, if the user does not say.
const PAUSE: &str = "30m";

/// Carries out an order that the user typed; the line for the host, which then keeps it from
/// the model. `None` for everything else, and where nothing shows that a user typed it: the
/// agent then reads it, and is refused the command if it tries.
pub(super) fn carry_out(env: &Environment, payload: &Payload) -> Option<String> {
    let order = order(payload)?;
    if !was_typed(env, payload) {
        return None;
    }
    let cmd = CommandContext {
        env: env.clone(),
        cwd: folder(env, payload),
        paint: Paint::Plain,
        width: None,
        typed_in: TypedIn::Client,
        typed: String::new(),
    };
    let said = order.and_then(|order| order.run(&cmd));
    let said = said.unwrap_or_else(|error| error.to_string());
    Some(host::handled(said.trim()))
}

/// The order is about the session's project, wherever its agent has gone.
fn folder(env: &Environment, payload: &Payload) -> PathBuf {
    let cwd = payload.cwd.clone().unwrap_or_default();
    let session = payload.event.session.as_ref();
    let state = StateDir::of(env);
    let found = state.and_then(|state| project::of_event(env, &state, session, payload).ok());
    match found {
        Some(project) if project.bound == Bound::Yes => project.root,
        Some(_) | None => cwd,
    }
}

/// The order in an event, or what is wrong with it. A message that is no order to the letter is
/// for the agent.
fn order(payload: &Payload) -> Option<Result<Order>> {
    if payload.event.speaker != Speaker::Main {
        return None;
    }
    match (payload.host.answers.orders, &payload.event.kind) {
        (OrdersBy::Command, Kind::Expansion { command }) => {
            let args = payload.command_args.as_deref().unwrap_or_default();
            parse(command.strip_prefix(PREFIX)?, args)
        }
        (
            OrdersBy::Message,
            Kind::Prompt {
                author: Author::Person,
            },
        ) => {
            let (_, order) = payload.to_us.as_deref()?.split_once(' ')?;
            let (verb, args) = order.trim().split_once(' ').unwrap_or((order.trim(), ""));
            parse(verb, args).filter(Result::is_ok)
        }
        _ => None,
    }
}

fn parse(verb: &str, args: &str) -> Option<Result<Order>> {
    if !matches!(verb, "stop" | "pause" | "resume") {
        return None;
    }
    let mut words = vec![verb];
    words.extend(args.split_whitespace());
    if words == ["pause"] {
        words.push(PAUSE);
    }
    Some(Order::parse(&words))
}

/// Did the client itself run this hook, for a user who attends?
fn was_typed(env: &Environment, payload: &Payload) -> bool {
    payload.host.is_attended(env) && env.is_run_by(payload.host.agent)
}
