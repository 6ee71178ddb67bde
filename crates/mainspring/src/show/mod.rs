//! What is going on, and why: the views.

pub(crate) mod filter;
pub(crate) mod graph;
pub(crate) mod journal_cursor;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod notify;
pub(crate) mod records;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod view;
pub(crate) mod why;
