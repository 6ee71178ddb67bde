//! Finds or creates the pull request, once.

use mainspring_kernel::machines::claim::pull::PullState;
use mainspring_kernel::machines::claim::text::{body, title};
use mainspring_kernel::machines::claim::work::{CardUpdate, Fault, How, Missing, Open, Outcome};
use mainspring_store::no_symlink;
use serde_json::json;

use super::super::check::CheckReceipt;
use super::change::Change;
use super::github_context::GitHubContext;
use super::place;
use super::query::{BranchPull, OnGitHub};
use super::route::Remote;
use crate::context::EventContext;
use crate::limits;

/// Where a repository may keep the template of its pull requests.
const TEMPLATES: [&str; 4] = [
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "docs/pull_request_template.md",
];

/// What goes into the text of a new pull request besides the agent's summary.
pub(super) struct Extras {
    /// The repository's template.
    template: String,
    /// What the checks have shown at this stop.
    receipt: Option<CheckReceipt>,
}

impl Extras {
    pub(super) fn of(context: &EventContext<'_>, receipt: Option<CheckReceipt>) -> Self {
        Self {
            template: template(&place(context)),
            receipt,
        }
    }
}

pub(super) fn open(
    github: &GitHubContext,
    open: &Open,
    mut extras: Extras,
) -> Result<Outcome, Fault> {
    let push = match github.push(&open.branch, &open.push) {
        Ok(push) => push,
        Err(why) => return Ok(Outcome::Lacking(Missing::Remote(why))),
    };
    let opening = Opening { github, open, push };
    let found = opening.find()?;
    let local = local_head(github, &open.branch);
    if let Some(pull) = adopt(&found, local.as_deref(), open.instead_of) {
        return Ok(opening.finish(&found, pull.clone(), How::Already));
    }
    if let Some(outcome) = opening.missing(&found, local.as_deref()) {
        return Ok(outcome);
    }
    if let Some(receipt) = &mut extras.receipt {
        receipt.commit = local;
    }
    opening.create(found, &extras)
}

/// One pull request that is to be opened, and where its branch is.
struct Opening<'a> {
    github: &'a GitHubContext,
    open: &'a Open,
    push: Remote,
}

impl Opening<'_> {
    fn find(&self) -> Result<OnGitHub, Fault> {
        let open = self.open;
        self.github
            .find_branch(open.issue, &open.branch, &self.push.repository)
    }

    /// The branch as GitHub names it: with its owner, if it is in a fork.
    fn head(&self) -> String {
        let (push, base) = (&self.push.repository, &self.github.base.repository);
        if push == base {
            self.open.branch.clone()
        } else {
            format!("{}:{}", push.owner, self.open.branch)
        }
    }

    /// Asks GitHub for a new pull request, and reads its reply. A reply that cannot be used may
    /// come from a pull request that exists, so we look for one then.
    fn create(&self, found: OnGitHub, extras: &Extras) -> Result<Outcome, Fault> {
        let (title, rest) = title(&self.open.summary);
        let receipt = extras.receipt.as_ref().map(CheckReceipt::markdown);
        let mut text = body(&rest, self.open.issue, &extras.template);
        if let Some(receipt) = receipt.filter(|receipt| !receipt.is_empty()) {
            text += &format!("\n{receipt}");
        }
        let request = json!({
            "title": title,
            "body": text,
            "head": self.head(),
            "base": found.base,
        });
        let repository = &self.github.base.repository;
        let path = format!("repos/{}/{}/pulls", repository.owner, repository.name);
        let reply = match self.github.api().post(&path, &request) {
            Ok(reply) => reply,
            // The server said when to come back, so we do not ask before.
            Err(fault) if fault.not_before.is_some() => return Err(fault),
            Err(fault) => return self.look_again(fault),
        };
        if reply.is_success() {
            let number = reply.body["number"].as_u64();
            let url = reply.body["html_url"].as_str();
            let (Some(number), Some(url)) = (number, url) else {
                let cause = "GitHub created the pull request but did not return its number";
                return self.look_again(Fault::new(cause));
            };
            let pull = BranchPull {
                number,
                url: url.to_owned(),
                state: PullState::Open,
                head: String::new(),
            };
            return Ok(self.finish(&found, pull, How::Now));
        }
        if reply.says("already exists") {
            return self.look_again(reply.fault());
        }
        if reply.says("No commits between") {
            return Ok(Outcome::Lacking(Missing::NotAhead { base: found.base }));
        }
        Err(reply.fault())
    }

    /// Looks whether the pull request exists after all: somebody may have been faster, or an
    /// earlier attempt of ours succeeded.
    fn look_again(&self, fault: Fault) -> Result<Outcome, Fault> {
        let Ok(found) = self.find() else {
            return Err(fault);
        };
        let mut pulls = found.pulls.iter();
        match pulls.find(|pull| pull.state == PullState::Open) {
            Some(pull) => Ok(self.finish(&found, pull.clone(), How::Already)),
            None => Err(fault),
        }
    }

    /// What comes before a pull request, if anything does.
    fn missing(&self, found: &OnGitHub, local: Option<&str>) -> Option<Outcome> {
        let git = &self.github.programs.git;
        let lacking = |missing| Some(Outcome::Lacking(missing));
        if self.open.branch == found.base && self.push.repository == self.github.base.repository {
            return lacking(Missing::Branch(
                "it is the base branch of pull requests".into(),
            ));
        }
        let Some(head) = found.head.as_deref() else {
            // Somebody may have merged it by hand and deleted the branch.
            let merged = local.is_some_and(|local| self.is_integrated(found, local));
            return if merged {
                Some(integrated(found))
            } else {
                lacking(Missing::Unpushed)
            };
        };
        if let Some(local) = local.filter(|local| *local != head)
            && git.is_ancestor(local, head) == Some(false)
        {
            let rewritten = git.is_ancestor(head, local) == Some(false)
                && git.was_head(&self.open.branch, head);
            return lacking(if rewritten {
                Missing::Rewritten {
                    remote: self.push.name.clone(),
                }
            } else {
                Missing::Behind
            });
        }
        let range = format!("{}..{head}", found.base_commit);
        let ahead = git.count(&range);
        if head == found.base_commit || ahead.as_deref() == Ok("0") {
            return if self.is_integrated(found, head) {
                Some(integrated(found))
            } else {
                lacking(Missing::NotAhead {
                    base: found.base.clone(),
                })
            };
        }
        None
    }

    /// Was there work on the branch, and does the base have all of it?
    fn is_integrated(&self, found: &OnGitHub, head: &str) -> bool {
        is_integrated(self.github, &self.open.branch, found, head)
    }

    fn finish(&self, found: &OnGitHub, pull: BranchPull, how: How) -> Outcome {
        let mut change = Change::default();
        let CardUpdate { status, agent, .. } = &self.open.card;
        change.card(&found.board, self.github.columns.name(status), agent);
        let applied = change.apply(&self.github.api());
        Outcome::Opened {
            pr: pull.number,
            url: pull.url,
            how,
            board: applied.board(),
        }
    }
}

