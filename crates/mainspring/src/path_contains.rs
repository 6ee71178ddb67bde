//! Does a path lie in a folder? By its parts, never by its text: `/a/bc` is not in `/a/b`.
//! The paths must be without `..`, or resolved.

use std::path::Path;

pub(crate) fn path_contains(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
}
