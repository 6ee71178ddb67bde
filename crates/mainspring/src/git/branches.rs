//! Branches of this checkout.

use std::collections::BTreeMap;

use super::{Git, heard};

impl Git {
    /// The branch that is checked out; `None` on a detached head.
    pub(crate) fn current_branch(&self) -> Option<String> {
        self.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])
            .ok()
    }

    /// Every branch and tag, and what is checked out, by name.
    pub(crate) fn refs(&self) -> Result<BTreeMap<String, String>, String> {
        let format = "--format=%(refname)%09%(objectname)";
        let listed = self.ask(&["for-each-ref", format, "refs/heads", "refs/tags"])?;
        let mut refs: BTreeMap<String, String> = listed
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(name, commit)| (name.to_owned(), commit.to_owned()))
            .collect();
        refs.extend(
            self.current_branch()
                .map(|branch| ("HEAD".to_owned(), branch)),
        );
        Ok(refs)
    }

    /// The default branch of a remote, as far as this clone knows it.
    pub(crate) fn default_branch(&self, remote: &str) -> Option<String> {
        let head = format!("refs/remotes/{remote}/HEAD");
        let name = self
            .ask(&["symbolic-ref", "--quiet", "--short", &head])
            .ok()?;
        Some(name.strip_prefix(&format!("{remote}/"))?.to_owned())
    }

    /// The heads that the branch had in this clone, newest first, as far as git remembers.
    fn past_heads(&self, branch: &str) -> Vec<String> {
        let name = format!("refs/heads/{branch}");
        let reflog = ["log", "--walk-reflogs", "-n", "200", "--format=%H"];
        let args = [&reflog[..], &["--no-show-signature", &name, "--"]].concat();
        let heads = self.ask(&args).unwrap_or_default();
        heads.lines().map(str::to_owned).collect()
    }

    /// Was this commit the head of the branch before? Then it was amended or rebased away.
    pub(crate) fn was_head(&self, branch: &str, commit: &str) -> bool {
        self.past_heads(branch).iter().any(|head| head == commit)
    }

    /// Has anything been committed on the branch in this clone? If git keeps no reflog, we assume so.
    pub(crate) fn has_commits_of_its_own(&self, branch: &str) -> bool {
        let mut heads = self.past_heads(branch);
        heads.dedup();
        heads.len() != 1
    }

    /// Switches to the branch. If it is new, it begins at `start`, or at the head.
    pub(crate) fn switch(&self, branch: &str, start: Option<&str>) -> Result<(), String> {
        let known = self.resolve(&format!("refs/heads/{branch}")).is_some();
        let mut args = vec!["switch", "--quiet"];
        if known {
            args.push(branch);
        } else {
            // A branch of somebody's does not become the upstream of ours.
            args.extend(["--no-track", "--create", branch]);
            args.extend(start);
        }
        heard(&args, self.own(&args)).map(drop)
    }
}
