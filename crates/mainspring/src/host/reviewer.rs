//! A host's own client as a reviewer: how it is started, and what it prints.

use std::ffi::OsString;
use std::path::Path;

use mainspring_kernel::machines::review::Verdict;

use crate::child_env::VendorEnv;
use crate::env::Environment;

#[derive(Debug)]
pub(crate) struct Reviewer {
    /// Hooks off, and the prompt last.
    pub(crate) args: fn(&Task<'_>) -> Vec<OsString>,
    /// The variables that the program itself reads: how it signs in, which models it asks.
    pub(crate) env: VendorEnv,
    /// What it printed; `None` if that is no result.
    pub(crate) read: fn(&[u8]) -> Option<Said>,
    /// What it printed of its own failure.
    pub(crate) complaint: fn(&[u8]) -> Option<String>,
    /// Does the program let this user skip its permissions?
    pub(crate) may_skip_permissions: fn(&Environment) -> bool,
}

/// What one reviewer is to do.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) model: &'a str,
    pub(crate) permissions: Permissions<'a>,
    /// The schema that the verdict is constrained to.
    pub(crate) schema: &'a str,
    pub(crate) prompt: String,
}

/// What the reviewer may do.
#[derive(Debug)]
pub(crate) enum Permissions<'a> {
    Skipped,
    /// Look at everything, the library too, and write the one file.
    Scoped {
        library: &'a Path,
        file: String,
    },
}

/// What a reviewer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    pub verdict: Verdict,
    /// In millionths of a dollar.
    pub(crate) cost: u64,
    pub(crate) end: End,
}

/// Does the program itself say that it failed?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Error,
}
