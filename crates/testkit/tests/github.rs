//! The real `gh`, one operation after the other, against the stand-in.

use std::thread;
use std::time::Duration;

use mainspring_testkit::clients::Client;
use mainspring_testkit::github::{
    self, AccountKind, BareRepo, Check, CountedGh, GitHub, IssueState, LOGIN, Outcome,
    PullRequestState, Review, TOKEN, Token, bare_repo,
};
use mainspring_testkit::process::{End, Finished};
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

/// Runs `gh`, which must succeed, and gives what it printed.
fn gh<'a>(github: &GitHub, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let run = github.gh(arguments).run();
    assert!(run.succeeded(), "{run:?}: {}", run.stderr_text());
    run.stdout_text()
}

fn gh_json<'a>(github: &GitHub, arguments: impl IntoIterator<Item = &'a str>) -> Value {
    serde_json::from_str(&gh(github, arguments)).unwrap()
}

fn code(run: &Finished) -> Option<i32> {
    match run.end {
        End::Exited(status) => status.code(),
        End::DeadlinePassed => None,
    }
}

/// The first name of each request so far, which are then forgotten.
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

    let said = format!("{}{}", run.stdout_text(), run.stderr_text());
    assert_eq!(code(&run), Some(0), "{said}");
    assert!(said.contains("octo") && said.contains("project"), "{said}");
}

