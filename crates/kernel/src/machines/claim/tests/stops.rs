//! Stops: what is started, said, tried again and given up.

use super::*;

#[test]
fn while_coding_nothing_is_started_and_nothing_changes() {
    let state = claimed(Phase::Coding);
    let did = at_stop(&state, &EffectStatus::Clear);
    assert_eq!((did.rule, did.need, did.said), ("coding", None, None));
    assert_eq!(did.state, state);
    assert!(did.notes.is_empty());
}

#[test]
fn a_card_that_is_behind_is_moved_once() {
    let mut behind = claim(Phase::Coding);
    behind.status = "Blocked".into();
    let state = State::Claimed {
        claim: behind,
        memory: ClaimMemory::default().about(42),
    };
    let did = stop_with(&state, Outcome::Synced(CardMove::Moved));
    assert_eq!(at_stop(&did.state, &EffectStatus::Clear).need, None);

    let off = ask(
        &state,
        &event("s1", stop(Background::Quiet)),
        &facts(BoardUse::Off),
        NOW,
        &EffectStatus::Clear,
    );
    assert_eq!(off.need, None, "no board, no call");
}

#[test]
fn what_the_board_lacks_is_said_once_and_not_tried_again() {
    let mut behind = claim(Phase::Coding);
    behind.status = "Blocked".into();
    let state = State::Claimed {
        claim: behind,
        memory: ClaimMemory::default().about(42),
    };
    let lacks = Outcome::Synced(CardMove::Lacks("no option Blocked".into()));
    let did = stop_with(&state, lacks);
    assert_eq!(did.notes.len(), 1, "{:?}", did.notes);
    assert_eq!(at_stop(&did.state, &EffectStatus::Clear).need, None);

    let away = Outcome::Synced(CardMove::Unreachable("timeout".into()));
    let did = stop_with(&state, away.clone());
    assert_eq!(
        at_stop(&did.state, &EffectStatus::Clear).need,
        None,
        "backs off"
    );
    let later = NOW.plus(Millis::seconds(120));
    let event = event("s1", stop(Background::Quiet));
    let again = ask(
        &did.state,
        &event,
        &facts(BoardUse::On),
        later,
        &EffectStatus::Clear,
    );
    let effect = again.need.expect("tried again");
    let done = EffectStatus::Done(intent(effect), away);
    let again = ask(&did.state, &event, &facts(BoardUse::On), later, &done);
    assert!(again.notes.is_empty(), "said once: {:?}", again.notes);
}

#[test]
fn the_pull_requests_address_reaches_the_agent() {
    let did = stop_with(&claimed(Phase::ReadyForPr), opened(CardMove::Moved));
    let State::Claimed { claim, .. } = &did.state else {
        panic!("{:?}", did.state)
    };
    assert_eq!(claim.phase, Phase::PrCreated);
    assert_eq!(claim.pr_number, Some(107));
    assert_eq!(claim.status, status::IN_REVIEW);
    assert_eq!(claim.last_synced_status.as_deref(), Some(status::IN_REVIEW));
    let said = did.said.expect("a hold");
    assert!(
        said.starts_with("PR #107 created: https://github.com/o/r/pull/107"),
        "{said}"
    );
}

#[test]
fn a_missing_summary_or_branch_is_told_once_and_the_phase_stays() {
    for (branch, summary, part) in [
        ("", "Fix", "branch is"),
        ("--evil", "Fix", "branch is"),
        ("b", "", "summary cannot"),
        ("b", " \n ", "summary cannot"),
        ("b", "\u{200b}", "summary cannot"),
    ] {
        let mut lacking = claim(Phase::ReadyForPr);
        lacking.branch = branch.into();
        lacking.summary = summary.into();
        let state = State::Claimed {
            claim: lacking,
            memory: ClaimMemory::default().about(42),
        };
        let did = at_stop(&state, &EffectStatus::Clear);
        assert_eq!(did.need, None);
        assert!(
            did.said.as_ref().is_some_and(|said| said.contains(part)),
            "{did:?}"
        );
        assert_eq!(Claim::label(&did.state), "ready_for_pr");
        let again = at_stop(&did.state, &EffectStatus::Clear);
        assert_eq!(
            again.said, None,
            "the same thing is not said twice in a row"
        );
        assert_eq!(again.notes.len(), 1, "but the person hears of it");
    }
}

