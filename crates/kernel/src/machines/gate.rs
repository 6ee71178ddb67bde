//! `gate`: the agent may not stop until it says the done token itself.
//!
//! The token counts until the person's next prompt. If another machine keeps the agent going, or
//! the host wakes it for a finished sub-agent, it need not say the token again. The count of blocks
//! lasts until the agent may stop.

mod messages;
pub mod verbs;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::data::Never;
use crate::effect::HasEffects;
use crate::event::{Author, Background, Kind};
use crate::machine::{ANY, Arrow, Input, Machine, OnContext, OnStop, SAME, Settled, Step};
use crate::spoken_signal::SpokenSignal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gate;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody switched it on for this session.
    Off,
    /// The token is awaited; this many stops were held for it.
    Waiting { held: u32 },
    /// The person prompted after the agent had said the token. Where talk may pass, a turn without
    /// tool use is only talk.
    Kept,
    /// The agent said the token.
    Said { held: u32 },
    /// The maximum is reached: the agent may stop without the token.
    GaveUp { held: u32 },
    /// The agent that switched it on has switched it off, and its person does not know yet.
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    #[serde(default)]
    pub by: SwitchedOnBy,
    /// What the agent has to say: `<prefix>::<session>`.
    pub token: String,
    pub heard: SpokenSignal<Token>,
    pub errors: RecentErrors,
    /// At this stop the gate gives up; 0: never.
    pub max: u64,
    pub transcript: Transcript,
    #[serde(default)]
    pub checklist: Checklist,
    #[serde(default)]
    pub open_tasks: OpenTasks,
    #[serde(default)]
    pub talk: Talk,
}

/// What switched the gate on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchedOnBy {
    /// A command or a setting.
    #[default]
    Switch,
    /// The registration of the drop-in.
    Registration,
}

/// How the agent gets the checklist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checklist {
    /// It has the skill, so the reason only refers to it.
    #[default]
    Skill,
    /// It has none: the first hold carries the short form.
    InReason,
}

/// The tasks of the agent's list that are not completed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpenTasks {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<u64>,
    #[serde(default)]
    pub rule: OpenTaskRule,
}

/// What open tasks mean for a stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenTaskRule {
    /// A hold names them.
    #[default]
    Name,
    /// They hold the stop, even if the token was said.
    Hold,
}

/// What a turn without tool use means right after the token was said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Talk {
    /// It is held like any other.
    #[default]
    Held,
    /// It may pass, but the agent used a tool in this turn, or that is not known.
    Worked,
    /// It passes: the agent used no tool.
    OnlyTalked,
}

/// The agent says that everything is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token;

/// Did a tool fail in the last lines of the transcript?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecentErrors {
    Seen,
    NotSeen,
}

/// If a host does not say whose stop it is, a very short transcript belongs to a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transcript {
    Long,
    /// Too short, and the host does not name its sub-agents.
    Short,
}

impl HasEffects for Gate {
    type Effect = Never;
    type Outcome = Never;
}

