//! The journal: one JSON object per line, each with a checksum of everything before it.
//!
//! [`line`](crate::line) has the format of a line. A line is a record if and only if its sum is
//! right, so a torn tail is not a record, whatever it looks like, and a changed byte anywhere is
//! found.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use mainspring_kernel::journal::{FORMAT, Record};
use mainspring_platform::file::{self, read_exact_at};
use mainspring_platform::{rename, sync};
use serde::Deserialize;

use crate::Trouble;
use crate::atomic;
use crate::digest;
use crate::limits;
use crate::line::{self, AFTER_SUM, BEFORE_SUM};
use crate::torn;

pub use crate::line::line;

pub const CURRENT: &str = "journal.jsonl";

/// A record with its position.
#[derive(Debug, Clone)]
pub struct Entry {
    pub record: Record,
    pub sum: String,
}

/// What a line of the journal is.
#[derive(Debug)]
pub enum JournalLine {
    Record(Box<Entry>),
    /// Not a record: torn by a crash, or changed since. It is kept, and skipped.
    Bad {
        at: u64,
        problem: String,
        shape: Shape,
    },
    /// Written by a later version.
    Newer {
        v: u32,
    },
}

/// What became of a line that is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Not all of it was written: its end is missing, or there are zeros in it.
    Torn,
    /// The same, and a line feed follows: whoever wrote next began a line of their own. If
    /// nobody did, the line feed is a changed byte.
    TornAndEnded,
    /// It has a record's end: it was whole once, and was changed since.
    Changed,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// The checksum that a journal's first record continues.
pub fn start() -> String {
    "0".repeat(digest::HEX)
}

/// Appends a line to a journal of this size, in one write, and makes it durable. If an earlier line
/// was torn, this one starts on a new line.
pub(crate) fn append(dir: &Path, size: u64, line: &[u8]) -> Result<u64, Trouble> {
    let path = dir.join(CURRENT);
    let mut file = file::options()
        .append(true)
        .read(true)
        .create(true)
        .open(&path)
        .map_err(Trouble::io("open", &path))?;
    // Something that is not a file has no last byte to read, either.
    let torn = if size == 0 {
        let meta = file.metadata().map_err(Trouble::io("look at", &path))?;
        if !meta.is_file() {
            return Err(Trouble::NotAFile { path });
        }
        false
    } else {
        !ends_with_newline(&file, size, &path)?
    };
    let text = if torn {
        Cow::Owned([b"\n", line].concat())
    } else {
        Cow::Borrowed(line)
    };
    let written = file
        .write_all(&text)
        .map_err(Trouble::io("write", &path))
        .and_then(|()| sync::data(&file).map_err(Trouble::io("sync", &path)))
        .and_then(|()| if size == 0 { sync_dir(dir) } else { Ok(()) });
    if let Err(trouble) = written {
        // A record that was refused must not be rolled forward by the next process.
        let _ = file.set_len(size);
        return Err(trouble);
    }
    Ok(size + text.len() as u64)
}

/// The name of a new file survives a power loss only if its folder is synced too, and the folder's
/// name only if the folder above is synced. The first record of a store may have created all of
/// them.
fn sync_dir(dir: &Path) -> Result<(), Trouble> {
    for (level, path) in dir.ancestors().take(OURS + ABOVE).enumerate() {
        let synced = sync::folder(path);
        // We may not be allowed to open a folder above our own.
        if level < OURS {
            synced.map_err(Trouble::io("sync", path))?;
        }
    }
    Ok(())
}

/// The store's folder and two above it, which are created for it.
const OURS: usize = 3;
/// The folders in which those are created, such as `.local/state` in a home.
const ABOVE: usize = 3;

fn ends_with_newline(file: &File, size: u64, path: &Path) -> Result<bool, Trouble> {
    let mut last = [0];
    read_exact_at(file, &mut last, size - 1).map_err(Trouble::io("read", path))?;
    Ok(last == *b"\n")
}

/// Reads a segment's lines from `offset` on.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    lines: BufReader<File>,
    at: u64,
    /// The checksum that the next record continues; `None` if it is unknown.
    previous: Option<String>,
}

impl Reader {
    pub fn open(
        path: &Path,
        offset: u64,
        previous: Option<String>,
    ) -> Result<Option<Self>, Trouble> {
        let Some(file) = atomic::open(path)? else {
            return Ok(None);
        };
        Self::of(path, file, offset, previous).map(Some)
    }

