//! Closed segments keep their records, but not every content that a file ever had.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::line::Contents;
use crate::{Trouble, atomic, journal, limits, path_text};

/// Of each file that is still there, keeps only the newest content in all closed segments. What a
/// crash left undone is done when the next segment is closed. Lines of format 1 stay as they are,
/// because their sums cover the contents.
pub(crate) fn drop_old_contents(dir: &Path) -> Result<(), Trouble> {
    let mut newer = BTreeSet::new();
    for path in journal::closed(dir)?.iter().rev() {
        let Some(bytes) = atomic::read(path, limits::SEGMENT + limits::RECORD)? else {
            continue;
        };
        if let Some(smaller) = without_old_contents(&bytes, &mut newer) {
            atomic::replace_durably(path, &smaller)?;
        }
    }
    Ok(())
}

/// The segment without the contents of files that are gone or have a newer content; `None` if it
/// has no such contents.
fn without_old_contents(segment: &[u8], newer: &mut BTreeSet<String>) -> Option<Vec<u8>> {
    let mut dropped = false;
    let mut lines = Vec::new();
    for line in segment.split_inclusive(|byte| *byte == b'\n').rev() {
        let kept = without_newline(line)
            .and_then(Contents::of)
            .and_then(|mut contents| {
                let changed = contents.retain(|path, is_there| {
                    let newest = newer.insert(path.to_owned());
                    newest && is_there && exists(path)
                });
                changed.then(|| contents.line().ok())?
            });
        dropped |= kept.is_some();
        lines.push(kept.unwrap_or_else(|| line.to_vec()));
    }
    lines.reverse();
    dropped.then(|| lines.concat())
}

fn without_newline(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok()?.strip_suffix('\n')
}

fn exists(path: &str) -> bool {
    fs::symlink_metadata(path_text::from_text(path)).is_ok()
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;
    use mainspring_kernel::journal::{Entry, FORMAT, FileChange, Record};

    use super::*;
    use crate::journal::{JournalLine, Reader, line, start};

    /// A store's folder with files in it, and the segments that change them.
    struct Place {
        temp: tempfile::TempDir,
        sum: String,
        seq: u64,
    }

    impl Place {
        fn new() -> Self {
            Self {
                temp: tempfile::tempdir().unwrap(),
                sum: start(),
                seq: 0,
            }
        }

        fn path(&self, name: &str) -> String {
            self.temp.path().join(name).to_str().unwrap().into()
        }

        fn make(&self, name: &str) {
            atomic::replace(self.path(name).as_ref(), b"").unwrap();
        }

        fn change(&self, name: &str, now: Option<&str>) -> FileChange {
            FileChange {
                path: self.path(name),
                was: None,
                now: now.map(Into::into),
            }
        }

        /// A closed segment with a record for each list of changes.
        fn segment(&mut self, records: Vec<Vec<FileChange>>) {
            let mut bytes = Vec::new();
            for files in records {
                self.seq += 1;
                let record = Record {
                    v: FORMAT,
                    seq: self.seq,
                    at: Millis(1),
                    entry: Entry::Verb {
                        command: "a \"files\":[ command".into(),
                        machine: None,
                        session: None,
                        did: ",\"contents\":[".into(),
                    },
                    files,
                };
                let (line, sum) = line(&record, &self.sum).unwrap();
                bytes.extend_from_slice(&line);
                self.sum = sum;
            }
            let name = format!("journal-{:012}.jsonl", self.seq + 1);
            atomic::replace(self.path(&name).as_ref(), &bytes).unwrap();
        }

        fn compact(&self) {
            drop_old_contents(self.temp.path()).unwrap();
        }

        /// Each record's number and the contents that it still has. The chain must hold.
        fn contents(&self) -> Vec<(u64, Vec<String>)> {
            let mut previous = Some(start());
            let mut found = Vec::new();
            for path in journal::closed(self.temp.path()).unwrap() {
                for line in Reader::open(&path, 0, previous.take()).unwrap().unwrap() {
                    let JournalLine::Record(entry) = line.unwrap() else {
                        panic!("a line of {path:?} is no record");
                    };
                    let files = entry.record.files.into_iter();
                    found.push((
                        entry.record.seq,
                        files.filter_map(|file| file.now).collect(),
                    ));
                    previous = Some(entry.sum);
                }
            }
            found
        }
    }

    #[test]
    fn only_the_newest_content_of_a_file_that_is_there_stays_and_the_chain_holds() {
        let mut place = Place::new();
        for name in ["a", "b"] {
            place.make(name);
        }
        let (a, b, gone) = (
            place.change("a", Some("a1 ,\"contents\":[")),
            place.change("b", Some("b1")),
            place.change("gone", Some("gone1")),
        );
        let a2 = place.change("a", Some("a2"));
        let a3 = place.change("a", Some("a3\n"));
        place.segment(vec![vec![a, gone], vec![a2, b], Vec::new(), vec![a3]]);
        place.compact();
        let newest = [
            (1, vec![]),
            (2, vec!["b1".to_owned()]),
            (3, vec![]),
            (4, vec!["a3\n".to_owned()]),
        ];
        assert_eq!(place.contents(), newest);
        // The next segment has a newer content of one of them, and deletes the other.
        let later = vec![place.change("b", None), place.change("a", Some("a4"))];
        place.segment(vec![later]);
        place.compact();
        let left: Vec<String> = place
            .contents()
            .into_iter()
            .flat_map(|(_, all)| all)
            .collect();
        assert_eq!(left, ["a4"]);
    }

    #[test]
    fn what_is_not_a_record_of_this_format_stays_byte_for_byte() {
        let old =
            r#"{"v":1,"seq":1,"at":1,"entry":{},"files":[{"path":"/x","was":null,"now":"x"}]"#;
        let sum = "0".repeat(32);
        let lines = [
            format!("{old},\"sum\":\"{sum}\"}}\n"),
            "torn\n".into(),
            "\n".into(),
            format!("{{\"v\":2,\"files\":[1],\"contents\":[\"x\"],\"sum\":\"{sum}\"}}\n"),
            format!("{{\"v\":2,\"files\":[],\"contents\":[\"x\"],\"sum\":\"{sum}\"}}"),
        ];
        let segment = lines.concat();
        let less = without_old_contents(segment.as_bytes(), &mut BTreeSet::new());
        assert_eq!(less, None);
    }
}
