//! A claim without its GitHub: what is read, told and kept. What is done at GitHub is
//! swept with the real `gh` in `crates/mainspring/tests/it/claim/crash.rs`.

use serde_json::json;

use super::{HOOK, Path, fields, let_go, put, state_file, told};
use crate::world::World;

/// While the agent codes a stop reads, and that is all.
pub(super) const CODING: Path = Path {
    name: "claim: coding",
    prepare: |world| {
        signal(world, "coding");
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
        world.person(&["trust"]);
        world.stop("One.")
    },
    mark: phase,
    verify: |world, _| match phase(world).as_str() {
        r#""ready_for_pr" null"# => Ok(()),
        other => Err(format!("the claim is at {other}")),
    },
    ..HOOK
};

/// A session that starts where a claim is hears of it.
pub(super) const START: Path = Path {
    name: "claim: a session starts",
    prepare: |world| {
        signal(world, "coding");
        world.event("SessionStart", json!({"source": "startup"}))
    },
    mark: phase,
    verify: |_, said| told(said, "42"),
    ..HOOK
};

/// News that waits is given once.
pub(super) const MAIL: Path = Path {
    name: "claim: news is delivered",
    prepare: |world| {
        signal(world, "pr_created");
        world.hook(&world.event("SessionStart", json!({"source": "startup"})));
        world.event("UserPromptSubmit", json!({"prompt": "Well?"}))
    },
    mark: |world| fields(&state_file(world, "claim.json"), &["/mail"]),
    ..HOOK
};

fn signal(world: &World, phase: &str) {
    let claim = json!({
        "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "fix-42",
        "agent_id": "ada-1", "phase": phase, "summary": "Fix", "status": "In Progress",
        "pr_number": null, "last_check_poll": null, "last_synced_status": "In Progress",
    });
    put(&file(world), &claim.to_string());
}

fn file(world: &World) -> std::path::PathBuf {
    world.project().join(".agent-claim.json")
}

fn phase(world: &World) -> String {
    fields(&file(world), &["/phase", "/pr_number"])
}