#[test]
fn a_failure_waits_and_in_the_end_gives_up() {
    let mut state = claimed(Phase::ReadyForPr);
    let mut now = NOW;
    let stop = event("s1", stop(Background::Quiet));
    let mut attempts = 0;
    let mut told = 0;
    for _ in 0..2_000 {
        let asked = ask(
            &state,
            &stop,
            &facts(BoardUse::On),
            now,
            &EffectStatus::Clear,
        );
        let Some(effect) = asked.need else {
            now = now.plus(Millis::seconds(60));
            continue;
        };
        attempts += 1;
        let done = EffectStatus::Done(intent(effect), fault("HTTP 502"));
        let did = ask(&state, &stop, &facts(BoardUse::On), now, &done);
        told += u32::from(did.said.is_some());
        state = did.state;
    }
    assert_eq!(attempts, 5);
    assert_eq!(told, 2, "at the first failure and at the last");
    assert_eq!(Claim::label(&state), "failed");
}

#[test]
fn a_rate_limit_is_kept() {
    let reset = NOW.plus(Millis::seconds(3_600));
    let limited = Outcome::Failed(Fault {
        not_before: Some(reset),
        ..Fault::new("HTTP 429")
    });
    let did = stop_with(&claimed(Phase::ReadyForPr), limited);
    let stop = event("s1", stop(Background::Quiet));
    let at = |now| {
        ask(
            &did.state,
            &stop,
            &facts(BoardUse::On),
            now,
            &EffectStatus::Clear,
        )
        .need
    };
    assert_eq!(at(Millis(reset.0 - 1)), None);
    assert!(at(reset).is_some());
}

#[test]
fn another_sessions_news_waits_for_it() {
    let State::Claimed { claim, memory } = claimed(Phase::ReadyForPr) else {
        panic!()
    };
    let state = State::Claimed {
        claim,
        memory: ClaimMemory {
            owner: Some(session("owner")),
            ..memory
        },
    };
    let did = stop_with(&state, opened(CardMove::Moved));
    assert_eq!(did.said, None, "a stranger is not held");
    assert_eq!(did.notes.len(), 1);
    let prompt = Kind::Prompt {
        author: Author::Person,
    };
    let owner = event("owner", prompt);
    let heard = ask(
        &did.state,
        &owner,
        &facts(BoardUse::On),
        NOW,
        &EffectStatus::Clear,
    );
    assert!(
        heard
            .said
            .is_some_and(|said| said.contains("PR #107 created"))
    );
}

#[test]
fn a_process_that_died_in_it_leads_to_the_same_effect_again() {
    for phase in [Phase::ReadyForPr, Phase::Done] {
        let state = claimed(phase);
        let first = at_stop(&state, &EffectStatus::Clear).need.expect("due");
        let again = at_stop(&state, &EffectStatus::Abandoned(intent(first.clone())));
        assert_eq!(
            again.need,
            Some(first),
            "it looks first, so it may be repeated"
        );
    }
}

#[test]
fn the_prompt_with_which_the_agent_hears_of_the_merge_is_no_answer_to_it() {
    let idle = event("s1", Kind::Idle);
    let merged = Pull {
        state: PullState::Merged,
        ..pull(&[])
    };
    let state = claimed(Phase::ChecksRunning);
    let done = EffectStatus::Done(
        intent(Effect::Poll {
            pr: 107,
            known: None,
        }),
        Outcome::Polled(merged),
    );
    let mut state = ask(&state, &idle, &facts(BoardUse::On), NOW, &done).state;
    let prompt = event(
        "s1",
        Kind::Prompt {
            author: Author::Person,
        },
    );
    for expected in [Consent::Asked, Consent::Spoken, Consent::Spoken] {
        state = ask(
            &state,
            &prompt,
            &facts(BoardUse::On),
            NOW,
            &EffectStatus::Clear,
        )
        .state;
        assert_eq!(state.memory().map(|memory| memory.consent), Some(expected));
    }
}

