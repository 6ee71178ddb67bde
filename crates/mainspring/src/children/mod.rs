//! Programs that we start: who may start one, what it sees, and what ends it.

pub(crate) mod child_env;
pub(crate) mod guard;
pub(crate) mod permit;
pub(crate) mod process;
