//! opencode as a reviewer, without plugins, so without hooks. It may look, and run git's commands
//! that only read.

use std::ffi::OsString;

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::claude::reviewer::verdict::micros;
use crate::hosts::reviewer::{Reviewer, Task};
use crate::hosts::vendor_answer::{Printed, lines, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "opencode",
    args,
    env: VendorEnv {
        family: &["OPENCODE*"],
        always: &[
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENAI_API_KEY",
            "OPENCODE_API_KEY",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_DISABLE_*",
            "OPENROUTER_API_KEY",
        ],
        providers: &[],
    },
    set: &[("OPENCODE_PERMISSION", ONLY_READS)],
    has_shell: true,
    read: |stdout| Some(printed(stdout).said()),
    writes: false,
    complaint,
    may_skip_permissions: |_| false,
};

/// Its last rule that fits counts.
const ONLY_READS: &str = r#"{"edit":"deny","webfetch":"deny","bash":{"*":"deny","git diff*":"allow","git log*":"allow","git show*":"allow","git status*":"allow","git blame*":"allow","git ls-files*":"allow"}}"#;

fn args(task: &Task<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["run", "--pure", "--format", "json", "--agent", "plan"]
        .map(OsString::from)
        .into();
    if !task.model.is_empty() {
        args.extend(["--model", task.model].map(OsString::from));
    }
    args.push(task.prompt.clone().into());
    args
}

fn printed(stdout: &[u8]) -> Printed {
    let lines = lines(stdout);
    let answer = lines
        .iter()
        .rev()
        .find_map(|line| text(line, &["part", "text"]).filter(|_| line["type"] == "text"));
    let steps = lines.iter().filter(|line| line["type"] == "step_finish");
    let cost = steps.filter_map(|step| step["part"]["cost"].as_f64()).sum();
    let failed = |line: &Value| line["type"] == "error";
    Printed {
        answer,
        cost: micros(cost),
        failed: lines.iter().any(failed),
    }
}

fn complaint(stdout: &[u8]) -> Option<String> {
    let mut lines = lines(stdout).into_iter().rev();
    lines.find_map(|line| text(&line, &["error", "data", "message"]))
}
