//! Mainspring: one native binary behind a coding agent's hooks.
//!
//! The flow of one event: [`host`] decodes it, [`project`] finds the project, [`machine`] loads
//! state and facts, the kernel decides, [`drive`] does what the turn asks for through
//! [`store`], [`host`] encodes the answer. `mainspring_store` changes files safely;
//! `mainspring_platform` has what differs between systems. Everything else is a view or a
//! command in [`verb`].
//!
//! It is a library so that fuzz targets and tests can call the functions that read foreign
//! bytes: [`formats`] has them all, and nothing else is public but the program.

mod at_work;
mod child_env;
mod cli;
mod client_queue;
mod config;
mod diff;
mod drive;
mod effect_owner;
mod env;
mod error;
mod event_context;
mod exit;
pub mod formats;
mod git;
mod guard;
mod host;
#[cfg(test)]
mod hostile;
mod limits;
mod machine;
mod markers;
mod notify;
mod orders;
mod output;
mod own_files;
mod ownership;
mod pager;
mod panic;
mod path_contains;
mod permit;
mod process;
mod project;
#[cfg(test)]
mod reference;
mod retention;
mod sessions;
mod signal;
mod store;
mod timestamp;
mod told;
mod transcript;
mod trust;
mod verb;
mod wrap;

use std::process::ExitCode;

/// The program.
pub fn main() -> ExitCode {
    cli::main()
}
