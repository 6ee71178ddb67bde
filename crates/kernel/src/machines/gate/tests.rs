use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::verbs::{Switch, end, in_force, switch};
use super::*;
use crate::machines::conformance::{Coverage, event, every_kind, settle, step, stop, verb};

const NOW: crate::ids::Millis = crate::ids::Millis(1_000_000);

fn facts() -> Facts {
    Facts {
        by: SwitchedOnBy::Switch,
        token: "TASKMASTER_DONE::s-1".into(),
        heard: SpokenSignal::Nothing,
        errors: RecentErrors::NotSeen,
        max: 0,
        transcript: Transcript::Long,
        checklist: Checklist::Skill,
        open_tasks: OpenTasks::default(),
        talk: Talk::Held,
    }
}

fn open_tasks(ids: &[u64], rule: OpenTaskRule) -> OpenTasks {
    OpenTasks {
        ids: ids.to_vec(),
        rule,
    }
}

fn states() -> Vec<State> {
    let mut all = Vec::from([State::Off, State::Ended, State::Kept]);
    for held in [0, 1, 7] {
        all.extend([
            State::Waiting { held },
            State::Said { held },
            State::GaveUp { held },
        ]);
    }
    all
}

fn all_facts() -> Vec<Facts> {
    let mut all = Vec::new();
    all.push(Facts {
        by: SwitchedOnBy::Registration,
        ..facts()
    });
    for heard in [
        SpokenSignal::Said(Token),
        SpokenSignal::Near("token in backticks, line 2: say it bare".into()),
        SpokenSignal::Nothing,
    ] {
        for errors in [RecentErrors::Seen, RecentErrors::NotSeen] {
            for transcript in [Transcript::Long, Transcript::Short] {
                for max in [0, 1, 2, 8, 9] {
                    for (rule, talk) in [
                        (OpenTaskRule::Name, Talk::Held),
                        (OpenTaskRule::Hold, Talk::Worked),
                        (OpenTaskRule::Name, Talk::OnlyTalked),
                    ] {
                        all.push(Facts {
                            heard: heard.clone(),
                            errors,
                            max,
                            transcript,
                            open_tasks: open_tasks(&[3], rule),
                            talk,
                            ..facts()
                        });
                    }
                }
            }
        }
    }
    all
}

#[test]
fn every_state_and_event_follows_the_table() {
    let mut coverage = Coverage::default();
    for state in states() {
        for kind in every_kind() {
            for facts in all_facts() {
                let taken = step::<Gate>(&state, &event("s-1", kind.clone()), &facts, NOW);
                coverage.saw(taken.rule, Gate::label(&state));
                let nameless = step::<Gate>(&state, &event("null", kind.clone()), &facts, NOW);
                assert!(!nameless.holds(), "a session without an id is never held");
            }
        }
        for settled in [Settled::Released, Settled::Continued] {
            let (_, rule) = settle::<Gate>(&state, settled);
            coverage.saw(rule.unwrap_or_default(), Gate::label(&state));
        }
    }
    for state in states() {
        for to in [Switch::On, Switch::Off] {
            verb(&mut coverage, &state, Ok::<_, Never>(switch(state, to)));
        }
        verb(&mut coverage, &state, Ok::<_, Never>(end(state)));
    }
    coverage.assert_complete::<Gate>();
}

/// The reason, or the note for the person if the stop passes.
fn at_stop(state: State, facts: &Facts) -> (State, String) {
    let quiet = stop(Background::Quiet);
    let taken = step::<Gate>(&state, &event("s-1", quiet), facts, NOW);
    let said = if taken.holds() {
        taken.said
    } else {
        taken.notes.join("; ")
    };
    (taken.state, said)
}

