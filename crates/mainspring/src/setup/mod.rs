//! From the first day to the last: install, doctor, settings, uninstall.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod install;
pub(crate) mod man;
pub(crate) mod trial;

use std::path::Path;

use mainspring_store::{Trouble, no_symlink};

/// Replaces a file of a repository's: through no symlink, and with the permissions that it has.
fn replace_in_repository(path: &Path, text: &str) -> Result<(), Trouble> {
    let found = std::fs::symlink_metadata(path).ok();
    let kept = found.map(|found| found.permissions());
    no_symlink::replace(path, text.as_bytes(), kept.as_ref())
}
