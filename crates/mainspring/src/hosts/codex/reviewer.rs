//! Codex as a reviewer. Its sandbox lets it read everything and write nothing; the client does
//! not check the schema.

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::Reviewer;
use crate::hosts::vendor_answer::{Printed, args, complaint, lines, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "codex",
    args: |task| args(task, LINE, Some(task.schema_file.as_os_str()), Some("--")),
    env: VendorEnv {
        family: &["CODEX_*"],
        always: &[
            "CODEX_HOME",
            "CODEX_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_ORGANIZATION",
            "OPENAI_PROJECT",
        ],
        providers: &[],
    },
    set: &[],
    has_shell: true,
    read: |stdout| Some(printed(stdout).said()),
    writes: false,
    complaint: |stdout| complaint(stdout, &["error", "message"]),
    may_skip_permissions: |_| false,
};

const LINE: &str = "exec --json --ephemeral --skip-git-repo-check --disable hooks --sandbox \
             read-only --output-schema";

fn printed(stdout: &[u8]) -> Printed {
    let lines = lines(stdout);
    let answer = lines.iter().rev().find_map(|line| {
        let item = line
            .get("item")
            .filter(|_| line["type"] == "item.completed")?;
        text(item, &["text"]).filter(|_| item["type"] == "agent_message")
    });
    let failed = |line: &Value| line["type"] == "turn.failed";
    Printed {
        answer,
        cost: 0,
        failed: lines.iter().any(failed),
    }
}
