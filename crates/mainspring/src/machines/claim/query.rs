//! The query before every change. Its reply is read strictly: a missing value is never guessed.

use serde_json::{Value, json};

use super::gh::{GitHub, Reply};
use super::github_context::same;
use mainspring_kernel::machines::claim::pull::PullState;
use mainspring_kernel::machines::claim::remote::Repository;
use mainspring_kernel::machines::claim::work::Fault;

/// The configured board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoardName {
    pub(crate) owner: String,
    pub(crate) number: u64,
}

/// The reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OnGitHub {
    pub(crate) me: String,
    pub(crate) login: String,
    /// May we push to the repository?
    pub(crate) may_push: bool,
    pub(crate) base: String,
    pub(crate) base_commit: String,
    /// The commit of the branch on the server; `None` if the server has no such branch.
    pub(crate) head: Option<String>,
    pub(crate) issue: Option<Issue>,
    /// The number is a pull request's.
    pub(crate) is_pull: bool,
    /// The pull requests of the branch that is pushed, newest first.
    pub(crate) pulls: Vec<BranchPull>,
    pub(crate) board: IssueCard,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Issue {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) is_open: bool,
    pub(crate) assignees: Vec<String>,
    /// Our own comments on the issue.
    pub(crate) comments: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchPull {
    pub(crate) number: u64,
    pub(crate) url: String,
    pub(crate) state: PullState,
    pub(crate) head: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IssueCard {
    /// No board is configured.
    Off,
    /// The board or the card cannot be read.
    Lacks(String),
    Card(Box<BoardCard>),
}

/// The issue's card, and what is needed to change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoardCard {
    pub(crate) project: String,
    pub(crate) item: String,
    pub(crate) status: String,
    pub(crate) agent: String,
    pub(crate) status_field: Option<String>,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) agent_field: Option<String>,
}

const PULLS: &str = "pullRequests(headRefName: $branch, first: 20, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { number url state headRefOid headRepositoryOwner { login } } }";

const ITEMS: &str = r#"projectItems(first: 50, includeArchived: false) {
        nodes {
          id
          project { id }
          status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } }
          agent: fieldValueByName(name: "Agent") { ... on ProjectV2ItemFieldTextValue { text } }
        }
      }"#;

const BOARD: &str = r"repositoryOwner(login: $boardOwner) {
    ... on ProjectV2Owner {
      projectV2(number: $board) {
        id
        fields(first: 50) {
          nodes {
            ... on ProjectV2FieldCommon { id name dataType }
            ... on ProjectV2SingleSelectField { options { id name } }
          }
        }
      }
    }
  }";

fn document(with_board: bool) -> String {
    let (variables, items, board) = if with_board {
        (", $boardOwner: String!, $board: Int!", ITEMS, BOARD)
    } else {
        ("", "", "")
    };
    format!(
        "query ClaimFind($owner: String!, $name: String!, $issue: Int!, $branch: String!, $ref: String!, $headOwner: String!, $headName: String!{variables}) {{
  viewer {{ id login }}
  repository(owner: $owner, name: $name) {{
    viewerPermission
    defaultBranchRef {{ name target {{ oid }} }}
    issue: issueOrPullRequest(number: $issue) {{
      __typename
      ... on Issue {{
        id title state
        assignees(first: 10) {{ nodes {{ login }} }}
        comments(last: 100) {{ nodes {{ body viewerDidAuthor }} }}
        {items}
      }}
    }}
    {PULLS}
  }}
  head: repository(owner: $headOwner, name: $headName) {{ ref(qualifiedName: $ref) {{ target {{ oid }} }} }}
  {board}
}}"
    )
}

/// A branch, and the repository to which it is pushed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) branch: &'a str,
    pub(crate) repository: &'a Repository,
}

/// Asks for everything about a claim: in one call, or in two if the token may not see boards.
pub(crate) fn find(
    github: &GitHub<'_>,
    issue: u64,
    head: Head<'_>,
    board: Option<&BoardName>,
) -> Result<OnGitHub, Fault> {
    let branch = head.branch;
    let mut variables = json!({
        "headOwner": head.repository.owner,
        "headName": head.repository.name,
        "owner": github.repository.owner,
        "name": github.repository.name,
        "issue": issue,
        "branch": branch,
        "ref": format!("refs/heads/{branch}"),
    });
    let Some(board) = board else {
        let reply = github.graphql(&document(false), &variables)?;
        return found(&reply, head, IssueCard::Off).map_err(|cause| unusable(&reply, cause));
    };
    let plain = variables.clone();
    variables["boardOwner"] = json!(board.owner);
    variables["board"] = json!(board.number);
    let reply = github.graphql(&document(true), &variables)?;
    if reply.is_scope_missing() {
        let lacks = "gh's token has no access to project boards; run `gh auth refresh -s project`";
        let reply = github.graphql(&document(false), &plain)?;
        let lacks = IssueCard::Lacks(lacks.into());
        return found(&reply, head, lacks).map_err(|cause| unusable(&reply, cause));
    }
    let card = card(&reply.body["data"], board, issue);
    found(&reply, head, card).map_err(|cause| unusable(&reply, cause))
}

