//! Our own index of a tree: for each file its stamp and the digest of its content, so that a file
//! that has not changed is not read again. It is outside the repository, and the repository's own
//! index is never written, nor believed about contents.

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

pub(super) type ContentDigest = [u8; 16];

#[derive(Debug, Default)]
pub(super) struct Index {
    /// What was read before, in the order of names.
    known: Vec<Known>,
    /// What was read now.
    learned: Vec<Indexed>,
    /// Names are asked for in order, mostly: where the next one may be.
    next: usize,
}

#[derive(Debug)]
struct Known {
    entry: Indexed,
    /// Was it asked for? One whose file is gone is not written again.
    seen: bool,
}

#[derive(Debug)]
struct Indexed {
    name: Vec<u8>,
    stamp: Stamp,
    content: ContentDigest,
}

impl Index {
    /// One that is missing or damaged knows nothing.
    pub(super) fn read(path: &Path) -> Self {
        let bytes = atomic::read(path, LIMIT).ok().flatten();
        Self {
            known: bytes.and_then(|bytes| parse(&bytes)).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// The content of a file with this stamp, if it was read before.
    pub(super) fn content(&mut self, path: &[u8], stamp: &Stamp) -> Option<ContentDigest> {
        let is_here = |at: usize| self.known.get(at).is_some_and(|it| it.entry.name == path);
        let at = if is_here(self.next) {
            self.next
        } else {
            let by_name = |known: &Known| known.entry.name.as_slice().cmp(path);
            self.known.binary_search_by(by_name).ok()?
        };
        self.next = at + 1;
        let known = &mut self.known[at];
        known.seen = true;
        (known.entry.stamp == *stamp).then_some(known.entry.content)
    }

    /// Remembers a file that was read at this time.
    pub(super) fn learn(
        &mut self,
        path: &[u8],
        stamp: Stamp,
        content: ContentDigest,
        read: Millis,
    ) {
        let read = i64::try_from(read.0.saturating_mul(1_000_000)).unwrap_or(0);
        if stamp.changed.saturating_add(STEP) < read {
            self.learned.push(Indexed {
                name: path.to_vec(),
                stamp,
                content,
            });
        }
    }

    /// Writes what is known now, if anything was learned.
    pub(super) fn write(self, path: &Path) -> Result<(), Trouble> {
        if self.learned.is_empty() {
            return Ok(());
        }
        let kept = self.known.into_iter().filter(|known| known.seen);
        let mut all: Vec<Indexed> = self.learned;
        all.extend(kept.map(|known| known.entry));
        // Of two with one name, the one that was learned now is first, and stays.
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.dedup_by(|later, first| later.name == first.name);
        let mut body = Vec::with_capacity(all.len() * 120);
        for Indexed {
            name,
            stamp,
            content,
        } in &all
        {
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

fn parse(bytes: &[u8]) -> Option<Vec<Known>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, mut body) = rest.split_at_checked(SUM)?;
    if digest::of(&[body]).0.as_bytes() != sum {
        return None;
    }
    let mut known = Vec::with_capacity(body.len() / 80);
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
        let entry = Indexed {
            name: name.to_vec(),
            stamp,
            content: take(&mut body)?,
        };
        known.push(Known { entry, seen: false });
    }
    let in_order = known.is_sorted_by(|a, b| a.entry.name < b.entry.name);
    in_order.then_some(known)
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
    fn what_is_gone_is_forgotten_and_what_is_learned_anew_counts() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let mut index = Index::default();
        for name in [b"c", b"a", b"b"] {
            index.learn(name, stamp(5), [1; 16], Millis(60_000));
        }
        index.write(&path).unwrap();
        let mut index = Index::read(&path);
        for name in [b"b", b"a"] {
            assert_eq!(index.content(name, &stamp(5)), Some([1; 16]));
        }
        index.learn(b"a", stamp(6), [2; 16], Millis(60_000));
        index.write(&path).unwrap();
        let mut index = Index::read(&path);
        assert_eq!(index.content(b"a", &stamp(6)), Some([2; 16]));
        assert_eq!(index.content(b"b", &stamp(5)), Some([1; 16]));
        assert_eq!(index.content(b"c", &stamp(5)), None);
    }

    #[test]
    fn a_file_that_changed_a_moment_ago_is_read_again() {
        let now = Millis(60_000);
        for (changed, kept) in [(59_000, false), (57_999, true), (61_000, false)] {
            let mut index = Index::default();
            let stamp = stamp(changed * 1_000_000);
            index.learn(b"a", stamp, [1; 16], now);
            assert_eq!(!index.learned.is_empty(), kept, "{changed}");
        }
    }
}