#[test]
fn a_token_that_nobody_gave_is_refused() {
    let Some((github, _bare)) = world() else {
        return;
    };

    let run = github
        .gh(["api", "user"])
        .env("GH_TOKEN", "ghp_stolen")
        .run();

    assert_eq!(code(&run), Some(1));
    assert_eq!(run.stdout_text(), r#"{"message":"Bad credentials"}"#);
}

#[test]
fn repo_view_gives_the_default_branch() {
    let Some((github, _bare)) = world() else {
        return;
    };

    let shown = gh_json(
        &github,
        [
            "repo",
            "view",
            "acme/widgets",
            "--json",
            "nameWithOwner,defaultBranchRef,url",
        ],
    );

    assert_eq!(
        shown,
        json!({
            "nameWithOwner": "acme/widgets",
            "defaultBranchRef": { "name": "main" },
            "url": "https://github.com/acme/widgets",
        })
    );
    assert_eq!(asked(&github), ["RepositoryInfo"]);
}

#[test]
fn pr_create_makes_one_and_then_says_that_it_exists() {
    let Some((github, bare)) = world() else {
        return;
    };
    let create = [
        "pr",
        "create",
        "-R",
        "acme/widgets",
        "-H",
        "fix-42",
        "-B",
        "main",
        "-t",
        "Fix the race",
        "-b",
        "Refs #42",
    ];

    assert_eq!(
        gh(&github, create),
        "https://github.com/acme/widgets/pull/43\n"
    );
    assert_eq!(
        asked(&github),
        [
            "RepositoryInfo",
            "PullRequestForBranch",
            "PullRequestCreate"
        ]
    );
    let again = github.gh(create).run();

    assert_eq!(code(&again), Some(1));
    assert!(
        again
            .stderr_text()
            .contains("already exists:\nhttps://github.com/acme/widgets/pull/43")
    );
    let [pull] = &github.repository("acme", "widgets").pulls()[..] else {
        panic!("one pull request");
    };
    assert_eq!(
        (
            pull.title.as_str(),
            pull.body.as_str(),
            pull.head.as_str(),
            pull.base.as_str(),
            pull.author.as_str()
        ),
        ("Fix the race", "Refs #42", "fix-42", "main", LOGIN)
    );
    assert_eq!(pull.head_sha, bare.refs()["refs/heads/fix-42"]);
}

#[test]
fn pr_create_in_a_clone_finds_the_repository_and_its_default_branch() {
    let Some((github, bare)) = world() else {
        return;
    };
    for (origin, branch) in [
        ("git@github.com:acme/widgets.git", "fix-42"),
        ("ssh://git@github.com/acme/widgets", "fix-44"),
    ] {
        let clone = tempfile::tempdir().unwrap();
        bare.commit(branch, origin);
        bare.clone_as(origin, clone.path());

        let run = github
            .gh([
                "pr", "create", "--head", branch, "--title", "Fix", "--body", "",
            ])
            .current_dir(clone.path())
            .run();

        assert!(run.succeeded(), "{origin}: {}", run.stderr_text());
    }
    assert_eq!(github.prs_created(), 2);
}

#[test]
fn a_clone_pushes_to_the_bare_repository() {
    let Some((_github, bare)) = world() else {
        return;
    };
    for (origin, branch) in [
        ("git@github.com:acme/widgets.git", "claude/by-ssh"),
        ("https://github.com/acme/widgets", "claude/by-https"),
    ] {
        let clone = tempfile::tempdir().unwrap();
        bare.clone_as(origin, clone.path());
        let git = |arguments: &[&str]| {
            let done = std::process::Command::new("git")
                .args(arguments)
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .current_dir(clone.path())
                .output()
                .unwrap();
            assert!(
                done.status.success(),
                "{origin}: {}",
                String::from_utf8_lossy(&done.stderr)
            );
            String::from_utf8(done.stdout)
                .unwrap()
                .trim_end()
                .to_owned()
        };

        git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
        git(&[
            "push",
            "--quiet",
            "origin",
            &format!("HEAD:refs/heads/{branch}"),
        ]);

        assert_eq!(git(&["config", "remote.origin.url"]), origin);
        assert_eq!(
            bare.refs()[&format!("refs/heads/{branch}")],
            git(&["rev-parse", "HEAD"])
        );
    }
}

#[test]
fn a_pull_request_needs_a_branch_with_commits() {
    let Some((github, _bare)) = world() else {
        return;
    };
    for (head, title, complaint) in [
        ("nowhere", "Fix", "Head sha can't be blank"),
        ("main", "Fix", "No commits between main and main"),
        ("fix-42", " ", "Title can't be blank"),
        (
            "fix-42",
            "x".repeat(257).as_str(),
            "Title is too long (maximum is 256 characters)",
        ),
    ] {
        let [head, title] = [format!("head={head}"), format!("title={title}")];

        let run = github
            .gh([
                "api",
                "repos/acme/widgets/pulls",
                "-f",
                &head,
                "-f",
                &title,
                "-f",
                "base=main",
            ])
            .run();

        assert_eq!(code(&run), Some(1));
        assert!(
            run.stdout_text().contains(complaint),
            "{}",
            run.stdout_text()
        );
    }
    assert_eq!(github.prs_created(), 0);
}

#[test]
fn pr_list_finds_pull_requests_of_a_branch_in_every_state() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let list = [
        "pr",
        "list",
        "-R",
        "acme/widgets",
        "--head",
        "fix-42",
        "--state",
        "all",
        "--json",
        "number,state,url",
    ];
    let widgets = github.repository("acme", "widgets");
    assert_eq!(gh_json(&github, list), json!([]));

    gh(
        &github,
        [
            "pr",
            "create",
            "-R",
            "acme/widgets",
            "-H",
            "fix-42",
            "-t",
            "One",
            "-b",
            "",
        ],
    );
    widgets.close_pull(43);
    gh(
        &github,
        [
            "pr",
            "create",
            "-R",
            "acme/widgets",
            "-H",
            "fix-42",
            "-t",
            "Two",
            "-b",
            "",
        ],
    );
    widgets.merge(44);

    let found = json!([
        { "number": 44, "state": "MERGED", "url": "https://github.com/acme/widgets/pull/44" },
        { "number": 43, "state": "CLOSED", "url": "https://github.com/acme/widgets/pull/43" },
    ]);
    assert_eq!(gh_json(&github, list), found);
}

