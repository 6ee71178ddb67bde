//! Every state, every event, every way an effect can stand, against the table; and a
//! whole life, with a GitHub that loses replies.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::memo::{Consent, Mail, Memo, Topic, Weight};
use super::phase::{Failure, Next, Phase, Task};
use super::pull::tests::pull;
use super::pull::{CheckState, Need, Pull, PullState};
use super::signal::{Signal, status};
use super::work::{Board, Effect, Fault, How, Item, Lack, Outcome, Release, Sight, Survey};
use super::{BoardUse, Claim, Facts, State};
use crate::effect::{Fence, Intent, Owner, Standing};
use crate::event::{Author, Background, EndReason, Event, Kind, StartSource};
use crate::ids::Millis;
use crate::machine::{Input, Machine, Step, Verdict};
use crate::machines::conformance::{event, every_kind, session, stop};

const NOW: Millis = Millis::seconds(100_000);

fn signal(phase: Phase) -> Signal {
    let pr_number = match phase {
        Phase::Coding | Phase::ReadyForPr | Phase::Failed(_) => None,
        Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected | Phase::Done => Some(107),
    };
    Signal {
        phase,
        pr_number,
        summary: "Fix the race".into(),
        last_synced_status: Some(status::IN_PROGRESS.into()),
        ..Signal::claimed(42, "claude/fix-42".into(), "me-1".into(), "PVTI_1".into())
    }
}

fn claimed(phase: Phase) -> State {
    State::Claimed {
        signal: signal(phase),
        memo: Memo::default().about(42),
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
    }
}

fn intent(effect: Effect) -> Intent<Claim> {
    Intent {
        fence: Fence(7),
        effect,
        owner: Owner {
            pid: 1,
            started: 1,
            boot: "b".into(),
        },
        since: NOW,
        deadline: NOW,
    }
}

