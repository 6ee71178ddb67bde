//! The same program under its second name: a host calls it by one word, because some hosts drop
//! the arguments of a hook.

use std::process::ExitCode;

fn main() -> ExitCode {
    mainspring::main()
}
