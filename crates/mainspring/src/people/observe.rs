//! `mainspring observe`: try Mainspring on a real project without holding the agent.

use mainspring_kernel::Orders;
use mainspring_kernel::orders::Mode;

use super::brake::{but_suspended, order};
use crate::command::{CommandContext, Result};

/// Only watch: hold no stop, start nothing, and record what would have happened.
///
/// Every stop is decided as usual, but the agent is always let go. `mainspring why` and
/// `mainspring log` show when it would have been held, and why. The machines keep their state
/// as it is, so each stop is judged as if it were the first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring observe         nothing is held or started from now on\n  mainspring observe off     the machines act again"
)]
pub(crate) struct Args {
    #[arg(value_enum, default_value_t = Switch::On)]
    switch: Switch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    /// Let the machines act again
    Off,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let but = but_suspended(cmd, &cmd.project()?, None)?;
    let (mode, command, did) = match args.switch {
        Switch::On => (
            Mode::Observe,
            "observe",
            "only observing: no stop is held, and `mainspring log` shows what would have happened",
        ),
        Switch::Off if but.is_empty() => (Mode::Act, "observe off", "the machines act"),
        Switch::Off => (Mode::Act, "observe off", "no longer only observing"),
    };
    let said = order(cmd, None, command, |orders| {
        Ok((Orders { mode, ..orders }, did.into()))
    })?;
    Ok(format!("{said}{but}"))
}
