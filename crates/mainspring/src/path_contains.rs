//! Does a path lie in a folder? By its parts, never by its text: `/a/bc` is not in `/a/b`.
//! The paths must be without `..`, or resolved.

use std::path::Path;

use crate::seeded::without;

pub(crate) fn path_contains(path: &Path, folder: &Path) -> bool {
    if without("containment by parts") {
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        return bytes(path).starts_with(&bytes(folder));
    }
    path.starts_with(folder)
}
