//! Recovery after a crash: records that are durable while their files are not yet in place.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_kernel::Digest;
use mainspring_kernel::journal::FileChange;

use crate::Trouble;
use crate::atomic::{self, Projected};
use crate::digest;
use crate::head::Head;
use crate::journal::{self, JournalLine, Reader};
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
    // Of another boot: a power loss may have kept the head and lost a file, so every file
    // that this segment changed is looked at.
    let usable = known.filter(|head| head.boot == boot && head.size <= size);
    if let Some(head) = &usable
        && head.size == size
    {
        return Ok(Recovered {
            head: head.clone(),
            edited: Vec::new(),
        });
    }
    let power_lost = usable.is_none();
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
    let changed = read_on(&path, &mut head, previous)?;
    head.size = size;
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
    Ok(Recovered { head, edited })
}

/// Moves the head over the records that follow it. Returns the files that they change, in the
/// order of the last record of each: a machine may rely on that order, even if this process
/// dies halfway.
fn read_on(
    path: &Path,
    head: &mut Head,
    previous: Option<String>,
) -> Result<Vec<Versions>, Trouble> {
    let mut changed: BTreeMap<String, Versions> = BTreeMap::new();
    let mut turns = 0_usize..;
    let Some(reader) = Reader::open(path, head.size, previous)? else {
        return Ok(Vec::new());
    };
    for line in reader {
        match line? {
            JournalLine::Record(entry) => {
                head.seq = entry.record.seq;
                head.sum = entry.sum;
                for change in entry.record.files {
                    let turn = turns.next().unwrap_or_default();
                    let versions = changed.entry(change.path.clone()).or_default();
                    versions.add(turn, change);
                }
            }
            JournalLine::Bad { .. } => {}
            JournalLine::Newer { v } => {
                return Err(Trouble::corrupt(
                    path,
                    format!(
                        "it has records of format {v}, from a newer mainspring: update this one"
                    ),
                ));
            }
        }
    }
    let mut changed: Vec<Versions> = changed.into_values().collect();
    changed.sort_by_key(|versions| versions.turn);
    Ok(changed)
}

pub(crate) struct Recovered {
    pub(crate) head: Head,
    pub(crate) edited: Vec<String>,
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
