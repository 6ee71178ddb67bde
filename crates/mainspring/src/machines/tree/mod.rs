//! The files of a tree and their contents, as they are on the disk: tracked or not, staged or not.
//! A check's key and a review's subject are made from them.

mod index;
mod patient;
pub(crate) mod pattern;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_platform::path::{bytes, from_bytes, of_bytes};
use mainspring_platform::stamp::{Folder, Kind, Stamp};
use mainspring_platform::{file, no_symlink, path, stamp};
use mainspring_store::{ShownPath as _, Trouble, digest, path_text};

use self::index::{ContentDigest, Index};
use self::patient::Patient;
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::env::Environment;
use crate::git::Git;
use crate::hosts;
use crate::path_contains::path_contains;

/// What no check depends on, unless it says so: the state of agents and their tools.
const NO_INPUTS: [&str; 3] = [".taskie/", ".agent-claim.json", ".mainspring-off"];

/// For git, to list the files of a large tree.
const LIST_LIMIT: Duration = Duration::from_secs(50);
/// How many repositories in the repository are looked into.
const MOST_NESTED: usize = 64;
/// How many entries of a folder without git are looked at.
const MOST_ENTRIES: usize = 200_000;
/// How deep folders may be.
const DEEPEST: usize = 64;

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeFile {
    /// Relative to the tree.
    pub(crate) path: Vec<u8>,
    /// What it is.
    pub(crate) kind: u8,
    pub(crate) content: ContentDigest,
    /// When it was last written, and what a link leads to: they move even if the content comes
    /// back.
    pub(crate) stamps: Vec<Stamp>,
}

/// The files of a tree, in the order of their paths.
pub(crate) type Files = Vec<TreeFile>;

/// What a tree holds.
#[derive(Debug)]
pub(crate) struct TreeContents {
    pub(crate) files: Files,
    /// The ignore files: they decide what else counts, wherever the inputs are.
    pub(crate) rules: Files,
}

/// A checkout. It needs no context, so that checks can run side by side over it.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    git: Git,
    /// Its folder.
    pub(crate) dir: PathBuf,
    /// Our own index of it.
    index: PathBuf,
    pub(crate) env: Environment,
}

/// What is known while a tree is read.
struct TreeScan<'a> {
    /// The patterns of each check.
    wanted: &'a [&'a [String]],
    index: Index,
    files: Files,
    rules: Files,
    /// How many repositories were found in the repository.
    nested: usize,
    /// The folder of the last path, open: one look at a name in it costs less than a whole path.
    folder: (Vec<u8>, Option<Folder>),
}

/// Does a check with these patterns depend on this file?
pub(crate) fn is_input(inputs: &[String], path: &[u8]) -> bool {
    if inputs.is_empty() {
        let mut others = NO_INPUTS.into_iter().chain(hosts::folders());
        return !others.any(|one| {
            let name = one.as_bytes();
            path == name || (one.ends_with('/') && path.starts_with(name))
        });
    }
    inputs.iter().any(|one| {
        let one = named(one);
        let is_below = || {
            let below = path.strip_prefix(one.as_bytes());
            pattern::is_plain(one) && below.is_some_and(|below| below.starts_with(b"/"))
        };
        pattern::matches(one, path) || is_below()
    })
}

/// A pattern as git writes paths: a folder is named as `src`, `src/` or `./src`.
fn named(pattern: &str) -> &str {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    pattern.strip_suffix('/').unwrap_or(pattern)
}

impl Tree {
    /// The worktree of the project that the event is in.
    pub(crate) fn here(context: &EventContext<'_>, permit: &Permit) -> Result<Self, Trouble> {
        Self::at(context, permit, context.project.worktree.clone())
    }

    /// Another checkout of the project.
    pub(crate) fn at(
        context: &EventContext<'_>,
        permit: &Permit,
        dir: PathBuf,
    ) -> Result<Self, Trouble> {
        let folder = context.store.checks();
        context.store.state().create(&folder)?;
        let name = digest::of(&[path_text::to_text(&dir).as_bytes()]).0;
        let git = Git::of(context, permit.clone(), Instant::now() + LIST_LIMIT)?.in_dir(&dir);
        Ok(Self {
            git,
            dir,
            index: folder.join(format!("index-{name}")),
            env: context.env.clone(),
        })
    }

