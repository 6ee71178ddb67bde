//! Nothing to do: the price that every event of every session pays.

use serde_json::json;

use super::{Case, nothing};

pub(super) const ELSEWHERE: Case = Case {
    name: "nothing here",
    about: "a stop in a project without any machine",
    args: &["hook"],
    prepare: |world| world.stop("Finished the work."),
    reset: nothing,
};

pub(super) const OTHER_EVENT: Case = Case {
    name: "not our event",
    about: "a tool call that no machine listens to",
    args: &["hook"],
    prepare: |world| {
        world.event(
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }),
        )
    },
    reset: nothing,
};
