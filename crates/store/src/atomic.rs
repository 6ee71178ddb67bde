//! Reads files with a limit, without following a symlink at the end of the path, and without
//! blocking on something that is not a file. Replaces files whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::path::Path;

use mainspring_kernel::journal::FileChange;
use mainspring_platform::{file, rename, sync};

use crate::Trouble;
use crate::contents::{ReadFile, temp_path, whole, write_contents};
use crate::digest;
use crate::no_symlink;
use crate::path_text;

/// Opens a regular file for reading; `None` if there is none.
pub fn open(path: &Path) -> Result<Option<File>, Trouble> {
    let Some(file) = open_any(path)? else {
        return Ok(None);
    };
    let meta = file.metadata().map_err(Trouble::io("look at", path))?;
    if !meta.is_file() {
        return Err(Trouble::NotAFile { path: path.into() });
    }
    Ok(Some(file))
}

/// Opens whatever is there; it is examined only once it is open.
fn open_any(path: &Path) -> Result<Option<File>, Trouble> {
    match file::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Trouble::io("open", path)(error)),
    }
}

/// The whole file, if it has at most `limit` bytes; `None` if there is none.
pub fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Trouble> {
    Ok(look(path, limit)?.map(|seen| seen.bytes))
}

/// The same, with the file's metadata.
pub fn look(path: &Path, limit: u64) -> Result<Option<ReadFile>, Trouble> {
    match open_any(path)? {
        Some(file) => whole(&file, path, limit).map(Some),
        None => Ok(None),
    }
}

pub fn read_text(path: &Path, limit: u64) -> Result<Option<String>, Trouble> {
    let Some(bytes) = read(path, limit)? else {
        return Ok(None);
    };
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| Trouble::corrupt(path, "it is not UTF-8 text"))
}

/// The change of this file from what was read to `now`; `None` if it already is that.
pub fn change(path: &Path, was: Option<&[u8]>, now: Option<String>) -> FileChange {
    let path = path_text::to_text(path);
    if was == now.as_deref().map(str::as_bytes) {
        let (was, now) = (None, None);
        return FileChange { path, was, now };
    }
    FileChange {
        path,
        was: was.map(|bytes| digest::of(&[bytes])),
        now,
    }
}

/// What happened to a file that a change should replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projected {
    Written,
    /// It was there already.
    Current,
    /// Somebody edited the file in the meantime; the edit stays.
    Edited,
}

/// Replaces the file as the change says, if it still has the content that the change found. `ours`
/// recognizes further contents that it may have: older versions of ours. Below `root`, the project,
/// no symlink is followed.
pub fn project(
    change: &FileChange,
    ours: impl Fn(Option<&[u8]>) -> bool,
    root: &Path,
) -> Result<Projected, Trouble> {
    let path = &*path_text::from_text(&change.path);
    let theirs = path.starts_with(root);
    if let (None, Some(text), false) = (&change.was, &change.now, theirs)
        && create_new(path, text.as_bytes(), ReplaceMode::Rename)?
    {
        return Ok(Projected::Written);
    }
    let seen = if theirs {
        no_symlink::look(path, crate::limits::RECORD)?
    } else {
        look(path, crate::limits::RECORD)?
    };
    let (found, kept) = seen
        .map(|seen| (seen.bytes, seen.meta.permissions()))
        .unzip();
    let is_current = found.as_deref() == change.now.as_deref().map(str::as_bytes);
    let is_edited = || {
        let sum = found.as_ref().map(|bytes| digest::of(&[bytes]));
        sum != change.was && !ours(found.as_deref())
    };
    if is_current || is_edited() {
        // A crash may have come after the new file was in place and before the old one was deleted.
        if !theirs {
            remove(&temp_path(path))?;
        }
        return Ok(if is_current {
            Projected::Current
        } else {
            Projected::Edited
        });
    }
    let kept = kept.as_ref();
    match &change.now {
        Some(text) if theirs => no_symlink::replace(path, text.as_bytes(), kept)?,
        Some(text) => replace_with(path, text.as_bytes(), kept, ReplaceMode::Exchange)?,
        None if theirs => no_symlink::remove(path)?,
        None => remove(path)?,
    }
    Ok(Projected::Written)
}

