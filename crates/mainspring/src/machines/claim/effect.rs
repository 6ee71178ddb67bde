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
use super::gh::GhLock;
use super::github_context::{ContextError, GitHubContext, same};
use super::open::Extras;
use super::query::{self, BoardName, nodes};
use super::{lease, open, poll};
use crate::children::permit::Permit;
use crate::context::EventContext;

pub(super) fn run(
    context: &EventContext<'_>,
    permit: Permit,
    (effect, limit): (&Effect, Millis),
    checks: Option<&CheckReceipt>,
) -> Outcome {
    let github = match GitHubContext::open(context, permit, limit) {
        Ok(github) => github,
        Err(ContextError::Remote(why)) => return no_repository(effect, why),
        Err(ContextError::Trouble(trouble)) => {
            return Outcome::Failed(Fault::new(trouble.to_string()));
        }
    };
    let outcome = match effect {
        Effect::Open(work) => gh_lock(context).and_then(|_lock| {
            let lease = work.lease.as_deref();
            if let Some(by) = github.taken_by(work.issue, lease, &work.claims) {
                return Ok(Outcome::Lacking(Missing::Claim { by }));
            }
            let extras = Extras::of(context, checks.cloned());
            open::open(&github, work, extras)
        }),
        Effect::Close(work) => gh_lock(context).and_then(|lock| close(&github, work, lock)),
        Effect::Sync(card) => gh_lock(context).and_then(|_lock| sync(&github, card)),
        // A poll changes nothing and needs no lock, and an idle hook has little time.
        Effect::Poll { pr, known } => {
            poll::poll(&github, *pr, known.as_deref()).map(Outcome::Polled)
        }
        Effect::CheckMerge { pr } => poll::merged(&github, *pr).map(Outcome::MergeChecked),
        Effect::Look { branch } => look(&github, branch),
        Effect::Survey => survey(&github).map(Outcome::Surveyed),
        Effect::Arrive { pr, known } => Ok(arrive(&github, *pr, known.as_deref())),
        Effect::Beat(beat) => beat_again(&github, beat),
        Effect::GiveBack {
            issue,
            lease,
            remote,
        } => Ok(Outcome::GivenBack(release(
            &github,
            *issue,
            Some(lease),
            remote,
        ))),
    };
    outcome.unwrap_or_else(Outcome::Failed)
}

fn gh_lock(context: &EventContext<'_>) -> Result<GhLock, Fault> {
    GhLock::wait(context).map_err(|trouble| Fault::new(trouble.to_string()))
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
        | Effect::Sync(_) => Outcome::Failed(Fault::new(why)),
    }
}

/// The board and the pull request are read one after the other: each may fail by itself.
fn arrive(github: &GitHubContext, pr: u64, known: Option<&str>) -> Outcome {
    let survey = survey(github).unwrap_or_else(|fault| Survey::Unavailable(fault.cause));
    let seen = match poll::poll(github, pr, known) {
        Ok(pull) => Seen::Pull(pull),
        Err(fault) => Seen::Failed(fault),
    };
    Outcome::Arrived { survey, seen }
}

fn beat_again(github: &GitHubContext, beat: &HeartBeat) -> Result<Outcome, Fault> {
    let beat = HeartBeat {
        remote: github.claims(&beat.remote).to_owned(),
        ..beat.clone()
    };
    let git = &github.programs.git;
    let beaten = lease::beat(git, &beat, github.now).map_err(Fault::new)?;
    Ok(Outcome::Beaten(beaten))
}

/// Gives the issue back on the git server, if we hold it.
pub(crate) fn release(
    github: &GitHubContext,
    issue: u64,
    lease: Option<&String>,
    remote: &str,
) -> Release {
    let Some(commit) = lease else {
        return Release::NotHeld;
    };
    let remote = github.claims(remote);
    lease::release(&github.programs.git, remote, issue, commit).unwrap_or_else(Release::Failed)
}

/// Comment, close and card are one document, in this order. If a crash lost our knowledge of
/// the comment, its marker shows that it exists; closing a closed issue changes nothing.
fn close(github: &GitHubContext, close: &Close, lock: GhLock) -> Result<Outcome, Fault> {
    let (how, board) = match close_once(github, close) {
        Ok(closed) => closed,
        // The issue may be closed although the reply was lost, so we look again. If the server
        // said when to come back, we do not ask before.
        Err(fault) if fault.not_before.is_some() => return Err(fault),
        Err(fault) => match close_once(github, close) {
            Ok((_, board)) => (How::Now, board),
            Err(_) => return Err(fault),
        },
    };
    drop(lock);
    let release = release(github, close.issue, close.lease.as_ref(), &close.remote);
    Ok(Outcome::Closed {
        how,
        board,
        release,
    })
}

/// Where only the claim's file says that the issue may be closed, GitHub must say so, too.
fn require_merged(github: &GitHubContext, close: &Close) -> Result<(), Fault> {
    let refused = |cause: String| {
        Fault::new(format!(
            "{cause}, and nobody let the issue be closed all the same"
        ))
    };
    let pr = close
        .pr
        .ok_or_else(|| refused("there is no pull request".into()))?;
    match poll::merged(github, pr)? {
        Some(_) => Ok(()),
        None => Err(refused(format!("pull request #{pr} is not merged"))),
    }
}

