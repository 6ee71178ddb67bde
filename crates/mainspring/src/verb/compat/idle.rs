//! Replaces `stop-hook.sh`: exits with 0 if the agent may stop; if not, with 2, the block as
//! JSON on stdout and its reason on stderr.

use std::ffi::OsString;

use mainspring_kernel::Name;
use serde_json::Value;

use super::{Reply, stop};
use crate::env::Environment;
use crate::verb::hook::Input;

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let answer = match stop::answer(Name::Loop, env, input) {
        Ok(answer) => answer,
        Err(cause) => {
            return Reply {
                stdout: String::new(),
                stderr: format!("idle: {cause}: the agent was let go"),
                code: 0,
            };
        }
    };
    let notes = stop::notes("idle", &answer);
    match stop::held(&answer) {
        None => Reply {
            stdout: String::new(),
            stderr: notes,
            code: 0,
        },
        // The script's own output has these spaces.
        Some(reason) => Reply {
            stdout: format!(
                "{{\"decision\": \"block\", \"reason\": {}}}\n",
                Value::String(reason.clone())
            ),
            stderr: if notes.is_empty() {
                reason
            } else {
                format!("{reason}\n{notes}")
            },
            code: 2,
        },
    }
}
