//! `pulse`: do Mainspring and the agent reach each other?
//!
//! `mainspring pulse 2` holds the agent's next two stops with a sentence that says so, starts a
//! child process before the last one, and lets the agent go. With it a person checks an
//! installation. It is also the smallest machine that uses every part of a turn.

pub mod verbs;

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::at_work::{Describe, Work};
use crate::effect::{EffectStatus, HasEffects};
use crate::ids::{Millis, SessionId};
use crate::machine::{ANY, Arrow, Input, Machine, OnStop, SAME, Settled, Step};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pulse;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No check is asked for.
    Still,
    Beating {
        beat: u32,
        of: u32,
        /// The session whose stops are held; if none was named, the first session that stops here.
        session: Option<SessionId>,
    },
    /// The last beat was given: the next stop passes.
    Spent { of: u32, session: SessionId },
}

/// Starts one child: our own program with `--version`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Probe;

impl Describe for Probe {
    fn work(&self) -> Work {
        Work::new("starting a child process")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probed {
    Version(String),
    Failed(String),
}

/// A child that only prints its version.
const PROBE_LIMIT: Millis = Millis::seconds(5);

impl HasEffects for Pulse {
    type Effect = Probe;
    type Outcome = Probed;
}

impl Machine for Pulse {
    const NAME: Name = Name::Pulse;

    #[rustfmt::skip]
    const TABLE: &'static [Arrow] = &[
        Arrow { rule: "begin",     on: "verb",     from: ANY, to: "beating",
            when: "`pulse N`", does: "hold the next N stops", remedy: "`mainspring pulse off`" },
        Arrow { rule: "off",       on: "verb",     from: &["beating", "spent"], to: "still",
            when: "`pulse off`", does: "forget the check", remedy: "start another with `mainspring pulse`" },
        Arrow { rule: "still",     on: "stop",     from: &["still"], to: SAME,
            when: "no check asked for", does: "pass", remedy: "start one with `mainspring pulse`" },
        Arrow { rule: "not-ours",  on: "stop",     from: &["beating"], to: SAME,
            when: "another session's check", does: "pass", remedy: "run `mainspring pulse` in this session" },
        Arrow { rule: "beat",      on: "stop",     from: &["beating"], to: SAME,
            when: "beats left", does: "hold and count", remedy: "answer once more, or `mainspring pulse off`" },
        Arrow { rule: "probe",     on: "stop",     from: &["beating"], to: SAME,
            when: "last beat, no child yet", does: "start a child", remedy: "answer once more, or `mainspring pulse off`" },
        Arrow { rule: "last-beat", on: "stop",     from: &["beating"], to: "spent",
            when: "last beat, child is back", does: "hold with what it said", remedy: "answer once more: the next stop passes" },
        Arrow { rule: "spent",     on: "stop",     from: &["spent"], to: SAME,
            when: "every beat was given", does: "pass", remedy: "start another with `mainspring pulse`" },
        Arrow { rule: "over",      on: "released", from: &["spent"], to: "still",
            when: "no other machine holds it", does: "forget the check", remedy: "start another with `mainspring pulse`" },
    ];

    type State = State;
    type Facts = ();

    fn label(state: &State) -> &'static str {
        match state {
            State::Still => "still",
            State::Beating { .. } => "beating",
            State::Spent { .. } => "spent",
        }
    }

    fn on_stop(state: &State, input: &Input<'_, Self>) -> Step<Self, OnStop> {
        let Some(here) = &input.event.session else {
            return Step::ignore(state, OnStop::Pass);
        };
        match state {
            State::Still => Step::take("still", State::Still, OnStop::Pass).drop_abandoned(),
            State::Spent { session, .. } if session != here => Step::ignore(state, OnStop::Pass),
            State::Spent { .. } => {
                Step::take("spent", state.clone(), OnStop::Pass).drop_abandoned()
            }
            State::Beating {
                session: Some(owner),
                ..
            } if owner != here => Step::take("not-ours", state.clone(), OnStop::Pass),
            State::Beating { beat, of, .. } if beat.saturating_add(1) < *of => {
                let beat = beat + 1;
                let next = State::Beating {
                    beat,
                    of: *of,
                    session: Some(here.clone()),
                };
                Step::take("beat", next, OnStop::Hold(heartbeat(beat, *of)))
            }
            State::Beating { of, .. } => match input.effect_status {
                EffectStatus::Clear | EffectStatus::Running(_) | EffectStatus::Abandoned(_) => {
                    Step::need("probe", state.clone(), Probe, PROBE_LIMIT)
                }
                EffectStatus::Done(_, probed) => {
                    let child = match probed {
                        Probed::Version(version) => format!("A child process said: {version}."),
                        Probed::Failed(cause) => format!("No child process: {cause}."),
                    };
                    let reason = format!("{} {child}", heartbeat(*of, *of));
                    let next = State::Spent {
                        of: *of,
                        session: here.clone(),
                    };
                    Step::take("last-beat", next, OnStop::Hold(reason))
                }
            },
        }
    }