fn unusable(reply: &Reply, cause: String) -> Fault {
    let mut fault = reply.fault();
    if reply.errors().is_empty() {
        fault.cause = cause;
    }
    fault
}

fn found(reply: &Reply, head: Head<'_>, board: IssueCard) -> Result<OnGitHub, String> {
    let data = &reply.body["data"];
    let repository = &data["repository"];
    let base = &repository["defaultBranchRef"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let pulls = repository["pullRequests"]["nodes"].as_array();
    let issue = &repository["issue"];
    Ok(OnGitHub {
        me: text(&data["viewer"]["id"]).ok_or("GitHub did not say who we are")?,
        login: text(&data["viewer"]["login"]).unwrap_or_default(),
        may_push: matches!(
            repository["viewerPermission"].as_str(),
            Some("ADMIN" | "MAINTAIN" | "WRITE")
        ),
        base: text(&base["name"]).ok_or("the repository has no default branch")?,
        base_commit: text(&base["target"]["oid"]).unwrap_or_default(),
        head: text(&data["head"]["ref"]["target"]["oid"]),
        is_pull: issue["__typename"] == "PullRequest",
        issue: text(&issue["id"]).map(|id| Issue {
            id,
            title: text(&issue["title"]).unwrap_or_default(),
            is_open: issue["state"] == "OPEN",
            assignees: nodes(&issue["assignees"])
                .filter_map(|user| text(&user["login"]))
                .collect(),
            comments: nodes(&issue["comments"])
                .filter(|comment| comment["viewerDidAuthor"] == true)
                .filter_map(|comment| text(&comment["body"]))
                .collect(),
        }),
        pulls: pulls
            .ok_or("GitHub did not list the branch's pull requests")?
            .iter()
            .filter(|pull| is_from(pull, head.repository))
            .filter_map(read_pull)
            .collect(),
        board,
    })
}

/// The elements of one of GitHub's lists; none if it is missing.
pub(super) fn nodes(list: &Value) -> impl Iterator<Item = &Value> {
    list["nodes"].as_array().into_iter().flatten()
}

/// Is the pull request's branch in this repository? Two forks may have branches of one name.
pub(super) fn is_from(pull: &Value, repository: &Repository) -> bool {
    let owner = pull["headRepositoryOwner"]["login"].as_str();
    owner.is_some_and(|owner| owner.eq_ignore_ascii_case(&repository.owner))
}

fn read_pull(pull: &Value) -> Option<BranchPull> {
    Some(BranchPull {
        number: pull["number"].as_u64()?,
        url: pull["url"].as_str()?.to_owned(),
        state: match pull["state"].as_str()? {
            "OPEN" => PullState::Open,
            "MERGED" => PullState::Merged,
            _ => PullState::Closed,
        },
        head: pull["headRefOid"].as_str().unwrap_or_default().to_owned(),
    })
}

fn card(data: &Value, board: &BoardName, issue: u64) -> IssueCard {
    let name = format!("project {} of {}", board.number, board.owner);
    let project = &data["repositoryOwner"]["projectV2"];
    let Some(id) = project["id"].as_str() else {
        return IssueCard::Lacks(format!("{name} cannot be found"));
    };
    let mut items = nodes(&data["repository"]["issue"]["projectItems"]);
    let Some(item) = items.find(|item| item["project"]["id"] == id) else {
        return IssueCard::Lacks(format!("issue #{issue} has no card on {name}"));
    };
    let field = |name: &str, kind: &str| {
        nodes(&project["fields"]).find(|field| {
            let named = field["name"]
                .as_str()
                .is_some_and(|found| same(found, name));
            named && field["dataType"] == kind
        })
    };
    let id_of = |field: &Value| field["id"].as_str().map(str::to_owned);
    let status = field("Status", "SINGLE_SELECT");
    let options = status.and_then(|status| status["options"].as_array());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    IssueCard::Card(Box::new(BoardCard {
        project: id.to_owned(),
        item: text(&item["id"]),
        status: text(&item["status"]["name"]),
        agent: text(&item["agent"]["text"]),
        status_field: status.and_then(id_of),
        options: options
            .into_iter()
            .flatten()
            .map(|option| (text(&option["name"]), text(&option["id"])))
            .collect(),
        agent_field: field("Agent", "TEXT").and_then(id_of),
    }))
}
