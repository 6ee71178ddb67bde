//! `mainspring claim watch`: waits in the background for news of the pull request, and
//! wakes the agent with it.
//!
//! Hosts start one at every stop. One per claim stays: it holds a lock on a file that the
//! system lets go of with the process, however that ends. It leaves when there is nothing
//! to watch, when nobody attends (a headless run would wait for it), when the host is gone,
//! and with the news. What a look is, and what it wakes the agent with, the kernel decides:
//! each is an event like a host's.

use std::time::Duration;

use mainspring_kernel::machines::claim::watch::Before;
use mainspring_kernel::{Decision, Kind, Millis};
use mainspring_platform::{file, process};
use mainspring_store::Trouble;

use crate::config::Value;
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::exit::Exit;
use crate::host::{self, DecodeAs, Payload};
use crate::machine::claim;
use crate::output;
use crate::project;
use crate::store::{ProjectStore, StateDir};
use crate::verb::hook::{Input, decide_all, read_stdin};

/// How often the host and the claim are looked at while nothing is asked of GitHub.
const STEP: Duration = Duration::from_millis(500);

/// So often the claim may be unreadable, one time after the other, before it is said.
const PATIENCE: u32 = 3;

/// Nobody waits longer than this for one stop's pull request.
const LONGEST: Millis = Millis::seconds(12 * 60 * 60);

/// Exit 2 with the news on stderr is what wakes the agent.
pub(crate) fn run(env: &Environment) -> Exit {
    let input = read_stdin();
    if env.silenced() || !host::is_attended(env) {
        return Exit::Success;
    }
    let Input::Bytes(bytes) = input else {
        return Exit::Success;
    };
    let Ok(mut payload) = host::decode(env, bytes, DecodeAs::Named) else {
        return Exit::Success;
    };
    payload.event.kind = Kind::Watch;
    match watch(env, &payload) {
        Ok(Some(news)) => {
            output::stderr(&crate::host::text::clean(&news));
            Exit::Wake
        }
        Ok(None) => Exit::Success,
        Err(trouble) => {
            output::stderr(&format!("mainspring claim watch: {trouble}"));
            Exit::Failure
        }
    }
}

fn watch(env: &Environment, payload: &Payload) -> Result<Option<String>, Trouble> {
    let Some(state) = StateDir::of(env) else {
        return Ok(None);
    };
    let session = payload.event.session.as_ref();
    let project = project::find(env, &state, session, payload.cwd.as_deref())?;
    let store = ProjectStore::new(state, &project.root);
    let context = EventContext::new(env, &project, &store, Some(payload));
    let now = env.now();
    if claim::state(&context)?.0.before_look(now, now) == Before::Leave || !context.is_trusted() {
        return Ok(None);
    }
    let Some(_lease) = lease(&context)? else {
        return Ok(None);
    };
    let every = context.config()?.get("claim.watch").and_then(Value::span);
    wait_for_news(&context, payload, every.unwrap_or(Millis::seconds(120)))
}

/// Looks whenever it is time to, until there is something to wake the agent with, or nothing
/// to wait for.
fn wait_for_news(
    context: &EventContext<'_>,
    payload: &Payload,
    every: Millis,
) -> Result<Option<String>, Trouble> {
    let env = context.env;
    let until = env.now().plus(LONGEST);
    let mut due = env.later();
    let mut unread = 0;
    // The claim at the last look.
    let mut looked_at = None;
    while env.later() < until && client_lives(env) {
        let state = match claim::state(context) {
            Ok((state, _)) => state,
            // Somebody may just be writing it, not all at once as we do.
            Err(_) if unread < PATIENCE => {
                unread += 1;
                std::thread::sleep(STEP);
                continue;
            }
            Err(trouble) => return Err(trouble),
        };
        unread = 0;
        let now = env.later();
        match state.before_look(due, now) {
            Before::Leave => return Ok(None),
            // News that nobody was woken with at the last look may not be given yet.
            Before::Look if now >= due || looked_at.as_ref() != Some(&state) => {
                due = now.plus(every);
                let answer = decide_all(&env.afresh(), payload)?;
                if let Decision::Watch { wake } = &answer.decision
                    && !wake.is_empty()
                {
                    return Ok(Some(wake.text()));
                }
                looked_at = Some(state);
            }
            Before::Look | Before::Wait => {}
        }
        std::thread::sleep(STEP);
    }
    Ok(None)
}

/// One watcher per claim.
fn lease(context: &EventContext<'_>) -> Result<Option<std::fs::File>, Trouble> {
    context.store.state().create(context.store.dir())?;
    let path = context.store.dir().join(claim::watch_lock(context));
    let file = file::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(Trouble::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(Trouble::io("lock", &path)(error)),
    }
}

/// Without knowing the client, the host's own limit ends us.
fn client_lives(env: &Environment) -> bool {
    let pid = host::client(env);
    pid.is_none_or(process::exists)
}
