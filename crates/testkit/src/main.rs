//! The harness's commands.
fn main() {}
