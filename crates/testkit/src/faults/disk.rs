//! What a process did to the disk, read from its trace, and what a power loss may leave of it:
//! everything that was not synced may be there, missing, torn or zero.

mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::tree::{Node, Tree};

/// A file, whatever its name.
type Inode = usize;

/// One operation of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Op {
    Name {
        path: PathBuf,
        file: Inode,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    /// Exchanges two files.
    Exchange {
        one: PathBuf,
        other: PathBuf,
    },
    Unlink(PathBuf),
    Folder(PathBuf),
    /// Truncates the file to this length.
    Cut {
        file: Inode,
        length: usize,
    },
    Write {
        file: Inode,
        at: usize,
        bytes: Vec<u8>,
    },
    SyncFile(Inode),
    SyncFolder(PathBuf),
    SyncAll,
    /// The process printed something.
    Say,
}

/// The initial tree, and all operations on it.
#[derive(Debug)]
pub(super) struct Story {
    base: Tree,
    /// The initial files, by name.
    names: BTreeMap<PathBuf, Inode>,
    contents: Vec<Vec<u8>>,
    pub(super) ops: Vec<Op>,
}

impl Story {
    /// Starts with the world as it was, below this root.
    pub(super) fn new(base: &Tree) -> Self {
        let mut story = Self {
            base: base.clone(),
            names: BTreeMap::new(),
            contents: Vec::new(),
            ops: Vec::new(),
        };
        for (path, node) in &base.nodes {
            if let Node::File { bytes, .. } = node {
                story.names.insert(path.clone(), story.contents.len());
                story.contents.push(bytes.clone());
            }
        }
        story
    }

    /// Names and lengths after all operations so far.
    fn view(&self) -> View {
        let mut view = View {
            names: self.names.clone(),
            folders: BTreeSet::new(),
            lengths: BTreeMap::new(),
        };
        for (path, node) in &self.base.nodes {
            if let Node::Dir { .. } = node {
                view.folders.insert(path.clone());
            }
        }
        let all = self.after(self.ops.len(), &|_| true, &|_| Data::Kept);
        for (path, node) in &all.nodes {
            if let Node::Dir { .. } = node {
                view.folders.insert(path.clone());
            }
        }
        let mut names = self.names.clone();
        let mut contents = self.contents.clone();
        for op in &self.ops {
            match op {
                Op::Name { path, file } => drop(names.insert(path.clone(), *file)),
                Op::Rename { from, to } => {
                    if let Some(file) = names.remove(from) {
                        names.insert(to.clone(), file);
                    }
                }
                Op::Exchange { one, other } => exchange(&mut names, one, other),
                Op::Unlink(path) => drop(names.remove(path)),
                Op::Cut { file, length } => contents[*file].resize(*length, 0),
                Op::Write { file, at, bytes } => put(&mut contents[*file], *at, bytes),
                Op::Folder(_) | Op::SyncFile(_) | Op::SyncFolder(_) | Op::SyncAll | Op::Say => {}
            }
        }
        view.names = names;
        view.lengths = contents
            .iter()
            .enumerate()
            .map(|(file, bytes)| (file, bytes.len()))
            .collect();
        view
    }

    /// Which of the first `count` operations are not certainly on the disk: changes of folders by
    /// their number, and files with unsynced data.
    pub(super) fn pending(&self, count: usize) -> (Vec<usize>, Vec<Inode>) {
        let mut names = Vec::new();
        let mut files = BTreeSet::new();
        for (at, op) in self.ops[..count].iter().enumerate() {
            let later = &self.ops[at + 1..count];
            let synced = |folder: &Path| {
                later.iter().any(|op| {
                    *op == Op::SyncAll || matches!(op, Op::SyncFolder(path) if path == folder)
                })
            };
            match op {
                Op::Name { path, .. } | Op::Unlink(path) | Op::Folder(path) => {
                    if !synced(path.parent().unwrap_or(Path::new(""))) {
                        names.push(at);
                    }
                }
                Op::Rename { to, .. } | Op::Exchange { other: to, .. } => {
                    if !synced(to.parent().unwrap_or(Path::new(""))) {
                        names.push(at);
                    }
                }
                Op::Cut { file, .. } | Op::Write { file, .. } => {
                    let sync = |op: &Op| *op == Op::SyncAll || *op == Op::SyncFile(*file);
                    if !later.iter().any(sync) {
                        files.insert(*file);
                    }
                }
                Op::SyncFile(_) | Op::SyncFolder(_) | Op::SyncAll | Op::Say => {}
            }
        }
        (names, files.into_iter().collect())
    }

    /// How often something was printed by then.
    pub(super) fn said(&self, count: usize) -> usize {
        let said = self.ops[..count].iter().filter(|op| **op == Op::Say);
        said.count()
    }

