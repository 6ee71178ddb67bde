//! The machines in every order of steps, with small bounds; `model` runs them with large
//! ones.

#![expect(clippy::disallowed_methods, reason = "a test fails where it stands")]

use std::path::Path;

use mainspring_testkit::explore;
use pretty_assertions::assert_eq;

#[test]
fn every_protocol_holds_in_every_order_of_steps() {
    assert_eq!(explore::quick(), [""; 0]);
}

/// The checker sees what it is there to see. `GENERATE=1` writes the page again.
#[test]
fn the_page_of_counterexamples_is_what_the_checker_finds() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/design/counterexamples.md");
    let found = explore::counterexamples();
    if std::env::var_os("GENERATE").is_some() {
        std::fs::write(&page, &found).expect("the page is written");
    }
    let written = std::fs::read_to_string(&page).expect("the page is there");
    assert_eq!(written, found);
}
