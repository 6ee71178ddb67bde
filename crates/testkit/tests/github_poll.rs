//! What the claim machine needs to know while it waits, each in one call of
//! `gh`, and what becomes of the text that it sends.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use mainspring_testkit::clients::Client;
use mainspring_testkit::github::{self, BareRepo, Check, GitHub, bare_repo};
use mainspring_testkit::process::Finished;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const POLL: &str = r"query ClaimPoll($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      state merged isDraft url headRefOid reviewDecision
      baseRef { refUpdateRule { requiredStatusCheckContexts } }
      commits(last: 1) {
        nodes {
          commit {
            oid
            statusCheckRollup {
              state
              contexts(first: 100) {
                totalCount
                nodes {
                  __typename
                  ... on CheckRun { name status conclusion isRequired(pullRequestNumber: $number) }
                  ... on StatusContext { context state isRequired(pullRequestNumber: $number) }
                }
              }
            }
          }
        }
      }
    }
  }
}";

/// Without a claim: is the branch's pull request merged, and what is next?
const IDLE: &str = r#"query ClaimIdle($owner: String!, $name: String!, $branch: String!, $boardOwner: String!, $board: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $branch, first: 1, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { number state } }
  }
  repositoryOwner(login: $boardOwner) {
    ... on ProjectV2Owner {
      projectV2(number: $board) {
        items(first: 100) {
          pageInfo { hasNextPage endCursor }
          nodes {
            status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { name } }
            content { ... on Issue { number title state } }
          }
        }
      }
    }
  }
}"#;

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

#[test]
fn one_poll_tells_required_checks_from_optional_ones_on_the_current_head() {
    let Some((github, bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    let body = json!({ "head": "fix-42", "base": "main", "title": "Fix", "body": "" });
    assert!(call(&github, &["api", "repos/acme/widgets/pulls"], &body).succeeded());
    let poll = || {
        let variables = json!({ "owner": "acme", "name": "widgets", "number": 44 });
        data(&github, POLL, &variables)["repository"]["pullRequest"].clone()
    };
    let none = poll();
    assert_eq!(
        none["commits"]["nodes"][0]["commit"]["statusCheckRollup"],
        Value::Null
    );

    widgets.require("test");
    widgets.require("never-started");
    let head = widgets.pull(44).head_sha;
    widgets.set_check(&head, Check::completed("test", "FAILURE"));
    widgets.set_check(&head, Check::running("docs"));
    widgets.set_check(&head, Check::status("ci/lint", "SUCCESS"));

    let pull = poll();
    let commit = &pull["commits"]["nodes"][0]["commit"];
    assert_eq!(
        (&commit["oid"], &pull["headRefOid"]),
        (&json!(head), &json!(head))
    );
    assert_eq!(
        commit["statusCheckRollup"],
        json!({
            "state": "FAILURE",
            "contexts": {
                "totalCount": 3,
                "nodes": [
                    { "__typename": "CheckRun", "name": "test", "status": "COMPLETED", "conclusion": "FAILURE", "isRequired": true },
                    { "__typename": "CheckRun", "name": "docs", "status": "IN_PROGRESS", "conclusion": null, "isRequired": false },
                    { "__typename": "StatusContext", "context": "ci/lint", "state": "SUCCESS", "isRequired": false },
                ],
            },
        })
    );
    let rule = &pull["baseRef"]["refUpdateRule"]["requiredStatusCheckContexts"];
    assert_eq!(rule, &json!(["never-started", "test"]));

    bare.commit("fix-42", "Better");
    assert_eq!(
        poll()["commits"]["nodes"][0]["commit"]["statusCheckRollup"],
        Value::Null
    );
    widgets.merge(44);
    assert_eq!(
        (&poll()["state"], &poll()["merged"]),
        (&json!("MERGED"), &json!(true))
    );
}

#[test]
fn one_query_sees_the_merge_and_what_is_next() {
    let Some((github, _bare)) = world() else {
        return;
    };
    github.project("acme", 1).set_status(42, "In Review");
    let variables = json!({ "owner": "acme", "name": "widgets", "branch": "fix-42", "boardOwner": "acme", "board": 1 });

    let idle = data(&github, IDLE, &variables);

    assert_eq!(idle["repository"]["pullRequests"]["nodes"], json!([]));
    assert_eq!(
        idle["repositoryOwner"]["projectV2"]["items"]["nodes"],
        json!([
            { "status": { "name": "In Review" }, "content": { "number": 42, "title": "Fix the race", "state": "OPEN" } },
            { "status": { "name": "Todo" }, "content": { "number": 43, "title": "Next", "state": "OPEN" } },
        ])
    );
}

#[test]
fn hostile_text_arrives_byte_for_byte() {
    let Some((github, bare)) = world() else {
        return;
    };
    let hostile = [
        "--repo=evil/evil",
        "@/etc/passwd",
        "$(id) `id` ;id|id",
        "quote \" and ' and \\",
        "first\nsecond\r\nthird\ttab",
        "{owner}/{repo} :branch true null 42",
        "unicode\u{a0}space\u{2028}line\u{202e}bidi 🦀",
        "  kept  spaces  ",
    ];
    for (index, text) in hostile.into_iter().enumerate() {
        let branch = format!("claude/{index}");
        bare.commit(&branch, text);
        let body = json!({ "head": branch, "base": "main", "title": text, "body": text });

        let run = call(&github, &["api", "repos/acme/widgets/pulls"], &body);

        assert!(run.succeeded(), "{text:?}: {}", run.stderr_text());
        let number = printed(&run)["number"].as_u64().unwrap();
        let pull = github.repository("acme", "widgets").pull(number);
        assert_eq!(
            (pull.title.as_str(), pull.body.as_str(), pull.head),
            (text, text, branch)
        );
    }
}

#[test]
fn magic_fields_would_not_keep_text_as_it_is() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let file = github.gh_config_dir().join("hosts.yml");
    let magic = format!("body=@{}", file.display());

    let run = github
        .gh(["api", "repos/acme/widgets/issues/42/comments", "-F", &magic])
        .run();

    // Why no text of a user's is ever given with `-F`.
    assert!(run.succeeded(), "{}", run.stderr_text());
    assert!(
        github.repository("acme", "widgets").issue(42).comments[0]
            .body
            .contains("oauth_token")
    );
}
