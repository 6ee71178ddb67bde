//! The folder of one attempt at a review: what the reviewer prints, who leads its processes, and
//! what whoever comes after a killed hook needs to know.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mainspring_kernel::Millis;
use mainspring_kernel::effect::{EffectOwner, Fence};
use mainspring_platform::file;
use mainspring_platform::process::end_tree;
use mainspring_store::{Trouble, atomic, json_text, read_json, seal};

use super::subject::Subject;
use crate::children::guard;
use crate::context::EventContext;
use crate::limits;
use crate::machines::effect_owner;

/// How many attempts' folders are kept, for a person who wants to look.
const KEPT: usize = 20;

const STDOUT: &str = "stdout.json";
const STDERR: &str = "stderr.log";
/// What the reviewer saw when it started.
const SUBJECT: &str = "subject.json";
/// The file that names the leader.
pub(crate) const LEADER: &str = "leader.json";

#[derive(Debug)]
pub(super) struct Attempt {
    dir: PathBuf,
}

impl Attempt {
    pub(super) fn of(context: &EventContext<'_>, fence: Fence) -> Self {
        let all = context.store.dir().join("reviews");
        Self {
            dir: all.join(fence.0.to_string()),
        }
    }

    pub(super) fn exists(&self) -> bool {
        fs::symlink_metadata(&self.dir).is_ok()
    }

    /// Makes the folder, and deletes the oldest ones.
    pub(super) fn create(&self, context: &EventContext<'_>) -> Result<(), Trouble> {
        context.store.state().create(&self.dir)?;
        self.tidy();
        Ok(())
    }

    fn tidy(&self) {
        let Some(entries) = self.dir.parent().and_then(|dir| fs::read_dir(dir).ok()) else {
            return;
        };
        let mut fences: Vec<u64> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        fences.sort_unstable();
        for fence in fences.iter().rev().skip(KEPT) {
            let _ = fs::remove_dir_all(self.dir.with_file_name(fence.to_string()));
        }
    }

    /// A file in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn stdout(&self) -> PathBuf {
        self.path(STDOUT)
    }

    /// What the reviewer prints to stderr stays with the run.
    pub(super) fn stderr(&self) -> PathBuf {
        self.path(STDERR)
    }

    /// The two files that the reviewer prints to, empty.
    pub(super) fn outputs(&self) -> Result<(File, File), Trouble> {
        Ok((create(&self.stdout())?, create(&self.stderr())?))
    }

    /// Was a reviewer started here?
    pub(super) fn is_started(&self) -> bool {
        self.path(LEADER).is_file()
    }

    /// What the reviewer printed, if its guard saw it end by itself with that, and with this exit
    /// code.
    pub(super) fn printed(&self, code: i32) -> Option<Vec<u8>> {
        guard::ended_with(&self.stdout(), code)
    }

    /// How long a reviewer whose hook was killed took: from its start until its guard saw its end.
    pub(super) fn took(&self) -> Millis {
        let time = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let began = time(&self.path(LEADER));
        let ended = time(&guard::note_beside(&self.stdout()));
        let span = |(began, ended): (SystemTime, SystemTime)| ended.duration_since(began).ok();
        let span = began.zip(ended).and_then(span).unwrap_or_default();
        Millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
    }

    /// Keeps what the reviewer sees at its start, for as long as it runs.
    pub(super) fn keep_subject(&self, subject: &Subject) -> Result<(), Trouble> {
        let path = self.path(SUBJECT);
        atomic::replace(&path, json_text(&path, subject)?.as_bytes())
    }

    pub(super) fn subject(&self) -> Option<Subject> {
        read_json(self.path(SUBJECT)).ok()?.value
    }

    /// The result is known to us, so nobody has to take it over.
    pub(super) fn forget_subject(&self) {
        let _ = fs::remove_file(self.path(SUBJECT));
    }

    /// Records the leader of the reviewer's process group, so that a later hook can end it.
    pub(super) fn note_leader(&self, leader: u32) {
        let path = self.path(LEADER);
        if let Ok(text) = json_text(&path, &effect_owner::of(leader)) {
            let _ = atomic::replace(&path, text.as_bytes());
        }
    }

    /// Ends the reviewer of a process that is gone. It would end by itself, but perhaps not yet.
    pub(super) fn end_leftover(&self) -> Result<(), Trouble> {
        let path = self.path(LEADER);
        // After a power loss nobody is left.
        if atomic::read(&path, limits::STATE_FILE)?.is_some_and(|bytes| seal::is_torn(&bytes)) {
            return Ok(());
        }
        let leader = read_json::<EffectOwner>(path)?.value;
        if let Some(leader) = leader.filter(effect_owner::is_alive) {
            end_tree(leader.pid);
        }
        Ok(())
    }
}

fn create(path: &Path) -> Result<File, Trouble> {
    file::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(Trouble::io("write", path))
}
