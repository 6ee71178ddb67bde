//! `mainspring hook`: one event in, one decision out.
//!
//! Whatever goes wrong, the host gets an answer that asks nothing of it, and the person
//! gets the cause. Exit 1 is left for the one case in which not even that can be said.

use std::io::Read;

use mainspring_kernel::{Answer, Decision, Kind};

use crate::config::Config;
use crate::drive::drive;
use crate::env::World;
use crate::error::Trouble;
use crate::exit::Exit;
use crate::host::claude::Wording;
use crate::host::{Payload, claude};
use crate::limits;
use crate::machine::{self, ROWS, Row};
use crate::output;
use crate::project::{self, Bound};
use crate::scene::Scene;
use crate::store::{ProjectStore, StateDir};

pub(crate) fn run(world: &World) -> Exit {
    crate::panic::answer_on_panic();
    // Read whole even where it does not matter: a host that writes into a closed pipe may
    // take that for an error of ours.
    let input = read_stdin();
    if world.silenced() {
        return Exit::Success;
    }
    let printed = match answer(world, input) {
        None => return Exit::Success,
        Some(text) => output::stdout(&text),
    };
    match printed {
        Ok(()) => Exit::Success,
        Err(error) => {
            output::stderr(&format!("mainspring: cannot answer the host: {error}"));
            Exit::Failure
        }
    }
}

#[derive(Debug)]
pub(crate) enum Input {
    Bytes(Vec<u8>),
    TooLarge,
    Unreadable(String),
}

pub(super) fn read_stdin() -> Input {
    let mut bytes = Vec::with_capacity(4096);
    let mut stdin = std::io::stdin().lock();
    match (&mut stdin).take(limits::STDIN + 1).read_to_end(&mut bytes) {
        Err(error) => Input::Unreadable(error.to_string()),
        Ok(_) if bytes.len() as u64 <= limits::STDIN => Input::Bytes(bytes),
        Ok(_) => {
            let _ = std::io::copy(&mut stdin.take(16 * limits::STDIN), &mut std::io::sink());
            Input::TooLarge
        }
    }
}

/// The line for the host; `None` where there is nothing to say.
pub(crate) fn answer(world: &World, input: Input) -> Option<String> {
    let unknown = Kind::Other {
        name: String::new(),
    };
    let fault = |cause: String| claude::encode(&Answer::fault(&unknown, cause), "", Wording::Block);
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => {
            return fault(format!(
                "the hook's input is larger than {} bytes: nothing was checked",
                limits::STDIN
            ));
        }
        Input::Unreadable(error) => return fault(format!("cannot read the hook's input: {error}")),
    };
    #[cfg(debug_assertions)]
    panic_on_demand(world);
    match claude::decode(&bytes) {
        Err(error) => fault(format!("{error}: nothing was checked")),
        Ok(payload) => {
            let answer =
                decide(world, &payload).unwrap_or_else(|trouble| let_go(world, &payload, &trouble));
            encode(world, &payload, &answer)
        }
    }
}

/// The answer in the words that this host is to be given.
pub(super) fn encode(world: &World, payload: &Payload, answer: &Answer) -> Option<String> {
    let wording = match &answer.decision {
        Decision::Stop { hold } if !hold.is_empty() => wording(world, payload),
        _ => Wording::Block,
    };
    claude::encode(answer, &payload.wire_name, wording)
}

fn wording(world: &World, payload: &Payload) -> Wording {
    let chosen = || -> Option<String> {
        let state = StateDir::of(world)?;
        let session = payload.event.session.as_ref();
        let site = project::find(world, &state, session, payload.cwd.as_deref()).ok()?;
        let config = Config::load(world, &site.root).ok()?;
        Some(config.get("host.continue_as")?.text()?.to_owned())
    };
    match chosen().as_deref() {
        Some("block") => Wording::Block,
        Some("context") => Wording::Context,
        // Claude Code names this very session to its hooks. Another host may know nothing but
        // blocks, even one that an agent of Claude Code's started.
        _ => match world.agent_session() {
            Some(named) if Some(&named) == payload.event.session.as_ref() => Wording::Context,
            Some(_) | None => Wording::Block,
        },
    }
}

/// So that a test can see what a panic does.
#[cfg(debug_assertions)]
fn panic_on_demand(world: &World) {
    assert!(
        world.var_os("MAINSPRING_TEST_PANIC").is_none(),
        "asked for by MAINSPRING_TEST_PANIC"
    );
}

fn decide(world: &World, payload: &Payload) -> Result<Answer, Trouble> {
    let all: Vec<&'static Row> = ROWS.iter().collect();
    decide_by(&all, world, payload)
}

/// The answer of these machines alone, for a stand-in.
pub(super) fn decide_among(
    machines: &[&'static Row],
    world: &World,
    payload: &Payload,
) -> Result<Answer, Trouble> {
    decide_by(machines, world, payload).map(Answer::without_courtesies)
}

fn decide_by(
    machines: &[&'static Row],
    world: &World,
    payload: &Payload,
) -> Result<Answer, Trouble> {
    let nothing = || Ok(Answer::nothing(&payload.event.kind));
    if let Kind::Other { .. } = payload.event.kind {
        return nothing();
    }
    let Some(state) = StateDir::of(world) else {
        return Err(Trouble::Other(
            "there is no place for mainspring's state: set HOME or XDG_STATE_HOME".into(),
        ));
    };
    let session = payload.event.session.as_ref();
    let site = project::find(world, &state, session, payload.cwd.as_deref())?;
    let store = ProjectStore::new(state, &site.root);
    let scene = Scene::new(world, &site, &store, Some(payload));
    let scene = match machines {
        // One machine alone is a drop-in's.
        [only] => scene.registered(only.name),
        _ => scene,
    };
    let mut rows: Vec<&'static Row> = Vec::new();
    for row in machines {
        if (row.applies)(&scene)? {
            rows.push(row);
        }
    }
    if rows.is_empty() {
        // Nobody else may come for a while to finish what a crashed process left.
        if store.unfinished() {
            drop(store.lock()?);
        }
        return nothing();
    }
    if let (Bound::NotYet, Some(session)) = (site.bound, session) {
        project::bind(store.state(), session, &site.root)?;
    }
    Ok(drive(&scene, payload, &rows))
}

/// Our own failure. At a stop the person hears of it, and where a skill has a task list
/// the agent does too; elsewhere it would only be noise about events that we have nothing
/// to say to.
fn let_go(world: &World, payload: &Payload, trouble: &Trouble) -> Answer {
    match payload.event.kind {
        _ if machine::tasks::concerns(world, payload) => {
            machine::tasks::fail_closed(payload, trouble)
        }
        Kind::Stop { .. } => Answer::fault(
            &payload.event.kind,
            format!("{trouble}. Nothing was checked, and the agent was let go"),
        ),
        _ => Answer::nothing(&payload.event.kind),
    }
}