    fn settle(state: State, settled: Settled) -> State {
        match (state, settled) {
            (State::Spent { .. }, Settled::Released) => State::Still,
            (state, Settled::Released | Settled::Continued) => state,
        }
    }
}

fn heartbeat(beat: u32, of: u32) -> String {
    format!(
        "Mainspring is connected (beat {beat} of {of}). Say that you read this, and stop again."
    )
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::effect::{EffectOwner, Fence, Intent};
    use crate::event::Background;
    use crate::machine::Verdict;
    use crate::machines::conformance::{
        Coverage, actors, assert_arrow, event, every_kind, session, settle, step, stop, verb,
    };

    fn states() -> [State; 5] {
        let beating = |beat, session| State::Beating {
            beat,
            of: 2,
            session,
        };
        [
            State::Still,
            beating(0, None),
            beating(0, Some(session("mine"))),
            beating(1, Some(session("other"))),
            State::Spent {
                of: 2,
                session: session("mine"),
            },
        ]
    }

    #[test]
    fn every_state_and_event_takes_an_arrow_of_the_table() {
        let mut seen = Coverage::default();
        for state in states() {
            for kind in every_kind() {
                for id in ["mine", "another", ""] {
                    let taken = step::<Pulse>(&state, &event(id, kind.clone()), &(), Millis(0));
                    if !taken.rule.is_empty() {
                        seen.saw(taken.rule, Pulse::label(&state));
                    }
                }
            }
            for settled in [Settled::Released, Settled::Continued] {
                if let (_, Some(rule)) = settle::<Pulse>(&state, settled) {
                    seen.saw(rule, Pulse::label(&state));
                }
            }
        }
        for outcome in [Probed::Version("1".into()), Probed::Failed("no".into())] {
            let last = last_beat(&outcome);
            seen.saw(last.rule, "beating");
        }
        // The last beat asks for its child first.
        let before_last = State::Beating {
            beat: 1,
            of: 2,
            session: None,
        };
        let taken = step::<Pulse>(
            &before_last,
            &event("mine", stop(Background::Quiet)),
            &(),
            Millis(0),
        );
        assert_eq!(taken.said, "Need");
        seen.saw(taken.rule, "beating");
        for state in states() {
            verb(&mut seen, &state, verbs::off(&state));
            for actor in actors() {
                verb(
                    &mut seen,
                    &state,
                    Ok::<_, verbs::Refused>(verbs::begin(2, &actor)),
                );
            }
        }
        seen.assert_complete::<Pulse>();
    }

    fn last_beat(outcome: &Probed) -> Step<Pulse, OnStop> {
        let state = State::Beating {
            beat: 1,
            of: 2,
            session: Some(session("mine")),
        };
        let intent = Intent {
            fence: Fence(1),
            effect: Probe,
            owner: EffectOwner {
                pid: 1,
                started: 1,
                boot: "b".to_string(),
            },
            since: Millis(0),
            deadline: Millis(0),
            uptime: crate::Uptime(0),
        };
        let input = Input {
            event: &event("mine", stop(Background::Quiet)),
            now: Millis(0),
            facts: &(),
            effect_status: &EffectStatus::Done(intent, outcome.clone()),
        };
        let step = Pulse::on_stop(&state, &input);
        assert_arrow::<Pulse>(step.rule, &state, "stop", &step.state);
        step
    }

    #[test]
    fn the_last_beat_tells_what_the_child_said_or_why_there_is_none() {
        for (outcome, words) in [
            (
                Probed::Version("mainspring 1".into()),
                "said: mainspring 1.",
            ),
            (
                Probed::Failed("no exec".into()),
                "No child process: no exec.",
            ),
        ] {
            let Verdict::Say(OnStop::Hold(reason)) = last_beat(&outcome).verdict else {
                panic!("it holds")
            };
            assert!(reason.ends_with(words), "{reason}");
        }
    }

    #[test]
    fn a_check_has_at_least_one_beat_and_is_of_the_agent_that_asks() {
        let [agent, ..] = actors();
        let asked = verbs::begin(0, &agent).state;
        let session = agent.session().cloned();
        assert_eq!(
            asked,
            State::Beating {
                beat: 0,
                of: 1,
                session
            }
        );
        assert_eq!(verbs::off(&State::Still), Err(verbs::Refused::NoCheck));
    }

    #[test]
    fn a_session_without_an_id_is_never_held() {
        for state in states() {
            let taken = step::<Pulse>(&state, &event("", stop(Background::Quiet)), &(), Millis(0));
            assert!(!taken.holds() && taken.state == state);
        }
    }
}
