//! A project's journal, and one that was tampered with.

use std::sync::OnceLock;

use mainspring_kernel::Millis;
use mainspring_kernel::journal::{Entry, FORMAT, FileChange, Record};
use mainspring_store::digest;
use mainspring_store::journal::{self, JournalLine, Reader};

/// No bytes are a record unless their checksum is right. In a journal with any change made to it,
/// every record that can still be read is one that was written, in its position.
pub(crate) fn run(bytes: &[u8]) {
    for line in lines(bytes) {
        if let JournalLine::Record(entry) = line {
            assert_eq!(entry.sum.len(), digest::HEX);
            assert_eq!(entry.record.v, FORMAT);
        }
    }
    let (whole, records) = written();
    let changed = changed(whole, bytes);
    if changed == *whole {
        return;
    }
    let mut expected = records.iter();
    let mut read = 0;
    let mut dropped = false;
    for line in lines(&changed) {
        match line {
            JournalLine::Record(entry) => {
                let mut written = expected.next().cloned();
                // The change may be the one that drops a content.
                if entry.record.files.is_empty() {
                    dropped = true;
                    if let Some(record) = &mut written {
                        record.files.clear();
                    }
                }
                assert_eq!(Some(entry.record), written, "in its place");
                read += 1;
            }
            JournalLine::Bad { problem, .. } => assert!(!problem.is_empty()),
            JournalLine::Newer { v } => panic!("a change made it a record of format {v}"),
        }
    }
    let torn = whole.starts_with(&changed) || changed.starts_with(whole);
    assert!(torn || dropped || read < records.len() || only_adds_lines(whole, &changed));
}

fn lines(bytes: &[u8]) -> Vec<JournalLine> {
    let Some(file) = crate::file(bytes) else {
        return Vec::new();
    };
    let reader = Reader::of("fuzz".as_ref(), file, 0, Some(journal::start()));
    reader
        .into_iter()
        .flatten()
        .filter_map(std::result::Result::ok)
        .collect()
}

/// A journal of four records.
fn written() -> &'static (Vec<u8>, Vec<Record>) {
    static JOURNAL: OnceLock<(Vec<u8>, Vec<Record>)> = OnceLock::new();
    JOURNAL.get_or_init(|| {
        let mut bytes = Vec::new();
        let mut sum = journal::start();
        let records: Vec<Record> = (1..=4).map(record).collect();
        for record in &records {
            if let Ok((line, next)) = journal::line(record, &sum) {
                bytes.extend_from_slice(&line);
                sum = next;
            }
        }
        (bytes, records)
    })
}

fn record(seq: u64) -> Record {
    Record {
        v: FORMAT,
        seq,
        at: Millis(1_767_600_000_000 + seq),
        entry: Entry::Verb {
            command: "loop start".into(),
            machine: None,
            session: None,
            did: format!("began {seq}"),
        },
        files: vec![FileChange {
            path: "/p/f".into(),
            was: (seq > 1).then(|| digest::of(&[&seq.to_be_bytes()])),
            now: Some(format!("content {seq} \u{1f389}\n")),
        }],
    }
}

/// The journal after the edits that these bytes describe: every six bytes are a kind, a position, a
/// length and a byte.
fn changed(whole: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut out = whole.to_vec();
    for edit in edits.chunks_exact(6).take(8) {
        if out.is_empty() {
            break;
        }
        let at = usize::from(u16::from_be_bytes([edit[1], edit[2]])) % out.len();
        let length = usize::from(u16::from_be_bytes([edit[3], edit[4]])) % (out.len() - at + 1);
        match edit[0] % 6 {
            0 => out[at] ^= edit[5],
            1 => out[at] = edit[5],
            2 => out.truncate(at),
            3 => drop(out.drain(at..at + length)),
            4 => {
                let copy = out[at..at + length].to_vec();
                out.extend_from_slice(&copy);
            }
            _ => out.insert(at, edit[5]),
        }
    }
    out
}

/// Lines that are not records may be put between records; then all records are still there.
fn only_adds_lines(whole: &[u8], changed: &[u8]) -> bool {
    let mut found = changed.split(|byte| *byte == b'\n');
    whole
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .all(|line| found.any(|other| other == line))
}
