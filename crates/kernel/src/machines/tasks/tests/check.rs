use alloc::string::String;
use alloc::vec;

use insta::assert_snapshot;

use super::super::check::{Fault, MOST_LOCAL, check};
use super::super::draft::{Draft, Field, Row, Status};
use super::super::text::EXCERPT;
use super::{ids, item, lines, plain, row};
use crate::ids::Digest;
use crate::reduce::Reducer;

fn wrong<T>(found: &str) -> Field<T> {
    Field::Wrong(found.into())
}

#[test]
fn a_list_is_what_its_file_says() {
    let rows = [
        row(plain(1)),
        row(Draft {
            status: Field::Given(Status::Completed),
            blocked_by: ids(&[1, 3]),
            blocks: ids(&[3]),
            description: Field::Given(String::new()),
            ..plain(2)
        }),
        row(plain(3)),
    ];
    let items = check(&rows).unwrap().items;
    assert_eq!(items[1].status, Status::Completed);
    assert_eq!(items[1].blocked_by, [1, 3]);
    assert_eq!(items[1].blocks, [3]);
    assert_eq!(items[2].local, 3);
    assert_eq!(check(&[]).unwrap().items, []);
}

#[test]
fn every_fault_is_named_in_one_go() {
    let rows = [
        Row::Other("a string".into()),
        row(Draft {
            id: Field::Missing,
            subject: Field::Missing,
            ..plain(1)
        }),
        row(plain(1)),
        row(plain(1)),
        row(Draft {
            subject: Field::Given(" \n".into()),
            ..plain(0)
        }),
        row(Draft {
            id: wrong("-1"),
            subject: wrong("7"),
            description: wrong("null"),
            active_form: wrong("a list"),
            owner: wrong("true"),
            status: wrong("\"doing\""),
            blocked_by: wrong("\"1\""),
            blocks: Field::Given(vec![wrong("\"1\""), Field::Given(1), Field::Given(9)]),
            metadata: wrong("a list"),
        }),
        row(Draft {
            blocked_by: ids(&[0, 9, 7]),
            ..plain(7)
        }),
        row(plain(MOST_LOCAL + 1)),
    ];
    assert_snapshot!(lines(check(&rows).unwrap_err()), @r#"
    Task 1: must be an object, found a string
    Task 2: missing required field 'id'
    Task 2: missing required field 'subject'
    Task 4 (id 1): duplicate id 1
    Task 5: 'id' must be a whole number from 1 to 1000000, found 0
    Task 5: 'subject' must be a string that is not empty, found an empty one
    Task 6: 'id' must be a whole number from 1 to 1000000, found -1
    Task 6: 'subject' must be a string that is not empty, found 7
    Task 6: 'description' must be a string, found null
    Task 6: 'activeForm' must be a string, found a list
    Task 6: 'owner' must be a string, found true
    Task 6: 'status' must be "pending", "in_progress" or "completed", found "doing"
    Task 6: 'blockedBy' must be a list of ids, found "1"
    Task 6: blocks must hold ids, found "1"
    Task 6: blocks references non-existent id 9
    Task 6: 'metadata' must be an object, found a list
    Task 7: blockedBy references non-existent id 0
    Task 7: blockedBy references non-existent id 9
    Task 8: 'id' must be a whole number from 1 to 1000000, found 1000001
    "#);
}

#[test]
fn references_may_point_forwards_and_round() {
    let rows = [
        row(Draft {
            blocked_by: ids(&[2]),
            ..plain(1)
        }),
        row(Draft {
            blocked_by: ids(&[1, 2]),
            ..plain(2)
        }),
    ];
    assert!(check(&rows).is_ok());
}

#[test]
fn a_subject_is_kept_short_in_what_is_remembered() {
    let rows = [row(Draft {
        subject: Field::Given("x".repeat(5_000)),
        ..plain(1)
    })];
    let items = check(&rows).unwrap().items;
    assert_eq!(items[0].subject.chars().count(), EXCERPT + 1);
    assert_ne!(items[0], item(1, &[]));
}

#[test]
fn what_was_found_instead_of_a_text_is_not_reduced() {
    let reducer = Reducer::new(|_| Digest("d".into()));
    for (found, kept) in [
        ("a list", "a list"),
        ("an empty one", "an empty one"),
        ("null", "null"),
        ("12", "12"),
        ("\"my secret\"", "[text of 11 bytes, digest d]"),
    ] {
        let mut fault = Fault::Wrong(found.into());
        fault.reduce(reducer);
        assert_eq!(fault, Fault::Wrong(kept.into()));
    }
}
