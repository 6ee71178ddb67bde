//! What can be set for all checks.

use crate::config::settings;

settings! {
    [checks] CheckSettings at checks {
        /// after how many red stops since a prompt the agent is let go; 0: never
        max: u32 = 5, Trusted, most 1_000;
        /// how many checks run side by side
        parallel: u32 = 2, Trusted, most 64;
    }
}
