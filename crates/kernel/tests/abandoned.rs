//! Effects whose process is gone, and results that come too late: nothing is forgotten by the way.
#![expect(clippy::expect_used, reason = "a test")]

use mainspring_kernel::block_ledger::{BlockLedger, Cap, ToolUse};
use mainspring_kernel::deliberate::{Case, Trust};
use mainspring_kernel::effect::{EffectOwner, EffectStatus, Fence, Intent};
use mainspring_kernel::event::{Author, Background, Chain, EndReason, Event, Speaker, StartSource};
use mainspring_kernel::machines::check::{self, Check};
use mainspring_kernel::machines::claim::claim_file::ClaimFile;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::work::{Effect, Fault, Open, Outcome};
use mainspring_kernel::machines::claim::{self, Claim};
use mainspring_kernel::machines::pulse::{Probe, Probed, Pulse, State};
use mainspring_kernel::machines::{Finished, InputOf, Pending, Returned};
use mainspring_kernel::reduce::Reducer;
use mainspring_kernel::{
    Ask, Digest, Kind, MachineInput, Millis, Name, Orders, Reply, Ruling, SessionId, Turn, Uptime,
    deliberate,
};
use pretty_assertions::assert_eq;

const STOP: Kind = Kind::Stop {
    chain: Chain::First,
    background: Background::Quiet,
};

/// Every event but a stop.
fn others() -> Vec<Kind> {
    let mut all = vec![
        Kind::Prompt {
            author: Author::Person,
        },
        Kind::Prompt {
            author: Author::Host,
        },
        Kind::Expansion {
            command: "review".into(),
        },
        Kind::BeforeTool {
            tool: "Bash".into(),
        },
        Kind::AfterTool {
            tool: "Bash".into(),
            skill: None,
        },
        Kind::Idle,
        Kind::Watch,
        Kind::SessionEnd {
            reason: EndReason::Other,
        },
    ];
    let starts = [
        StartSource::Startup,
        StartSource::Resume,
        StartSource::Compact,
    ];
    all.extend(starts.map(|source| Kind::SessionStart { source }));
    all
}

fn case(kind: Kind, inputs: Vec<MachineInput>) -> Case {
    Case {
        left: None,
        event: Event {
            session: SessionId::parse("s"),
            speaker: Speaker::Main,
            kind,
        },
        now: Millis::seconds(1_000),
        uptime: Uptime(1_000_000),
        delivery: Digest("one".into()),
        inputs,
        broken: Vec::new(),
        overtaken: Vec::new(),
        by_command: false,
        registration: None,
        said: None,
        ledger: BlockLedger::default(),
        cap: Cap::Never,
        tools: ToolUse::NotSeen,
        transcript: None,
        trust: Trust::Trusted,
        orders: Orders::default(),
        typed_here: mainspring_kernel::orders::TypedHere::AtOnce,
        fence: Fence(7),
        me: EffectOwner {
            pid: 1,
            started: 1,
            boot: "b".into(),
        },
    }
}

fn intent<M: mainspring_kernel::effect::HasEffects>(effect: M::Effect) -> Intent<M> {
    Intent {
        fence: Fence(3),
        effect,
        owner: EffectOwner::default(),
        since: Millis(0),
        deadline: Millis::seconds(60),
        uptime: Uptime(0),
    }
}

fn beating() -> MachineInput {
    let state = State::Beating {
        beat: 0,
        of: 1,
        session: None,
    };
    MachineInput::Pulse(InputOf::new(state, ()))
}

fn claimed(phase: Phase) -> InputOf<Claim> {
    let mut file = ClaimFile::claimed(7, "fix-7".into(), "a".into(), String::new());
    file.phase = phase;
    file.summary = "Fix it".into();
    let state = claim::State::Claimed {
        claim: file,
        memory: ClaimMemory::default().about(7),
    };
    InputOf::new(state, claim::Facts::plain())
}

fn open(input: &InputOf<Claim>) -> Open {
    let claim::State::Claimed { claim, memory } = &input.state else {
        panic!("it is claimed")
    };
    Open::of(claim, memory).expect("nothing is missing")
}

/// One of each machine that has effects, with an effect whose process is gone.
fn abandoned() -> Vec<MachineInput> {
    let run = check::Effect::Run(check::Run {
        checks: Vec::new(),
        pinned: Vec::new(),
    });
    let facts = check::Facts {
        checks: Vec::new(),
        occasions: Vec::new(),
        tree: String::new(),
        activity: check::Activity::Tools,
        max: 5,
        left: Millis::seconds(600),
        asked: None,
    };
    let mut check = InputOf::<Check>::new(check::State::default(), facts);
    check.effect_status = EffectStatus::Abandoned(intent(run));
    let mut claim = claimed(Phase::ReadyForPr);
    claim.effect_status = EffectStatus::Abandoned(intent(Effect::Open(open(&claim))));
    let MachineInput::Pulse(mut pulse) = beating() else {
        panic!("a pulse")
    };
    pulse.effect_status = EffectStatus::Abandoned(intent::<Pulse>(Probe));
    vec![
        MachineInput::Check(check),
        MachineInput::Claim(claim),
        MachineInput::Pulse(pulse),
    ]
}

