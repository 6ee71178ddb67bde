//! The paths that are swept. A machine adds a file and its rows.

mod pulse;

use crate::world::World;

/// One way through a hook.
#[derive(Debug)]
pub struct Path {
    pub name: &'static str,
    /// Lays out the world, and returns the event.
    pub prepare: fn(&World) -> Vec<u8>,
    /// After a fault and one more, healthy delivery, with what that one said.
    pub verify: fn(&World, &str) -> Result<(), String>,
}

pub const ALL: &[Path] = &[
    pulse::NOTHING,
    pulse::FIRST_HOLD,
    pulse::HOLD,
    pulse::RECOVERY,
    pulse::RELEASE,
];
