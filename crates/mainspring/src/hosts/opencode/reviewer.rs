//! opencode as a reviewer, without plugins, so without hooks. It may look, and run git's commands
//! that only read.

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::claude::reviewer::verdict::micros;
use crate::hosts::reviewer::Reviewer;
use crate::hosts::vendor_answer::{Printed, args, complaint, lines, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "opencode",
    args: |task| args(task, LINE, None, None),
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
    complaint: |stdout| complaint(stdout, &["error", "data", "message"]),
    may_skip_permissions: |_| false,
};

const LINE: &str = "run --pure --format json --agent plan";

/// Its last rule that fits counts.
const ONLY_READS: &str = r#"{"edit":"deny","webfetch":"deny","bash":{"*":"deny","git diff*":"allow","git log*":"allow","git show*":"allow","git status*":"allow","git blame*":"allow","git ls-files*":"allow"}}"#;

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
