//! Model checking: every order of steps of hooks that race, die and are redelivered.
//!
//! The code that is checked is the code that runs: each step calls the kernel's own turn,
//! deliberation, machines and ledger. The models add only what is around them. docs/design/model.md
//! says what is assumed and how to read a counterexample.

mod checker;
mod claim;
mod disk;
mod ends;
mod hydration;
mod looping;
mod report;
mod review;
mod world;

use std::process::ExitCode;

use checker::{Explored, Limits, Model, explore};
use ends::{Ends, every_behaviour_ends};
use world::Without;

/// Check the machines in every order of steps, with crashes everywhere
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only protocols whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Small bounds: what `./test` runs
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Quick,
    /// Everything that may fail, once.
    Wide,
    /// Fewer faults, and more events.
    Long,
}

/// One protocol and its properties.
#[derive(Debug)]
struct Protocol {
    name: &'static str,
    about: &'static str,
    properties: &'static [&'static str],
    situations: fn() -> Vec<(u64, &'static str)>,
    explore: fn(Size) -> Explored,
    ends: fn() -> Ends,
    /// The protections without which it breaks.
    protections: &'static [Without],
    weaken: fn(Without) -> Explored,
}

const PROTOCOLS: &[Protocol] = &[CLAIM, REVIEW, LOOP, HYDRATION];

const CLAIM: Protocol = Protocol {
    name: "claim",
    about: "claim, pull request, close: two sessions, a server, a person",
    properties: &[
        "I9 one pull request, open or merged",
        "I8 nothing asked twice without a fault between",
        "I11 one comment without a fault",
        "I2 nothing printed without its record",
        "a suspended machine asks for nothing",
        "no hook waits for ever",
    ],
    situations: || claim::Claim::racing(Without::Nothing, Size::Wide).situations(),
    explore: |size| thorough(&claim::Claim::racing(Without::Nothing, size)),
    ends: || every_behaviour_ends(&claim::Claim::faultless()),
    protections: &[Without::ServerKey, Without::Probe, Without::CommitFirst],
    weaken: |without| nearest(&claim::Claim::racing(without, Size::Quick)),
};

const REVIEW: Protocol = Protocol {
    name: "review",
    about: "review intent and fencing: two hooks, reviewers that outlive them",
    properties: &[
        "I12 one review counts once",
        "I8 one reviewer per need: no second one without a fault between",
        "what a dead hook's reviewer wrote is taken over or set aside",
        "no review is ever overwritten",
        "no more reviews than max_reviews",
        "I2 nothing printed without its record",
        "no hook waits for ever",
    ],
    situations: || review::Reviews::racing(Without::Nothing, Size::Wide).situations(),
    explore: |size| thorough(&review::Reviews::racing(Without::Nothing, size)),
    ends: || every_behaviour_ends(&review::Reviews::faultless()),
    protections: &[
        Without::Fence,
        Without::Intent,
        Without::Lock,
        Without::Adoption,
        Without::KeptIntent,
        Without::Recheck,
    ],
    weaken: |without| nearest(&review::Reviews::racing(without, Size::Quick)),
};

const LOOP: Protocol = Protocol {
    name: "loop",
    about: "loop stack, gate and block ledger: stops that race and come twice",
    properties: &[
        "I3 an event that is delivered twice counts once",
        "I4 no iteration and no frame is lost or counted twice",
        "I5 the ledger counts every hold",
        "no stop is held beyond the host's cap",
        "another session's loop never holds a stop",
        "a suspended machine asks for nothing",
        "I2 nothing printed without its record",
        "no hook waits for ever",
    ],
    situations: || looping::Loops::racing(Without::Nothing, Size::Wide).situations(),
    explore: |size| thorough(&looping::Loops::racing(Without::Nothing, size)),
    ends: || every_behaviour_ends(&looping::Loops::faultless()),
    protections: &[
        Without::Lock,
        Without::Redelivery,
        Without::Ledger,
        Without::CommitFirst,
    ],
    weaken: |without| nearest(&looping::Loops::racing(without, Size::Quick)),
};

const HYDRATION: Protocol = Protocol {
    name: "hydration",
    about: "task lists laid out: two sessions, a client that works in the same folder",
    properties: hydration::PROPERTIES,
    situations: || hydration::Hydration::racing(Without::Nothing, Size::Wide).situations(),
    explore: |size| thorough(&hydration::Hydration::racing(Without::Nothing, size)),
    ends: || every_behaviour_ends(&hydration::Hydration::faultless()),
    protections: &[
        Without::ClientLocks,
        Without::HighWater,
        Without::RecordFirst,
        Without::Ownership,
        Without::HighestFirst,
        Without::Redelivery,
        Without::IdleClient,
    ],
    weaken: |without| nearest(&hydration::Hydration::racing(without, Size::Quick)),
};

fn thorough<M: Model>(model: &M) -> Explored {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    explore(
        model,
        Limits {
            states: 12_000_000,
            threads,
        },
    )
}

/// One thread, so that the counterexample is the same every time.
fn nearest<M: Model>(model: &M) -> Explored {
    explore(
        model,
        Limits {
            states: 4_000_000,
            threads: 1,
        },
    )
}

#[expect(clippy::print_stdout, reason = "the table is its output")]
pub fn run(args: &Args) -> ExitCode {
    let sizes: &[Size] = if args.quick {
        &[Size::Quick]
    } else {
        &[Size::Wide, Size::Long]
    };
    let wanted = |protocol: &&Protocol| {
        let only = args.only.as_deref();
        only.is_none_or(|only| protocol.name.contains(only))
    };
    let mut failures = Vec::new();
    let mut states = 0;
    for protocol in PROTOCOLS.iter().filter(wanted) {
        let explored: Vec<Explored> = sizes.iter().map(|size| (protocol.explore)(*size)).collect();
        let ends = (protocol.ends)();
        // The remaining events are part of a state, so no two of these searches share a state.
        states += explored.iter().map(|one| one.states).sum::<usize>() + ends.states;
        println!("{}", report::checked(protocol, &explored, &ends));
        failures.extend(report::failures(protocol, &explored, &ends));
        if !args.quick {
            failures.extend(report::unseen(protocol, &explored));
        }
        for without in protocol.protections {
            let weakened = (protocol.weaken)(*without);
            match report::counterexample(protocol, *without, &weakened) {
                Ok(text) => println!("{text}"),
                Err(failure) => failures.push(failure),
            }
        }
    }
    println!("{states} distinct states in all");
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// For a test: every protocol with small bounds. Returns what did not hold, as text.
pub fn quick() -> Vec<String> {
    let checked = PROTOCOLS.iter().flat_map(|protocol| {
        let explored = (protocol.explore)(Size::Quick);
        report::failures(protocol, &[explored], &(protocol.ends)())
    });
    checked.collect()
}

/// For a test: the page with the nearest counterexample of each protocol without each of its
/// protections.
pub fn counterexamples() -> String {
    let mut page = String::from(report::PAGE);
    for protocol in PROTOCOLS {
        for without in protocol.protections {
            let weakened = (protocol.weaken)(*without);
            let found = report::counterexample(protocol, *without, &weakened);
            page += &report::section(&found.unwrap_or_else(|failure| failure));
        }
    }
    page
}
