//! How git talks to a server from a repository that nobody trusted.

/// The transport as git has it where nobody configured one.
const PLAIN: &[&str] = &["core.sshCommand=ssh", "credential.helper="];

/// The settings with which a command overrides those of the repository, from what
/// `git config --list --show-scope --null` prints. An error is the name of a setting of the
/// repository that would lead elsewhere or change a file.
pub(super) fn for_untrusted(listed: &str) -> Result<Vec<String>, String> {
    let mut settings: Vec<String> = PLAIN.iter().map(|&one| one.into()).collect();
    let mut parts = listed.split_terminator('\0');
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        let is_persons = matches!(scope, "system" | "global");
        if !is_persons && scope != "command" && leads_elsewhere(key) {
            return Err(key.into());
        }
        if is_persons && is_transport(key) && !key.contains('=') {
            settings.push(format!("{key}={value}"));
        }
    }
    Ok(settings)
}

/// What a command line can override: the person's own counts in its place.
fn is_transport(key: &str) -> bool {
    key == "core.sshcommand" || key.starts_with("credential.")
}

/// A proxy, a header, a file for cookies, a server whose certificate nobody checks: there are too
/// many to override. `url.*.insteadOf` gives the remote another address than the one whose host was
/// looked at; a folder's path is none of a server.
fn leads_elsewhere(key: &str) -> bool {
    let is_rewrite = key.strip_prefix("url.").is_some_and(|rest| {
        let is_one = rest.ends_with(".insteadof") || rest.ends_with(".pushinsteadof");
        is_one && !rest.starts_with('/')
    });
    let of_remote = key.starts_with("remote.")
        && [".proxy", ".proxyauthmethod", ".vcs"]
            .iter()
            .any(|end| key.ends_with(end));
    key.starts_with("http.") || key == "fetch.bundleuri" || of_remote || is_rewrite
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_persons_own_transport_counts_and_the_repositorys_does_not() {
        let listed = "global\0credential.helper\nstore\0local\0core.sshcommand\nevil\0\
                      local\0remote.origin.url\nhttps://example.org/r\0global\0http.proxy\np\0";
        assert_eq!(
            for_untrusted(listed).unwrap(),
            [
                "core.sshCommand=ssh",
                "credential.helper=",
                "credential.helper=store"
            ]
        );
    }

    #[test]
    fn a_setting_of_the_repository_that_leads_elsewhere_is_named() {
        for key in [
            "http.proxy",
            "url.http://127.0.0.1:1/.insteadof",
            "url.git@elsewhere:.pushinsteadof",
            "http.https://github.com/.extraheader",
            "http.cookiefile",
            "remote.origin.proxy",
            "remote.origin.vcs",
            "fetch.bundleuri",
        ] {
            for scope in ["local", "worktree"] {
                let listed = format!("{scope}\0{key}\nx\0");
                assert_eq!(for_untrusted(&listed), Err(key.to_owned()));
            }
        }
    }
}
