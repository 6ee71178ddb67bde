//! `mainspring compat`: a drop-in for each public script that a machine comes from.
//!
//! A drop-in keeps its script's stdin, stdout, exit codes and messages, so that a set-up
//! which calls the script can call this instead. Without trust it speaks about the state that it
//! finds, and starts no program.

mod agent_sync;
mod fsm;
mod idle;
mod stop;
mod taskie;
mod taskmaster;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use serde_json::Value;

use crate::env::Environment;
use crate::hook::input::{self, Input};
use crate::output::{self, Paint};

/// Replace a public script: same stdin, stdout, exit codes and messages
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring compat taskmaster           as the Stop hook, instead of check-completion.sh"
)]
pub(crate) struct Args {
    /// The script
    #[arg(value_parser = PossibleValuesParser::new(SCRIPTS.iter().map(|script| script.name)))]
    script: String,
    /// The arguments that the script itself would get
    #[arg(trailing_var_arg = true)]
    args: Vec<OsString>,
}

/// What a script prints, and how it ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: u8,
}

/// One object on one line, with the spaces that the documents and the public scripts print: people
/// grep for `"decision": "block"`.
fn spaced(fields: &[(&str, Value)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}\n", fields.join(", "))
}

struct Script {
    name: &'static str,
    run: fn(&Environment, &[OsString], Input) -> Reply,
}

const SCRIPTS: &[Script] = &[
    Script {
        name: "agent-sync",
        run: agent_sync::run,
    },
    Script {
        name: "fsm",
        run: fsm::run,
    },
    Script {
        name: "idle",
        run: idle::run,
    },
    Script {
        name: "taskmaster",
        run: taskmaster::run,
    },
    Script {
        name: "taskie",
        run: taskie::run,
    },
];

/// Runs a script's drop-in; `None` if there is no such script.
pub(crate) fn run(env: &Environment, args: &[OsString]) -> Option<ExitCode> {
    let (name, rest) = args.split_first()?;
    let script = SCRIPTS.iter().find(|script| name == script.name)?;
    let input = input::event();
    if env.silenced() {
        return Some(ExitCode::SUCCESS);
    }
    let reply = (script.run)(env, rest, input);
    if !reply.stderr.is_empty() {
        output::stderr(&reply.stderr);
    }
    match output::stdout(&reply.stdout, Paint::Plain) {
        Ok(()) => Some(reply.code.into()),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;
    use crate::hosts::install;

    #[test]
    fn every_script_can_be_registered() {
        let mut names: Vec<_> = SCRIPTS.iter().map(|script| script.name).collect();
        names.sort_unstable();
        let all = install::Script::value_variants().iter();
        let mut registered: Vec<_> = all.map(|script| script.name()).collect();
        registered.sort_unstable();
        assert_eq!(names, registered);
    }
}
