//! Which remote is for what: the issues and the pull request are in one repository, and the branch
//! may be pushed to another, a fork.

use std::path::PathBuf;

use mainspring_kernel::machines::claim::remote::{Repository, Unknown, refusal};
use mainspring_store::{Trouble, atomic};

use super::programs::Programs;
use crate::config;
use crate::context::EventContext;
use crate::git::RemoteConfig;
use crate::limits;

/// A remote, and the repository on GitHub that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) name: String,
    pub(crate) repository: Repository,
}

/// The remotes of a checkout, and the GitHub servers that the person uses.
#[derive(Debug)]
pub(crate) struct Remotes {
    configured: Vec<RemoteConfig>,
    hosts: Vec<String>,
}

/// The names of the remote with the issues, as `gh` prefers them.
const USUAL: [&str; 3] = ["upstream", "github", "origin"];

impl Remotes {
    pub(crate) fn of(context: &EventContext<'_>, programs: &Programs) -> Result<Self, Trouble> {
        Ok(Self {
            configured: programs.git.remotes(),
            hosts: known_servers(context)?,
        })
    }

    fn named(&self, name: &str) -> Option<&RemoteConfig> {
        self.configured.iter().find(|remote| remote.name == name)
    }

    /// The remote of the repository with the issues: the configured one; else what the person told
    /// `gh`; else by its name.
    pub(crate) fn base(&self, wanted: &str, programs: &Programs) -> Result<Remote, String> {
        if !wanted.is_empty() {
            let remote = self
                .named(wanted)
                .ok_or_else(|| format!("there is no remote `{wanted}` here"))?;
            return self.read(remote, programs);
        }
        let chosen = self
            .configured
            .iter()
            .find_map(|remote| Some((remote, remote.resolved.as_deref()?)));
        if let Some((remote, resolved)) = chosen {
            let mut base = self.read(remote, programs)?;
            if resolved != "base" {
                base.repository = elsewhere(&base.repository, resolved)?;
            }
            return Ok(base);
        }
        let usual = USUAL.iter().filter_map(|name| self.named(name));
        let is_other = |remote: &&RemoteConfig| !USUAL.contains(&remote.name.as_str());
        let mut problem = None;
        for remote in usual.chain(self.configured.iter().filter(is_other)) {
            match self.read(remote, programs) {
                Ok(base) => return Ok(base),
                Err(why) => problem = problem.or(Some(why)),
            }
        }
        Err(problem.unwrap_or_else(|| "there is no remote here".into()))
    }

    /// The remote to which a branch is pushed: as git is configured; else `known`; else a fork that
    /// is `origin`; else where the issues are.
    pub(crate) fn push(
        &self,
        branch: &str,
        known: &str,
        base: &Remote,
        programs: &Programs,
    ) -> Result<Remote, String> {
        let git = &programs.git;
        let configured = [
            format!("branch.{branch}.pushRemote"),
            "remote.pushDefault".to_owned(),
            format!("branch.{branch}.remote"),
        ];
        let named = configured
            .iter()
            .filter(|_| !branch.is_empty())
            .find_map(|key| git.setting(key).and_then(|name| self.named(&name)))
            .or_else(|| self.named(known));
        match named {
            Some(remote) => self.read(remote, programs),
            None => Ok(match self.named("origin") {
                Some(origin) if origin.name != base.name => {
                    self.read(origin, programs).unwrap_or_else(|_| base.clone())
                }
                Some(_) | None => base.clone(),
            }),
        }
    }

    /// Another repository on the same server, for somebody who may not push to the base.
    pub(crate) fn fork(&self, base: &Remote, programs: &Programs) -> Option<Remote> {
        let others = self
            .configured
            .iter()
            .filter(|remote| remote.name != base.name);
        let mut read = others.filter_map(|remote| self.read(remote, programs).ok());
        read.find(|remote| {
            remote.repository.host == base.repository.host && remote.repository != base.repository
        })
    }

