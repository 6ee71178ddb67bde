//! Which functions a hook runs, as a list for the linker. Functions that lie together are mapped
//! together, and a hook's cost is mostly the pages that it touches.
//!
//! The list is a profile: it is made from one build and used for the next. `scripts/release` builds
//! the program with the names of its functions, has the list made here, and builds it again with the
//! list. The list is only a hint: names that no longer exist are skipped, and a build without a list
//! only starts a little slower.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::bench::cases::{self, Case, Start};
use crate::bench::{Prepared, Programs};

/// List the functions that hooks run, in the order in which they are needed
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of a `mainspring` that was built with `MAINSPRING_KEEP_NAMES=1`
    #[arg(long, value_name = "FOLDER")]
    built: PathBuf,
    /// The file for the list
    #[arg(long, value_name = "FILE")]
    write: PathBuf,
}

/// Functions that every process runs and that valgrind does not show; each would touch a page of
/// its own.
const UNSEEN: [&str; 2] = ["frame_dummy", "__pthread_mutex_lock"];

#[expect(clippy::print_stdout, reason = "the count is its output")]
pub fn run(args: &Args) -> ExitCode {
    let programs = Programs::in_folder(&args.built);
    let mut list = List::default();
    for function in UNSEEN {
        list.add(function.to_owned());
    }
    // The most frequent case first: a stop with nothing to do is then all in the first pages.
    let hooks = cases::ALL
        .iter()
        .filter(|case| matches!(case.start, Start::Exec(_)));
    for case in hooks {
        for function in functions(case, &programs) {
            list.add(function);
        }
        println!("{:>6} functions with {}", list.order.len(), case.name);
    }
    assert!(
        list.order.len() > UNSEEN.len() + 100,
        "the program in {} has no names",
        args.built.display()
    );
    let text = list.order.join("\n") + "\n";
    fs::write(&args.write, text).expect("the list can be written");
    ExitCode::SUCCESS
}

#[derive(Default)]
struct List {
    order: Vec<String>,
    known: BTreeSet<String>,
}

impl List {
    fn add(&mut self, function: String) {
        if self.known.insert(function.clone()) {
            self.order.push(function);
        }
    }
}

/// The functions that one start of this case calls, by the linker's names.
fn functions(case: &'static Case, programs: &Programs) -> Vec<String> {
    let prepared = Prepared::new(case, programs);
    prepared.reset();
    let profile = prepared.spawn.folder().join("profile");
    let out = format!("--callgrind-out-file={}", profile.display());
    let wrapper = [
        "valgrind",
        "--quiet",
        "--tool=callgrind",
        "--demangle=no",
        &out,
    ];
    prepared.spawn.under(&wrapper);
    let text = fs::read_to_string(&profile).expect("valgrind wrote a profile");
    text.lines().filter_map(named).collect()
}

/// The name in a line that mentions a function for the first time: `fn=(12) name`. A recursion has
/// a number after it, and a function without a name has an address.
fn named(line: &str) -> Option<String> {
    let (_, rest) = line
        .strip_prefix("fn=(")
        .or_else(|| line.strip_prefix("cfn=("))?
        .split_once(") ")?;
    let name = rest.split('\'').next()?.trim();
    let is_name = !name.is_empty() && !name.starts_with("0x") && !name.starts_with('(');
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_names_a_function_once_and_then_by_number() {
        for (line, name) in [
            ("fn=(12) _RNvCs1_4core3fmt", Some("_RNvCs1_4core3fmt")),
            ("cfn=(3) malloc", Some("malloc")),
            ("fn=(3) walk'2", Some("walk")),
            ("fn=(12)", None),
            ("fn=(4) 0x00401000", None),
            ("fn=(5) (below main)", None),
            ("calls=1 0", None),
            ("", None),
        ] {
            assert_eq!(named(line).as_deref(), name, "{line}");
        }
    }
}
