//! Copilot CLI as a reviewer: it may look, and run git. Its hooks cannot be switched off: ours
//! see that they are in a reviewer, and leave.

use serde_json::Value;

use crate::children::child_env::VendorEnv;
use crate::hosts::reviewer::Reviewer;
use crate::hosts::vendor_answer::{Printed, args, complaint, lines, text};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: "copilot",
    args: |task| args(task, LINE, None, Some("--prompt")),
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
    complaint: |stdout| complaint(stdout, &["data", "message"]),
    may_skip_permissions: |_| false,
};

const LINE: &str = "--output-format json --no-custom-instructions --disable-builtin-mcps \
             --no-ask-user --no-auto-update --allow-tool shell(git:*) --deny-tool write";

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