#[test]
fn pr_view_follows_the_head_and_its_checks() {
    let Some((github, bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    gh(
        &github,
        [
            "pr",
            "create",
            "-R",
            "acme/widgets",
            "-H",
            "fix-42",
            "-t",
            "Fix",
            "-b",
            "",
        ],
    );
    let old = widgets.pull(43).head_sha;
    widgets.set_check(&old, Check::completed("test", "FAILURE"));
    widgets.set_check(&old, Check::status("ci/lint", "PENDING"));
    widgets.set_review(43, Review::ChangesRequested);
    let view = || {
        let fields = "state,headRefOid,statusCheckRollup,reviewDecision,mergedAt";
        let mut shown = gh_json(
            &github,
            ["pr", "view", "43", "-R", "acme/widgets", "--json", fields],
        );
        let checks = shown["statusCheckRollup"].as_array().unwrap();
        let checks = checks.iter().map(|check| {
            let state = check.get("conclusion").or(check.get("state"));
            json!([check["__typename"], state])
        });
        shown["statusCheckRollup"] = checks.collect();
        shown
    };

    assert_eq!(
        view(),
        json!({
            "state": "OPEN",
            "headRefOid": old,
            "statusCheckRollup": [["CheckRun", "FAILURE"], ["StatusContext", "PENDING"]],
            "reviewDecision": "CHANGES_REQUESTED",
            "mergedAt": null,
        })
    );

    let new = bare.commit("fix-42", "Fix it better");
    widgets.set_review(43, Review::Approved);

    let shown = view();
    assert_eq!(shown["headRefOid"], json!(new));
    assert_eq!(shown["statusCheckRollup"], json!([]));
    assert_eq!(shown["reviewDecision"], json!("APPROVED"));

    bare.delete("fix-42");
    assert_eq!(view()["state"], json!("CLOSED"));
}

#[test]
fn pr_checks_knows_required_from_optional() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    gh(
        &github,
        [
            "pr",
            "create",
            "-R",
            "acme/widgets",
            "-H",
            "fix-42",
            "-t",
            "Fix",
            "-b",
            "",
        ],
    );
    let head = widgets.pull(43).head_sha;
    widgets.require("test");
    widgets.set_check(&head, Check::completed("test", "SUCCESS"));
    widgets.set_check(&head, Check::completed("docs", "FAILURE"));

    let all = github
        .gh(["pr", "checks", "43", "-R", "acme/widgets"])
        .run();
    let required = github
        .gh(["pr", "checks", "43", "-R", "acme/widgets", "--required"])
        .run();

    assert_eq!(code(&all), Some(1), "{}", all.stderr_text());
    assert_eq!(code(&required), Some(0), "{}", required.stderr_text());
    assert!(!required.stdout_text().contains("docs"));
}

#[test]
fn issue_view_close_and_comment() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    let close = [
        "issue",
        "close",
        "42",
        "-R",
        "acme/widgets",
        "--comment",
        "Completed in #43",
    ];
    assert!(
        gh(&github, ["issue", "view", "42", "-R", "acme/widgets"]).contains("title:\tFix the race")
    );
    github.take_requests();

    gh(&github, close);
    assert_eq!(
        asked(&github),
        ["IssueByNumber", "CommentCreate", "IssueClose"]
    );
    gh(&github, close);
    assert_eq!(asked(&github), ["IssueByNumber"]);

    let shown = gh_json(
        &github,
        [
            "issue",
            "view",
            "42",
            "-R",
            "acme/widgets",
            "--json",
            "state,number,comments",
        ],
    );
    assert_eq!(shown["state"], json!("CLOSED"));
    assert_eq!(shown["comments"][0]["body"], json!("Completed in #43"));
    assert_eq!(github.closes(), 1);
    assert!(
        matches!(widgets.issue(42).state, IssueState::Closed { reason, .. } if reason == "COMPLETED")
    );
}

