//! A claim's whole life, and what each step of it costs.

use mainspring_testkit::github::{Check, IssueState, LOGIN, Review};
use serde_json::json;

use super::world::{BRANCH, World, at, context, world};

#[test]
fn from_a_claimed_issue_to_a_closed_one() {
    let Some(world) = world() else { return };
    claim_the_issue(&world);
    let (ran, runs) = world.gh_runs(|| world.stop("still at it"));
    assert_eq!(
        (ran.let_go().as_str(), runs),
        ("", 0),
        "no program is started"
    );
    let head = hand_over(&world);
    poll_checks(&world, &head);
    merge_and_ask(&world);
    close(&world);
    assert_eq!(world.stop("bye").let_go(), "");
    assert_eq!((world.github.prs_created(), world.github.closes()), (1, 1));
}

/// The item is found, the card moved, the agent set, the issue assigned, the file written and
/// ignored.
fn claim_the_issue(world: &World) {
    let (ran, runs) = world.gh_runs(|| world.env.agent("s", &["claim", "42"]));
    let said = ran.ok();
    assert!(
        said.starts_with("claimed issue #42: Fix the race\n"),
        "{said}"
    );
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(runs, 2, "one query, one mutation");
    let claim = world.claim();
    assert_eq!(claim["phase"], "coding");
    assert_eq!(claim["branch"], BRANCH);
    assert_eq!(claim["last_synced_status"], "In Progress");
    let agent = claim["agent_id"].as_str().unwrap();
    assert!(agent.starts_with("ada-"), "{agent}");
    assert_eq!(world.card(), ("In Progress".into(), agent.to_owned()));
    assert_eq!(world.widgets().issue(42).assignees, [LOGIN]);
    assert!(world.bare.refs().contains_key("refs/mainspring/claims/42"));
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .gitignore");
}

/// The handoff, and the pull request at the next stop. Returns the pushed commit.
fn hand_over(world: &World) -> String {
    assert_eq!(world.git(&["branch", "--show-current"]), BRANCH);
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "Fix"]);
    let handoff = ["handoff", "--summary", "Fix race condition", "--push"];
    let said = world.env.agent("s", &handoff).ok();
    assert!(said.contains("Mainspring opens it when you stop"), "{said}");
    let head = world.git(&["rev-parse", "HEAD"]);
    let (ran, runs) = world.gh_runs(|| world.stop("handed over"));
    let said = ran.held();
    assert!(
        said.starts_with("PR #44 created: https://github.com/acme/widgets/pull/44"),
        "{said}"
    );
    assert_eq!(runs, 3, "look, create, card");
    let pull = world.widgets().pull(44);
    assert_eq!(
        (pull.title.as_str(), pull.base.as_str()),
        ("Fix race condition", "main")
    );
    assert!(pull.body.contains("Refs #42") && pull.body.matches("- [ ]").count() == 5);
    assert_eq!(world.claim()["phase"], "pr_created");
    assert_eq!(world.claim()["pr_number"], 44);
    assert_eq!(world.card().0, "In Review");
    let (ran, runs) = world.gh_runs(|| world.stop("told the user"));
    assert_eq!(
        (ran.let_go().as_str(), runs),
        ("", 0),
        "git alone tells the team"
    );
    let claim = world.git(&["ls-remote", "origin", "refs/mainspring/claims/42"]);
    world.git(&["fetch", "--quiet", "origin", "refs/mainspring/claims/42"]);
    let record = world.git(&["cat-file", "commit", &claim[..40]]);
    assert!(record.contains("\nphase: pr_created\n"), "{record}");
    head
}

/// CI is polled while the agent is idle.
fn poll_checks(world: &World, head: &str) {
    world.widgets().set_check(head, Check::running("test"));
    world
        .widgets()
        .set_check(head, Check::completed("lint", "SUCCESS"));
    let (ran, runs) = world.gh_runs(|| world.idle());
    assert_eq!(
        (ran.ok().as_str(), runs),
        ("", 1),
        "progress is no desktop notice"
    );
    assert_eq!(world.claim()["phase"], "checks_running");
    world.github.take_requests();
    let (ran, runs) = world.gh_runs(|| world.idle());
    assert_eq!((ran.ok().as_str(), runs), ("", 1), "merged? nothing else");
    assert_eq!(world.github.requests_of("ClaimPoll").len(), 0);
    assert_eq!(
        context(world.prompt("how is it?")),
        "CI for PR #44: 1/2 passed, 1 still running."
    );
    world
        .widgets()
        .set_check(head, Check::completed("test", "SUCCESS"));
    world.two_minutes_later();
    let notice = world.idle().json();
    assert_eq!(
        notice["terminalSequence"],
        "\u{1b}]9;Checks passed. PR #44 is ready to merge.\u{7}"
    );
}

