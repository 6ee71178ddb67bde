//! The journeys that every host gets, in its real client with a scripted model: a table of host
//! and journey.

mod cost;
mod holds;
mod plays;
mod screens;
mod setups;
mod stage;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use self::stage::Stage;
use crate::bins;
use crate::hosts::Host;

/// Play every journey in every host's real client, and print a table
///
/// A client that is not fetched is left out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this host, by its program's name
    #[arg(long)]
    host: Vec<String>,
    /// Only the journeys with this text in their names
    #[arg(long)]
    journey: Option<String>,
    /// Instead, how long the hook of a held stop takes in each host
    #[arg(long)]
    cost: bool,
    /// The program to test [default: the one beside this program]
    #[arg(long)]
    mainspring: Option<PathBuf>,
}

/// How a journey went, if it did not fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Pass,
    /// The host cannot, for this reason.
    Cannot(&'static str),
}

/// A journey: it fails by a panic.
type Play = fn(&Stage) -> Outcome;

const JOURNEYS: &[(&str, Play)] = &[
    ("held once and let go", holds::held_once),
    ("the token in a fence", holds::token_in_a_fence),
    ("the token in a tool's result", holds::token_in_a_result),
    ("the token bare", holds::token_bare),
    ("a loop of three", holds::loop_of_three),
    ("the limit on holds", holds::cap),
    ("Esc", screens::escape),
    ("a sub-agent at work", plays::subagent),
    ("an API error", plays::api_error),
    ("`/clear`", screens::clear),
    ("resumed", plays::resumed),
    ("two sessions at once", plays::two_sessions),
    ("a red check, then green", plays::check),
    ("a review by another vendor", plays::review),
    ("the brake from another terminal", plays::brake),
    ("an order typed in the client", screens::order),
    ("another host's registration beside", setups::beside),
    ("a skill's task list", plays::skill),
    ("an agent is no person", plays::agent),
    ("installed twice, and `doctor`", setups::installed),
    ("uninstalled to the byte", setups::uninstalled),
];

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command's output"
)]
pub fn run(args: &Args) -> ExitCode {
    let mainspring = args.mainspring.clone().unwrap_or_else(bins::mainspring);
    let is_wanted =
        |host: &Host| args.host.is_empty() || args.host.iter().any(|name| name == host.name());
    let hosts: Vec<Host> = Host::ALL
        .into_iter()
        .filter(|host| is_wanted(host) && host.is_here())
        .collect();
    if args.cost {
        print_costs(&hosts, &mainspring);
        return ExitCode::SUCCESS;
    }
    let mut failed = false;
    let names: Vec<&str> = hosts.iter().map(|host| host.name()).collect();
    println!("| | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(hosts.len()));
    for (title, play) in JOURNEYS {
        let part = args.journey.as_deref().unwrap_or_default();
        if !title.contains(part) {
            continue;
        }
        let cells: Vec<String> = hosts
            .iter()
            .map(|host| {
                let began = Instant::now();
                let stage = Stage::new(*host, &mainspring);
                let outcome = played(*play, &stage);
                failed |= outcome.is_err();
                let took = began.elapsed().as_secs();
                match outcome {
                    Ok(Outcome::Pass) => "pass".to_owned(),
                    Ok(Outcome::Cannot(why)) => format!("cannot: {why}"),
                    Err(why) => {
                        eprintln!("{}: {title} ({took} s): {why}", host.name());
                        "FAIL".to_owned()
                    }
                }
            })
            .collect();
        println!("| {title} | {} |", cells.join(" | "));
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

#[expect(clippy::print_stdout, reason = "a command's output")]
fn print_costs(hosts: &[Host], mainspring: &Path) {
    println!("| | median | slowest |\n|---|---|---|");
    for host in hosts {
        let times = cost::of_stop(&Stage::new(*host, mainspring));
        let [median, slowest] = times.map_or(["–".into(), "–".into()], |times| {
            times.map(|time| format!("{} ms", time.as_millis()))
        });
        println!("| {} | {median} | {slowest} |", host.name());
    }
}

/// Plays it; the error is what it failed with.
fn played(play: Play, stage: &Stage) -> Result<Outcome, String> {
    catch_unwind(AssertUnwindSafe(|| play(stage))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "it panicked".into())
    })
}
