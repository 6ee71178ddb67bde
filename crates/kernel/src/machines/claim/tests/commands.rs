//! The commands of people and agents, in every state.

use pretty_assertions::assert_eq;

use super::*;
use crate::machines::claim::consent::LastWord;
use crate::machines::claim::news::Look;
use crate::machines::claim::verbs::{
    Refused, Reserved, abort, branch_for, done, handoff, integrate, look, may_take, retry, rework,
    take,
};
use crate::machines::conformance::{actors, verb};
use crate::verbs::{Actor, Refusal as _};

fn agent() -> Actor {
    Actor::Agent(Some(session("s1")))
}

fn new_claim(issue: u64) -> ClaimFile {
    ClaimFile::claimed(issue, "claude/fix".into(), "me-1".into(), "PVTI_1".into())
}

fn pulls() -> [Pull; 4] {
    let in_state = |state| Pull { state, ..pull(&[]) };
    [
        in_state(PullState::Open),
        in_state(PullState::Closed),
        in_state(PullState::Merged),
        Pull {
            number: 9,
            ..in_state(PullState::Merged)
        },
    ]
}

fn seen(pull: &Pull) -> Look<'_> {
    Look {
        pull,
        now: NOW,
        phrases: &[],
    }
}

/// Every command, by every actor.
pub(super) fn run_all(coverage: &mut Coverage, state: &State) {
    let yes_to_it = said("yes");
    for actor in actors() {
        for consent in [Consent::NotAsked, Consent::Asked, Consent::Given] {
            for merge in [None, Some(PullState::Merged)] {
                let state = &with_merge(&with_consent(state, consent), merge);
                for yes in [true, false] {
                    verb(coverage, state, done(state, &actor, yes, (None, &[])));
                    let words = (Some(&yes_to_it), &[][..]);
                    verb(coverage, state, done(state, &actor, yes, words));
                }
                verb(coverage, state, rework(state, &actor));
            }
            verb(
                coverage,
                state,
                handoff(state, "Fix the race", None, &actor),
            );
            verb(coverage, state, handoff(state, "", Some("topic"), &actor));
        }
        verb(coverage, state, integrate(state, &actor, NOW));
        verb(coverage, state, retry(state, &actor));
        for issue in [42, 43] {
            let reserved = Reserved::default();
            let took = take(state, new_claim(issue), reserved, &actor, NOW);
            verb(coverage, state, took);
        }
        for pull in pulls() {
            let looked = look(state, seen(&pull), &actor);
            verb(coverage, state, looked.map(|(step, _)| step));
        }
    }
    verb(coverage, state, abort(state, false));
}

/// A message of the user's, now, after the agent's question.
fn said(text: &str) -> LastWord {
    LastWord {
        at: NOW,
        text: text.into(),
        after: "Should I close issue #42?".into(),
    }
}

fn with_merge(state: &State, merge: Option<PullState>) -> State {
    let mut memory = state.memory().cloned().unwrap_or_default();
    memory.told.state = merge;
    state.with_memo(memory)
}

fn with_consent(state: &State, consent: Consent) -> State {
    match state {
        State::Claimed { claim, memory } => State::Claimed {
            claim: claim.clone(),
            memory: ClaimMemory {
                consent,
                ..memory.about(claim.issue_number)
            },
        },
        State::Unclaimed(_) | State::Newer { .. } => state.clone(),
    }
}

fn memory_of(state: &State) -> &ClaimMemory {
    state.memory().expect("a memory")
}

/// Each phase, and whether work may be handed over there.
#[test]
fn work_is_handed_over_until_its_pull_request_is_merged() {
    for (phase, refused) in [
        (Phase::Coding, None),
        (Phase::ReadyForPr, None),
        (Phase::PrCreated, None),
        (Phase::ChecksRunning, None),
        (failure(Task::Open, Next::Never), None),
        (Phase::MergedDetected, Some(Refused::Merged(42))),
        (Phase::Done, Some(Refused::Closing(42))),
        (
            failure(Task::Close, Next::Never),
            Some(Refused::Closing(42)),
        ),
    ] {
        let came_to = handoff(&claimed(phase.clone()), "Fix the race", None, &agent());
        assert_eq!(came_to.err(), refused, "{phase:?}");
    }
    let unclaimed = State::Unclaimed(ClaimMemory::default());
    assert_eq!(
        handoff(&unclaimed, "x", None, &agent()).err(),
        Some(Refused::NoClaim)
    );
    let newer = State::Newer { version: 2 };
    assert_eq!(
        handoff(&newer, "x", None, &agent()).err(),
        Some(Refused::Newer(2))
    );
}

