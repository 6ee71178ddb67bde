//! The safety invariants of the loop's specification, and our own, over arbitrary loops and events.

use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::tests::{COMPANIES, facts, owner};
use super::*;
use crate::event::Event;
use crate::machines::conformance::{event, every_kind, settle, step, stop};

fn modes() -> impl Strategy<Value = Mode> {
    prop::sample::select(Mode::ALL.to_vec())
}

fn frames() -> impl Strategy<Value = Frame> {
    (modes(), 0..12_u32, 0..12_u32).prop_map(|(mode, iter, max)| Frame {
        id: "f".to_string(),
        mode,
        iter,
        max,
    })
}

fn owners() -> impl Strategy<Value = LoopOwner> {
    prop_oneof![
        Just(owner("mine")),
        Just(owner("theirs")),
        Just(LoopOwner::Nobody),
        Just(LoopOwner::Next)
    ]
}

fn runs() -> impl Strategy<Value = Run> {
    (
        prop::collection::vec(frames(), 0..3),
        frames(),
        owners(),
        0..20_000_u64,
    )
        .prop_map(|(outer, top, owner, updated)| Run {
            id: "loop-1".to_string(),
            updated: Millis::seconds(updated),
            owner,
            outer,
            top,
            adopted: false,
        })
}

fn states() -> impl Strategy<Value = State> {
    let endings = || prop::sample::select(Ending::ALL.to_vec());
    prop_oneof![
        Just(State::Idle(Past::Blank)),
        runs().prop_map(State::Active),
        (runs(), endings()).prop_map(|(run, ending)| State::Completing { run, ending }),
        owners().prop_map(|owner| State::Aborted {
            cause: "x".into(),
            owner
        }),
        Just(State::Corrupt("iter is \"x\"".into())),
    ]
}

fn seen() -> impl Strategy<Value = Facts> {
    let heard = prop_oneof![
        Just(SpokenSignal::Nothing),
        Just(SpokenSignal::Near(
            "token in a quote, line 1: say it bare".into()
        )),
        prop::sample::select(Ending::ALL.to_vec()).prop_map(SpokenSignal::Said),
    ];
    let rules = [LoopRules::default(), LoopRules::OF_SCRIPT];
    let rules = prop::sample::select(Vec::from(rules));
    let client = prop::option::of(5..9_u32);
    let companies = prop::sample::select(COMPANIES.to_vec());
    let lives = prop::sample::select(Vec::from([OwnerLife::Live, OwnerLife::Gone]));
    let seen = (heard, companies, client, rules, lives, any::<bool>());
    seen.prop_map(|(heard, company, client, rules, owner, waits)| Facts {
        heard,
        rules,
        company,
        owner,
        waits,
        client: client.map(Client),
        ..facts()
    })
}

fn events() -> impl Strategy<Value = Event> {
    (
        prop::sample::select(Vec::from(["mine", "theirs", "third", ""])),
        prop::sample::select(every_kind()),
    )
        .prop_map(|(here, kind)| event(here, kind))
}

