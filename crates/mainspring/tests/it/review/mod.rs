//! Plans at the hook: which session they belong to, what is started, and what survives a kill.

mod broken;
mod crash;
mod cycles;
pub(crate) mod findings;
mod forgotten;
mod handed_over;
mod plans;
mod reviewer;

use serde_json::{Value, json};

use crate::env::{Ran, payload};
use crate::taskie::{Taskie, write};

/// A trusted project with a plan in this state.
pub(crate) fn trusted(fields: Value) -> Taskie {
    let taskie = Taskie::with_state(fields);
    let _ = taskie.run(&["trust", "--yes"], b"").ok();
    taskie
}

/// A stop of a session; `words` distinguishes it from the next stop.
pub(crate) fn stop(taskie: &Taskie, session: &str, words: &str) -> Ran {
    let fields = json!({"session_id": session, "last_assistant_message": words});
    let event = payload(&taskie.env.project(), "Stop", fields);
    taskie.run(&["hook"], event.to_string().as_bytes())
}

fn config(taskie: &Taskie, text: &str) {
    write(
        &taskie.env.home().join(".config/mainspring/config.toml"),
        text,
    );
}

/// What `plan status` says about the latest plan.
fn status(taskie: &Taskie) -> Value {
    taskie.run(&["plan", "status", "--json"], b"").json()
}
