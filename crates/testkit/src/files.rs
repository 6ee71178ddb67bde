//! Files that a test prepares.

use std::fs;
use std::path::Path;

/// Writes a file and the folders it is in.
#[track_caller]
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let path = path.as_ref();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .unwrap_or_else(|error| panic!("{} cannot be made: {error}", folder.display()));
    }
    fs::write(path, content)
        .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}
