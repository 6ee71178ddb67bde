//! Runs a hook and records its input and output.

use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    mainspring_testkit::recorder::tee(std::env::args_os().skip(1))
}
