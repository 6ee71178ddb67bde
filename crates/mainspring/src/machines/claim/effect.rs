//! Runs the effects that the kernel asked for. Each looks at GitHub before it changes anything.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::claim_file::status;
use mainspring_kernel::machines::claim::text::{farewell, marker};
use mainspring_kernel::machines::claim::work::{
    BranchStatus, CardMove, CardUpdate, Close, Effect, Fault, HeartBeat, How, Item, Missing,
    Outcome, Release, Seen, Survey,
};
use serde_json::{Value, json};

use super::super::check::CheckReceipt;
use super::change::Change;
use super::gh_lock::GhLock;
use super::github_context::{ContextError, GitHubContext, same};
use super::open::Extras;
use super::query::{self, BoardName};
use super::{lease, open, poll};
use crate::children::permit::Permit;
use crate::context::EventContext;

pub(super) fn run(
    context: &EventContext<'_>,
    permit: Permit,
    (effect, limit): (&Effect, Millis),
    checks: Option<&CheckReceipt>,
) -> Outcome {
    let github_context = match GitHubContext::open(context, permit, limit) {
        Ok(github_context) => github_context,
        Err(ContextError::Remote(why)) => return no_repository(effect, why),
        Err(ContextError::Trouble(trouble)) => {
            return Outcome::Failed(Fault {
                cause: trouble.to_string(),
                not_before: None,
            });
        }
    };
    let outcome = match effect {
        Effect::Open(work) => gh_lock(context).and_then(|_lock| {
            let lease = work.lease.as_deref();
            if let Some(by) = github_context.taken_by(work.issue, lease, &work.claims) {
                return Ok(Outcome::Lacking(Missing::Claim { by }));
            }
            let extras = Extras::of(context, checks.cloned());
            open::open(&github_context, work, extras)
        }),
        Effect::Close(work) => gh_lock(context).and_then(|lock| close(&github_context, work, lock)),
        Effect::Sync(card) => gh_lock(context).and_then(|_lock| sync(&github_context, card)),
        // A poll changes nothing and needs no lock, and an idle hook has little time.
        Effect::Poll { pr, known } => {
            poll::poll(&github_context, *pr, known.as_deref()).map(Outcome::Polled)
        }
        Effect::CheckMerge { pr } => poll::merged(&github_context, *pr).map(Outcome::MergeChecked),
        Effect::Look { branch } => look(&github_context, branch),
        Effect::Survey => survey(&github_context).map(Outcome::Surveyed),
        Effect::Arrive { pr, known } => Ok(arrive(&github_context, *pr, known.as_deref())),
        Effect::Beat(beat) => beat_again(&github_context, beat),
        Effect::GiveBack {
            issue,
            lease,
            remote,
        } => Ok(Outcome::GivenBack(release(
            &github_context,
            *issue,
            Some(lease),
            remote,
        ))),
    };
    outcome.unwrap_or_else(Outcome::Failed)
}

fn gh_lock(context: &EventContext<'_>) -> Result<GhLock, Fault> {
    GhLock::wait(context).map_err(|trouble| Fault {
        cause: trouble.to_string(),
        not_before: None,
    })
}

/// Without a repository, a look and a survey find nothing; the other effects say why they failed.
fn no_repository(effect: &Effect, why: String) -> Outcome {
    match effect {
        Effect::Open(_) => Outcome::Lacking(Missing::Remote(why)),
        Effect::Look { .. } => Outcome::Looked(BranchStatus::NotMerged),
        Effect::Survey => Outcome::Surveyed(Survey::Off),
        Effect::Close(_)
        | Effect::Poll { .. }
        | Effect::CheckMerge { .. }
        | Effect::Arrive { .. }
        | Effect::Beat(_)
        | Effect::GiveBack { .. }
        | Effect::Sync(_) => Outcome::Failed(Fault {
            cause: why,
            not_before: None,
        }),
    }
}

/// The board and the pull request are read one after the other: each may fail by itself.
fn arrive(github_context: &GitHubContext, pr: u64, known: Option<&str>) -> Outcome {
    let survey = survey(github_context).unwrap_or_else(|fault| Survey::Unavailable(fault.cause));
    let seen = match poll::poll(github_context, pr, known) {
        Ok(pull) => Seen::Pull(pull),
        Err(fault) => Seen::Failed(fault),
    };
    Outcome::Arrived { survey, seen }
}

