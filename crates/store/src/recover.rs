//! Recovery after a crash: records that are durable while their files are not yet in place.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_kernel::Digest;
use mainspring_kernel::journal::FileChange;

use crate::Trouble;
use crate::atomic::{self, Projected};
use crate::digest;
use crate::head::Head;
use crate::journal::{self, JournalLine, Reader, Shape};
use crate::path_text;

/// The head that holds now, with all files rolled forward to it, and the edits that were
/// found on the way.
pub(crate) fn recover(
    dir: &Path,
    root: &Path,
    known: Option<Head>,
    boot: &str,
) -> Result<Recovered, Trouble> {
    let path = dir.join(journal::CURRENT);
    let size = std::fs::symlink_metadata(&path).map_or(0, |meta| meta.len());
    let known_seq = known.as_ref().map(|head| head.seq);
    // Of another boot: a power loss may have kept the head and lost a file, so every file
    // that this segment changed is looked at.
    let usable = known.filter(|head| head.boot == boot && head.size <= size);
    if let Some(head) = &usable
        && head.size == size
    {
        return Ok(Recovered {
            head: head.clone(),
            edited: Vec::new(),
            damaged: None,
        });
    }
    let power_lost = usable.is_none();
    let known_seq = known_seq.unwrap_or(0);
    let mut head = match usable {
        Some(head) => head,
        None => Head {
            seq: journal::last_closed(dir),
            ..Head::empty(boot)
        },
    };
    // A checksum is taken on trust only if the segment before does not end in a record.
    let previous = if head.size > 0 {
        Some(head.sum.clone())
    } else {
        journal::continued(dir)?
    };
    if let Some(previous) = &previous {
        head.sum.clone_from(previous);
    }
    let (changed, rest) = read_on(&path, &mut head, previous)?;
    head.size = size;
    if let Some(damaged) = rest.damaged() {
        head.seq = known_seq.max(head.seq + rest.lines + 1);
        return Ok(Recovered {
            head,
            edited: Vec::new(),
            damaged: Some(damaged),
        });
    }
    let mut edited = Vec::new();
    for versions in changed {
        let ours = |found: Option<&[u8]>| {
            versions.had(found) || (power_lost && versions.left_behind(found))
        };
        if let Some(change) = &versions.last
            && atomic::project(change, ours, root)? == Projected::Edited
        {
            edited.push(path_text::shown(change));
        }
    }
    Ok(Recovered {
        head,
        edited,
        damaged: None,
    })
}

/// Moves the head over the records that follow it. Returns the files that they change, in the
/// order of the last record of each: a machine may rely on that order, even if this process
/// dies halfway. Returns also what follows the last record.
fn read_on(
    path: &Path,
    head: &mut Head,
    previous: Option<String>,
) -> Result<(Vec<Versions>, Rest), Trouble> {
    let mut rest = Rest::default();
    let mut changed: BTreeMap<String, Versions> = BTreeMap::new();
    let mut turns = 0_usize..;
    let Some(reader) = Reader::open(path, head.size, previous)? else {
        return Ok((Vec::new(), rest));
    };
    for line in reader {
        match line? {
            JournalLine::Record(entry) => {
                rest = Rest::default();
                head.seq = entry.record.seq;
                head.sum = entry.sum;
                for change in entry.record.files {
                    let turn = turns.next().unwrap_or_default();
                    let versions = changed.entry(change.path.clone()).or_default();
                    versions.add(turn, change);
                }
            }
            JournalLine::Bad { at, shape, .. } => rest.add(at, shape),
            JournalLine::Newer { v } => {
                return Err(Trouble::Newer {
                    path: path.into(),
                    version: v.to_string(),
                });
            }
        }
    }
    let mut changed: Vec<Versions> = changed.into_values().collect();
    changed.sort_by_key(|versions| versions.turn);
    Ok((changed, rest))
}

pub(crate) struct Recovered {
    pub(crate) head: Head,
    pub(crate) edited: Vec<String>,
    /// Where the journal was changed. What the lines from there on said cannot be known, so
    /// no file was rolled forward: it would bring back what a later record may have ended.
    pub(crate) damaged: Option<u64>,
}

/// The lines after the last record.
#[derive(Default)]
struct Rest {
    lines: u64,
    first: Option<u64>,
    changed: bool,
    last: Option<Shape>,
}

impl Rest {
    fn add(&mut self, at: u64, shape: Shape) {
        self.lines += 1;
        self.first.get_or_insert(at);
        self.changed |= shape == Shape::Changed;
        self.last = Some(shape);
    }

    /// The place of the first one, if they are more than what a crash left.
    fn damaged(&self) -> Option<u64> {
        let ended = self.last == Some(Shape::TornAndEnded);
        self.first.filter(|_| self.changed || ended)
    }
}

/// A file's last change, and all contents that it had before.
#[derive(Default)]
struct Versions {
    /// The position of the last change in the order of all changes.
    turn: usize,
    earlier: Vec<Option<Digest>>,
    texts: Vec<String>,
    last: Option<FileChange>,
}

impl Versions {
    fn add(&mut self, turn: usize, change: FileChange) {
        self.turn = turn;
        self.earlier.push(change.was.clone());
        self.texts.extend(change.now.clone());
        self.last = Some(change);
    }

    fn had(&self, found: Option<&[u8]>) -> bool {
        let sum = found.map(|bytes| digest::of(&[bytes]));
        self.earlier.contains(&sum)
    }

    /// A power loss may keep a file's new name but lose the end of its content, or fill it with
    /// zeros. Such a remainder of our file is not somebody's edit.
    fn left_behind(&self, found: Option<&[u8]>) -> bool {
        let Some(found) = found else { return false };
        let zeros = found.iter().rev().take_while(|byte| **byte == 0).count();
        let kept = &found[..found.len() - zeros];
        self.texts
            .iter()
            .any(|text| found.len() <= text.len() && text.as_bytes().starts_with(kept))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "nobody crashes here")]
mod tests;