fn depth(state: &State) -> usize {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => run.depth(),
        State::Idle(_) | State::Aborted { .. } | State::Corrupt(_) => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// 1. A stale loop never goes on. 2. Nor does one whose state cannot be read. 3. A stop is held
    /// only while a frame of this session iterates, and that uses up one of its iterations and
    /// nothing else.
    #[test]
    fn holds_only_while_iterating(state in states(), event in events(), facts in seen(), now in 0..20_000_u64) {
        let now = Millis::seconds(now);
        let taken = step::<Loop>(&state, &event, &facts, now);
        if !taken.holds() {
            return Ok(());
        }
        let (State::Active(before), State::Active(after)) = (&state, &taken.state) else {
            return Err(TestCaseError::fail("held without an active loop"));
        };
        prop_assert!(now.since(before.updated) <= facts.ttl, "stale");
        prop_assert!(before.top.iter < before.top.max, "spent");
        if let Some(here) = &event.session {
            prop_assert!(after.owner.is(here), "not its own");
            prop_assert!(before.owner.session().is_none_or(|owner| owner == here));
            prop_assert!(before.owner.is(here) || facts.company != OtherSessions::Helper);
            let attended = facts.company.is_attended() || facts.rules.for_anybody;
            prop_assert!(before.owner.is(here) || attended);
        } else {
            prop_assert!(facts.rules.for_anybody);
            prop_assert_eq!(&after.owner, &before.owner);
        }
        let mut expected = before.clone();
        expected.top.iter += 1;
        expected.updated = now;
        expected.owner = after.owner.clone();
        prop_assert_eq!(after, &expected);
    }

    /// 4. Only the signal itself completes a frame, and no frame is removed before the agent may
    /// stop.
    #[test]
    fn only_the_signal_completes(state in states(), event in events(), facts in seen(), now in 0..20_000_u64) {
        let taken = step::<Loop>(&state, &event, &facts, Millis::seconds(now));
        let completes = matches!(taken.state, State::Completing { .. })
            && !matches!(state, State::Completing { .. });
        if completes {
            let used_up = match &state {
                State::Active(run) => run.top.iter >= run.top.max && !run.outer.is_empty(),
                _ => false,
            };
            prop_assert!(used_up || matches!(facts.heard, SpokenSignal::Said(_)));
        }
        let ended = matches!(taken.rule, "stale" | "corruption" | "aborted");
        prop_assert!(ended || depth(&taken.state) == depth(&state), "popped by an event");
        let spent = matches!(taken.state, State::Stuck(_));
        prop_assert!(
            spent || depth(&settle::<Loop>(&taken.state, Settled::Continued).0) == depth(&taken.state),
            "popped although the agent goes on"
        );
    }

    /// 1., at every event: a stale loop is neither given to anybody nor called one that goes on,
    /// unless it waited for the person who now prompts. Whoever ends it says so, once.
    #[test]
    fn what_is_stale_is_over(run in runs(), event in events(), facts in seen(), late in 1..20_000_u64) {
        let now = run.updated.plus(facts.ttl).plus(Millis(late));
        for state in [
            State::Active(run.clone()),
            State::Completing { run: run.clone(), ending: Ending::Complete },
        ] {
            let taken = step::<Loop>(&state, &event, &facts, now);
            prop_assert!(!taken.holds());
            match &taken.state {
                State::Idle(_) => {
                    prop_assert_eq!(taken.rule, "stale");
                    prop_assert_eq!(taken.notes.len(), 1);
                }
                after if facts.waits && matches!(taken.rule, "renewed" | "taken-back" | "typed") => {
                    prop_assert!(matches!(after, State::Active(run) if run.updated == now));
                }
                State::Active(after) => {
                    prop_assert_eq!(after.updated, run.updated, "it does not become young again");
                    prop_assert!(!taken.notes.iter().any(|note| note.contains("goes on")));
                    prop_assert_eq!(after.owner.session(), run.owner.session());
                }
                after => prop_assert_eq!(after, &state),
            }
        }
    }

    /// Another session's events do not change a loop that has an owner.
    #[test]
    fn others_change_nothing(run in runs(), event in events(), facts in seen(), now in 0..20_000_u64) {
        let run = Run { owner: owner("somebody"), ..run };
        let cleared_here = facts.client == Some(Client(7))
            && event.kind == Kind::SessionStart { source: crate::event::StartSource::Clear };
        let nameless = facts.rules.for_anybody && event.session.is_none();
        let left = facts.owner == OwnerLife::Gone && run.is_stale(Millis::seconds(now), facts.ttl);
        prop_assume!(!cleared_here && !nameless && !left);
        for state in [
            State::Active(run.clone()),
            State::Completing { run: run.clone(), ending: Ending::Complete },
        ] {
            let taken = step::<Loop>(&state, &event, &facts, Millis::seconds(now));
            prop_assert_eq!(&taken.state, &state);
            prop_assert!(!taken.holds());
        }
    }

    /// Without a prompt or a command in between, a loop of `max` iterations holds fewer
    /// than `max` stops per frame: it always ends.
    #[test]
    fn every_loop_ends(run in runs()) {
        let budget: u32 = run.outer.iter().chain([&run.top]).map(|frame| frame.max).sum();
        let now = run.updated;
        let mut state = State::Active(Run { owner: owner("mine"), ..run });
        let mut held = 0;
        while !matches!(state, State::Idle(_)) {
            let taken = step::<Loop>(&state, &event("mine", stop(Background::Quiet)), &facts(), now);
            held += u32::from(taken.holds());
            let settled = if taken.holds() { Settled::Continued } else { Settled::Released };
            state = settle::<Loop>(&taken.state, settled).0;
            prop_assert!(held <= budget);
        }
    }
}
