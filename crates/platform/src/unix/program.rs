//! What a program's file is called.

use std::io;
use std::path::Path;

/// The names that a file of this program may have.
pub(crate) fn file_names(program: &str) -> impl Iterator<Item = String> + use<> {
    std::iter::once(program.to_owned())
}

/// A symlink, so that an update of the program is one of both.
pub(crate) fn second_name(program: &Path, name: &Path) -> io::Result<()> {
    let target = program.file_name().map_or(program, Path::new);
    std::os::unix::fs::symlink(target, name)
}

/// Whatever is there: a package may bring two programs instead of a symlink.
pub(crate) fn is_second_name(_: &Path, name: &Path) -> bool {
    name.exists()
}