    /// A file that is already open, with its name for messages.
    pub fn of(
        path: &Path,
        mut file: File,
        offset: u64,
        previous: Option<String>,
    ) -> Result<Self, Trouble> {
        file.seek(SeekFrom::Start(offset))
            .map_err(Trouble::io("read", path))?;
        Ok(Self {
            path: path.into(),
            lines: BufReader::with_capacity(64 * 1024, file),
            at: offset,
            previous,
        })
    }

    /// Where the next line begins.
    pub const fn position(&self) -> u64 {
        self.at
    }

    fn parse(&self, bytes: &[u8], shape: Shape) -> JournalLine {
        match self.record(bytes) {
            Ok(line) => line,
            Err(problem) => JournalLine::Bad {
                at: self.at,
                problem,
                shape,
            },
        }
    }

    /// The record of a line, or what is wrong with it.
    fn record(&self, bytes: &[u8]) -> Result<JournalLine, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8")?;
        let (body, sum) = line::split(text).ok_or("torn")?;
        let (covered, contents) = line::split_contents(body);
        if let Some(previous) = &self.previous
            && digest::of(&[previous.as_bytes(), covered.as_bytes()]).0 != sum
        {
            return Err("its sum is wrong: it was torn or changed".into());
        }
        let json = format!("{covered}}}");
        let in_words = |error: serde_json::Error| error.to_string();
        let Version { v } = serde_json::from_str(&json).map_err(in_words)?;
        if v > FORMAT {
            return Ok(JournalLine::Newer { v });
        }
        let mut record: Record = serde_json::from_str(&json).map_err(in_words)?;
        if v > line::WHOLE {
            record.files = line::with_contents(record.files, contents)?;
        }
        Ok(JournalLine::Record(Box::new(Entry {
            record,
            sum: sum.into(),
        })))
    }
}

impl Iterator for Reader {
    type Item = Result<JournalLine, Trouble>;

    /// An error does not end the reading: the unreadable record may be one that must not be lost.
    fn next(&mut self) -> Option<Result<JournalLine, Trouble>> {
        let mut bytes = Vec::new();
        let mut limited = (&mut self.lines).take(limits::RECORD);
        let length = match limited.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(length) => length as u64,
            Err(error) => return Some(Err(Trouble::io("read", &self.path)(error))),
        };
        let ended = bytes.last() == Some(&b'\n');
        if ended {
            bytes.pop();
        }
        let shape = shape(&bytes, ended);
        let line = if bytes.is_empty() {
            JournalLine::Bad {
                at: self.at,
                problem: "empty".into(),
                shape,
            }
        } else {
            self.parse(&bytes, shape)
        };
        self.at += length;
        match &line {
            JournalLine::Record(entry) => self.previous = Some(entry.sum.clone()),
            JournalLine::Newer { .. } => self.previous = None,
            JournalLine::Bad { .. } => {}
        }
        Some(Ok(line))
    }
}

/// What a line would be, if it is no record.
fn shape(bytes: &[u8], ended: bool) -> Shape {
    let has_end = |bytes: &[u8]| torn::has_end(bytes, BEFORE_SUM.as_bytes(), AFTER_SUM.as_bytes());
    // The line feed itself may be the byte that was changed.
    let without_last = bytes.split_last().map_or(bytes, |(_, rest)| rest);
    let whole = has_end(bytes) || (!ended && has_end(without_last));
    match (torn::has_zeros(bytes), whole, ended) {
        (false, true, _) => Shape::Changed,
        (false, false, true) => Shape::TornAndEnded,
        (true, _, _) | (false, false, false) => Shape::Torn,
    }
}

/// A store's segments, oldest first, the current one last.
pub fn segments(dir: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let mut closed = closed(dir)?;
    closed.push(dir.join(CURRENT));
    Ok(closed)
}

/// Is this the name of a closed segment?
pub fn is_closed_segment(name: &str) -> bool {
    name.starts_with("journal-") && name.ends_with(".jsonl")
}

pub(crate) fn closed(dir: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(Trouble::io("list", dir))? {
        let entry = entry.map_err(Trouble::io("list", dir))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if is_closed_segment(&name) {
            found.push(entry.path());
        }
    }
    // The number in the name has a fixed width.
    found.sort();
    Ok(found)
}

/// The checksum that the current segment's first record continues: the empty one, or that of the
/// last record of the segment before. `None` if that segment does not end in a record.
pub(crate) fn continued(dir: &Path) -> Result<Option<String>, Trouble> {
    match closed(dir)?.last() {
        None => Ok(Some(start())),
        Some(path) => last_sum(path),
    }
}

