//! Real git, against a bare repository on disk.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::process::{PATIENCE, Running};

const LIMIT: Duration = PATIENCE;
/// The tree without files, which git always knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A bare repository, alive until it is dropped.
#[derive(Debug)]
pub struct BareRepo {
    folder: TempDir,
}

/// A new bare repository with one commit on its default branch, `main`.
pub fn bare_repo() -> BareRepo {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let repo = BareRepo { folder };
    let git_dir = repo.git_dir();
    fs::create_dir(&git_dir).expect("the folder is ours");
    git(
        &git_dir,
        &["init", "--bare", "--quiet", "--initial-branch=main", "."],
    );
    let commit = git(&git_dir, &["commit-tree", EMPTY_TREE, "-m", "Start"]);
    git(&git_dir, &["update-ref", "refs/heads/main", &commit]);
    repo
}

impl BareRepo {
    pub fn git_dir(&self) -> PathBuf {
        self.folder.path().join("repo.git")
    }

    /// Adds an empty commit to a branch, which starts at `main` if it is new, and returns its hash:
    /// a push without a clone.
    pub fn commit(&self, branch: &str, message: &str) -> String {
        let git_dir = self.git_dir();
        let branches = branches(&git_dir);
        let parent = branches.get(branch).unwrap_or(&branches["main"]);
        let commit = git(
            &git_dir,
            &["commit-tree", EMPTY_TREE, "-p", parent, "-m", message],
        );
        git(
            &git_dir,
            &["update-ref", &format!("refs/heads/{branch}"), &commit],
        );
        commit
    }

    pub fn delete(&self, branch: &str) {
        git(
            &self.git_dir(),
            &["update-ref", "-d", &format!("refs/heads/{branch}")],
        );
    }

    /// Every ref and what it points to.
    pub fn refs(&self) -> BTreeMap<String, String> {
        refs(&self.git_dir())
    }

    /// A clone at `place` whose `origin` is the given address at GitHub, but which talks to this
    /// repository: for `ssh` by a program in its place, for `https` by git's own rewriting, which
    /// `git remote get-url` shows.
    pub fn clone_as(&self, origin: &str, place: &Path) {
        let git_dir = self.git_dir();
        let here = git_dir.to_str().expect("the path is UTF-8");
        let there = place.to_str().expect("the path is UTF-8");
        git(&git_dir, &["clone", "--quiet", here, there]);
        let dot_git = place.join(".git");
        let set = |name: &str, value: &str| git(&dot_git, &["config", name, value]);
        set("remote.origin.url", origin);
        set("user.name", "Octo");
        set("user.email", "octo@example.com");
        if origin.starts_with("https://") {
            set(&format!("url.{here}.insteadOf"), origin);
        } else {
            let ssh = self.ssh();
            set("core.sshCommand", ssh.to_str().expect("the path is UTF-8"));
        }
    }

    /// A program that runs the remote side's command of `ssh` here.
    fn ssh(&self) -> PathBuf {
        let program = self.folder.path().join("ssh");
        // The last argument is the remote command: git-upload-pack 'path'.
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\nexec \"${{last%% *}}\" '{}'\n",
            self.git_dir().display()
        );
        fs::write(&program, script).expect("the folder is ours");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the file is ours");
        program
    }
}

/// Every branch and its head, read from the files, because this happens at each request.
pub(crate) fn branches(git_dir: &Path) -> BTreeMap<String, String> {
    refs(git_dir)
        .into_iter()
        .filter_map(|(name, sha)| Some((name.strip_prefix("refs/heads/")?.to_owned(), sha)))
        .collect()
}

fn refs(git_dir: &Path) -> BTreeMap<String, String> {
    let packed = fs::read_to_string(git_dir.join("packed-refs")).unwrap_or_default();
    let mut refs = BTreeMap::new();
    for line in packed.lines().filter(|line| !line.starts_with(['#', '^'])) {
        if let Some((sha, name)) = line.split_once(' ') {
            refs.insert(name.to_owned(), sha.to_owned());
        }
    }
    // A loose ref is newer than a packed one of the same name.
    loose_refs(git_dir, "refs", &mut refs);
    refs
}

fn loose_refs(git_dir: &Path, below: &str, refs: &mut BTreeMap<String, String>) {
    // A folder may go away while git tidies up.
    for entry in fs::read_dir(git_dir.join(below))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            loose_refs(git_dir, &name, refs);
        } else if let Ok(sha) = fs::read_to_string(entry.path())
            // A lock file is empty until it becomes the ref.
            && entry.path().extension().is_none_or(|suffix| suffix != "lock")
        {
            refs.insert(name, sha.trim_end().to_owned());
        }
    }
}

/// Does `head` have a commit that `base` does not have?
pub(crate) fn is_ahead(git_dir: &Path, base: &str, head: &str) -> bool {
    git(
        git_dir,
        &["rev-list", "--count", &format!("{base}..{head}")],
    ) != "0"
}

/// Runs git with no configuration but the repository's own.
fn git(git_dir: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .arg("--git-dir")
        .arg(git_dir)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(git_dir);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Octo");
        command.env(format!("GIT_{role}_EMAIL"), "octo@example.com");
    }
    let done = Running::start(&mut command).wait(LIMIT);
    assert!(
        done.succeeded(),
        "git {arguments:?}: {}",
        done.stderr_text()
    );
    done.stdout_text().trim_end().to_owned()
}