    /// Every file, but the state of agents and their tools: its name, and what it is and holds.
    pub(crate) fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let named = |file: TreeFile| {
            let name = String::from_utf8_lossy(&file.path).into_owned();
            (name, [&[file.kind][..], &file.content[..]].concat())
        };
        let contents = self.read(&[&[]])?;
        Ok(contents.files.into_iter().map(named).collect())
    }

    /// The inputs of checks with these patterns, read from the disk. A check may take longer than
    /// git: each time, git has its whole time again.
    pub(crate) fn read(&self, wanted: &[&[String]]) -> Result<TreeContents, String> {
        let git = self.git.clone().within(LIST_LIMIT);
        let timed = Self {
            git,
            ..self.clone()
        };
        timed.read_now(wanted)
    }

    fn read_now(&self, wanted: &[&[String]]) -> Result<TreeContents, String> {
        let mut reading = TreeScan {
            wanted,
            index: Index::read(&self.index),
            files: Files::new(),
            rules: Files::new(),
            nested: 0,
            folder: (b"/".to_vec(), None),
        };
        let plain = wanted.iter().copied().flatten();
        let plain = plain.map(|pattern| named(pattern));
        let plain = plain.filter(|pattern| pattern::is_plain(pattern));
        // Of a folder, git lists the files.
        let plain = plain.filter(|pattern| !self.dir.join(pattern).is_dir());
        let plain = plain.map(|pattern| pattern.as_bytes().to_vec()).collect();
        self.repository(&[], plain, &mut reading, 0)?;
        // Without it, the files are read again the next time.
        let _ = reading.index.write(&self.index);
        let mut files = reading.files;
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let rules = reading.rules;
        Ok(TreeContents { files, rules })
    }

    /// Reads the files of one repository: that of the tree, or one below it.
    fn repository(
        &self,
        prefix: &[u8],
        mut names: Vec<Vec<u8>>,
        reading: &mut TreeScan<'_>,
        depth: usize,
    ) -> Result<(), String> {
        names.extend(self.list(prefix)?);
        names.sort_unstable();
        names.dedup();
        self.ignore_files(prefix, &names, reading)?;
        for name in names {
            // Another repository is listed with a slash at its end.
            let name = name.strip_suffix(b"/").unwrap_or(&name);
            let path = [prefix, name].concat();
            let shown = || of_bytes(&path).shown();
            let cannot = |error: io::Error| format!("cannot read {}: {error}", shown());
            let Some(stamp) = self.stamp(&path, reading).map_err(cannot)? else {
                continue;
            };
            if stamp.kind == Kind::Folder {
                reading.nested += 1;
                if reading.nested > MOST_NESTED || depth >= DEEPEST {
                    return Err("there are too many repositories in this one".into());
                }
                let below = [path.as_slice(), b"/"].concat();
                self.repository(&below, Vec::new(), reading, depth + 1)?;
                continue;
            }
            let known = reading.index.content(&path, &stamp);
            if !reading.wanted.iter().any(|inputs| is_input(inputs, &path)) {
                continue;
            }
            let index = &mut reading.index;
            let input = self.input(&path, stamp, known, index).map_err(cannot)?;
            reading.files.push(input);
        }
        Ok(())
    }

    /// Reads the ignore file of every folder that a listed file is in. One may ignore itself, so no
    /// list has it.
    fn ignore_files(
        &self,
        prefix: &[u8],
        names: &[Vec<u8>],
        reading: &mut TreeScan<'_>,
    ) -> Result<(), String> {
        let mut folders = BTreeSet::from([&[][..]]);
        for name in names {
            let mut rest = name.as_slice();
            while let Some(cut) = rest.iter().rposition(|byte| *byte == b'/') {
                rest = &rest[..cut];
                // Those above it are known, too.
                if !folders.insert(rest) {
                    break;
                }
            }
        }
        for folder in folders {
            let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
            let path = [prefix, folder, slash, IGNORE_FILE.as_bytes()].concat();
            let cannot =
                |error: io::Error| format!("cannot read {}: {error}", of_bytes(&path).shown());
            let found = stamp::of(&self.dir.join(of_bytes(&path))).map_err(cannot)?;
            let Some(stamp) = found.filter(|stamp| stamp.kind != Kind::Folder) else {
                continue;
            };
            let known = reading.index.content(&path, &stamp);
            let input = self.input(&path, stamp, known, &mut reading.index);
            reading.rules.push(input.map_err(cannot)?);
        }
        Ok(())
    }

    /// The names of the files below this folder.
    fn list(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let dir = if prefix.is_empty() {
            self.dir.clone()
        } else {
            self.dir.join(of_bytes(prefix))
        };
        let is_repository = prefix.is_empty() || fs::symlink_metadata(dir.join(".git")).is_ok();
        if is_repository {
            let listed = self.git.clone().in_dir(&dir).files()?;
            if let Some(below) = listed {
                return Ok(below);
            }
        }
        let mut found = Vec::new();
        walk(&dir, &mut found, DEEPEST).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|path| bytes(path).to_vec()).collect())
    }

    /// What is at this path; `None` if there is nothing.
    fn stamp(&self, path: &[u8], reading: &mut TreeScan<'_>) -> io::Result<Option<Stamp>> {
        let cut = path.iter().rposition(|byte| *byte == b'/');
        let (folder, name) = match cut {
            Some(cut) => (&path[..cut], &path[cut + 1..]),
            None => (&path[..0], path),
        };
        if reading.folder.0 != folder {
            let opened = Folder::open(&self.dir.join(of_bytes(folder)))?;
            reading.folder = (folder.to_vec(), opened);
        }
        match &reading.folder.1 {
            Some(folder) => folder.stamp(of_bytes(name)),
            None => Ok(None),
        }
    }

    /// What a file is, and its content.
    fn input(
        &self,
        path: &[u8],
        stamp: Stamp,
        known: Option<ContentDigest>,
        index: &mut Index,
    ) -> io::Result<TreeFile> {
        let full = || self.dir.join(of_bytes(path));
        let mut stamps = vec![stamp];
        let kind = match stamp.kind {
            Kind::File => b'f',
            Kind::Executable => b'x',
            Kind::Symlink => b'l',
            Kind::Folder | Kind::Other => return Err(io::Error::other(NO_FILE)),
        };
        let content = match known {
            _ if kind == b'l' => self.link(&full(), &mut stamps)?,
            Some(content) => content,
            None => {
                let read = self.env.later();
                let content = self.digest(&full())?;
                index.learn(path, stamp, content, read);
                content
            }
        };
        Ok(TreeFile {
            path: path.to_vec(),
            kind,
            content,
            stamps,
        })
    }

    fn digest(&self, path: &Path) -> io::Result<ContentDigest> {
        digest::of_reader(Patient::new(file::open(path)?, &self.git))
    }

    /// A link is its target's name, and what is there. A folder of the tree itself counts by its
    /// own files.
    fn link(&self, path: &Path, stamps: &mut Vec<Stamp>) -> io::Result<ContentDigest> {
        let target = fs::read_link(path)?;
        let mut seen = bytes(&target).to_vec();
        if let Ok(real) = path::real(path)
            && !(real.is_dir() && path_contains(&real, &self.dir))
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
                // Behind a link there may be another.
                if let Ok(one) = path::real(&one)
                    && one.is_file()
                {
                    stamps.extend(stamp::of(&one)?);
                    seen.extend_from_slice(&self.digest(&one)?);
                }
            }
        }
        digest::of_reader(seen.as_slice())
    }
}