/// Was there work on the branch, and does the base on the server have all of it? A branch on which
/// nothing was committed is not merged.
pub(crate) fn is_integrated(
    github: &GitHubContext,
    branch: &str,
    found: &OnGitHub,
    head: &str,
) -> bool {
    let git = &github.programs.git;
    if !git.has_commits_of_its_own(branch) {
        return false;
    }
    let known = git.is_ancestor(head, &found.base_commit);
    let known = known.or_else(|| {
        // The base has moved on since this clone looked.
        let name = format!("refs/heads/{}", found.base);
        git.fetch(&github.base.name, &name).ok()?;
        git.is_ancestor(head, &found.base_commit)
    });
    known == Some(true)
}

fn integrated(found: &OnGitHub) -> Outcome {
    Outcome::Integrated {
        base: found.base.clone(),
    }
}

/// The pull request that already has this work: an open one of the branch, or one that was merged
/// or closed with exactly our commit. A closed one with an older commit does not count, nor does
/// one that is to be replaced.
fn adopt<'a>(
    found: &'a OnGitHub,
    local: Option<&str>,
    instead_of: Option<u64>,
) -> Option<&'a BranchPull> {
    let head = found.head.as_deref().or(local);
    let pulls = || found.pulls.iter();
    let open = pulls().find(|pull| pull.state == PullState::Open);
    open.or_else(|| {
        pulls().find(|pull| {
            let replaced = pull.state == PullState::Closed && Some(pull.number) == instead_of;
            Some(pull.head.as_str()) == head && !replaced
        })
    })
}

pub(crate) fn local_head(github: &GitHubContext, branch: &str) -> Option<String> {
    let commit = format!("refs/heads/{branch}^{{commit}}");
    github.programs.git.resolve(&commit)
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
    use super::super::query::IssueCard;
    use super::*;

    fn pull(number: u64, is_open: bool, head: &str) -> BranchPull {
        BranchPull {
            number,
            url: String::new(),
            state: if is_open {
                PullState::Open
            } else {
                PullState::Closed
            },
            head: head.into(),
        }
    }

    fn found(head: Option<&str>, pulls: Vec<BranchPull>) -> OnGitHub {
        OnGitHub {
            me: String::new(),
            login: String::new(),
            may_push: true,
            is_pull: false,
            base: "main".into(),
            base_commit: "b".into(),
            head: head.map(str::to_owned),
            issue: None,
            pulls,
            board: IssueCard::Off,
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
            let adopted = adopt(&found, Some("local"), None).map(|pull| pull.number);
            assert_eq!(adopted, expected, "{found:?}");
        }
        let closed = found(Some("h"), vec![pull(8, false, "h")]);
        assert_eq!(adopt(&closed, None, Some(8)), None, "another one is wanted");
    }
}
