//! Events between stops: idle times, prompts, starts and ends of sessions.

use super::super::work::FaultKind;
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
            .is_some_and(|notice| notice == "PR #107: checks failed: test")
    );

    let soon = NOW.plus(Millis::seconds(119));
    let merge_only = Some(Effect::CheckMerge { pr: 107 });
    assert_eq!(
        at(&polled.state, soon, &EffectStatus::Clear).need,
        merge_only
    );
    let later = NOW.plus(Millis::seconds(120));
    let again = at(&polled.state, later, &EffectStatus::Clear).need;
    assert!(matches!(
        again,
        Some(Effect::Poll {
            pr: 107,
            known: Some(_)
        })
    ));

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
        let effect = if state.is_watched() {
            Effect::Arrive {
                pr: 107,
                known: None,
            }
        } else {
            Effect::Survey
        };
        assert_eq!(asked.need, Some(effect));
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

/// Nobody looked overnight.
#[test]
fn a_start_looks_at_the_pull_request_and_asks_at_once() {
    let start = event(
        "s2",
        Kind::SessionStart {
            source: StartSource::Resume,
        },
    );
    let state = claimed(Phase::PrCreated);
    let at = |state: &State, effect_status: &EffectStatus<Claim>| {
        ask(state, &start, &facts(BoardUse::On), NOW, effect_status)
    };
    let effect = at(&state, &EffectStatus::Clear).need.expect("a look");
    assert_eq!(effect.polls(), Some(107));
    let merged = Pull {
        state: PullState::Merged,
        merged_at: Some(Millis(7)),
        ..pull(&[])
    };
    let done = EffectStatus::Done(intent(effect.clone()), Outcome::Polled(merged));
    let did = at(&state, &done);
    assert_eq!(did.rule, "merged");
    assert!(
        did.said
            .is_some_and(|text| text.contains("Should I close issue #42?"))
    );
    let memory = did.state.memory().expect("a claim");
    assert_eq!(
        (memory.consent, memory.merged_at),
        (Consent::Asked, Some(Millis(7)))
    );
    assert_eq!(
        at(&did.state, &EffectStatus::Clear).need,
        None,
        "asked once"
    );

    let open = EffectStatus::Done(intent(effect.clone()), Outcome::Polled(pull(&[])));
    let seen = at(&state, &open);
    assert_eq!(seen.rule, "polled");
    assert_eq!(
        at(&seen.state, &EffectStatus::Clear).need,
        None,
        "throttled"
    );

    let away = at(
        &state,
        &EffectStatus::Done(intent(effect), fault("no such host")),
    );
    assert!(
        away.notes[0].contains("GitHub cannot be reached"),
        "{:?}",
        away.notes
    );
    assert_eq!(
        at(&away.state, &EffectStatus::Clear).notes,
        [] as [String; 0],
        "told once"
    );
}

#[test]
fn a_trouble_of_the_watcher_is_told_at_the_next_prompt_once() {
    let watch = event("s1", Kind::Watch);
    let state = claimed(Phase::PrCreated);
    let facts = facts(BoardUse::On);
    let effect = ask(&state, &watch, &facts, NOW, &EffectStatus::Clear)
        .need
        .expect("a look");
    let signed_out = Outcome::Failed(Fault {
        kind: FaultKind::SignedOut,
        ..Fault::new("please run: gh auth login")
    });
    let lost = EffectStatus::Done(intent(effect), signed_out);
    let state = ask(&state, &watch, &facts, NOW, &lost).state;
    let prompt = event(
        "s1",
        Kind::Prompt {
            author: Author::Person,
        },
    );
    let told = ask(&state, &prompt, &facts, NOW, &EffectStatus::Clear);
    assert!(
        told.notes[0].contains("gh is not signed in"),
        "{:?}",
        told.notes
    );
    let again = ask(&told.state, &prompt, &facts, NOW, &EffectStatus::Clear);
    assert_eq!(again.rule, "");
}

/// The merge is asked for before the two minutes, as the seed has it.
#[test]
fn a_merge_is_seen_within_the_two_minutes() {
    let idle = event("s1", Kind::Idle);
    let State::Claimed { mut claim, memory } = claimed(Phase::ChecksRunning) else {
        panic!()
    };
    claim.last_check_poll = Some(NOW);
    let state = State::Claimed { claim, memory };
    let at = |effect_status: &EffectStatus<Claim>| {
        ask(&state, &idle, &facts(BoardUse::On), NOW, effect_status)
    };
    let effect = at(&EffectStatus::Clear).need.expect("a look");
    assert_eq!(effect, Effect::CheckMerge { pr: 107 });
    let not_yet = EffectStatus::Done(intent(effect.clone()), Outcome::MergeChecked(None));
    assert_eq!(
        (at(&not_yet).rule, &at(&not_yet).state),
        ("poll-backoff", &state)
    );
    let pull = Pull {
        state: PullState::Merged,
        ..pull(&[])
    };
    let merged = EffectStatus::Done(intent(effect), Outcome::MergeChecked(Some(pull)));
    let did = at(&merged);
    assert_eq!(did.rule, "merged");
    let notice = did.said.expect("a notice");
    assert!(
        notice.starts_with("PR #107 is merged. To close issue #42"),
        "{notice}"
    );
}

#[test]
fn the_drop_in_says_at_every_poll_that_checks_still_run() {
    let idle = event("s1", Kind::Idle);
    let facts = Facts {
        is_script: true,
        ..facts(BoardUse::Off)
    };
    let running = pull(&[("test", CheckState::Running, Need::Optional)]);
    let mut state = claimed(Phase::PrCreated);
    for minutes in [0, 2, 4] {
        let now = NOW.plus(Millis::seconds(60 * minutes));
        let effect = ask(&state, &idle, &facts, now, &EffectStatus::Clear)
            .need
            .expect("a poll");
        let done = EffectStatus::Done(intent(effect), Outcome::Polled(running.clone()));
        let did = ask(&state, &idle, &facts, now, &done);
        let said = did.said.expect("a message");
        assert_eq!(said, "CI for PR #107: 0/1 passed, 1 still running.");
        state = did.state;
    }
}

#[test]
fn a_due_retry_is_taken_up_while_the_agent_is_idle() {
    for kind in [Kind::Idle, Kind::Watch] {
        let event = event("s1", kind);
        let facts = facts(BoardUse::On);
        let early = claimed(failure(Task::Open, Next::At(NOW.plus(Millis(1)))));
        assert_eq!(
            ask(&early, &event, &facts, NOW, &EffectStatus::Clear).need,
            None
        );
        let state = claimed(failure(Task::Open, Next::At(NOW)));
        let effect = ask(&state, &event, &facts, NOW, &EffectStatus::Clear)
            .need
            .expect("a retry");
        let done = EffectStatus::Done(intent(effect), opened(CardMove::Moved));
        let did = ask(&state, &event, &facts, NOW, &done);
        assert_eq!(Claim::label(&did.state), "pr_created");
        assert!(
            did.said
                .is_some_and(|said| said.starts_with("PR #107 created"))
        );
    }
    let unconsented = with_consent_not_given(&claimed(failure(Task::Close, Next::At(NOW))));
    let idle = event("s1", Kind::Idle);
    let asked = ask(
        &unconsented,
        &idle,
        &facts(BoardUse::On),
        NOW,
        &EffectStatus::Clear,
    );
    assert_eq!(asked.need, None, "nobody let it be closed");
}

fn with_consent_not_given(state: &State) -> State {
    let memory = ClaimMemory {
        consent: Consent::Asked,
        ..state.memory().cloned().expect("a memory")
    };
    state.with_memo(memory)
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
