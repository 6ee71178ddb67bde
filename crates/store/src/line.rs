//! A line of the journal.
//!
//! `{"v":2,…,"files":[{"path":…,"was":…,"now":"<digest>"}],"contents":["…"],"sum":"<32 digits>"}`
//!
//! The sum covers the line up to `,"contents"`, and the sum of the line before. The contents of the
//! files are covered by their digests in `files`, so a content can be dropped later (`null`) without
//! breaking the chain. A deleted file has neither a digest nor a content.
//!
//! In format 1, each file had its content in the place of its digest, and the sum covered it.

use mainspring_kernel::journal::{Entry, FileChange, Record};
use mainspring_kernel::{Digest, Millis};
use serde::{Deserialize, Serialize};

use crate::Trouble;
use crate::digest;

/// The format whose sum covers the whole line.
pub(crate) const WHOLE: u32 = 1;

/// What is around the digits of a record's sum.
pub(crate) const BEFORE_SUM: &str = ",\"sum\":\"";
pub(crate) const AFTER_SUM: &str = "\"}";
pub(crate) const SUFFIX: usize = BEFORE_SUM.len() + digest::HEX + AFTER_SUM.len();

// Inside of a JSON string each of these would have a backslash before its quotes, and no member of
// these names follows in an array of files or contents. So the last one in a line is its own.
const FILES: &str = ",\"files\":[";
const CONTENTS: &str = ",\"contents\":[";

/// Enough room for most records, so that the buffer is not reallocated.
const ORDINARY_RECORD: usize = 8 << 10;

/// What the sum covers.
#[derive(Serialize)]
struct Covered<'a> {
    v: u32,
    seq: u64,
    at: Millis,
    entry: &'a Entry,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<Change<'a>>,
}

#[derive(Serialize)]
struct Change<'a> {
    path: &'a str,
    was: Option<&'a Digest>,
    now: Option<Digest>,
}

/// The line for a record, and its sum.
pub fn line(record: &Record, previous: &str) -> Result<(Vec<u8>, String), Trouble> {
    let files = record.files.iter().map(|change| Change {
        path: &change.path,
        was: change.was.as_ref(),
        now: change.now.as_ref().map(|now| digest::of(&[now.as_bytes()])),
    });
    let covered = Covered {
        v: record.v,
        seq: record.seq,
        at: record.at,
        entry: &record.entry,
        files: files.collect(),
    };
    let cannot = |error| Trouble::Other(format!("a record cannot be written: {error}"));
    let mut line = mainspring_json::bytes(&covered, ORDINARY_RECORD).map_err(cannot)?;
    // Without its closing brace.
    line.pop();
    let sum = digest::of(&[previous.as_bytes(), &line]).0;
    if !record.files.is_empty() {
        let contents: Vec<Option<&str>> = record
            .files
            .iter()
            .map(|change| change.now.as_deref())
            .collect();
        push_contents(&mut line, &contents).map_err(cannot)?;
    }
    push_sum(&mut line, &sum);
    Ok((line, sum))
}

fn push_contents(line: &mut Vec<u8>, contents: &[Option<&str>]) -> serde_json::Result<()> {
    // The list brings its own bracket.
    line.extend_from_slice(&CONTENTS.as_bytes()[..CONTENTS.len() - 1]);
    line.extend_from_slice(&mainspring_json::bytes(contents, ORDINARY_RECORD)?);
    Ok(())
}

fn push_sum(line: &mut Vec<u8>, sum: &str) {
    for piece in [BEFORE_SUM, sum, AFTER_SUM, "\n"] {
        line.extend_from_slice(piece.as_bytes());
    }
}

/// Splits a line into what is before its sum, and the sum.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let cut = text.len().checked_sub(SUFFIX)?;
    let (body, suffix) = text.split_at_checked(cut)?;
    let sum = suffix.strip_prefix(BEFORE_SUM)?.strip_suffix(AFTER_SUM)?;
    let is_sum = sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum.then_some((body, sum))
}

/// Splits what is before a sum into what the sum covers, and the list of contents. A line of
/// format 1 has no such list.
pub(crate) fn split_contents(body: &str) -> (&str, Option<&str>) {
    match body.rfind(CONTENTS) {
        Some(at) => (&body[..at], Some(&body[at + CONTENTS.len() - 1..])),
        None => (body, None),
    }
}

/// The changes with their contents in the place of the digests. A change whose content was dropped
/// is left out: nothing can be done with it.
pub(crate) fn with_contents(
    files: Vec<FileChange>,
    contents: Option<&str>,
) -> Result<Vec<FileChange>, String> {
    let contents: Vec<Option<String>> = match contents {
        Some(list) => serde_json::from_str(list).map_err(|error| error.to_string())?,
        None => Vec::new(),
    };
    if contents.len() != files.len() {
        return Err("its files and their contents do not match".into());
    }
    let mut changes = Vec::with_capacity(files.len());
    for (mut change, content) in files.into_iter().zip(contents) {
        match (&change.now, content) {
            (None, None) => changes.push(change),
            (Some(_), None) => {}
            (Some(digest), Some(text)) if digest::of(&[text.as_bytes()]).0 == *digest => {
                change.now = Some(text);
                changes.push(change);
            }
            (_, Some(_)) => {
                return Err("the content of a file was changed".into());
            }
        }
    }
    Ok(changes)
}

/// What dropping contents needs to know of a line.
pub(crate) struct Contents<'a> {
    covered: &'a str,
    sum: &'a str,
    files: Vec<ChangedFile>,
    kept: Vec<Option<String>>,
}

#[derive(Deserialize)]
struct ChangedFile {
    path: String,
    now: Option<Digest>,
}

impl<'a> Contents<'a> {
    /// `None` for a line without contents, or one that is not a record of this format.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let (body, sum) = split(text)?;
        let (covered, contents) = split_contents(body);
        let files = covered.rfind(FILES)? + FILES.len() - 1;
        let this = Self {
            covered,
            sum,
            files: serde_json::from_str(&covered[files..]).ok()?,
            kept: serde_json::from_str(contents?).ok()?,
        };
        (this.files.len() == this.kept.len()).then_some(this)
    }

    /// Drops each content that `keep` does not want, the last change first. It is asked about every
    /// change, with the path and whether the file is there afterwards.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, bool) -> bool) -> bool {
        let mut dropped = false;
        for (file, content) in self.files.iter().zip(&mut self.kept).rev() {
            if !keep(&file.path, file.now.is_some()) && content.take().is_some() {
                dropped = true;
            }
        }
        dropped
    }

    pub(crate) fn line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = self.covered.as_bytes().to_vec();
        let contents: Vec<Option<&str>> = self.kept.iter().map(Option::as_deref).collect();
        push_contents(&mut line, &contents)?;
        push_sum(&mut line, self.sum);
        Ok(line)
    }
}
