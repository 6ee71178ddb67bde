//! Files of a project, reached through no link at all.
//!
//! A project's path has been resolved before, so whatever link is found on the way to one of
//! its files came with the repository, and may lead anywhere: it is refused, by the kernel
//! and in one step, so that nobody can put one there between a look and a use. What is
//! written goes through a handle of its folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, statat};
use rustix::io::Errno;

use super::atomic::{ReadFile, create, temp_path, whole, write_contents};
use crate::error::Trouble;

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// The whole file, if it has at most `limit` bytes; `None` if there is none.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Trouble> {
    Ok(look(path, limit)?.map(|seen| seen.bytes))
}

pub(super) fn look(path: &Path, limit: u64) -> Result<Option<ReadFile>, Trouble> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match open(path, flags) {
        Ok(file) => whole(&File::from(file), path, limit).map(Some),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(trouble("open", path, errno)),
    }
}

/// An entry of a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) is_folder: bool,
}

/// Is something there, and no link on the way to it? Where that cannot be told, no.
pub(crate) fn leads_to(path: &Path) -> bool {
    // Without `NOFOLLOW`, which would open a link at the end for what it is.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), NO_LINKS).is_ok()
}

/// What is in a folder, `most` entries of it; nothing, if it is not there.
pub(crate) fn list(folder: &Path, most: usize) -> Result<Vec<Entry>, Trouble> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match open(folder, flags).and_then(|handle| entries(&handle, most)) {
        Ok(found) => Ok(found),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Vec::new()),
        Err(errno) => Err(trouble("look into", folder, errno)),
    }
}

fn entries(handle: &OwnedFd, most: usize) -> Result<Vec<Entry>, Errno> {
    // Enough for most folders at once, and little enough to be touched for nothing.
    let mut room = Vec::with_capacity(4096);
    let mut reader = RawDir::new(handle, room.spare_capacity_mut());
    let mut found = Vec::new();
    while let Some(entry) = reader.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if found.len() == most {
            break;
        }
        let kind = match entry.file_type() {
            // Some file systems say it only to those who ask.
            FileType::Unknown => statat(handle, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |meta| {
                    FileType::from_raw_mode(meta.st_mode)
                }),
            known => known,
        };
        found.push(Entry {
            name: OsStr::from_bytes(name.to_bytes()).to_owned(),
            is_folder: kind.is_dir(),
        });
    }
    Ok(found)
}

/// Writes beside the file and renames over it, as `atomic::replace` does.
pub(super) fn replace(
    path: &Path,
    bytes: &[u8],
    kept: Option<&Permissions>,
) -> Result<(), Trouble> {
    let io = |doing| move |errno| trouble(doing, path, errno);
    let (folder, name) = parent(path).map_err(io("write"))?;
    let beside = temp_path(path);
    let beside = beside.file_name().unwrap_or_default();
    let mut file = create(&folder, Path::new(beside)).map_err(Trouble::io("write", path))?;
    write_contents(&mut file, bytes, kept).map_err(Trouble::io("write", path))?;
    drop(file);
    rustix::fs::renameat(&folder, beside, &folder, name).map_err(io("replace"))
}

/// Deletes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), Trouble> {
    let removed = parent(path)
        .and_then(|(folder, name)| rustix::fs::unlinkat(folder, name, AtFlags::empty()));
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(trouble("delete", path, errno)),
    }
}

/// A handle of the file's folder, which is made if it is not there, and its name in it.
fn parent(path: &Path) -> Result<(OwnedFd, &std::ffi::OsStr), Errno> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL);
    };
    match folder(above) {
        Err(Errno::NOENT) => {
            let (folder, made) = parent(above)?;
            match rustix::fs::mkdirat(folder, made, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => Ok((self::folder(above)?, name)),
                Err(errno) => Err(errno),
            }
        }
        found => Ok((found?, name)),
    }
}

fn folder(path: &Path) -> Result<OwnedFd, Errno> {
    open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

fn open(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), NO_LINKS) {
        // An old kernel, or a container that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_after_a_look(path, flags),
        opened => opened,
    }
}

/// The same in two steps, where the kernel cannot do it in one.
fn open_after_a_look(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Errno::NOENT,
            _ => Errno::from_io_error(&error).unwrap_or(Errno::IO),
        })
    };
    let above = path.parent().unwrap_or(path);
    if real(above)? != above {
        return Err(Errno::LOOP);
    }
    rustix::fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())
}

