//! The shell of `gate`: who switched it on, how often it held, and what the agent said.

mod checklist;
pub(crate) mod commands;
pub(crate) mod counter;
pub(crate) mod settings;
pub(crate) mod switch;

use mainspring_kernel::SessionId;
use mainspring_kernel::data::Never;
use mainspring_kernel::effect::Intent;
use mainspring_kernel::event::Kind;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::gate::verbs::{Switch, in_force};
use mainspring_kernel::machines::gate::{
    Checklist, Facts, Gate, OpenTaskRule, OpenTasks, RecentErrors, State, SwitchedOnBy, Talk,
    Token, Transcript,
};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_store::{Trouble, atomic};

use self::switch::{GateSwitch, Progress, Switches};
use super::{FoundFile, HandedOn, Loaded, MachineShell, final_message, tasks};
use crate::children::permit::Permit;
use crate::config::Config;
use crate::context::EventContext;
use crate::signal::Signal;
use crate::transcript::{self, ToolUse};

#[derive(Debug)]
pub(crate) struct Shell;

#[derive(Debug)]
pub(crate) struct Found {
    by: SwitchedOnBy,
    switch: GateSwitch,
    switch_file: FoundFile,
    counter: FoundFile,
}

impl MachineShell for Shell {
    type Machine = Gate;
    type Found = Found;

    const ABOUT: &'static str = "holds every stop until the agent says its done token";

    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        let Some(payload) = context.payload() else {
            return Ok(false);
        };
        let listens = matches!(
            payload.event.kind,
            Kind::Stop { .. } | Kind::Prompt { .. } | Kind::Expansion { .. }
        );
        let Some(session) = payload.event.session.as_ref().filter(|_| listens) else {
            return Ok(false);
        };
        Ok(context.is_registered(Name::Gate)
            || (!context.is_vacant() && switch::any(context, session))
            || context.config()?.gate.enabled)
    }

    fn load(context: &EventContext<'_>, _: Option<&str>) -> Result<Option<Loaded<Self>>, Trouble> {
        let Some(session) = context.session() else {
            return Ok(None);
        };
        let switches = Switches::read(context, &session)?;
        let by = if context.is_registered(Name::Gate) {
            SwitchedOnBy::Registration
        } else {
            SwitchedOnBy::Switch
        };
        let stage = match (by, switches.session.stage) {
            // The drop-in gets no prompt event, so nothing would end the `Said` state.
            (SwitchedOnBy::Registration, _) => Progress::Waiting,
            (SwitchedOnBy::Switch, stage) => match (is_on(context, &switches)?, stage) {
                // Somebody else switched it on since.
                (true, Progress::Ended) => Progress::Waiting,
                (true, stage) | (false, stage @ Progress::Ended) => stage,
                (false, _) => return Ok(None),
            },
        };
        let (held, counter) = counter::read(context, &session)?;
        let state = stage.state(held);
        let facts = facts(context, &session, (state, by))?;
        Ok(Some(Loaded {
            input: InputOf::new(state, facts),
            found: Found {
                by,
                switch: switches.session,
                switch_file: switches.session_file,
                counter,
            },
        }))
    }

    fn files(
        _: &EventContext<'_>,
        _: &InputOf<Gate>,
        found: &Found,
        transition: &TransitionOf<Gate>,
    ) -> Result<Vec<FileChange>, Trouble> {
        let held = match transition.state {
            State::Off | State::Ended | State::Kept => 0,
            State::Waiting { held } | State::Said { held } | State::GaveUp { held } => held,
        };
        let counter = &found.counter;
        // If a count was read, its folder exists and has been checked.
        if held > 0 && counter.bytes.is_none() {
            counter::prepare(&counter.path)?;
        }
        let count = (held > 0).then(|| counter::text(&counter.path, held));
        let mut changes = vec![atomic::change(
            &counter.path,
            counter.bytes.as_deref(),
            count.transpose()?,
        )];
        if found.by == SwitchedOnBy::Switch {
            let switch = GateSwitch {
                stage: Progress::of(transition.state),
                ..found.switch.clone()
            };
            changes.push(switch::change(&found.switch_file, &switch)?);
        }
        Ok(changes)
    }

    /// The document of the drop-in removes the count whenever the stop is allowed.
    fn files_at_cap(_: &EventContext<'_>, found: &Found) -> Vec<FileChange> {
        let counter = &found.counter;
        if found.by == SwitchedOnBy::Switch || counter.bytes.is_none() {
            return Vec::new();
        }
        vec![atomic::change(
            &counter.path,
            counter.bytes.as_deref(),
            None,
        )]
    }

    fn run(_: &EventContext<'_>, _: Permit, intent: &Intent<Gate>, _: &mut HandedOn) -> Never {
        match intent.effect {}
    }

    fn works_for(input: &InputOf<Gate>, _: &SessionId) -> bool {
        !matches!(input.state, State::Off | State::Ended)
    }

    fn summary(input: &InputOf<Gate>) -> String {
        match input.state {
            State::Off => "off".into(),
            State::Ended => "off, by the agent that had switched it on".into(),
            State::Waiting { held } => {
                format!("waits for {}; stops held for it: {held}", input.facts.token)
            }
            State::Kept => format!(
                "waits for {}, unless the agent only talks",
                input.facts.token
            ),
            State::Said { .. } => format!(
                "{} was said; it counts until the next prompt",
                input.facts.token
            ),
            State::GaveUp { held } => format!("gave up after {held} stops"),
        }
    }
}

