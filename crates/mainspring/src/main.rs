//! The binary: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    mainspring::main()
}
