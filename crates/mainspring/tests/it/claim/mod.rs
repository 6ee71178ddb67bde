//! `claim` with the real `gh` and the real `git`, against a stand-in for GitHub.

mod bytes;
mod client;
mod compat;
mod consent;
mod crash;
mod faults;
mod fleet;
mod forks;
mod life;
mod night;
mod people;
mod repair;
mod servers;
mod traps;
mod watch;
pub(crate) mod world;
