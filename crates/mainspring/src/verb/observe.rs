//! `mainspring observe`: try it on a real project without being held.

use mainspring_kernel::Orders;
use mainspring_kernel::orders::Mode;

use super::brake::order;
use super::{CommandContext, Result};

/// Only watch: never block, start nothing, and record what would have happened.
///
/// Every stop is decided as usual; the agent is let go, and `mainspring why` and `mainspring
/// log` tell what it would have been held for. What the machines remember stays as it is, so
/// each stop is judged as if it were the first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring observe         nothing is held or started from now on\n  mainspring observe off     act again"
)]
pub(crate) struct Args {
    #[arg(value_enum, default_value_t = Switch::On)]
    switch: Switch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    /// Act again
    Off,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let (mode, command, did) = match args.switch {
        Switch::On => (
            Mode::Observe,
            "observe",
            "only observed from now on: no stop is held, and `mainspring log` shows what would \
             have been",
        ),
        Switch::Off => (Mode::Act, "observe off", "machines act again"),
    };
    order(cmd, None, command, |orders| {
        Ok((Orders { mode, ..orders }, did.into()))
    })
}
