//! The real `gh` and git against the stand-in: pull requests.

#![expect(clippy::disallowed_methods, reason = "a test starts what it tests")]

use std::process::Command;
use std::thread;

use mainspring_testkit::clients::Client;
use mainspring_testkit::github::{
    self, BareRepo, Check, GitHub, LOGIN, Outcome, PullRequestState, Review, bare_repo,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const CREATE: &str = "pr create -R acme/widgets -H fix-42 -B main -t Fix -b Body";
const CREATE_BY_REST: &str =
    "api repos/acme/widgets/pulls -f head=fix-42 -f base=main -f title=Fix";

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
    Some((github, bare))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(' ')
}

#[test]
fn pr_create_makes_one_and_then_says_that_it_exists() {
    let Some((github, bare)) = world() else {
        return;
    };
    let create = github.gh(words(CREATE));

    assert_eq!(
        create.printed(),
        "https://github.com/acme/widgets/pull/43\n"
    );
    let names: Vec<_> = github
        .take_requests()
        .into_iter()
        .map(|request| request.names[0].clone())
        .collect();
    assert_eq!(
        names,
        [
            "RepositoryInfo",
            "PullRequestForBranch",
            "PullRequestCreate"
        ]
    );
    let again = create.run();

    assert!(!again.succeeded());
    let said = "a pull request for branch \"fix-42\" into branch \"main\" already exists:\n\
                https://github.com/acme/widgets/pull/43\n";
    assert_eq!(again.stderr_text(), said);
    let [pull] = &github.repository("acme", "widgets").pulls()[..] else {
        panic!("one pull request");
    };
    assert_eq!(
        [&pull.title, &pull.body, &pull.head, &pull.base],
        ["Fix", "Body", "fix-42", "main"]
    );
    assert_eq!(
        (pull.author.as_str(), &pull.head_sha),
        (LOGIN, &bare.refs()["refs/heads/fix-42"])
    );
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
        let create = format!("pr create --head {branch} --title Fix --body Body");

        github
            .gh(words(&create))
            .current_dir(clone.path())
            .printed();
    }
    let pulls = github.repository("acme", "widgets").pulls();
    let ends: Vec<_> = pulls
        .iter()
        .map(|pull| (pull.head.as_str(), pull.base.as_str()))
        .collect();
    assert_eq!(ends, [("fix-42", "main"), ("fix-44", "main")]);
}

