//! Replaces `stop-hook.sh`: exits with 0 if the agent may stop; if not, with 2, the block as
//! JSON on stdout and its reason on stderr, where hosts read it at this exit code.

use std::ffi::OsString;

use mainspring_kernel::Name;

use super::{Reply, stop};
use crate::env::Environment;
use crate::hook::input::Input;

const SCRIPT: &str = "idle";

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let payload = stop::payload(env, input);
    let answer = payload.and_then(|payload| {
        let session = payload.event.session.as_ref();
        stop::answer(Name::Loop, env, &payload, session)
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(cause) => return stop::failed(SCRIPT, &cause),
    };
    let Some(reason) = stop::held(&answer) else {
        return stop::let_go(SCRIPT, &answer);
    };
    let notes = stop::notes(SCRIPT, &answer);
    Reply {
        stdout: stop::block(&reason),
        stderr: if notes.is_empty() {
            reason
        } else {
            format!("{reason}\n{notes}")
        },
        code: 2,
    }
}