/// The agent asks once whether to close the issue, and may not close it before the answer.
fn merge_and_ask(world: &World) {
    world.widgets().merge(44);
    world.two_minutes_later();
    assert!(
        world.idle().json()["terminalSequence"]
            .as_str()
            .unwrap()
            .contains("PR #44 is merged. To close issue #42, answer your agent")
    );
    assert_eq!(world.claim()["phase"], "merged_detected");
    let refused = world.done().failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    let said = context(world.prompt("what is new?"));
    assert!(said.contains("Should I close issue #42?"), "{said}");
    let refused = world.done().failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    assert_eq!(world.prompt("yes, close it").ok(), "", "asked once");
}

fn close(world: &World) {
    let (ran, runs) = world.gh_runs(|| world.done());
    assert_eq!(
        ran.ok(),
        "Issue #42 closed. Board → Done. Signal file cleaned up.\n"
    );
    assert_eq!(runs, 2, "one query, one mutation");
    let (ran, runs) = world.gh_runs(|| world.stop("closed"));
    assert_eq!((ran.let_go().as_str(), runs), ("", 0));
    let issue = world.widgets().issue(42);
    assert!(matches!(issue.state, IssueState::Closed { .. }));
    assert_eq!(issue.comments.len(), 1);
    assert!(issue.comments[0].body.starts_with("Completed in #44\n"));
    assert_eq!(world.card(), ("Done".into(), String::new()));
    assert!(!world.file().exists());
    assert!(!world.bare.refs().contains_key("refs/mainspring/claims/42"));
}

/// What `claim status --now` sees counts: the merge is known, and whoever read the output was
/// asked the question.
#[test]
fn a_merge_that_status_sees_is_taken_in_and_ends_the_handing_over() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    world.widgets().merge(44);
    let seen = world.env.run(&["claim", "status", "--now"]).ok();
    assert!(seen.contains("phase   merged_detected\n"), "{seen}");
    assert!(seen.contains("mail    PR #44 merged!"), "{seen}");
    let refused = world.done().failed();
    assert!(
        refused.contains("the user has not agreed to close #42 yet"),
        "{refused}"
    );
    let said = context(world.prompt("what is new?"));
    assert!(
        said.contains("Should I close issue #42?"),
        "a person saw it, the agent not"
    );
    let refused = world
        .env
        .agent("s", &["handoff", "--summary", "More"])
        .failed();
    assert_eq!(
        refused,
        "error: the pull request of issue #42 is merged, and a claim has one\n\
         hint: `mainspring claim done` closes the issue when the user says so\n\
         hint: for more work on it, run `mainspring claim rework`\n"
    );
    assert_eq!(world.claim()["phase"], "merged_detected");
    let log = world.env.run(&["log", "--machine", "claim"]).ok();
    assert!(
        log.contains("mainspring claim status --now: PR #44: merged"),
        "{log}"
    );
}

#[test]
fn a_status_that_the_agent_sets_reaches_the_board_in_two_calls() {
    let Some(world) = world() else { return };
    world.write("coding");
    world.edit(json!({ "status": "Todo", "agent_id": "ada-1" }));
    let (ran, runs) = world.gh_runs(|| world.stop("parked"));
    assert_eq!((ran.let_go().as_str(), runs), ("", 2));
    assert_eq!(world.card(), ("Todo".into(), "ada-1".into()));
    assert_eq!(world.claim()["last_synced_status"], "Todo");
    let (ran, runs) = world.gh_runs(|| world.stop("parked"));
    assert_eq!((ran.let_go().as_str(), runs), ("", 0));
}

