//! Runs that are killed, or whose disk is full, at the system calls that change something.

use std::process::Command;

use mainspring_testkit::faults;

use crate::env::MAINSPRING;

#[test]
fn no_fault_at_any_file_call_tears_loses_or_leaves_anything() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: strace is missing, so no faults were injected");
        return;
    }
    let (points, failures) = faults::quick(MAINSPRING.as_ref());
    assert!(
        failures.is_empty(),
        "{} of {points}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(points > 20 * faults::all().len(), "only {points} points");
}

/// With every value of every byte: `cargo run -p mainspring-testkit --release -- faults --part
/// flips`.
#[test]
fn no_changed_byte_of_a_file_of_ours_lets_go_silently_or_starts_a_second_reviewer() {
    let (points, failures) = faults::quick_flips(MAINSPRING.as_ref());
    assert!(
        failures.is_empty(),
        "{} of {points}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(points > 5_000, "only {points} points");
}