impl Machine for Gate {
    const NAME: Name = Name::Gate;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "switch-on",  on: "verb",      from: &["off", "ended"], to: "waiting",
            when: "`gate on`", does: "await the token", remedy: "`mainspring gate off`" },
        Arrow { rule: "switch-on",  on: "verb",      from: &["waiting", "kept", "said", "gave_up"], to: SAME,
            when: "`gate on`, and it is on", does: "record that it was asked for", remedy: "`mainspring gate off`" },
        Arrow { rule: "switch-off", on: "verb",      from: ANY, to: "off",
            when: "`gate off`", does: "hold no stop for the token", remedy: "`mainspring gate on`" },
        Arrow { rule: "end",        on: "verb",      from: &["waiting", "kept", "said", "gave_up", "ended"], to: "ended",
            when: "`gate off`, by the agent that switched it on", does: "hold no stop, tell the person at the next", remedy: "`mainspring gate on --session ID`" },
        Arrow { rule: "ended",      on: "stop",      from: &["ended"], to: "off",
            when: "its own agent switched it off", does: "pass, tell the person", remedy: "`mainspring gate on --session ID`" },
        Arrow { rule: "off",        on: "stop",      from: &["off"], to: "off",
            when: "not switched on", does: "pass", remedy: "switch it on with `mainspring gate on`" },
        Arrow { rule: "holds",      on: "stop",      from: &["said"], to: SAME,
            when: "the token was said since the prompt", does: "pass", remedy: "a new prompt asks for the token again" },
        Arrow { rule: "short",      on: "stop",      from: &["waiting", "kept"], to: SAME,
            when: "a transcript as short as a sub-agent's", does: "pass", remedy: "the rule is only for hosts that do not name sub-agents" },
        Arrow { rule: "open-tasks", on: "stop",      from: &["waiting", "kept"], to: "waiting",
            when: "the agent said the token, and tasks of its list are open", does: "hold and count", remedy: "complete or delete the tasks, or `[gate] open_tasks = \"name\"`" },
        Arrow { rule: "token",      on: "stop",      from: &["waiting", "kept"], to: "said",
            when: "the agent said the token", does: "pass", remedy: "a new prompt asks for the token again" },
        Arrow { rule: "late-token", on: "stop",      from: &["gave_up"], to: "said",
            when: "the agent said the token after all", does: "pass", remedy: "a new prompt asks for the token again" },
        Arrow { rule: "talk",       on: "stop",      from: &["kept"], to: "said",
            when: "no tool was used since the token was said", does: "pass", remedy: "`[gate] talk = \"hold\"` holds such a turn, too" },
        Arrow { rule: "background", on: "stop",      from: &["waiting", "kept"], to: SAME,
            when: "a sub-agent or workflow still runs", does: "pass, count nothing", remedy: "the host wakes the agent when it ends" },
        Arrow { rule: "max",        on: "stop",      from: &["waiting", "kept"], to: "gave_up",
            when: "the count reaches the maximum", does: "pass, tell the person", remedy: "raise `[gate] max`, or 0 for none" },
        Arrow { rule: "block",      on: "stop",      from: &["waiting", "kept"], to: "waiting",
            when: "the token was not said", does: "hold and count", remedy: "say the token on a line of its own, or `mainspring gate off`" },
        Arrow { rule: "registered", on: "stop",      from: &["waiting", "kept"], to: "waiting",
            when: "the token was not said; `compat taskmaster` asks for it, which its registration switches on", does: "hold and count", remedy: "say the token on a line of its own, or take the registration out with `mainspring uninstall` (`gate off` does not end it)" },
        Arrow { rule: "gave-up",    on: "stop",      from: &["gave_up"], to: SAME,
            when: "another machine held the last stop", does: "pass", remedy: "raise `[gate] max`, or 0 for none" },
        Arrow { rule: "kept",       on: "prompt",    from: &["said"], to: "kept",
            when: "a person prompts after the token, and talk may pass", does: "await the token, unless the agent only talks", remedy: "switch it off with `mainspring gate off`" },
        Arrow { rule: "asked",      on: "prompt",    from: &["kept", "said", "gave_up"], to: "waiting",
            when: "a person prompts", does: "await the token again", remedy: "switch it off with `mainspring gate off`" },
        Arrow { rule: "typed",      on: "expansion", from: &["kept", "said", "gave_up"], to: "waiting",
            when: "a person types a command", does: "await the token again", remedy: "switch it off with `mainspring gate off`" },
        Arrow { rule: "rest",       on: "released",  from: &["said"], to: SAME,
            when: "every machine lets the agent stop", does: "clear the count", remedy: "a new prompt asks for the token again" },
        Arrow { rule: "rewind",     on: "released",  from: &["gave_up"], to: "waiting",
            when: "every machine lets the agent stop", does: "clear the count", remedy: "raise `[gate] max`, or 0 for none" },
    ];

    type State = State;
    type Facts = Facts;

    fn label(state: &State) -> &'static str {
        match state {
            State::Off => "off",
            State::Waiting { .. } => "waiting",
            State::Kept => "kept",
            State::Said { .. } => "said",
            State::GaveUp { .. } => "gave_up",
            State::Ended => "ended",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        if input.event.session.is_none() {
            return Step::ignore(state, OnStop::Pass);
        }
        match *state {
            State::Off => Step::take("off", State::Off, OnStop::Pass),
            State::Ended => Step::take("ended", State::Off, OnStop::Pass).note(ENDED),
            State::Said { .. } => Step::take("holds", *state, OnStop::Pass),
            State::GaveUp { held } if is_said(input.facts) => {
                Step::take("late-token", State::Said { held }, OnStop::Pass)
            }
            State::GaveUp { .. } => Step::take("gave-up", *state, OnStop::Pass),
            State::Waiting { held } => await_at_stop(*state, held, input),
            State::Kept => await_at_stop(*state, 0, input),
        }
    }

    fn on_prompt(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        match &input.event.kind {
            Kind::Prompt {
                author: Author::Person,
            } => match state {
                State::Said { held: 0 } if input.facts.talk != Talk::Held => {
                    Step::take("kept", State::Kept, OnContext::Pass)
                }
                _ => await_token("asked", *state),
            },
            _ => Step::ignore(state, OnContext::Pass),
        }
    }

    fn on_expansion(state: &State, _: &Input<'_, Self>) -> Step<Self, OnContext> {
        await_token("typed", *state)
    }

    fn settle(state: State, settled: Settled) -> State {
        match (state, settled) {
            (State::Said { .. }, Settled::Released) => State::Said { held: 0 },
            (State::GaveUp { .. }, Settled::Released) => State::Waiting { held: 0 },
            (
                State::Off | State::Ended | State::Waiting { .. } | State::Kept,
                Settled::Released,
            )
            | (_, Settled::Continued) => state,
        }
    }
}