#[test]
fn no_event_but_a_stop_forgets_an_effect_whose_process_is_gone() {
    for kind in others() {
        for input in abandoned() {
            let recorded = input.recorded();
            let Ruling::Settled(settlement) = deliberate(&case(kind.clone(), vec![input])) else {
                continue;
            };
            let kept = settlement.transitions[0].intent();
            assert_eq!(kept, recorded, "at {}", kind.name());
        }
    }
}

/// A look changes nothing outside, so it does not replace what was recorded.
#[test]
fn a_look_forgets_no_effect_whose_process_is_gone() {
    let mut claim = claimed(Phase::ChecksRunning);
    if let claim::State::Claimed { claim, .. } = &mut claim.state {
        claim.pr_number = Some(9);
    }
    claim.effect_status = EffectStatus::Abandoned(intent(Effect::Open(open(&claim))));
    let recorded = claim.effect_status.clone();
    let case = || case(Kind::Watch, vec![MachineInput::Claim(claim.clone())]);
    let (mut turn, _) = Turn::begin(Kind::Watch);
    turn.next(Reply::Done);
    turn.next(Reply::Loaded(Box::new(case())));
    let Ask::Run(pending) = turn.next(Reply::Done) else {
        panic!("it looks")
    };
    let Pending::Claim(intent) = *pending else {
        panic!("only claim is here")
    };
    let outcome = Outcome::Failed(Fault {
        not_before: Some(Millis::seconds(2_000)),
        ..Fault::new("HTTP 502")
    });
    turn.next(Reply::Ran(Box::new(Finished::Claim(Returned {
        intent,
        outcome,
    }))));
    turn.next(Reply::Done);
    let Ask::Commit(entry) = turn.next(Reply::Loaded(Box::new(case()))) else {
        panic!("it records the trouble")
    };
    let mainspring_kernel::journal::Entry::Turn { case, ruling } = *entry else {
        panic!("a turn")
    };
    let Ruling::Settled(settlement) = *ruling else {
        panic!("it is settled")
    };
    let EffectStatus::Abandoned(open) = recorded else {
        panic!("as it was made")
    };
    let mut input = case.inputs[0].clone();
    input.reduce(Reducer::new(|_| Digest("d".into())));
    assert!(!format!("{input:?}").contains("Fix it"), "{input:?}");
    assert_eq!(
        case.inputs[0].recorded(),
        Some(Pending::Claim(open.clone()))
    );
    assert_eq!(
        settlement.transitions[0].intent(),
        Some(Pending::Claim(open))
    );
}

/// Runs the effect that the turn asks for.
fn run(turn: &mut Turn, inputs: Vec<MachineInput>) -> Pending {
    turn.next(Reply::Done);
    let Ask::Commit(_) = turn.next(Reply::Loaded(Box::new(case(STOP, inputs)))) else {
        panic!("it records its intent")
    };
    turn.next(Reply::Done);
    match turn.next(Reply::Done) {
        Ask::Run(pending) => *pending,
        other => panic!("it runs an effect: {other:?}"),
    }
}

#[test]
fn every_result_that_comes_too_late_is_told() {
    let (mut turn, _) = Turn::begin(STOP);
    let ready = MachineInput::Claim(claimed(Phase::ReadyForPr));
    let Pending::Claim(intent) = run(&mut turn, vec![ready, beating()]) else {
        panic!("claim comes first")
    };
    let outcome = Outcome::Failed(Fault::new("HTTP 502"));
    turn.next(Reply::Ran(Box::new(Finished::Claim(Returned {
        intent,
        outcome,
    }))));
    // Another hook has opened the pull request, and then it has given the last beat, too.
    let coding = || MachineInput::Claim(claimed(Phase::Coding));
    let Pending::Pulse(intent) = run(&mut turn, vec![coding(), beating()]) else {
        panic!("then pulse")
    };
    turn.next(Reply::Ran(Box::new(Finished::Pulse(Returned {
        intent,
        outcome: Probed::Version("1".into()),
    }))));
    turn.next(Reply::Done);
    let still = MachineInput::Pulse(InputOf::new(State::Still, ()));
    let last = case(STOP, vec![coding(), still]);
    let Ask::Commit(entry) = turn.next(Reply::Loaded(Box::new(last))) else {
        panic!("the person is told")
    };
    let mainspring_kernel::journal::Entry::Turn { case, .. } = *entry else {
        panic!("a turn")
    };
    assert_eq!(case.overtaken, [Name::Claim, Name::Pulse]);
    let Ruling::Settled(settlement) = deliberate(&case) else {
        panic!("it is settled")
    };
    let late = |note: &&mainspring_kernel::decision::Note| note.text.contains("too late");
    assert_eq!(settlement.answer.notes.iter().filter(late).count(), 2);
}