#[test]
fn the_reason_is_the_seeds() {
    let table = [
        (
            State::Waiting { held: 0 },
            facts(),
            r#"Hold("TASKMASTER (1): Stop blocked. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::s-1")"#,
        ),
        (
            State::Waiting { held: 2 },
            Facts { max: 5, ..facts() },
            r#"Hold("TASKMASTER (3/5): Stop blocked. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::s-1")"#,
        ),
        (
            State::Waiting { held: 0 },
            Facts {
                errors: RecentErrors::Seen,
                ..facts()
            },
            r#"Hold("TASKMASTER (1): Stop blocked: there are recent errors, resolve them first. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::s-1")"#,
        ),
        (
            State::Waiting { held: 0 },
            Facts {
                heard: SpokenSignal::Near(
                    "token in a code fence, line 12: say it bare".to_string(),
                ),
                ..facts()
            },
            r#"Hold("TASKMASTER (1): Stop blocked. Not counted: token in a code fence, line 12: say it bare. Follow the taskmaster completion checklist. Done signal: TASKMASTER_DONE::s-1")"#,
        ),
        (
            State::Waiting { held: 4 },
            Facts { max: 5, ..facts() },
            "let go at stop 5 of 5 although the agent never said TASKMASTER_DONE::s-1",
        ),
    ];
    for (state, facts, expected) in table {
        assert_eq!(at_stop(state, &facts).1, expected);
    }
}

#[test]
fn at_the_maximum_the_agent_may_stop_and_the_count_starts_again() {
    let facts = Facts { max: 3, ..facts() };
    let mut state = State::Waiting { held: 0 };
    let mut held = Vec::new();
    for _ in 0..6 {
        let (next, said) = at_stop(state, &facts);
        held.push(said.starts_with("Hold"));
        let settled = if said.starts_with("Hold") {
            Settled::Continued
        } else {
            Settled::Released
        };
        state = settle::<Gate>(&next, settled).0;
    }
    assert_eq!(held, [true, true, false, true, true, false]);
}

#[test]
fn a_token_said_once_holds_until_a_person_prompts() {
    let said = Facts {
        heard: SpokenSignal::Said(Token),
        ..facts()
    };
    let (state, _) = at_stop(State::Waiting { held: 4 }, &said);
    // Another machine holds the agent, which does not say the token again.
    let state = settle::<Gate>(&state, Settled::Continued).0;
    let (state, _) = at_stop(state, &facts());
    assert_eq!(state, State::Said { held: 4 });
    let state = settle::<Gate>(&state, Settled::Released).0;
    assert_eq!(
        state,
        State::Said { held: 0 },
        "the count ends with the stop"
    );

    let prompt = |author| event("s-1", Kind::Prompt { author });
    let woken = step::<Gate>(&state, &prompt(Author::Host), &facts(), NOW).state;
    assert_eq!(woken, state, "the host's own prompt asks for nothing new");
    let asked = step::<Gate>(&state, &prompt(Author::Person), &facts(), NOW).state;
    assert_eq!(asked, State::Waiting { held: 0 });
    assert!(at_stop(asked, &facts()).1.starts_with("Hold"));
}

#[test]
fn background_work_spends_nothing() {
    let state = State::Waiting { held: 1 };
    let working = event("s-1", stop(Background::Working));
    let taken = step::<Gate>(&state, &working, &Facts { max: 2, ..facts() }, NOW);
    assert_eq!((taken.rule, taken.state), ("background", state));
    assert_eq!(settle::<Gate>(&state, Settled::Released).0, state);
}

#[test]
fn switching_on_awaits_the_token_unless_the_gate_was_on() {
    assert_eq!(
        switch(State::Off, Switch::On).state,
        State::Waiting { held: 0 }
    );
    let said = State::Said { held: 3 };
    assert_eq!(switch(said, Switch::On).state, said);
    assert_eq!(switch(said, Switch::Off).state, State::Off);
}

#[test]
fn the_sessions_own_switch_comes_before_the_projects_and_that_before_the_configuration() {
    let (on, off) = (Switch::On, Switch::Off);
    assert_eq!(in_force(Some(off), Some(on), on), off);
    assert_eq!(in_force(None, Some(off), on), off);
    assert_eq!(in_force(None, None, on), on);
}

