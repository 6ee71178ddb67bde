//! What somebody else can do to a person: with a repository, a text, a file, a name.
//! SECURITY.md has the table.

mod bytes;
mod clone;
mod damage;
mod found;
mod git;
mod holding;
mod kept;
mod links;
mod planted;
mod reviewer;
mod secrets;
mod settings;
pub(crate) mod shells;
mod supply;
mod terminal;
mod transcripts;
mod trust;
mod verdict_outputs;
mod verdicts;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Is there a process with this id that has not ended? A zombie has ended.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, fields)| &fields[..1]);
    state.is_some_and(|state| state != "Z")
}

/// Everything below a folder: files with their bytes, symlinks with their targets.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                left.push(path.clone());
                found.insert(path, b"folder".to_vec());
            } else if meta.is_file() {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, bytes);
            } else if meta.is_symlink() {
                let to = fs::read_link(&path).unwrap();
                found.insert(path, to.into_os_string().into_encoded_bytes());
            }
        }
    }
    found
}
