//! Replaces `check-completion.sh`: always exits with 0; prints nothing if the agent may stop,
//! and a block as JSON if it may not.

use std::ffi::OsString;

use mainspring_kernel::{Name, SessionId};

use super::{Reply, stop};
use crate::env::Environment;
use crate::hook::input::Input;

const SCRIPT: &str = "taskmaster";
/// The session of a payload that names none, in the token and in the counter's name.
const UNNAMED: &str = "unknown-session";

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let answer = stop::payload(env, input).and_then(|mut payload| {
        // The script never looks at the directory, so it need not be there.
        payload.cwd = payload.cwd.as_deref().map(stop::existing);
        let named = payload.event.session.clone();
        payload.event.session = named.clone().or_else(|| SessionId::parse(UNNAMED));
        stop::answer(Name::Gate, env, &payload, named.as_ref())
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(cause) => return stop::failed(SCRIPT, &cause),
    };
    match stop::held(&answer) {
        None => stop::let_go(SCRIPT, &answer),
        Some(reason) => Reply {
            stdout: stop::block(&reason),
            stderr: stop::notes(SCRIPT, &answer),
            code: 0,
        },
    }
}
