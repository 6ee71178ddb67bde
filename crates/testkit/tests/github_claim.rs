//! What the claim machine needs of GitHub, each in the fewest calls of `gh`:
//! one query to find everything, one document of aliased mutations per change.
//!
//! Every call is `gh api graphql --input -` with a JSON body on stdin: nothing of
//! it is an argument, so no title, branch or summary can be taken for one.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use mainspring_testkit::clients::Client;
use mainspring_testkit::github::{
    self, BareRepo, Fault, GitHub, LOGIN, TOKEN, Token, bare_repo, on,
};
use mainspring_testkit::process::Finished;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Item, fields and options, the issue, who we are, and the branch's pull
/// requests: all that claiming and the creation of a pull request need.
const FIND: &str = r#"query ClaimFind($owner: String!, $name: String!, $issue: Int!, $branch: String!, $boardOwner: String!, $board: Int!) {
  viewer { id login }
  repository(owner: $owner, name: $name) {
    id
    defaultBranchRef { name }
    issue(number: $issue) {
      id title state
      projectItems(first: 20, includeArchived: false) {
        nodes {
          id
          project { id }
          status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } }
          agent: fieldValueByName(name: "Agent") { ... on ProjectV2ItemFieldTextValue { text } }
        }
      }
    }
    pullRequests(headRefName: $branch, first: 10, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { number url state isCrossRepository baseRefName headRefOid }
    }
  }
  repositoryOwner(login: $boardOwner) {
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
  }
}"#;

/// The same without the board, for a token that may not see it.
const FIND_WITHOUT_BOARD: &str = r"query ClaimFindWithoutBoard($owner: String!, $name: String!, $issue: Int!, $branch: String!) {
  viewer { id login }
  repository(owner: $owner, name: $name) {
    id
    defaultBranchRef { name }
    issue(number: $issue) { id title state }
    pullRequests(headRefName: $branch, first: 10, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { number url state isCrossRepository baseRefName headRefOid }
    }
  }
}";

const START: &str = r"mutation ClaimStart($project: ID!, $item: ID!, $status: ID!, $option: String!, $agent: ID!, $text: String!, $issue: ID!, $me: ID!) {
  status: updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $status, value: {singleSelectOptionId: $option}}) { projectV2Item { id } }
  agent: updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $agent, value: {text: $text}}) { projectV2Item { id } }
  assign: addAssigneesToAssignable(input: {assignableId: $issue, assigneeIds: [$me]}) { assignable { ... on Issue { id } } }
}";

/// The board, and again the branch's pull requests: after a 422 this is where
/// the number of the one that exists comes from, without a fourth call.
const REVIEW: &str = r"mutation ClaimReview($project: ID!, $item: ID!, $status: ID!, $option: String!, $branch: String!) {
  status: updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $status, value: {singleSelectOptionId: $option}}) {
    projectV2Item {
      content {
        ... on Issue {
          repository {
            pullRequests(headRefName: $branch, states: [OPEN], first: 10) { nodes { number url isCrossRepository } }
          }
        }
      }
    }
  }
}";

const END: &str = r"query ClaimEnd($owner: String!, $name: String!, $issue: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $issue) { id state comments(last: 100) { nodes { body viewerDidAuthor } } }
  }
}";

const DONE: &str = r"mutation ClaimDone($issue: ID!, $body: String!, $project: ID!, $item: ID!, $status: ID!, $option: String!, $agent: ID!) {
  comment: addComment(input: {subjectId: $issue, body: $body}) { commentEdge { node { url } } }
  close: closeIssue(input: {issueId: $issue, stateReason: COMPLETED}) { issue { state } }
  status: updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $status, value: {singleSelectOptionId: $option}}) { projectV2Item { id } }
  agent: clearProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $agent}) { projectV2Item { id } }
}";

fn world() -> Option<(GitHub, BareRepo)> {
    if github::client() == Client::Skipped {
        return None;
    }
    let github = GitHub::start();
    let bare = bare_repo();
    bare.commit("fix-42", "Fix the race");
    let widgets = github.add_repository("acme", "widgets");
    widgets.follow(&bare.git_dir());
    widgets.add_issue(42, "Fix the race");
    widgets.add_issue(43, "Next");
    let board = github.add_project("acme", 1);
    board.add_item(widgets, 42, "Todo");
    board.add_item(widgets, 43, "Todo");
    Some((github, bare))
}

/// One call of `gh` with a JSON body on its stdin.
fn call(github: &GitHub, arguments: &[&str], body: &Value) -> Finished {
    let arguments = arguments.iter().copied().chain(["--input", "-"]);
    github.gh(arguments).input(body.to_string()).run()
}