#[test]
fn a_hand_over_needs_a_title_and_forgets_an_older_yes() {
    let spoken = with_consent(&claimed(Phase::ChecksRunning), Consent::Spoken);
    let Err(Refused::Lacking(advice)) = handoff(&spoken, " ", None, &agent()) else {
        panic!("it needs a title")
    };
    assert!(advice.contains("mainspring handoff --summary"), "{advice}");
    let handed = handoff(&spoken, "Fix it", None, &agent())
        .expect("allowed")
        .state;
    let memory = memory_of(&handed);
    assert_eq!(
        memory.consent,
        Consent::NotAsked,
        "it was about another one"
    );
    assert_eq!(
        memory.owner,
        Some(session("s1")),
        "the session that changes a claim gets it"
    );
    let by_person = handoff(&handed, "Fix it", None, &Actor::Person).expect("allowed");
    let owner = &memory_of(&by_person.state).owner;
    assert_eq!(
        *owner,
        Some(session("s1")),
        "a person leaves it to its session"
    );
}

#[test]
fn an_agent_closes_only_after_the_user_answered_and_a_person_with_yes() {
    let phrases = &[][..];
    let unanswered =
        |refused: &Option<Refused>| matches!(refused, Some(Refused::Unanswered { issue: 42, .. }));
    let by_hand = claimed(Phase::MergedDetected);
    let merged = with_merge(&by_hand, Some(PullState::Merged));
    for yes in [true, false] {
        let done = |state: &State, words| {
            let words = said(words);
            done(state, &agent(), yes, (Some(&words), phrases)).err()
        };
        for consent in ["yes", "close #42", "it is merged, close it"] {
            assert_eq!(done(&merged, consent), None, "{consent}");
            assert_eq!(
                done(&by_hand, consent),
                Some(Refused::NotMerged(Some(107))),
                "the file alone does not say that it is merged"
            );
        }
        for other in ["no, leave it open", "later", "yes, but run the tests first"] {
            assert!(unanswered(&done(&merged, other)), "{other}");
        }
    }
    let unseen = done(&merged, &agent(), false, (None, phrases)).err();
    assert!(unanswered(&unseen), "an event alone");
    let coding = claimed(Phase::Coding);
    let person = |state: &State, yes| done(state, &Actor::Person, yes, (None, phrases));
    assert_eq!(person(&coding, true).map(|step| step.rule), Ok("done-yes"));
    assert_eq!(person(&merged, false).err(), Some(Refused::Unconfirmed(42)));
}

#[test]
fn what_failed_is_tried_again_on_a_word_and_work_can_go_on() {
    for (task, phase) in [(Task::Open, Phase::ReadyForPr), (Task::Close, Phase::Done)] {
        let step = retry(&claimed(failure(task, Next::Never)), &agent()).expect("it failed");
        assert_eq!(Claim::label(&step.state), phase.as_str());
    }
    let refused = retry(&claimed(Phase::Coding), &agent()).err();
    assert!(matches!(refused, Some(Refused::NothingFailed { .. })));

    for (merge, pr) in [
        (Some(PullState::Open), Some(107)),
        (Some(PullState::Closed), None),
        (Some(PullState::Merged), None),
    ] {
        let state = with_merge(&claimed(Phase::ChecksRunning), merge);
        let step = rework(&with_consent(&state, Consent::Given), &agent()).expect("a claim");
        let State::Claimed { claim, memory } = step.state else {
            panic!("it stays claimed")
        };
        assert_eq!(
            (claim.phase, claim.pr_number),
            (Phase::Coding, pr),
            "{merge:?}"
        );
        assert_eq!(memory.consent, Consent::NotAsked);
    }
}