/// The name of the files that say what git ignores.
const IGNORE_FILE: &str = ".gitignore";

/// A pipe, a socket or a device has no content that a key could have.
const NO_FILE: &str = "it is no regular file";

/// Every file below a folder without git, by its path relative to the folder.
fn walk(top: &Path, found: &mut Vec<PathBuf>, deepest: usize) -> io::Result<()> {
    let mut folders = vec![(PathBuf::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in no_symlink::list(&top.join(&folder), MOST_ENTRIES)? {
            let path = below(&folder, &entry.name);
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

/// A path as git writes it, on every system.
fn below(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = bytes(folder).to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(bytes(Path::new(name)));
    from_bytes(path)
}

/// The digest of these files, and of what decides which files count.
pub(crate) fn digest_of<'a>(files: impl Iterator<Item = &'a TreeFile>, rules: &Files) -> String {
    let mut all = Vec::new();
    let mut add = |input: &TreeFile, kind: u8| {
        all.extend_from_slice(&(input.path.len() as u64).to_le_bytes());
        all.extend_from_slice(&input.path);
        all.push(kind);
        all.extend_from_slice(&input.content);
    };
    for input in files {
        add(input, input.kind);
    }
    for rule in rules {
        add(rule, b'r');
    }
    digest::of(&[&all]).0
}

/// The files whose content differs, or that only one of the two has.
pub(crate) fn differences(before: &Files, after: &Files) -> Vec<String> {
    let same =
        |one: &TreeFile, other: &TreeFile| one.kind == other.kind && one.content == other.content;
    unlike(before, after, same)
}

/// The files that were written since, whatever their content is.
pub(crate) fn moved(before: &Files, after: &Files) -> Vec<String> {
    unlike(before, after, |one, other| one.stamps == other.stamps)
}

fn unlike(
    before: &Files,
    after: &Files,
    same: impl Fn(&TreeFile, &TreeFile) -> bool,
) -> Vec<String> {
    let of = |files: &'_ Files, path: &[u8]| {
        let at = files.binary_search_by(|input| input.path.as_slice().cmp(path));
        at.ok()
    };
    let changed = after
        .iter()
        .filter(|input| of(before, &input.path).is_none_or(|at| !same(&before[at], input)));
    let gone = before
        .iter()
        .filter(|input| of(after, &input.path).is_none());
    let mut paths: Vec<&Vec<u8>> = changed.chain(gone).map(|input| &input.path).collect();
    paths.sort_unstable();
    paths
        .into_iter()
        .map(|name| of_bytes(name).to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;

    use super::*;
    use crate::config::Config;

    /// The key is taken once more after the check, and a check may take longer than git may.
    #[test]
    fn each_key_is_taken_with_the_whole_time_for_git() {
        let temp = tempfile::tempdir().unwrap();
        let dir = path::real(temp.path()).unwrap();
        let env = Environment::given(&[("PATH", "/usr/bin:/bin")], Millis(0));
        let config = Config::of_user(&env).unwrap();
        let over = Instant::now();
        let git = Git::new(Permit::for_test(), &env, &config, &dir, over).unwrap();
        git.clone().within(LIST_LIMIT).init(None).unwrap();
        mainspring_store::atomic::replace(&dir.join("a"), b"").unwrap();
        let tree = Tree {
            git,
            index: dir.join(".git/mainspring-index"),
            dir,
            env,
        };
        let files = tree.files().unwrap();
        assert_eq!(files.len(), 1);
    }
}
