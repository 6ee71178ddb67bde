//! Whose loop it is.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn nobodys_loop_goes_to_the_only_session_and_says_so() {
    let orphan = State::Active(Run {
        owner: LoopOwner::Nobody,
        ..run(frame(Mode::Loop, 1, 5))
    });
    let alone = Facts {
        company: OtherSessions::Alone,
        ..facts()
    };
    let taken = at_stop(&orphan, &alone);
    let State::Active(adopted) = &taken.state else {
        panic!("{taken:?}")
    };
    assert_eq!(adopted.owner, owner("mine"));
    assert!(taken.said.contains("given to this session") && taken.said.contains("loop abort"));
    assert_eq!(taken.notes.len(), 1);
    let second = at_stop(&taken.state, &alone);
    assert!(!second.said.contains("given to this session"), "told once");

    let several = at_stop(&orphan, &facts());
    assert_eq!((several.rule, several.holds()), ("unclaimed", false));
    assert!(several.notes[0].contains("loop adopt"));
}

/// Who owns a loop of `mine` in client 7 after another session starts.
#[test]
fn ownership_follows_clear_and_resume_but_no_fork() {
    use StartSource::{Clear, Compact, Fork, Resume, Startup};
    let table = [
        (
            "next",
            Clear,
            Some(Client(7)),
            "next",
            "the same client, cleared",
        ),
        (
            "next",
            Clear,
            Some(Client(8)),
            "mine",
            "another client was cleared",
        ),
        (
            "next",
            Clear,
            None,
            "mine",
            "a client that is not known proves nothing",
        ),
        (
            "next",
            Startup,
            Some(Client(7)),
            "mine",
            "a new session is not the old one",
        ),
        (
            "next",
            Fork,
            Some(Client(7)),
            "mine",
            "a fork takes nothing along",
        ),
        ("mine", Resume, Some(Client(9)), "mine", "resumed elsewhere"),
        ("mine", Compact, Some(Client(7)), "mine", "compacted"),
    ];
    let loop_of_mine = State::Active(run(frame(Mode::Loop, 1, 5)));
    for (here, source, client, expected, why) in table {
        let start = event(here, Kind::SessionStart { source });
        let facts = Facts { client, ..facts() };
        let taken = step::<Loop>(&loop_of_mine, &start, &facts, NOW);
        let State::Active(run) = taken.state else {
            panic!("{why}")
        };
        assert!(run.owner.is(&session(expected)), "{why}");
    }
}

#[test]
fn a_loop_started_elsewhere_follows_clear_once_its_session_was_seen() {
    let unseen = State::Active(Run {
        owner: LoopOwner::Session {
            id: session("mine"),
            client: None,
        },
        ..run(frame(Mode::Loop, 1, 5))
    });
    let end = event(
        "mine",
        Kind::SessionEnd {
            reason: EndReason::Clear,
        },
    );
    let left = step::<Loop>(&unseen, &end, &facts(), NOW).state;
    let start = event(
        "next",
        Kind::SessionStart {
            source: StartSource::Clear,
        },
    );
    let State::Active(run) = step::<Loop>(&left, &start, &facts(), NOW).state else {
        panic!("still active")
    };
    assert!(run.owner.is(&session("next")));
}

#[test]
fn the_next_session_that_starts_takes_nobodys_loop_and_is_told() {
    let orphan = State::Active(Run {
        owner: LoopOwner::Nobody,
        ..run(frame(Mode::Grind, 1, 5))
    });
    for (source, takes) in [
        (StartSource::Startup, true),
        (StartSource::Resume, true),
        (StartSource::Clear, true),
        (StartSource::Fork, false),
        (StartSource::Compact, false),
    ] {
        let start = event("mine", Kind::SessionStart { source });
        let taken = step::<Loop>(&orphan, &start, &facts(), NOW);
        assert_eq!(taken.rule == "take", takes, "{source:?}");
        assert_eq!(taken.said.contains("NO_MORE_ISSUES"), takes, "{source:?}");
    }
}

#[test]
fn what_nobody_owns_goes_to_no_helper_and_to_a_headless_run_only_if_that_was_said() {
    use OtherSessions::{Alone, Headless, Helper, Several};
    let starts = Kind::SessionStart {
        source: StartSource::Startup,
    };
    let stops = stop(Background::Quiet);
    for (owner, company, at_start, at_stop) in [
        (LoopOwner::Nobody, Alone, true, true),
        (LoopOwner::Nobody, Several, true, false),
        (LoopOwner::Nobody, Headless, false, false),
        (LoopOwner::Nobody, Helper, false, false),
        (LoopOwner::Next, Alone, true, false),
        (LoopOwner::Next, Several, true, false),
        (LoopOwner::Next, Headless, true, false),
        (LoopOwner::Next, Helper, false, false),
    ] {
        let state = State::Active(Run {
            owner: owner.clone(),
            ..run(frame(Mode::Loop, 0, 5))
        });
        let facts = Facts { company, ..facts() };
        for (kind, takes) in [(&starts, at_start), (&stops, at_stop)] {
            let taken = step::<Loop>(&state, &event("mine", kind.clone()), &facts, NOW);
            let State::Active(run) = &taken.state else {
                panic!("{taken:?}")
            };
            let why = format!("{owner:?} {company:?} {kind:?}");
            assert_eq!(run.owner.is(&session("mine")), takes, "{why}");
            assert_eq!(taken.said != "Pass", takes, "{why}");
        }
    }
}
