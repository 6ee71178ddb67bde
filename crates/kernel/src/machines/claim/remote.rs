//! Which repository a remote's address names. An address that we do not understand is refused:
//! nobody wants a pull request in a guessed repository.

use alloc::format;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

/// A repository on a GitHub server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Repository {
    pub host: String,
    pub owner: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unknown {
    #[error("it is a path on this machine")]
    Local,
    #[error("its scheme `{0}` is not one that GitHub serves")]
    Scheme(String),
    #[error("it has no `owner/repository` at its end")]
    Path,
    #[error("its owner or repository has characters that GitHub does not allow")]
    Characters,
    #[error(
        "its host `{0}` is not known to be a GitHub server; \
         if it is one, add it to `claim.hosts` in your own configuration"
    )]
    Host(String),
}

/// A longer text is not an address.
const LONGEST: usize = 2_048;

impl Repository {
    /// Reads the value of `git config remote.<name>.url`. `servers` are the GitHub Enterprise hosts
    /// that the person configured.
    pub fn parse<'a>(
        address: &str,
        servers: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Unknown> {
        let address = address.trim();
        if address.len() > LONGEST {
            return Err(Unknown::Path);
        }
        let (host, path) = split(address)?;
        let host = canonical(host);
        if !is_github(&host) && !servers.into_iter().any(|known| canonical(known) == host) {
            return Err(Unknown::Host(host));
        }
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let (owner, name) = path.split_once('/').ok_or(Unknown::Path)?;
        if name.contains('/') {
            return Err(Unknown::Path);
        }
        if !is_owner(owner) || !is_name(name) {
            return Err(Unknown::Characters);
        }
        Ok(Self {
            host,
            owner: owner.into(),
            name: name.into(),
        })
    }
}

impl core::fmt::Display for Repository {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.owner, self.name)
    }
}

/// Host and path of any form of address that git knows.
fn split(address: &str) -> Result<(&str, &str), Unknown> {
    if let Some((scheme, rest)) = address.split_once("://") {
        return match scheme.to_ascii_lowercase().as_str() {
            "https" | "http" | "ssh" | "git" | "git+ssh" | "ssh+git" | "git+https" => {
                let (authority, path) = rest.split_once('/').ok_or(Unknown::Path)?;
                let host = authority
                    .rsplit_once('@')
                    .map_or(authority, |(_, host)| host);
                let host = host.split_once(':').map_or(host, |(host, _)| host);
                Ok((host, path))
            }
            "file" => Err(Unknown::Local),
            other => Err(Unknown::Scheme(other.chars().take(40).collect())),
        };
    }
    // Without a colon, or with a slash before the first one, it is a path. This is git's own rule.
    match address.split_once(':') {
        Some((host, path)) if !host.is_empty() && !host.contains('/') => {
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            Ok((host, path))
        }
        Some(_) | None => Err(Unknown::Local),
    }
}

/// GitHub's own spelling of a host: lower case, and the main name instead of its aliases.
fn canonical(host: &str) -> String {
    let lower = host.trim().to_ascii_lowercase();
    match lower.as_str() {
        "www.github.com" | "ssh.github.com" => "github.com".to_string(),
        _ => lower,
    }
}

fn is_github(host: &str) -> bool {
    let tenant = host.strip_suffix(".ghe.com");
    host == "github.com" || tenant.is_some_and(|tenant| !tenant.is_empty() && is_owner(tenant))
}

fn is_owner(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=100).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(plain)
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=100).contains(&text.len())
        && !matches!(text, "." | "..")
        && !text.starts_with('-')
        && text.bytes().all(plain)
}

/// The refusal, with the address.
pub fn refusal(remote: &str, address: &str, unknown: &Unknown) -> String {
    format!(
        "the remote `{}` is `{}`, which names no repository on GitHub: {unknown}",
        crate::hidden::quote(remote, 60),
        crate::hidden::quote(&without_secrets(address), 200),
    )
}

