//! The commands of people and agents, in every state.

use pretty_assertions::assert_eq;

use super::*;
use crate::machines::claim::consent::Prompt;
use crate::machines::claim::verbs::{
    Refused, abort, branch_for, done, handoff, look, may_take, take,
};
use crate::machines::conformance::{actors, verb};
use crate::machines::verbs::{Actor, Refusal as _};

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

/// Every command, by every actor.
pub(super) fn run_all(coverage: &mut Coverage, state: &State) {
    for actor in actors() {
        for consent in [Consent::NotAsked, Consent::Asked, Consent::Given] {
            let state = &with_consent(state, consent);
            for yes in [true, false] {
                verb(coverage, state, done(state, &actor, yes, &[]));
                verb(coverage, state, done(state, &actor, yes, &said("yes")));
            }
            verb(coverage, state, handoff(state, "Fix the race", &actor));
            verb(coverage, state, handoff(state, "", &actor));
        }
        verb(coverage, state, take(state, new_claim(42), None, &actor));
        verb(coverage, state, take(state, new_claim(43), None, &actor));
        for pull in pulls() {
            let looked = look(state, &pull, &actor, NOW);
            verb(coverage, state, looked.map(|(step, _)| step));
        }
    }
    verb(coverage, state, abort(state));
}

/// A message of the user's, now.
fn said(text: &str) -> Vec<Prompt> {
    Vec::from([Prompt {
        at: NOW,
        text: text.into(),
    }])
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
        let came_to = handoff(&claimed(phase.clone()), "Fix the race", &agent());
        assert_eq!(came_to.err(), refused, "{phase:?}");
    }
    let unclaimed = State::Unclaimed(ClaimMemory::default());
    assert_eq!(
        handoff(&unclaimed, "x", &agent()).err(),
        Some(Refused::NoClaim)
    );
    let newer = State::Newer { version: 2 };
    assert_eq!(
        handoff(&newer, "x", &agent()).err(),
        Some(Refused::Newer(2))
    );
}

#[test]
fn a_hand_over_needs_a_title_and_forgets_an_older_yes() {
    let spoken = with_consent(&claimed(Phase::ChecksRunning), Consent::Spoken);
    let Err(Refused::Lacking(advice)) = handoff(&spoken, " ", &agent()) else {
        panic!("it needs a title")
    };
    assert!(advice.contains("mainspring handoff --summary"), "{advice}");
    let handed = handoff(&spoken, "Fix it", &agent()).expect("allowed").state;
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
    let by_person = handoff(&handed, "Fix it", &Actor::Person).expect("allowed");
    let owner = &memory_of(&by_person.state).owner;
    assert_eq!(
        *owner,
        Some(session("s1")),
        "a person leaves it to its session"
    );
}

#[test]
fn an_agent_closes_only_after_the_user_answered_and_a_person_with_yes() {
    let merged = claimed(Phase::MergedDetected);
    for (consent, refused) in [
        (Consent::NotAsked, Some(Refused::Unanswered(42))),
        (Consent::Asked, None),
        (Consent::Spoken, None),
    ] {
        let state = with_consent(&merged, consent);
        for yes in [true, false] {
            let done = |words| done(&state, &agent(), yes, &said(words)).err();
            assert_eq!(done("yes"), refused, "{consent:?}");
            assert_eq!(done("what is new?"), Some(Refused::Unanswered(42)));
        }
        let unseen = done(&state, &agent(), false, &[]).err();
        assert_eq!(unseen, Some(Refused::Unanswered(42)), "an event alone");
    }
    let coding = with_consent(&claimed(Phase::Coding), Consent::Spoken);
    assert_eq!(
        done(&coding, &agent(), true, &said("yes")).err(),
        Some(Refused::NotMerged)
    );
    assert_eq!(
        done(&coding, &Actor::Person, true, &[]).map(|step| step.rule),
        Ok("done-yes")
    );
    let unsure = done(&merged, &Actor::Person, false, &[]).err();
    assert_eq!(unsure, Some(Refused::Unconfirmed(42)));
    let again = with_consent(&claimed(failure(Task::Close, Next::Never)), Consent::Spoken);
    assert_eq!(
        done(&again, &agent(), false, &said("close #42")).map(|step| step.rule),
        Ok("done")
    );
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
    assert_eq!(take(&coding, new_claim(42), None, &agent()), Err(refused));
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
    let (seen, told) = look(&running, &merged, &Actor::Person, NOW).expect("a claim");
    assert_eq!((seen.rule, told), ("seen-merged", None));
    assert_eq!(memory_of(&seen.state).mail.len(), 1);
    assert_eq!(memory_of(&seen.state).consent, Consent::NotAsked);

    let (seen, told) = look(&running, &merged, &agent(), NOW).expect("a claim");
    assert!(told.is_some_and(|text| text.contains("close issue #42")));
    assert_eq!(memory_of(&seen.state).consent, Consent::Asked);
    let (again, told) = look(&seen.state, &merged, &agent(), NOW).expect("a claim");
    assert_eq!((again.rule, told), ("", None), "it is watched no longer");

    let [open, ..] = pulls();
    let (seen, _) = look(&running, &open, &agent(), NOW).expect("a claim");
    let (again, _) = look(&seen.state, &open, &agent(), NOW).expect("a claim");
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
        Refused::Unanswered(42),
        Refused::NotMerged,
    ];
    for refused in all {
        assert!(!refused.next().is_empty(), "{refused}");
    }
}