    /// The repository that a remote names. Where the address alone does not tell, git and ssh are
    /// asked how they understand it, and `gh` which servers it is signed in to.
    fn read(&self, remote: &RemoteConfig, programs: &Programs) -> Result<Remote, String> {
        let named = |repository| Remote {
            name: remote.name.clone(),
            repository,
        };
        let parse =
            |address: &str| Repository::parse(address, self.hosts.iter().map(String::as_str));
        let unknown = match parse(&remote.address) {
            Ok(repository) => return Ok(named(repository)),
            Err(unknown) => unknown,
        };
        let rewritten = programs.git.rewritten(&remote.name).unwrap_or_default();
        let mut address = remote.address.clone();
        let mut unknown = unknown;
        if !rewritten.is_empty() && rewritten != address {
            match parse(&rewritten) {
                Ok(repository) => return Ok(named(repository)),
                // A path on this machine says less than the address that was typed.
                Err(Unknown::Local) => {}
                Err(other) => (address, unknown) = (rewritten, other),
            }
        }
        if let Unknown::Host(host) = &unknown {
            let real = programs.ssh_host(host).filter(|real| real != host);
            if let Some(real) = real
                && let Ok(repository) = parse(&address.replacen(host.as_str(), &real, 1))
            {
                return Ok(named(repository));
            }
            if programs.signed_in().iter().any(|known| known == host) {
                let asked = Repository::parse(&address, [host.as_str()]);
                if let Ok(repository) = asked {
                    return Ok(named(repository));
                }
            }
        }
        Err(refusal(&remote.name, &remote.address, &unknown))
    }
}

/// The repository that `gh repo set-default` names: `owner/name`, with or without a host.
fn elsewhere(of: &Repository, resolved: &str) -> Result<Repository, String> {
    let parts: Vec<&str> = resolved.split('/').collect();
    let address = match parts.as_slice() {
        [owner, name] => format!("https://{}/{owner}/{name}", of.host),
        [host, owner, name] => format!("https://{host}/{owner}/{name}"),
        _ => resolved.to_owned(),
    };
    Repository::parse(&address, [of.host.as_str()])
        .map_err(|unknown| refusal("gh's default repository", resolved, &unknown))
}

/// The servers that the person named: in our configuration, to `gh` when they signed in, or in
/// this shell's variables.
fn known_servers(context: &EventContext<'_>) -> Result<Vec<String>, Trouble> {
    let mut hosts = config::owned(&context.config()?.claim.hosts);
    hosts.extend(context.env.var("GH_HOST"));
    if let Some(folder) = folder(context)
        && let Ok(Some(text)) = atomic::read_text(&folder.join("hosts.yml"), limits::CONFIG)
    {
        hosts.extend(signed_in(&text));
    }
    Ok(hosts)
}

/// Where `gh` keeps its configuration.
fn folder(context: &EventContext<'_>) -> Option<PathBuf> {
    let env = context.env;
    let below = |base: PathBuf| base.join("gh");
    env.var_os("GH_CONFIG_DIR")
        .map(PathBuf::from)
        .or_else(|| env.var_os("XDG_CONFIG_HOME").map(PathBuf::from).map(below))
        .or_else(|| Some(env.home()?.join(".config/gh")))
}

/// The top-level keys of gh's `hosts.yml`.
fn signed_in(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .filter(|line| !line.starts_with([' ', '\t', '#', '-']))
        .filter_map(|line| line.trim_end().strip_suffix(':'))
        .map(|host| host.trim_matches('"').to_owned())
}

/// The servers in the output of `gh auth status`: the lines that are not indented.
pub(super) fn in_status(text: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    text.lines()
        .filter(|line| !line.starts_with([' ', '\t']))
        .map(str::trim_end)
        .filter(|line| line.contains('.') && line.chars().all(plain))
        .map(str::to_ascii_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_that_gh_is_signed_in_to() {
        let text = "github.com:\n    user: octo\n    oauth_token: x\n\"git.corp.example\":\n    user: o\n# c:\n";
        let hosts: Vec<String> = signed_in(text).collect();
        assert_eq!(hosts, ["github.com", "git.corp.example"]);
    }

    #[test]
    fn the_hosts_in_what_gh_says_about_its_sign_in() {
        let text = "github.com\n  ✓ Logged in to github.com as octo (GH_TOKEN)\n\ngit.corp.example\n  ✓ Logged in\nYou are not logged into any other hosts.\n";
        assert_eq!(in_status(text), ["github.com", "git.corp.example"]);
    }
}