#[test]
fn a_hand_over_takes_the_branch_that_has_the_work() {
    let step = handoff(&claimed(Phase::Coding), "Fix", Some("mine"), &agent()).expect("allowed");
    let State::Claimed { claim, .. } = step.state else {
        panic!("it stays claimed")
    };
    assert_eq!(claim.branch, "mine");
}

#[test]
fn giving_up_keeps_a_reservation_that_is_still_there() {
    let state = claimed(Phase::Coding);
    let memory = ClaimMemory {
        lease: Some("c0ffee".into()),
        ..state.memory().cloned().expect("a memory")
    };
    let held = state.with_memo(memory);
    let given_up = abort(&held, true).expect("a claim").state;
    let leftover = memory_of(&given_up).leftover(NOW);
    assert!(matches!(leftover, Some(Effect::GiveBack { issue: 42, .. })));
    let given_back = abort(&held, false).expect("a claim").state;
    assert_eq!(memory_of(&given_back), &ClaimMemory::default());
}

#[test]
fn one_issue_is_claimed_at_a_time_and_a_newer_file_is_left_alone() {
    let coding = claimed(Phase::Coding);
    assert!(matches!(may_take(&coding, 42), Ok(Some(_))));
    let other = may_take(&coding, 43).err();
    let refused = Refused::AnotherIssue {
        issue: 42,
        phase: "coding",
    };
    assert_eq!(other, Some(refused.clone()));
    assert_eq!(
        take(&coding, new_claim(42), Reserved::default(), &agent(), NOW),
        Err(refused)
    );
    let newer = State::Newer { version: 2 };
    assert_eq!(may_take(&newer, 42), Err(Refused::Newer(2)));
    assert!(matches!(
        branch_for(Some("-x"), 42, "Fix"),
        Err(Refused::Branch { .. })
    ));
    assert_eq!(branch_for(Some("topic"), 42, "Fix"), Ok("topic".into()));
}

/// If a person sees the merge, it waits for the agent. If the agent sees it, it gets the question,
/// and only then can the user's next message be the answer.
#[test]
fn a_look_by_command_takes_in_what_is_new_once() {
    let [.., merged, _] = pulls();
    let running = claimed(Phase::ChecksRunning);
    let (first, told) = look(&running, seen(&merged), &Actor::Person).expect("a claim");
    assert_eq!((first.rule, told), ("merged", None));
    assert_eq!(memory_of(&first.state).mail.len(), 1);
    assert_eq!(memory_of(&first.state).consent, Consent::NotAsked);

    let (first, told) = look(&running, seen(&merged), &agent()).expect("a claim");
    assert!(told.is_some_and(|text| text.contains("close issue #42")));
    assert_eq!(memory_of(&first.state).consent, Consent::Asked);
    let (again, told) = look(&first.state, seen(&merged), &agent()).expect("a claim");
    assert_eq!((again.rule, told), ("", None), "it is watched no longer");

    let [open, ..] = pulls();
    let (first, _) = look(&running, seen(&open), &agent()).expect("a claim");
    let (again, _) = look(&first.state, seen(&open), &agent()).expect("a claim");
    assert_eq!(again.rule, "", "nothing is new");
}

#[test]
fn every_refusal_says_what_to_type_next() {
    let all = [
        Refused::NoClaim,
        Refused::Newer(2),
        Refused::AnotherIssue {
            issue: 42,
            phase: "coding",
        },
        Refused::IssueClosed(42),
        Refused::Merged(42),
        Refused::Closing(42),
        Refused::NoPull,
        Refused::Unconfirmed(42),
        Refused::Unanswered {
            issue: 42,
            examples: "`yes`".into(),
        },
        Refused::NotMerged(None),
        Refused::NotMerged(Some(107)),
        Refused::NothingFailed {
            issue: 42,
            phase: "coding",
        },
        Refused::Somebodys {
            issue: 42,
            whose: "assigned to bob".into(),
        },
        Refused::IsPull(44),
        Refused::NotHeld(42),
    ];
    for refused in all {
        assert!(!refused.next().is_empty(), "{refused}");
    }
}