/// An address may contain a password before its `@`.
fn without_secrets(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => address.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(address: &str) -> Result<String, Unknown> {
        Repository::parse(address, ["git.corp.example"]).map(|repository| repository.to_string())
    }

    #[test]
    fn every_form_of_the_same_address_is_the_same_repository() {
        let forms = [
            "https://github.com/octo/hello.git",
            "https://github.com/octo/hello",
            "https://github.com/octo/hello/",
            "https://github.com/octo/hello.git/",
            "https://user:secret@github.com/octo/hello.git",
            "https://x-access-token:ghs_abc@github.com/octo/hello",
            "https://github.com:443/octo/hello.git",
            "HTTPS://GitHub.com/octo/hello.git",
            "http://www.github.com/octo/hello",
            "ssh://git@github.com/octo/hello.git",
            "ssh://git@github.com:22/octo/hello",
            "ssh://git@ssh.github.com:443/octo/hello.git",
            "git+ssh://git@github.com/octo/hello.git",
            "git://github.com/octo/hello.git",
            "git@github.com:octo/hello.git",
            "git@github.com:octo/hello",
            "git@github.com:/octo/hello.git",
            "github.com:octo/hello.git",
            "  git@github.com:octo/hello.git\n",
        ];
        for form in forms {
            assert_eq!(
                parse(form).as_deref(),
                Ok("github.com/octo/hello"),
                "{form}"
            );
        }
    }

    #[test]
    fn enterprise_servers_are_known_by_name_or_by_the_person() {
        let cases = [
            ("https://git.corp.example/a/b.git", "git.corp.example/a/b"),
            ("git@GIT.corp.example:a/b", "git.corp.example/a/b"),
            (
                "ssh://git@git.corp.example:2222/a/b.git",
                "git.corp.example/a/b",
            ),
            ("https://acme.ghe.com/a/b.git", "acme.ghe.com/a/b"),
            (
                "https://github.com/a/dotted.name.git",
                "github.com/a/dotted.name",
            ),
            ("https://github.com/a_b-c/d_e-f", "github.com/a_b-c/d_e-f"),
        ];
        for (address, expected) in cases {
            assert_eq!(parse(address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_and_never_guessed() {
        let host = |name: &str| Err(Unknown::Host(name.into()));
        let cases = [
            ("", Err(Unknown::Local)),
            ("/srv/git/hello.git", Err(Unknown::Local)),
            ("../hello.git", Err(Unknown::Local)),
            ("./a:b/c", Err(Unknown::Local)),
            ("file:///srv/git/o/r.git", Err(Unknown::Local)),
            ("ftp://github.com/o/r", Err(Unknown::Scheme("ftp".into()))),
            ("ext::sh -c evil", host("ext")),
            ("https://gitlab.com/o/r.git", host("gitlab.com")),
            (
                "https://github.com.evil.example/o/r",
                host("github.com.evil.example"),
            ),
            ("https://evil.example/github.com/o/r", host("evil.example")),
            ("https://github.com@evil.example/o/r", host("evil.example")),
            ("https://.ghe.com/o/r", host(".ghe.com")),
            ("https://a.b.ghe.com/o/r", host("a.b.ghe.com")),
            ("https://github.com", Err(Unknown::Path)),
            ("https://github.com/octo", Err(Unknown::Path)),
            ("https://github.com/group/sub/repo.git", Err(Unknown::Path)),
            ("https://github.com/o/.git", Err(Unknown::Characters)),
            ("https://github.com/o/..", Err(Unknown::Characters)),
            ("https://github.com/-o/r", Err(Unknown::Characters)),
            ("https://github.com/o/--repo", Err(Unknown::Characters)),
            ("https://github.com/o/r?x=1", Err(Unknown::Characters)),
            ("https://github.com/o/r r", Err(Unknown::Characters)),
            ("git@github.com:o/$(id).git", Err(Unknown::Characters)),
            ("https://github.com/ö/r", Err(Unknown::Characters)),
        ];
        for (address, expected) in cases {
            assert_eq!(parse(address), expected, "{address}");
        }
        assert_eq!(parse(&"x".repeat(3_000)), Err(Unknown::Path));
    }

    #[test]
    fn a_refusal_does_not_repeat_the_password() {
        let address = "https://me:hunter2@gitlab.com/o/r.git";
        let unknown = parse(address).unwrap_err();
        let text = refusal("origin", address, &unknown);
        assert!(
            !text.contains("hunter2") && text.contains("gitlab.com/o/r.git"),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn no_address_breaks_it_and_what_passes_is_plain(address in any::<String>()) {
            if let Ok(repository) = Repository::parse(&address, []) {
                prop_assert!(is_owner(&repository.owner) && is_name(&repository.name));
                prop_assert!(is_github(&repository.host));
            }
        }

        #[test]
        fn owner_and_name_come_back(owner in "[a-z0-9][a-z0-9-]{0,20}", name in "[a-z0-9_][a-z0-9_.-]{0,20}[0-9]", form in 0_usize..4) {
            let address = match form {
                0 => format!("https://github.com/{owner}/{name}.git"),
                1 => format!("git@github.com:{owner}/{name}"),
                2 => format!("ssh://git@github.com:22/{owner}/{name}.git"),
                _ => format!("https://github.com/{owner}/{name}"),
            };
            prop_assert_eq!(parse(&address), Ok(format!("github.com/{owner}/{name}")));
        }
    }
}