#[test]
fn advice_names_what_to_type() {
    let claim = claim(Phase::ReadyForPr);
    let lacks = [
        Missing::Claim {
            by: "bob@box".into(),
        },
        Missing::Unpushed,
        Missing::Behind,
        Missing::Rewritten {
            remote: "fork".into(),
        },
        Missing::NotAhead {
            base: "main".into(),
        },
        Missing::Branch("it is empty".into()),
        Missing::Summary("it is empty".into()),
        Missing::Remote(
            "the remote `origin` is `/srv/x`, which names no repository on GitHub".into(),
        ),
    ];
    let texts: Vec<String> = lacks.iter().map(|lack| lack.advice(&claim)).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn done_in_the_file_closes_nothing_that_nobody_let_be_closed() {
    for phase in [Phase::Done, failure(Task::Close, Next::At(NOW))] {
        for consent in [Consent::NotAsked, Consent::Asked, Consent::Spoken] {
            let State::Claimed { claim, mut memory } = claimed(phase.clone()) else {
                panic!("it is claimed")
            };
            memory.consent = consent;
            let state = State::Claimed { claim, memory };
            let first = at_stop(&state, &EffectStatus::Clear);
            assert_eq!((first.rule, first.need), ("unconsented", None));
            assert!(first.said.is_some_and(|said| said.contains("claim done")));
            let again = at_stop(&first.state, &EffectStatus::Clear);
            assert_eq!((again.rule, again.said), ("unconsented", None), "held once");
            assert!(
                again.notes[0].contains("is not closed"),
                "{:?}",
                again.notes
            );
        }
    }
}

#[test]
fn the_drop_in_closes_what_the_file_says_if_the_pull_request_is_merged() {
    let State::Claimed { claim, mut memory } = claimed(Phase::Done) else {
        panic!("it is claimed")
    };
    memory.consent = Consent::Asked;
    let state = State::Claimed { claim, memory };
    let drop_in = Facts {
        is_script: true,
        ..facts(BoardUse::Off)
    };
    let stop = event("s1", stop(Background::Quiet));
    let asked = ask(&state, &stop, &drop_in, NOW, &EffectStatus::Clear);
    assert!(matches!(asked.need, Some(Effect::Close(close)) if close.only_if_merged));
}

#[test]
fn a_stop_where_nobody_attends_looks_at_the_pull_request() {
    let headless = Facts {
        headless: true,
        ..facts(BoardUse::On)
    };
    let state = claimed(Phase::PrCreated);
    let stop = event("s1", stop(Background::Quiet));
    let at = |state: &State, effect_status: &EffectStatus<Claim>| {
        ask(state, &stop, &headless, NOW, effect_status)
    };
    let effect = at(&state, &EffectStatus::Clear).need.expect("a look");
    let merged = Pull {
        state: PullState::Merged,
        ..pull(&[])
    };
    let done = |outcome| EffectStatus::Done(intent(effect.clone()), outcome);
    let did = at(&state, &done(Outcome::Polled(merged)));
    assert_eq!(did.rule, "merged");
    assert!(
        did.said
            .is_some_and(|said| said.contains("Should I close issue #42?"))
    );
    let open = at(&state, &done(Outcome::Polled(pull(&[]))));
    assert_eq!((open.rule, open.said), ("polled", None));
    assert_eq!(
        at(&open.state, &EffectStatus::Clear).need,
        None,
        "throttled"
    );
    let away = at(&state, &done(fault("no such host")));
    assert!(
        away.notes[0].contains("cannot be reached"),
        "{:?}",
        away.notes
    );
    assert_eq!(
        at(&away.state, &EffectStatus::Clear).need,
        None,
        "throttled"
    );
    assert_eq!(
        at_stop(&state, &EffectStatus::Clear).need,
        None,
        "a watcher looks there"
    );
}

#[test]
fn no_sentence_ends_twice() {
    let mut texts = Vec::new();
    for phase in every_phase() {
        for cause in ["It broke.", "It broke..", "It broke"] {
            let state = claimed(phase.clone());
            let asked = at_stop(&state, &EffectStatus::Clear);
            if let Some(effect) = asked.need {
                for outcome in [
                    fault(cause),
                    opened(CardMove::Lacks(cause.into())),
                    opened(CardMove::MovedOnly(cause.into())),
                ] {
                    let did = at_stop(&state, &EffectStatus::Done(intent(effect.clone()), outcome));
                    texts.extend(did.said);
                    texts.extend(did.notes);
                    let start = event(
                        "s1",
                        Kind::SessionStart {
                            source: StartSource::Resume,
                        },
                    );
                    let told = ask(
                        &did.state,
                        &start,
                        &facts(BoardUse::Off),
                        NOW,
                        &EffectStatus::Clear,
                    );
                    texts.extend(told.said);
                }
            }
        }
    }
    assert!(texts.len() > 20, "{}", texts.len());
    for text in texts {
        assert!(!text.contains(".."), "{text}");
    }
}
