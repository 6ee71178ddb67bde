//! The binary, as hosts and people run it: one integration program, one file per theme.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its environment has failed"
)]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod afternoon_client;
mod agents;
mod at_work;
mod authority;
mod brake_client;
mod check;
mod claim;
mod client;
mod combinations;
mod config;
mod config_words;
mod declared;
mod demo;
mod doctor;
mod drop_ins;
mod env;
mod explained;
mod failures;
mod faults;
mod fixtures;
mod gate;
mod gate_daily;
mod gate_folders;
mod host_clients;
mod host_setups;
mod install;
mod install_words;
mod json_views;
mod late_transcript;
mod loop_daily;
mod loop_over;
mod loop_owners;
mod loop_stores;
mod looping;
mod manual;
mod notices;
mod open_stdin;
mod orders;
mod orders_programs;
mod plugin_taskie;
mod product_clients;
mod queued;
mod registration_clients;
mod rehearse;
mod retention;
mod review;
mod review_client;
mod review_vendors;
mod routes_client;
mod sealed;
mod second_name;
mod security;
mod sessions;
mod setups;
mod stop_clients;
mod store;
mod taskie;
mod tasks;
mod together_client;
mod twice;
mod two_hosts;
mod typed;
mod view;
mod views;
mod window;
