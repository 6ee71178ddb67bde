//! `loop`: keep iterating until the agent gives a completion signal, with a stack of loops.
//!
//! Only the owner's stops are held, and only the top frame runs. A frame whose signal was given
//! ends when every machine lets the agent go. In every other case the stop passes.

mod messages;
mod owner;
mod run;
pub mod verbs;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use run::{Client, Ending, Frame, LoopOwner, MOST_FRAMES, Mode, Past, Run, State};

use self::owner::Ownership;
use super::{InputOf, Name};
use crate::data::Never;
use crate::effect::HasEffects;
use crate::event::{Author, Background, Kind};
use crate::ids::Millis;
use crate::machine::{Arrow, Input, Machine, Nothing, OnContext, OnStop, SAME, Settled, Step};
use crate::reduce::Reducer;
use crate::spoken_signal::SpokenSignal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Loop;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts {
    pub heard: SpokenSignal<Ending>,
    /// A loop without progress for this long does not go on.
    pub ttl: Millis,
    pub company: OtherSessions,
    /// The host's process that sent this event, if the host says.
    pub client: Option<Client>,
    /// The prompt, where the agent must read it.
    pub prompt: Option<String>,
    /// The prompt of the frame around the top one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer_prompt: Option<String>,
    /// When the outer frame goes on.
    #[serde(default)]
    pub outer: OuterGoesOn,
    /// Whether the loop's owner can come back.
    #[serde(default)]
    pub owner: OwnerLife,
    /// The agent was let go although a machine would hold it, and waits for its person.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub waits: bool,
    #[serde(default)]
    pub rules: LoopRules,
    /// What follows the sentence where only that is said: where the work on the frame's issue is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// What the document of a public script wants otherwise than we do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoopRules {
    /// A loop needs no owner: it holds whoever stops, also where the host names no session, but
    /// none whose loop is known to be another's.
    pub for_anybody: bool,
    /// The maximum is looked at before the signal, and ends every frame.
    pub max_ends_all: bool,
    /// The agent is told the document's sentence alone.
    pub sentence_alone: bool,
}

impl LoopRules {
    /// Those of the script that the drop-in stands for.
    pub const OF_SCRIPT: Self = Self {
        for_anybody: true,
        max_ends_all: true,
        sentence_alone: true,
    };
}

/// How this session stands among those that work in its project: what a person began and gave to
/// nobody is for a session that somebody attends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherSessions {
    /// This session is the only active one.
    Alone,
    Several,
    /// Nobody attends this session.
    Headless,
    /// An agent started this session.
    Helper,
}

impl OtherSessions {
    /// Would a person read what this session is told?
    const fn is_attended(self) -> bool {
        matches!(self, Self::Alone | Self::Several)
    }
}

/// When an outer frame goes on after its inner one has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OuterGoesOn {
    /// The same stop is held for it.
    AtOnce,
    /// The stop passes, and the next one is held.
    #[default]
    NextStop,
}

/// Whether the session that owns a loop is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerLife {
    /// Also if nobody looked.
    #[default]
    Live,
    Gone,
}

impl HasEffects for Loop {
    type Effect = Never;
    type Outcome = Never;
}