#[test]
fn what_is_missing_is_told_once_and_the_phase_stays() {
    let Some(world) = world() else { return };
    world.write("ready_for_pr");
    for (fields, part) in [
        (json!({ "summary": "" }), "its summary cannot"),
        (json!({ "summary": "Fix", "branch": "" }), "branch is ``"),
        (
            json!({ "branch": "--exec=evil" }),
            "branch is `--exec=evil`",
        ),
        (
            json!({ "branch": "main" }),
            "it is the base branch of pull requests",
        ),
        (json!({ "branch": BRANCH }), "is not on the server"),
    ] {
        world.edit(fields);
        let said = world.stop("ready").held();
        assert!(said.contains(part), "{said}");
        let note = world.stop("ready, again").let_go();
        assert!(note.contains(part), "{note}");
        assert_eq!(world.claim()["phase"], "ready_for_pr");
    }
    world.git(&["switch", "--quiet", "-c", BRANCH]);
    world.git(&["push", "--quiet", "origin", BRANCH]);
    assert!(
        world
            .env
            .stop("pushed")
            .held()
            .contains("has no commit that `main` does not have")
    );
    world.work();
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "More"]);
    assert!(
        world
            .env
            .stop("one more")
            .held()
            .contains("is not the commit you have here")
    );
    world.work();
    assert!(
        world
            .env
            .stop("all of it")
            .held()
            .contains("PR #44 created")
    );
}

#[test]
fn a_remote_that_is_not_understood_is_refused_and_nothing_is_guessed() {
    let Some(world) = world() else { return };
    world.work();
    for (address, part) in [
        ("/srv/git/widgets.git", "a path on this machine"),
        ("https://gitlab.com/acme/widgets.git", "gitlab.com"),
        (
            "https://me:hunter2@github.com/acme",
            "no `owner/repository`",
        ),
    ] {
        world.write("ready_for_pr");
        world.git(&["config", "remote.origin.url", address]);
        let (ran, runs) = world.gh_runs(|| world.stop("ready"));
        let said = ran.held();
        assert!(said.contains(part) && !said.contains("hunter2"), "{said}");
        assert!(runs <= 1, "gh is asked which servers it is signed in to");
    }
    let requests = world.github.requests();
    assert!(
        requests.iter().all(|request| request.host != "gitlab.com"),
        "no token goes there: {requests:?}"
    );
    assert_eq!(world.github.prs_created(), 0);
}