#[test]
fn issue_edit_assigns_me_beside_others() {
    let Some((github, _bare)) = world() else {
        return;
    };
    github.add_account("hubot", AccountKind::User);
    gh(
        &github,
        [
            "api",
            "repos/acme/widgets/issues/42/assignees",
            "-f",
            "assignees[]=hubot",
        ],
    );

    gh(
        &github,
        [
            "issue",
            "edit",
            "42",
            "-R",
            "acme/widgets",
            "--add-assignee",
            "@me",
        ],
    );

    let mut assignees = github.repository("acme", "widgets").issue(42).assignees;
    assignees.sort();
    assert_eq!(assignees, ["hubot", "octo"]);
}

#[test]
fn rest_lists_and_creates_pull_requests() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let list = |head: &str| {
        let head = format!("head={head}");
        let arguments = [
            "api",
            "--method",
            "GET",
            "repos/acme/widgets/pulls",
            "-f",
            &head,
            "-f",
            "state=all",
        ];
        gh_json(&github, arguments).as_array().unwrap().len()
    };
    assert_eq!(list("acme:fix-42"), 0);
    let create = [
        "api",
        "repos/acme/widgets/pulls",
        "-f",
        "head=fix-42",
        "-f",
        "base=main",
        "-f",
        "title=Fix",
    ];

    let created = gh_json(&github, create);
    let again = github.gh(create).run();

    assert_eq!(created["number"], json!(43));
    assert_eq!(created["head"]["ref"], json!("fix-42"));
    assert_eq!(code(&again), Some(1));
    let refused: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        refused["errors"][0]["message"],
        json!("A pull request already exists for acme:fix-42.")
    );
    assert_eq!(list("acme:fix-42"), 1);
    assert_eq!(list("acme:other"), 0);
    // Without the owner GitHub ignores the filter.
    assert_eq!(list("other"), 1);
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
    gh(
        &github,
        [
            "api",
            "repos/acme/widgets/issues/42/comments",
            "-f",
            "body=Mine",
        ],
    );
    let comments = |further: &[&str]| {
        let arguments = [
            "api",
            "repos/acme/widgets/issues/42/comments",
            "--jq",
            ".[].body",
        ];
        gh(
            &github,
            arguments.into_iter().chain(further.iter().copied()),
        )
        .lines()
        .count()
    };

    assert_eq!(comments(&[]), 30);
    assert_eq!(comments(&["--paginate"]), 32);
    let closed = gh_json(
        &github,
        [
            "api",
            "--method",
            "PATCH",
            "repos/acme/widgets/issues/42",
            "-f",
            "state=closed",
        ],
    );

    assert_eq!(
        (&closed["state"], &closed["state_reason"]),
        (&json!("closed"), &json!("completed"))
    );
    assert_eq!(github.closes(), 1);
}

