//! The binary, as hosts and people run it: one integration program, one file per theme.

mod client;
mod declared;
mod env;
mod failures;
mod faults;
mod fixtures;
mod store;
mod tasks;
mod views;
