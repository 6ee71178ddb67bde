//! The results, as text.

use std::fmt::Write as _;

use super::Protocol;
use super::checker::Explored;
use super::ends::Ends;
use super::world::Without;

/// The start of the page of counterexamples.
pub(super) const PAGE: &str = "# Counterexamples

What happens without each protection: the shortest path to a broken property, as \
`cargo run -p mainspring-testkit --release -- model` finds it. A test compares this page \
with what the checker finds. [model.md](model.md) says how to read it.
";

/// A counterexample as a section of the page.
pub(super) fn section(found: &str) -> String {
    let (title, path) = found.split_once('\n').unwrap_or((found, ""));
    format!("\n## {title}\n\n```text\n{path}```\n")
}

/// One protocol's results.
pub(super) fn checked(protocol: &Protocol, runs: &[Explored], ends: &Ends) -> String {
    let mut text = format!("{}: {}\n", protocol.name, protocol.about);
    for explored in runs {
        let result = match (&explored.broken, explored.cut) {
            (Some(broken), _) => format!("BROKEN: {}", broken.property),
            (None, true) => "not all of them: the limit was reached".into(),
            (None, false) => "all hold".into(),
        };
        let _ = writeln!(
            text,
            "  safety    {:>10} states {:>11} steps  depth {:>3}  {:>6.1} s  {result}",
            explored.states,
            explored.steps,
            explored.depth,
            explored.time.as_secs_f64()
        );
    }
    let _ = writeln!(
        text,
        "  liveness  {:>10} states {:>11} ends   longest {:>3}  {:>4.1} s  {}",
        ends.states,
        ends.last,
        ends.longest,
        ends.time.as_secs_f64(),
        ends.wrong.unwrap_or("every behaviour ends, and ends well")
    );
    for property in protocol.properties {
        let _ = writeln!(text, "  checked   {property}");
    }
    for (bit, sight) in (protocol.situations)() {
        let word = if seen(runs) & bit != 0 {
            "seen     "
        } else {
            "NOT SEEN "
        };
        let _ = writeln!(text, "  {word} {sight}");
    }
    text
}

fn seen(runs: &[Explored]) -> u64 {
    runs.iter().fold(0, |all, one| all | one.seen)
}

/// What is wrong.
pub(super) fn failures(protocol: &Protocol, runs: &[Explored], ends: &Ends) -> Vec<String> {
    let name = protocol.name;
    let mut failures = Vec::new();
    for explored in runs {
        if let Some(broken) = &explored.broken {
            failures.push(format!(
                "{name}: {}\n{}",
                broken.property,
                numbered(&broken.path)
            ));
        }
        if explored.cut {
            failures.push(format!("{name}: too many states"));
        }
    }
    if let Some(wrong) = ends.wrong {
        failures.push(format!("{name}, without faults: {wrong}"));
    }
    failures
}

/// Situations that never occurred. With small bounds, not all of them need to.
pub(super) fn unseen(protocol: &Protocol, runs: &[Explored]) -> Vec<String> {
    let unseen = (protocol.situations)().into_iter();
    let unseen = unseen.filter(|(bit, _)| seen(runs) & bit == 0);
    unseen
        .map(|(_, sight)| format!("{}: never seen: {sight}", protocol.name))
        .collect()
}

/// The nearest state at which the protocol breaks without this protection.
pub(super) fn counterexample(
    protocol: &Protocol,
    without: Without,
    explored: &Explored,
) -> Result<String, String> {
    let name = protocol.name;
    match &explored.broken {
        None => Err(format!("{name} without {without:?}: nothing breaks")),
        Some(broken) => Ok(format!(
            "{name} without {}: {} steps to \"{}\"\n{}",
            without.words(),
            broken.path.len(),
            broken.property,
            numbered(&broken.path)
        )),
    }
}

fn numbered(path: &[String]) -> String {
    let mut text = String::new();
    for (at, step) in path.iter().enumerate() {
        let _ = writeln!(text, "{:>4}  {step}", at + 1);
    }
    text
}
