//! Finds or creates the pull request, once.

use mainspring_kernel::machines::claim::text::{body, title};
use mainspring_kernel::machines::claim::work::{Fault, How, Missing, Open, Outcome};
use mainspring_store::no_symlink;
use serde_json::json;

use super::change::Change;
use super::github_context::GitHubContext;
use super::query::{self, Found, Pull};
use crate::limits;

/// Where a repository may keep the template of its pull requests.
const TEMPLATES: [&str; 4] = [
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "docs/pull_request_template.md",
];

pub(super) fn open(
    github_context: &GitHubContext,
    open: &Open,
    checkout: &std::path::Path,
) -> Result<Outcome, Fault> {
    let found = query::find(
        &github_context.github(),
        open.issue,
        &open.branch,
        github_context.board.as_ref(),
    )?;
    let local = local_head(github_context, &open.branch);
    if let Some(pull) = adopt(&found, local.as_deref()) {
        return Ok(finish(
            github_context,
            open,
            &found,
            pull.clone(),
            How::Already,
        ));
    }
    if let Some(missing) = missing(github_context, open, &found, local.as_deref()) {
        return Ok(Outcome::Lacking(missing));
    }
    create(github_context, open, found, &template(checkout))
}

/// Asks GitHub for a new pull request, and reads its reply. A reply that cannot be used may
/// come from a pull request that exists, so we look for one then.
fn create(
    github_context: &GitHubContext,
    open: &Open,
    found: Found,
    template: &str,
) -> Result<Outcome, Fault> {
    let (title, rest) = title(&open.summary);
    let request = json!({
        "title": title,
        "body": body(&rest, open.issue, template),
        "head": open.branch,
        "base": found.base,
    });
    let path = format!(
        "repos/{}/{}/pulls",
        github_context.repository.owner, github_context.repository.name
    );
    let reply = match github_context.github().post(&path, &request) {
        Ok(reply) => reply,
        // The server said when to come back, so we do not ask before.
        Err(fault) if fault.not_before.is_some() => return Err(fault),
        Err(fault) => return look_again(github_context, open, fault),
    };
    if reply.is_success() {
        let number = reply.body["number"].as_u64();
        let url = reply.body["html_url"].as_str();
        let (Some(number), Some(url)) = (number, url) else {
            let fault = Fault {
                cause: "GitHub created the pull request but did not return its number".into(),
                not_before: None,
            };
            return look_again(github_context, open, fault);
        };
        let pull = Pull {
            number,
            url: url.to_owned(),
            is_open: true,
            head: String::new(),
        };
        return Ok(finish(github_context, open, &found, pull, How::Now));
    }
    if reply.says("already exists") {
        return look_again(github_context, open, reply.fault());
    }
    if reply.says("No commits between") {
        return Ok(Outcome::Lacking(Missing::NotAhead { base: found.base }));
    }
    Err(reply.fault())
}

/// Looks whether the pull request exists after all: somebody may have been faster, or an
/// earlier attempt of ours succeeded.
fn look_again(github_context: &GitHubContext, open: &Open, fault: Fault) -> Result<Outcome, Fault> {
    let found = query::find(
        &github_context.github(),
        open.issue,
        &open.branch,
        github_context.board.as_ref(),
    );
    let Ok(found) = found else {
        return Err(fault);
    };
    match found.pulls.iter().find(|pull| pull.is_open) {
        Some(pull) => Ok(finish(
            github_context,
            open,
            &found,
            pull.clone(),
            How::Already,
        )),
        None => Err(fault),
    }
}

/// The pull request that already has this work: an open one of the branch, or one that was
/// merged or closed with exactly our commit. A closed one with an older commit does not count.
fn adopt<'a>(found: &'a Found, local: Option<&str>) -> Option<&'a Pull> {
    let head = found.head.as_deref().or(local);
    found.pulls.iter().find(|pull| pull.is_open).or_else(|| {
        found
            .pulls
            .iter()
            .find(|pull| Some(pull.head.as_str()) == head)
    })
}

fn local_head(github_context: &GitHubContext, branch: &str) -> Option<String> {
    let commit = format!("refs/heads/{branch}^{{commit}}");
    github_context.programs.git.resolve(&commit)
}

/// What the agent must do before there can be a pull request.
fn missing(
    github_context: &GitHubContext,
    open: &Open,
    found: &Found,
    local: Option<&str>,
) -> Option<Missing> {
    if open.branch == found.base {
        return Some(Missing::Branch(
            "it is the base branch of pull requests".into(),
        ));
    }
    let Some(head) = found.head.as_deref() else {
        return Some(Missing::Unpushed);
    };
    if local.is_some_and(|local| local != head && has_more(github_context, local, head)) {
        return Some(Missing::Behind);
    }
    let range = format!("{}..{head}", found.base_commit);
    let ahead = github_context.programs.git.count(&range);
    if head == found.base_commit || ahead.as_deref() == Ok("0") {
        return Some(Missing::NotAhead {
            base: found.base.clone(),
        });
    }
    None
}

/// Is there a local commit that the server's branch does not have? If we do not know the
/// server's commit, somebody else pushed it, and theirs counts.
fn has_more(github_context: &GitHubContext, local: &str, head: &str) -> bool {
    github_context.programs.git.is_ancestor(local, head) == Some(false)
}

fn finish(
    github_context: &GitHubContext,
    open: &Open,
    found: &Found,
    pull: Pull,
    how: How,
) -> Outcome {
    let mut change = Change::default();
    change.card(&found.board, &open.card.status, &open.card.agent);
    let applied = change.apply(&github_context.github());
    Outcome::Opened {
        pr: pull.number,
        url: pull.url,
        how,
        board: applied.board(),
    }
}

fn template(checkout: &std::path::Path) -> String {
    TEMPLATES
        .iter()
        .find_map(|name| {
            let bytes = no_symlink::read(&checkout.join(name), limits::CONFIG).ok()??;
            String::from_utf8(bytes).ok()
        })
        .map(|text| text.chars().take(4_000).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::query::Board;
    use super::*;

    fn pull(number: u64, is_open: bool, head: &str) -> Pull {
        Pull {
            number,
            url: String::new(),
            is_open,
            head: head.into(),
        }
    }

    fn found(head: Option<&str>, pulls: Vec<Pull>) -> Found {
        Found {
            me: String::new(),
            base: "main".into(),
            base_commit: "b".into(),
            head: head.map(str::to_owned),
            issue: None,
            pulls,
            board: Board::Off,
        }
    }

    #[test]
    fn a_pull_request_is_adopted_if_it_is_open_or_has_this_very_commit() {
        for (head, pulls, expected) in [
            (Some("h"), vec![], None),
            (Some("h"), vec![pull(1, true, "old")], Some(1)),
            (Some("h"), vec![pull(2, false, "h")], Some(2)),
            (Some("h"), vec![pull(3, false, "old")], None),
            (
                Some("h"),
                vec![pull(5, false, "h"), pull(4, true, "h")],
                Some(4),
            ),
            // It was merged, and its branch deleted.
            (None, vec![pull(6, false, "local")], Some(6)),
            (None, vec![pull(7, false, "old")], None),
        ] {
            let found = found(head, pulls);
            let adopted = adopt(&found, Some("local")).map(|pull| pull.number);
            assert_eq!(adopted, expected, "{found:?}");
        }
    }
}
