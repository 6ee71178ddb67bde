//! Is a path in a folder? It compares components and not text: `/a/bc` is not in `/a/b`.
//! The paths must be resolved, or at least have no `..`.

use std::path::Path;

pub(crate) fn path_contains(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
}
