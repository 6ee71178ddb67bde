use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::check::{Item, List};
use super::super::draft::Status;
use super::super::task_list::{Entry, Exhausted, MOST_ID, Maker, Reset, Source, TaskList};
use super::{entry, item, list, skill};

#[test]
fn ids_begin_above_what_is_there() {
    let before = TaskList {
        tasks: (1..=5).map(|id| entry(id, Maker::Hand)).collect(),
        floor: 0,
    };
    let after = before
        .lay_out(&list([(1, &[][..]), (2, &[1]), (3, &[])]), "s", Reset::All)
        .unwrap();
    let new: Vec<(u64, &[u64])> = after.tasks[5..]
        .iter()
        .map(|entry| (entry.id, entry.blocked_by.as_slice()))
        .collect();
    assert_eq!(new, [(6, &[][..]), (7, &[6]), (8, &[])]);
}

#[test]
fn a_reset_gives_the_old_numbers_again_but_none_below_the_mark() {
    let before = TaskList {
        tasks: vec![
            entry(2, Maker::Hand),
            entry(3, skill("a")),
            entry(4, skill("b")),
        ],
        floor: 0,
    };
    let two = list([(1, &[][..]), (2, &[])]);
    let numbers = |before: &TaskList, reset| -> Vec<u64> {
        let after = before.lay_out(&two, "a", reset).unwrap();
        after.tasks.iter().map(|entry| entry.id).collect()
    };
    assert_eq!(numbers(&before, Reset::All), [2, 3, 4]);
    assert_eq!(numbers(&before, Reset::Skill), [2, 4, 5, 6]);
    let marked = TaskList { floor: 9, ..before };
    assert_eq!(numbers(&marked, Reset::All), [2, 10, 11]);
}

#[test]
fn references_to_what_went_are_dropped_even_where_the_number_is_given_again() {
    let mut by_hand = entry(1, Maker::Hand);
    by_hand.blocked_by = vec![2, 7];
    by_hand.blocks = vec![2];
    let before = TaskList {
        tasks: vec![by_hand, entry(2, skill("a"))],
        floor: 0,
    };
    let after = before.lay_out(&list([(1, &[][..])]), "a", Reset::All);
    let after = after.unwrap();
    assert_eq!(after.tasks[1].id, 2);
    assert_eq!(after.tasks[0].blocked_by, [7]);
    assert!(after.tasks[0].blocks.is_empty());
}

#[test]
fn a_reference_to_nothing_does_not_come_to_mean_a_new_task() {
    let mut by_hand = entry(1, Maker::Hand);
    by_hand.blocked_by = vec![2, 3];
    let before = TaskList {
        tasks: vec![by_hand],
        floor: 0,
    };
    let after = before.lay_out(&list([(1, &[][..])]), "a", Reset::All);
    assert_eq!(after.unwrap().tasks[0].blocked_by, [3]);
}

#[test]
fn numbers_that_the_client_cannot_count_to_are_refused() {
    let full = TaskList {
        tasks: Vec::new(),
        floor: MOST_ID - 1,
    };
    assert!(full.lay_out(&list([(1, &[][..])]), "a", Reset::All).is_ok());
    assert_eq!(
        full.lay_out(&list([(2, &[][..])]), "a", Reset::All),
        Err(Exhausted)
    );
}

#[test]
fn what_can_start_waits_for_nothing_open() {
    let mut done = entry(1, Maker::Hand);
    done.status = Status::Completed;
    let mut free = entry(2, Maker::Hand);
    free.blocked_by = vec![1, 99];
    let mut waiting = entry(3, Maker::Hand);
    waiting.blocked_by = vec![2];
    let list = TaskList {
        tasks: vec![done, free, waiting],
        floor: 0,
    };
    let ready: Vec<u64> = list.ready().map(|entry| entry.id).collect();
    assert_eq!(ready, [2]);
}

fn arbitrary_status() -> impl Strategy<Value = Status> {
    prop::sample::select(&Status::ALL[..])
}

/// Any client list: ids with gaps, arbitrary references, tasks of three skills and of nobody.
fn arbitrary_task_list() -> impl Strategy<Value = TaskList> {
    let maker = prop_oneof![
        2 => Just(Maker::Hand),
        1 => Just(skill("a")),
        1 => Just(skill("b")),
        1 => Just(skill("c")),
    ];
    let refs = prop::collection::vec(1_u64..40, 0..4);
    let task = (maker, arbitrary_status(), refs.clone(), refs);
    let tasks = prop::collection::btree_map(1_u64..40, task, 0..20);
    (tasks, 0_u64..60).prop_map(|(tasks, floor)| TaskList {
        tasks: tasks
            .into_iter()
            .map(|(id, (maker, status, blocked_by, blocks))| Entry {
                id,
                maker,
                status,
                blocked_by,
                blocks,
                source: Source::Found,
            })
            .collect(),
        floor,
    })
}

