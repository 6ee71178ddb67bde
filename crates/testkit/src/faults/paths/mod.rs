//! The paths that are swept. A machine adds a file and its rows.

mod gate;
mod looping;
mod pulse;
mod review;

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

/// The next event was held, with one of these in its reason.
fn held_with(said: &str, any: &[&str]) -> Result<(), String> {
    let held = said.contains("\"decision\":\"block\"");
    if held && any.iter().any(|words| said.contains(words)) {
        Ok(())
    } else {
        Err(format!("the agent is not held with any of {any:?}"))
    }
}

pub const ALL: &[Path] = &[
    pulse::NOTHING,
    pulse::FIRST_HOLD,
    pulse::HOLD,
    pulse::RECOVERY,
    pulse::RELEASE,
    gate::HOLD,
    gate::RELEASE,
    looping::ITERATE,
    looping::COMPLETE,
    looping::FALLBACK_FILE,
    review::SKIP,
    review::INVALID,
];