#[test]
fn a_clone_pushes_to_the_bare_repository() {
    let bare = bare_repo();
    for (origin, branch) in [
        ("git@github.com:acme/widgets.git", "claude/by-ssh"),
        ("https://github.com/acme/widgets", "claude/by-https"),
    ] {
        let clone = tempfile::tempdir().unwrap();
        bare.clone_as(origin, clone.path());
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command
                .args(arguments)
                .env_clear()
                .env("PATH", "/usr/bin:/bin");
            let done = command.current_dir(clone.path()).output().unwrap();
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
fn a_pull_request_needs_a_title_and_a_branch_with_commits() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let long = "x".repeat(257);
    for (head, title, complaint) in [
        ("nowhere", "Fix", "Head sha can't be blank"),
        ("main", "Fix", "No commits between main and main"),
        ("fix-42", " ", "Title can't be blank"),
        (
            "fix-42",
            &long,
            "Title is too long (maximum is 256 characters)",
        ),
    ] {
        let [head, title] = [format!("head={head}"), format!("title={title}")];
        let create = [
            "api",
            "repos/acme/widgets/pulls",
            "-f",
            "base=main",
            "-f",
            &head,
            "-f",
            &title,
        ];

        let run = github.gh(create).run();

        assert!(!run.succeeded());
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
    let list = github.gh(words(
        "pr list -R acme/widgets --head fix-42 --state all --json number,state",
    ));
    let widgets = github.repository("acme", "widgets");
    assert_eq!(list.printed_json(), json!([]));

    github.gh(words(CREATE)).printed();
    widgets.close_pull(43);
    github.gh(words(CREATE)).printed();
    widgets.merge(44);

    let found = json!([{ "number": 44, "state": "MERGED" }, { "number": 43, "state": "CLOSED" }]);
    assert_eq!(list.printed_json(), found);
}

#[test]
fn pr_view_follows_the_head_and_its_checks() {
    let Some((github, bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    github.gh(words(CREATE)).printed();
    let old = widgets.pull(43).head_sha;
    widgets.set_check(&old, Check::completed("test", "FAILURE"));
    widgets.set_check(&old, Check::status("ci/lint", "PENDING"));
    widgets.set_review(43, Review::ChangesRequested);
    let view = "pr view 43 -R acme/widgets --json state,headRefOid,statusCheckRollup,reviewDecision,mergedAt";
    let view = || {
        let mut shown = github.gh(words(view)).printed_json();
        let checks = shown["statusCheckRollup"].as_array().unwrap().iter();
        shown["statusCheckRollup"] = checks
            .map(|check| {
                json!([
                    check["__typename"],
                    check.get("conclusion").or(check.get("state"))
                ])
            })
            .collect();
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
    assert_eq!(
        [&shown["headRefOid"], &shown["reviewDecision"]],
        [&json!(new), &json!("APPROVED")]
    );
    assert_eq!(shown["statusCheckRollup"], json!([]));

    bare.delete("fix-42");
    assert_eq!(view()["state"], json!("CLOSED"));
}

#[test]
fn pr_checks_knows_required_from_optional() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    github.gh(words(CREATE)).printed();
    let head = widgets.pull(43).head_sha;
    widgets.require("test");
    widgets.set_check(&head, Check::completed("test", "SUCCESS"));
    widgets.set_check(&head, Check::completed("docs", "FAILURE"));

    let all = github.gh(words("pr checks 43 -R acme/widgets")).run();
    let required = github
        .gh(words("pr checks 43 -R acme/widgets --required"))
        .printed();

    assert!(!all.succeeded());
    assert!(
        all.stdout_text().contains("docs\tfail"),
        "{}",
        all.stdout_text()
    );
    assert!(
        required.contains("test\tpass") && !required.contains("docs"),
        "{required}"
    );
}

#[test]
fn rest_lists_and_creates_pull_requests() {
    let Some((github, _bare)) = world() else {
        return;
    };
    let listed = |head: &str| {
        let list = format!("api --method GET repos/acme/widgets/pulls -f state=all -f head={head}");
        github
            .gh(words(&list))
            .printed_json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(listed("acme:fix-42"), 0);

    let created = github.gh(words(CREATE_BY_REST)).printed_json();
    let again = github.gh(words(CREATE_BY_REST)).run();

    assert_eq!(
        [&created["number"], &created["head"]["ref"]],
        [&json!(43), &json!("fix-42")]
    );
    assert!(!again.succeeded());
    // Only stdout has the reason.
    assert_eq!(again.stderr_text(), "gh: Validation Failed (HTTP 422)\n");
    let refused: Value = serde_json::from_slice(&again.stdout).unwrap();
    let message = "A pull request already exists for acme:fix-42.";
    assert_eq!(refused["errors"][0]["message"], json!(message));
    assert_eq!(listed("acme:fix-42"), 1);
    assert_eq!(listed("acme:other"), 0);
    // Without the owner GitHub ignores the filter.
    assert_eq!(listed("other"), 1);
}

#[test]
fn a_merge_closes_only_what_the_body_says_it_closes() {
    let Some((github, bare)) = world() else {
        return;
    };
    let widgets = github.repository("acme", "widgets");
    bare.commit("fix-43", "Other");
    for (head, body) in [("fix-42", "Refs #42"), ("fix-43", "Closes #42")] {
        let create = words("pr create -R acme/widgets -t Fix -H").chain([head, "-b", body]);
        github.gh(create).printed();
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
    let succeeded = thread::scope(|scope| {
        let create = || github.gh(words(CREATE_BY_REST)).run().succeeded();
        let runs: Vec<_> = (0..16).map(|_| scope.spawn(create)).collect();
        runs.into_iter()
            .map(|run| run.join().unwrap())
            .filter(|ended| *ended)
            .count()
    });

    assert_eq!((github.prs_created(), succeeded), (1, 1));
    let outcomes: Vec<_> = github
        .requests()
        .into_iter()
        .map(|request| request.outcome)
        .collect();
    assert_eq!(outcomes.len(), 16);
    let refused = outcomes
        .iter()
        .filter(|outcome| **outcome == Outcome::Answered(422));
    assert_eq!(refused.count(), 15);
}