fn beat_again(github_context: &GitHubContext, beat: &HeartBeat) -> Result<Outcome, Fault> {
    let beat = HeartBeat {
        remote: github_context.claims(&beat.remote).to_owned(),
        ..beat.clone()
    };
    let git = &github_context.programs.git;
    let beaten = lease::beat(git, &beat, github_context.now).map_err(|cause| Fault {
        cause,
        not_before: None,
    })?;
    Ok(Outcome::Beaten(beaten))
}

/// Gives the issue back on the git server, if we hold it.
pub(crate) fn release(
    github_context: &GitHubContext,
    issue: u64,
    lease: Option<&String>,
    remote: &str,
) -> Release {
    let Some(commit) = lease else {
        return Release::NotHeld;
    };
    let remote = github_context.claims(remote);
    lease::release(&github_context.programs.git, remote, issue, commit)
        .unwrap_or_else(Release::Failed)
}

/// Comment, close and card are one document, in this order. If a crash lost our knowledge of
/// the comment, its marker shows that it exists; closing a closed issue changes nothing.
fn close(github_context: &GitHubContext, close: &Close, lock: GhLock) -> Result<Outcome, Fault> {
    let (how, board) = match close_once(github_context, close) {
        Ok(closed) => closed,
        // The issue may be closed although the reply was lost, so we look again. If the server
        // said when to come back, we do not ask before.
        Err(fault) if fault.not_before.is_some() => return Err(fault),
        Err(fault) => match close_once(github_context, close) {
            Ok((_, board)) => (How::Now, board),
            Err(_) => return Err(fault),
        },
    };
    drop(lock);
    let release = release(
        github_context,
        close.issue,
        close.lease.as_ref(),
        &close.remote,
    );
    Ok(Outcome::Closed {
        how,
        board,
        release,
    })
}

/// Where only the claim's file says that the issue may be closed, GitHub must say so, too.
fn require_merged(github_context: &GitHubContext, close: &Close) -> Result<(), Fault> {
    let refused = |cause: String| Fault {
        cause: format!("{cause}, and nobody let the issue be closed all the same"),
        not_before: None,
    };
    let pr = close
        .pr
        .ok_or_else(|| refused("there is no pull request".into()))?;
    match poll::merged(github_context, pr)? {
        Some(_) => Ok(()),
        None => Err(refused(format!("pull request #{pr} is not merged"))),
    }
}

fn close_once(github_context: &GitHubContext, close: &Close) -> Result<(How, CardMove), Fault> {
    let github = github_context.github();
    if close.only_if_merged {
        require_merged(github_context, close)?;
    }
    let found = github_context.find(close.issue)?;
    let Some(issue) = &found.issue else {
        return Err(Fault {
            cause: format!(
                "{} has no issue #{}",
                github_context.base.repository, close.issue
            ),
            not_before: None,
        });
    };
    let mut change = Change::default();
    let said = issue
        .comments
        .iter()
        .any(|body| body.contains(&marker(close.issue, close.pr)));
    if issue.is_open && !said {
        change.comment(&issue.id, &farewell(close.issue, close.pr));
    }
    if issue.is_open {
        change.close(&issue.id);
    }
    let column = github_context.columns.name(&close.card.status);
    change.card(&found.board, column, &close.card.agent);
    let applied = change.apply(&github);
    if issue.is_open {
        applied.part("close")?;
    }
    let how = if issue.is_open {
        How::Now
    } else {
        How::Already
    };
    Ok((how, applied.board()))
}

fn sync(github_context: &GitHubContext, card: &CardUpdate) -> Result<Outcome, Fault> {
    let github = github_context.github();
    let found = github_context.find(card.issue)?;
    let mut change = Change::default();
    let column = github_context.columns.name(&card.status);
    change.card(&found.board, column, &card.agent);
    Ok(Outcome::Synced(change.apply(&github).board()))
}

const LOOK: &str = "query ClaimLook($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $branch, first: 5, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { number state headRepositoryOwner { login } } }
  }
}";

const LOOK_AND_BOARD: &str = r#"query ClaimLookAndBoard($owner: String!, $name: String!, $branch: String!, $boardOwner: String!, $board: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $branch, first: 5, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { number state headRepositoryOwner { login } } }
  }
  repositoryOwner(login: $boardOwner) {
    ... on ProjectV2Owner {
      projectV2(number: $board) {
        items(first: 100) {
          nodes {
            status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } }
            content { ... on Issue { number title state repository { nameWithOwner } } }
          }
        }
      }
    }
  }
}"#;

