//! The harness's commands.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mainspring_testkit::{
    bench, channels, contract, explore, faults, fuzz, journeys, layout, modules, pictures,
    simulate, stops, upgrade, view_speed, year,
};

/// Measure Mainspring and inject faults into it, to reproduce the tables in docs
#[derive(Parser)]
#[command(name = "mainspring-testkit", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    Budget(bench::budget::Args),
    Channels(channels::Args),
    Contract(contract::Args),
    Faults(faults::Args),
    Fuzz(fuzz::Args),
    Journeys(journeys::Args),
    Layout(layout::Args),
    Model(explore::Args),
    Modules(modules::Args),
    Pictures(pictures::Args),
    Simulate(simulate::Args),
    Stops(stops::Args),
    Upgrade(upgrade::Args),
    ViewSpeed(view_speed::Args),
    Year(year::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::Budget(args) => bench::budget::run(&args),
        Command::Channels(args) => channels::run(&args),
        Command::Contract(args) => contract::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Journeys(args) => journeys::run(&args),
        Command::Layout(args) => layout::run(&args),
        Command::Model(args) => explore::run(&args),
        Command::Modules(args) => modules::run(&args),
        Command::Pictures(args) => pictures::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Stops(args) => stops::run(&args),
        Command::Upgrade(args) => upgrade::run(&args),
        Command::ViewSpeed(args) => view_speed::run(&args),
        Command::Year(args) => year::run(&args),
    }
}