    /// The disk after a power loss at that moment, with these changes of folders and this much of
    /// the unsynced data.
    pub(super) fn after(
        &self,
        count: usize,
        kept: &dyn Fn(usize) -> bool,
        data: &dyn Fn(Inode) -> Data,
    ) -> Tree {
        let mut names = self.names.clone();
        let mut seen = self.names.clone();
        let mut tree = self.base.clone();
        tree.nodes
            .retain(|_, node| !matches!(node, Node::File { .. }));
        for (at, op) in self.ops[..count].iter().enumerate() {
            let moved = moved(&mut seen, op);
            if !kept(at) {
                continue;
            }
            match op {
                Op::Name { path, file } => drop(names.insert(path.clone(), *file)),
                Op::Rename { from, to } => {
                    names.remove(from);
                    names.extend(moved.0.map(|file| (to.clone(), file)));
                }
                Op::Exchange { one, other } => {
                    names.extend(moved.0.map(|file| (other.clone(), file)));
                    names.extend(moved.1.map(|file| (one.clone(), file)));
                }
                Op::Unlink(path) => {
                    names.remove(path);
                    tree.nodes.remove(path);
                }
                Op::Folder(path) => {
                    tree.nodes.insert(path.clone(), Node::Dir { mode: 0o700 });
                }
                _ => {}
            }
        }
        for (path, file) in names {
            let bytes = self.bytes(count, file, data(file));
            let (mode, changed) = match self.base.nodes.get(&path) {
                Some(Node::File { mode, changed, .. }) => (*mode, *changed),
                _ => (0o600, UNIX_EPOCH),
            };
            let node = Node::File {
                mode,
                changed,
                bytes,
            };
            tree.nodes.insert(path, node);
        }
        remove_orphans(&mut tree);
        tree
    }

    fn bytes(&self, count: usize, file: Inode, data: Data) -> Vec<u8> {
        let ops: Vec<&Op> = self.ops[..count]
            .iter()
            .filter(|op| match op {
                Op::Cut { file: of, .. } | Op::Write { file: of, .. } | Op::SyncFile(of) => {
                    *of == file
                }
                Op::SyncAll => true,
                _ => false,
            })
            .collect();
        let synced = ops
            .iter()
            .rposition(|op| matches!(op, Op::SyncFile(_) | Op::SyncAll))
            .map_or(0, |at| at + 1);
        let mut bytes = self.contents[file].clone();
        for op in &ops[..synced] {
            apply(&mut bytes, op);
        }
        let durable = bytes.clone();
        for op in &ops[synced..] {
            apply(&mut bytes, op);
        }
        // What follows the common beginning was not synced.
        let same = durable
            .iter()
            .zip(&bytes)
            .take_while(|(a, b)| a == b)
            .count();
        match data {
            Data::Kept => bytes,
            Data::Lost => durable,
            Data::Torn => {
                bytes.truncate(same + (bytes.len() - same) / 2);
                bytes
            }
            Data::Zero => {
                bytes[same..].fill(0);
                bytes
            }
        }
    }
}

/// What happened to unsynced data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    Kept,
    Lost,
    /// The first half is there.
    Torn,
    /// The length is right, but the bytes are zero.
    Zero,
}

struct View {
    names: BTreeMap<PathBuf, Inode>,
    folders: BTreeSet<PathBuf>,
    lengths: BTreeMap<Inode, usize>,
}

fn apply(bytes: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Cut { length, .. } => bytes.resize(*length, 0),
        Op::Write { at, bytes: new, .. } => put(bytes, *at, new),
        _ => {}
    }
}

/// Applies a change of names to `seen`. Returns the files that a rename or an exchange moves,
/// by their names at the time, even if the power loss takes those names.
fn moved(seen: &mut BTreeMap<PathBuf, Inode>, op: &Op) -> (Option<Inode>, Option<Inode>) {
    match op {
        Op::Exchange { one, other } => {
            let files = (seen.get(one).copied(), seen.get(other).copied());
            exchange(seen, one, other);
            files
        }
        Op::Rename { from, to } => {
            let file = seen.remove(from);
            seen.extend(file.map(|file| (to.clone(), file)));
            (file, None)
        }
        Op::Name { path, file } => {
            seen.insert(path.clone(), *file);
            (None, None)
        }
        Op::Unlink(path) => {
            seen.remove(path);
            (None, None)
        }
        _ => (None, None),
    }
}

/// A file in a folder that was lost is lost too.
fn remove_orphans(tree: &mut Tree) {
    let folders: BTreeSet<PathBuf> = tree
        .nodes
        .iter()
        .filter(|(_, node)| matches!(node, Node::Dir { .. }))
        .map(|(path, _)| path.clone())
        .collect();
    tree.nodes.retain(|path, _| {
        let mut above = path.ancestors().skip(1);
        above.all(|folder| folder.as_os_str().is_empty() || folders.contains(folder))
    });
}

fn exchange(names: &mut BTreeMap<PathBuf, Inode>, one: &Path, other: &Path) {
    let (first, second) = (names.remove(one), names.remove(other));
    for (path, file) in [(other, first), (one, second)] {
        if let Some(file) = file {
            names.insert(path.to_owned(), file);
        }
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    if bytes.len() < at + new.len() {
        bytes.resize(at + new.len(), 0);
    }
    bytes[at..at + new.len()].copy_from_slice(new);
}
