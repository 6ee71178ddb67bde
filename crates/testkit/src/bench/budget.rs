//! What each case may cost in system calls and instructions. These figures are the same on a busy
//! machine, so `./test` notices when a change makes a hook more expensive.
//!
//! Both are counted above a program that starts like ours and does nothing, because the C library
//! and the CPU determine what happens before `main`. The worlds are in `/tmp`, because a path is
//! resolved folder by folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::cases::{self, Case, Start};
use super::count::{Counters, Counts};
use super::report::grouped;
use super::{Floor, Prepared, Programs, put_worlds_into};
use crate::clients::workspace;

/// Compare what each case costs with its budget
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Accept what the cases cost now
    #[arg(long)]
    write: bool,
    /// Count the `mainspring` and `bare-calls` in this folder, and build nothing
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,
}

/// The tolerance, in percent of the budget. Compiler and CPU vary a little in what a memory search
/// costs. A case that became much cheaper must get a new budget, or it could become as expensive
/// again unnoticed.
const MORE: u64 = 3;
const LESS: u64 = 10;
/// A smaller difference in either direction does not count.
const NOISE: u64 = 5_000;

/// The cost of a case above that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    calls: u64,
    instructions: u64,
}

impl Price {
    fn above(floor: Counts, counts: Counts) -> Option<Self> {
        Some(Self {
            calls: counts.calls?.saturating_sub(floor.calls?),
            instructions: counts.instructions?.saturating_sub(floor.instructions?),
        })
    }
}

/// By the case's name.
type Prices = BTreeMap<String, Price>;

#[expect(clippy::print_stdout, reason = "the verdict is its output")]
pub fn run(args: &Args) -> ExitCode {
    let counters = Counters::find();
    if !counters.can_price() {
        println!("strace or valgrind is not here: the budget is not checked");
        return ExitCode::SUCCESS;
    }
    put_worlds_into(Path::new("/tmp"));
    let programs = Programs::find(args.built.as_deref());
    let prices = count(&programs, counters);
    let file = workspace().join("docs/performance/budget.json");
    if args.write {
        fs::write(&file, text(&prices)).expect("room for the budget");
        println!("written: {} cases", prices.len());
        return ExitCode::SUCCESS;
    }
    let budget = read(&fs::read_to_string(&file).expect("the budget is there"));
    let differences = compare(&budget, &prices);
    if differences.is_empty() {
        println!("{} cases cost what they may", prices.len());
        return ExitCode::SUCCESS;
    }
    for line in &differences {
        println!("{line}");
    }
    println!(
        "\nIf that is what it should cost: \
         cargo run -p mainspring-testkit --release -- budget --write"
    );
    ExitCode::FAILURE
}

/// On all cores, because counts do not depend on time.
fn count(programs: &Programs, counters: Counters) -> Prices {
    let floor = counters.count(&Floor::alike(programs).spawn, || {});
    let ours: Vec<&'static Case> = cases::ALL
        .iter()
        .filter(|case| matches!(case.start, Start::Exec(_)))
        .collect();
    let next = AtomicUsize::new(0);
    let prices = Mutex::new(Prices::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = ours.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let prepared = Prepared::new(case, programs);
                    let counts = counters.count(&prepared.spawn, || prepared.reset());
                    let price = Price::above(floor, counts).expect("both tools are here");
                    let mut prices = prices.lock().expect("no thread panics while it adds");
                    prices.insert(case.name.to_owned(), price);
                }
            });
        }
    });
    prices.into_inner().expect("all threads are done")
}

/// One line for each case, so that a change of one case is a change of one line.
fn text(prices: &Prices) -> String {
    let lines: Vec<String> = prices
        .iter()
        .map(|(name, price)| {
            let value = json!({ "calls": price.calls, "instructions": price.instructions });
            format!("  {}: {value}", json!(name))
        })
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn read(text: &str) -> Prices {
    let budget: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_str(text).expect("the budget is JSON");
    let number = |price: &BTreeMap<String, Value>, name: &str| {
        let number = price.get(name).and_then(Value::as_u64);
        number.unwrap_or_else(|| panic!("a price has {name}"))
    };
    budget
        .into_iter()
        .map(|(name, price)| {
            let price = Price {
                calls: number(&price, "calls"),
                instructions: number(&price, "instructions"),
            };
            (name, price)
        })
        .collect()
}

/// A line for each case that is out of its budget.
fn compare(budget: &Prices, now: &Prices) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, price) in now {
        let Some(may) = budget.get(name) else {
            lines.push(format!("{name}: not in the budget yet"));
            continue;
        };
        let mut line = String::new();
        if price.calls != may.calls {
            let _ = write!(line, " {} system calls, not {};", price.calls, may.calls);
        }
        let most = may.instructions + (may.instructions * MORE / 100).max(NOISE);
        let least = may.instructions
            - (may.instructions * LESS / 100)
                .max(NOISE)
                .min(may.instructions);
        if !(least..=most).contains(&price.instructions) {
            let _ = write!(
                line,
                " {} instructions, not {} ({});",
                grouped(price.instructions),
                grouped(may.instructions),
                change(may.instructions, price.instructions),
            );
        }
        if !line.is_empty() {
            lines.push(format!("{name}:{}", line.trim_end_matches(';')));
        }
    }
    for name in budget.keys().filter(|name| !now.contains_key(*name)) {
        lines.push(format!("{name}: in the budget, and no case any more"));
    }
    lines
}

/// `+12 %`.
fn change(before: u64, after: u64) -> String {
    let sign = if after < before { '-' } else { '+' };
    let share = (u128::from(after.abs_diff(before)) * 100).div_ceil(u128::from(before.max(1)));
    format!("{sign}{share} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(rows: &[(&str, u64, u64)]) -> Prices {
        rows.iter()
            .map(|&(name, calls, instructions)| {
                let price = Price {
                    calls,
                    instructions,
                };
                (name.to_owned(), price)
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let all = prices(&[("a", 1, 2), ("b \"c\"", 3, 4)]);
        assert_eq!(read(&text(&all)), all);
    }

    #[test]
    fn what_costs_more_or_much_less_is_named() {
        let budget = prices(&[
            ("same", 10, 1_000_000),
            ("within", 10, 1_000_000),
            ("small", 10, 1_000),
            ("calls", 10, 1_000_000),
            ("fewer", 10, 1_000_000),
            ("dear", 10, 1_000_000),
            ("cheap", 10, 1_000_000),
            ("gone", 10, 1_000_000),
        ]);
        let now = prices(&[
            ("same", 10, 1_000_000),
            ("within", 10, 1_029_000),
            ("small", 10, 5_900),
            ("calls", 11, 1_000_000),
            ("fewer", 9, 1_000_000),
            ("dear", 12, 1_040_000),
            ("cheap", 10, 890_000),
            ("new", 1, 1),
        ]);
        assert_eq!(
            compare(&budget, &now),
            [
                "calls: 11 system calls, not 10",
                "cheap: 890,000 instructions, not 1,000,000 (-11 %)",
                "dear: 12 system calls, not 10; 1,040,000 instructions, not 1,000,000 (+4 %)",
                "fewer: 9 system calls, not 10",
                "new: not in the budget yet",
                "gone: in the budget, and no case any more",
            ]
        );
    }
}
