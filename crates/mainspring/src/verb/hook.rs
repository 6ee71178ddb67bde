//! `mainspring hook`: one event in, one decision out.
//!
//! Whatever goes wrong, the host gets an answer that asks nothing of it, and the person
//! gets the cause. Exit 1 is left for the one case in which not even that can be said.

use mainspring_kernel::{Answer, Decision, Kind};
use rustix::buffer::spare_capacity;

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
    let mut bytes = Vec::with_capacity(ORDINARY_EVENT);
    let mut discarded = 0_u64;
    loop {
        bytes.reserve(1);
        // Not through the standard library's buffer: it is memory to touch, and a copy.
        match rustix::io::read(rustix::stdio::stdin(), spare_capacity(&mut bytes)) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Input::Unreadable(error.to_string()),
            Ok(0) if discarded > 0 => return Input::TooLarge,
            Ok(0) => return Input::Bytes(bytes),
            Ok(_) if bytes.len() as u64 <= limits::STDIN => {}
            Ok(_) => {
                discarded += bytes.len() as u64;
                bytes.clear();
                if discarded > 16 * limits::STDIN {
                    return Input::TooLarge;
                }
            }
        }
    }
}

/// Room for what a host mostly sends.
const ORDINARY_EVENT: usize = 4096;

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
    match claude::decode(bytes) {
        Err(error) => fault(format!("{error}: nothing was checked")),
        Ok(payload) => {
            let Spoken { answer, wording } = decide(world, &payload)
                .unwrap_or_else(|trouble| Spoken::plainly(let_go(world, &payload, &trouble)));
            claude::encode(&answer, &payload.wire_name, wording)
        }
    }
}

/// An answer, and the words that this host is to be given it in.
struct Spoken {
    answer: Answer,
    wording: Wording,
}

impl Spoken {
    /// For an answer that holds nobody: the wording makes no difference.
    fn plainly(answer: Answer) -> Self {
        Self {
            answer,
            wording: Wording::Block,
        }
    }
}

/// How a hold is worded to this host, by the person's choice or by what the host is.
pub(super) fn wording(scene: &Scene<'_>) -> Wording {
    let config = scene.config().ok();
    let chosen = config.and_then(|config| config.get("host.continue_as")?.text());
    match chosen {
        Some("block") => Wording::Block,
        Some("context") => Wording::Context,
        // Claude Code names this very session to its hooks. Another host may know nothing but
        // blocks, even one that an agent of Claude Code's started.
        _ => match scene.world.agent_session() {
            Some(named) if Some(&named) == scene.session().as_ref() => Wording::Context,
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

fn decide(world: &World, payload: &Payload) -> Result<Spoken, Trouble> {
    let all: Vec<&'static Row> = ROWS.iter().collect();
    decide_by(&all, world, payload)
}

/// The answer of these machines alone, for a stand-in.
pub(super) fn decide_among(
    machines: &[&'static Row],
    world: &World,
    payload: &Payload,
) -> Result<Answer, Trouble> {
    decide_by(machines, world, payload).map(|spoken| spoken.answer.without_courtesies())
}

fn decide_by(
    machines: &[&'static Row],
    world: &World,
    payload: &Payload,
) -> Result<Spoken, Trouble> {
    let nothing = || Ok(Spoken::plainly(Answer::nothing(&payload.event.kind)));
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
        if !scene.is_vacant() && store.unfinished() {
            drop(store.lock()?);
        }
        return nothing();
    }
    if let (Bound::NotYet, Some(session)) = (site.bound, session) {
        project::bind(store.state(), session, &site.root)?;
    }
    let answer = drive(&scene, payload, &rows);
    let holds = matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty());
    Ok(if holds {
        let wording = wording(&scene);
        Spoken { answer, wording }
    } else {
        Spoken::plainly(answer)
    })
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
