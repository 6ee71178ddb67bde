//! Runs a hook and writes down what went in and what came out.

use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    mainspring_testkit::recorder::tee(std::env::args_os().skip(1))
}
