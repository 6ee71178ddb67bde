//! The real `gh` against the stand-in: who we are, issues, REST, other hosts.
//! Pull requests are in `github_pulls.rs`, faults in `github_faults.rs`.

#![expect(clippy::disallowed_methods, reason = "a test starts what it tests")]

use std::process::Command;

use mainspring_testkit::clients::Client;
use mainspring_testkit::github::{
    self, AccountKind, BareRepo, CountedGh, GitHub, IssueState, LOGIN, TOKEN, Token, bare_repo,
};
use mainspring_testkit::process::{PATIENCE, Running};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A repository with an issue on a board and a pushed branch; nothing where
/// clients are skipped.
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
    github.add_project("acme", 1).add_item(widgets, 42, "Todo");
    Some((github, bare))
}

/// The words of a command without spaces in them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(' ')
}

/// The first name of each request since this was last asked.
fn asked(github: &GitHub) -> Vec<String> {
    let requests = github.take_requests().into_iter();
    requests.map(|request| request.names[0].clone()).collect()
}

#[test]
fn auth_status_names_the_user_and_the_scopes() {
    let Some((github, _bare)) = world() else {
        return;
    };

    let run = github.gh(["auth", "status"]).run();

    // Releases differ in where they print it.
    let said = format!("{}{}", run.stdout_text(), run.stderr_text());
    assert!(run.succeeded(), "{said}");
    assert!(said.contains("octo") && said.contains("project"), "{said}");
}

#[test]
fn a_token_that_nobody_gave_is_refused() {
    let Some((github, _bare)) = world() else {
        return;
    };

    let stolen = github
        .gh(["api", "user"])
        .env("GH_TOKEN", "ghp_stolen")
        .run();

    assert!(!stolen.succeeded());
    assert_eq!(stolen.stdout_text(), r#"{"message":"Bad credentials"}"#);
}

#[test]
fn tokens_see_what_they_may() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let project = "query={ repositoryOwner(login: \"acme\") { ... on ProjectV2Owner { projectV2(number: 1) { id } } } }";
    let issue = "query={ repository(owner: \"acme\", name: \"widgets\") { issue(number: 42) { \
                 projectItems(first: 1) { totalCount } } } }";
    let ask = |query: &str| -> Value {
        let run = github.gh(["api", "graphql", "-f", query]).run();
        serde_json::from_slice(&run.stdout).unwrap()
    };
    assert!(ask(project)["data"]["repositoryOwner"]["projectV2"]["id"].is_string());

    github.set_token(TOKEN, Token::classic(LOGIN, &["repo"]));
    let answer = ask(project);
    assert_eq!(answer["errors"][0]["type"], json!("INSUFFICIENT_SCOPES"));
    assert_eq!(answer.get("data"), None);

    github.set_token(TOKEN, Token::without_projects(LOGIN));
    let answer = ask(project);
    let message = "Could not resolve to a ProjectV2 with the number 1.";
    assert_eq!(answer["errors"][0]["message"], json!(message));
    assert_eq!(
        ask(issue)["data"]["repository"]["issue"]["projectItems"]["totalCount"],
        json!(0)
    );

    github.set_token(TOKEN, Token::classic(LOGIN, &["project"]));
    let message = "Could not resolve to a Repository with the name 'acme/widgets'.";
    assert_eq!(ask(issue)["errors"][0]["message"], json!(message));
}

#[test]
fn repo_view_gives_the_default_branch() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let gadgets = github.add_repository("acme", "gadgets");
    gadgets.set_default_branch("trunk");

    let view = "repo view acme/gadgets --json nameWithOwner,defaultBranchRef,url";
    assert_eq!(
        github.gh(words(view)).printed_json(),
        json!({
            "nameWithOwner": "acme/gadgets",
            "defaultBranchRef": { "name": "trunk" },
            "url": "https://github.com/acme/gadgets",
        })
    );
    assert_eq!(asked(&github), ["RepositoryInfo"]);
}

#[test]
fn issue_view_close_and_comment() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let close = words("issue close 42 -R acme/widgets --comment").chain(["Completed in #43"]);
    let close = github.gh(close);
    let view = github.gh(words("issue view 42 -R acme/widgets")).printed();
    assert!(view.contains("title:\tFix the race"), "{view}");
    github.take_requests();

    close.printed();
    assert_eq!(
        asked(&github),
        ["IssueByNumber", "CommentCreate", "IssueClose"]
    );
    close.printed();
    assert_eq!(asked(&github), ["IssueByNumber"]);

    let shown = github
        .gh(words("issue view 42 -R acme/widgets --json state,comments"))
        .printed_json();
    assert_eq!(shown["state"], json!("CLOSED"));
    assert_eq!(shown["comments"][0]["body"], json!("Completed in #43"));
    assert_eq!(github.closes(), 1);
    let state = github.repository("acme", "widgets").issue(42).state;
    assert!(matches!(state, IssueState::Closed { reason, .. } if reason == "COMPLETED"));
}

