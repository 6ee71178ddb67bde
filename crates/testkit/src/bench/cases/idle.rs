//! Nothing to do: the cost of every event of every session.

use serde_json::json;

use super::{Case, Start, nothing};

pub(super) const ELSEWHERE: Case = Case {
    name: "nothing here",
    about: "a stop in a project without any machine",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| world.stop("Finished the work."),
    reset: nothing,
};

pub(super) const THROUGH_SHELL: Case = Case {
    name: "nothing here, sh -c",
    about: "the same as a line of shell, which starts a shell first",
    start: Start::Shell(&["hook"]),
    says: "",
    prepare: |world| world.stop("Finished the work."),
    reset: nothing,
};

pub(super) const KNOWN: Case = Case {
    name: "nothing here any more",
    about: "a stop in a project where a loop was, and is over",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.mainspring(&["loop", "start"]);
        world.mainspring(&["loop", "abort"]);
        world.hook(&world.stop("Before."));
        world.stop("Finished the work.")
    },
    reset: nothing,
};

pub(super) const OTHER_EVENT: Case = Case {
    name: "not our event",
    about: "a tool call that no machine listens to",
    start: Start::Exec(&["hook"]),
    says: "",
    prepare: |world| {
        world.event(
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }),
        )
    },
    reset: nothing,
};
