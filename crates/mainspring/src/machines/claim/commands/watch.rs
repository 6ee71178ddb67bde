//! `mainspring claim watch`: waits in the background for news of the pull request, and
//! wakes the agent with it.
//!
//! Hosts start a watcher at every stop. Only one per claim stays, that of the claim's session: it
//! holds a file lock, which the system releases when the process ends in any way. The watcher ends
//! when there is nothing to watch, when the claim is another session's, when nobody is at the
//! terminal (a headless run would wait for it), when the host is gone or would wait for it, and
//! when it has news. Each look is an event, like a host's; the kernel
//! decides whether to wake the agent and with which message.

use std::io::Write as _;
use std::time::Duration;

use mainspring_kernel::machines::claim::watch::Before;
use mainspring_kernel::{Decision, Kind, Millis, SessionId};
use mainspring_platform::{file, lock, process};
use mainspring_store::{Trouble, atomic};

use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::exit::Exit;
use crate::hook::decide_all;
use crate::hook::input::{self, Input};
use crate::hosts::{self, DecodeAs, HostSpec, Payload};
use crate::limits;
use crate::machines::claim;
use crate::output;
use crate::project;
use crate::show::notify;
use crate::store::{ProjectStore, StateDir};

/// How often the watcher checks the host and the claim between two calls to GitHub.
const STEP: Duration = Duration::from_millis(500);

/// How many steps a watcher waits for another session's to leave.
const PASSES: u32 = 6;

/// How many times in a row the claim may be unreadable before the watcher reports it.
const PATIENCE: u32 = 3;

/// The longest that a watcher waits.
const LONGEST: Millis = Millis::seconds(12 * 60 * 60);

/// Exit code 2, with the news on stderr, wakes the agent.
pub(crate) fn run(env: &Environment) -> Exit {
    let input = input::event();
    if env.silenced() {
        return Exit::Success;
    }
    let Input::Bytes(bytes) = input else {
        return Exit::Success;
    };
    let Ok(mut payload) = hosts::decode(env, bytes, DecodeAs::Named, None) else {
        return Exit::Success;
    };
    let host = payload.host;
    if !host.is_attended(env) || !host.rewakes(env, payload.event.session.as_ref()) {
        return Exit::Success;
    }
    payload.event.kind = Kind::Watch;
    match watch(env, &payload) {
        Ok(Some(news)) => {
            output::stderr(&crate::hosts::text::clean(&news));
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
    let project = project::of_event(env, &state, session, payload)?;
    let store = ProjectStore::new(state, &project.root);
    let context = EventContext::new(env, (project, store), Caller::Host(payload));
    let now = env.now();
    // A file that cannot be read may be one that is being written: the loop looks again.
    let leaves = claim::state(&context)
        .is_ok_and(|(state, _)| state.before_look(session, 0, now, now) == Before::Leave);
    if leaves || !context.is_trusted() {
        return Ok(None);
    }
    let Some(_lease) = lease(&context, session)? else {
        return Ok(None);
    };
    let config = context.config()?;
    let every = config.claim.watch;
    wait_for_news(&context, payload, every, config.claim.max_ci_rounds)
}

/// Looks at regular intervals, until there is news for the agent or nothing to wait for.
fn wait_for_news(
    context: &EventContext<'_>,
    payload: &Payload,
    every: Millis,
    most: u32,
) -> Result<Option<String>, Trouble> {
    let env = context.env;
    let until = env.now().plus(LONGEST);
    let mut due = env.later();
    let mut unread = 0;
    // The claim at the last look.
    let mut looked_at = None;
    while env.later() < until && client_lives(env, payload.host) {
        let state = match claim::state(context) {
            Ok((state, _)) => state,
            // Another program may be writing it at this moment, and not atomically.
            Err(_) if unread < PATIENCE => {
                unread += 1;
                std::thread::sleep(STEP);
                continue;
            }
            Err(trouble) => return Err(trouble),
        };
        unread = 0;
        let now = env.later();
        match state.before_look(payload.event.session.as_ref(), most, due, now) {
            Before::Leave => return Ok(None),
            // News of the last look that woke nobody may still be waiting.
            Before::Look if now >= due || looked_at.as_ref() != Some(&state) => {
                due = now.plus(every);
                let answer = decide_all(&env.afresh(), payload)?;
                notify::send(env, &payload.event.kind, &answer);
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

/// One watcher per claim. If another session's watcher still has the lock, the claim is ours now,
/// and that one leaves soon.
fn lease(
    context: &EventContext<'_>,
    session: Option<&SessionId>,
) -> Result<Option<std::fs::File>, Trouble> {
    context.store.state().create(context.store.dir())?;
    let path = context.store.dir().join(claim::watch_lock(context));
    let mut file = file::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(Trouble::io("open", &path))?;
    let me = session.map_or("", SessionId::as_str);
    for _ in 0..PASSES {
        if lock::try_take(&file).map_err(Trouble::io("lock", &path))? {
            let noted = file.set_len(0).and_then(|()| file.write_all(me.as_bytes()));
            noted.map_err(Trouble::io("write", &path))?;
            return Ok(Some(file));
        }
        let holder = atomic::read_text(&path, limits::CONFIG).ok().flatten();
        if holder.is_some_and(|holder| holder == me) {
            return Ok(None);
        }
        std::thread::sleep(STEP);
    }
    Ok(None)
}

/// If the client is not known, the host's own limit ends the watcher.
fn client_lives(env: &Environment, host: &HostSpec) -> bool {
    let pid = host.client(env);
    pid.is_none_or(process::exists)
}
