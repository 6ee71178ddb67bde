//! Which way an event came in.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    #[default]
    Hook,
    /// The drop-in for a public script: the script's document says what it answers. Its loops and
    /// plans need no owner, its payload need not name a session, and its agent writes a claim's
    /// phase itself.
    Compat,
    /// A command that asks for now what is otherwise done at a stop. Nobody stops, and whose plan it
    /// is does not matter.
    Command,
}
