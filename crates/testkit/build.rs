//! Linker options for measuring the start of a process.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told everything by variables"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // In a static program, the standard library finds this function only if something refers to it.
    // Without it, starting a child with a working directory is a fork, which copies all page
    // tables: the copy would be measured too, and many threads would wait for it one by one.
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--undefined=posix_spawn_file_actions_addchdir_np");
    }
}
