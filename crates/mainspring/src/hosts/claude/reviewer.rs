//! Claude Code as a reviewer.

pub(in crate::hosts) mod verdict;

use std::ffi::OsString;

use mainspring_platform::permissions::am_root;
use serde_json::Value;

use crate::env::Environment;
use crate::hosts::reviewer::{Permissions, Reviewer, Task};

pub(in crate::hosts) static REVIEWER: Reviewer = Reviewer {
    program: super::PROGRAM,
    args,
    env: super::environment::VENDOR,
    set: &[],
    has_shell: true,
    read: verdict::read,
    writes: true,
    complaint,
    may_skip_permissions,
};

/// Hooks are off in the reviewer: it must not be reviewed itself.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

/// The flags that the seed specifies, hooks off, and the prompt last.
fn args(task: &Task<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "--print",
        "--model",
        task.model,
        "--output-format",
        "json",
        "--json-schema",
        task.schema,
    ]
    .map(OsString::from)
    .into();
    match &task.permissions {
        Permissions::Skipped => args.push("--dangerously-skip-permissions".into()),
        Permissions::Scoped { library, file } => {
            args.extend(["--permission-mode".into(), "default".into()]);
            args.extend(["--add-dir".into(), library.as_os_str().to_owned()]);
            args.push("--allowedTools".into());
            args.extend(tools(file).into_iter().map(OsString::from));
        }
    }
    args.extend(["--settings", NO_HOOKS].map(OsString::from));
    args.push(task.prompt.clone().into());
    args
}

/// It may read everything and write this one file.
fn tools(file: &str) -> Vec<String> {
    let mut tools: Vec<String> = ["Read", "Glob", "Grep"].map(str::to_owned).into();
    for command in ["log", "diff", "show", "status", "blame", "ls-files"] {
        tools.push(format!("Bash(git {command}:*)"));
    }
    tools.push(format!("Edit({file})"));
    tools.push(format!("Write({file})"));
    tools
}

fn complaint(stdout: &[u8]) -> Option<String> {
    let value: Value = mainspring_json::read(stdout).ok()?;
    Some(value.get("result")?.as_str()?.to_owned())
}

/// Claude Code refuses to skip permissions for root, except in a sandbox.
fn may_skip_permissions(env: &Environment) -> bool {
    !am_root() || env.var("IS_SANDBOX").as_deref() == Some("1")
}
