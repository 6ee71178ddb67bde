//! A claimed issue: what the agent's stops cost while it codes.

use super::{Case, World, nothing};

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
    args: &["hook"],
    prepare: |world| {
        claimed(world);
        // The first stop takes note of a claim that was written by hand.
        world.hook(&world.stop("First."));
        world.stop("Still at it.")
    },
    reset: nothing,
};

pub(super) const WATCH: Case = Case {
    name: "claim watch: coding",
    about: "the background hook, where there is nothing to watch",
    args: &["claim", "watch"],
    prepare: |world| {
        claimed(world);
        world.stop("Still at it.")
    },
    reset: nothing,
};

fn claimed(world: &World) {
    std::fs::write(world.project().join(".agent-claim.json"), CODING).expect("a file of ours");
}
