use alloc::string::ToString;
use alloc::vec;

use super::*;

const NOW: Millis = Millis(1_000);
const ALL: Scope = Scope::Everything;
const LOOP: Scope = Scope::Machine(Name::Loop);

fn at(at: u64, order: Order) -> Given {
    Given {
        order,
        at: Millis(at),
    }
}

/// The time of each line, what waits in the queue, what was given elsewhere, and what brakes.
type Queue = (&'static str, Vec<Given>, Vec<Given>, Vec<Order>);

#[test]
fn a_queued_order_brakes_once_and_a_later_resume_wins() {
    use Order::{Pause, Resume, Stop};
    let pause = Pause(ALL, Millis::seconds(60));
    let table: Vec<Queue> = vec![
        ("nothing", vec![], vec![at(1, Stop(ALL))], vec![]),
        ("stop", vec![at(1, Stop(ALL))], vec![], vec![Stop(ALL)]),
        ("pause", vec![at(1, pause)], vec![], vec![pause]),
        ("resume waits", vec![at(1, Resume(ALL))], vec![], vec![]),
        (
            "an order from before",
            vec![at(2, Stop(ALL))],
            vec![at(1, Resume(ALL)), at(1, Stop(ALL))],
            vec![Stop(ALL)],
        ),
        (
            "it was carried out",
            vec![at(1, pause)],
            vec![at(2, pause)],
            vec![],
        ),
        (
            "in another terminal",
            vec![at(1, Stop(ALL))],
            vec![at(2, Resume(ALL))],
            vec![],
        ),
        (
            "in the same queue",
            vec![at(1, Stop(ALL)), at(2, Resume(ALL))],
            vec![],
            vec![],
        ),
        (
            "and once more",
            vec![at(1, Stop(ALL)), at(2, Resume(ALL)), at(3, Stop(LOOP))],
            vec![],
            vec![Stop(LOOP)],
        ),
        (
            "both",
            vec![at(1, Stop(LOOP)), at(2, Stop(Scope::Machine(Name::Gate)))],
            vec![],
            vec![Stop(LOOP), Stop(Scope::Machine(Name::Gate))],
        ),
        (
            "everything, although one was resumed",
            vec![at(1, Stop(ALL))],
            vec![at(2, Resume(LOOP))],
            vec![Stop(ALL)],
        ),
        (
            "one, and everything was resumed",
            vec![at(1, Stop(LOOP))],
            vec![at(2, Resume(ALL))],
            vec![],
        ),
    ];
    for (what, typed, given, expected) in table {
        assert_eq!(due(&typed, &given), expected, "{what}");
    }
}

#[test]
fn an_order_that_waited_is_undone_only_by_a_later_resume() {
    let stop = at(5, Order::Stop(LOOP));
    for (other, undone) in [
        (at(6, Order::Resume(ALL)), true),
        (at(6, Order::Resume(LOOP)), true),
        (at(6, Order::Resume(Scope::Machine(Name::Gate))), false),
        (at(4, Order::Resume(ALL)), false),
        // That is how it was carried out at a stop.
        (at(6, Order::Stop(LOOP)), false),
    ] {
        assert_eq!(is_undone(&stop, &[other]), undone, "{other:?}");
    }
    assert!(!is_undone(
        &at(5, Order::Resume(ALL)),
        &[at(6, Order::Resume(ALL))]
    ));
}

#[test]
fn a_machine_is_suspended_until_the_time_is_over() {
    for (until, holds) in [
        (Until::Resumed, true),
        (Until::FileGone, true),
        (Until::At(Millis(1_001)), true),
        (Until::At(NOW), false),
        (Until::At(Millis(0)), false),
    ] {
        let everything = Orders::default().stopped(Scope::Everything, until);
        let one = Orders::default().stopped(Scope::Machine(Name::Loop), until);
        for &name in Name::ALL {
            let all = holds && name != Name::Tasks;
            assert_eq!(everything.suspension(name, NOW).is_some(), all, "{until:?}");
            let only = holds && name == Name::Loop;
            assert_eq!(
                one.suspension(name, NOW).is_some(),
                only,
                "{name} {until:?}"
            );
        }
    }
}

#[test]
fn an_expired_pause_of_everything_does_not_end_that_of_one_machine() {
    let orders = Orders::default()
        .stopped(Scope::Everything, Until::At(Millis(1)))
        .stopped(Scope::Machine(Name::Gate), Until::Resumed);
    assert_eq!(orders.suspension(Name::Gate, NOW), Some(Until::Resumed));
    assert_eq!(orders.suspension(Name::Loop, NOW), None);
}

#[test]
fn one_machine_may_resume_while_all_others_stay_suspended() {
    let orders = Orders::default()
        .stopped(Scope::Everything, Until::Resumed)
        .resumed(Scope::Machine(Name::Review), NOW);
    for &name in Name::ALL {
        let free = matches!(name, Name::Review | Name::Tasks);
        assert_eq!(orders.suspension(name, NOW).is_none(), free, "{name}");
    }
    let free = orders.resumed(Scope::Everything, NOW);
    assert!(free.is_empty(), "{free:?}");
}

#[test]
fn hydration_goes_on_under_every_order_that_does_not_name_it() {
    let mut everything = Orders::default().stopped(Scope::Everything, Until::FileGone);
    everything.mode = Mode::Observe;
    assert_eq!(everything.allowance(Name::Tasks, NOW), Allowance::Act);
    for &name in Name::ALL.iter().filter(|name| **name != Name::Tasks) {
        assert_eq!(
            everything.allowance(name, NOW),
            Allowance::Suspended(Until::FileGone)
        );
    }
    let named = Orders::default().stopped(Scope::Machine(Name::Tasks), Until::Resumed);
    assert_eq!(
        named.allowance(Name::Tasks, NOW),
        Allowance::Suspended(Until::Resumed)
    );
    assert_eq!(named.allowance(Name::Claim, NOW), Allowance::Act);
}

#[test]
fn nothing_is_started_for_an_agent_under_an_order_and_everything_for_a_person() {
    let observing = Orders {
        mode: Mode::Observe,
        ..Orders::default()
    };
    for (orders, said) in [
        (
            Orders::default().stopped(Scope::Everything, Until::Resumed),
            "nothing is started for claim: a person stopped it",
        ),
        (
            Orders::default().stopped(Scope::Machine(Name::Claim), Until::At(Millis(1_001))),
            "nothing is started for claim: a person paused it",
        ),
        (
            Orders::default().stopped(Scope::Everything, Until::FileGone),
            "nothing is started for claim: .mainspring-off is in this project",
        ),
        (
            observing,
            "nothing is started for claim: a person set observe mode",
        ),
    ] {
        let agent = orders.clone().binding(&Actor::Agent(None));
        let forbidden = agent.may_start(Name::Claim, NOW).expect_err("an order");
        assert_eq!(forbidden.to_string(), said);
        let person = orders.binding(&Actor::Person);
        assert_eq!(person.may_start(Name::Claim, NOW), Ok(()));
    }
    assert_eq!(Orders::default().may_start(Name::Claim, NOW), Ok(()));
}

#[test]
fn going_on_with_one_does_not_revive_a_pause_that_is_over() {
    let orders = Orders::default()
        .stopped(Scope::Everything, Until::At(Millis(1)))
        .resumed(Scope::Machine(Name::Review), NOW);
    assert!(orders.is_empty(), "{orders:?}");
}
