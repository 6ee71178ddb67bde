//! What a reviewer that only reads is told in addition: it may not be able to read our texts, and
//! cannot write its review.

use std::time::{Duration, Instant};

use mainspring_kernel::machines::review::{Kind, Request};

use super::library;
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::git::Git;
use crate::hosts::reviewer::{Reviewer, report};

/// How long git may take for the changes.
const DIFF: Duration = Duration::from_secs(30);
/// More of them is left out: the reviewer can read the files.
const MOST_CHANGES: usize = 100_000;

pub(super) fn instructions(
    context: &EventContext<'_>,
    permit: &Permit,
    asked: &Request,
    client: &Reviewer,
) -> String {
    let mut out = format!(
        "\n\nYou cannot write files, so do not write the review: your answer is the review. Answer \
         with one JSON object in this schema, and nothing else: {}",
        report::WITH_FINDINGS
    );
    let action = format!("actions/{}.md", asked.review.action());
    for name in ["ground-rules.md", action.as_str()] {
        if let Some(text) = library::text(name) {
            out += &format!("\n\n----- {name} -----\n{text}");
        }
    }
    if let (Kind::Code | Kind::AllCode, false) = (asked.review, client.has_shell) {
        out += &format!(
            "\n\n----- what has changed since the last commit (git diff HEAD) -----\n{}",
            changes(context, permit)
        );
    }
    out
}

fn changes(context: &EventContext<'_>, permit: &Permit) -> String {
    let git = Git::of(context, permit.clone(), Instant::now() + DIFF);
    let diff = git.map_err(|trouble| trouble.to_string());
    let diff = diff.and_then(|git| git.changes());
    match diff {
        Ok(text) => match text.char_indices().nth(MOST_CHANGES) {
            Some((end, _)) => format!("{} … (cut: read the files)", &text[..end]),
            None => text,
        },
        Err(problem) => format!("(git diff failed: {problem})"),
    }
}
