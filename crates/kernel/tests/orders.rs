//! A person's orders, and the receipt, through the whole deliberation.

use mainspring_kernel::block_ledger::{BlockLedger, Cap, ToolUse};
use mainspring_kernel::deliberate::{Broken, Outcome, Settlement, Trust};
use mainspring_kernel::effect::{EffectOwner, Fence, Intent, Life};
use mainspring_kernel::event::{Background, Chain, Speaker};
use mainspring_kernel::machines::pulse::{Probe, Probed, Pulse, State};
use mainspring_kernel::machines::{Finished, InputOf, Pending, Returned, Transition};
use mainspring_kernel::orders::{Mode, Scope, TypedHere, Until};
use mainspring_kernel::turn::{Ask, Reply, Turn};
use mainspring_kernel::{
    Case, Digest, Event, Kind, MachineInput, Millis, Name, Orders, Ruling, SessionId, Uptime,
    deliberate,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

const STOP: Kind = Kind::Stop {
    chain: Chain::Continued,
    background: Background::Quiet,
};

fn me() -> EffectOwner {
    EffectOwner {
        pid: 1,
        started: 1,
        boot: "boot".into(),
    }
}

fn beating(beat: u32) -> State {
    State::Beating {
        beat,
        of: 3,
        session: None,
    }
}

fn case(state: State, orders: Orders) -> Case {
    Case {
        left: None,
        event: Event {
            session: SessionId::parse("s"),
            speaker: Speaker::Main,
            kind: STOP,
        },
        now: Millis::seconds(100),
        uptime: Uptime(100_000),
        delivery: Digest("one".into()),
        inputs: vec![MachineInput::Pulse(InputOf::new(state, ()))],
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
        orders,
        typed_here: TypedHere::AtOnce,
        fence: Fence(0),
        me: me(),
    }
}

fn settled(case: &Case) -> Settlement {
    match deliberate(case) {
        Ruling::Settled(settlement) => settlement,
        other => panic!("{other:?}"),
    }
}

fn pulse(settlement: &Settlement) -> &State {
    match settlement.transitions.as_slice() {
        [Transition::Pulse(moved)] => &moved.state,
        other => panic!("{other:?}"),
    }
}

fn notes(settlement: &Settlement) -> Vec<&str> {
    let notes = settlement.answer.notes.iter();
    notes.map(|note| note.text.as_str()).collect()
}

fn stopped(until: Until) -> Orders {
    Orders::default().stopped(Scope::Everything, until)
}

fn observing() -> Orders {
    Orders {
        mode: Mode::Observe,
        ..Orders::default()
    }
}

#[test]
fn a_suspended_machine_is_not_asked_and_the_person_is_told() {
    for (orders, said) in [
        (
            stopped(Until::Resumed),
            "you stopped pulse; it did not check this stop. `mainspring resume` undoes that",
        ),
        (
            stopped(Until::At(Millis::seconds(101))),
            "you paused pulse for a while; it did not check this stop. `mainspring resume` ends the \
             pause at once",
        ),
        (
            stopped(Until::FileGone),
            "pulse did not check this stop, because .mainspring-off is here",
        ),
        (
            Orders::default().stopped(Scope::Machine(Name::Pulse), Until::Resumed),
            "you stopped pulse; it did not check this stop. `mainspring resume` undoes that",
        ),
    ] {
        let settlement = settled(&case(beating(0), orders));
        assert_eq!(settlement.outcome, Outcome::Passed);
        assert_eq!(settlement.transitions[0].rule(), "suspended");
        assert_eq!(pulse(&settlement), &beating(0), "its state is kept");
        assert_eq!(notes(&settlement), [said]);
    }
}

#[test]
fn an_order_that_is_over_or_about_another_machine_changes_nothing() {
    let free = settled(&case(beating(0), Orders::default()));
    assert_eq!(free.outcome, Outcome::Held);
    for orders in [
        stopped(Until::At(Millis::seconds(100))),
        Orders::default().stopped(Scope::Machine(Name::Gate), Until::Resumed),
    ] {
        assert_eq!(settled(&case(beating(0), orders)), free);
    }
}

#[test]
fn a_suspended_machine_starts_no_effect_and_says_nothing_at_other_events() {
    let mut suspended = case(beating(2), stopped(Until::Resumed));
    assert!(matches!(deliberate(&suspended), Ruling::Settled(_)));
    suspended.event.kind = Kind::Idle;
    assert!(settled(&suspended).answer.is_nothing());
}

#[test]
fn unreadable_state_of_a_suspended_machine_is_not_reported() {
    let mut suspended = case(beating(0), stopped(Until::Resumed));
    suspended.broken.push(Broken {
        machine: Name::Loop,
        cause: "cannot read it".into(),
    });
    assert!(!notes(&settled(&suspended)).contains(&"cannot read it"));
    suspended.orders = Orders::default();
    assert!(notes(&settled(&suspended)).contains(&"cannot read it"));
}

/// The case in which pulse's child came back in this turn.
fn returned(orders: Orders) -> Settlement {
    after_run(orders, |intent| {
        Reply::Ran(Box::new(Finished::Pulse(Returned {
            intent,
            outcome: Probed::Version("mainspring 1".into()),
        })))
    })
}

/// What pulse's turn settles on, if the run of its effect gets this reply and these orders are
/// found afterwards.
fn after_run(orders: Orders, reply: impl Fn(Intent<Pulse>) -> Reply) -> Settlement {
    let intent = Intent::<Pulse> {
        fence: Fence(1),
        effect: Probe,
        owner: me(),
        since: Millis(0),
        deadline: Millis::seconds(1_000),
        uptime: Uptime(0),
    };
    let mut case = case(beating(2), orders);
    case.inputs[0].set_intent(Pending::Pulse(intent.clone()), Life::Alive);
    // Through the turn, because the turn takes in a result.
    let (mut turn, _) = Turn::begin(STOP);
    turn.next(Reply::Done);
    let mut first = case.clone();
    first.inputs = vec![MachineInput::Pulse(InputOf::new(beating(2), ()))];
    first.orders = Orders::default();
    turn.next(Reply::Loaded(Box::new(first)));
    turn.next(Reply::Done);
    turn.next(Reply::Done);
    turn.next(reply(intent));
    turn.next(Reply::Done);
    let Ask::Commit(entry) = turn.next(Reply::Loaded(Box::new(case))) else {
        panic!("a commit was to come")
    };
    match *entry {
        mainspring_kernel::journal::Entry::Turn { ruling, .. } => match *ruling {
            Ruling::Settled(settlement) => settlement,
            other => panic!("{other:?}"),
        },
        other @ mainspring_kernel::journal::Entry::Verb { .. } => panic!("{other:?}"),
    }
}

#[test]
fn an_order_between_the_decision_and_the_run_starts_nothing_and_counts_as_no_failure() {
    let settlement = after_run(stopped(Until::Resumed), |_| Reply::Withheld);
    assert_eq!(settlement.outcome, Outcome::Passed);
    assert!(settlement.answer.decision.is_nothing());
    assert_eq!(
        pulse(&settlement),
        &beating(2),
        "as if it had not been asked"
    );
}

#[test]
fn a_result_is_kept_while_suspended_and_in_observe_mode() {
    let acting = returned(Orders::default());
    assert_eq!(acting.outcome, Outcome::Held);
    for (orders, outcome) in [
        (stopped(Until::Resumed), Outcome::Passed),
        (observing(), Outcome::Observed),
    ] {
        let settlement = returned(orders);
        assert_eq!(settlement.outcome, outcome);
        assert!(settlement.answer.decision.is_nothing());
        assert_eq!(pulse(&settlement), pulse(&acting));
    }
}

#[test]
fn observing_asks_for_nothing_changes_nothing_and_tells_what_it_would_have_done() {
    let settlement = settled(&case(beating(0), observing()));
    assert_eq!(settlement.outcome, Outcome::Observed);
    assert!(settlement.answer.decision.is_nothing());
    assert_eq!(pulse(&settlement), &beating(0));
    assert_eq!(settlement.transitions[0].rule(), "beat");
    assert!(
        !settlement.transitions[0].said().is_nothing(),
        "what it would say"
    );
    assert_eq!(settlement.ledger.blocks, 0);
    assert_eq!(
        notes(&settlement),
        [
            "observe mode: it would have kept the agent going for pulse. \
             `mainspring why` tells more"
        ]
    );
    let starting = settled(&case(beating(2), observing()));
    assert_eq!(starting.outcome, Outcome::Observed);
    assert_eq!(starting.transitions[0].rule(), "probe");
    assert!(starting.transitions[0].intent().is_none());
    let idle = settled(&case(State::Still, observing()));
    assert_eq!(idle.outcome, Outcome::Passed);
    assert!(idle.answer.is_nothing());
}

#[test]
fn a_run_of_holds_is_announced_once_and_ends_with_a_receipt() {
    let mut ledger = BlockLedger::default();
    let mut said = Vec::new();
    for (step, state) in [beating(0), beating(1).clone(), State::Still]
        .into_iter()
        .enumerate()
    {
        let step = u64::try_from(step).expect("small");
        let mut stop = case(state, Orders::default());
        // Two beats left, so that no child is needed.
        if let [MachineInput::Pulse(input)] = stop.inputs.as_mut_slice()
            && let State::Beating { of, .. } = &mut input.state
        {
            *of = 9;
        }
        stop.now = Millis::seconds(100 + 30 * step);
        stop.delivery = Digest(step.to_string());
        stop.ledger = ledger;
        let settlement = settled(&stop);
        said.push(notes(&settlement).join("; "));
        ledger = settlement.stored_ledger(&stop);
    }
    assert_eq!(
        said,
        [
            "pulse keeps the agent going. `mainspring why` tells more, `mainspring stop` ends it",
            "",
            "let go after 2 held stops (pulse 2), 1m",
        ]
    );
    assert_eq!(ledger.receipt, None);
}

#[test]
fn where_a_typed_order_waits_unseen_the_person_reads_to_press_esc_first() {
    let mut held = case(beating(0), Orders::default());
    held.typed_here = TypedHere::AfterEsc;
    assert_eq!(
        notes(&settled(&held)),
        [
            "pulse keeps the agent going. `mainspring why` tells more, `mainspring stop` in a \
          terminal ends it; here, press Esc first and then type `mainspring stop`"
        ]
    );
}

#[test]
fn an_order_can_change_a_ruling_that_lets_the_agent_go_on_or_starts_something() {
    let held = case(beating(0), Orders::default());
    assert!(deliberate(&held).goes_on());
    let stopped = Orders::default().stopped(Scope::Everything, Until::Resumed);
    assert!(!deliberate(&case(beating(0), stopped)).goes_on());
    assert!(!deliberate(&case(State::Still, Orders::default())).goes_on());
    let mut again = case(beating(0), Orders::default());
    again.ledger = settled(&held).stored_ledger(&held);
    assert!(matches!(deliberate(&again), Ruling::Repeated(_)));
    assert!(deliberate(&again).goes_on());
}

#[test]
fn a_sub_agents_stop_is_no_receipt() {
    let mut held = case(beating(0), Orders::default());
    let ledger = settled(&held).stored_ledger(&held);
    held.event.speaker = Speaker::Subagent;
    held.delivery = Digest("two".into());
    held.ledger = ledger.clone();
    let settlement = settled(&held);
    assert!(settlement.answer.is_nothing());
    assert_eq!(settlement.ledger.receipt, ledger.receipt);
}

fn orders() -> impl Strategy<Value = Orders> {
    let until = || {
        prop_oneof![
            Just(Until::Resumed),
            Just(Until::FileGone),
            (0_u64..200).prop_map(|seconds| Until::At(Millis::seconds(seconds))),
        ]
    };
    let name = proptest::sample::select(Name::ALL.to_vec());
    let machines = proptest::collection::btree_map(name, until(), 0..3);
    let mode = prop_oneof![Just(Mode::Act), Just(Mode::Observe)];
    (proptest::option::of(until()), machines, mode).prop_map(|(everything, machines, mode)| {
        Orders {
            everything,
            machines,
            mode,
        }
    })
}

fn states() -> impl Strategy<Value = State> {
    let beats = (0_u32..4).prop_map(beating);
    prop_oneof![Just(State::Still), beats]
}

proptest! {
    #[test]
    fn no_order_is_ever_disobeyed(state in states(), orders in orders()) {
        let case = case(state.clone(), orders.clone());
        let suspended = orders.suspension(Name::Pulse, case.now).is_some();
        let ruling = deliberate(&case);
        prop_assert_eq!(&ruling, &deliberate(&case), "the same again");
        if !suspended && orders.mode == Mode::Act {
            let free = Case { orders: Orders::default(), ..case };
            prop_assert_eq!(ruling, deliberate(&free), "and otherwise nothing changes");
            return Ok(());
        }
        let Ruling::Settled(settlement) = ruling else {
            return Err(TestCaseError::fail("an effect was started"));
        };
        prop_assert!(settlement.answer.decision.is_nothing());
        prop_assert_eq!(pulse(&settlement), &state);
        prop_assert_eq!(settlement.ledger.blocks, 0);
    }

    #[test]
    fn orders_survive_their_file(orders in orders()) {
        let text = serde_json::to_string(&orders).expect("they can be written");
        prop_assert_eq!(serde_json::from_str::<Orders>(&text).expect("and read"), orders);
    }
}
