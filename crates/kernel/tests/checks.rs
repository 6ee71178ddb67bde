//! Checks before other machines, through the whole deliberation.

use mainspring_kernel::block_ledger::{BlockLedger, Cap, ToolUse};
use mainspring_kernel::deliberate::{Outcome, Settlement, Trust};
use mainspring_kernel::effect::{EffectOwner, EffectStatus, Fence, Intent};
use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::check::{
    Activity, Defined, Effect, Facts, Failure, Occasion, Outcome as Found, Ran, Run, State, Verdict,
};
use mainspring_kernel::machines::{InputOf, pulse};
use mainspring_kernel::{
    Case, Decision, Digest, Event, MachineInput, Millis, Name, Orders, Ruling, SessionId, Uptime,
    deliberate,
};
use pretty_assertions::assert_eq;

fn facts(max: u32) -> Facts {
    Facts {
        checks: vec![Defined {
            name: "tests".into(),
            when: Occasion::ALL.into(),
            timeout: Millis::seconds(600),
            retries: 0,
        }],
        occasions: vec![],
        tree: "/p".into(),
        activity: Activity::Tools,
        max,
        left: Millis::seconds(600),
        asked: None,
    }
}

/// The check has just run, and `pulse`, which comes later, wants to start a child.
fn case(verdict: Verdict, max: u32) -> Case {
    let run = Run {
        checks: vec![],
        pinned: vec![],
    };
    let ran = Ran {
        name: "tests".into(),
        key: Digest("k".into()),
        verdict,
        took: Millis::seconds(1),
        log: String::new(),
        tree: None,
        rewrites: vec![],
    };
    let mut check = InputOf::new(State::default(), facts(max));
    let intent = Intent {
        fence: Fence(1),
        effect: Effect::Run(run),
        owner: EffectOwner::default(),
        since: Millis(0),
        deadline: Millis(0),
        uptime: Uptime(0),
    };
    check.effect_status = EffectStatus::Done(intent, Found::Ran(vec![ran]));
    let last_beat = pulse::State::Beating {
        beat: 1,
        of: 2,
        session: None,
    };
    Case {
        left: None,
        event: Event::stop(SessionId::parse("s"), Chain::First),
        now: Millis::seconds(100),
        uptime: Uptime(100_000),
        delivery: Digest("one".into()),
        inputs: vec![
            MachineInput::Check(check),
            MachineInput::Pulse(InputOf::new(last_beat, ())),
        ],
        broken: vec![],
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
        fence: Fence(1),
        me: EffectOwner {
            pid: 1,
            started: 1,
            boot: "boot".into(),
        },
    }
}

fn red() -> Verdict {
    Verdict::Fail(Failure {
        exit: "exit code 1".into(),
        said: String::new(),
        reason: Digest("r".into()),
        changed: vec![],
    })
}

fn settled(case: &Case) -> Settlement {
    match deliberate(case) {
        Ruling::Settled(settlement) => settlement,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_later_machine_starts_when_the_checks_pass_or_could_not_run() {
    for verdict in [
        Verdict::Pass,
        Verdict::Flaky,
        Verdict::CouldNotRun("no".into()),
    ] {
        let ruling = deliberate(&case(verdict, 5));
        assert!(matches!(&ruling, Ruling::Intends(one) if one.name() == Name::Pulse));
    }
}

#[test]
fn nothing_starts_behind_a_red_check_even_if_the_agent_is_let_go() {
    for (max, outcome) in [(5, Outcome::Held), (1, Outcome::Passed)] {
        let settlement = settled(&case(red(), max));
        assert_eq!(settlement.outcome, outcome);
        assert_eq!(settlement.transitions[1].rule(), "deferred");
    }
}

/// It was red, and nobody is to blame that it is not green now: the agent may stop, and nothing is
/// handed over.
#[test]
fn nothing_starts_behind_a_check_that_was_red_and_has_not_been_green_since() {
    let was_red = settled(&case(red(), 5)).transitions[0].clone();
    let mainspring_kernel::machines::Transition::Check(was_red) = was_red else {
        panic!("the check comes first")
    };
    for verdict in [Verdict::Flaky, Verdict::CouldNotRun("no".into())] {
        let mut case = case(verdict, 5);
        let MachineInput::Check(check) = &mut case.inputs[0] else {
            panic!("the check comes first")
        };
        check.state.results = was_red.state.results.clone();
        check.facts.occasions = vec![Occasion::Handoff];
        let settlement = settled(&case);
        assert_eq!(settlement.outcome, Outcome::Passed);
        assert_eq!(settlement.transitions[1].rule(), "deferred");
    }
}

#[test]
fn what_has_no_time_left_starts_at_the_next_stop() {
    let mut case = case(Verdict::Pass, 5);
    case.left = Some(Millis::seconds(1));
    let settlement = settled(&case);
    let Decision::Stop { hold } = &settlement.answer.decision else {
        panic!("a stop")
    };
    assert_eq!(
        hold.text(),
        "the checks are green, the pulse starts at your next stop, because this one has no time \
         left for it. You need not do anything: stop again."
    );
    assert_eq!(settlement.transitions[1].rule(), "deferred");
    // With time, or at a first effect, it starts.
    for left in [Some(Millis::seconds(60)), None] {
        case.left = left;
        assert!(matches!(deliberate(&case), Ruling::Intends(_)), "{left:?}");
    }
    // The pulse starts in a project that nobody trusted, too, so it waits there as well.
    case.left = Some(Millis::seconds(1));
    case.trust = Trust::Untrusted;
    assert_eq!(settled(&case).outcome, Outcome::Held);
}
