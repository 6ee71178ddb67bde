//! An order that is typed in the client, as the command `/mainspring:stop` or as the message
//! `mainspring stop`: the hook carries it out itself, with no model in the path.
//!
//! The host's event says that a person typed it. Nothing else is asked, neither which program
//! started the hook nor whether somebody attends: a brake that is not sure brakes.

use std::path::PathBuf;

use mainspring_kernel::Kind;
use mainspring_kernel::event::{Author, Speaker};
use mainspring_kernel::orders::{Given, Order, is_undone};

use crate::command::{CommandContext, Result, TypedIn};
use crate::context::Caller;
use crate::env::Environment;
use crate::error::CliError;
use crate::hook::client_queue;
use crate::hosts::{self, OrdersBy, Payload};
use crate::output::Paint;
use crate::people::brake;
use crate::people::orders;
use crate::project::{self, Bound};
use crate::store::StateDir;

/// What comes of an event that is an order.
#[derive(Debug)]
pub(super) enum Handled {
    /// It was carried out, or what is wrong with it: the line for the host, which then keeps it
    /// from the model.
    Now(String),
    /// It is carried out at the event that follows. Here it is nobody's prompt.
    Next,
}

/// Carries out an order that the user typed. `None` for everything else.
pub(super) fn carry_out(env: &Environment, payload: &Payload) -> Option<Handled> {
    if payload.event.speaker != Speaker::Main {
        return None;
    }
    let (text, by) = match &payload.event.kind {
        Kind::Expansion { command } => {
            let args = payload.command_args.as_deref().unwrap_or_default();
            (format!("/{command} {args}"), OrdersBy::Command)
        }
        Kind::Prompt {
            author: Author::Person,
        } => (payload.to_us.clone()?, OrdersBy::Message),
        _ => return None,
    };
    let order = orders::typed(&text)?;
    match (payload.host.answers.orders, by) {
        (OrdersBy::Nowhere, _) | (OrdersBy::Message, OrdersBy::Command) => return None,
        (OrdersBy::Command, OrdersBy::Message) if text.starts_with('/') => {
            return Some(Handled::Next);
        }
        _ => {}
    }
    let cmd = CommandContext {
        env: env.clone(),
        cwd: folder(env, payload),
        paint: Paint::Plain,
        width: None,
        typed_in: TypedIn::Client,
        typed: String::new(),
    };
    let said = order
        .map_err(CliError::usage)
        .and_then(|order| give(order, text.trim(), payload, &cmd));
    let said = match said {
        Ok(did) => format!("done: {}", did.trim()),
        Err(error) => format!("not done: {}", error.to_string().trim()),
    };
    Some(Handled::Now(hosts::handled(payload, &said)))
}

/// Carries it out, unless it waited in the client's queue and the person resumed since.
fn give(order: Order, text: &str, payload: &Payload, cmd: &CommandContext) -> Result {
    let context = cmd.context()?.seen_by(Caller::Host(payload));
    if let Some(at) = client_queue::typed_at(&context, text)
        && is_undone(
            &Given { order, at },
            &orders::given_since(&context.store, at),
        )
    {
        return Err(CliError::refused(
            "you resumed after you had typed this, while it waited in the client's queue",
        )
        .hint("type it again to stop"));
    }
    brake::give(order, cmd)
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
