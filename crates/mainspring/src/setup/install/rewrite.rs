//! What becomes of a settings file and of our files beside it, whether we come or go.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mainspring_kernel::Digest;
use mainspring_platform::sync;
use mainspring_store::{ShownPath as _, Trouble, atomic, digest, no_symlink, path_text};

use super::{CommandContext, Result};
use crate::diff;
use crate::hosts::install::{Scope, Settings};
use crate::setup::replace_in_repository;

/// A settings file, as it is and as it is to be.
pub(super) struct Rewrite {
    pub(super) scope: Scope,
    pub(super) before: Settings,
    /// `None`: the file goes.
    pub(super) after: Option<String>,
    pub(super) files: Vec<PlannedFile>,
    /// What differs, line by line.
    differs: Vec<String>,
}

/// A file beside the settings: a command of ours.
pub(super) struct PlannedFile {
    pub(super) path: PathBuf,
    pub(super) becomes: Becomes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Becomes {
    /// It is as it should be.
    Same(&'static str),
    Written(&'static str),
    /// And why, if that is to be said.
    Removed(&'static str),
    /// It is somebody else's by now, and why.
    Kept(&'static str),
}

impl Rewrite {
    pub(super) fn new(
        scope: Scope,
        before: Settings,
        after: Option<String>,
        files: Vec<PlannedFile>,
    ) -> Self {
        Self {
            scope,
            differs: diff::lines(before.text(), after.as_deref().unwrap_or_default()),
            before,
            after,
            files,
        }
    }

    /// Is there anything to write?
    pub(super) fn is_any(&self) -> bool {
        let moves =
            |file: &PlannedFile| matches!(file.becomes, Becomes::Written(_) | Becomes::Removed(_));
        !self.differs.is_empty() || self.files.iter().any(moves)
    }

    /// The files that change or go, one per line.
    pub(super) fn summary(&self, cmd: &CommandContext) -> String {
        let mut out = match self.after {
            Some(_) => self.counted(cmd),
            None => cmd.paint.warn(&format!("- {}\n", self.before.path.shown())),
        };
        for file in &self.files {
            let path = file.path.shown();
            out += &match file.becomes {
                Becomes::Same(_) => continue,
                Becomes::Written(_) => cmd.paint.good(&format!("+ {path}\n")),
                Becomes::Removed(why) => cmd.paint.warn(&format!("- {path}{why}\n")),
                Becomes::Kept(why) => format!("  {path} {why}, and stays\n"),
            };
        }
        out
    }

    /// How much of the settings changes.
    fn counted(&self, cmd: &CommandContext) -> String {
        let path = self.before.path.shown();
        if self.differs.is_empty() {
            return format!("{path} is as it should be\n");
        }
        let lines = self.differs.iter();
        let count = |sign: char| lines.clone().filter(|line| line.starts_with(sign)).count();
        let (added, removed) = (count('+'), count('-'));
        let lines = |count: usize| if count == 1 { "line" } else { "lines" };
        let counts = match (added, removed) {
            (added, 0) => format!("{added} {} added", lines(added)),
            (0, removed) => format!("{removed} {} taken out", lines(removed)),
            (added, removed) => format!("{added} {} added, {removed} taken out", lines(added)),
        };
        format!("{}: {counts}\n", cmd.paint.bold(&path))
    }

    /// The lines of the settings that change.
    pub(super) fn lines(&self, cmd: &CommandContext) -> String {
        if self.differs.is_empty() {
            return String::new();
        }
        let mut out = format!("{}\n", cmd.paint.bold(&self.before.path.shown()));
        for line in &self.differs {
            out += &match line.as_bytes().first() {
                Some(b'+') => cmd.paint.good(line),
                Some(b'-') => cmd.paint.warn(line),
                _ => line.clone(),
            };
            out.push('\n');
        }
        out
    }

    /// Each file whole or not at all, and on the disk before we say that it is done.
    pub(super) fn carry_out(&self) -> Result<()> {
        let path = &self.before.path;
        match (&self.after, self.scope) {
            (Some(text), Scope::User) => atomic::replace(path, text.as_bytes())?,
            (Some(text), Scope::Project | Scope::Local) => replace_in_repository(path, text)?,
            (None, _) if path.exists() => no_symlink::remove(path)?,
            (None, _) => {}
        }
        if self.after.is_some() {
            sync::file(path).map_err(Trouble::io("sync", path))?;
        }
        for file in &self.files {
            match file.becomes {
                Becomes::Same(_) | Becomes::Kept(_) => {}
                Becomes::Written(text) => {
                    if let Some(folder) = file.path.parent() {
                        fs::create_dir_all(folder).map_err(Trouble::io("create", folder))?;
                    }
                    atomic::replace(&file.path, text.as_bytes())?;
                }
                Becomes::Removed(_) => remove(&file.path)?,
            }
        }
        Ok(())
    }

    /// The files that are ours afterwards.
    pub(super) fn own_files(&self) -> BTreeMap<String, Digest> {
        let ours = self.files.iter().filter_map(|file| match file.becomes {
            Becomes::Same(text) | Becomes::Written(text) => Some((
                path_text::to_text(&file.path),
                digest::of(&[text.as_bytes()]),
            )),
            Becomes::Removed(_) | Becomes::Kept(_) => None,
        });
        ours.collect()
    }
}

/// Removes a file of ours, and its folder if that becomes empty.
fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(Trouble::io("delete", path))?;
    if let Some(folder) = path.parent() {
        // It may have other files.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
