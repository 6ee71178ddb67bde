//! Every state, every event and every status of an effect, against the table.

mod between;
mod commands;
mod leases;
mod lives;
mod rounds;
mod stops;
mod watches;

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::claim_file::{ClaimFile, status};
use super::memory::{Beat, ClaimMemory, Consent, Mail, Topic, Weight};
use super::phase::{Failure, Next, Phase, Task};
use super::pull::tests::pull;
use super::pull::{CheckState, Need, Pull, PullState};
use super::rounds::Rounds;
use super::work::{
    BEAT, Beaten, BranchStatus, CardMove, Effect, Fault, HeartBeat, How, Item, Missing, Open,
    Outcome, Release, Seen, Survey,
};
use super::{BoardUse, Claim, Facts, State};
use crate::effect::{EffectOwner, EffectStatus, Fence, HasEffects as _, Intent};
use crate::event::{Author, Background, EndReason, Event, Kind, StartSource};
use crate::ids::Millis;
use crate::machine::{Input, Machine, Step, Verdict};
use crate::machines::conformance::{Coverage, assert_arrow, event, every_kind, session, stop};

const NOW: Millis = Millis::seconds(100_000);

fn claim(phase: Phase) -> ClaimFile {
    let pr_number = match phase {
        Phase::Coding | Phase::ReadyForPr | Phase::Failed(_) => None,
        Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected | Phase::Done => Some(107),
    };
    ClaimFile {
        phase,
        pr_number,
        summary: "Fix the race".into(),
        last_synced_status: Some(status::IN_PROGRESS.into()),
        ..ClaimFile::claimed(42, "claude/fix-42".into(), "me-1".into(), "PVTI_1".into())
    }
}

/// What is to be closed, its user has let be closed.
fn claimed(phase: Phase) -> State {
    let closes = match &phase {
        Phase::Done => true,
        Phase::Failed(failure) => failure.during == Task::Close,
        _ => false,
    };
    let mut memory = ClaimMemory::default().about(42);
    if closes {
        memory.consent = Consent::Given;
    }
    State::Claimed {
        claim: claim(phase),
        memory,
    }
}

fn failure(during: Task, next: Next) -> Phase {
    Phase::Failed(Failure {
        during,
        attempts: 1,
        next,
        cause: "HTTP 502".into(),
    })
}

fn facts(board: BoardUse) -> Facts {
    Facts {
        board,
        branch: Some("topic".into()),
        ..Facts::plain()
    }
}

fn intent(effect: Effect) -> Intent<Claim> {
    Intent {
        fence: Fence(7),
        effect,
        owner: EffectOwner {
            pid: 1,
            started: 1,
            boot: "b".into(),
        },
        since: NOW,
        deadline: NOW,
        uptime: crate::Uptime(0),
    }
}

/// One handler's answer, for any event.
#[derive(Debug, Clone)]
struct Did {
    rule: &'static str,
    state: State,
    need: Option<Effect>,
    said: Option<String>,
    notes: Vec<String>,
}

fn ask(
    state: &State,
    event: &Event,
    facts: &Facts,
    now: Millis,
    effect_status: &EffectStatus<Claim>,
) -> Did {
    use crate::machine::{OnContext, OnIdle, OnStop, OnWatch};
    fn did<V>(step: Step<Claim, V>, said: impl FnOnce(V) -> Option<String>) -> Did {
        let (need, said) = match step.verdict {
            Verdict::Say(verdict) => (None, said(verdict)),
            Verdict::Need { effect, .. } => (Some(effect), None),
        };
        Did {
            rule: step.rule,
            state: step.state,
            need,
            said,
            notes: step.notes,
        }
    }
    let input = Input {
        event,
        now,
        facts,
        effect_status,
    };
    let context = |verdict| match verdict {
        OnContext::Pass => None,
        OnContext::Tell(text) => Some(text),
    };
    match &event.kind {
        Kind::Stop { .. } => did(Claim::on_stop(state, &input), |verdict| match verdict {
            OnStop::Pass | OnStop::PassAlone | OnStop::Next(_) => None,
            OnStop::Hold(text) => Some(text),
        }),
        Kind::Idle => did(Claim::on_idle(state, &input), |verdict| match verdict {
            OnIdle::Pass => None,
            OnIdle::Notify(text) => Some(text),
        }),
        Kind::Watch => did(Claim::on_watch(state, &input), |verdict| match verdict {
            OnWatch::Pass => None,
            OnWatch::Wake(text) => Some(text),
        }),
        Kind::SessionStart { .. } => did(Claim::on_start(state, &input), context),
        Kind::Prompt { .. } => did(Claim::on_prompt(state, &input), context),
        Kind::SessionEnd { .. } => did(Claim::on_end(state, &input), |_| None),
        Kind::Expansion { .. } => did(Claim::on_expansion(state, &input), context),
        Kind::BeforeTool { .. } => did(Claim::before_tool(state, &input), |_| None),
        Kind::AfterTool { .. } => did(Claim::after_tool(state, &input), |_| None),
        Kind::Other { .. } => panic!("no handler"),
    }
}