proptest! {
    /// Whatever happens, the gate holds only a session that has not said the token, and counts each
    /// hold once.
    #[test]
    fn holds_only_while_the_token_is_owed(
        held in 0..100_u32,
        max in 0..20_u32,
        said in any::<bool>(),
        short in any::<bool>(),
        working in any::<bool>(),
    ) {
        let facts = Facts {
            heard: if said { SpokenSignal::Said(Token) } else { SpokenSignal::Nothing },
            transcript: if short { Transcript::Short } else { Transcript::Long },
            max: max.into(),
            ..facts()
        };
        let background = if working { Background::Working } else { Background::Quiet };
        for state in [State::Off, State::Waiting { held }, State::Said { held }, State::GaveUp { held }] {
            let taken = step::<Gate>(&state, &event("s-1", stop(background)), &facts, NOW);
            let owes = matches!(state, State::Waiting { .. }) && !said && !short && !working;
            let worn = max > 0 && held + 1 >= max;
            prop_assert_eq!(taken.holds(), owes && !worn);
            if taken.holds() {
                prop_assert_eq!(taken.state, State::Waiting { held: held + 1 });
            }
        }
    }
}

#[test]
fn the_first_hold_carries_the_checklist_where_the_agent_has_no_skill_for_it() {
    let facts = Facts {
        checklist: Checklist::InReason,
        ..facts()
    };
    let lines = |reason: &str| reason.lines().filter(|line| !line.is_empty()).count();
    let first = messages::reason(1, &facts);
    assert_eq!(lines(&first), 8, "the sentence and seven checks: {first}");
    assert!(first.lines().last().unwrap().starts_with("7. Honesty"));
    assert_eq!(lines(&messages::reason(2, &facts)), 1);
}

#[test]
fn open_tasks_are_named_and_hold_the_token_if_they_must() {
    for (ids, named) in [
        (&[][..], "blocked. Follow"),
        (&[3], "blocked. Task #3 is open. Follow"),
        (&[3, 4], "blocked. Tasks #3, #4 are open. Follow"),
        (
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            "#9, #10 and 2 more are open. Follow",
        ),
    ] {
        let facts = Facts {
            open_tasks: open_tasks(ids, OpenTaskRule::Name),
            ..facts()
        };
        let reason = messages::reason(1, &facts);
        assert!(reason.contains(named), "{reason}");
    }
    for (rule, state) in [
        (OpenTaskRule::Name, State::Said { held: 2 }),
        (OpenTaskRule::Hold, State::Waiting { held: 3 }),
    ] {
        let facts = Facts {
            heard: SpokenSignal::Said(Token),
            open_tasks: open_tasks(&[3], rule),
            ..facts()
        };
        assert_eq!(at_stop(State::Waiting { held: 2 }, &facts).0, state);
    }
}

#[test]
fn talk_after_the_token_passes_if_it_may_and_work_does_not() {
    let prompt = event(
        "s-1",
        Kind::Prompt {
            author: Author::Person,
        },
    );
    let kept = State::Said { held: 0 };
    for (talk, asked, after) in [
        (
            Talk::Held,
            State::Waiting { held: 0 },
            State::Waiting { held: 1 },
        ),
        (Talk::Worked, State::Kept, State::Waiting { held: 1 }),
        (Talk::OnlyTalked, State::Kept, State::Said { held: 0 }),
    ] {
        let facts = Facts { talk, ..facts() };
        let state = step::<Gate>(&kept, &prompt, &facts, NOW).state;
        assert_eq!(state, asked, "{talk:?}");
        assert_eq!(at_stop(state, &facts).0, after, "{talk:?}");
    }
    let facts = Facts {
        talk: Talk::OnlyTalked,
        ..facts()
    };
    let (held, _) = at_stop(State::Waiting { held: 0 }, &facts);
    assert_eq!(held, State::Waiting { held: 1 }, "no promise was kept yet");
}
