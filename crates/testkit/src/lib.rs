//! What the tests and benchmarks are made with. Never shipped.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails where it stands, and its world is its own"
)]

pub mod bins;
pub mod claude;
pub mod clients;
pub mod fakes;
pub mod model;
pub mod process;
pub mod recorder;
pub mod tmux;
