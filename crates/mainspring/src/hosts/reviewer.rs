//! A host's client as a reviewer: how to start it, and how to read what it prints.

pub(crate) mod report;

use std::ffi::OsString;
use std::path::Path;

use mainspring_kernel::machines::review::Verdict;
use mainspring_kernel::machines::review::findings::Report;

use crate::children::child_env::VendorEnv;
use crate::env::Environment;

/// The clients that can review.
pub(crate) const PROFILES: &[&Reviewer] = &[
    &super::claude::reviewer::REVIEWER,
    &super::codex::reviewer::REVIEWER,
    &super::gemini::reviewer::REVIEWER,
    &super::qwen::reviewer::REVIEWER,
    &super::copilot::reviewer::REVIEWER,
    &super::opencode::reviewer::REVIEWER,
];

/// The client that reviews if no other is named, whatever host the agent runs in.
pub(crate) const DEFAULT: &Reviewer = &super::claude::reviewer::REVIEWER;

/// The client that a reviewer's name means, and the model: `codex`, `claude:opus`, or a model of
/// the default client alone.
pub(crate) fn named(name: &str) -> (&'static Reviewer, &str) {
    let (program, model) = name.split_once(':').unwrap_or((name, ""));
    let found = PROFILES.iter().find(|one| one.program == program);
    match found {
        Some(found) => (found, model),
        None => (DEFAULT, name),
    }
}

#[derive(Debug)]
pub(crate) struct Reviewer {
    /// The name of the client's program.
    pub(crate) program: &'static str,
    /// Its arguments: they switch hooks off, and the prompt comes last.
    pub(crate) args: fn(&Task<'_>) -> Vec<OsString>,
    /// The variables that the client reads: how it signs in, which models it uses.
    pub(crate) env: VendorEnv,
    /// Variables that it gets in addition.
    pub(crate) set: &'static [(&'static str, &'static str)],
    /// Has it a shell for git? Otherwise it gets the changes with its prompt.
    pub(crate) has_shell: bool,
    /// Reads its output; `None` if that is not a result.
    pub(crate) read: fn(&[u8]) -> Option<Said>,
    /// Does it write the review's file? Otherwise it only reads, and its answer is the review.
    pub(crate) writes: bool,
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
    /// A file with the schema.
    pub(crate) schema_file: &'a Path,
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
