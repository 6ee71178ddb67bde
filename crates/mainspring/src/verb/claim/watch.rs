//! `mainspring claim watch`: waits in the background for news of the pull request, and
//! wakes the agent with it.
//!
//! Hosts start one at every stop. One per claim stays: it holds a lock on a file that the
//! system lets go of with the process, however that ends. It leaves when there is nothing
//! to watch, when nobody attends (a headless run would wait for it), when the host is gone,
//! and with the news.

use std::time::Duration;

use mainspring_kernel::deliberate::Trust;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memory::Weight;
use mainspring_kernel::machines::claim::pull::Pull;
use mainspring_kernel::machines::claim::verbs;
use mainspring_kernel::{Millis, Name};
use mainspring_platform::{file, process};
use mainspring_store::Trouble;

use crate::config::Value;
use crate::env::Environment;
use crate::event_context::EventContext;
use crate::exit::Exit;
use crate::host::{self, DecodeAs, Payload};
use crate::machine::claim::{self, github_context::GitHubContext, poll};
use crate::output;
use crate::project;
use crate::store::{ProjectStore, StateDir, trust};
use crate::verb::hook::{Input, read_stdin};

/// A look at the pull request may take this long.
const LOOK_LIMIT: Millis = Millis::seconds(30);

/// How often the host and the claim are looked at while nothing is asked of GitHub.
const STEP: Duration = Duration::from_millis(500);

/// So many looks may fail one after the other before it is said.
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
    let Ok(payload) = host::decode(env, bytes, DecodeAs::Named) else {
        return Exit::Success;
    };
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
    if nothing_to_watch(&claim::state(&context)?.0)
        || trust::of(store.state(), &project.root) == Trust::Untrusted
    {
        return Ok(None);
    }
    let Some(_lease) = lease(&context)? else {
        return Ok(None);
    };
    let every = context.config()?.get("claim.watch").and_then(Value::span);
    let every = every.unwrap_or(Millis::seconds(120));
    let until = env.now().plus(LONGEST);
    let mut due = env.later();
    let mut unread = 0;
    while env.later() < until && client_lives(env) {
        let state = match claim::state(&context) {
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
        if has_mail(&state) {
            return deliver(&context);
        }
        let Some((_, memory, pr)) = state.watched() else {
            return Ok(None);
        };
        let now = env.later();
        if now >= due && memory.not_before.is_none_or(|at| now >= at) {
            due = now.plus(every);
            if let Some(news) = look(&context, pr)? {
                return Ok(Some(news));
            }
        }
        std::thread::sleep(STEP);
    }
    Ok(None)
}

fn nothing_to_watch(state: &State) -> bool {
    state.watched().is_none() && !has_mail(state)
}

/// News that the idle hook found first: it could only put it into the mailbox.
fn has_mail(state: &State) -> bool {
    let mail = state.memory().map(|memory| memory.mail.as_slice());
    mail.unwrap_or_default()
        .iter()
        .any(|mail| mail.weight == Weight::Wake)
}

fn deliver(context: &EventContext<'_>) -> Result<Option<String>, Trouble> {
    let mut lock = context.store.lock()?;
    let (state, found) = claim::state(context)?;
    let Some(memory) = state.memory() else {
        return Ok(None);
    };
    let mut memory = memory.clone();
    let now = context.env.later();
    let session = context.session();
    let Some(text) = memory.fetch(session.as_ref(), now, Weight::Wake) else {
        return Ok(None);
    };
    let files = claim::changes(&found, &state, &state.with_memo(memory))?;
    let entry = Entry::Verb {
        command: "claim watch".into(),
        machine: Some(Name::Claim),
        session,
        did: text.clone(),
    };
    lock.commit(now, entry, files)?;
    Ok(Some(text))
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

/// Asks GitHub without the lock, then takes the answer in with it.
fn look(context: &EventContext<'_>, pr: u64) -> Result<Option<String>, Trouble> {
    let github_context = match GitHubContext::open(context, LOOK_LIMIT) {
        Ok(github_context) => github_context,
        Err(none) => return Err(Trouble::Other(none.to_string())),
    };
    match poll::poll(&github_context, pr) {
        Ok(pull) => take_in(context, &pull),
        // The next look may fare better; the idle hook reports what stays.
        Err(_) => Ok(None),
    }
}

fn take_in(context: &EventContext<'_>, pull: &Pull) -> Result<Option<String>, Trouble> {
    let mut lock = context.store.lock()?;
    let (state, found) = claim::state(context)?;
    let now = context.env.later();
    let Ok((step, wake)) = verbs::watch(&state, pull, now) else {
        return Ok(None);
    };
    // A look at which nothing changed leaves no record.
    if step.rule.is_empty() {
        return Ok(None);
    }
    let files = claim::changes(&found, &state, &step.state)?;
    let entry = Entry::Verb {
        command: "claim watch".into(),
        machine: Some(Name::Claim),
        session: context.session(),
        did: wake.clone().unwrap_or_else(|| pull.sentence()),
    };
    lock.commit(now, entry, files)?;
    Ok(wake)
}
