//! Mainspring: one native binary behind a coding agent's hooks.
//!
//! The flow of one event: [`host`] decodes it, [`project`] finds where it belongs,
//! [`machine`] loads state and facts, the kernel decides, [`drive`] does what the turn
//! asks for through [`store`], [`host`] encodes the answer. Everything else is a view or a
//! command in [`verb`].

mod cli;
mod config;
mod diff;
mod digest;
mod drive;
mod env;
mod error;
mod exit;
mod guard;
mod host;
mod limits;
mod machine;
mod output;
mod panic;
mod process;
mod project;
#[cfg(test)]
mod reference;
mod scene;
mod signal;
mod store;
mod transcript;
mod verb;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
