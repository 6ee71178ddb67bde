//! Gemini CLI as a reviewer, in its plan mode, which has no shell and writes nothing. Its hooks
//! cannot be switched off by an argument: ours see that they are in a reviewer, and leave.

use std::ffi::OsString;

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::{Reviewer, Task};
use crate::hosts::vendor_answer::{Printed, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "gemini",
    args,
    env: VendorEnv {
        family: &["GEMINI_*"],
        always: &[
            "GEMINI_API_KEY",
            "GEMINI_MODEL",
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            "GEMINI_TELEMETRY_ENABLED",
            "GOOGLE_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_CLOUD_*",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_GENAI_*",
            "GOOGLE_VERTEX_BASE_URL",
        ],
        providers: &[],
    },
    set: &[],
    has_shell: false,
    read: |stdout| printed(stdout).map(|printed| printed.said()),
    writes: false,
    complaint: |_| None,
    may_skip_permissions: |_| false,
};

fn args(task: &Task<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "--approval-mode",
        "plan",
        "--skip-trust",
        "--output-format",
        "json",
    ]
    .map(OsString::from)
    .into();
    if !task.model.is_empty() {
        args.extend(["--model", task.model].map(OsString::from));
    }
    args.extend(["--prompt".into(), task.prompt.clone().into()]);
    args
}

/// A failure is on stderr, and nothing on stdout.
fn printed(stdout: &[u8]) -> Option<Printed> {
    let result: Value = mainspring_json::read(stdout).ok()?;
    Some(Printed {
        answer: text(&result, &["response"]),
        cost: 0,
        failed: result.get("error").is_some(),
    })
}
