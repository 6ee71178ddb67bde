//! Where a file is kept that cannot be used and may still be wanted.

use std::path::{Path, PathBuf};

use mainspring_store::digest;

/// Beside the file, named after its contents.
pub(crate) fn aside_path(path: &Path, bytes: &[u8]) -> PathBuf {
    let sum = digest::of(&[bytes]).0;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".aside-{}", sum.get(..8).unwrap_or(&sum)));
    path.with_file_name(name)
}