fn look(github_context: &GitHubContext, branch: &str) -> Result<Outcome, Fault> {
    let github = github_context.github();
    let mut variables = json!({
        "owner": github_context.base.repository.owner,
        "name": github_context.base.repository.name,
        "branch": branch,
    });
    let push = github_context.push(branch, "").map_err(|cause| Fault {
        cause,
        not_before: None,
    })?;
    let plain = variables.clone();
    let mut reply = match &github_context.board {
        None => github.graphql(LOOK, &plain)?,
        Some(BoardName { owner, number }) => {
            variables["boardOwner"] = json!(owner);
            variables["board"] = json!(number);
            github.graphql(LOOK_AND_BOARD, &variables)?
        }
    };
    if reply.is_scope_missing() {
        reply = github.graphql(LOOK, &plain)?;
    }
    let data = &reply.body["data"];
    let pulls = data["repository"]["pullRequests"]["nodes"].as_array();
    let newest = pulls
        .into_iter()
        .flatten()
        .find(|pull| query::is_from(pull, &push.repository));
    let merged = newest.filter(|pull| pull["state"] == "MERGED");
    Ok(Outcome::Looked(
        match merged.and_then(|pull| pull["number"].as_u64()) {
            None => BranchStatus::NotMerged,
            Some(pr) => BranchStatus::Merged {
                pr,
                next: waiting(&data["repositoryOwner"]["projectV2"], github_context)
                    .into_iter()
                    .next(),
            },
        },
    ))
}

/// The open issues of this repository that nobody has started, in the board's order.
fn waiting(project: &Value, github_context: &GitHubContext) -> Vec<Item> {
    let ours = format!(
        "{}/{}",
        github_context.base.repository.owner, github_context.base.repository.name
    );
    let todo = github_context.columns.name(status::TODO);
    let items = project["items"]["nodes"].as_array();
    items
        .into_iter()
        .flatten()
        .filter(|item| {
            item["status"]["name"]
                .as_str()
                .is_some_and(|name| same(name, todo))
        })
        .map(|item| &item["content"])
        .filter(|issue| issue["state"] == "OPEN")
        .filter(|issue| {
            let name = issue["repository"]["nameWithOwner"]
                .as_str()
                .unwrap_or_default();
            name.eq_ignore_ascii_case(&ours)
        })
        .filter_map(|issue| {
            Some(Item {
                issue: issue["number"].as_u64()?,
                title: issue["title"].as_str()?.to_owned(),
            })
        })
        .collect()
}

const SURVEY: &str = r#"query ClaimSurvey($boardOwner: String!, $board: Int!) {
  repositoryOwner(login: $boardOwner) {
    ... on ProjectV2Owner {
      projectV2(number: $board) {
        title
        field(name: "Status") { ... on ProjectV2SingleSelectField { options { name } } }
        items(first: 100) {
          nodes {
            status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } }
            content { ... on Issue { number title state repository { nameWithOwner } } }
          }
        }
      }
    }
  }
}"#;

/// How many issues a starting session is told about.
const NEXT_UP: usize = 5;

fn survey(github_context: &GitHubContext) -> Result<Survey, Fault> {
    let Some(BoardName { owner, number }) = &github_context.board else {
        return Ok(Survey::Off);
    };
    let variables = json!({ "boardOwner": owner, "board": number });
    let reply = github_context.github().graphql(SURVEY, &variables)?;
    let project = &reply.body["data"]["repositoryOwner"]["projectV2"];
    let Some(title) = project["title"].as_str() else {
        return Ok(Survey::Unavailable(reply.fault().cause));
    };
    let options = project["field"]["options"].as_array();
    let items: Vec<&Value> = project["items"]["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let columns = options
        .into_iter()
        .flatten()
        .filter_map(|option| option["name"].as_str())
        .map(|name| {
            let count = items
                .iter()
                .filter(|item| item["status"]["name"] == name)
                .count();
            (name.to_owned(), u32::try_from(count).unwrap_or(u32::MAX))
        })
        .collect();
    let mut next = waiting(project, github_context);
    next.truncate(NEXT_UP);
    Ok(Survey::Board {
        title: title.to_owned(),
        columns,
        next,
    })
}
