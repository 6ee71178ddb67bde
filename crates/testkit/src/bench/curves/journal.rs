//! A journal that has grown for years.

use std::fs;

use super::super::cases::pulse;
use super::{Curve, World};

/// The records that hooks wrote to the two longest journals.
const DEEP: u64 = 3_000;
const TEN_MILLION: u64 = 10_000_000;
/// As in `limits`: how long a segment gets, and how many closed ones are kept.
const SEGMENT: usize = 512 << 10;
const SEGMENTS: u64 = 24;

pub(super) const RECORDS: Curve = Curve {
    name: "journal",
    title: "A hold with its record, behind a journal",
    axis: "records written before",
    about: "The records of the current segment are real ones, made by hooks. Of ten million, \
            24 closed segments of 512 KiB and the current one are left.",
    measure: |lab| {
        lab.grow(
            &[1, 100, DEEP, TEN_MILLION],
            "\"decision\":\"block\"",
            |world, size| {
                world.mainspring(&["pulse", "100"]);
                let event = world.stop("Not yet.");
                if size == TEN_MILLION {
                    write(world, &event, 200);
                    age(world);
                }
                write(world, &event, size.min(DEEP));
                event
            },
            |world, _| pulse::forget(world),
        )
    },
};

/// Lets hooks write that many records.
fn write(world: &World, event: &[u8], count: u64) {
    for _ in 0..count {
        pulse::forget(world);
        world.hook(event);
    }
}

/// Turns a young journal into what ten million records leave: closed segments, whose names contain
/// the numbers, and an empty current one. A hook never reads a closed segment, so its lines may all
/// be the same.
fn age(world: &World) {
    let state = world.state();
    let young = fs::read(state.join("journal.jsonl")).expect("records were written");
    let full = young.repeat(SEGMENT / young.len() + 1);
    let first = TEN_MILLION - DEEP;
    for behind in 0..SEGMENTS {
        let name = format!("journal-{:012}.jsonl", first - behind * 10_000);
        fs::write(state.join(name), &full).expect("room for a segment");
    }
    fs::remove_file(state.join("journal.jsonl")).expect("a file of ours");
    // Without its head, the next hook takes the number from the name of the newest segment.
    fs::write(state.join("lock"), "").expect("a file of ours");
}
