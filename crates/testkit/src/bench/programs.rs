//! The programs that are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::clients::workspace;

/// The release builds.
#[derive(Debug)]
pub struct Programs {
    pub mainspring: PathBuf,
    pub floor: PathBuf,
    pub(crate) bare_calls: PathBuf,
    /// The folder of the copies, if they are copies.
    copies: Option<TempDir>,
}

impl Programs {
    /// With the list of functions that `scripts/release` made last, if there is one.
    pub fn build() -> Self {
        let list = workspace().join("target/layout.txt");
        let list = list.is_file().then_some(list);
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        for selection in [
            ["--package=mainspring", "--bin=mainspring"],
            ["--package=mainspring-floor", "--bin=floor"],
            ["--package=mainspring-floor", "--bin=bare-calls"],
        ] {
            let status = Command::new(&cargo)
                .args(["build", "--quiet", "--release"])
                .args(selection)
                .envs(list.iter().map(|list| ("MAINSPRING_LAYOUT", list)))
                .current_dir(workspace())
                .status()
                .expect("cargo runs");
            assert!(
                status.success(),
                "the release build of {selection:?} failed"
            );
        }
        let this = std::env::current_exe().expect("it has a path");
        Self::in_folder(this.parent().expect("it is in a folder"))
    }

    /// Programs that were built before, for example of an earlier version.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let folder = folder.canonicalize().expect("the folder is there");
        Self {
            mainspring: folder.join("mainspring"),
            floor: folder.join("floor"),
            bare_calls: folder.join("bare-calls"),
            copies: None,
        }
    }

    /// The same programs, each written again. Whether the system stores a file in large or small
    /// pages is chance, and makes a start of the same bytes up to a tenth faster or slower. So
    /// every run writes new files.
    pub(crate) fn fresh(&self) -> Self {
        let beside = self.floor.parent().expect("it is in a folder");
        let copies = TempDir::with_prefix_in("fresh-", beside).expect("room beside them");
        for program in [&self.mainspring, &self.floor, &self.bare_calls] {
            let name = program.file_name().expect("it has a name");
            fs::copy(program, copies.path().join(name)).expect("room for a copy");
        }
        let mut fresh = Self::in_folder(copies.path());
        fresh.copies = Some(copies);
        fresh
    }

    /// Those in the folder, if one is named; otherwise new ones.
    pub(crate) fn find(folder: Option<&Path>) -> Self {
        folder.map_or_else(Self::build, Self::in_folder)
    }

    pub(crate) fn size(&self) -> u64 {
        std::fs::metadata(&self.mainspring).map_or(0, |meta| meta.len())
    }
}
