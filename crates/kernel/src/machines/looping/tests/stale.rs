//! Whatever is older than its time is over, at every event.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn stale_is_more_than_the_ttl() {
    for (age, rule) in [(7_200, "iterate"), (7_201, "stale")] {
        let aged = Run {
            updated: Millis(NOW.0 - age * 1_000),
            ..run(frame(Mode::Loop, 1, 5))
        };
        assert_eq!(at_stop(&State::Active(aged), &facts()).rule, rule, "{age}");
    }
    let ahead = Run {
        updated: NOW.plus(TTL).plus(TTL),
        ..run(frame(Mode::Loop, 1, 5))
    };
    assert_eq!(
        at_stop(&State::Active(ahead), &facts()).rule,
        "iterate",
        "a clock that was set back makes nothing stale"
    );
}

fn old(owner: LoopOwner) -> State {
    State::Active(Run {
        updated: Millis(0),
        owner,
        ..run(frame(Mode::Loop, 3, 5))
    })
}

fn prompts() -> Kind {
    Kind::Prompt {
        author: Author::Person,
    }
}

fn starts(source: StartSource) -> Kind {
    Kind::SessionStart { source }
}

/// Ten hours later: a stop, a resumed or compacted session, a prompt, a typed command.
#[test]
fn an_old_loop_ends_at_whatever_comes_and_its_person_reads_it_once() {
    let kinds = [
        stop(Background::Quiet),
        starts(StartSource::Resume),
        starts(StartSource::Compact),
        starts(StartSource::Startup),
        starts(StartSource::Clear),
        prompts(),
        Kind::Expansion {
            command: "x".to_string(),
        },
    ];
    for owner in [owner("mine"), LoopOwner::Nobody, LoopOwner::Next] {
        for kind in &kinds {
            let event = event("mine", kind.clone());
            let taken = step::<Loop>(&old(owner.clone()), &event, &facts(), NOW);
            assert_eq!(taken.rule, "stale", "{owner:?} {kind:?}");
            assert_eq!(taken.said, "Pass");
            let whose = match owner.session() {
                Some(_) => "",
                None => " without an owner",
            };
            let note = format!(
                "the loop{whose} is off: it made no progress for 1666 minutes (iteration 3 of 5)"
            );
            assert_eq!(taken.notes, [note]);
            let over = State::Idle(Past::Done(Ending::Stuck));
            let held = settle::<Loop>(&taken.state, Settled::Continued).0;
            assert_eq!(held, over, "also if another machine holds the stop");
        }
    }
}

#[test]
fn an_old_loop_is_not_inherited_by_clear() {
    let cleared = event("next", starts(StartSource::Clear));
    let taken = step::<Loop>(&old(owner("mine")), &cleared, &facts(), NOW);
    assert_eq!(taken.rule, "stale");
}

/// The person would not read it: it stays, and holds nobody.
#[test]
fn where_nobody_attends_an_old_loop_that_is_nobodys_is_left_alone() {
    for company in [OtherSessions::Headless, OtherSessions::Helper] {
        for loops in [LoopOwner::Nobody, LoopOwner::Next] {
            for kind in [stop(Background::Quiet), starts(StartSource::Startup)] {
                let facts = Facts { company, ..facts() };
                let state = old(loops.clone());
                let taken = step::<Loop>(&state, &event("mine", kind), &facts, NOW);
                assert_eq!((&taken.state, taken.said.as_str()), (&state, "Pass"));
                assert!(taken.notes.is_empty());
            }
        }
    }
}

#[test]
fn another_sessions_old_loop_ends_when_that_session_is_gone() {
    for (updated, life, rule) in [
        (Millis(0), OwnerLife::Gone, "stale"),
        (Millis(0), OwnerLife::Live, "not-ours"),
        (NOW, OwnerLife::Gone, "not-ours"),
    ] {
        let theirs = State::Active(Run {
            owner: owner("theirs"),
            updated,
            ..run(frame(Mode::Loop, 1, 5))
        });
        let facts = Facts {
            owner: life,
            ..facts()
        };
        assert_eq!(at_stop(&theirs, &facts).rule, rule);
    }
}

#[test]
fn a_prompt_renews_a_loop_and_one_that_waited_for_the_person_however_old() {
    let waits = Facts {
        waits: true,
        ..facts()
    };
    let young = State::Active(Run {
        updated: Millis(NOW.0 - TTL.0),
        ..run(frame(Mode::Loop, 3, 5))
    });
    for (state, facts, rule) in [
        (young, facts(), "renewed"),
        (old(owner("mine")), waits.clone(), "renewed"),
        (old(owner("mine")), facts(), "stale"),
        (old(LoopOwner::Nobody), waits, "stale"),
    ] {
        let taken = step::<Loop>(&state, &event("mine", prompts()), &facts, NOW);
        assert_eq!(taken.rule, rule);
        let then = at_stop(&taken.state, &facts);
        assert_eq!(then.holds(), rule == "renewed");
    }
}
