//! Which remote is for what: the issues and the pull request are in one repository, and the branch
//! may be pushed to another, a fork.

use mainspring_kernel::machines::claim::remote::{Repository, Unknown, refusal};

use super::hosts;
use super::programs::Programs;
use crate::context::EventContext;
use crate::git::RemoteConfig;

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
    pub(crate) fn of(
        context: &EventContext<'_>,
        programs: &Programs,
    ) -> Result<Self, mainspring_store::Trouble> {
        Ok(Self {
            configured: programs.git.remotes(),
            hosts: hosts::known(context)?,
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
