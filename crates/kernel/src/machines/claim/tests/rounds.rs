//! Red CI, and an agent that answers each failure with a push.

use super::super::rounds::{APART, MOST, waiting};
use super::super::watch::Before;
use super::*;

/// A pull request whose newest commit has failed.
fn red(commit: u32) -> Pull {
    Pull {
        head: alloc::format!("c{commit}"),
        ..pull(&[("test", CheckState::Failed, Need::Optional)])
    }
}

/// What a look saw, at this time.
fn look_at(kind: &Kind, state: &State, pull: Pull, now: Millis) -> Did {
    let effect = Effect::Poll {
        pr: 107,
        known: None,
    };
    let done = EffectStatus::Done(intent(effect), Outcome::Polled(pull));
    ask(
        state,
        &event("s1", kind.clone()),
        &facts(BoardUse::Off),
        now,
        &done,
    )
}

fn at(kind: &Kind, state: &State, now: Millis) -> Did {
    let clear = EffectStatus::Clear;
    ask(
        state,
        &event("s1", kind.clone()),
        &facts(BoardUse::Off),
        now,
        &clear,
    )
}

fn prompt(author: Author) -> Kind {
    Kind::Prompt { author }
}

fn told(state: &State) -> u32 {
    state.memory().expect("a claim").rounds.told
}

fn waits(state: &State) -> Option<String> {
    match state {
        State::Claimed { claim, memory } => waiting(claim, memory, MOST),
        State::Unclaimed(_) | State::Newer { .. } => None,
    }
}

/// The agent was told of as many failures as it may be told of.
fn used_up() -> (State, Millis) {
    let mut state = claimed(Phase::ChecksRunning);
    let mut now = NOW;
    for commit in 0..MOST {
        let woken = look_at(&Kind::Watch, &state, red(commit), now);
        assert!(woken.said.is_some_and(|text| text.starts_with("CI failed")));
        assert_eq!(woken.notes, [""; 0]);
        state = woken.state;
        now = now.plus(APART);
    }
    (state, now)
}

#[test]
fn two_failures_that_are_told_are_a_minute_apart() {
    let first = look_at(&Kind::Watch, &claimed(Phase::ChecksRunning), red(1), NOW);
    assert!(first.said.is_some());
    let soon = NOW.plus(Millis::seconds(1));
    let second = look_at(&Kind::Watch, &first.state, red(2), soon);
    assert_eq!((second.said, second.notes.len()), (None, 0));
    let me = session("s1");
    let before = |now| second.state.before_look(Some(&me), MOST, NOW, now);
    assert_eq!(before(soon), Before::Look, "it may be merged meanwhile");
    assert_eq!(
        second
            .state
            .before_look(Some(&me), MOST, NOW.plus(APART), soon),
        Before::Wait
    );
    let stop = stop(Background::Quiet);
    assert_eq!(at(&stop, &second.state, soon).said, None);
    let later = NOW.plus(APART);
    let woken = at(&Kind::Watch, &second.state, later);
    assert_eq!(woken.rule, "wake");
    assert!(woken.said.is_some_and(|text| text.starts_with("CI failed")));
    assert!(at(&stop, &second.state, later).said.is_some());
    assert_eq!(waits(&second.state), None, "it only waits for the clock");
}

#[test]
fn after_five_failures_it_waits_for_the_person_whoever_looked() {
    let (state, now) = used_up();
    let headless = Facts {
        headless: true,
        ..facts(BoardUse::Off)
    };
    let poll = intent(Effect::Poll {
        pr: 107,
        known: None,
    });
    let seen = EffectStatus::Done(poll, Outcome::Polled(red(9)));
    for kind in [Kind::Watch, Kind::Idle, stop(Background::Quiet)] {
        let did = ask(&state, &event("s1", kind.clone()), &headless, now, &seen);
        assert_eq!(told(&did.state), MOST, "{kind:?}");
        let sentence = waits(&did.state).expect("it waits");
        assert!(
            sentence
                .starts_with("CI of PR #107 failed again, and the agent was told of 5 failures"),
            "{sentence}"
        );
        let person = if kind == Kind::Idle {
            did.said.into_iter().collect()
        } else {
            assert_eq!(did.said, None, "{kind:?}");
            did.notes
        };
        assert!(person.concat().contains(&sentence), "{kind:?}: {person:?}");
        let stop = stop(Background::Quiet);
        let later = at(&stop, &did.state, now.plus(APART));
        assert_eq!((later.rule, later.said), ("ci-limit", None));
    }
}