#[test]
fn issue_edit_assigns_me_beside_others() {
    let Some((github, _bare)) = world() else {
        return;
    };
    github.add_account("hubot", AccountKind::User);
    github
        .gh(words(
            "api repos/acme/widgets/issues/42/assignees -f assignees[]=hubot",
        ))
        .printed();

    github
        .gh(words("issue edit 42 -R acme/widgets --add-assignee @me"))
        .printed();

    let mut assignees = github.repository("acme", "widgets").issue(42).assignees;
    assignees.sort();
    assert_eq!(assignees, ["hubot", "octo"]);
}

#[test]
fn rest_patches_issues_and_pages_comments() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    for number in 0..31 {
        widgets.add_comment(42, "hubot", &format!("Comment {number}"));
    }
    github
        .gh(words(
            "api repos/acme/widgets/issues/42/comments -f body=Mine",
        ))
        .printed();
    let comments = |further: &str| {
        let list = format!("api repos/acme/widgets/issues/42/comments --jq .[].body{further}");
        github.gh(words(&list)).printed().lines().count()
    };

    assert_eq!(comments(""), 30);
    assert_eq!(comments(" --paginate"), 32);
    let patch = "api --method PATCH repos/acme/widgets/issues/42 -f state=closed";
    let closed = github.gh(words(patch)).printed_json();

    assert_eq!(
        [&closed["state"], &closed["state_reason"]],
        [&json!("closed"), &json!("completed")]
    );
    assert_eq!(github.closes(), 1);
}

#[test]
fn what_the_stand_in_does_not_know_is_an_error() {
    let Some((github, _bare)) = world() else {
        return;
    };
    for (arguments, complaint) in [
        (
            ["api", "graphql", "-f", "query={ viewer { bio } }"],
            "Field 'bio' doesn't exist on type 'User'",
        ),
        (
            [
                "api",
                "graphql",
                "-f",
                "query=mutation { deleteIssue(input: {issueId: \"I\"}) { id } }",
            ],
            "Field 'deleteIssue' doesn't exist on type 'Mutation'",
        ),
        (
            ["api", "graphql", "-f", "query={"],
            "Expected a name, actual: end of file",
        ),
        (
            ["api", "--method", "GET", "repos/acme/widgets/releases"],
            "the stand-in has no route GET /repos/{owner}/{repo}/releases",
        ),
    ] {
        let run = github.gh(arguments).run();

        assert!(!run.succeeded(), "{arguments:?}");
        assert!(
            run.stdout_text().contains(complaint),
            "{}",
            run.stdout_text()
        );
    }
}

#[test]
fn an_enterprise_server_is_another_world() {
    let Some((github, bare)) = world() else {
        return;
    };
    let widgets = github.add_repository_on("ghe.corp", "acme", "widgets");
    widgets.follow(&bare.git_dir());
    widgets.add_issue(7, "Only here");

    let there = github.gh(words("issue view 7 -R ghe.corp/acme/widgets --json title"));
    let here = github.gh(words("issue view 7 -R acme/widgets --json title"));
    let by_rest = github.gh(words(
        "api --hostname ghe.corp repos/acme/widgets/issues/7 --jq .title",
    ));
    let create = github.gh(words(
        "pr create -R ghe.corp/acme/widgets -H fix-42 -t Fix -b Body",
    ));

    assert_eq!(there.printed_json(), json!({ "title": "Only here" }));
    assert!(!here.run().succeeded());
    assert_eq!(by_rest.printed(), "Only here\n");
    assert_eq!(create.printed(), "https://ghe.corp/acme/widgets/pull/8\n");
    let request = &github.requests_of("GET /repos/{owner}/{repo}/issues/{number}")[0];
    assert_eq!(
        (request.host.as_str(), request.path.as_str()),
        ("ghe.corp", "/api/v3/repos/acme/widgets/issues/7")
    );
}

#[test]
fn each_start_of_gh_is_counted_with_its_arguments() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let counted = CountedGh::install();
    let odd = ["api", "user", "--jq", ".login\n| \"a\\\"b $(id)\""];
    for arguments in [&odd[..], &["--version"]] {
        let mut command = Command::new(counted.program());
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin");
        let done = Running::start(command.envs(github.env())).wait(PATIENCE);
        assert!(done.succeeded(), "{}", done.stderr_text());
    }

    assert_eq!(counted.starts(), [odd.to_vec(), vec!["--version"]]);
}
