//! The GitHub servers that the person uses.

use std::path::PathBuf;

use mainspring_store::{Trouble, atomic};

use crate::config;
use crate::context::EventContext;
use crate::limits;

/// The servers that the person named: in our configuration, to `gh` when they signed in, or in
/// this shell's variables.
pub(super) fn known(context: &EventContext<'_>) -> Result<Vec<String>, Trouble> {
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
