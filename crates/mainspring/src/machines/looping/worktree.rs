//! The worktree of an issue's frame, as the drop-in tells the agent of it.

use std::path::Path;

use mainspring_kernel::hidden::quote;

use super::doc;
use super::loop_store::{LoopStore, StoredLoop};
use crate::hosts::text::excerpt;

/// The longest path that a system takes.
const MOST_PATH: usize = 4_096;

/// What follows the sentence of the document; `None` if the frame names no worktree, or one that
/// is not there.
pub(super) fn text(kept: &StoredLoop) -> Option<String> {
    let document = match kept.place {
        LoopStore::Markdown => return None,
        LoopStore::Own | LoopStore::Jwz => kept.text()?,
    };
    let path = doc::of_top(document, "worktree_path")?;
    if !Path::new(&path).is_dir() {
        return None;
    }
    let named = |name| doc::of_top(document, name).unwrap_or_default();
    Some(format!(
        "\n\nWORKTREE CONTEXT:\n- Working directory: {path}\n- Branch: {branch}\n- Issue: {issue}\n\n\
         Work in that directory only. Give files as absolute paths below it, and begin each shell \
         command with `cd \"{path}\" &&`. Run `tissue` in the main checkout, not in the worktree.",
        path = quote(&path, MOST_PATH),
        branch = excerpt(&named("branch")),
        issue = excerpt(&named("issue_id")),
    ))
}
