//! Finds a file in a host's folders.

use std::fs;
use std::path::{Path, PathBuf};

/// More entries of one folder are not looked at.
const MOST: usize = 10_000;

/// The file with such a name that was changed last, in the folders of this many levels.
pub(super) fn newest_below(
    folder: &Path,
    levels: u32,
    is_it: impl Fn(&str) -> bool + Copy,
) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.take(MOST).filter_map(Result::ok);
    let found = entries.filter_map(|entry| {
        let kind = entry.file_type().ok()?;
        if kind.is_dir() && levels > 0 {
            return newest_below(&entry.path(), levels - 1, is_it);
        }
        let name = entry.file_name();
        let matches = kind.is_file() && name.to_str().is_some_and(is_it);
        matches.then(|| entry.path())
    });
    found.max_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok())
}
