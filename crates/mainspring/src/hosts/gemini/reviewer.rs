//! Gemini CLI as a reviewer, in its plan mode, which has no shell and writes nothing. Its hooks
//! cannot be switched off by an argument: ours see that they are in a reviewer, and leave.

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::Reviewer;
use crate::hosts::vendor_answer::{Printed, args, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "gemini",
    args: |task| args(task, LINE, None, Some("--prompt")),
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

const LINE: &str = "--approval-mode plan --skip-trust --output-format json";

/// A failure is on stderr, and nothing on stdout.
fn printed(stdout: &[u8]) -> Option<Printed> {
    let result: Value = mainspring_json::read(stdout).ok()?;
    Some(Printed {
        answer: text(&result, &["response"]),
        cost: 0,
        failed: result.get("error").is_some(),
    })
}
