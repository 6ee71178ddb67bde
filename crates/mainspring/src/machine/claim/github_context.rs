//! What an effect at GitHub needs: the programs, the repository, the board.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::remote::{Repository, refusal};
use mainspring_store::{Trouble, atomic};

use super::gh::GitHub;
use super::programs::Programs;
use super::query::BoardName;
use crate::config::{Config, Value};
use crate::event_context::EventContext;
use crate::git::is_remote;
use crate::limits;
use crate::permit::Permit;

#[derive(Debug)]
pub(crate) struct GitHubContext {
    pub(crate) programs: Programs,
    pub(crate) remote: String,
    pub(crate) repository: Repository,
    pub(crate) board: Option<BoardName>,
    pub(crate) now: Millis,
}

/// Why an effect has no context.
#[derive(Debug)]
pub(crate) enum ContextError {
    /// The remote is not a repository that we may change.
    Remote(String),
    Trouble(Trouble),
}

impl From<Trouble> for ContextError {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl std::fmt::Display for ContextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Remote(why) => f.write_str(why),
            Self::Trouble(trouble) => write!(f, "{trouble}"),
        }
    }
}

impl GitHubContext {
    pub(crate) fn open(
        context: &EventContext<'_>,
        permit: Permit,
        limit: Millis,
    ) -> Result<Self, ContextError> {
        let programs = Programs::of(context, permit, limit)?;
        let config = context.config()?;
        let remote = remote(config).map_err(ContextError::Remote)?;
        let address = programs
            .git
            .address(&remote)
            .map_err(|_| ContextError::Remote(format!("there is no remote `{remote}` here")))?;
        let hosts = known_hosts(context)?;
        let repository = Repository::parse(&address, hosts.iter().map(String::as_str))
            .map_err(|unknown| ContextError::Remote(refusal(&remote, &address, &unknown)))?;
        let board = board_name(context)?.map(|(owner, number)| BoardName {
            owner: if owner.is_empty() {
                repository.owner.clone()
            } else {
                owner
            },
            number,
        });
        Ok(Self {
            programs,
            remote,
            repository,
            board,
            now: context.env.later(),
        })
    }

    pub(crate) fn github(&self) -> GitHub<'_> {
        GitHub {
            programs: &self.programs,
            repository: &self.repository,
            now: self.now,
        }
    }
}

/// The name of the configured remote; a repository may configure it, too.
pub(crate) fn remote(config: &Config) -> Result<String, String> {
    match config.get("claim.remote").and_then(Value::text) {
        Some(remote) if is_remote(remote) => Ok(remote.to_owned()),
        other => Err(format!(
            "claim.remote is {other:?}, which is not the name of a remote"
        )),
    }
}

/// The configured board: its owner (empty: the repository's) and its number.
pub(crate) fn board_name(context: &EventContext<'_>) -> Result<Option<(String, u64)>, Trouble> {
    let config = context.config()?;
    let number = config
        .get("claim.project")
        .and_then(Value::number)
        .unwrap_or(0);
    let owner = config
        .get("claim.owner")
        .and_then(Value::text)
        .unwrap_or_default();
    Ok((number > 0).then(|| (owner.to_owned(), number)))
}

/// The GitHub servers that the person named: in our configuration, to `gh` when they signed in,
/// or in this shell's variables.
fn known_hosts(context: &EventContext<'_>) -> Result<Vec<String>, Trouble> {
    let listed = context.config()?.get("claim.hosts").and_then(Value::list);
    let mut hosts = listed.unwrap_or_default().to_vec();
    hosts.extend(context.env.var("GH_HOST"));
    let folder = context
        .env
        .var_os("GH_CONFIG_DIR")
        .map(std::path::PathBuf::from)
        .or_else(|| Some(context.env.home()?.join(".config/gh")));
    if let Some(folder) = folder
        && let Ok(Some(text)) = atomic::read_text(&folder.join("hosts.yml"), limits::CONFIG)
    {
        hosts.extend(signed_in(&text));
    }
    Ok(hosts)
}

/// The top-level keys of gh's `hosts.yml`.
fn signed_in(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .filter(|line| !line.starts_with([' ', '\t', '#', '-']))
        .filter_map(|line| line.trim_end().strip_suffix(':'))
        .map(|host| host.trim_matches('"').to_owned())
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
}
