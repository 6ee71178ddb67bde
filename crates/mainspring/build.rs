//! Tells the linker how to lay out the release: smaller, and with what a hook runs in one
//! place. All of it is a hint. Where the linker is not the one that Rust brings for this
//! target, the program is linked without and does the same.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by variables"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// The first compiler that links with its own `lld` on this target.
const OWN_LINKER: u32 = 90;

/// For whoever makes the list: `cargo run -p mainspring-testkit --release -- layout`.
const KEEP_NAMES: &str = "MAINSPRING_KEEP_NAMES";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link");
    println!("cargo::rerun-if-env-changed={KEEP_NAMES}");
    if var("PROFILE") != "release" {
        return;
    }
    // Not by the profile: the names in the list would be others, with it and without.
    if var("CARGO_CFG_TARGET_OS") == "linux" && env::var_os(KEEP_NAMES).is_none() {
        link("--strip-all");
    }
    if var("CARGO_CFG_TARGET_ENV") == "gnu" {
        // Before `main`, the standard library asks where the stack ends, for a kinder word if it
        // should ever overflow. The C library finds out by reading `/proc/self/maps`, which is
        // 0.05 ms of every start. Anything but 0 is a failure: then it is not known, and an
        // overflow ends the program all the same.
        link("--defsym=pthread_getattr_np=getpid");
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
    let order = folder.join("hook-first.txt");
    link(&format!("--symbol-ordering-file={}", order.display()));
    link("--no-warn-symbol-ordering");
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
