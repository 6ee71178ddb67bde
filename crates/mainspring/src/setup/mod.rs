//! From the first day to the last: install, doctor, settings, uninstall.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod install;
pub(crate) mod man;
pub(crate) mod trial;
