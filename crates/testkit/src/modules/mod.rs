//! Which module uses which, crate by crate, and the cycles between them.
//!
//! It reads the source text: every `crate::…` and `super::…` outside comments and tests, with
//! braces expanded. Modules below the given depth count as part of the one above.

mod source;
#[cfg(test)]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use source::Source;

/// Show the module graph of each crate, its cycles, and its lines
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring-testkit modules\n  mainspring-testkit modules --depth 2 ../another-checkout"
)]
pub struct Args {
    /// A checkout; this one by default
    checkout: Option<PathBuf>,
    /// Modules below this depth count as part of the one above
    #[arg(long, default_value_t = 1)]
    depth: usize,
}

/// The modules that each module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Prints the graphs.
///
/// # Panics
/// When the checkout cannot be read.
#[expect(clippy::print_stdout, reason = "its answer")]
pub fn run(args: &Args) -> ExitCode {
    let checkout = args
        .checkout
        .clone()
        .unwrap_or_else(crate::clients::workspace);
    let mut crates: Vec<PathBuf> = std::fs::read_dir(checkout.join("crates"))
        .expect("a checkout has crates")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("src").is_dir())
        .collect();
    crates.sort();
    for path in crates {
        print!("{}", report(&path, args.depth));
    }
    ExitCode::SUCCESS
}

fn report(path: &Path, depth: usize) -> String {
    let sources = source::of_crate(path);
    let graph = graph(&sources, depth);
    let cycles = cycles(&graph);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let product: usize = sources.iter().map(|source| source.lines).sum();
    let tests: usize = sources.iter().map(|source| source.test_lines).sum();
    let mut out = format!(
        "{name}: {product} lines, {tests} of unit tests, {} modules, {} cycles\n",
        graph.len(),
        cycles.len()
    );
    for (module, used) in &graph {
        let mark = if cycles.iter().any(|cycle| cycle.contains(module)) {
            '*'
        } else {
            ' '
        };
        let used: Vec<&str> = used.iter().map(String::as_str).collect();
        out += &format!("{mark} {module} → {}\n", used.join(" "));
    }
    for cycle in &cycles {
        let members: Vec<&str> = cycle.iter().map(String::as_str).collect();
        out += &format!("  cycle: {}\n", members.join(" ⇄ "));
    }
    out + "\n"
}

fn graph(sources: &[Source], depth: usize) -> Graph {
    let known: BTreeSet<&str> = sources.iter().map(|one| one.module.as_str()).collect();
    let mut graph = Graph::new();
    for source in sources.iter().filter(|one| !one.module.is_empty()) {
        let from = shortened(&source.module, depth);
        let used = graph.entry(from.clone()).or_default();
        for path in &source.paths {
            let module = module_of(path, &known);
            let to = shortened(module, depth);
            let one_family = is_above(&from, &to) || is_above(&to, &from);
            if !to.is_empty() && !one_family {
                used.insert(to);
            }
        }
    }
    graph
}

/// The longest prefix of a path that is a module.
fn module_of<'a>(path: &'a str, known: &BTreeSet<&str>) -> &'a str {
    let mut at = path;
    while !known.contains(at) {
        at = at.rsplit_once("::").map_or("", |(above, _)| above);
    }
    at
}

/// Folders of the program that hold several modules which know nothing of each other: each of
/// these counts by itself.
const ROOMS: [&str; 7] = [
    "children", "debug", "hook", "machines", "people", "setup", "show",
];

/// The module that this one counts as. A machine's settings and its commands count apart from the
/// machine: the settings are below everything that it does at an event, the commands above.
fn shortened(module: &str, depth: usize) -> String {
    let names: Vec<&str> = module.split("::").collect();
    let in_a_room = names.first().is_some_and(|first| ROOMS.contains(first));
    let apart = |name: &&str| in_a_room && matches!(*name, "commands" | "settings");
    let kept = match names.iter().position(apart) {
        Some(at) => at + depth,
        None => depth + usize::from(in_a_room),
    };
    names.get(..kept).unwrap_or(&names).join("::")
}

/// Is it the other module, or does it contain the other?
fn is_above(above: &str, below: &str) -> bool {
    below == above || below.starts_with(&format!("{above}::"))
}

/// The groups of modules that reach each other.
fn cycles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|module| (module, reached(graph, module)))
        .collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (module, leads_to) in &reach {
        if !leads_to.contains(module) || found.iter().any(|cycle| cycle.contains(*module)) {
            continue;
        }
        let members = leads_to
            .iter()
            .filter(|other| reach.get(**other).is_some_and(|back| back.contains(module)));
        found.push(members.map(|name| (**name).clone()).collect());
    }
    found
}

fn reached<'a>(graph: &'a Graph, from: &String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut left: Vec<&String> = graph.get(from).into_iter().flatten().collect();
    while let Some(next) = left.pop() {
        if seen.insert(next) {
            left.extend(graph.get(next).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join("src").join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    /// The cycles, and why they are there: docs/design/modules.md.
    const WANTED: [&str; 4] = ["config", "context", "machines", "people::trust"];

    /// In a cycle, no module can be read without the code that calls it.
    #[test]
    fn no_crate_has_a_cycle_but_those_that_the_design_names() {
        for name in [
            "fuzz",
            "json",
            "kernel",
            "mainspring",
            "platform",
            "store",
            "testkit",
        ] {
            let path = crate::clients::workspace().join("crates").join(name);
            let cycles = cycles(&graph(&source::of_crate(&path), 1));
            let wanted = |cycle: &BTreeSet<String>| {
                let is_wanted =
                    |one: &String| one.ends_with("::settings") || WANTED.contains(&one.as_str());
                name == "mainspring" && cycle.iter().all(is_wanted)
            };
            assert!(cycles.iter().all(wanted), "{name}: {cycles:?}");
        }
    }

    #[test]
    fn paths_are_followed_and_cycles_are_named() {
        let folder = crate_of(&[
            (
                "lib.rs",
                "mod a;\nmod b;\nmod c;\n#[cfg(test)]\nmod only_tests;\n",
            ),
            (
                "a/mod.rs",
                "mod deep;\nuse crate::{b::{self, Thing}, c::Other};\n",
            ),
            (
                "a/deep.rs",
                "use super::Up;\n// crate::d is only spoken of\n",
            ),
            (
                "b.rs",
                "fn f() { crate::c::g(); }\n#[cfg(test)]\nmod tests {\n use crate::a;\n}\n",
            ),
            ("c.rs", "use super::a::deep::X;\n"),
            ("only_tests.rs", "use crate::a;\n"),
        ]);
        let report = report(folder.path(), 1);
        let (first, rest) = report.split_once('\n').expect("lines");
        assert!(
            first.ends_with("11 lines, 5 of unit tests, 3 modules, 1 cycles"),
            "{first}"
        );
        assert_eq!(rest, "* a → b c\n* b → c\n* c → a\n  cycle: a ⇄ b ⇄ c\n\n");
    }
}
