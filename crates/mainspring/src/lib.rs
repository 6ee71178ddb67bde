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

mod children;
mod cli;
mod command;
mod compat;
mod config;
mod context;
mod debug;
mod demo;
mod diff;
mod env;
mod error;
mod exit;
pub mod formats;
mod git;
mod git_dir;
mod hook;
#[cfg(test)]
mod hostile;
mod hosts;
mod limits;
mod machines;
mod markers;
mod output;
mod pager;
mod path_contains;
mod people;
mod project;
#[cfg(test)]
mod reference;
mod retention;
mod setup;
mod show;
mod signal;
mod store;
mod timestamp;
mod transcript;
mod wrap;

use std::process::ExitCode;

/// The program.
pub fn main() -> ExitCode {
    cli::main()
}
