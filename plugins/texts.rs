//! The texts of the plugins that are built into the program, so that both always have the same
//! version. A crate can contain only files of its own folder; so this folder is a crate.
#![no_std]

/// The hooks that the plugin registers, and `install`, too.
pub const HOOKS: &str = include_str!("mainspring/hooks/hooks.json");

/// The plugin's commands and its skill, by the name of the command's file.
pub const COMMANDS: [(&str, &str); 7] = [
    ("claim.md", include_str!("mainspring/commands/claim.md")),
    ("handoff.md", include_str!("mainspring/commands/handoff.md")),
    ("loop.md", include_str!("mainspring/commands/loop.md")),
    ("pause.md", include_str!("mainspring/commands/pause.md")),
    ("resume.md", include_str!("mainspring/commands/resume.md")),
    ("stop.md", include_str!("mainspring/commands/stop.md")),
    (
        "completion-checklist.md",
        include_str!("mainspring/skills/completion-checklist/SKILL.md"),
    ),
];

/// What a reviewer reads, by the path in its library.
pub const REVIEWER: [(&str, &str); 5] = [
    ("ground-rules.md", include_str!("taskie/ground-rules.md")),
    (
        "actions/plan-review.md",
        include_str!("taskie/actions/plan-review.md"),
    ),
    (
        "actions/tasks-review.md",
        include_str!("taskie/actions/tasks-review.md"),
    ),
    (
        "actions/code-review.md",
        include_str!("taskie/actions/code-review.md"),
    ),
    (
        "actions/all-code-review.md",
        include_str!("taskie/actions/all-code-review.md"),
    ),
];
