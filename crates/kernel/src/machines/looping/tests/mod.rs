mod drop_in;
mod owners;
mod stale;

use alloc::string::ToString;
use alloc::vec::Vec;

use pretty_assertions::assert_eq;

use super::verbs::{Refused, abort, adopt, push, start};
use super::*;
use crate::event::{EndReason, StartSource};
use crate::machines::conformance::{
    Coverage, Taken, actors, event, every_kind, session, settle, step, stop, verb,
};
use crate::verbs::Actor;

const NOW: Millis = Millis::seconds(100_000);
const TTL: Millis = Millis::seconds(7_200);

pub(super) fn facts() -> Facts {
    Facts {
        heard: SpokenSignal::Nothing,
        ttl: TTL,
        company: OtherSessions::Several,
        client: Some(Client(7)),
        prompt: None,
        outer_prompt: None,
        outer: OuterGoesOn::AtOnce,
        owner: OwnerLife::Live,
        waits: false,
        rules: LoopRules::default(),
        worktree: None,
    }
}

pub(super) const COMPANIES: [OtherSessions; 4] = [
    OtherSessions::Alone,
    OtherSessions::Several,
    OtherSessions::Headless,
    OtherSessions::Helper,
];

pub(super) fn frame(mode: Mode, iter: u32, max: u32) -> Frame {
    Frame {
        id: "f".to_string(),
        mode,
        iter,
        max,
    }
}

pub(super) fn owner(id: &str) -> LoopOwner {
    LoopOwner::Session {
        id: session(id),
        client: Some(Client(7)),
    }
}

pub(super) fn run(top: Frame) -> Run {
    Run {
        id: "loop-1-1".to_string(),
        updated: NOW,
        owner: owner("mine"),
        outer: Vec::new(),
        top,
        adopted: false,
    }
}

fn within(outer: Frame, top: Frame) -> Run {
    Run {
        outer: Vec::from([outer]),
        ..run(top)
    }
}

fn at_stop(state: &State, facts: &Facts) -> Taken<Loop> {
    step::<Loop>(state, &event("mine", stop(Background::Quiet)), facts, NOW)
}

fn said(ending: Ending) -> Facts {
    Facts {
        heard: SpokenSignal::Said(ending),
        ..facts()
    }
}

fn states() -> Vec<State> {
    let mut all = Vec::from([
        State::Idle(Past::Blank),
        State::Idle(Past::Done(Ending::Complete)),
        State::Idle(Past::Aborted),
        State::Corrupt("iter is \"x\"".to_string()),
    ]);
    let runs = [
        run(frame(Mode::Loop, 1, 5)),
        run(frame(Mode::Loop, 5, 5)),
        Run {
            updated: Millis(0),
            ..run(frame(Mode::Issue, 1, 5))
        },
        within(frame(Mode::Grind, 3, 100), frame(Mode::Issue, 1, 5)),
        within(frame(Mode::Grind, 3, 100), frame(Mode::Issue, 5, 5)),
    ];
    for run in runs {
        for owner in [
            owner("mine"),
            owner("theirs"),
            LoopOwner::Nobody,
            LoopOwner::Next,
        ] {
            let run = Run {
                owner: owner.clone(),
                ..run.clone()
            };
            all.push(State::Active(run.clone()));
            all.push(State::Completing {
                run: run.clone(),
                ending: Ending::Complete,
            });
            all.push(State::Stuck(run.clone()));
            all.push(State::Aborted {
                cause: "by a person".to_string(),
                owner,
            });
        }
    }
    all
}

