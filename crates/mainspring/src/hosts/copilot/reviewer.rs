//! Copilot CLI as a reviewer: it may look, and run git. Its hooks cannot be switched off: ours
//! see that they are in a reviewer, and leave.

use std::ffi::OsString;

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::{Reviewer, Task};
use crate::hosts::vendor_answer::{Printed, lines, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "copilot",
    args,
    env: VendorEnv {
        family: &["COPILOT_*"],
        always: &[
            "COPILOT_GITHUB_TOKEN",
            "COPILOT_HOME",
            "COPILOT_MODEL",
            "COPILOT_OFFLINE",
            "COPILOT_PROVIDER_*",
            "GH_TOKEN",
            "GITHUB_TOKEN",
        ],
        providers: &[],
    },
    set: &[("COPILOT_AUTO_UPDATE", "false")],
    has_shell: true,
    read: |stdout| Some(printed(stdout).said()),
    writes: false,
    complaint,
    may_skip_permissions: |_| false,
};

fn args(task: &Task<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "--output-format",
        "json",
        "--no-custom-instructions",
        "--disable-builtin-mcps",
        "--no-ask-user",
        "--no-auto-update",
        "--allow-tool",
        "shell(git:*)",
        "--deny-tool",
        "write",
    ]
    .map(OsString::from)
    .into();
    if !task.model.is_empty() {
        args.extend(["--model", task.model].map(OsString::from));
    }
    args.extend(["--prompt".into(), task.prompt.clone().into()]);
    args
}

fn printed(stdout: &[u8]) -> Printed {
    let lines = lines(stdout);
    let answer = lines.iter().rev().find_map(|line| {
        let said = text(line, &["data", "content"])?;
        Some(said).filter(|said| line["type"] == "assistant.message" && !said.is_empty())
    });
    let failed = |line: &Value| {
        let ended = line["type"] == "result" && line["exitCode"] != 0;
        ended || line["type"] == "session.error"
    };
    Printed {
        answer,
        cost: 0,
        failed: lines.iter().any(failed),
    }
}

fn complaint(stdout: &[u8]) -> Option<String> {
    let mut lines = lines(stdout).into_iter().rev();
    lines.find_map(|line| text(&line, &["data", "message"]))
}