fn close_once(github: &GitHubContext, close: &Close) -> Result<(How, CardMove), Fault> {
    if close.only_if_merged {
        require_merged(github, close)?;
    }
    let found = github.find(close.issue)?;
    let Some(issue) = &found.issue else {
        let repository = &github.base.repository;
        let cause = format!("{repository} has no issue #{}", close.issue);
        return Err(Fault::new(cause));
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
    let column = github.columns.name(&close.card.status);
    change.card(&found.board, column, &close.card.agent);
    let applied = change.apply(&github.api());
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

fn sync(github: &GitHubContext, card: &CardUpdate) -> Result<Outcome, Fault> {
    let found = github.find(card.issue)?;
    let mut change = Change::default();
    let column = github.columns.name(&card.status);
    change.card(&found.board, column, &card.agent);
    Ok(Outcome::Synced(change.apply(&github.api()).board()))
}

/// The cards of the board, for the issues that wait there.
const CARDS: &str = r#"items(first: 100) {
          nodes {
            status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } }
            content { ... on Issue { number title state repository { nameWithOwner } } }
          }
        }"#;

fn look_document(with_board: bool) -> String {
    let (variables, board) = if with_board {
        let board = format!(
            "repositoryOwner(login: $boardOwner) {{ ... on ProjectV2Owner {{ projectV2(number: $board) {{ {CARDS} }} }} }}"
        );
        (", $boardOwner: String!, $board: Int!", board)
    } else {
        ("", String::new())
    };
    format!(
        "query ClaimLook($owner: String!, $name: String!, $branch: String!{variables}) {{
  repository(owner: $owner, name: $name) {{
    pullRequests(headRefName: $branch, first: 5, orderBy: {{field: CREATED_AT, direction: DESC}}) {{ nodes {{ number state headRepositoryOwner {{ login }} }} }}
  }}
  {board}
}}"
    )
}

fn look(github: &GitHubContext, branch: &str) -> Result<Outcome, Fault> {
    let mut variables = json!({
        "owner": github.base.repository.owner,
        "name": github.base.repository.name,
        "branch": branch,
    });
    let push = github.push(branch, "").map_err(Fault::new)?;
    let plain = variables.clone();
    let mut reply = match &github.board {
        None => github.api().graphql(&look_document(false), &plain)?,
        Some(BoardName { owner, number }) => {
            variables["boardOwner"] = json!(owner);
            variables["board"] = json!(number);
            github.api().graphql(&look_document(true), &variables)?
        }
    };
    if reply.is_scope_missing() {
        reply = github.api().graphql(&look_document(false), &plain)?;
    }
    let data = &reply.body["data"];
    let newest = nodes(&data["repository"]["pullRequests"])
        .find(|pull| query::is_from(pull, &push.repository));
    let merged = newest.filter(|pull| pull["state"] == "MERGED");
    Ok(Outcome::Looked(
        match merged.and_then(|pull| pull["number"].as_u64()) {
            None => BranchStatus::NotMerged,
            Some(pr) => BranchStatus::Merged {
                pr,
                next: waiting(&data["repositoryOwner"]["projectV2"], github)
                    .into_iter()
                    .next(),
            },
        },
    ))
}

/// The open issues of this repository that nobody has started, in the board's order.
fn waiting(project: &Value, github: &GitHubContext) -> Vec<Item> {
    let ours = format!(
        "{}/{}",
        github.base.repository.owner, github.base.repository.name
    );
    let todo = github.columns.name(status::TODO);
    nodes(&project["items"])
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

/// How many issues a starting session is told about.
const NEXT_UP: usize = 5;

fn survey(github: &GitHubContext) -> Result<Survey, Fault> {
    let Some(BoardName { owner, number }) = &github.board else {
        return Ok(Survey::Off);
    };
    let variables = json!({ "boardOwner": owner, "board": number });
    let document = format!(
        "query ClaimSurvey($boardOwner: String!, $board: Int!) {{
  repositoryOwner(login: $boardOwner) {{
    ... on ProjectV2Owner {{
      projectV2(number: $board) {{
        title
        field(name: \"Status\") {{ ... on ProjectV2SingleSelectField {{ options {{ name }} }} }}
        {CARDS}
      }}
    }}
  }}
}}"
    );
    let reply = github.api().graphql(&document, &variables)?;
    let project = &reply.body["data"]["repositoryOwner"]["projectV2"];
    let Some(title) = project["title"].as_str() else {
        return Ok(Survey::Unavailable(reply.fault().cause));
    };
    let options = project["field"]["options"].as_array();
    let columns = options
        .into_iter()
        .flatten()
        .filter_map(|option| option["name"].as_str())
        .map(|name| {
            let count = nodes(&project["items"])
                .filter(|item| item["status"]["name"] == name)
                .count();
            (name.to_owned(), u32::try_from(count).unwrap_or(u32::MAX))
        })
        .collect();
    let mut next = waiting(project, github);
    next.truncate(NEXT_UP);
    Ok(Survey::Board {
        title: title.to_owned(),
        columns,
        next,
    })
}