fn all_facts() -> Vec<Facts> {
    let mut all = Vec::new();
    for heard in [
        SpokenSignal::Said(Ending::Complete),
        SpokenSignal::Near("token in backticks, line 1: say it bare".to_string()),
        SpokenSignal::Nothing,
    ] {
        for company in COMPANIES {
            for client in [None, Some(Client(7)), Some(Client(8))] {
                for (rules, owner) in [
                    (LoopRules::default(), OwnerLife::Live),
                    (LoopRules::default(), OwnerLife::Gone),
                    (LoopRules::OF_SCRIPT, OwnerLife::Live),
                ] {
                    all.push(Facts {
                        heard: heard.clone(),
                        company,
                        client,
                        rules,
                        owner,
                        ..facts()
                    });
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
                let taken = step::<Loop>(&state, &event("mine", kind.clone()), &facts, NOW);
                coverage.saw(taken.rule, Loop::label(&state));
                let nameless = step::<Loop>(&state, &event("", kind.clone()), &facts, NOW);
                if facts.rules.for_anybody {
                    coverage.saw(nameless.rule, Loop::label(&state));
                } else {
                    assert_eq!(nameless.rule, "", "no session, no loop");
                }
            }
        }
        for settled in [Settled::Released, Settled::Continued] {
            let (_, rule) = settle::<Loop>(&state, settled);
            coverage.saw(rule.unwrap_or_default(), Loop::label(&state));
        }
    }
    for state in states() {
        let one = || frame(Mode::Loop, 1, 1);
        for actor in actors() {
            let whose = (owner("mine"), &actor);
            verb(
                &mut coverage,
                &state,
                start(&state, "l".into(), one(), whose, NOW),
            );
        }
        verb(&mut coverage, &state, push(&state, one(), NOW));
        verb(
            &mut coverage,
            &state,
            adopt(&state, session("next"), None, NOW),
        );
        for actor in actors() {
            for life in [OwnerLife::Live, OwnerLife::Gone] {
                verb(&mut coverage, &state, abort(&state, &actor, life, "enough"));
            }
        }
    }
    coverage.assert_complete::<Loop>();
}

#[test]
fn the_block_is_the_seeds_sentence() {
    let state = State::Active(run(frame(Mode::Loop, 1, 10)));
    let sentence = "[ITERATION 2/10] Continue working on the task. Check your progress and \
                    either complete the task or keep iterating.";
    let near = "token in a code fence, line 12: say it bare".to_string();
    let table = [
        (facts(), sentence.to_string()),
        (
            Facts {
                prompt: Some("Fix the tests.".to_string()),
                ..facts()
            },
            format!("{sentence}\n\nFix the tests."),
        ),
        (
            Facts {
                heard: SpokenSignal::Near(near.clone()),
                ..facts()
            },
            format!("{sentence} Not counted: {near}."),
        ),
    ];
    for (facts, expected) in table {
        assert_eq!(at_stop(&state, &facts).said, format!("Hold({expected:?})"));
    }
}

#[test]
fn the_first_hold_and_the_first_after_adopt_name_the_signals() {
    for mode in Mode::ALL {
        let mut state = State::Active(run(frame(mode, 0, 5)));
        for told in [true, false, true, false] {
            let taken = at_stop(&state, &facts());
            for (element, ending) in mode.signals() {
                let signal = format!("<{element}>{}</{element}>", ending.as_str());
                assert_eq!(
                    taken.said.contains(&signal),
                    told,
                    "{mode:?}: {}",
                    taken.said
                );
            }
            state = taken.state;
            if !told {
                state = adopt(&state, session("mine"), None, NOW).unwrap().state;
            }
        }
    }
}

#[test]
fn a_loop_of_five_holds_four_stops_and_ends_at_its_maximum() {
    let mut state = State::Active(run(frame(Mode::Loop, 1, 5)));
    for iteration in 2..=5 {
        let taken = at_stop(&state, &facts());
        assert!(taken.said.contains(&format!("[ITERATION {iteration}/5]")));
        state = settle::<Loop>(&taken.state, Settled::Continued).0;
    }
    let taken = at_stop(&state, &facts());
    assert_eq!(taken.rule, "max");
    assert_eq!(
        taken.notes,
        ["the loop is off: iteration 5 of 5 was the last."]
    );
    let ended = State::Idle(Past::Done(Ending::MaxIterations));
    assert_eq!(settle::<Loop>(&taken.state, Settled::Released).0, ended);
    let held = settle::<Loop>(&taken.state, Settled::Continued).0;
    assert_eq!(held, ended, "told once, also if another machine holds");
}

#[test]
fn a_signal_is_kept_while_others_hold_and_pops_when_they_let_go() {
    let inner = within(frame(Mode::Grind, 3, 100), frame(Mode::Issue, 2, 5));
    let outer = run(frame(Mode::Grind, 3, 100));
    let state = at_stop(&State::Active(inner.clone()), &said(Ending::Done)).state;
    let completing = State::Completing {
        run: inner.clone(),
        ending: Ending::Done,
    };
    assert_eq!(state, completing);
    let state = settle::<Loop>(&state, Settled::Continued).0;
    let state = at_stop(&state, &facts()).state;
    assert_eq!(state, completing, "said once is said");

    let released = settle::<Loop>(&state, Settled::Released).0;
    assert_eq!(released, State::Active(outer), "the outer frame goes on");

    let prompted = step::<Loop>(
        &completing,
        &event(
            "mine",
            Kind::Prompt {
                author: Author::Person,
            },
        ),
        &facts(),
        NOW,
    );
    assert_eq!(prompted.state, State::Active(inner));
}

#[test]
fn the_last_frame_ends_the_loop() {
    let state = State::Active(run(frame(Mode::Grind, 3, 100)));
    let taken = at_stop(&state, &said(Ending::NoMoreIssues));
    assert_eq!(
        settle::<Loop>(&taken.state, Settled::Released).0,
        State::Idle(Past::Done(Ending::NoMoreIssues))
    );
}

#[test]
fn each_mode_has_its_own_signals() {
    let lines = |mode: Mode| -> Vec<String> {
        let signals = mode.signals().iter();
        signals
            .map(|(element, ending)| format!("<{element}>{}</{element}>", ending.as_str()))
            .collect()
    };
    let common = [
        "<loop-done>COMPLETE</loop-done>",
        "<loop-done>MAX_ITERATIONS</loop-done>",
        "<loop-done>STUCK</loop-done>",
    ];
    assert_eq!(lines(Mode::Loop), common);
    assert_eq!(lines(Mode::Issue)[..3], common);
    assert_eq!(
        lines(Mode::Issue)[3..],
        ["<issue-complete>DONE</issue-complete>"]
    );
    assert_eq!(
        lines(Mode::Grind),
        [
            "<grind-done>NO_MORE_ISSUES</grind-done>",
            "<grind-done>MAX_ISSUES</grind-done>"
        ]
    );
}

#[test]
fn a_loop_is_started_pushed_adopted_and_aborted() {
    let idle = State::Idle(Past::Blank);
    let first = frame(Mode::Grind, 1, 100);
    let whose = (owner("mine"), &Actor::Person);
    let active = start(&idle, "loop-1".into(), first.clone(), whose, NOW).unwrap();
    let pushed = push(&active.state, frame(Mode::Issue, 1, 10), NOW)
        .unwrap()
        .state;
    let State::Active(run) = &pushed else {
        panic!("{pushed:?}")
    };
    assert_eq!(
        (run.outer.as_slice(), run.top.mode),
        (&[first][..], Mode::Issue)
    );

    let adopted = adopt(&pushed, session("next"), None, NOW).unwrap().state;
    let aborted = abort(&adopted, &Actor::Person, OwnerLife::Live, "enough")
        .unwrap()
        .state;
    assert_eq!(
        aborted,
        State::Aborted {
            cause: "by a person: enough".into(),
            owner: LoopOwner::Session {
                id: session("next"),
                client: None
            }
        }
    );
}

#[test]
fn an_abort_is_told_once_and_only_where_somebody_does_not_know() {
    let of = |owner| {
        State::Active(Run {
            owner,
            ..run(frame(Mode::Loop, 1, 5))
        })
    };
    let (person, agent) = (Actor::Person, Actor::Agent(None));
    let over = State::Idle(Past::Aborted);
    for (owner, actor, life, told) in [
        (owner("mine"), &person, OwnerLife::Live, true),
        (owner("mine"), &person, OwnerLife::Gone, false),
        (LoopOwner::Nobody, &person, OwnerLife::Live, false),
        (LoopOwner::Nobody, &agent, OwnerLife::Live, true),
    ] {
        let state = abort(&of(owner), actor, life, "").unwrap().state;
        if !told {
            assert_eq!(state, over);
            continue;
        }
        let taken = at_stop(&state, &facts());
        assert_eq!(taken.notes.len(), 1);
        let held = settle::<Loop>(&taken.state, Settled::Continued).0;
        assert_eq!(held, over, "also if another machine holds");
    }
    let aborted = abort(&of(owner("mine")), &person, OwnerLife::Live, "").unwrap();
    let ends = Kind::SessionEnd {
        reason: EndReason::Other,
    };
    let ended = step::<Loop>(&aborted.state, &event("mine", ends), &facts(), NOW);
    assert_eq!(ended.state, over, "nobody is left to be told");
}

#[test]
fn a_verb_that_makes_no_sense_is_refused() {
    let idle = State::Idle(Past::Blank);
    let active = State::Active(run(frame(Mode::Loop, 1, 5)));
    let corrupt = State::Corrupt("torn".into());
    let torn = || Refused::Corrupt("torn".into());
    let one = || frame(Mode::Loop, 1, 1);
    let begin = |state: &State, frame| {
        let whose = (LoopOwner::Nobody, &Actor::Person);
        start(state, "loop-1".into(), frame, whose, NOW)
    };
    let aborted = abort(&active, &Actor::Person, OwnerLife::Live, "enough")
        .unwrap()
        .state;
    assert!(begin(&aborted, one()).is_ok());
    let agents = (LoopOwner::Nobody, &Actor::Agent(None));
    assert_eq!(
        start(&aborted, "loop-1".into(), one(), agents, NOW),
        Err(Refused::Untold("by a person: enough".into()))
    );
    assert_eq!(begin(&active, one()), Err(Refused::Running));
    let mut orphan = run(frame(Mode::Loop, 1, 5));
    orphan.owner = LoopOwner::Nobody;
    let orphan = State::Active(orphan);
    assert_eq!(begin(&orphan, one()), Err(Refused::Unowned(None)));
    assert_eq!(begin(&corrupt, one()), Err(torn()));
    assert_eq!(
        begin(&idle, frame(Mode::Loop, 1, 0)),
        Err(Refused::NoIterations)
    );
    assert_eq!(push(&idle, one(), NOW), Err(Refused::NoLoop));
    assert_eq!(push(&corrupt, one(), NOW), Err(torn()));
    let none = abort(&idle, &Actor::Person, OwnerLife::Live, "x");
    assert_eq!(none, Err(Refused::NoLoop));
    assert_eq!(adopt(&idle, session("s"), None, NOW), Err(Refused::NoLoop));

    let mut deep = active;
    for _ in 1..MOST_FRAMES {
        deep = push(&deep, one(), NOW).unwrap().state;
    }
    assert_eq!(push(&deep, one(), NOW), Err(Refused::TooDeep));
}

#[test]
fn background_work_spends_nothing_but_the_agents_word_counts() {
    let working = |state: &State, facts: &Facts| {
        step::<Loop>(state, &event("mine", stop(Background::Working)), facts, NOW)
    };
    let active = State::Active(run(frame(Mode::Loop, 2, 5)));
    let spent = State::Active(run(frame(Mode::Loop, 5, 5)));
    for state in [&active, &spent] {
        let taken = working(state, &facts());
        assert_eq!((taken.rule, &taken.state), ("background", state));
        let released = settle::<Loop>(&taken.state, Settled::Released).0;
        assert_eq!(released, *state, "it goes on when the agent is woken");
    }
    assert_eq!(working(&active, &said(Ending::Complete)).rule, "signal");
}

#[test]
fn a_command_is_a_move() {
    let old = State::Active(Run {
        updated: Millis(0),
        ..run(frame(Mode::Loop, 1, 5))
    });
    let pushed = push(&old, frame(Mode::Loop, 1, 5), NOW).unwrap().state;
    let adopted = adopt(&old, session("mine"), None, NOW).unwrap().state;
    for state in [pushed, adopted] {
        assert_eq!(
            at_stop(&state, &facts()).rule,
            "iterate",
            "not stale any more"
        );
    }
}

#[test]
fn an_outer_frame_goes_on_at_once_unless_it_is_used_up_or_the_person_chose_otherwise() {
    let inner = || frame(Mode::Issue, 2, 5);
    let next_stop = Facts {
        outer: OuterGoesOn::NextStop,
        ..said(Ending::Done)
    };
    for (outer, facts, at_once) in [
        (frame(Mode::Grind, 3, 100), said(Ending::Done), true),
        (frame(Mode::Grind, 100, 100), said(Ending::Done), false),
        (frame(Mode::Grind, 3, 100), next_stop, false),
    ] {
        let taken = at_stop(&State::Active(within(outer, inner())), &facts);
        assert_eq!(taken.said.starts_with("Next"), at_once, "{}", taken.said);
    }
}
