//! What a program's file is called.

use std::fs;
use std::io;
use std::path::Path;

/// What a file's name ends with that can be started: programs, and scripts of `cmd.exe`.
const ENDINGS: [&str; 4] = [".exe", ".com", ".cmd", ".bat"];

/// The names that a file of this program may have. A file without such an ending is a script for
/// another system, as npm puts it beside the one for Windows.
pub(crate) fn file_names(program: &str) -> impl Iterator<Item = String> + use<> {
    let lower = program.to_ascii_lowercase();
    let is_whole = ENDINGS.iter().any(|ending| lower.ends_with(ending));
    let program = program.to_owned();
    let endings = if is_whole { &[""][..] } else { &ENDINGS[..] };
    endings
        .iter()
        .map(move |ending| format!("{program}{ending}"))
}

/// A hard link or a copy: a symlink takes a privilege that most people do not have. What had the
/// name before is moved aside first: a program that runs can be renamed, but not replaced.
pub(crate) fn second_name(program: &Path, name: &Path) -> io::Result<()> {
    let before = name.with_extension("exe.before");
    if name.exists() && !is_second_name(program, name) {
        fs::rename(name, &before)?;
    }
    let linked = match fs::hard_link(program, name) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => fs::copy(program, name).map(|_| ()),
        linked => linked,
    };
    if linked.is_err() && !name.exists() {
        // The older program is better than none.
        let _ = fs::rename(&before, name);
    }
    // While it runs it stays; the next time, it is replaced.
    let _ = fs::remove_file(&before);
    linked
}

/// Has it the same content?
pub(crate) fn is_second_name(program: &Path, name: &Path) -> bool {
    let length = |path| fs::metadata(path).ok().map(|meta| meta.len());
    let content = |path| fs::read(path).ok();
    let is_there = length(name).is_some();
    is_there && length(name) == length(program) && content(name) == content(program)
}
