//! Tells the release its commit, and the linker how to lay it out: smaller and, if there is a profile, with the
//! functions that a hook runs next to each other. Both are hints: if the linker is not the one
//! that Rust ships for this target, the program is linked without them and behaves the same.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by variables"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// The first compiler that links with its own `lld` on this target.
const OWN_LINKER: u32 = 90;

/// The list of functions that a hook runs, made by `scripts/release`. Like every profile it belongs
/// to one build, so it is not in the tree.
const LAYOUT: &str = "MAINSPRING_LAYOUT";

/// Set for the build from which that list is made.
const KEEP_NAMES: &str = "MAINSPRING_KEEP_NAMES";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link");
    println!("cargo::rerun-if-env-changed={LAYOUT}");
    println!("cargo::rerun-if-env-changed={KEEP_NAMES}");
    if var("PROFILE") != "release" {
        return;
    }
    commit();
    // Stripped here and not by Cargo's profile, which would change the names in the list. Only this
    // target has one, and a C compiler as its linker, which knows the option.
    let is_laid_out = var("CARGO_CFG_TARGET_OS") == "linux" && var("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_laid_out && env::var_os(KEEP_NAMES).is_none() {
        link("--strip-all");
    }
    if !links_with_lld() {
        return;
    }
    let folder = Path::new(&var("CARGO_MANIFEST_DIR")).join("link");
    // Functions that compile to the same instructions are merged.
    link("--icf=all");
    // A panic aborts, so nothing reads the tables for unwinding.
    link(&format!(
        "--script={}",
        folder.join("no-unwinding.ld").display()
    ));
    // What a hook touches is together, so that it needs only a few pages.
    if let Some(list) = env::var_os(LAYOUT) {
        let list = Path::new(&list).display();
        println!("cargo::rerun-if-changed={list}");
        link(&format!("--symbol-ordering-file={list}"));
        link("--no-warn-symbol-ordering");
    }
}

/// Tells the program which commit it was built from, for `mainspring debug self`. A debug build is not
/// told: it would be built again after each commit.
fn commit() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "HEAD"]) else {
        return;
    };
    // The file that changes with each commit, or each change of branch.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rustc-env=MAINSPRING_COMMIT={commit}");
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
