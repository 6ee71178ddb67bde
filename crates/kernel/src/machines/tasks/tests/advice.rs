use alloc::vec;

use pretty_assertions::assert_eq;

use super::super::advice::{Advice, advise, waves};
use super::super::check::{Item, List};
use super::{item, list};

#[test]
fn a_chain_needs_no_advice() {
    assert_eq!(advise(&list([(1, &[][..]), (2, &[1]), (3, &[1, 2])])), []);
}

#[test]
fn circles_are_named_once_and_what_waits_behind_them_too() {
    let advice = advise(&list([
        (1, &[][..]),
        (2, &[4]),
        (3, &[2]),
        (4, &[3, 1]),
        (5, &[4]),
        (6, &[6]),
        (7, &[5, 6]),
    ]));
    assert_eq!(
        advice,
        [
            Advice::Circle(vec![2, 4, 3]),
            Advice::Circle(vec![6]),
            Advice::Unreachable(5),
            Advice::Unreachable(7),
        ]
    );
}

#[test]
fn a_block_that_only_the_blocker_knows_of_is_told() {
    let one_sided = List {
        items: vec![
            Item {
                blocks: vec![2, 3],
                ..item(1, &[])
            },
            item(2, &[1]),
            item(3, &[]),
        ],
    };
    assert_eq!(
        advise(&one_sided),
        [Advice::OneSided {
            blocker: 1,
            blocked: 3
        }]
    );
}

#[test]
fn waves_are_the_order_of_work() {
    let list = list([
        (1, &[][..]),
        (2, &[]),
        (3, &[1]),
        (4, &[2, 3]),
        (5, &[5]),
        (6, &[5]),
    ]);
    assert_eq!(waves(&list), [vec![1, 2], vec![3], vec![4]]);
}
