//! A claimed issue: what stops cost while the agent works.

use super::{Case, Start, World, nothing, put_back};

const CODING: &str = r#"{
  "schema_version": 1,
  "item_id": "PVTI_1",
  "issue_number": 42,
  "branch": "claude/fix-thing-42",
  "agent_id": "ada-1",
  "phase": "coding",
  "summary": "",
  "status": "In Progress",
  "pr_number": null,
  "last_check_poll": null,
  "last_synced_status": "In Progress"
}
"#;

pub(super) const UNCHANGED: Case = Case {
    name: "claim: coding",
    about: "two small files read; no lock, nothing written, nothing started",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        claimed(world);
        // The first stop takes in a claim that was written by hand.
        world.hook(&world.stop("First."));
        world.stop("Still at it.")
    },
    reset: nothing,
};

pub(super) const MAIL: Case = Case {
    name: "claim holds",
    about: "news of the pull request waits: the agent is told, record, two files",
    start: Start::Exec(&["hook"]),
    says: "CI failed: lint.",
    prepare: |world| {
        claimed(world);
        world.hook(&world.stop("First."));
        world.stop("Still at it.")
    },
    reset: |world| {
        let state = world.state();
        let _ = std::fs::remove_file(state.join("sessions/s.json"));
        let mail = r#"[{"topic":"ci","weight":"wake","at":1,"text":"CI failed: lint."}]"#;
        let memo = format!(r#"{{"issue":42,"owner":"s","mail":{mail}}}"#);
        put_back(&state.join("claim.json"), memo);
    },
};

pub(super) const WATCH: Case = Case {
    name: "claim watch: coding",
    about: "the background hook, where there is nothing to watch",
    start: Start::Exec(&["claim", "watch"]),
    says: "",
    prepare: |world| {
        claimed(world);
        world.stop("Still at it.")
    },
    reset: nothing,
};

pub(super) fn claimed(world: &World) {
    std::fs::write(world.project().join(".agent-claim.json"), CODING).expect("a file of ours");
    world.person(&["trust", "--yes"]);
}
