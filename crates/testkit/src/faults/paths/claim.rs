//! A claim: what is read, told and stored, and its end at a GitHub that is a script and a few
//! files. What is done at GitHub is also tested with the real `gh`, in
//! `crates/mainspring/tests/it/claim/crash.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{HOOK, Path, fields, let_go, put, state_file, text, told};
use crate::world::World;

/// While the agent works, a stop only reads.
pub(super) const CODING: Path = Path {
    name: "claim: coding",
    prepare: |world| {
        signal(world, "coding");
        world.person(&["trust", "--yes"]);
        world.stop("One.")
    },
    mark: phase,
    verify: |_, said| let_go(said),
    ..HOOK
};

/// A pull request is due, and there is no server to open it on.
pub(super) const NO_GITHUB: Path = Path {
    name: "claim: no server",
    has_children: true,
    prepare: |world| {
        signal(world, "ready_for_pr");
        world.person(&["trust", "--yes"]);
        world.stop("One.")
    },
    mark: phase,
    verify: |world, _| match phase(world).as_str() {
        r#""ready_for_pr" null"# => Ok(()),
        other => Err(format!("the claim is at {other}")),
    },
    ..HOOK
};

/// A session that starts in a project with a claim is told about it.
pub(super) const START: Path = Path {
    name: "claim: a session starts",
    prepare: |world| {
        signal(world, "coding");
        world.person(&["trust", "--yes"]);
        world.event("SessionStart", json!({"source": "startup"}))
    },
    mark: phase,
    verify: |_, said| told(said, "42"),
    ..HOOK
};

/// News that waits is delivered once.
pub(super) const MAIL: Path = Path {
    name: "claim: news is delivered",
    prepare: |world| {
        signal(world, "pr_created");
        world.person(&["trust", "--yes"]);
        world.hook(&world.event("SessionStart", json!({"source": "startup"})));
        world.event("UserPromptSubmit", json!({"prompt": "Well?"}))
    },
    mark: |world| fields(&state_file(world, "claim.json"), &["/mail"]),
    ..HOOK
};

/// The issue is closed with a comment, once; our other comments on it do not count as that.
pub(super) const CLOSE: Path = Path {
    name: "claim: an issue is closed",
    has_children: true,
    prepare: |world| {
        signal_with(world, "done", Some(7));
        server(world);
        world.person(&["trust", "--yes"]);
        world.stop("One.")
    },
    // A failure is reported, and waits for the agent.
    mark: |world| match phase(world).as_str() {
        "-" => "over".into(),
        r#""done" 7"# | r#""failed" 7"# => "not over".into(),
        other => other.into(),
    },
    verify: |world, _| {
        let comments = lines(world, "comments", "mainspring:done:42");
        let closes = lines(world, "closes", "close");
        match (phase(world).as_str(), comments, closes) {
            (_, 1, 1) | (r#""done" 7"# | r#""failed" 7"#, 0, 0) => Ok(()),
            (phase, ..) => Err(format!(
                "the claim is at {phase}, with {comments} words of farewell and closed {closes} times"
            )),
        }
    },
    ..HOOK
};

/// A server that stores one issue in files: our comments, one per line, and how often it was
/// closed. Requests come on stdin; a change is made as a whole.
const SERVER: &str = r#"#!/bin/sh
cd "${0%/*}"
asked=$(cat)
case $asked in
*ClaimChange*)
    body=$(printf '%s' "$asked" | sed -n 's/.*"body":"\(\([^"\\]\|\\.\)*\)".*/\1/p')
    [ -z "$body" ] || printf ',{"viewerDidAuthor":true,"body":"%s"}\n' "$body" >> comments
    case $asked in *closeIssue*) echo close >> closes ;; esac
    data='{"close":{}}' ;;
*)
    state=OPEN
    [ ! -e closes ] || state=CLOSED
    data='{"viewer":{"id":"me"},"repository":{"defaultBranchRef":{"name":"main"},
        "pullRequests":{"nodes":[]},"issue":{"id":"i","title":"Fix","state":"'$state'",
        "comments":{"nodes":['$(cat comments)']}}}}' ;;
esac
printf 'HTTP/2.0 200 OK\r\n\r\n{"data":%s}' "$data"
"#;

const GIT: &str = "#!/bin/sh\necho https://github.com/acme/widgets.git\n";

fn server(world: &World) {
    let programs = world.root().join("bin");
    for (name, script) in [("gh", SERVER), ("git", GIT)] {
        put(&programs.join(name), script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(programs.join(name), mode).expect("a file of ours");
    }
    let ours = r#"{"viewerDidAuthor":true,"body":"I am on it."}"#;
    put(&programs.join("comments"), &format!("{ours}\n"));
    let programs = programs.display();
    put(
        &world.home().join(".config/mainspring/config.toml"),
        &format!("[claim]\ngh = '{programs}/gh'\ngit = '{programs}/git'\n"),
    );
}

/// How many lines of a file on the server contain this.
fn lines(world: &World, file: &str, words: &str) -> usize {
    let text = text(&world.root().join("bin").join(file));
    text.lines().filter(|line| line.contains(words)).count()
}

fn signal(world: &World, phase: &str) {
    signal_with(world, phase, None);
}

fn signal_with(world: &World, phase: &str, pr: Option<u64>) {
    let claim = json!({
        "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "fix-42",
        "agent_id": "ada-1", "phase": phase, "summary": "Fix", "status": "In Progress",
        "pr_number": pr, "last_check_poll": null, "last_synced_status": "In Progress",
    });
    put(&file(world), &claim.to_string());
}

fn file(world: &World) -> std::path::PathBuf {
    world.project().join(".agent-claim.json")
}

fn phase(world: &World) -> String {
    fields(&file(world), &["/phase", "/pr_number"])
}
