//! The client's list of installed plugins.

use std::path::Path;

use crate::json;
use mainspring::formats::plugins::{applicable, parse};

/// Every entry that we use is in the file and names a path. A file that is not a registry is
/// refused with a reason.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        json::agrees(text);
    }
    match parse(bytes) {
        Err(problem) => assert!(!problem.is_empty()),
        Ok(all) => {
            for plugin in ["flow", "", "a@b"] {
                let held = applicable(&all, plugin, Path::new("/nowhere/at/all"));
                assert!(held.len() <= all.len());
                let placed = held.iter().all(|one| !one.path.as_os_str().is_empty());
                assert!(placed && held.iter().all(|one| all.contains(one)));
            }
        }
    }
}