impl Machine for Loop {
    const NAME: Name = Name::Loop;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "start",        on: "verb",          from: &["idle", "aborted"], to: "active",
            when: "`loop start`", does: "put the first frame on the stack", remedy: "`mainspring loop abort`" },
        Arrow { rule: "push",         on: "verb",          from: &["active", "completing", "stuck"], to: "active",
            when: "`loop push`", does: "put an inner frame on the stack, forget a signal", remedy: "`mainspring loop abort`" },
        Arrow { rule: "adopt",        on: "verb",          from: &["active", "completing", "stuck"], to: "active",
            when: "`loop adopt`", does: "give it to a session, forget a signal", remedy: "`mainspring loop abort`" },
        Arrow { rule: "abort",        on: "verb",          from: &["active", "completing", "stuck"], to: "aborted",
            when: "`loop abort`", does: "end every frame", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "end",          on: "verb",          from: &["active", "completing", "stuck"], to: "idle",
            when: "a person's `loop abort`, and nobody else is to be told: its session is gone, or it has none", does: "end every frame", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "abort",        on: "verb",          from: &["corrupt"], to: "idle",
            when: "`loop abort`", does: "move aside what cannot be read", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "idle",         on: "stop",          from: &["idle"], to: SAME,
            when: "no loop, or an empty stack", does: "pass", remedy: "`mainspring loop start` begins one" },
        Arrow { rule: "aborted",      on: "stop",          from: &["aborted"], to: "idle",
            when: "it was ended by a command", does: "pass, tell the person", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "corruption",   on: "stop",          from: &["corrupt"], to: "idle",
            when: "the state cannot be read", does: "pass, move it aside, tell the person", remedy: "repair the file that was moved aside, or start another loop" },
        Arrow { rule: "stale",        on: "stop, session_start, prompt, expansion", from: &["active", "completing"], to: "idle",
            when: "no progress for longer than the ttl; another session's loop also needs that session to be gone", does: "end the loop, move its state aside, tell the person", remedy: "raise `[loop] ttl`, or start another loop" },
        Arrow { rule: "not-ours",     on: "stop",          from: &["active"], to: SAME,
            when: "another session's loop, or nobody's where nobody attends", does: "pass", remedy: "`mainspring loop adopt` takes it over" },
        Arrow { rule: "unclaimed",    on: "stop",          from: &["active"], to: SAME,
            when: "nobody's loop, and several sessions", does: "pass, tell the person", remedy: "`mainspring loop adopt` takes it" },
        Arrow { rule: "background",   on: "stop",          from: &["active"], to: SAME,
            when: "a sub-agent or workflow still runs", does: "pass, spend nothing", remedy: "the host wakes the agent when it ends" },
        Arrow { rule: "signal",       on: "stop",          from: &["active"], to: "completing",
            when: "the agent gave the top frame's signal", does: "pass, or send it on to the outer frame", remedy: "a new prompt before the end takes it back" },
        Arrow { rule: "max-inner",    on: "stop",          from: &["active"], to: "completing",
            when: "an inner frame's iterations are used up", does: "tell the person, send the agent on to the outer frame", remedy: "`mainspring loop push --max N` with more" },
        Arrow { rule: "max",          on: "stop",          from: &["active"], to: "stuck",
            when: "the iterations are used up", does: "pass, tell the person", remedy: "`mainspring loop start --max N` with more" },
        Arrow { rule: "iterate",      on: "stop",          from: &["active"], to: SAME,
            when: "no signal", does: "hold, count one iteration", remedy: "give the signal on a line of its own, or `mainspring loop abort`" },
        Arrow { rule: "completing",   on: "stop",          from: &["completing"], to: SAME,
            when: "another machine held the last stop", does: "pass, or send it on to the outer frame", remedy: "a new prompt before the end takes it back" },
        Arrow { rule: "pop-last",     on: "released",      from: &["completing"], to: "idle",
            when: "no frame is left", does: "end the loop", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "pop-outer",    on: "released",      from: &["completing"], to: "active",
            when: "an outer frame is left", does: "end the frame; the outer goes on", remedy: "`mainspring loop abort` ends all" },
        Arrow { rule: "give-up",      on: "released",      from: &["stuck"], to: "idle",
            when: "every machine lets the agent stop", does: "end the loop, move its state aside", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "over",         on: "continued",     from: &["stuck"], to: "idle",
            when: "another machine holds", does: "end the loop all the same, move its state aside", remedy: "`mainspring loop start` begins another" },
        Arrow { rule: "taken-back",   on: "prompt",        from: &["completing"], to: "active",
            when: "the owner's person prompts", does: "forget the signal", remedy: "give the signal again" },
        Arrow { rule: "renewed",      on: "prompt, expansion", from: &["active"], to: SAME,
            when: "the owner's person prompts", does: "count it as progress", remedy: "`mainspring loop abort`" },
        Arrow { rule: "typed",        on: "expansion",     from: &["completing"], to: "active",
            when: "the owner's person types a command", does: "forget the signal", remedy: "give the signal again" },
        Arrow { rule: "follow",       on: "session_start", from: &["active", "completing"], to: "active",
            when: "the owner was cleared in this client", does: "give it to the new session, tell it, forget a signal", remedy: "`mainspring loop abort`" },
        Arrow { rule: "return",       on: "session_start", from: &["active", "completing"], to: "active",
            when: "the owner starts again", does: "remember its client, tell it, forget a signal", remedy: "`mainspring loop abort`" },
        Arrow { rule: "remind",       on: "session_start", from: &["active", "completing"], to: SAME,
            when: "the owner was compacted", does: "tell it", remedy: "`mainspring loop abort`" },
        Arrow { rule: "take",         on: "session_start", from: &["active", "completing"], to: "active",
            when: "nobody's loop, and a new session that somebody attends; or a loop for the next session", does: "give it to the session, tell it, forget a signal", remedy: "`mainspring loop abort`" },
        Arrow { rule: "leave",        on: "session_end",   from: &["active", "completing"], to: "active",
            when: "the owner is cleared", does: "remember its client, forget a signal", remedy: "`mainspring loop abort`" },
        Arrow { rule: "forget",       on: "session_end",   from: &["aborted"], to: "idle",
            when: "the owner ends", does: "forget the abort", remedy: "`mainspring loop start` begins another" },
    ];

    type State = State;
    type Facts = Facts;

    fn label(state: &State) -> &'static str {
        match state {
            State::Idle(_) => "idle",
            State::Active(_) => "active",
            State::Completing { .. } => "completing",
            State::Stuck(_) => "stuck",
            State::Aborted { .. } => "aborted",
            State::Corrupt(_) => "corrupt",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        let here = input.event.session.as_ref();
        if here.is_none() && !input.facts.rules.for_anybody {
            return Step::ignore(state, OnStop::Pass);
        }
        let is_ours = |owner: &LoopOwner| here.is_none_or(|here| owner.is(here));
        if let Some(run) = owner::over(state, input) {
            return owner::end(run, input, OnStop::Pass);
        }
        let over = || State::Idle(Past::Aborted);
        match state {
            State::Idle(_) => Step::take("idle", state.clone(), OnStop::Pass),
            State::Corrupt(cause) => Step::take("corruption", over(), OnStop::Pass).note(format!(
                "the loop is off, because its state cannot be read: {cause}"
            )),
            State::Aborted { cause, owner } if is_ours(owner) || owner.session().is_none() => {
                Step::take("aborted", over(), OnStop::Pass)
                    .note(format!("the loop was aborted: {cause}"))
            }
            State::Completing { run, ending } if is_ours(&run.owner) => {
                let run = Run {
                    updated: input.now,
                    ..run.clone()
                };
                complete("completing", run, *ending, input)
            }
            // The end of a stop never leaves one stuck.
            State::Aborted { .. } | State::Completing { .. } | State::Stuck(_) => {
                Step::ignore(state, OnStop::Pass)
            }
            State::Active(run) => match owner::ownership(run, here, input.facts) {
                Ownership::Others => Step::take("not-ours", state.clone(), OnStop::Pass),
                Ownership::Unclear => Step::take("unclaimed", state.clone(), OnStop::Pass)
                    .note(messages::unclaimed(run, here)),
                Ownership::Ours(run) => advance(run, input, Welcome::Known),
                Ownership::Taken(run) => advance(run, input, Welcome::New),
            },
        }
    }

    fn on_start(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        owner::on_start(state, input)
    }

    fn on_end(state: &State, input: &Input<'_, Self>) -> Step<Self, Nothing> {
        owner::on_end(state, input)
    }

    fn on_prompt(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        match &input.event.kind {
            Kind::Prompt {
                author: Author::Person,
            } => owner::on_persons_word("taken-back", state, input),
            _ => Step::ignore(state, OnContext::Pass),
        }
    }

    fn on_expansion(state: &State, input: &Input<'_, Self>) -> Step<Self, OnContext> {
        owner::on_persons_word("typed", state, input)
    }

    fn settle(state: State, settled: Settled) -> State {
        match (state, settled) {
            (State::Completing { run, ending }, Settled::Released) => match run.popped() {
                Some(outer) => State::Active(outer),
                None => State::Idle(Past::Done(ending)),
            },
            (State::Stuck(_), Settled::Released | Settled::Continued) => {
                State::Idle(Past::Done(Ending::MaxIterations))
            }
            (
                state @ (State::Idle(_)
                | State::Active(_)
                | State::Aborted { .. }
                | State::Corrupt(_)),
                Settled::Released,
            )
            | (state, Settled::Continued) => state,
        }
    }

    fn send_on(state: State) -> State {
        match state {
            State::Active(mut run) => {
                run.top.iter += 1;
                State::Active(run)
            }
            state => state,
        }
    }

    fn reduce(input: &mut InputOf<Self>, reducer: Reducer) {
        let facts = &mut input.facts;
        let texts = [
            &mut facts.prompt,
            &mut facts.outer_prompt,
            &mut facts.worktree,
        ];
        for text in texts.into_iter().flatten() {
            reducer.text(text);
        }
        if let State::Aborted { cause, .. } = &mut input.state {
            verbs::reduce_cause(cause, reducer);
        }
    }
}

