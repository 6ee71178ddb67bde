//! Our own index of a tree: for each file its stamp and the digest of its content, so that a file
//! that has not changed is not read again. It is outside the repository, and the repository's own
//! index is never written, nor believed about contents.

use std::collections::HashMap;
use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_platform::stamp::{Kind, Stamp};
use mainspring_store::{Trouble, atomic, digest};

/// The first bytes of the file.
const MAGIC: &[u8] = b"mainspring index 1\n";
/// The digest of the rest follows.
const SUM: usize = digest::HEX;
/// The index of about half a million files.
const LIMIT: u64 = 64 << 20;

/// A file system may note times in steps as long as this. What changed so recently may change once
/// more without another stamp, so it is read again the next time.
const STEP: i64 = 2_000_000_000;

pub(super) type Content = [u8; 16];

#[derive(Debug, Default)]
pub(super) struct Index {
    known: HashMap<Vec<u8>, (Stamp, Content)>,
}

impl Index {
    /// One that is missing or damaged knows nothing.
    pub(super) fn read(path: &Path) -> Self {
        let bytes = atomic::read(path, LIMIT).ok().flatten();
        Self {
            known: bytes.and_then(|bytes| parse(&bytes)).unwrap_or_default(),
        }
    }

    /// The content of a file with this stamp, if it was read before.
    pub(super) fn content(&self, path: &[u8], stamp: &Stamp) -> Option<Content> {
        let (known, content) = self.known.get(path)?;
        (known == stamp).then_some(*content)
    }

    /// Remembers a file that was read at this time.
    pub(super) fn learn(&mut self, path: &[u8], stamp: Stamp, content: Content, read: Millis) {
        let read = i64::try_from(read.0.saturating_mul(1_000_000)).unwrap_or(0);
        if stamp.changed.saturating_add(STEP) < read {
            self.known.insert(path.to_vec(), (stamp, content));
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Trouble> {
        let mut body = Vec::with_capacity(self.known.len() * 120);
        for (name, (stamp, content)) in &self.known {
            let length = u32::try_from(name.len()).unwrap_or(0);
            body.extend_from_slice(&length.to_le_bytes());
            body.extend_from_slice(name);
            body.push(u8::from(stamp.kind == Kind::Executable));
            body.extend_from_slice(&stamp.inode.to_le_bytes());
            body.extend_from_slice(&stamp.size.to_le_bytes());
            body.extend_from_slice(&stamp.modified.to_le_bytes());
            body.extend_from_slice(&stamp.changed.to_le_bytes());
            body.extend_from_slice(content);
        }
        if body.len() as u64 > LIMIT / 2 {
            return Ok(());
        }
        let sum = digest::of(&[&body]).0;
        atomic::replace(path, &[MAGIC, sum.as_bytes(), &body].concat())
    }
}

fn parse(bytes: &[u8]) -> Option<HashMap<Vec<u8>, (Stamp, Content)>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, mut body) = rest.split_at_checked(SUM)?;
    if digest::of(&[body]).0.as_bytes() != sum {
        return None;
    }
    let mut known = HashMap::new();
    while !body.is_empty() {
        let length = usize::try_from(u32::from_le_bytes(take(&mut body)?)).ok()?;
        let (name, rest) = body.split_at_checked(length)?;
        body = rest;
        let [executable] = take::<1>(&mut body)?;
        let stamp = Stamp {
            kind: if executable == 1 {
                Kind::Executable
            } else {
                Kind::File
            },
            inode: u64::from_le_bytes(take(&mut body)?),
            size: u64::from_le_bytes(take(&mut body)?),
            modified: i64::from_le_bytes(take(&mut body)?),
            changed: i64::from_le_bytes(take(&mut body)?),
        };
        known.insert(name.to_vec(), (stamp, take(&mut body)?));
    }
    Some(known)
}

fn take<const N: usize>(body: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = body.split_first_chunk::<N>()?;
    *body = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(changed: i64) -> Stamp {
        Stamp {
            kind: Kind::File,
            inode: 7,
            size: 3,
            modified: 1,
            changed,
        }
    }

    #[test]
    fn what_was_learned_is_known_again_and_a_changed_byte_makes_it_unknown() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let mut index = Index::default();
        index.learn(b"a", stamp(5), [1; 16], Millis(60_000));
        index.write(&path).unwrap();
        assert_eq!(Index::read(&path).content(b"a", &stamp(5)), Some([1; 16]));
        assert_eq!(Index::read(&path).content(b"a", &stamp(6)), None);
        let bytes = atomic::read(&path, LIMIT).unwrap().unwrap();
        for at in 0..bytes.len() {
            let mut forged = bytes.clone();
            forged[at] ^= 1;
            atomic::replace(&path, &forged).unwrap();
            assert_eq!(Index::read(&path).content(b"a", &stamp(5)), None, "{at}");
        }
    }

    #[test]
    fn a_file_that_changed_a_moment_ago_is_read_again() {
        let now = Millis(60_000);
        for (changed, kept) in [(59_000, false), (57_999, true), (61_000, false)] {
            let mut index = Index::default();
            let stamp = stamp(changed * 1_000_000);
            index.learn(b"a", stamp, [1; 16], now);
            assert_eq!(index.content(b"a", &stamp).is_some(), kept, "{changed}");
        }
    }
}
