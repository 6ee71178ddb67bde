//! Finds out whether the agent itself gave a signal: the gate's done token, or a loop's
//! completion mark.
//!
//! A signal is a whole line of the agent's final text, apart from space around it. It counts
//! where a reader would take it for the agent's own statement: not in a code fence, indented
//! code, inline code, a block quote or an HTML comment. If the text has it in a way that does
//! not count, that is a near miss, and the next reason says what to do instead.
//!
//! `transcript` decides which text is the agent's final one.

mod find;
mod markdown;
mod near_miss;
#[cfg(test)]
pub(crate) mod tests;

pub use find::{Sighting, Signal, find, find_last};
#[cfg(test)]
pub(crate) use near_miss::{Flaw, NearMiss};
