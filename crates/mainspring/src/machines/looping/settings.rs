//! What can be set for `loop`.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::looping::OuterGoesOn;

use crate::config::{Choice, settings};

settings! {
    [loop] LoopSettings at looping {
        /// a loop without progress for longer than this is stale and does not go on
        ttl: Millis = Millis::seconds(7_200), Trusted;
        /// repeat the loop's prompt at each iteration
        repeat_prompt: bool = false, Trusted;
        /// when the outer loop goes on after an inner one has ended: `at once`, or `next stop`,
        /// which lets the agent stop in between
        outer: OuterGoesOn = OuterGoesOn::AtOnce, Trusted;
    }
}

impl Choice for OuterGoesOn {
    const WORDS: &'static [&'static str] = &["at once", "next stop"];
    const VALUES: &'static [Self] = &[Self::AtOnce, Self::NextStop];
}