/// What the agent knows of its loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Welcome {
    Known,
    /// Nobody told it yet how the loop ends.
    First,
    /// Nor that it has one.
    New,
}

/// The owner stops while a frame runs. The checks are in the order of the table.
fn advance(mut run: Run, input: &Input<'_, Loop>, welcome: Welcome) -> Step<Loop, OnStop> {
    let facts = input.facts;
    let said = match facts.heard {
        SpokenSignal::Said(ending) => Some(ending),
        SpokenSignal::Near(_) | SpokenSignal::Nothing => None,
    };
    let working = matches!(
        input.event.kind,
        Kind::Stop {
            background: Background::Working,
            ..
        }
    );
    if working && said.is_none() {
        return Step::take("background", State::Active(run), OnStop::Pass);
    }
    // To us, a signal at the last iteration is a signal.
    match said {
        Some(ending) if !(facts.rules.max_ends_all && run.top.is_spent()) => {
            run.updated = input.now;
            return complete("signal", run, ending, input);
        }
        _ if run.top.is_spent() => return give_up(run, input),
        Some(_) | None => {}
    }
    let welcome = match welcome {
        Welcome::Known if run.is_unheard() => Welcome::First,
        welcome => welcome,
    };
    run.top.iter += 1;
    run.updated = input.now;
    run.adopted = false;
    let reason = messages::continuation(&run, facts, welcome);
    let step = Step::take("iterate", State::Active(run), OnStop::Hold(reason));
    match welcome {
        Welcome::Known | Welcome::First => step,
        Welcome::New => step.note(
            "a loop without an owner was given to this session; `mainspring loop abort` ends it",
        ),
    }
}

/// The top frame is done. It ends when every machine lets the agent go; then the outer one goes on.
fn complete(
    rule: &'static str,
    run: Run,
    ending: Ending,
    input: &Input<'_, Loop>,
) -> Step<Loop, OnStop> {
    let facts = input.facts;
    let at_once = facts.outer == OuterGoesOn::AtOnce;
    let outer = run.below().filter(|outer| at_once && !outer.is_spent());
    let verdict = match outer {
        Some(outer) => OnStop::Next(messages::onward(&run.top, outer, ending, facts)),
        None => OnStop::Pass,
    };
    Step::take(rule, State::Completing { run, ending }, verdict)
}

/// The top frame has no iteration left. An inner one ends alone, unless the rules say otherwise.
fn give_up(mut run: Run, input: &Input<'_, Loop>) -> Step<Loop, OnStop> {
    if run.outer.is_empty() || input.facts.rules.max_ends_all {
        let note = messages::spent(&run);
        return Step::take("max", State::Stuck(run), OnStop::Pass).note(note);
    }
    run.updated = input.now;
    let note = messages::inner_spent(&run);
    complete("max-inner", run, Ending::MaxIterations, input).note(note)
}