/// If the host does not name sub-agents, a transcript with fewer lines counts as a sub-agent's.
const SHORT: usize = 20;

/// Is the gate on for this session? The session's own switch overrides the project's.
pub(crate) fn is_on(context: &EventContext<'_>, switches: &Switches) -> Result<bool, Trouble> {
    let configured = if context.config()?.gate.enabled {
        Switch::On
    } else {
        Switch::Off
    };
    let in_force = in_force(switches.session.switch, switches.project.switch, configured);
    Ok(in_force == Switch::On)
}

fn facts(
    context: &EventContext<'_>,
    session: &SessionId,
    (state, by): (State, SwitchedOnBy),
) -> Result<Facts, Trouble> {
    let config = context.config()?;
    let token = token(config, session);
    let listening = context.at_stop() && !matches!(state, State::Said { .. });
    let heard = if listening {
        final_message::heard(context, std::slice::from_ref(&token), |_| Token)
    } else {
        SpokenSignal::Nothing
    };
    let said = matches!(heard, SpokenSignal::Said(_));
    // The transcript is read only if its errors will be mentioned.
    let owes = listening && !said;
    let errors = match context.tail().filter(|_| owes) {
        Some(tail) if tail.recent_error => RecentErrors::Seen,
        Some(_) | None => RecentErrors::NotSeen,
    };
    let first = matches!(state, State::Waiting { held: 0 } | State::Kept);
    let facts = Facts {
        by,
        token: token.line().to_owned(),
        heard,
        errors,
        max: config.gate.max,
        transcript: Transcript::Long,
        checklist: Checklist::Skill,
        open_tasks: OpenTasks::default(),
        talk: Talk::Held,
    };
    if by == SwitchedOnBy::Registration {
        let transcript = length(context);
        return Ok(Facts {
            transcript,
            ..facts
        });
    }
    Ok(Facts {
        checklist: if owes && first {
            checklist::find(context)
        } else {
            Checklist::Skill
        },
        open_tasks: if listening {
            open_tasks(context, config, said)
        } else {
            OpenTasks::default()
        },
        talk: talk(context, config, state),
        ..facts
    })
}

/// The open tasks of the agent's list, as far as they matter. A list that cannot be read holds
/// nobody: `tasks` reports it.
fn open_tasks(context: &EventContext<'_>, config: &Config, said: bool) -> OpenTasks {
    let Some(rule) = config.gate.open_tasks else {
        return OpenTasks::default();
    };
    if said && rule == OpenTaskRule::Name {
        return OpenTasks::default();
    }
    let list = tasks::list(context);
    let ids = list.map(|list| list.open().into_iter().collect());
    OpenTasks {
        ids: ids.unwrap_or_default(),
        rule,
    }
}

/// May a turn without tool use pass, and is this one? The end of the transcript may not be written
/// yet; it is, if the agent's last words are there.
fn talk(context: &EventContext<'_>, config: &Config, state: State) -> Talk {
    if config.gate.talk == settings::TalkRule::Hold {
        return Talk::Held;
    }
    let asked = context.at_stop() && state == State::Kept;
    match context.tail().filter(|_| asked) {
        Some(tail) if tail.turn == ToolUse::No && !tail.final_texts.is_empty() => Talk::OnlyTalked,
        Some(_) | None => Talk::Worked,
    }
}

/// The token that the agent has to say.
pub(crate) fn token(config: &Config, session: &SessionId) -> Signal {
    let prefix = &*config.gate.prefix;
    let is_usable = !prefix.trim().is_empty() && !prefix.contains(char::is_control);
    Signal::token(
        if is_usable { prefix } else { settings::PREFIX },
        session.as_str(),
    )
}

/// Only the drop-in uses the length, because Claude Code names its sub-agents.
fn length(context: &EventContext<'_>) -> Transcript {
    let has_lines = |transcript: transcript::Transcript| transcript.has_lines(SHORT);
    match context.transcript().map(has_lines) {
        Some(Ok(false)) => Transcript::Short,
        // Only a transcript that can be read is a short one.
        Some(Ok(true) | Err(_)) | None => Transcript::Long,
    }
}