fn at_stop(state: &State, effect_status: &EffectStatus<Claim>) -> Did {
    let event = event("s1", stop(Background::Quiet));
    ask(state, &event, &facts(BoardUse::On), NOW, effect_status)
}

/// A stop at which the requested effect returns this.
fn stop_with(state: &State, outcome: Outcome) -> Did {
    let first = at_stop(state, &EffectStatus::Clear);
    let effect = first.need.expect("an effect");
    at_stop(state, &EffectStatus::Done(intent(effect), outcome))
}

fn opened(board: CardMove) -> Outcome {
    Outcome::Opened {
        pr: 107,
        url: "https://github.com/o/r/pull/107".into(),
        how: How::Now,
        board,
    }
}

fn fault(cause: &str) -> Outcome {
    Outcome::Failed(Fault::new(cause))
}

fn every_phase() -> [Phase; 10] {
    [
        Phase::Coding,
        Phase::ReadyForPr,
        Phase::PrCreated,
        Phase::ChecksRunning,
        Phase::MergedDetected,
        Phase::Done,
        failure(Task::Open, Next::Never),
        failure(Task::Open, Next::At(NOW)),
        failure(Task::Close, Next::At(NOW)),
        failure(Task::Close, Next::At(NOW.plus(Millis(1)))),
    ]
}

fn every_memory() -> [ClaimMemory; 5] {
    let mail = Mail::new(Topic::Ci, Weight::Wake, NOW, "CI failed".into());
    let red = Mail {
        red: true,
        ..mail.clone()
    };
    let used_up = Rounds {
        told: 5,
        ..Rounds::default()
    };
    [
        ClaimMemory::default(),
        ClaimMemory {
            issue: Some(42),
            owner: Some(session("s1")),
            consent: Consent::Asked,
            mail: Vec::from([mail.clone()]),
            ..ClaimMemory::default()
        },
        ClaimMemory {
            issue: Some(42),
            consent: Consent::Given,
            lease: Some("c0ffee".into()),
            ..ClaimMemory::default()
        },
        ClaimMemory {
            issue: Some(42),
            owner: Some(session("other")),
            mail: Vec::from([mail.clone()]),
            ..ClaimMemory::default()
        },
        ClaimMemory {
            issue: Some(42),
            rounds: used_up.clone(),
            mail: Vec::from([red.clone()]),
            ..ClaimMemory::default()
        },
    ]
}

fn every_state() -> Vec<State> {
    let mail = Mail::new(Topic::Ci, Weight::Wake, NOW, "CI failed".into());
    let mut all = Vec::from([
        State::Newer { version: 2 },
        State::Unclaimed(ClaimMemory::default()),
        State::Unclaimed(ClaimMemory {
            looked: Some(NOW),
            mail: Vec::from([mail.clone()]),
            ..ClaimMemory::default()
        }),
        State::Unclaimed(ClaimMemory {
            issue: Some(42),
            lease: Some("c0ffee".into()),
            ..ClaimMemory::default()
        }),
    ]);
    for phase in every_phase() {
        let plain = claim(phase);
        let behind = ClaimFile {
            status: status::IN_REVIEW.into(),
            ..plain.clone()
        };
        let polled = ClaimFile {
            last_check_poll: Some(NOW),
            summary: String::new(),
            ..plain.clone()
        };
        for claim in [plain, behind, polled] {
            for memory in every_memory() {
                all.push(State::Claimed {
                    claim: claim.clone(),
                    memory,
                });
            }
        }
    }
    all
}

