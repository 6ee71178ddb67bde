//! Files of a project, reached without following any symlink.
//!
//! A project's path is already resolved, so a symlink on the way to one of its files came with the
//! repository, and may lead anywhere. The kernel refuses it in one step, so that nobody can create
//! one between a check and a use. Files are written through a handle of their folder.

use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::path::Path;

use mainspring_platform::file::is_symlink_error;
use mainspring_platform::no_symlink::{self, Entry, Folder};

use crate::Trouble;
use crate::contents::{ReadFile, temp_path, whole, write_contents};

/// The whole file, if it has at most `limit` bytes; `None` if there is none.
pub fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Trouble> {
    Ok(look(path, limit)?.map(|seen| seen.bytes))
}

pub(crate) fn look(path: &Path, limit: u64) -> Result<Option<ReadFile>, Trouble> {
    match no_symlink::open(path) {
        Ok(file) => whole(&file, path, limit).map(Some),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(trouble("open", path)(error)),
    }
}

/// The entries of a folder, at most `most`; none if the folder is missing.
pub fn list(folder: &Path, most: usize) -> Result<Vec<Entry>, Trouble> {
    match no_symlink::list(folder, most) {
        Ok(found) => Ok(found),
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        Err(error) => Err(trouble("look into", folder)(error)),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Writes a temp file beside the file and renames it, as `atomic::replace` does.
pub fn replace(path: &Path, bytes: &[u8], kept: Option<&Permissions>) -> Result<(), Trouble> {
    let (folder, name) = Folder::of(path).map_err(trouble("write", path))?;
    let temp = temp_path(path);
    let temp = temp.file_name().unwrap_or_default();
    let mut file = folder.create(temp).map_err(Trouble::io("write", path))?;
    write_contents(&mut file, bytes, kept).map_err(Trouble::io("write", path))?;
    drop(file);
    folder.rename(temp, name).map_err(trouble("replace", path))
}

/// Deletes a file, if it is there.
pub fn remove(path: &Path) -> Result<(), Trouble> {
    let removed = Folder::of(path).and_then(|(folder, name)| folder.remove(name));
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(trouble("delete", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn trouble(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Trouble {
    move |error| {
        if is_symlink_error(&error) {
            let problem =
                "is reached through a symbolic link, and a project's links are not followed";
            return Trouble::Unsafe {
                path: path.into(),
                problem: problem.into(),
            };
        }
        Trouble::io(doing, path)(error)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
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

    /// Every place for a symlink × every target × every operation: nothing outside is read,
    /// written, created or deleted.
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
                    crate::atomic::replace(&place.outside.join("b/file"), b"secret").unwrap();
                    crate::atomic::replace(&place.outside.join("file"), b"secret").unwrap();
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
                        // A symlink in place of the file itself is replaced, not followed.
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

    /// Another thread replaces the folder by a symlink and back, as fast as it can, while we write.
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
                    // In one step, so that one of the two is always there.
                    let flags = rustix::fs::RenameFlags::EXCHANGE;
                    let here = rustix::fs::CWD;
                    rustix::fs::renameat_with(here, &folder, here, &link, flags).unwrap();
                }
            });
            for tried in 0..tries * 250 {
                // On a busy machine the other thread may start late.
                if tried >= tries && written > 0 && refused > 0 {
                    break;
                }
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
