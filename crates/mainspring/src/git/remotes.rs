//! The remotes of this checkout, and the refs that a server has.

use super::{Git, heard};

/// A remote as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteConfig {
    pub(crate) name: String,
    pub(crate) address: String,
    /// The repository that a person chose with `gh repo set-default`: `base` is the remote's own.
    pub(crate) resolved: Option<String>,
}

impl Git {
    /// Every remote, in the order of the configuration.
    pub(crate) fn remotes(&self) -> Vec<RemoteConfig> {
        let keys = r"^remote\..*\.(url|gh-resolved)$";
        let args = ["config", "--null", "--get-regexp", keys];
        let said = self.ask(&args).unwrap_or_default();
        let mut remotes: Vec<RemoteConfig> = Vec::new();
        for (key, value) in said.split('\0').filter_map(|entry| entry.split_once('\n')) {
            let Some((name, field)) = key
                .strip_prefix("remote.")
                .and_then(|key| key.rsplit_once('.'))
            else {
                continue;
            };
            let known = remotes.iter().position(|remote| remote.name == name);
            let at = known.unwrap_or_else(|| {
                remotes.push(RemoteConfig {
                    name: name.to_owned(),
                    address: String::new(),
                    resolved: None,
                });
                remotes.len() - 1
            });
            match field {
                // git uses the first of several.
                "url" if remotes[at].address.is_empty() => {
                    value.clone_into(&mut remotes[at].address);
                }
                "gh-resolved" => remotes[at].resolved = Some(value.to_owned()),
                _ => {}
            }
        }
        remotes.retain(|remote| !remote.address.is_empty() && super::is_remote(&remote.name));
        remotes
    }

    /// A remote's address after git's own rewriting (`insteadOf`).
    pub(crate) fn rewritten(&self, remote: &str) -> Result<String, String> {
        self.ask(&["remote", "get-url", remote])
    }

    /// The commits and names of the refs below `prefix` on the server.
    pub(crate) fn list(&self, remote: &str, prefix: &str) -> Result<Vec<(String, String)>, String> {
        let plain = "--upload-pack=git-upload-pack";
        let pattern = format!("{prefix}*");
        let args = ["ls-remote", plain, "--", remote, &pattern];
        let said = heard(&args, self.server(&args))?;
        let lines = said.lines().filter_map(|line| line.split_once('\t'));
        Ok(lines
            .filter(|(_, name)| name.starts_with(prefix))
            .map(|(commit, name)| (commit.to_owned(), name.to_owned()))
            .collect())
    }

    /// Gets these refs' commits from the server.
    pub(crate) fn fetch_all(&self, remote: &str, names: &[&str]) -> Result<(), String> {
        let quiet = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let plain = ["--upload-pack=git-upload-pack", "--", remote];
        let args: Vec<&str> = quiet
            .into_iter()
            .chain(plain)
            .chain(names.iter().copied())
            .collect();
        heard(&args, self.server(&args)).map(drop)
    }

    /// The messages of these commits, each with its commit. A commit that is not here is left out.
    pub(crate) fn messages(&self, commits: &[&str]) -> Result<Vec<(String, String)>, String> {
        let format = [
            "log",
            "-z",
            "--no-walk=unsorted",
            "--ignore-missing",
            "--format=%H%n%B",
            "--no-show-signature",
            "--no-mailmap",
        ];
        let args: Vec<&str> = format
            .into_iter()
            .chain(commits.iter().copied())
            .chain(["--"])
            .collect();
        let said = self.ask(&args)?;
        let entries = said.split('\0').filter_map(|entry| entry.split_once('\n'));
        Ok(entries
            .map(|(commit, message)| (commit.to_owned(), message.to_owned()))
            .collect())
    }
}
