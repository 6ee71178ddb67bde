//! Qwen Code as a reviewer, in its plan mode, which has no shell and writes nothing. An answer
//! that is not in the schema is an error of the client's.

use std::ffi::OsStr;

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::Reviewer;
use crate::hosts::vendor_answer::{Printed, args, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "qwen",
    args: |task| args(task, LINE, Some(OsStr::new(task.schema)), None),
    env: VendorEnv {
        family: &["QWEN_*"],
        always: &[
            "DASHSCOPE_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_MODEL",
            "QWEN_TELEMETRY_ENABLED",
        ],
        providers: &[],
    },
    set: &[],
    has_shell: false,
    read: |stdout| printed(stdout).map(|printed| printed.said()),
    writes: false,
    complaint: |stdout| text(&result(stdout)?, &["error", "message"]),
    may_skip_permissions: |_| false,
};

const LINE: &str = "--approval-mode plan --output-format json --chat-recording false --json-schema";

/// The last object of the list that it prints.
fn result(stdout: &[u8]) -> Option<Value> {
    let printed: Vec<Value> = mainspring_json::read(stdout).ok()?;
    let mut results = printed.into_iter().rev();
    results.find(|one| one["type"] == "result")
}

fn printed(stdout: &[u8]) -> Option<Printed> {
    let result = result(stdout)?;
    let structured = result
        .get("structured_result")
        .filter(|one| one.is_object());
    Some(Printed {
        answer: structured
            .map(Value::to_string)
            .or_else(|| text(&result, &["result"])),
        cost: 0,
        failed: result["is_error"] != false || result["subtype"] != "success",
    })
}
