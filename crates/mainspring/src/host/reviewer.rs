//! A host's client as a reviewer: how to start it, and how to read what it prints.

pub(crate) mod report;

use std::ffi::OsString;
use std::path::Path;

use mainspring_kernel::machines::review::Verdict;
use mainspring_kernel::machines::review::findings::Report;

use crate::child_env::VendorEnv;
use crate::env::Environment;

#[derive(Debug)]
pub(crate) struct Reviewer {
    /// Its arguments: they switch hooks off, and the prompt comes last.
    pub(crate) args: fn(&Task<'_>) -> Vec<OsString>,
    /// The variables that the client reads: how it signs in, which models it uses.
    pub(crate) env: VendorEnv,
    /// Reads its output; `None` if that is not a result.
    pub(crate) read: fn(&[u8]) -> Option<Said>,
    /// The error message in its output, if there is one.
    pub(crate) complaint: fn(&[u8]) -> Option<String>,
    /// Does the client allow this user to skip its permissions?
    pub(crate) may_skip_permissions: fn(&Environment) -> bool,
}

/// What one reviewer has to do.
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
    /// It may read everything, including the library, and write this one file.
    Scoped {
        library: &'a Path,
        file: String,
    },
}

/// What a reviewer's output says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub verdict: Verdict,
    /// Its findings as data, if the answer has them in the right form.
    pub(crate) report: Option<Report>,
    /// In millionths of a dollar.
    pub(crate) cost: u64,
    pub(crate) end: End,
}

/// Whether the client reports a failure of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Error,
}
