//! Finds a file in a host's folders, and tells a host by them.

use std::fs;
use std::path::{Path, PathBuf};

/// More entries of one folder are not looked at.
const MOST: usize = 10_000;

/// Does this path lead through these folders, one right below the other? Windows separates them
/// with backslashes.
pub(super) fn leads_through(path: &str, folders: &str) -> bool {
    let folders: Vec<&str> = folders.split('/').collect();
    // Mostly it does not, and this finds out at once.
    if folders.first().is_none_or(|first| !path.contains(first)) {
        return false;
    }
    let mut parts: Vec<&str> = path.split(SEPARATORS).collect();
    parts.pop();
    parts.windows(folders.len()).any(|some| some == folders)
}

/// The last part of a path, of whichever system it is.
pub(super) fn name_in(path: &str) -> &str {
    path.rsplit(SEPARATORS).next().unwrap_or_default()
}

const SEPARATORS: [char; 2] = ['/', '\\'];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_through_folders_and_not_through_parts_of_their_names() {
        for (path, leads) in [
            ("/home/a/.grok/sessions/s.jsonl", true),
            (r"C:\Users\a\.grok\sessions\s.jsonl", true),
            (r"C:\Users\a/.grok/sessions\s.jsonl", true),
            ("/home/a/.grok/x/sessions/s.jsonl", false),
            ("/home/a/x.grok/sessions/s.jsonl", false),
            ("/home/a/.grok/sessions", false),
            ("/home/a/.grok/sessions-2/s.jsonl", false),
            ("", false),
        ] {
            assert_eq!(leads_through(path, ".grok/sessions"), leads, "{path}");
        }
        assert_eq!(name_in(r"C:\a\events.jsonl"), "events.jsonl");
        assert_eq!(name_in("/a/events.jsonl"), "events.jsonl");
        assert_eq!(name_in("events.jsonl"), "events.jsonl");
    }
}
