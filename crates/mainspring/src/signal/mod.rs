//! Whether the agent itself said a signal: the gate's done token, a loop's completion mark.
//!
//! A signal is a whole line, apart from space around it, of the agent's final text. It counts where
//! a reader would take it for the agent's own word: not in a code fence, indented code, inline code,
//! a block quote or an HTML comment. Where the text says it in a way that does not count, the near
//! miss is named, so that the next reason can say what to do instead.
//!
//! Which text is the agent's final one is not decided here: see `transcript`.

mod find;
mod markdown;
mod near_miss;
#[cfg(test)]
pub(crate) mod tests;

pub use find::{Sighting, Signal, find, find_last};
#[cfg(test)]
pub(crate) use near_miss::{Flaw, NearMiss};
