//! Runs what the kernel asked for. Everything here looks before it acts.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::signal::status;
use mainspring_kernel::machines::claim::text::{farewell, marker};
use mainspring_kernel::machines::claim::work::{
    Board as Moved, Card, Close, Effect, Fault, How, Item, Lack, Outcome, Release, Sight, Survey,
};
use serde_json::{Value, json};

use super::alone::Alone;
use super::change::Change;
use super::query::{self, BoardName};
use super::shop::{NoShop, Shop};
use super::{lease, open, poll};
use crate::scene::Scene;
use crate::seeded::without;

pub(super) fn run(scene: &Scene<'_>, effect: &Effect, limit: Millis) -> Outcome {
    let shop = match Shop::open(scene, limit) {
        Ok(shop) => shop,
        Err(NoShop::Remote(why)) => return homeless(effect, why),
        Err(NoShop::Trouble(trouble)) => {
            return Outcome::Failed(Fault {
                cause: trouble.to_string(),
                not_before: None,
            });
        }
    };
    let outcome = match effect {
        Effect::Open(work) => {
            alone(scene).and_then(|_alone| open::open(&shop, work, &scene.site.here))
        }
        Effect::Close(work) => alone(scene).and_then(|alone| close(&shop, work, alone)),
        Effect::Sync(card) => alone(scene).and_then(|_alone| sync(&shop, card)),
        // A look changes nothing, and an idle hook has little time.
        Effect::Poll { pr } => poll::poll(&shop, *pr).map(Outcome::Polled),
        Effect::Look { branch } => look(&shop, branch),
        Effect::Survey => survey(&shop),
    };
    outcome.unwrap_or_else(Outcome::Failed)
}

fn alone(scene: &Scene<'_>) -> Result<Alone, Fault> {
    Alone::wait(scene).map_err(|trouble| Fault {
        cause: trouble.to_string(),
        not_before: None,
    })
}

/// Without a repository there is nothing to do; only a pull request is worth a word.
fn homeless(effect: &Effect, why: String) -> Outcome {
    match effect {
        Effect::Open(_) => Outcome::Lacking(Lack::Remote(why)),
        Effect::Look { .. } => Outcome::Looked(Sight::NotMerged),
        Effect::Survey => Outcome::Surveyed(Survey::Off),
        Effect::Close(_) | Effect::Poll { .. } | Effect::Sync(_) => Outcome::Failed(Fault {
            cause: why,
            not_before: None,
        }),
    }
}

/// Comment, close and card are one document, in this order: a comment that was lost in a
/// crash is found again by its marker, a close that is there already is none.
fn close(shop: &Shop, close: &Close, alone: Alone) -> Result<Outcome, Fault> {
    let (how, board) = match close_once(shop, close) {
        Ok(closed) => closed,
        // A reply may be lost on its way back from an issue that is closed. A server that
        // said when to come back is not asked before.
        Err(fault) if fault.not_before.is_some() => return Err(fault),
        Err(fault) => match close_once(shop, close) {
            Ok((_, board)) => (How::Now, board),
            Err(_) => return Err(fault),
        },
    };
    drop(alone);
    let release = match &close.lease {
        None => Release::NotHeld,
        Some(commit) => match lease::release(&shop.programs, &shop.remote, close.issue, commit) {
            Ok(()) => Release::Released,
            Err(cause) => Release::Failed(cause),
        },
    };
    Ok(Outcome::Closed {
        how,
        board,
        release,
    })
}

fn close_once(shop: &Shop, close: &Close) -> Result<(How, Moved), Fault> {
    let github = shop.github();
    let found = query::find(&github, close.issue, "", shop.board.as_ref())?;
    let Some(issue) = &found.issue else {
        return Err(Fault {
            cause: format!("{} has no issue #{}", shop.repository, close.issue),
            not_before: None,
        });
    };
    let mut change = Change::default();
    let said = issue
        .comments
        .iter()
        .any(|body| body.contains(&marker(close.issue)) || without("a probe by key"));
    if issue.is_open && !said {
        change.comment(&issue.id, &farewell(close.issue, close.pr));
    }
    if issue.is_open {
        change.close(&issue.id);
    }
    change.card(&found.board, &close.card.status, &close.card.agent);
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

fn sync(shop: &Shop, card: &Card) -> Result<Outcome, Fault> {
    let github = shop.github();
    let found = query::find(&github, card.issue, "", shop.board.as_ref())?;
    let mut change = Change::default();
    change.card(&found.board, &card.status, &card.agent);
    Ok(Outcome::Synced(change.apply(&github).board()))
}

const LOOK: &str = "query ClaimLook($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $branch, first: 5, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { number state isCrossRepository } }
  }
}";

const LOOK_AND_BOARD: &str = r#"query ClaimLookAndBoard($owner: String!, $name: String!, $branch: String!, $boardOwner: String!, $board: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $branch, first: 5, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { number state isCrossRepository } }
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

fn look(shop: &Shop, branch: &str) -> Result<Outcome, Fault> {
    let github = shop.github();
    let mut variables = json!({
        "owner": shop.repository.owner,
        "name": shop.repository.name,
        "branch": branch,
    });
    let plain = variables.clone();
    let mut reply = match &shop.board {
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
        .find(|pull| pull["isCrossRepository"] == false);
    let merged = newest.filter(|pull| pull["state"] == "MERGED");
    Ok(Outcome::Looked(
        match merged.and_then(|pull| pull["number"].as_u64()) {
            None => Sight::NotMerged,
            Some(pr) => Sight::Merged {
                pr,
                next: waiting(&data["repositoryOwner"]["projectV2"], shop)
                    .into_iter()
                    .next(),
            },
        },
    ))
}

/// The open issues of this repository that nobody has begun, in the board's order.
fn waiting(project: &Value, shop: &Shop) -> Vec<Item> {
    let ours = format!("{}/{}", shop.repository.owner, shop.repository.name);
    let items = project["items"]["nodes"].as_array();
    items
        .into_iter()
        .flatten()
        .filter(|item| item["status"]["name"] == status::TODO)
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

/// A session that starts is told of this many.
const NEXT_UP: usize = 5;

fn survey(shop: &Shop) -> Result<Outcome, Fault> {
    let Some(BoardName { owner, number }) = &shop.board else {
        return Ok(Outcome::Surveyed(Survey::Off));
    };
    let variables = json!({ "boardOwner": owner, "board": number });
    let reply = shop.github().graphql(SURVEY, &variables)?;
    let project = &reply.body["data"]["repositoryOwner"]["projectV2"];
    let Some(title) = project["title"].as_str() else {
        return Ok(Outcome::Surveyed(Survey::Unavailable(reply.fault().cause)));
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
    let mut next = waiting(project, shop);
    next.truncate(NEXT_UP);
    Ok(Outcome::Surveyed(Survey::Board {
        title: title.to_owned(),
        columns,
        next,
    }))
}
