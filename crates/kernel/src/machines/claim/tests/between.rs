//! Events between stops: idle times, prompts, starts and ends of sessions.

use super::*;

#[test]
fn idle_polls_once_in_two_minutes_and_its_news_waits() {
    let idle = event("s1", Kind::Idle);
    let state = claimed(Phase::PrCreated);
    let at = |state: &State, now, effect_status: &EffectStatus<Claim>| {
        ask(state, &idle, &facts(BoardUse::On), now, effect_status)
    };
    let effect = at(&state, NOW, &EffectStatus::Clear).need.expect("a poll");
    let red = pull(&[("test", CheckState::Failed, Need::Optional)]);
    let done = EffectStatus::Done(intent(effect), Outcome::Polled(red));
    let polled = at(&state, NOW, &done);
    assert_eq!(polled.rule, "polled");
    assert!(
        polled
            .said
            .is_some_and(|notice| notice.contains("FAILED: test"))
    );

    let soon = NOW.plus(Millis::seconds(119));
    assert_eq!(at(&polled.state, soon, &EffectStatus::Clear).need, None);
    let later = NOW.plus(Millis::seconds(120));
    assert!(
        at(&polled.state, later, &EffectStatus::Clear)
            .need
            .is_some()
    );

    let stopped = at_stop(&polled.state, &EffectStatus::Clear);
    assert!(stopped.said.is_none() || stopped.need.is_none());
    let prompt = event(
        "s1",
        Kind::Prompt {
            author: Author::Person,
        },
    );
    let told = ask(
        &polled.state,
        &prompt,
        &facts(BoardUse::On),
        soon,
        &EffectStatus::Clear,
    );
    assert!(told.said.is_some_and(|text| text.contains("FAILED: test")));
    let again = ask(
        &told.state,
        &prompt,
        &facts(BoardUse::On),
        soon,
        &EffectStatus::Clear,
    );
    assert_eq!(again.said, None, "once");
}

#[test]
fn a_persons_prompt_after_the_question_is_noted_and_the_hosts_is_not() {
    let State::Claimed { claim, .. } = claimed(Phase::MergedDetected) else {
        panic!()
    };
    let state = State::Claimed {
        claim,
        memory: ClaimMemory {
            issue: Some(42),
            consent: Consent::Asked,
            ..ClaimMemory::default()
        },
    };
    for (author, consent) in [
        (Author::Host, Consent::Asked),
        (Author::Person, Consent::Spoken),
    ] {
        let prompt = event("s1", Kind::Prompt { author });
        let did = ask(
            &state,
            &prompt,
            &facts(BoardUse::On),
            NOW,
            &EffectStatus::Clear,
        );
        assert_eq!(
            did.state.memory().map(|memory| memory.consent),
            Some(consent)
        );
    }
}

#[test]
fn without_a_claim_a_merge_names_the_next_item_once_and_never_null() {
    let idle = event("s1", Kind::Idle);
    let ask_idle = |state: &State, now, effect_status: &EffectStatus<Claim>| {
        ask(state, &idle, &facts(BoardUse::On), now, effect_status)
    };
    let free = State::Unclaimed(ClaimMemory::default());
    let look = ask_idle(&free, NOW, &EffectStatus::Clear)
        .need
        .expect("a look");
    for (next, words) in [
        (
            Some(Item {
                issue: 43,
                title: "Tidy\nup".into(),
            }),
            "#43 Tidy up",
        ),
        (None, "Nothing is waiting"),
    ] {
        let merged = Outcome::Looked(BranchStatus::Merged { pr: 9, next });
        let done = EffectStatus::Done(intent(look.clone()), merged);
        let did = ask_idle(&free, NOW, &done);
        let said = did.said.expect("a notice");
        assert!(said.contains(words) && !said.contains("null"), "{said}");
        assert_eq!(
            ask_idle(&did.state, NOW, &EffectStatus::Clear).need,
            None,
            "backs off"
        );
        let later = NOW.plus(Millis::seconds(120));
        assert!(
            ask_idle(&did.state, later, &EffectStatus::Clear)
                .need
                .is_some()
        );
        assert_eq!(
            ask_idle(&did.state, later, &done).said,
            None,
            "once per merge"
        );
    }
}

#[test]
fn a_start_tells_where_things_stand_and_takes_an_orphaned_claim() {
    let start = event(
        "s2",
        Kind::SessionStart {
            source: StartSource::Startup,
        },
    );
    let mut texts = Vec::new();
    let survey = Outcome::Surveyed(Survey::Board {
        title: "Work".into(),
        columns: Vec::from([("Todo".into(), 3), ("In Progress".into(), 1)]),
        next: Vec::from([Item {
            issue: 43,
            title: "Tidy up".into(),
        }]),
    });
    for phase in [
        Phase::Coding,
        Phase::ReadyForPr,
        Phase::ChecksRunning,
        Phase::MergedDetected,
        Phase::Done,
        failure(Task::Open, Next::Never),
    ] {
        let state = claimed(phase);
        let asked = ask(
            &state,
            &start,
            &facts(BoardUse::On),
            NOW,
            &EffectStatus::Clear,
        );
        assert_eq!(asked.need, Some(Effect::Survey));
        let done = EffectStatus::Done(intent(Effect::Survey), survey.clone());
        let did = ask(&state, &start, &facts(BoardUse::On), NOW, &done);
        assert_eq!(
            did.state.memory().and_then(|memory| memory.owner.clone()),
            Some(session("s2"))
        );
        texts.push(did.said.expect("context"));
    }
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn a_claim_is_left_by_the_session_that_ends() {
    let State::Claimed { claim, memory } = claimed(Phase::Coding) else {
        panic!()
    };
    let state = State::Claimed {
        claim,
        memory: ClaimMemory {
            owner: Some(session("s1")),
            ..memory
        },
    };
    let end = Kind::SessionEnd {
        reason: EndReason::Other,
    };
    let mine = ask(
        &state,
        &event("s1", end.clone()),
        &facts(BoardUse::On),
        NOW,
        &EffectStatus::Clear,
    );
    assert_eq!(
        mine.state.memory().and_then(|memory| memory.owner.clone()),
        None
    );
    let other = ask(
        &state,
        &event("s9", end),
        &facts(BoardUse::On),
        NOW,
        &EffectStatus::Clear,
    );
    assert_eq!(other.rule, "");
}
