//! Replaces `check-completion.sh`: always exits with 0; prints nothing if the agent may stop,
//! and a block as JSON if it may not.

use std::ffi::OsString;

use mainspring_kernel::Name;
use serde_json::json;

use super::{Reply, stop};
use crate::env::Environment;
use crate::verb::hook::Input;

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    match stop::answer(Name::Gate, env, input) {
        Err(cause) => Reply {
            stdout: String::new(),
            stderr: format!("taskmaster: {cause}: the agent was let go"),
            code: 0,
        },
        Ok(answer) => Reply {
            stdout: stop::held(&answer).map_or_else(String::new, |reason| {
                format!("{}\n", json!({ "decision": "block", "reason": reason }))
            }),
            stderr: stop::notes("taskmaster", &answer),
            code: 0,
        },
    }
}