fn trouble(doing: &'static str, path: &Path, errno: Errno) -> Trouble {
    match errno {
        Errno::LOOP => Trouble::Unsafe {
            path: path.into(),
            problem: "is reached through a symbolic link, and a project's links are not followed"
                .into(),
        },
        errno => Trouble::io(doing, path)(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    struct Place {
        _temp: tempfile::TempDir,
        project: std::path::PathBuf,
        outside: std::path::PathBuf,
    }

    fn place() -> Place {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        let (project, outside) = (root.join("project"), root.join("outside"));
        fs::create_dir_all(project.join("a/b")).unwrap();
        fs::create_dir_all(outside.join("b")).unwrap();
        Place {
            _temp: temp,
            project,
            outside,
        }
    }

    fn is_refused<T>(done: &Result<T, Trouble>) -> bool {
        matches!(done, Err(Trouble::Unsafe { .. }))
    }

    #[test]
    fn without_links_it_is_as_any_other_way() {
        let place = place();
        let path = place.project.join("new/er/file");
        assert_eq!(read(&path, 10).unwrap(), None);
        replace(&path, b"one", None).unwrap();
        assert_eq!(read(&path, 10).unwrap().unwrap(), b"one");
        assert!(matches!(read(&path, 2), Err(Trouble::TooLarge { .. })));
        replace(&path, b"two", None).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        remove(&path).unwrap();
        remove(&path).unwrap();
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 0, "nothing is left beside it");
    }

    /// Where a link can be × where it can lead × what is done: nothing outside is read,
    /// written, made or deleted.
    #[test]
    fn no_link_leads_out_of_a_project() {
        let leads = |place: &Place| {
            [
                place.outside.clone(),
                "../outside".into(),
                "../../outside".into(),
                "/proc/self/cwd".into(),
                place.outside.join("nowhere"),
                "a".into(),
            ]
        };
        let mut cases = 0;
        for lead in 0..6 {
            for at in ["a", "a/b", "a/b/file", "a/b/.file.mainspring"] {
                for missing in ["", "made/"] {
                    let place = place();
                    super::super::atomic::replace(&place.outside.join("b/file"), b"secret")
                        .unwrap();
                    super::super::atomic::replace(&place.outside.join("file"), b"secret").unwrap();
                    let before = listing(&place.outside);
                    let link = place.project.join(at);
                    let _ = fs::remove_dir_all(&link);
                    symlink(&leads(&place)[lead], &link).unwrap();
                    let path = place.project.join(format!("a/b/{missing}file"));
                    let own_tail = at.ends_with(".mainspring");
                    if missing.is_empty() || at != "a/b/file" {
                        let read = read(&path, 100);
                        assert!(
                            is_refused(&read) || own_tail || at == "a/b/file",
                            "{at} {lead}"
                        );
                        let replaced = replace(&path, b"x", None);
                        // A link in the file's own place is replaced, and not followed.
                        let harmless = at == "a/b/file" || (own_tail && !missing.is_empty());
                        assert!(replaced.is_err() || harmless, "{at} {lead}");
                        let _ = remove(&path);
                    }
                    assert_eq!(listing(&place.outside), before, "{at} -> {lead}");
                    cases += 1;
                }
            }
        }
        assert_eq!(cases, 48);
    }

    /// Another thread puts a link in the folder's place and takes it away again, as fast as
    /// it can, while we write.
    fn race(tries: u32) {
        let place = place();
        let (folder, link) = (place.project.join("a"), place.project.join("link"));
        symlink(&place.outside, &link).unwrap();
        let done = AtomicBool::new(false);
        let path = folder.join("b/file");
        let (mut written, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // In one step, so that there always is one of the two.
                    let exchange = rustix::fs::RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(CWD, &folder, CWD, &link, exchange).unwrap();
                }
            });
            for _ in 0..tries {
                match replace(&path, b"x", None) {
                    Ok(()) => written += 1,
                    Err(_) => refused += 1,
                }
                let _ = read(&path, 10);
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(listing(&place.outside), ["b"], "nothing came out there");
        assert!(written > 0 && refused > 0, "{written} {refused}");
    }

    #[test]
    fn a_link_that_comes_and_goes_is_never_followed() {
        race(4_000);
    }

    #[test]
    #[ignore = "a minute: `cargo nextest run --run-ignored=only a_million`"]
    fn a_million_tries_follow_no_link() {
        race(1_000_000);
    }

    fn listing(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![folder.to_owned()];
        while let Some(next) = left.pop() {
            for entry in fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                let below = path.strip_prefix(folder).unwrap().display().to_string();
                let content = fs::read_to_string(&path).unwrap_or_default();
                found.push(if content.is_empty() {
                    below
                } else {
                    format!("{below}: {content}")
                });
                if path.is_dir() {
                    left.push(path);
                }
            }
        }
        found.sort();
        found
    }
}
