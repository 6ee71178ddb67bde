//! `mainspring claim watch`: waits in the background for news of the pull request, and
//! wakes the agent with it.
//!
//! Hosts start one at every stop. One per claim stays: it holds a lock on a file that the
//! system lets go of with the process, however that ends. It leaves when there is nothing
//! to watch, when nobody attends (a headless run would wait for it), when the host is gone,
//! and with the news.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use mainspring_kernel::Millis;
use mainspring_kernel::deliberate::Trust;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::memo::Weight;
use mainspring_kernel::machines::claim::news::Seen;
use mainspring_kernel::machines::claim::pull::Pull;

use crate::config::Value;
use crate::env::World;
use crate::error::Trouble;
use crate::exit::Exit;
use crate::host::{Payload, claude};
use crate::machine::claim::{self, poll, shop::Shop};
use crate::output;
use crate::project;
use crate::scene::Scene;
use crate::store::{ProjectStore, StateDir, trust};
use crate::verb::hook::{Input, read_stdin};

/// The host runs this hook in the background only where a person attends.
const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// The client's process.
const CLIENT: &str = "CLAUDE_PID";

/// A look at the pull request may take this long.
const LOOK_LIMIT: Millis = Millis::seconds(30);

/// How often the host and the claim are looked at while nothing is asked of GitHub.
const STEP: Duration = Duration::from_millis(500);

/// So many looks may fail one after the other before it is said.
const PATIENCE: u32 = 3;

/// Nobody waits longer than this for one stop's pull request.
const LONGEST: Millis = Millis::seconds(12 * 60 * 60);

/// Exit 2 with the news on stderr is what wakes the agent.
pub(crate) fn run(world: &World) -> Exit {
    let input = read_stdin();
    if world.silenced() || world.var(ATTENDED).as_deref() == Some("0") {
        return Exit::Success;
    }
    let Input::Bytes(bytes) = input else {
        return Exit::Success;
    };
    let Ok(payload) = claude::decode(bytes) else {
        return Exit::Success;
    };
    match watch(world, &payload) {
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

fn watch(world: &World, payload: &Payload) -> Result<Option<String>, Trouble> {
    let Some(state) = StateDir::of(world) else {
        return Ok(None);
    };
    let session = payload.event.session.as_ref();
    let site = project::find(world, &state, session, payload.cwd.as_deref())?;
    let store = ProjectStore::new(state, &site.root);
    let scene = Scene::new(world, &site, &store, Some(payload));
    if nothing_to_watch(&claim::state(&scene)?.0)
        || trust::of(store.state(), &site.root) == Trust::Untrusted
    {
        return Ok(None);
    }
    let Some(_lease) = lease(&scene)? else {
        return Ok(None);
    };
    let every = scene.config()?.get("claim.watch").and_then(Value::span);
    let every = every.unwrap_or(Millis::seconds(120));
    let until = world.now().plus(LONGEST);
    let mut due = world.later();
    let mut unread = 0;
    while world.later() < until && client_lives(world) {
        let state = match claim::state(&scene) {
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
            return deliver(&scene);
        }
        let Some((_, memo, pr)) = state.watched() else {
            return Ok(None);
        };
        let now = world.later();
        if now >= due && memo.not_before.is_none_or(|at| now >= at) {
            due = now.plus(every);
            if let Some(news) = look(&scene, pr)? {
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
    let mail = state.memo().map(|memo| memo.mail.as_slice());
    mail.unwrap_or_default()
        .iter()
        .any(|mail| mail.weight == Weight::Wake)
}

fn deliver(scene: &Scene<'_>) -> Result<Option<String>, Trouble> {
    let mut lock = scene.store.lock()?;
    let (state, found) = claim::state(scene)?;
    let Some(memo) = state.memo() else {
        return Ok(None);
    };
    let mut memo = memo.clone();
    let now = scene.world.later();
    let session = scene.session();
    let Some(text) = memo.fetch(session.as_ref(), now, Weight::Wake) else {
        return Ok(None);
    };
    let files = claim::changes(&found, &state, &state.with_memo(memo))?;
    let entry = Entry::Verb {
        command: "claim watch".into(),
        session,
        did: text.clone(),
    };
    lock.commit(now, entry, files)?;
    Ok(Some(text))
}

/// One watcher per claim.
fn lease(scene: &Scene<'_>) -> Result<Option<std::fs::File>, Trouble> {
    scene.store.state().create(scene.store.dir())?;
    let path = scene.store.dir().join(claim::watch_lock(scene));
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(Trouble::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(Trouble::io("lock", &path)(error)),
    }
}

/// Without knowing the client, the host's own limit ends us.
fn client_lives(world: &World) -> bool {
    let pid = world.var(CLIENT).and_then(|text| text.parse::<u32>().ok());
    pid.is_none_or(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists())
}

/// Asks GitHub without the lock, then takes the answer in with it.
fn look(scene: &Scene<'_>, pr: u64) -> Result<Option<String>, Trouble> {
    let shop = match Shop::open(scene, LOOK_LIMIT) {
        Ok(shop) => shop,
        Err(none) => return Err(Trouble::Other(none.to_string())),
    };
    match poll::poll(&shop, pr) {
        Ok(pull) => take_in(scene, pr, &pull),
        // The next look may fare better; the idle hook reports what stays.
        Err(_) => Ok(None),
    }
}

fn take_in(scene: &Scene<'_>, pr: u64, pull: &Pull) -> Result<Option<String>, Trouble> {
    let mut lock = scene.store.lock()?;
    let (state, found) = claim::state(scene)?;
    let Some((signal, memo, number)) = state.watched() else {
        return Ok(None);
    };
    if number != pr {
        return Ok(None);
    }
    let now = scene.world.later();
    let memo = memo.about(signal.issue_number);
    let (after, remembered, wake) = Seen::of(signal, &memo, pull, now).deliver();
    // A look at which nothing changed leaves no record: only its time would differ.
    if remembered == memo && after.phase == signal.phase {
        return Ok(None);
    }
    let next = State::Claimed {
        signal: after,
        memo: remembered,
    };
    let files = claim::changes(&found, &state, &next)?;
    let entry = Entry::Verb {
        command: "claim watch".into(),
        session: scene.session(),
        did: wake.clone().unwrap_or_else(|| pull.sentence()),
    };
    lock.commit(now, entry, files)?;
    Ok(wake)
}