fn graphql(github: &GitHub, query: &str, variables: &Value) -> Finished {
    let body = json!({ "query": query, "variables": variables });
    call(github, &["api", "graphql"], &body)
}

/// What it printed, which is JSON even where it failed.
fn printed(run: &Finished) -> Value {
    serde_json::from_slice(&run.stdout).unwrap()
}

fn data(github: &GitHub, query: &str, variables: &Value) -> Value {
    let run = graphql(github, query, variables);
    assert!(run.succeeded(), "{}", run.stderr_text());
    printed(&run)["data"].clone()
}

fn find_variables() -> Value {
    json!({ "owner": "acme", "name": "widgets", "issue": 42, "branch": "fix-42", "boardOwner": "acme", "board": 1 })
}

/// The ids that the mutations take, as `FIND` gives them.
struct Found {
    issue: Value,
    me: Value,
    project: Value,
    item: Value,
    fields: Vec<Value>,
}

impl Found {
    fn by(github: &GitHub) -> Self {
        let found = data(github, FIND, &find_variables());
        let project = &found["repositoryOwner"]["projectV2"];
        let issue = &found["repository"]["issue"];
        let items = issue["projectItems"]["nodes"].as_array().unwrap();
        let item = items
            .iter()
            .find(|item| item["project"]["id"] == project["id"]);
        Self {
            issue: issue["id"].clone(),
            me: found["viewer"]["id"].clone(),
            project: project["id"].clone(),
            item: item.unwrap()["id"].clone(),
            fields: project["fields"]["nodes"].as_array().unwrap().clone(),
        }
    }

    fn field(&self, name: &str) -> &Value {
        self.fields
            .iter()
            .find(|field| field["name"] == name)
            .unwrap()
    }

    fn option(&self, name: &str) -> Value {
        let options = self.field("Status")["options"].as_array().unwrap();
        options
            .iter()
            .find(|option| option["name"] == name)
            .unwrap()["id"]
            .clone()
    }

    /// The variables that say which card goes to which column.
    fn to(&self, status: &str) -> Value {
        json!({
            "project": self.project,
            "item": self.item,
            "status": self.field("Status")["id"],
            "option": self.option(status),
        })
    }
}

/// One object with the entries of both.
fn both(mut first: Value, second: &Value) -> Value {
    let entries = second.as_object().unwrap().clone();
    first.as_object_mut().unwrap().extend(entries);
    first
}

#[test]
fn one_query_finds_everything_and_one_document_claims_it() {
    let Some((github, _bare)) = world() else {
        return;
    };

    let found = Found::by(&github);
    let start = both(
        found.to("In Progress"),
        &json!({ "agent": found.field("Agent")["id"], "text": "edouard-1", "issue": found.issue, "me": found.me }),
    );
    data(&github, START, &start);

    let item = github.project("acme", 1).item(42);
    assert_eq!(
        (
            item.values["Status"].as_str(),
            item.values["Agent"].as_str()
        ),
        ("In Progress", "edouard-1")
    );
    assert_eq!(
        github.repository("acme", "widgets").issue(42).assignees,
        [LOGIN]
    );
    assert_eq!(github.requests().len(), 2);
    assert_eq!(github.board_writes(), 2);
}

#[test]
fn a_user_may_own_the_board_too() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    github.add_project(LOGIN, 7).add_item(widgets, 42, "Done");

    let variables = both(
        find_variables(),
        &json!({ "boardOwner": LOGIN, "board": 7 }),
    );
    let found = data(&github, FIND, &variables);

    let project = &found["repositoryOwner"]["projectV2"]["id"];
    let items = found["repository"]["issue"]["projectItems"]["nodes"]
        .as_array()
        .unwrap();
    let mine: Vec<_> = items
        .iter()
        .filter(|item| &item["project"]["id"] == project)
        .collect();
    assert_eq!(mine.len(), 1);
    assert_eq!(mine[0]["status"]["name"], json!("Done"));
}

#[test]
fn a_board_that_is_not_there_does_not_hide_the_rest() {
    let Some((github, _bare)) = world() else {
        return;
    };

    let run = graphql(
        &github,
        FIND,
        &both(find_variables(), &json!({ "board": 99 })),
    );

    assert!(!run.succeeded());
    let answer = printed(&run);
    assert_eq!(
        answer["errors"][0]["path"],
        json!(["repositoryOwner", "projectV2"])
    );
    assert_eq!(
        answer["data"]["repositoryOwner"],
        json!({ "projectV2": null })
    );
    assert_eq!(
        answer["data"]["repository"]["issue"]["title"],
        json!("Fix the race")
    );
}

