//! All combinations: each of the five machines is absent, passes, blocks or fails, at one stop,
//! through the whole turn, with the real machines. [`oracle`] says what must come of it, from the
//! rules of the design and not from the code.
#![expect(clippy::expect_used, reason = "a test")]

mod oracle;
mod people;
mod world;

use mainspring_kernel::decision::{Decision, HoldTexts, Voice};
use mainspring_kernel::deliberate::{Outcome, Trust};
use mainspring_kernel::{Answer, Name};
use oracle::expected;
use people::{Combination, FIVE, Price, Stand};
use pretty_assertions::assert_eq;
use world::World;

/// The machines that hold the agent, in the order of their reasons.
fn holders(answer: &Answer) -> Vec<Name> {
    match &answer.decision {
        Decision::Stop { hold } => hold.iter().map(|reason| reason.by).collect(),
        other => panic!("{other:?} at a stop"),
    }
}

/// What the person is told by a machine.
fn heard_from(answer: &Answer, name: Name) -> Vec<&str> {
    let notes = answer.notes.iter();
    notes
        .filter(|note| note.by == Voice::Machine(name))
        .map(|note| note.text.as_str())
        .collect()
}

#[test]
fn there_are_as_many_as_there_should_be() {
    let all = Combination::all();
    assert_eq!(all.len(), 4 * 4 * 4 * 4 * 4 * 2 * 2 * 2);
    let plain = all.iter().filter(|one| {
        one.trust == Trust::Trusted
            && one.price(Name::Review) == Price::Cheap
            && one.price(Name::Claim) == Price::Cheap
    });
    assert_eq!(plain.count(), 1024);
}

#[test]
fn every_combination_is_decided_by_the_rules() {
    for combination in Combination::all() {
        let expected = expected(&combination);
        let mut world = World::of(&combination);
        let before = world.clone();
        let answer = world.stop();
        let at = format!("{combination:?}");

        assert_eq!(holders(&answer), expected.holds, "who holds: {at}");
        assert_eq!(world.ran, expected.runs, "what was started: {at}");
        assert_eq!(
            world.outcome(),
            if expected.holds.is_empty() {
                Outcome::Passed
            } else {
                Outcome::Held
            },
            "{at}"
        );
        for name in FIVE {
            let said = heard_from(&answer, name);
            assert_eq!(
                expected.loud.contains(&name),
                said.iter().any(|text| people::is_loud(name, text)),
                "{name} is told of as what failed or waits: {said:?}, {at}"
            );
            let (was, is) = (before.input(name), world.input(name));
            assert_eq!(
                expected.unmoved.contains(&name),
                was == is,
                "{name} stays as it was found: {at}\n{was:?}\n{is:?}"
            );
        }
        for name in &expected.finished {
            assert!(world.has_finished(*name), "{name} has finished: {at}");
        }
        for name in &expected.accepted {
            assert!(world.has_accepted(*name), "{name} has accepted: {at}");
        }
        assert!(world.intents().is_empty(), "nothing is under way: {at}");
        world.assert_protocol();
    }
}

/// Then the agent does all that it was told, and may stop: no combination traps it.
#[test]
fn every_combination_comes_to_an_end() {
    for combination in Combination::all() {
        let mut world = World::of(&combination);
        let mut stops = 0;
        loop {
            let answer = world.stop();
            let holds = holders(&answer);
            if holds.is_empty() {
                break;
            }
            stops += 1;
            assert!(stops <= 6, "held for ever by {holds:?}: {combination:?}");
            world.obey(&holds);
        }
        for name in [Name::Gate, Name::Loop] {
            match combination.stand(name) {
                Stand::Passing | Stand::Blocking => {
                    assert!(world.has_finished(name), "{name}: {combination:?}");
                }
                Stand::Absent | Stand::Failing => {}
            }
        }
        let trusted = combination.trust == Trust::Trusted;
        if trusted && combination.is(Name::Review, Stand::Passing, Price::Dear) {
            assert!(world.has_finished(Name::Review), "{combination:?}");
        }
        for name in [Name::Review, Name::Claim] {
            let runs = world.ran.iter().filter(|ran| **ran == name).count();
            assert!(
                runs <= 2,
                "{name} was started {runs} times: {combination:?}"
            );
        }
        world.assert_protocol();
    }
}

/// When a skill is invoked, only `tasks` decides. It is the one machine that fails closed: the
/// agent and the person are told what it cannot lay out. The other machines do not change.
#[test]
fn an_invoked_skill_concerns_no_other_machine() {
    for combination in Combination::all() {
        let mut world = World::of(&combination);
        let before = world.clone();
        let list = combination.stand(Name::Tasks);
        let answer = world.invoke(list);
        let Decision::AfterTool { tell, object } = &answer.decision else {
            panic!("{answer:?}")
        };
        let speaks = |stand: Stand| {
            if list == stand {
                vec![Name::Tasks]
            } else {
                vec![]
            }
        };
        let by = |reasons: &HoldTexts| reasons.iter().map(|one| one.by).collect::<Vec<_>>();
        assert_eq!(by(tell), speaks(Stand::Passing), "{combination:?}");
        assert_eq!(by(object), speaks(Stand::Blocking), "{combination:?}");
        for name in FIVE {
            let failing = combination.stand(name) == Stand::Failing
                && combination.price(name) == Price::Cheap;
            let refused = name == Name::Tasks && list == Stand::Blocking;
            let told = !heard_from(&answer, name).is_empty();
            assert_eq!(told, failing || refused, "{name}: {combination:?}");
            if name != Name::Tasks {
                assert_eq!(before.input(name), world.input(name), "{combination:?}");
            }
        }
        assert!(world.ran.is_empty(), "{combination:?}");
    }
}

/// The order in which the machines are asked does not determine the order of the reasons.
#[test]
fn the_order_of_the_machines_changes_no_decision() {
    for combination in Combination::all() {
        let world = World::of(&combination);
        let mut turned = world.clone();
        turned.inputs.reverse();
        let (mut straight, mut turned) = (world, turned);
        if straight.case().inputs.len() > 1 && expected(&combination).runs.is_empty() {
            assert_eq!(
                straight.stop().decision,
                turned.stop().decision,
                "{combination:?}"
            );
        }
    }
}

/// A file that could not be read may be readable a moment later, so the same delivery is decided
/// again, as if it had come for the first time.
#[test]
fn what_was_answered_in_trouble_is_not_repeated() {
    let mut seen = 0;
    for combination in Combination::all() {
        let mut world = World::of(&combination);
        if world.broken.is_empty() {
            continue;
        }
        let answer = world.stop();
        assert_eq!(
            world.case().ledger.last,
            None,
            "{combination:?}: {answer:?}"
        );
        seen += 1;
    }
    assert!(seen > 0, "some machine is broken in some of them");
}

/// The same delivery again, from a second registration: the same answer, and nothing changes.
#[test]
fn a_second_delivery_gets_the_same_answer_and_changes_nothing() {
    for combination in Combination::all() {
        let mut world = World::of(&combination);
        // An answer about an unreadable file is not repeated; the file is read again.
        if !world.broken.is_empty() {
            continue;
        }
        let first = world.stop();
        let after = world.clone();
        let second = world.stop_again();
        if first.is_nothing() {
            continue;
        }
        assert_eq!(first, second, "{combination:?}");
        assert_eq!(after.inputs, world.inputs, "{combination:?}");
        assert_eq!(after.ran, world.ran, "{combination:?}");
    }
}
