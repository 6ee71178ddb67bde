//! A folder's content in memory, so that every point starts in the same world in the same folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// By path below the folder; parents come before their entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) nodes: BTreeMap<PathBuf, Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Dir {
        mode: u32,
    },
    File {
        mode: u32,
        changed: SystemTime,
        bytes: Vec<u8>,
    },
    Link(PathBuf),
}

/// What the harness stores beside a world is not part of it.
const OURS: [&str; 3] = ["event", "trace", "boot"];

impl Tree {
    pub(super) fn capture(root: &Path) -> Self {
        let mut tree = Self::default();
        for name in entries(root) {
            if !OURS.contains(&name.to_string_lossy().as_ref()) {
                tree.add(root, Path::new(&name));
            }
        }
        tree
    }

    fn add(&mut self, root: &Path, below: &Path) {
        let path = root.join(below);
        let Ok(meta) = fs::symlink_metadata(&path) else {
            return;
        };
        let mode = meta.permissions().mode() & 0o7777;
        let node = if meta.is_dir() {
            Node::Dir { mode }
        } else if meta.is_symlink() {
            Node::Link(fs::read_link(&path).expect("a link that was just there"))
        } else {
            Node::File {
                mode,
                changed: meta.modified().expect("a time"),
                bytes: fs::read(&path).expect("a file of the world's own"),
            }
        };
        let is_dir = matches!(node, Node::Dir { .. });
        self.nodes.insert(below.to_owned(), node);
        if is_dir {
            for name in entries(&path) {
                self.add(root, &below.join(name));
            }
        }
    }

    /// Equal for two trees with the same names, modes and bytes.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (path, node) in &self.nodes {
            path.hash(&mut hasher);
            match node {
                Node::Dir { mode } => (0, mode).hash(&mut hasher),
                Node::File { mode, bytes, .. } => (1, mode, bytes).hash(&mut hasher),
                Node::Link(target) => (2, target).hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// Restores the folder.
    pub(super) fn restore(&self, root: &Path) {
        for name in entries(root) {
            if !OURS.contains(&name.to_string_lossy().as_ref()) {
                remove(&root.join(name));
            }
        }
        for (below, node) in &self.nodes {
            let path = root.join(below);
            match node {
                Node::Dir { mode } => {
                    fs::create_dir(&path).expect("a folder of the world's own");
                    set_mode(&path, *mode);
                }
                Node::Link(target) => symlink(target, &path).expect("a link"),
                Node::File {
                    mode,
                    changed,
                    bytes,
                } => {
                    fs::write(&path, bytes).expect("room for a file");
                    set_mode(&path, *mode);
                    let file = File::open(&path).expect("it was just written");
                    file.set_modified(*changed).expect("a time");
                }
            }
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a thing of our own");
}

fn entries(dir: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

pub(super) fn remove(path: &Path) {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let removed = if is_dir {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