#[test]
fn a_missing_scope_hides_everything_until_the_board_is_left_out() {
    let Some((github, _bare)) = world() else {
        return;
    };
    github.set_token(TOKEN, Token::classic(LOGIN, &["repo"]));

    let run = graphql(&github, FIND, &find_variables());
    assert!(!run.succeeded());
    assert_eq!(printed(&run).get("data"), None);
    assert_eq!(
        printed(&run)["errors"][0]["type"],
        json!("INSUFFICIENT_SCOPES")
    );

    let without = json!({ "owner": "acme", "name": "widgets", "issue": 42, "branch": "fix-42" });
    let found = data(&github, FIND_WITHOUT_BOARD, &without);
    assert_eq!(found["repository"]["issue"]["title"], json!("Fix the race"));
}

#[test]
fn three_calls_make_a_pull_request_even_when_another_was_faster() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let found = Found::by(&github);
    let body =
        json!({ "head": "fix-42", "base": "main", "title": "Fix the race", "body": "Refs #42" });
    let create = || call(&github, &["api", "repos/acme/widgets/pulls"], &body);
    // Somebody else creates it between our look and our call.
    assert_eq!(printed(&create())["number"], json!(44));
    github.take_requests();

    let refused = create();
    let moved = data(
        &github,
        REVIEW,
        &both(found.to("In Review"), &json!({ "branch": "fix-42" })),
    );

    let message = "A pull request already exists for acme:fix-42.";
    assert_eq!(printed(&refused)["errors"][0]["message"], json!(message));
    let pulls = &moved["status"]["projectV2Item"]["content"]["repository"]["pullRequests"]["nodes"];
    let pull = json!([{ "number": 44, "url": "https://github.com/acme/widgets/pull/44", "isCrossRepository": false }]);
    assert_eq!(pulls, &pull);
    assert_eq!(
        github.project("acme", 1).item(42).values["Status"],
        "In Review"
    );
    assert_eq!(github.requests().len(), 2);
    assert_eq!(github.prs_created(), 1);
}

#[test]
fn a_lost_reply_is_found_again_by_the_branch() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let body = json!({ "head": "fix-42", "base": "main", "title": "Fix", "body": "" });
    github.fault(
        on("POST /repos/{owner}/{repo}/pulls"),
        Fault::DropAfterCommit,
    );

    assert!(!call(&github, &["api", "repos/acme/widgets/pulls"], &body).succeeded());
    let found = data(&github, FIND, &find_variables());

    let pull = &found["repository"]["pullRequests"]["nodes"][0];
    assert_eq!(
        (&pull["number"], &pull["state"]),
        (&json!(44), &json!("OPEN"))
    );
}

#[test]
fn one_document_closes_and_a_lost_reply_is_seen_by_its_marker() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let found = Found::by(&github);
    let marker = "<!-- mainspring:closed:42 -->";
    let done = both(
        found.to("Done"),
        &json!({
            "issue": found.issue,
            "body": format!("Completed in #44\n\n{marker}"),
            "agent": found.field("Agent")["id"],
        }),
    );
    github.fault(on("ClaimDone"), Fault::DropAfterCommit);

    assert!(!graphql(&github, DONE, &done).succeeded());

    let end = json!({ "owner": "acme", "name": "widgets", "issue": 42 });
    let issue = data(&github, END, &end)["repository"]["issue"].clone();
    let comments = issue["comments"]["nodes"].as_array().unwrap();
    let ours = |comment: &&Value| {
        comment["viewerDidAuthor"] == json!(true)
            && comment["body"].as_str().unwrap().contains(marker)
    };
    assert_eq!(comments.iter().filter(ours).count(), 1);
    assert_eq!(issue["state"], json!("CLOSED"));
    assert_eq!(github.closes(), 1);
    let item = github.project("acme", 1).item(42);
    assert_eq!(
        (item.values["Status"].as_str(), item.values.get("Agent")),
        ("Done", None)
    );
}

#[test]
fn a_failing_part_of_a_document_does_not_undo_the_others() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let found = Found::by(&github);
    let done = both(
        found.to("Done"),
        &json!({ "issue": found.issue, "body": "Completed in #44", "agent": "PVTF_gone" }),
    );

    let run = graphql(&github, DONE, &done);

    let answer = printed(&run);
    assert!(!run.succeeded());
    assert_eq!(answer["errors"][0]["path"], json!(["agent"]));
    assert_eq!(answer["data"]["close"]["issue"]["state"], json!("CLOSED"));
    assert_eq!(github.project("acme", 1).item(42).values["Status"], "Done");
}
