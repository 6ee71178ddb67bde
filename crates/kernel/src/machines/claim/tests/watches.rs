//! The watcher.

use super::super::rounds::MOST;
use super::super::watch::Before;
use super::*;

fn look(state: &State, effect_status: &EffectStatus<Claim>) -> Did {
    let watch = event("s1", Kind::Watch);
    ask(state, &watch, &facts(BoardUse::On), NOW, effect_status)
}

/// A look at this pull request.
fn look_at(state: &State, pull: Pull) -> Did {
    let effect = look(state, &EffectStatus::Clear).need.expect("a look");
    assert!(Claim::only_looks(&effect));
    let done = EffectStatus::Done(intent(effect), Outcome::Polled(pull));
    look(state, &done)
}

fn with_mail(phase: Phase, owner: &str) -> State {
    let State::Claimed { claim, mut memory } = claimed(phase) else {
        panic!()
    };
    memory.owner = Some(session(owner));
    memory.post(Mail::new(
        Topic::Merge,
        Weight::Wake,
        NOW,
        "PR #107 merged!".into(),
    ));
    State::Claimed { claim, memory }
}

#[test]
fn a_change_wakes_the_agent_once_and_a_look_without_one_changes_nothing() {
    let red = pull(&[("test", CheckState::Failed, Need::Optional)]);
    let first = look_at(&claimed(Phase::PrCreated), red.clone());
    assert_eq!(first.rule, "polled");
    assert!(first.said.is_some_and(|text| text.starts_with("CI failed")));
    let again = look_at(&first.state, red.clone());
    assert_eq!((again.rule, again.said), ("", None));
    assert_eq!(again.state, first.state);
    let merged = Pull {
        state: PullState::Merged,
        ..red
    };
    let over = look_at(&first.state, merged);
    assert_eq!(over.rule, "merged");
    assert!(
        over.said
            .is_some_and(|text| text.contains("Should I close issue #42?"))
    );
    let memory = over.state.memory().expect("a claim");
    assert_eq!(memory.consent, Consent::Asked, "it has been asked");
}

#[test]
fn mail_that_waits_wakes_its_own_session_and_no_other() {
    let mine = with_mail(Phase::MergedDetected, "s1");
    assert_eq!(
        mine.before_look(Some(&session("s1")), MOST, NOW, NOW),
        Before::Look
    );
    let woken = look(&mine, &EffectStatus::Clear);
    assert_eq!(woken.said.as_deref(), Some("PR #107 merged!"));
    assert!(!woken.state.has_news(MOST, NOW), "read is read");
    let foreign = with_mail(Phase::MergedDetected, "other");
    let left = look(&foreign, &EffectStatus::Clear);
    assert_eq!((left.rule, left.said), ("", None));
    let me = session("s1");
    let late = NOW.plus(Millis::seconds(3_600));
    assert_eq!(
        foreign.before_look(Some(&me), MOST, late, late),
        Before::Leave
    );
    let watch = event("s1", Kind::Watch);
    let later = ask(
        &foreign,
        &watch,
        &facts(BoardUse::On),
        late,
        &EffectStatus::Clear,
    );
    assert_eq!(later.said, None, "not after an hour either");
}

#[test]
fn a_server_that_said_when_to_come_back_is_not_asked_before() {
    let state = claimed(Phase::ChecksRunning);
    let effect = look(&state, &EffectStatus::Clear).need.expect("a look");
    let back = NOW.plus(Millis::seconds(60));
    let later = Outcome::Failed(Fault {
        not_before: Some(back),
        ..Fault::new("rate limit")
    });
    let told = look(&state, &EffectStatus::Done(intent(effect.clone()), later));
    assert_eq!(told.rule, "unpolled");
    assert_eq!(look(&told.state, &EffectStatus::Clear).need, None);
    assert_eq!(
        told.state.before_look(Some(&session("s1")), MOST, NOW, NOW),
        Before::Wait
    );
    assert_eq!(
        told.state
            .before_look(Some(&session("s1")), MOST, NOW, back),
        Before::Look
    );
    let broken = EffectStatus::Done(intent(effect), fault("HTTP 502"));
    let noted = look(&state, &broken);
    assert_eq!(noted.rule, "unpolled", "a person is told of it");
    let again = look(&noted.state, &broken);
    assert_eq!(again.rule, "", "once; the next look may fare better");
}

#[test]
fn a_watcher_waits_until_it_is_time_and_leaves_where_nothing_is_watched() {
    for (phase, before) in [
        (Phase::Coding, Before::Leave),
        (Phase::ReadyForPr, Before::Leave),
        (Phase::PrCreated, Before::Look),
        (Phase::ChecksRunning, Before::Look),
        (Phase::MergedDetected, Before::Leave),
        (Phase::Done, Before::Leave),
        (failure(Task::Open, Next::Never), Before::Leave),
    ] {
        let state = claimed(phase);
        assert_eq!(
            state.before_look(Some(&session("s1")), MOST, NOW, NOW),
            before,
            "{state:?}"
        );
        let waits = match before {
            Before::Look => Before::Wait,
            other => other,
        };
        assert_eq!(
            state.before_look(Some(&session("s1")), MOST, NOW.plus(Millis(1)), NOW),
            waits
        );
        let looks = look(&state, &EffectStatus::Clear).need.is_some();
        assert_eq!(looks, before == Before::Look, "the handler agrees");
    }
    assert_eq!(
        State::Newer { version: 2 }.before_look(Some(&session("s1")), MOST, NOW, NOW),
        Before::Leave
    );
}
