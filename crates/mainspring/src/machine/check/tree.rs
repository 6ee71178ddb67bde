//! The files of a tree and their contents, as they are on the disk: tracked or not, staged or not.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mainspring_platform::path::{bytes, from_bytes, of_bytes};
use mainspring_platform::stamp::{self, Kind};
use mainspring_platform::{file, no_symlink};
use mainspring_store::digest;

use super::index::{Content, Index};
use super::pattern;
use crate::env::Environment;
use crate::git::Git;
use crate::host;
use crate::path_contains::path_contains;

/// What no check depends on, unless it says so: the state of agents and their tools.
const NO_INPUTS: [&str; 3] = [".taskie/", ".agent-claim.json", ".mainspring-off"];

/// How many repositories in the repository are looked into.
const MOST_NESTED: usize = 64;
/// How many entries of a folder without git are looked at.
const MOST_ENTRIES: usize = 200_000;
/// How deep folders may be.
const DEEPEST: usize = 64;

/// Each file by its path, relative to the tree, with what it is and contains.
pub(super) type Files = BTreeMap<Vec<u8>, (u8, Content)>;

pub(super) struct Tree<'a> {
    pub(super) git: &'a Git,
    pub(super) dir: &'a Path,
    pub(super) index: &'a Path,
    pub(super) env: &'a Environment,
}

/// Does a check with these patterns depend on this file?
pub(super) fn is_input(inputs: &[String], path: &[u8]) -> bool {
    if inputs.is_empty() {
        let mut others = NO_INPUTS.into_iter().chain(host::folders());
        return !others.any(|one| {
            let name = one.as_bytes();
            path == name || (one.ends_with('/') && path.starts_with(name))
        });
    }
    inputs.iter().any(|one| pattern::matches(one, path))
}

impl Tree<'_> {
    /// The inputs of checks with these patterns, read from the disk.
    pub(super) fn read(&self, wanted: &[&[String]]) -> Result<Files, String> {
        let mut paths = Vec::new();
        let mut nested = 0;
        self.list(self.dir, &mut paths, &mut nested, 0)?;
        for pattern in wanted.iter().copied().flatten() {
            if pattern::is_plain(pattern) {
                paths.push(PathBuf::from(pattern));
            }
        }
        paths.sort_unstable();
        paths.dedup();
        let mut index = Index::read(self.index);
        let mut files = Files::new();
        let mut learned = false;
        for path in paths {
            let name = bytes(&path);
            if !wanted.iter().any(|inputs| is_input(inputs, name)) {
                continue;
            }
            let found = self
                .content(&path, &mut index, &mut learned)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            if let Some(found) = found {
                files.insert(name.to_vec(), found);
            }
        }
        if learned {
            // Without it, the files are read again the next time.
            let _ = index.write(self.index);
        }
        Ok(files)
    }

    /// The paths below this folder, relative to the tree.
    fn list(
        &self,
        dir: &Path,
        paths: &mut Vec<PathBuf>,
        nested: &mut usize,
        depth: usize,
    ) -> Result<(), String> {
        let is_repository = dir == self.dir || fs::symlink_metadata(dir.join(".git")).is_ok();
        let listed = if is_repository {
            self.git.clone().in_dir(dir).files()
        } else {
            Err(NO_REPOSITORY.into())
        };
        let below = match listed {
            Ok(below) => below,
            Err(cause) if cause.contains(NO_REPOSITORY) => {
                let mut found = Vec::new();
                walk(dir, &mut found, DEEPEST).map_err(|error| error.to_string())?;
                found
            }
            Err(cause) => return Err(cause),
        };
        for name in below {
            // Another repository is listed with a slash at its end.
            let plain = bytes(&name).strip_suffix(b"/").unwrap_or(bytes(&name));
            let full = dir.join(of_bytes(plain));
            let stamp = stamp::of(&full).map_err(|error| error.to_string())?;
            if stamp.is_some_and(|stamp| stamp.kind == Kind::Folder) {
                *nested += 1;
                if *nested > MOST_NESTED || depth >= DEEPEST {
                    return Err("there are too many repositories in this one".into());
                }
                self.list(&full, paths, nested, depth + 1)?;
            } else if let Ok(relative) = full.strip_prefix(self.dir) {
                paths.push(relative.to_owned());
            }
        }
        Ok(())
    }

    /// What is at this path; `None` if there is nothing.
    fn content(
        &self,
        path: &Path,
        index: &mut Index,
        learned: &mut bool,
    ) -> io::Result<Option<(u8, Content)>> {
        let full = self.dir.join(path);
        let Some(stamp) = stamp::of(&full)? else {
            return Ok(None);
        };
        let kind = match stamp.kind {
            Kind::File => b'f',
            Kind::Executable => b'x',
            Kind::Symlink => return self.link(&full).map(|content| Some((b'l', content))),
            Kind::Folder => return Ok(None),
            Kind::Other => return Ok(Some((b'o', [0; 16]))),
        };
        if let Some(content) = index.content(bytes(path), &stamp) {
            return Ok(Some((kind, content)));
        }
        let read = self.env.later();
        let content = digest::of_reader(file::open(&full)?)?;
        index.learn(bytes(path), stamp, content, read);
        *learned = true;
        Ok(Some((kind, content)))
    }

    /// A link is its target's name, and, where it leads out of the tree, what is there.
    fn link(&self, path: &Path) -> io::Result<Content> {
        let target = fs::read_link(path)?;
        let mut seen = bytes(&target).to_vec();
        if let Ok(real) = fs::canonicalize(path)
            && !path_contains(&real, self.dir)
        {
            let mut below = Vec::new();
            if real.is_dir() {
                walk(&real, &mut below, DEEPEST)?;
                below.sort_unstable();
            } else {
                below.push(PathBuf::new());
            }
            for name in below {
                seen.extend_from_slice(bytes(&name));
                // Joining nothing would add a slash.
                let one = if name.as_os_str().is_empty() {
                    real.clone()
                } else {
                    real.join(&name)
                };
                if let Ok(Some(stamp)) = stamp::of(&one)
                    && matches!(stamp.kind, Kind::File | Kind::Executable)
                {
                    seen.extend_from_slice(&digest::of_reader(file::open(&one)?)?);
                }
            }
        }
        digest::of_reader(seen.as_slice())
    }
}

/// What git says outside of a repository.
const NO_REPOSITORY: &str = "not a git repository";

/// Every file below a folder without git, by its path relative to the folder.
fn walk(top: &Path, found: &mut Vec<PathBuf>, deepest: usize) -> io::Result<()> {
    let mut folders = vec![(PathBuf::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in no_symlink::list(&top.join(&folder), MOST_ENTRIES)? {
            let path = folder.join(from_bytes(entry.name.as_encoded_bytes().to_vec()));
            if entry.is_folder && entry.name != ".git" && depth < deepest {
                folders.push((path, depth + 1));
            } else if !entry.is_folder {
                found.push(path);
            }
            if found.len() + folders.len() > MOST_ENTRIES {
                return Err(io::Error::other("there are too many files"));
            }
        }
    }
    Ok(())
}

/// The digest of these files.
pub(super) fn digest_of<'a>(
    files: impl Iterator<Item = (&'a Vec<u8>, &'a (u8, Content))>,
) -> String {
    let mut all = Vec::new();
    for (path, (kind, content)) in files {
        all.extend_from_slice(&(path.len() as u64).to_le_bytes());
        all.extend_from_slice(path);
        all.push(*kind);
        all.extend_from_slice(content);
    }
    digest::of(&[&all]).0
}