#[test]
fn what_the_stand_in_does_not_know_is_an_error() {
    let Some((github, _bare)) = world() else {
        return;
    };
    for arguments in [
        [
            "api",
            "graphql",
            "-f",
            "query={ repository(owner: \"acme\", name: \"widgets\") { stargazerCount } }",
        ],
        [
            "api",
            "graphql",
            "-f",
            "query=mutation { deleteIssue(input: {issueId: \"I\"}) { clientMutationId } }",
        ],
        ["api", "graphql", "-f", "query={"],
        ["api", "--method", "GET", "repos/acme/widgets/releases"],
    ] {
        let run = github.gh(arguments).run();

        assert_eq!(code(&run), Some(1), "{arguments:?}: {}", run.stdout_text());
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

    let issue = [
        "issue",
        "view",
        "7",
        "-R",
        "ghe.corp/acme/widgets",
        "--json",
        "title",
    ];
    assert_eq!(gh_json(&github, issue), json!({ "title": "Only here" }));
    assert!(
        !github
            .gh([
                "issue",
                "view",
                "7",
                "-R",
                "acme/widgets",
                "--json",
                "title"
            ])
            .run()
            .succeeded()
    );
    let by_rest = [
        "api",
        "--hostname",
        "ghe.corp",
        "repos/acme/widgets/issues/7",
        "--jq",
        ".title",
    ];
    assert_eq!(gh(&github, by_rest), "Only here\n");
    let pull = [
        "pr",
        "create",
        "-R",
        "ghe.corp/acme/widgets",
        "-H",
        "fix-42",
        "-t",
        "Fix",
        "-b",
        "",
    ];
    assert_eq!(gh(&github, pull), "https://ghe.corp/acme/widgets/pull/8\n");

    let request = &github.requests_of("GET /repos/{owner}/{repo}/issues/{number}")[0];
    assert_eq!(
        (request.host.as_str(), request.path.as_str()),
        ("ghe.corp", "/api/v3/repos/acme/widgets/issues/7")
    );
}

#[test]
fn a_merge_closes_only_what_the_body_says_it_closes() {
    let Some((github, bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    bare.commit("fix-43", "Other");
    for (head, body) in [("fix-42", "Refs #42"), ("fix-43", "Closes #42")] {
        gh(
            &github,
            [
                "pr",
                "create",
                "-R",
                "acme/widgets",
                "-H",
                head,
                "-t",
                "Fix",
                "-b",
                body,
            ],
        );
    }

    widgets.merge(43);
    assert_eq!(github.closes(), 0);
    widgets.merge(44);
    assert_eq!(github.closes(), 1);
    assert!(matches!(
        widgets.pull(44).state,
        PullRequestState::Merged { .. }
    ));
}

#[test]
fn sixteen_at_once_make_one_pull_request() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let ends: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let create = [
                        "api",
                        "repos/acme/widgets/pulls",
                        "-f",
                        "head=fix-42",
                        "-f",
                        "base=main",
                        "-f",
                        "title=Fix",
                    ];
                    code(&github.gh(create).run())
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });

    assert_eq!(github.prs_created(), 1);
    assert_eq!(ends.iter().filter(|end| **end == Some(0)).count(), 1);
    let requests = github.requests();
    assert_eq!(requests.len(), 16);
    let refused = requests
        .iter()
        .filter(|request| request.outcome == Outcome::Answered(422));
    assert_eq!(refused.count(), 15);
}

#[test]
fn each_start_of_gh_is_counted_with_its_arguments() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let counted = CountedGh::install();
    let odd = ["api", "user", "--jq", ".login\n| \"a\\\"b $(id)\"", ""];
    for arguments in [&odd[..4], &["--version"]] {
        let mut command = std::process::Command::new(counted.program());
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin");
        let done = mainspring_testkit::process::Running::start(command.envs(github.env()));
        assert!(done.wait(Duration::from_secs(30)).succeeded());
    }

    assert_eq!(counted.starts(), [odd[..4].to_vec(), vec!["--version"]]);
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
    let first_error = |answer: &Value| answer["errors"][0]["type"].clone();
    assert!(ask(project)["data"]["repositoryOwner"]["projectV2"]["id"].is_string());

    github.set_token(TOKEN, Token::classic(LOGIN, &["repo"]));
    let answer = ask(project);
    assert_eq!(first_error(&answer), json!("INSUFFICIENT_SCOPES"));
    assert_eq!(answer.get("data"), None);

    github.set_token(TOKEN, Token::without_projects(LOGIN));
    let answer = ask(project);
    assert_eq!(first_error(&answer), json!("NOT_FOUND"));
    assert_eq!(
        answer["errors"][0]["message"],
        json!("Could not resolve to a ProjectV2 with the number 1.")
    );
    assert_eq!(
        ask(issue)["data"]["repository"]["issue"]["projectItems"]["totalCount"],
        json!(0)
    );

    github.set_token(TOKEN, Token::classic(LOGIN, &["project"]));
    assert_eq!(first_error(&ask(issue)), json!("NOT_FOUND"));
}
