//! Who has the issue on the git server.

use super::*;

fn leased(phase: Phase, beat: Option<Beat>) -> State {
    let state = claimed(phase);
    let memory = ClaimMemory {
        lease: Some("c0ffee".into()),
        beat,
        ..state.memory().cloned().expect("a memory")
    };
    state.with_memo(memory)
}

#[test]
fn the_claim_on_the_server_is_written_when_the_phase_changes_and_once_an_hour() {
    let beat = |at, phase: &str| {
        Some(Beat {
            at,
            phase: phase.into(),
        })
    };
    let hour_ago = Millis(NOW.0 - 3_600_000);
    for (beat, due) in [
        (beat(NOW, "coding"), false),
        (beat(Millis(hour_ago.0 + 1), "coding"), false),
        (beat(hour_ago, "coding"), true),
        (beat(NOW, "ready_for_pr"), true),
        (None, true),
    ] {
        let state = leased(Phase::Coding, beat.clone());
        let asked = at_stop(&state, &EffectStatus::Clear);
        assert_eq!(asked.need.is_some(), due, "{beat:?}");
        assert_eq!(state.rests(NOW), !due);
    }
    let state = leased(Phase::Coding, None);
    let kept = stop_with(&state, Outcome::Beaten(Beaten::Kept("decaf".into())));
    let memory = kept.state.memory().expect("a memory");
    assert_eq!(
        (kept.rule, memory.lease.as_deref()),
        ("beat", Some("decaf"))
    );
    assert_eq!(at_stop(&kept.state, &EffectStatus::Clear).need, None);
    let away = stop_with(&state, fault("offline"));
    let memory = away.state.memory().expect("a memory");
    assert_eq!(
        memory.lease.as_deref(),
        Some("c0ffee"),
        "still ours, as far as we know"
    );
    assert_eq!(
        at_stop(&away.state, &EffectStatus::Clear).need,
        None,
        "not at every stop"
    );
    let lost = stop_with(&state, Outcome::Beaten(Beaten::Lost("bob@box".into())));
    assert!(
        lost.said
            .is_some_and(|said| said.contains("taken over by bob@box"))
    );
}

#[test]
fn who_lost_the_issue_opens_no_pull_request() {
    let ready = leased(Phase::ReadyForPr, None);
    let Some(Effect::Open(open)) = at_stop(&ready, &EffectStatus::Clear).need else {
        panic!("it opens one")
    };
    assert_eq!(
        open.lease.as_deref(),
        Some("c0ffee"),
        "it looks whose it is"
    );
    let taken = Missing::Claim {
        by: "bob@box".into(),
    };
    let lost = stop_with(&ready, Outcome::Lacking(taken.clone()));
    assert_eq!(lost.rule, "lacking");
    assert!(
        lost.said
            .is_some_and(|said| said.contains("bob@box has taken the issue over"))
    );
    // Nor later, nor by another command, nor does it move the card.
    let again = at_stop(&lost.state, &EffectStatus::Clear);
    assert_eq!(
        (again.rule, again.need, again.said),
        ("lacking", None, None)
    );
    let agent = crate::verbs::Actor::Agent(Some(session("s1")));
    let handoff = super::super::verbs::handoff(&lost.state, "Fix", None, &agent);
    assert!(handoff.is_err(), "{handoff:?}");
    let beaten = Outcome::Beaten(Beaten::Lost("bob@box".into()));
    let State::Claimed { mut claim, memory } =
        stop_with(&leased(Phase::Coding, None), beaten).state
    else {
        panic!("it is claimed")
    };
    assert_eq!(Open::of(&claim, &memory), Err(taken));
    claim.status = status::IN_REVIEW.into();
    let behind = State::Claimed { claim, memory };
    assert_eq!(at_stop(&behind, &EffectStatus::Clear).need, None);
}

#[test]
fn a_claim_file_that_was_deleted_leaves_no_reservation_behind() {
    let deleted = State::Unclaimed(leased(Phase::Coding, None).memory().cloned().expect("it"));
    assert!(!deleted.rests(NOW));
    let back = stop_with(&deleted, Outcome::GivenBack(Release::Released));
    assert_eq!(back.rule, "given-back");
    assert!(
        back.notes[0].contains("`mainspring claim 42` takes it again"),
        "{:?}",
        back.notes
    );
    assert_eq!(back.state, State::Unclaimed(ClaimMemory::default()));
    let stuck = stop_with(&deleted, fault("offline."));
    assert!(
        stuck.notes[0].contains("offline. It is tried again"),
        "{:?}",
        stuck.notes
    );
    assert_eq!(
        at_stop(&stuck.state, &EffectStatus::Clear).need,
        None,
        "not at every stop"
    );
    assert!(stuck.state.rests(NOW) && !stuck.state.rests(NOW.plus(BEAT)));
}
