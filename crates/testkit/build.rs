//! Tells the linker what a start of a process needs to be timed alone, and to be compared.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by variables"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // In a static program the standard library finds this function only where something
    // names it, and without it a child with a folder of its own is a fork: a copy of all
    // page tables, which is timed with it, and which many threads wait for one by one.
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--undefined=posix_spawn_file_actions_addchdir_np");
    }
}