/// Any list that passed the check: references only to its own ids.
fn arbitrary_list() -> impl Strategy<Value = List> {
    let locals = prop::collection::btree_set(1_u64..200, 0..15);
    locals.prop_flat_map(|locals| {
        let locals: Vec<u64> = locals.into_iter().collect();
        let refs = if locals.is_empty() {
            Just(Vec::new()).boxed()
        } else {
            prop::collection::vec(prop::sample::select(locals.clone()), 0..4).boxed()
        };
        let one = (arbitrary_status(), refs.clone(), refs);
        prop::collection::vec(one, locals.len()).prop_map(move |rest| List {
            items: locals
                .iter()
                .zip(rest)
                .map(|(local, (status, blocked_by, blocks))| Item {
                    status,
                    blocks,
                    ..item(*local, &blocked_by)
                })
                .collect(),
        })
    })
}

proptest! {
    #[test]
    fn no_id_is_given_twice_nor_again(
        before in arbitrary_task_list(),
        list in arbitrary_list(),
        reset in prop::sample::select(&[Reset::All, Reset::Skill][..]),
    ) {
        let after = before.lay_out(&list, "a", reset).unwrap();
        let ids: BTreeSet<u64> = after.tasks.iter().map(|entry| entry.id).collect();
        prop_assert_eq!(ids.len(), after.tasks.len());
        let (kept, new): (Vec<&Entry>, Vec<&Entry>) =
            after.tasks.iter().partition(|entry| entry.source == Source::Found);
        for entry in new {
            prop_assert!(entry.id > before.floor);
            prop_assert!(kept.iter().all(|other| other.id < entry.id));
        }
    }

    #[test]
    fn what_was_made_by_hand_only_loses_references_to_what_went(
        before in arbitrary_task_list(),
        list in arbitrary_list(),
        reset in prop::sample::select(&[Reset::All, Reset::Skill][..]),
    ) {
        let gone: BTreeSet<u64> = before.discarded("a", reset).map(|entry| entry.id).collect();
        let after = before.lay_out(&list, "a", reset).unwrap();
        for old in before.tasks.iter().filter(|entry| entry.maker == Maker::Hand) {
            let mut expected = old.clone();
            // Of the others, only the references that still mean the same task stay.
            let given = |id: &u64| after.entry(*id).is_some_and(|e| e.source != Source::Found);
            expected.blocked_by.retain(|id| !gone.contains(id) && !given(id));
            expected.blocks.retain(|id| !gone.contains(id) && !given(id));
            prop_assert_eq!(after.entry(old.id), Some(&expected));
        }
        let kept = after.tasks.iter().filter(|entry| entry.source == Source::Found).count();
        prop_assert_eq!(kept + gone.len(), before.tasks.len());
    }

    #[test]
    fn the_new_graph_is_the_lists_own(
        before in arbitrary_task_list(),
        list in arbitrary_list(),
        reset in prop::sample::select(&[Reset::All, Reset::Skill][..]),
    ) {
        let after = before.lay_out(&list, "a", reset).unwrap();
        let new: Vec<&Entry> =
            after.tasks.iter().filter(|entry| entry.source != Source::Found).collect();
        let local: BTreeMap<u64, u64> = new
            .iter()
            .map(|entry| match entry.source {
                Source::Local(local) => (entry.id, local),
                Source::Found => unreachable!(),
            })
            .collect();
        let back = |ids: &[u64]| -> Vec<u64> { ids.iter().map(|id| local[id]).collect() };
        let translated: Vec<_> = new
            .iter()
            .map(|e| (local[&e.id], e.status, back(&e.blocked_by), back(&e.blocks)))
            .collect();
        let written: Vec<_> = list
            .items
            .iter()
            .map(|i| (i.local, i.status, i.blocked_by.clone(), i.blocks.clone()))
            .collect();
        prop_assert_eq!(translated, written);
        prop_assert!(new.iter().all(|entry| entry.maker == skill("a")));
    }

    #[test]
    fn laying_out_twice_is_laying_out_once(
        before in arbitrary_task_list(),
        list in arbitrary_list(),
        reset in prop::sample::select(&[Reset::All, Reset::Skill][..]),
    ) {
        let once = before.lay_out(&list, "a", reset).unwrap();
        let twice = once.lay_out(&list, "a", reset).unwrap();
        prop_assert_eq!(once, twice);
    }
}