#[test]
fn the_person_is_told_once_at_a_stop_or_when_idle() {
    let (state, now) = used_up();
    let state = look_at(&Kind::Watch, &state, red(9), now).state;
    for kind in [Kind::Idle, stop(Background::Quiet)] {
        let heard = |did: &Did| did.said.iter().chain(&did.notes).count();
        let State::Claimed { mut claim, memory } = state.clone() else {
            panic!()
        };
        claim.last_check_poll = Some(now);
        let memory = ClaimMemory {
            not_before: Some(now.plus(APART)),
            ..memory
        };
        let first = at(&kind, &State::Claimed { claim, memory }, now);
        assert_eq!(heard(&first), 1, "{kind:?}");
        assert_eq!(heard(&at(&kind, &first.state, now)), 0, "{kind:?}");
    }
}

#[test]
fn a_persons_prompt_tells_it_and_begins_again() {
    let (state, now) = used_up();
    let state = look_at(&Kind::Watch, &state, red(9), now).state;
    let anothers = event("s2", prompt(Author::Person));
    let (off, clear) = (facts(BoardUse::Off), EffectStatus::Clear);
    let State::Claimed { claim, memory } = state.clone() else {
        panic!()
    };
    let owned = State::Claimed {
        claim,
        memory: ClaimMemory {
            owner: Some(session("s1")),
            ..memory
        },
    };
    let elsewhere = ask(&owned, &anothers, &off, now, &clear);
    assert_eq!((told(&elsewhere.state), elsewhere.said), (MOST, None));
    let did = at(&prompt(Author::Person), &state, now);
    assert!(did.said.is_some_and(|text| text.starts_with("CI failed")));
    assert_eq!(told(&did.state), 1);
    assert_eq!(waits(&did.state), None);
    let next = look_at(&Kind::Watch, &did.state, red(10), now.plus(APART));
    assert!(next.said.is_some());
}

#[test]
fn other_news_wakes_the_agent_all_the_same() {
    let (state, now) = used_up();
    let state = look_at(&Kind::Watch, &state, red(9), now).state;
    let reviewed = Pull {
        review: super::super::pull::Review::ChangesRequested,
        ..red(9)
    };
    let woken = look_at(&Kind::Watch, &state, reviewed, now);
    assert_eq!(
        woken.said.as_deref(),
        Some("A reviewer of PR #107 requests changes: https://github.com/o/r/pull/107")
    );
    assert!(waits(&woken.state).is_some(), "red still waits");
    let green = pull(&[("test", CheckState::Passed, Need::Optional)]);
    let woken = look_at(&Kind::Watch, &state, green, now);
    assert!(
        woken
            .said
            .is_some_and(|text| text.starts_with("CI passed!"))
    );
    assert_eq!(waits(&woken.state), None);
    let closed = Pull {
        state: PullState::Closed,
        ..red(9)
    };
    assert_eq!(
        waits(&look_at(&Kind::Watch, &state, closed, now).state),
        None
    );
    let merged = Pull {
        state: PullState::Merged,
        ..red(9)
    };
    let woken = look_at(&Kind::Watch, &state, merged, now);
    assert!(woken.said.is_some_and(|text| !text.contains("CI failed")));
    assert_eq!(waits(&woken.state), None);
}

#[test]
fn without_a_limit_only_the_minute_counts() {
    let (state, now) = used_up();
    let state = look_at(&Kind::Watch, &state, red(9), now).state;
    let unlimited = Facts {
        max_ci_rounds: 0,
        ..facts(BoardUse::Off)
    };
    let watch = event("s1", Kind::Watch);
    let woken = ask(&state, &watch, &unlimited, now, &EffectStatus::Clear);
    assert!(woken.said.is_some());
}