/// One handler's answer, whatever its event.
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
    standing: &Standing<Claim>,
) -> Did {
    use crate::machine::{OnContext, OnIdle, OnStop};
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
        standing,
    };
    let context = |verdict| match verdict {
        OnContext::Pass => None,
        OnContext::Tell(text) => Some(text),
    };
    match &event.kind {
        Kind::Stop { .. } => did(Claim::on_stop(state, &input), |verdict| match verdict {
            OnStop::Pass => None,
            OnStop::Hold(text) => Some(text),
        }),
        Kind::Idle => did(Claim::on_idle(state, &input), |verdict| match verdict {
            OnIdle::Pass => None,
            OnIdle::Notify(text) => Some(text),
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

fn at_stop(state: &State, standing: &Standing<Claim>) -> Did {
    let event = event("s1", stop(Background::Quiet));
    ask(state, &event, &facts(BoardUse::On), NOW, standing)
}

/// A stop at which the effect that is asked for comes back with this.
fn stop_with(state: &State, outcome: Outcome) -> Did {
    let first = at_stop(state, &Standing::Clear);
    let effect = first.need.expect("an effect");
    at_stop(state, &Standing::Done(intent(effect), outcome))
}

fn opened(board: Board) -> Outcome {
    Outcome::Opened {
        pr: 107,
        url: "https://github.com/o/r/pull/107".into(),
        how: How::Now,
        board,
    }
}

fn fault(cause: &str) -> Outcome {
    Outcome::Failed(Fault {
        cause: cause.into(),
        not_before: None,
    })
}

fn every_state() -> Vec<State> {
    let phases = [
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
    ];
    let mail = Mail {
        topic: Topic::Ci,
        weight: Weight::Wake,
        at: NOW,
        text: "CI failed".into(),
    };
    let mut all = Vec::from([
        State::Newer { version: 2 },
        State::Unclaimed(Memo::default()),
        State::Unclaimed(Memo {
            looked: Some(NOW),
            mail: Vec::from([mail.clone()]),
            ..Memo::default()
        }),
    ]);
    for phase in phases {
        let plain = signal(phase);
        let behind = Signal {
            status: status::IN_REVIEW.into(),
            ..plain.clone()
        };
        let polled = Signal {
            last_check_poll: Some(NOW),
            summary: String::new(),
            ..plain.clone()
        };
        for signal in [plain, behind, polled] {
            for memo in [
                Memo::default(),
                Memo {
                    issue: Some(42),
                    owner: Some(session("s1")),
                    consent: Consent::Asked,
                    mail: Vec::from([mail.clone()]),
                    ..Memo::default()
                },
                Memo {
                    issue: Some(42),
                    owner: Some(session("other")),
                    mail: Vec::from([mail.clone()]),
                    ..Memo::default()
                },
            ] {
                all.push(State::Claimed {
                    signal: signal.clone(),
                    memo,
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
        .filter_map(|state| at_stop(state, &Standing::Clear).need)
        .collect();
    let signal = signal(Phase::Coding);
    all.extend([
        Effect::Poll { pr: 107 },
        Effect::Sync(super::work::Card::of(&signal, status::IN_PROGRESS)),
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
        opened(Board::Moved),
        opened(Board::Lacks("no scope".into())),
        Outcome::Lacking(Lack::Unpushed),
        Outcome::Closed {
            how: How::Now,
            board: Board::Moved,
            release: Release::Failed("gone".into()),
        },
        Outcome::Polled(pull(&[("test", CheckState::Failed, Need::Optional)])),
        Outcome::Polled(merged),
        Outcome::Synced(Board::Moved),
        Outcome::Synced(Board::Unreachable("timeout".into())),
        Outcome::Looked(Sight::NotMerged),
        Outcome::Looked(Sight::Merged {
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
    ])
}

#[test]
fn every_step_is_an_arrow_of_the_table_and_every_arrow_is_taken() {
    let unique: BTreeSet<_> = Claim::TABLE.iter().map(|arrow| arrow.rule).collect();
    assert_eq!(unique.len(), Claim::TABLE.len(), "two arrows share a rule");

    let mut standings = Vec::from([Standing::Clear]);
    for effect in every_effect() {
        standings.push(Standing::Running(intent(effect.clone())));
        standings.push(Standing::Abandoned(intent(effect.clone())));
        for outcome in every_outcome() {
            standings.push(Standing::Done(intent(effect.clone()), outcome));
        }
    }
    let mut taken = BTreeSet::new();
    for state in every_state() {
        for kind in every_kind() {
            for standing in &standings {
                for board in [BoardUse::On, BoardUse::Off] {
                    let event = event("s1", kind.clone());
                    let did = ask(&state, &event, &facts(board), NOW, standing);
                    if did.rule.is_empty() {
                        assert_eq!((&did.state, did.said, did.need), (&state, None, None));
                        continue;
                    }
                    let arrow = Claim::TABLE.iter().find(|arrow| arrow.rule == did.rule);
                    let arrow = arrow.unwrap_or_else(|| panic!("{} is not in the table", did.rule));
                    let (from, to) = (Claim::label(&state), Claim::label(&did.state));
                    let labels = match arrow.from {
                        "any" => from == to,
                        _ => (arrow.from, arrow.to) == (from, to),
                    };
                    assert!(
                        labels,
                        "{}: {from} → {to}, {state:?} {standing:?}",
                        did.rule
                    );
                    assert_eq!(arrow.on, kind.name(), "{}", did.rule);
                    taken.insert(did.rule);
                }
            }
        }
    }
    let by_events = Claim::TABLE.iter().filter(|arrow| arrow.on != "verb");
    let missing: Vec<_> = by_events
        .map(|arrow| arrow.rule)
        .filter(|rule| !taken.contains(rule))
        .collect();
    assert!(missing.is_empty(), "never taken: {missing:?}");
}

#[test]
fn a_claim_that_rests_is_one_that_a_stop_leaves_alone() {
    let mut resting = 0;
    for state in every_state().iter().filter(|state| state.rests()) {
        resting += 1;
        for board in [BoardUse::On, BoardUse::Off] {
            let stop = event("s1", stop(Background::Quiet));
            let did = ask(state, &stop, &facts(board), NOW, &Standing::Clear);
            assert_eq!((&did.state, did.said, did.need), (state, None, None));
            assert!(did.notes.is_empty());
        }
    }
    assert!(resting >= 2, "{resting}");
    assert!(claimed(Phase::Coding).rests(), "the common case");
}

#[test]
fn while_coding_nothing_is_started_and_nothing_changes() {
    let state = claimed(Phase::Coding);
    let did = at_stop(&state, &Standing::Clear);
    assert_eq!((did.rule, did.need, did.said), ("coding", None, None));
    assert_eq!(did.state, state);
    assert!(did.notes.is_empty());
}

#[test]
fn a_card_that_is_behind_is_moved_once() {
    let mut behind = signal(Phase::Coding);
    behind.status = "Blocked".into();
    let state = State::Claimed {
        signal: behind,
        memo: Memo::default().about(42),
    };
    let did = stop_with(&state, Outcome::Synced(Board::Moved));
    assert_eq!(at_stop(&did.state, &Standing::Clear).need, None);

    let off = ask(
        &state,
        &event("s1", stop(Background::Quiet)),
        &facts(BoardUse::Off),
        NOW,
        &Standing::Clear,
    );
    assert_eq!(off.need, None, "no board, no call");
}

#[test]
fn what_the_board_lacks_is_said_once_and_not_tried_again() {
    let mut behind = signal(Phase::Coding);
    behind.status = "Blocked".into();
    let state = State::Claimed {
        signal: behind,
        memo: Memo::default().about(42),
    };
    let lacks = Outcome::Synced(Board::Lacks("no option Blocked".into()));
    let did = stop_with(&state, lacks);
    assert_eq!(did.notes.len(), 1, "{:?}", did.notes);
    assert_eq!(at_stop(&did.state, &Standing::Clear).need, None);

    let away = Outcome::Synced(Board::Unreachable("timeout".into()));
    let did = stop_with(&state, away.clone());
    assert_eq!(
        at_stop(&did.state, &Standing::Clear).need,
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
        &Standing::Clear,
    );
    let effect = again.need.expect("tried again");
    let done = Standing::Done(intent(effect), away);
    let again = ask(&did.state, &event, &facts(BoardUse::On), later, &done);
    assert!(again.notes.is_empty(), "said once: {:?}", again.notes);
}

#[test]
fn the_pull_requests_address_reaches_the_agent() {
    let did = stop_with(&claimed(Phase::ReadyForPr), opened(Board::Moved));
    let State::Claimed { signal, .. } = &did.state else {
        panic!("{:?}", did.state)
    };
    assert_eq!(signal.phase, Phase::PrCreated);
    assert_eq!(signal.pr_number, Some(107));
    assert_eq!(signal.status, status::IN_REVIEW);
    assert_eq!(
        signal.last_synced_status.as_deref(),
        Some(status::IN_REVIEW)
    );
    let said = did.said.expect("a hold");
    assert!(
        said.starts_with("PR #107 created: https://github.com/o/r/pull/107"),
        "{said}"
    );
}

#[test]
fn a_missing_summary_or_branch_is_told_once_and_the_phase_stays() {
    for (branch, summary, part) in [
        ("", "Fix", "`branch`"),
        ("--evil", "Fix", "`branch`"),
        ("b", "", "`summary`"),
        ("b", " \n ", "`summary`"),
        ("b", "\u{200b}", "`summary`"),
    ] {
        let mut lacking = signal(Phase::ReadyForPr);
        lacking.branch = branch.into();
        lacking.summary = summary.into();
        let state = State::Claimed {
            signal: lacking,
            memo: Memo::default().about(42),
        };
        let did = at_stop(&state, &Standing::Clear);
        assert_eq!(did.need, None);
        assert!(
            did.said.as_ref().is_some_and(|said| said.contains(part)),
            "{did:?}"
        );
        assert_eq!(Claim::label(&did.state), "ready_for_pr");
        let again = at_stop(&did.state, &Standing::Clear);
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
        let asked = ask(&state, &stop, &facts(BoardUse::On), now, &Standing::Clear);
        let Some(effect) = asked.need else {
            now = now.plus(Millis::seconds(60));
            continue;
        };
        attempts += 1;
        let done = Standing::Done(intent(effect), fault("HTTP 502"));
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
        cause: "HTTP 429".into(),
        not_before: Some(reset),
    });
    let did = stop_with(&claimed(Phase::ReadyForPr), limited);
    let stop = event("s1", stop(Background::Quiet));
    let at = |now| {
        ask(
            &did.state,
            &stop,
            &facts(BoardUse::On),
            now,
            &Standing::Clear,
        )
        .need
    };
    assert_eq!(at(Millis(reset.0 - 1)), None);
    assert!(at(reset).is_some());
}

#[test]
fn another_sessions_news_waits_for_it() {
    let State::Claimed { signal, memo } = claimed(Phase::ReadyForPr) else {
        panic!()
    };
    let state = State::Claimed {
        signal,
        memo: Memo {
            owner: Some(session("owner")),
            ..memo
        },
    };
    let did = stop_with(&state, opened(Board::Moved));
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
        &Standing::Clear,
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
        let first = at_stop(&state, &Standing::Clear).need.expect("due");
        let again = at_stop(&state, &Standing::Abandoned(intent(first.clone())));
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
    let done = Standing::Done(intent(Effect::Poll { pr: 107 }), Outcome::Polled(merged));
    let mut state = ask(&state, &idle, &facts(BoardUse::On), NOW, &done).state;
    let prompt = event(
        "s1",
        Kind::Prompt {
            author: Author::Person,
        },
    );
    for expected in [Consent::Asked, Consent::Spoken, Consent::Spoken] {
        state = ask(&state, &prompt, &facts(BoardUse::On), NOW, &Standing::Clear).state;
        assert_eq!(state.memo().map(|memo| memo.consent), Some(expected));
    }
}

#[test]
fn idle_polls_once_in_two_minutes_and_its_news_waits() {
    let idle = event("s1", Kind::Idle);
    let state = claimed(Phase::PrCreated);
    let at = |state: &State, now, standing: &Standing<Claim>| {
        ask(state, &idle, &facts(BoardUse::On), now, standing)
    };
    let effect = at(&state, NOW, &Standing::Clear).need.expect("a poll");
    let red = pull(&[("test", CheckState::Failed, Need::Optional)]);
    let done = Standing::Done(intent(effect), Outcome::Polled(red));
    let polled = at(&state, NOW, &done);
    assert_eq!(polled.rule, "created-polled");
    assert!(
        polled
            .said
            .is_some_and(|notice| notice.contains("FAILED: test"))
    );

    let soon = NOW.plus(Millis::seconds(119));
    assert_eq!(at(&polled.state, soon, &Standing::Clear).need, None);
    let later = NOW.plus(Millis::seconds(120));
    assert!(at(&polled.state, later, &Standing::Clear).need.is_some());

    let stopped = at_stop(&polled.state, &Standing::Clear);
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
        &Standing::Clear,
    );
    assert!(told.said.is_some_and(|text| text.contains("FAILED: test")));
    let again = ask(
        &told.state,
        &prompt,
        &facts(BoardUse::On),
        soon,
        &Standing::Clear,
    );
    assert_eq!(again.said, None, "once");
}

#[test]
fn a_persons_prompt_after_the_question_is_noted_and_the_hosts_is_not() {
    let State::Claimed { signal, .. } = claimed(Phase::MergedDetected) else {
        panic!()
    };
    let state = State::Claimed {
        signal,
        memo: Memo {
            issue: Some(42),
            consent: Consent::Asked,
            ..Memo::default()
        },
    };
    for (author, consent) in [
        (Author::Host, Consent::Asked),
        (Author::Person, Consent::Spoken),
    ] {
        let prompt = event("s1", Kind::Prompt { author });
        let did = ask(&state, &prompt, &facts(BoardUse::On), NOW, &Standing::Clear);
        assert_eq!(did.state.memo().map(|memo| memo.consent), Some(consent));
    }
}

#[test]
fn without_a_claim_a_merge_names_the_next_item_once_and_never_null() {
    let idle = event("s1", Kind::Idle);
    let ask_idle = |state: &State, now, standing: &Standing<Claim>| {
        ask(state, &idle, &facts(BoardUse::On), now, standing)
    };
    let free = State::Unclaimed(Memo::default());
    let look = ask_idle(&free, NOW, &Standing::Clear).need.expect("a look");
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
        let merged = Outcome::Looked(Sight::Merged { pr: 9, next });
        let done = Standing::Done(intent(look.clone()), merged);
        let did = ask_idle(&free, NOW, &done);
        let said = did.said.expect("a notice");
        assert!(said.contains(words) && !said.contains("null"), "{said}");
        assert_eq!(
            ask_idle(&did.state, NOW, &Standing::Clear).need,
            None,
            "backs off"
        );
        let later = NOW.plus(Millis::seconds(120));
        assert!(ask_idle(&did.state, later, &Standing::Clear).need.is_some());
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
        let asked = ask(&state, &start, &facts(BoardUse::On), NOW, &Standing::Clear);
        assert_eq!(asked.need, Some(Effect::Survey));
        let done = Standing::Done(intent(Effect::Survey), survey.clone());
        let did = ask(&state, &start, &facts(BoardUse::On), NOW, &done);
        assert_eq!(
            did.state.memo().and_then(|memo| memo.owner.clone()),
            Some(session("s2"))
        );
        texts.push(did.said.expect("context"));
    }
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn a_claim_is_left_by_the_session_that_ends() {
    let State::Claimed { signal, memo } = claimed(Phase::Coding) else {
        panic!()
    };
    let state = State::Claimed {
        signal,
        memo: Memo {
            owner: Some(session("s1")),
            ..memo
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
        &Standing::Clear,
    );
    assert_eq!(mine.state.memo().and_then(|memo| memo.owner.clone()), None);
    let other = ask(
        &state,
        &event("s9", end),
        &facts(BoardUse::On),
        NOW,
        &Standing::Clear,
    );
    assert_eq!(other.rule, "");
}

/// A GitHub that keeps what it was asked for even when its reply is lost.
#[derive(Debug, Default)]
struct Server {
    pulls: u32,
    closes: u32,
    card: String,
}

impl Server {
    fn run(&mut self, effect: &Effect) -> Outcome {
        match effect {
            Effect::Open(open) => {
                let how = if self.pulls == 0 {
                    How::Now
                } else {
                    How::Already
                };
                self.pulls = self.pulls.max(1);
                self.card.clone_from(&open.card.status);
                Outcome::Opened {
                    pr: 107,
                    url: "u".into(),
                    how,
                    board: Board::Moved,
                }
            }
            Effect::Close(close) => {
                let how = if self.closes == 0 {
                    How::Now
                } else {
                    How::Already
                };
                self.closes = self.closes.max(1);
                self.card.clone_from(&close.card.status);
                Outcome::Closed {
                    how,
                    board: Board::Moved,
                    release: Release::Released,
                }
            }
            Effect::Sync(card) => {
                self.card.clone_from(&card.status);
                Outcome::Synced(Board::Moved)
            }
            Effect::Poll { .. } => {
                let merged = Pull {
                    state: PullState::Merged,
                    ..pull(&[])
                };
                Outcome::Polled(merged)
            }
            Effect::Look { .. } => Outcome::Looked(Sight::NotMerged),
            Effect::Survey => Outcome::Surveyed(Survey::Off),
        }
    }
}

/// How one effect goes.
#[derive(Debug, Clone, Copy)]
enum Luck {
    Works,
    /// Nothing happened at the server, and the process lived.
    Fails,
    /// It happened, and the process died before it heard of it.
    DiesAfter,
    DiesBefore,
}

fn luck() -> impl Strategy<Value = Luck> {
    prop_oneof![
        3 => Just(Luck::Works),
        1 => Just(Luck::Fails),
        1 => Just(Luck::DiesAfter),
        1 => Just(Luck::DiesBefore),
    ]
}

proptest! {
    #[test]
    fn whatever_dies_on_the_way_a_claim_ends_closed_and_gone(lucks in proptest::collection::vec(luck(), 0..12)) {
        let mut server = Server::default();
        let mut state = claimed(Phase::ReadyForPr);
        let mut standing = Standing::Clear;
        let mut now = NOW;
        let mut lucks = lucks.into_iter();
        for _ in 0..80 {
            now = now.plus(Millis::seconds(3 * 3_600));
            if let State::Claimed { signal, .. } = &mut state {
                match signal.phase {
                    // The person says yes.
                    Phase::MergedDetected => signal.phase = Phase::Done,
                    // Somebody looks into a claim that was given up.
                    Phase::Failed(Failure { during, next: Next::Never, .. }) => signal.phase = during.phase(),
                    _ => {}
                }
            }
            for kind in [stop(Background::Quiet), Kind::Idle] {
                let event = event("s1", kind);
                let asked = ask(&state, &event, &facts(BoardUse::On), now, &standing);
                let Some(effect) = asked.need else {
                    state = asked.state;
                    standing = Standing::Clear;
                    continue;
                };
                let happened = intent(effect.clone());
                match lucks.next().unwrap_or(Luck::Works) {
                    Luck::Works => {
                        let outcome = server.run(&effect);
                        let done = Standing::Done(happened, outcome);
                        state = ask(&state, &event, &facts(BoardUse::On), now, &done).state;
                        standing = Standing::Clear;
                    }
                    Luck::Fails => {
                        let done = Standing::Done(happened, fault("HTTP 500"));
                        state = ask(&state, &event, &facts(BoardUse::On), now, &done).state;
                        standing = Standing::Clear;
                    }
                    Luck::DiesAfter => {
                        server.run(&effect);
                        standing = Standing::Abandoned(happened);
                    }
                    Luck::DiesBefore => standing = Standing::Abandoned(happened),
                }
            }
            if matches!(state, State::Unclaimed(_)) {
                break;
            }
        }
        prop_assert!(matches!(state, State::Unclaimed(_)), "{:?}", state);
        prop_assert_eq!((server.pulls, server.closes), (1, 1));
        prop_assert_eq!(server.card.as_str(), status::DONE);
    }

    #[test]
    fn a_handler_is_a_function_of_what_it_is_given(index in 0_usize..90, kind in 0_usize..17, outcome in 0_usize..12) {
        let states = every_state();
        let kinds = every_kind();
        let state = &states[index % states.len()];
        let event = event("s1", kinds[kind % kinds.len()].clone());
        let outcomes = every_outcome();
        let done = Standing::Done(intent(Effect::Survey), outcomes[outcome % outcomes.len()].clone());
        let one = ask(state, &event, &facts(BoardUse::On), NOW, &done);
        let other = ask(state, &event, &facts(BoardUse::On), NOW, &done);
        prop_assert_eq!(one.state, other.state);
        prop_assert_eq!(one.said, other.said);
    }
}

#[test]
fn advice_names_what_to_type() {
    let signal = signal(Phase::ReadyForPr);
    let lacks = [
        Lack::Unpushed,
        Lack::Behind,
        Lack::NotAhead {
            base: "main".into(),
        },
        Lack::Branch("it is empty".into()),
        Lack::Summary("it is empty".into()),
        Lack::Remote("the remote `origin` is `/srv/x`, which names no repository on GitHub".into()),
    ];
    let texts: Vec<String> = lacks.iter().map(|lack| lack.advice(&signal)).collect();
    insta::assert_snapshot!(texts.join("\n"));
}
