//! `gate`, in the shell: who switched it on, how often it blocked, what the agent said.

mod counter;
pub(crate) mod switch;

use mainspring_kernel::SessionId;
use mainspring_kernel::event::Kind;
use mainspring_kernel::heard::Heard;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::gate::{Facts, RecentErrors, State, Token, Transcript};
use mainspring_kernel::machines::{Move, Name, Part, Slot};

use self::switch::{Stage, Switch, Switches};
use super::{FoundFile, Loaded, Row, words};
use crate::config::{Config, Key, Kind as Sort, Reach, Value};
use crate::error::Trouble;
use crate::scene::Scene;
use crate::signal::Signal;
use crate::store::atomic;

pub(crate) const ROW: Row = Row {
    name: Name::Gate,
    about: "no stop until the agent says the done token itself",
    markers: &[],
    keys: &[
        Key {
            name: "gate.enabled",
            kind: Sort::Switch,
            default: "false",
            reach: Reach::Anyone,
            variable: None,
            about: "hold every session here until it says its done token",
        },
        Key {
            name: "gate.max",
            kind: Sort::Number { most: 1_000_000 },
            default: "0",
            reach: Reach::Anyone,
            variable: Some("TASKMASTER_MAX"),
            about: "the stop at which the gate gives up; 0 for never",
        },
        Key {
            name: "gate.prefix",
            kind: Sort::Text,
            default: PREFIX,
            reach: Reach::Anyone,
            variable: Some("TASKMASTER_DONE_PREFIX"),
            about: "what the done token begins with, before `::` and the session",
        },
    ],
    applies,
    load,
    files,
    run: None,
    summary,
};

const PREFIX: &str = "TASKMASTER_DONE";
/// A transcript with fewer lines is taken for a sub-agent's, where the host names none.
const SHORT: usize = 20;

fn applies(scene: &Scene<'_>) -> Result<bool, Trouble> {
    let Some(payload) = scene.payload else {
        return Ok(false);
    };
    let listens = matches!(
        payload.event.kind,
        Kind::Stop { .. } | Kind::Prompt { .. } | Kind::Expansion { .. }
    );
    let Some(session) = payload.event.session.as_ref().filter(|_| listens) else {
        return Ok(false);
    };
    Ok(scene.is_registered(Name::Gate)
        || (!scene.is_vacant() && switch::any(scene, session))
        || enabled(scene.config()?))
}

fn enabled(config: &Config) -> bool {
    config.get("gate.enabled").is_some_and(Value::switch)
}

/// Is it on for this session? The session's own word comes first, then the project's.
pub(crate) fn is_on(scene: &Scene<'_>, switches: &Switches) -> Result<bool, Trouble> {
    if scene.is_registered(Name::Gate) {
        return Ok(true);
    }
    Ok(match (switches.session.switch, switches.project.switch) {
        (Some(switch), _) | (None, Some(switch)) => switch == Switch::On,
        (None, None) => enabled(scene.config()?),
    })
}

fn load(scene: &Scene<'_>) -> Result<Option<Loaded>, Trouble> {
    let Some(session) = scene.session() else {
        return Ok(None);
    };
    let switches = Switches::read(scene, &session)?;
    if !is_on(scene, &switches)? {
        return Ok(None);
    }
    let (held, file) = counter::read(scene, &session)?;
    let state = match switches.session.stage {
        // A drop-in hears no prompt that could end what was said.
        _ if scene.is_registered(Name::Gate) => State::Waiting { held },
        Stage::Waiting => State::Waiting { held },
        Stage::Said => State::Said { held },
        Stage::Worn => State::Worn { held },
    };
    let facts = facts(scene, &session, state)?;
    Ok(Some(Loaded {
        part: Part::Gate(Slot::new(state, facts)),
        found: vec![switches.session_file, file],
    }))
}

fn facts(scene: &Scene<'_>, session: &SessionId, state: State) -> Result<Facts, Trouble> {
    let config = scene.config()?;
    let token = token(config, session);
    let listening = scene.at_stop() && !matches!(state, State::Said { .. });
    let heard = if listening {
        words::heard(scene, std::slice::from_ref(&token), |_| Token)
    } else {
        Heard::Nothing
    };
    // The transcript is read only where its errors will be spoken of.
    let owes = listening && !matches!(heard, Heard::Said(_));
    let errors = match scene.tail().filter(|_| owes) {
        Some(tail) if tail.recent_error => RecentErrors::Seen,
        Some(_) | None => RecentErrors::NotSeen,
    };
    let max = config.get("gate.max").and_then(Value::number);
    Ok(Facts {
        token: token.line().to_owned(),
        heard,
        errors,
        max: max.and_then(|max| u32::try_from(max).ok()).unwrap_or(0),
        transcript: length(scene),
    })
}

/// What the agent has to say.
pub(crate) fn token(config: &Config, session: &SessionId) -> Signal {
    let prefix = config
        .get("gate.prefix")
        .and_then(Value::text)
        .filter(|prefix| !prefix.trim().is_empty() && !prefix.contains(char::is_control))
        .unwrap_or(PREFIX);
    Signal::token(prefix, session.as_str())
}

/// Only a drop-in goes by the length: Claude Code names its sub-agents.
fn length(scene: &Scene<'_>) -> Transcript {
    if !scene.is_registered(Name::Gate) {
        return Transcript::Long;
    }
    match scene
        .transcript()
        .map(|transcript| transcript.has_lines(SHORT))
    {
        Some(Ok(true)) => Transcript::Long,
        Some(Ok(false) | Err(_)) | None => Transcript::Short,
    }
}

fn files(
    scene: &Scene<'_>,
    _: &Part,
    found: &[FoundFile],
    moved: &Move,
) -> Result<Vec<FileChange>, Trouble> {
    let (Move::Gate(moved), [session, counter]) = (moved, found) else {
        return Ok(Vec::new());
    };
    let (held, stage) = match moved.state {
        State::Off => return Ok(Vec::new()),
        State::Waiting { held } => (held, Stage::Waiting),
        State::Said { held } => (held, Stage::Said),
        State::Worn { held } => (held, Stage::Worn),
    };
    // Where a count was read, its directory has been looked at.
    if held > 0 && counter.bytes.is_none() {
        counter::prepare(&counter.path)?;
    }
    let count = (held > 0).then(|| format!("{held}\n"));
    let mut changes = vec![atomic::change(
        &counter.path,
        counter.bytes.as_deref(),
        count,
    )];
    if !scene.is_registered(Name::Gate) {
        changes.push(switch::staged(session, stage)?);
    }
    Ok(changes)
}

fn summary(part: &Part) -> String {
    let Part::Gate(slot) = part else {
        return String::new();
    };
    match slot.state {
        State::Off => "off".into(),
        State::Waiting { held } => {
            format!("waits for {}; stops held for it: {held}", slot.facts.token)
        }
        State::Said { .. } => format!(
            "{} was said; it holds until the next prompt",
            slot.facts.token
        ),
        State::Worn { held } => format!("gave up after {held} stops"),
    }
}
