//! What can be set for `pulse`.

use crate::config::settings;

settings! {
    [pulse] PulseSettings at pulse {
        /// how many stops `mainspring pulse` holds if you give no number
        beats: u32 = 2, Anyone, most 100;
    }
}
