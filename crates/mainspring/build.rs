//! Tells the linker how to lay out the release: smaller, and, where a profile is given, with
//! what a hook runs in one place. All of it is a hint. Where the linker is not the one that
//! Rust brings for this target, the program is linked without and does the same.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by variables"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// The first compiler that links with its own `lld` on this target.
const OWN_LINKER: u32 = 90;

/// The list of functions that a hook runs, as `cargo run -p mainspring-testkit --release --
/// layout` makes it. It is of one build, like any profile, and so is not in the tree.
const LAYOUT: &str = "MAINSPRING_LAYOUT";

/// For whoever makes that list.
const KEEP_NAMES: &str = "MAINSPRING_KEEP_NAMES";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link");
    println!("cargo::rerun-if-env-changed={LAYOUT}");
    println!("cargo::rerun-if-env-changed={KEEP_NAMES}");
    if var("PROFILE") != "release" {
        return;
    }
    // Not by the profile: the names in the list would be others, with it and without.
    if var("CARGO_CFG_TARGET_OS") == "linux" && env::var_os(KEEP_NAMES).is_none() {
        link("--strip-all");
    }
    if !links_with_lld() {
        return;
    }
    let folder = Path::new(&var("CARGO_MANIFEST_DIR")).join("link");
    // Functions that compile to the same instructions become one.
    link("--icf=all");
    // A panic aborts: nobody ever reads how to unwind.
    link(&format!(
        "--script={}",
        folder.join("no-unwinding.ld").display()
    ));
    // What a hook touches lies together, so that it is a few pages and not many.
    if let Some(list) = env::var_os(LAYOUT) {
        let list = Path::new(&list).display();
        println!("cargo::rerun-if-changed={list}");
        link(&format!("--symbol-ordering-file={list}"));
        link("--no-warn-symbol-ordering");
    }
}

fn link(argument: &str) {
    println!("cargo::rustc-link-arg-bins=-Wl,{argument}");
}

fn links_with_lld() -> bool {
    let chosen = var("CARGO_ENCODED_RUSTFLAGS");
    var("TARGET") == "x86_64-unknown-linux-gnu"
        && env::var_os("RUSTC_LINKER").is_none()
        && !chosen.contains("linker")
        && !chosen.contains("fuse-ld")
        && minor_version().is_some_and(|minor| minor >= OWN_LINKER)
}

/// The 95 of `rustc 1.95.0`.
fn minor_version() -> Option<u32> {
    let output = Command::new(env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split('.').nth(1)?.parse().ok()
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
