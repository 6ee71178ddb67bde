use alloc::vec;
use alloc::vec::Vec;

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
fn what_only_the_blocker_says_is_mirrored_so_that_waves_are_what_happens() {
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
    let mirrored = one_sided.clone().mirrored();
    let waits: Vec<_> = mirrored.items.iter().map(|item| &item.blocked_by).collect();
    assert_eq!(waits, [&vec![], &vec![1], &vec![1]]);
    assert_eq!(waves(&mirrored), waves(&one_sided));
    assert_eq!(mirrored.clone().mirrored(), mirrored);
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
