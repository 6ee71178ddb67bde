//! The journal's head, stored in the lock file: up to which record the journal's files are known to
//! be in place.
//!
//! It is a cache that checks itself. If the head is missing, torn, from another boot, or does not
//! fit the journal's length, the journal is read instead.

use std::fs::File;

use mainspring_platform::file::{read_at, write_all_at};

use crate::digest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The journal's length after the last record whose files are in place.
    pub(crate) size: u64,
    /// That record's number; 0 before the first.
    pub(crate) seq: u64,
    /// The checksum that the next record continues.
    pub(crate) sum: String,
    /// The boot in which it was written. After a power loss, files may be older than the head says.
    pub(crate) boot: String,
}

const LENGTH: usize = 256;

impl Head {
    pub(crate) fn empty(boot: &str) -> Self {
        Self {
            size: 0,
            seq: 0,
            sum: crate::journal::start(),
            boot: boot.into(),
        }
    }

    pub(crate) fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; LENGTH];
        let mut length = 0;
        // One read returns all of it, except on file systems that return less; a truncated head
        // would be taken for one from another boot.
        while !bytes[..length].contains(&b'\n') {
            match read_at(file, &mut bytes[length..], length as u64) {
                Ok(0) | Err(_) => return None,
                Ok(more) => length += more,
            }
        }
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        let (line, _) = text.split_once('\n')?;
        let (body, check) = line.rsplit_once(' ')?;
        if digest::of(&[body.as_bytes()]).0 != check {
            return None;
        }
        let mut words = body.split(' ');
        let head = Self {
            size: words.next()?.parse().ok()?,
            seq: words.next()?.parse().ok()?,
            sum: words.next()?.into(),
            boot: words.next()?.into(),
        };
        Some(head)
    }

    /// One write of a few bytes. If it fails, the next process reads the journal instead.
    pub(crate) fn write(&self, file: &File) {
        let body = format!("{} {} {} {}", self.size, self.seq, self.sum, self.boot);
        let check = digest::of(&[body.as_bytes()]).0;
        let _ = write_all_at(file, format!("{body} {check}\n").as_bytes(), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn a_head_is_read_back_or_not_at_all() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(Head::read(&file), None);
        let head = Head {
            size: u64::MAX,
            seq: 7,
            sum: "ab".repeat(16),
            boot: "5b1c0b5e".into(),
        };
        head.write(&file);
        assert_eq!(Head::read(&file), Some(head.clone()));
        // A shorter head over a longer one leaves an old tail, which does no harm.
        let shorter = Head::empty("b");
        shorter.write(&file);
        assert_eq!(Head::read(&file), Some(shorter));
        // Any single flipped byte is noticed.
        head.write(&file);
        let length = format!("{} ", u64::MAX).len();
        for at in 0..length {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at as u64).unwrap();
            file.write_all_at(&[byte[0] ^ 1], at as u64).unwrap();
            assert_eq!(Head::read(&file), None, "byte {at}");
            file.write_all_at(&byte, at as u64).unwrap();
        }
        file.set_len(0).unwrap();
        file.write_all(b"garbage").unwrap();
        assert_eq!(Head::read(&file), None);
    }
}