/// The person asks for something new, so a token from before no longer counts.
fn await_token(rule: &'static str, state: State) -> Step<Gate, OnContext> {
    match state {
        State::Said { held } | State::GaveUp { held } => {
            Step::take(rule, State::Waiting { held }, OnContext::Pass)
        }
        State::Kept => Step::take(rule, State::Waiting { held: 0 }, OnContext::Pass),
        State::Off | State::Ended | State::Waiting { .. } => Step::ignore(&state, OnContext::Pass),
    }
}

const ENDED: &str = "the agent switched off the gate that it had switched on itself. `mainspring \
                     gate on --project` holds it again";

fn is_said(facts: &Facts) -> bool {
    matches!(facts.heard, SpokenSignal::Said(Token))
}

/// A stop while the token is awaited. The checks are in the order of the table.
fn await_at_stop(state: State, held: u32, input: &Input<'_, Gate>) -> Step<Gate, OnStop> {
    let facts = input.facts;
    if facts.transcript == Transcript::Short {
        return Step::take("short", state, OnStop::Pass);
    }
    let next = held.saturating_add(1);
    if is_said(facts) {
        let open = &facts.open_tasks;
        return if open.rule == OpenTaskRule::Hold && !open.ids.is_empty() {
            refuse("open-tasks", next, facts)
        } else {
            Step::take("token", State::Said { held }, OnStop::Pass)
        };
    }
    if state == State::Kept && facts.talk == Talk::OnlyTalked {
        return Step::take("talk", State::Said { held: 0 }, OnStop::Pass);
    }
    if works_on(&input.event.kind) {
        return Step::take("background", state, OnStop::Pass);
    }
    let rule = match facts.by {
        SwitchedOnBy::Switch => "block",
        SwitchedOnBy::Registration => "registered",
    };
    refuse(rule, next, facts)
}

/// Holds the stop as number `count`, unless that reaches the maximum.
fn refuse(rule: &'static str, count: u32, facts: &Facts) -> Step<Gate, OnStop> {
    if facts.max > 0 && u64::from(count) >= facts.max {
        return Step::take("max", State::GaveUp { held: count }, OnStop::Pass)
            .note(gave_up(count, facts));
    }
    Step::take(
        rule,
        State::Waiting { held: count },
        OnStop::Hold(messages::reason(count, facts)),
    )
}

fn gave_up(count: u32, facts: &Facts) -> String {
    let although = if is_said(facts) {
        "tasks of the agent's list are open".into()
    } else {
        format!("the agent never said {}", facts.token)
    };
    format!(
        "let go at stop {count} of {} although {although}",
        facts.max
    )
}

fn works_on(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Stop {
            background: Background::Working,
            ..
        }
    )
}

#[cfg(test)]
mod tests;