/// What a segment's last line says is its sum.
pub fn last_sum(path: &Path) -> Result<Option<String>, Trouble> {
    let Some(file) = atomic::open(path)? else {
        return Ok(None);
    };
    let io = Trouble::io("read", path);
    let size = match file.metadata() {
        Ok(meta) => meta.len(),
        Err(error) => return Err(io(error)),
    };
    let mut end = [0; line::SUFFIX + 1];
    let Some(offset) = size.checked_sub(end.len() as u64) else {
        return Ok(None);
    };
    read_exact_at(&file, &mut end, offset).map_err(io)?;
    let text = std::str::from_utf8(&end).ok();
    let sum = text.and_then(|text| Some(line::split(text.strip_suffix('\n')?)?.1.to_owned()));
    Ok(sum)
}

/// The number of the last record before the current segment; 0 if it is the first.
pub(crate) fn last_closed(dir: &Path) -> u64 {
    let newest = closed(dir).ok().and_then(|mut found| found.pop());
    newest
        .as_deref()
        .and_then(Path::file_stem)
        .and_then(|stem| stem.to_str()?.strip_prefix("journal-")?.parse::<u64>().ok())
        .map_or(0, |next| next.saturating_sub(1))
}

/// Closes the current segment under the number of the record after it, and deletes the oldest
/// segments. All files that its records change must be on disk before, because a closed segment is
/// not read again after a power loss.
pub(crate) fn rotate(dir: &Path, next_seq: u64) -> Result<(), Trouble> {
    let path = dir.join(CURRENT);
    rename::over(&path, &dir.join(format!("journal-{next_seq:012}.jsonl")))
        .map_err(Trouble::io("close", &path))?;
    let closed = closed(dir)?;
    let surplus = closed.len().saturating_sub(limits::SEGMENTS);
    for old in closed.iter().take(surplus) {
        fs::remove_file(old).map_err(Trouble::io("delete", old))?;
    }
    sync_dir(dir)
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;
    use mainspring_kernel::journal::{Entry as Kept, FileChange};

    use super::*;

    fn record(seq: u64) -> Record {
        Record {
            v: FORMAT,
            seq,
            at: Millis(seq),
            entry: Kept::Verb {
                command: "gate on".into(),
                machine: None,
                session: None,
                did: format!("did {seq}"),
            },
            files: vec![FileChange {
                path: "/p/f".into(),
                was: None,
                now: Some("é\n".into()),
            }],
        }
    }

    fn written(dir: &Path, first: u64, mut sum: String) -> (Vec<u8>, String) {
        let mut size = fs::metadata(dir.join(CURRENT)).map_or(0, |meta| meta.len());
        for seq in first..first + 3 {
            let (line, next) = line(&record(seq), &sum).unwrap();
            size = append(dir, size, &line).unwrap();
            sum = next;
        }
        (fs::read(dir.join(CURRENT)).unwrap(), sum)
    }

    fn read(bytes: &[u8]) -> (Vec<Record>, Vec<u64>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let (mut records, mut bad) = (Vec::new(), Vec::new());
        for line in Reader::of("j".as_ref(), file, 0, Some(start())).unwrap() {
            match line.unwrap() {
                JournalLine::Record(entry) => records.push(entry.record),
                JournalLine::Bad { at, .. } => bad.push(at),
                JournalLine::Newer { v } => panic!("{v}"),
            }
        }
        (records, bad)
    }

    /// Changes every byte in two ways: all records before it can still be read, and the changed
    /// record is reported by its position, even if it is the first.
    #[test]
    fn any_changed_byte_is_found_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let (bytes, _) = written(dir.path(), 1, start());
        let mut begins = vec![0];
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        begins.extend(ends.map(|(at, _)| at as u64 + 1));
        for at in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                let (records, bad) = read(&changed);
                let hit = begins
                    .iter()
                    .rposition(|begin| *begin <= at as u64)
                    .unwrap();
                let before: Vec<Record> = (1..=hit as u64).map(record).collect();
                // The line feed after the last record belongs to it, and is not read.
                let last = at + 1 == bytes.len();
                assert!(records == before || last, "byte {at}");
                assert_eq!(bad.first(), Some(&begins[hit]), "byte {at}");
            }
        }
    }

    #[test]
    fn a_new_segment_continues_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(continued(dir.path()).unwrap(), Some(start()));
        let (_, sum) = written(dir.path(), 1, start());
        rotate(dir.path(), 4).unwrap();
        assert_eq!(continued(dir.path()).unwrap(), Some(sum.clone()));
        let (bytes, _) = written(dir.path(), 4, sum);
        assert_eq!(read(&bytes).0, [], "and is nothing by itself");
    }
}
