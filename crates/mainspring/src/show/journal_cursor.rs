//! Reads a journal that others go on writing: first all of it, later only what is new.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_kernel::journal::Record;
use mainspring_store::journal::{self, JournalLine, Reader, Shape};
use mainspring_store::{ShownPath as _, Trouble};

/// One line of a journal, as a view shows it.
#[derive(Debug)]
pub(crate) enum Shown {
    Record(Box<Record>),
    Problem(String),
}

/// How far a journal was read.
#[derive(Debug, Default)]
pub(crate) struct JournalCursor {
    /// The closed segments that were read.
    closed: Vec<PathBuf>,
    /// How much of the current segment was read.
    offset: u64,
    /// The checksum that the next record continues; `None` if it is unknown.
    sum: Option<String>,
    /// The number of the last record that was read.
    last: u64,
}

/// Whether the journal goes on from what was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    GoesOn,
    /// Segments were deleted, or the project's state was: what was read before no longer counts,
    /// and everything was read again.
    Anew,
}

impl JournalCursor {
    /// Reads the lines that were not read yet, oldest first.
    pub(crate) fn read_new(
        &mut self,
        dir: &Path,
        see: &mut dyn FnMut(Shown),
    ) -> Result<Continuity, Trouble> {
        let mut closed = journal::segments(dir)?;
        let current = closed.pop().unwrap_or_else(|| dir.join(journal::CURRENT));
        let continuity = self.continuity(&closed, &current);
        if continuity == Continuity::Anew {
            *self = Self::default();
        }
        for (at, path) in closed.iter().enumerate().skip(self.closed.len()) {
            // A segment goes on from what the last line of the one before says. The segment before
            // the oldest one may have been deleted.
            self.sum = match at.checked_sub(1) {
                Some(before) => journal::last_sum(&closed[before])?,
                None => None,
            };
            // It may have been the current one when it was read last: a part of it is known.
            self.read(path, 0, see)?;
            self.offset = 0;
        }
        if self.offset == 0 {
            self.sum = match closed.last() {
                Some(before) => journal::last_sum(before)?,
                None => Some(journal::start()),
            };
        }
        self.closed = closed;
        self.read(&current, self.offset, see)?;
        Ok(continuity)
    }

    fn continuity(&self, closed: &[PathBuf], current: &Path) -> Continuity {
        let size = fs::symlink_metadata(current).map_or(0, |meta| meta.len());
        let shrunk = closed.len() == self.closed.len() && size < self.offset;
        if closed.starts_with(&self.closed) && !shrunk {
            Continuity::GoesOn
        } else {
            Continuity::Anew
        }
    }

    fn read(&mut self, path: &Path, from: u64, see: &mut dyn FnMut(Shown)) -> Result<(), Trouble> {
        let Some(mut reader) = Reader::open(path, from, self.sum.clone())? else {
            return Ok(());
        };
        self.offset = from;
        while let Some(line) = reader.next() {
            match line? {
                JournalLine::Record(entry) => {
                    self.sum = Some(entry.sum);
                    if entry.record.seq > self.last {
                        self.last = entry.record.seq;
                        see(Shown::Record(Box::new(entry.record)));
                    }
                }
                JournalLine::Bad { at, problem, shape } => {
                    see(Shown::Problem(format!(
                        "{}, byte {at}: {problem}",
                        path.shown()
                    )));
                    // If it is the last line, somebody may be writing it: it is read again.
                    if shape == Shape::Torn {
                        continue;
                    }
                }
                JournalLine::Newer { v } => {
                    self.sum = None;
                    see(Shown::Problem(format!(
                        "{}: a record of format {v}, from a newer mainspring",
                        path.shown()
                    )));
                }
            }
            self.offset = reader.position();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use mainspring_kernel::Millis;
    use mainspring_kernel::journal::{Entry, FORMAT, Record};

    use super::*;

    /// A journal that a test writes line by line.
    struct Journal {
        temp: tempfile::TempDir,
        sum: String,
        seq: u64,
    }

    impl Journal {
        fn new() -> Self {
            Self {
                temp: tempfile::tempdir().unwrap(),
                sum: journal::start(),
                seq: 0,
            }
        }

        fn next_line(&mut self) -> Vec<u8> {
            self.seq += 1;
            let entry = Entry::Verb {
                command: "pulse 1".into(),
                machine: None,
                session: None,
                did: "it".into(),
            };
            let record = Record {
                v: FORMAT,
                seq: self.seq,
                at: Millis(0),
                entry,
                files: Vec::new(),
            };
            let (mut line, sum) = journal::line(&record, &self.sum).unwrap();
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            self.sum = sum;
            line
        }

        fn write(&self, bytes: &[u8]) {
            let path = self.temp.path().join(journal::CURRENT);
            let file = mainspring_platform::file::options()
                .append(true)
                .create(true)
                .open(path);
            file.unwrap().write_all(bytes).unwrap();
        }

        fn append(&mut self, count: usize) {
            for _ in 0..count {
                let line = self.next_line();
                self.write(&line);
            }
        }

        fn close_segment(&self) {
            let name = format!("journal-{:012}.jsonl", self.seq + 1);
            let current = self.temp.path().join(journal::CURRENT);
            fs::rename(current, self.temp.path().join(name)).unwrap();
        }

        /// The numbers of the new records, and how many problems there were.
        fn read(&self, cursor: &mut JournalCursor) -> (Vec<u64>, usize, Continuity) {
            let (mut records, mut problems) = (Vec::new(), 0);
            let read = cursor.read_new(self.temp.path(), &mut |shown| match shown {
                Shown::Record(record) => records.push(record.seq),
                Shown::Problem(_) => problems += 1,
            });
            (records, problems, read.unwrap())
        }
    }

    #[test]
    fn only_what_is_new_is_read_and_a_closed_segment_is_no_gap() {
        let (mut journal, mut cursor) = (Journal::new(), JournalCursor::default());
        assert_eq!(journal.read(&mut cursor), (vec![], 0, Continuity::GoesOn));
        journal.append(2);
        assert_eq!(journal.read(&mut cursor).0, [1, 2]);
        assert_eq!(journal.read(&mut cursor).0, [0; 0]);
        journal.append(1);
        journal.close_segment();
        journal.append(2);
        let seen = journal.read(&mut cursor);
        assert_eq!(seen, (vec![3, 4, 5], 0, Continuity::GoesOn));
    }

    #[test]
    fn a_line_that_is_being_written_is_read_once_it_is_complete() {
        let (mut journal, mut cursor) = (Journal::new(), JournalCursor::default());
        journal.append(1);
        let line = journal.next_line();
        let (begin, end) = line.split_at(line.len() / 2);
        journal.write(begin);
        assert_eq!(journal.read(&mut cursor).0, [1]);
        journal.write(end);
        assert_eq!(journal.read(&mut cursor), (vec![2], 0, Continuity::GoesOn));
    }

    #[test]
    fn a_journal_that_was_deleted_is_read_anew() {
        let (mut journal, mut cursor) = (Journal::new(), JournalCursor::default());
        journal.append(3);
        journal.close_segment();
        journal.append(1);
        journal.read(&mut cursor);
        for entry in fs::read_dir(journal.temp.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        journal = Journal {
            temp: journal.temp,
            ..Journal::new()
        };
        journal.append(1);
        assert_eq!(journal.read(&mut cursor), (vec![1], 0, Continuity::Anew));
    }
}
