//! Codex as a reviewer. Its sandbox lets it read everything and write nothing; the client does
//! not check the schema.

use std::ffi::OsString;

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::{Reviewer, Task};
use crate::hosts::vendor_answer::{Printed, lines, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "codex",
    args,
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
    complaint,
    may_skip_permissions: |_| false,
};

fn args(task: &Task<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "exec",
        "--json",
        "--ephemeral",
        "--skip-git-repo-check",
        "--disable",
        "hooks",
        "--sandbox",
        "read-only",
        "--output-schema",
    ]
    .map(OsString::from)
    .into();
    args.push(task.schema_file.as_os_str().to_owned());
    if !task.model.is_empty() {
        args.extend(["--model", task.model].map(OsString::from));
    }
    args.extend(["--".into(), task.prompt.clone().into()]);
    args
}

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

fn complaint(stdout: &[u8]) -> Option<String> {
    let mut lines = lines(stdout).into_iter().rev();
    lines.find_map(|line| text(&line, &["error", "message"]))
}