/// Creates a file if there is none, and says whether it did. The caller need not look before, and a
/// file that somebody creates at the same moment is not lost. Returns false if something is in the
/// way, or if the file system does not support it.
fn create_new(path: &Path, bytes: &[u8], mode: ReplaceMode) -> Result<bool, Trouble> {
    let new = temp_path(path);
    write(&new, bytes, None, mode)?;
    let renamed = rename::if_free(&new, path).map_err(Trouble::io("replace", path))?;
    if !renamed {
        remove(&new)?;
    }
    Ok(renamed)
}

/// Makes a file that is whole or not there after a power loss. A file that is there already
/// stays.
pub fn create_durably(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    if create_new(path, bytes, ReplaceMode::SyncAndRename)? {
        let dir = path.parent().unwrap_or(path);
        return sync::file_system(dir).map_err(Trouble::io("sync", dir));
    }
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(()),
        // A file system that does not know how to rename only if the name is free.
        Err(_) => replace_durably(path, bytes),
    }
}

fn remove(path: &Path) -> Result<(), Trouble> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Trouble::io("delete", path)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a temp file beside the file and renames it over the file. The temp file always has the
/// same name, so the next try reuses what a crash left.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    replace_with(
        path,
        bytes,
        permissions_of(path).as_ref(),
        ReplaceMode::Rename,
    )
}

/// The same for a file that no record backs: after a power loss it is the old or the new version.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    replace_with(
        path,
        bytes,
        permissions_of(path).as_ref(),
        ReplaceMode::SyncAndRename,
    )?;
    let dir = path.parent().unwrap_or(path);
    sync::file_system(dir).map_err(Trouble::io("sync", dir))
}

/// How a new file replaces the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplaceMode {
    /// By a rename, after which some file systems write the file out at once.
    Rename,
    /// The same, after a sync of the file.
    SyncAndRename,
    /// By exchanging the two names, after which the old file is deleted. For a reader this is just
    /// as atomic, and nothing is written out; writing out is most of the cost of a rename on a
    /// disk. After a power loss, the record restores the file.
    Exchange,
}

/// The permissions of the present file.
fn permissions_of(path: &Path) -> Option<Permissions> {
    let found = fs::symlink_metadata(path).ok()?;
    found.is_file().then(|| found.permissions())
}

fn replace_with(
    path: &Path,
    bytes: &[u8],
    kept: Option<&Permissions>,
    mode: ReplaceMode,
) -> Result<(), Trouble> {
    let mut tries = 0;
    loop {
        match replace_once(path, bytes, kept, mode) {
            // Without a lock, another process may have renamed our temp file away. It succeeded;
            // now we try again.
            Err(Trouble::Io { source, .. })
                if source.kind() == ErrorKind::NotFound && tries < MOST_TRIES =>
            {
                tries += 1;
            }
            replaced => return replaced,
        }
    }
}

/// More processes than this do not write in one folder at once.
const MOST_TRIES: u32 = 100;

fn replace_once(
    path: &Path,
    bytes: &[u8],
    kept: Option<&Permissions>,
    mode: ReplaceMode,
) -> Result<(), Trouble> {
    let new = temp_path(path);
    write(&new, bytes, kept, mode)?;
    let replaced = match mode {
        ReplaceMode::Exchange if kept.is_some() => exchange(&new, path),
        ReplaceMode::Exchange | ReplaceMode::Rename | ReplaceMode::SyncAndRename => {
            rename::over(&new, path)
        }
    };
    replaced.map_err(Trouble::io("replace", path))
}