#[test]
fn what_happens_to_the_pull_request_is_said_once() {
    let Some(world) = world() else { return };
    let head = world.with_pull_request();
    let news = || {
        world.two_minutes_later();
        world.idle().json()["terminalSequence"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let silence = || {
        world.two_minutes_later();
        assert_eq!(world.idle().ok(), "");
    };
    silence();
    for name in ["a", "b", "c", "d", "e", "f"] {
        world
            .widgets()
            .set_check(&head, Check::completed(name, "FAILURE"));
    }
    assert!(news().contains("PR #44: checks failed: a, b, c, d, e and 1 more"));
    silence();
    world.widgets().set_review(44, Review::ChangesRequested);
    assert!(news().contains("requests changes"));
    silence();
    world.widgets().close_pull(44);
    assert!(news().contains("closed without being merged"));
    silence();
    let told = context(world.prompt("hm"));
    let of_ours = told.lines().filter(|line| !line.contains("/actions/runs/"));
    assert_eq!(of_ours.count(), 3, "one per topic: {told}");
}

#[test]
fn without_a_claim_a_merged_branch_names_the_next_item() {
    let Some(world) = world() else { return };
    world.with_pull_request();
    std::fs::remove_file(world.file()).unwrap();
    world.widgets().merge(44);
    let (ran, runs) = world.gh_runs(|| world.idle());
    let notice = ran.json()["terminalSequence"].as_str().unwrap().to_owned();
    assert!(
        notice.contains("Next on the board: #43 Tidy up"),
        "{notice}"
    );
    assert_eq!(runs, 1);
    let (ran, runs) = world.gh_runs(|| world.idle());
    assert_eq!(
        (ran.ok().as_str(), runs),
        ("", 0),
        "two minutes between looks"
    );
    let (ran, runs) = world.gh_runs(|| world.stop("nothing claimed"));
    assert_eq!(
        (ran.let_go().as_str(), runs),
        ("", 0),
        "nothing is started on a stop"
    );
}

#[test]
fn a_session_that_starts_is_told_of_the_claim_and_the_board() {
    let Some(world) = world() else { return };
    world.write("coding");
    let (ran, runs) = world.gh_runs(|| {
        world
            .env
            .hook("SessionStart", json!({ "source": "startup" }))
    });
    let said = context(ran);
    assert!(said.contains("Issue #42 is claimed here"), "{said}");
    assert!(said.contains("Todo 2, In Progress 0"), "{said}");
    assert!(said.contains("- #43 Tidy up"), "{said}");
    assert_eq!(runs, 1);
    let (ran, runs) = world.gh_runs(|| {
        world
            .env
            .hook("SessionStart", json!({ "source": "compact" }))
    });
    assert!(context(ran).contains("Issue #42"));
    assert_eq!(runs, 0, "the board is told once");
}

#[test]
fn every_form_of_the_remotes_address_leads_to_the_same_repository() {
    for origin in [
        "https://github.com/acme/widgets",
        "git@github.com:acme/widgets.git",
        "ssh://git@github.com/acme/widgets",
    ] {
        let Some(world) = at("github.com", origin) else {
            return;
        };
        world.env.run(&["trust", "--yes"]).ok();
        world.env.run(&["claim", "42"]).ok();
        assert!(
            world.bare.refs().contains_key("refs/mainspring/claims/42"),
            "{origin}"
        );
        world.work();
        world.env.run(&["handoff", "--summary", "Fix"]).ok();
        let said = world.stop("ready").held();
        assert!(
            said.contains("https://github.com/acme/widgets/pull/44"),
            "{origin}: {said}"
        );
    }
}

#[test]
fn an_enterprise_server_is_used_where_the_person_named_it() {
    let origin = "https://git.corp.example/acme/widgets.git";
    let Some(world) = at("git.corp.example", origin) else {
        return;
    };
    world.env.run(&["trust", "--yes"]).ok();
    let refused = world.env.run(&["claim", "42"]).failed();
    assert!(
        refused.contains("`git.corp.example` is not known to be a GitHub server"),
        "{refused}"
    );
    // `gh` was asked which servers it is signed in to.
    world.github.take_requests();
    let config = world.env.home().join(".config/mainspring");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        "[claim]\nhosts = [\"git.corp.example\"]\n",
    )
    .unwrap();
    world.env.run(&["claim", "42"]).ok();
    world.work();
    world.env.run(&["handoff", "--summary", "Fix"]).ok();
    let said = world.stop("ready").held();
    assert!(
        said.contains("PR #44 created: https://git.corp.example/acme/widgets/pull/44"),
        "{said}"
    );
    assert!(
        world
            .github
            .requests()
            .iter()
            .all(|request| request.host == "git.corp.example")
    );
}

#[test]
fn nothing_but_gh_and_git_is_started_and_no_shell() {
    let Some(world) = world() else { return };
    world.work();
    world.write("ready_for_pr");
    let trace = world.env.root().join("trace");
    let mut strace = std::process::Command::new("strace");
    if strace.arg("-V").output().is_err() {
        return;
    }
    let mut strace = std::process::Command::new("strace");
    strace
        .args(["-f", "-qq", "-e", "trace=execve", "-o"])
        .arg(&trace)
        .args([crate::env::MAINSPRING, "hook"])
        .env_clear()
        .envs(world.github.env())
        .env("HOME", world.env.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("MOLTNET_PROJECT_NUMBER", "1");
    let stop = crate::env::payload(&world.env.project(), "Stop", json!({}));
    let ran = crate::env::finish(&mut strace, stop.to_string().as_bytes());
    assert!(ran.stdout.contains("PR #44 created"), "{ran:?}");
    let text = std::fs::read_to_string(trace).unwrap();
    let started: std::collections::BTreeSet<&str> = text
        .lines()
        .filter(|line| line.ends_with("= 0"))
        .filter_map(|line| line.split('"').nth(1))
        .filter(|program| *program != crate::env::MAINSPRING)
        .collect();
    let allowed = |program: &&&str| {
        program.ends_with("/gh") || program.ends_with("/git") || program.contains("/git-core/")
    };
    assert_eq!(
        started.iter().filter(allowed).count(),
        started.len(),
        "{started:?}"
    );
    assert!(started.len() >= 2, "{started:?}");
}
