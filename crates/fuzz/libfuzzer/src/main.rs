//! One program for all targets: `FUZZ_TARGET` names the target, and libFuzzer gets the arguments.
//! `cargo run -p mainspring-testkit --release -- fuzz` builds it with the compiler's coverage pass,
//! which stable Rust has, and runs it.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mainspring_fuzz::{TARGETS, Target};

fn target() -> &'static Target {
    static TARGET: OnceLock<&'static Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let wanted = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let known = TARGETS.iter().find(|target| target.name == wanted);
        known.unwrap_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            panic!("FUZZ_TARGET is one of {}", names.join(", "))
        })
    })
}

fuzz_target!(|bytes: &[u8]| (target().run)(bytes));