/// A new file, ready to replace the old one.
fn write(
    new: &Path,
    bytes: &[u8],
    kept: Option<&Permissions>,
    mode: ReplaceMode,
) -> Result<(), Trouble> {
    let mut made = match file::create(new) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(parent) = new.parent() {
                fs::create_dir_all(parent).map_err(Trouble::io("create", parent))?;
            }
            file::create(new)
        }
        created => created,
    }
    .map_err(Trouble::io("write", new))?;
    write_contents(&mut made, bytes, kept).map_err(Trouble::io("write", new))?;
    if mode == ReplaceMode::SyncAndRename {
        sync::data(&made).map_err(Trouble::io("sync", new))?;
    }
    Ok(())
}

fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    match rename::exchange(new, old) {
        Ok(()) => fs::remove_file(new),
        // The file system does not support it, or the file has just gone.
        Err(_) => rename::over(new, old),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn changed(path: &Path, was: Option<&str>, now: Option<&str>) -> FileChange {
        change(path, was.map(str::as_bytes), now.map(str::to_owned))
    }

    #[test]
    fn a_change_applies_once_and_never_over_an_edit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/state.json");
        let root = Path::new("/elsewhere");
        let create = changed(&path, None, Some("one"));
        assert_eq!(
            project(&create, |_| false, root).unwrap(),
            Projected::Written
        );
        assert_eq!(
            project(&create, |_| false, root).unwrap(),
            Projected::Current
        );
        let next = changed(&path, Some("one"), Some("two"));
        assert_eq!(project(&next, |_| false, root).unwrap(), Projected::Written);
        assert_eq!(
            project(&create, |_| false, root).unwrap(),
            Projected::Edited
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let gone = changed(&path, Some("two"), None);
        assert_eq!(project(&gone, |_| false, root).unwrap(), Projected::Written);
        assert_eq!(project(&gone, |_| false, root).unwrap(), Projected::Current);
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert!(names.is_empty(), "nothing is left beside it: {names:?}");
    }

    /// A process may die after the new file has replaced the old one, and before the old one is
    /// deleted.
    #[test]
    fn the_old_file_does_not_outlive_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let next = changed(&path, Some("one"), Some("two"));
        for (found, projected) in [("two", Projected::Current), ("three", Projected::Edited)] {
            replace(&path, found.as_bytes()).unwrap();
            replace(&temp_path(&path), b"one").unwrap();
            let root = Path::new("/elsewhere");
            assert_eq!(project(&next, |_| false, root).unwrap(), projected);
            assert_eq!(fs::read_to_string(&path).unwrap(), found);
            assert!(!temp_path(&path).exists(), "{found}");
        }
    }

    /// A crash may have left a temp file with other permissions.
    #[test]
    fn a_files_permissions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace(&path, b"one").unwrap();
        assert_eq!(mode(), 0o600, "ours alone, if nobody says otherwise");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(mode(), 0o644);
        fs::rename(&path, temp_path(&path)).unwrap();
        replace(&path, b"three").unwrap();
        assert_eq!(mode(), 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"three");
    }

    /// A file that somebody created in the meantime is not lost.
    #[test]
    fn a_new_file_takes_no_place_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        replace(&path, b"theirs").unwrap();
        assert!(!create_new(&path, b"ours", ReplaceMode::Rename).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(create_new(&path, b"ours", ReplaceMode::Rename).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(!create_new(&path, b"ours", ReplaceMode::Rename).unwrap());
        assert!(!temp_path(&path).exists());
    }

    #[test]
    fn two_that_replace_a_file_at_once_both_succeed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("binding");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        replace(&path, b"the same").unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read(&path).unwrap(), b"the same");
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        fs::create_dir(&target).unwrap();
        assert!(matches!(read(&target, 10), Err(Trouble::NotAFile { .. })));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
        assert!(matches!(read(&link, 10), Err(Trouble::Io { .. })));
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(matches!(read(&fifo, 10), Err(Trouble::NotAFile { .. })));
    }

    #[test]
    fn a_file_over_its_limit_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        replace(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap().unwrap(), b"12345");
        assert!(matches!(read(&path, 4), Err(Trouble::TooLarge { .. })));
        assert_eq!(read(&dir.path().join("none"), 4).unwrap(), None);
        assert_eq!(read(&path.join("below-a-file"), 4).unwrap(), None);
    }
}