fn every_effect() -> Vec<Effect> {
    let due = [claimed(Phase::ReadyForPr), claimed(Phase::Done)];
    let mut all: Vec<Effect> = due
        .iter()
        .filter_map(|state| at_stop(state, &EffectStatus::Clear).need)
        .collect();
    let claim = claim(Phase::Coding);
    all.extend([
        Effect::Poll {
            pr: 107,
            known: None,
        },
        Effect::CheckMerge { pr: 107 },
        Effect::Arrive {
            pr: 107,
            known: None,
        },
        Effect::GiveBack {
            issue: 42,
            lease: "c0ffee".into(),
            remote: "origin".into(),
        },
        Effect::Beat(HeartBeat {
            issue: 42,
            branch: "b".into(),
            phase: "coding".into(),
            lease: "c0ffee".into(),
            remote: "origin".into(),
        }),
        Effect::Sync(super::work::CardUpdate::of(&claim, status::IN_PROGRESS)),
        Effect::Look {
            branch: "topic".into(),
        },
        Effect::Survey,
    ]);
    all
}

fn every_outcome() -> Vec<Outcome> {
    let merged = Pull {
        state: PullState::Merged,
        ..pull(&[])
    };
    Vec::from([
        opened(CardMove::Moved),
        opened(CardMove::Lacks("no scope".into())),
        Outcome::Lacking(Missing::Unpushed),
        Outcome::Integrated {
            base: "main".into(),
        },
        Outcome::MergeChecked(None),
        Outcome::MergeChecked(Some(merged.clone())),
        Outcome::Arrived {
            survey: Survey::Off,
            seen: Seen::Pull(merged.clone()),
        },
        Outcome::Beaten(Beaten::Kept("decaf".into())),
        Outcome::GivenBack(Release::Released),
        Outcome::Closed {
            how: How::Now,
            board: CardMove::Moved,
            release: Release::Failed("gone".into()),
        },
        Outcome::Polled(pull(&[("test", CheckState::Failed, Need::Optional)])),
        Outcome::Polled(merged),
        Outcome::Synced(CardMove::Moved),
        Outcome::Synced(CardMove::Unreachable("timeout".into())),
        Outcome::Looked(BranchStatus::NotMerged),
        Outcome::Looked(BranchStatus::Merged {
            pr: 9,
            next: Some(Item {
                issue: 43,
                title: "Next".into(),
            }),
        }),
        Outcome::Surveyed(Survey::Board {
            title: "Work".into(),
            columns: Vec::from([("Todo".into(), 3)]),
            next: Vec::new(),
        }),
        fault("HTTP 502"),
        Outcome::Failed(Fault {
            not_before: Some(NOW.plus(Millis::seconds(60))),
            ..Fault::new("rate limit")
        }),
    ])
}

#[test]
fn every_step_is_an_arrow_of_the_table_and_every_arrow_is_taken() {
    let mut standings = Vec::from([EffectStatus::Clear]);
    for effect in every_effect() {
        standings.push(EffectStatus::Running(intent(effect.clone())));
        standings.push(EffectStatus::Abandoned(intent(effect.clone())));
        for outcome in every_outcome() {
            standings.push(EffectStatus::Done(intent(effect.clone()), outcome));
        }
    }
    let mut coverage = Coverage::default();
    for state in every_state() {
        for kind in every_kind() {
            for effect_status in &standings {
                for (board, headless) in [
                    (BoardUse::On, false),
                    (BoardUse::Off, false),
                    (BoardUse::Off, true),
                ] {
                    let event = event("s1", kind.clone());
                    let facts = Facts {
                        headless,
                        ..facts(board)
                    };
                    let did = ask(&state, &event, &facts, NOW, effect_status);
                    if did.rule.is_empty() {
                        assert_eq!((&did.state, did.said, did.need), (&state, None, None));
                        continue;
                    }
                    assert_arrow::<Claim>(did.rule, &state, kind.name(), &did.state);
                    coverage.saw(did.rule, Claim::label(&state));
                }
            }
        }
    }
    for state in every_state() {
        commands::run_all(&mut coverage, &state);
    }
    coverage.assert_complete::<Claim>();
}

#[test]
fn a_claim_that_rests_is_one_that_a_stop_leaves_alone() {
    let mut resting = 0;
    for state in every_state().iter().filter(|state| state.rests(NOW)) {
        resting += 1;
        for board in [BoardUse::On, BoardUse::Off] {
            let stop = event("s1", stop(Background::Quiet));
            let did = ask(state, &stop, &facts(board), NOW, &EffectStatus::Clear);
            assert_eq!((&did.state, did.said, did.need), (state, None, None));
            assert!(did.notes.is_empty());
        }
    }
    assert!(resting >= 2, "{resting}");
    assert!(claimed(Phase::Coding).rests(NOW), "the common case");
}
