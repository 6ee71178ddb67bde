//! What is timed. A machine adds a file and its rows.

mod claim;
mod idle;
mod pulse;
mod review;
mod stop;
mod tasks;

pub use crate::world::World;

/// One row of the table.
#[derive(Debug)]
pub struct Case {
    pub name: &'static str,
    pub about: &'static str,
    pub args: &'static [&'static str],
    /// Lays out the world, and returns what is on stdin.
    pub prepare: fn(&World) -> Vec<u8>,
    /// Puts back, before each start, what the last one changed; not timed.
    pub reset: fn(&World),
}

/// All rows, in the table's order.
pub const ALL: &[Case] = &[
    idle::ELSEWHERE,
    idle::OTHER_EVENT,
    pulse::HOLD,
    pulse::NOT_OURS,
    stop::GATE_BLOCKS,
    stop::GATE_RELEASES,
    stop::LOOP_ITERATES,
    stop::SHORT_TRANSCRIPT,
    stop::LONG_TRANSCRIPT,
    claim::UNCHANGED,
    claim::WATCH,
    review::THIRTY,
    review::TWO_THOUSAND,
    tasks::NO_LIST,
    tasks::TWENTY,
    tasks::TWENTY_AGAIN,
    tasks::THOUSAND,
];

/// For a case that changes nothing.
pub(super) fn nothing(_: &World) {}
