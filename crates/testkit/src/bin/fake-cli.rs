//! Plays another program, under whose name it was installed: see `fakes`.

use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    mainspring_testkit::fakes::play()
}
