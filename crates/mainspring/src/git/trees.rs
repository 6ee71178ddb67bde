//! Commands about whole trees: the files of one, and a commit in a worktree of its own.

use super::{Git, heard, said};

/// The names of half a million files.
const MOST_PATHS: u64 = 64 << 20;

/// Looks.
impl Git {
    /// What has changed since the last commit, and which files are new.
    pub(crate) fn changes(&self) -> Result<String, String> {
        let diff = self.ask(&[
            "diff",
            "HEAD",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
        ])?;
        let new = self.ask(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(format!("{diff}\n\nNew files:\n{new}"))
    }

    /// Every file below this folder that is tracked, or that no `.gitignore` of the project
    /// ignores: paths relative to the folder. A submodule or another repository is one entry. The
    /// person's own ignore rules (`info/exclude`, `core.excludesFile`) do not count, so that the
    /// list depends on nothing but the tree. `None` outside of a repository.
    pub(crate) fn files(&self) -> Result<Option<Vec<Vec<u8>>>, String> {
        let args = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--deduplicate",
            "--exclude-per-directory=.gitignore",
        ];
        let job = self.looking(&args, &[]).most_output(MOST_PATHS);
        let finished = job.run().map_err(|failure| failure.to_string())?;
        if let Err(cause) = said(&finished) {
            if cause.contains("not a git repository") {
                return Ok(None);
            }
            return Err(format!("git ls-files: {cause}"));
        }
        if finished.stdout.len() as u64 >= MOST_PATHS {
            return Err("the tree has too many files to list".into());
        }
        let names = finished.stdout.split(|byte| *byte == 0);
        let names = names.filter(|name| !name.is_empty());
        Ok(Some(names.map(<[u8]>::to_vec).collect()))
    }
}

/// Commands that a person asked for by name.
impl Git {
    /// Makes a worktree of a commit here, on no branch. No hook runs.
    pub(crate) fn add_detached(&self, place: &str, commit: &str) -> Result<(), String> {
        let args = [
            "-c",
            "core.hooksPath=/dev/null",
            "worktree",
            "add",
            "--quiet",
            "--detach",
            "--",
            place,
            commit,
        ];
        heard(&args[2..], self.own(&args)).map(drop)
    }

    /// Takes a worktree away, even one that git had not finished, or whose folder is gone.
    pub(crate) fn remove_worktree(&self, place: &str) -> Result<(), String> {
        let args = ["worktree", "remove", "--force", "--force", "--", place];
        heard(&args, self.own(&args)).map(drop)
    }

    /// Changes the worktree as this patch says.
    pub(crate) fn apply(&self, patch: &str) -> Result<(), String> {
        let args = ["apply", "--whitespace=nowarn", "--", patch];
        heard(&args, self.own(&args)).map(drop)
    }
}
