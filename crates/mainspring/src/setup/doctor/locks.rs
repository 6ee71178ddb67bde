//! Locks: Mainspring's own, which end with their process, and the client's on its task lists,
//! which are directories and stay when their holder dies.

use mainspring_store::ShownPath as _;

use super::{Findings, Repair};
use crate::command::CommandContext;
use crate::hosts::task_files::lock;
use crate::machines::tasks;

pub(super) fn examine(cmd: &CommandContext, repair: Repair, findings: &mut Findings) {
    if let Ok((_, store)) = cmd.project() {
        ours(&store.dir().join("lock"), findings);
    }
    let lists = tasks::all_lists(&cmd.env);
    for left in lists.iter().flat_map(|lists| lock::left_behind(lists)) {
        let place = left.shown();
        findings.warn(
            "task lists",
            format!("{place} was left by a client that died; the next client takes it over"),
            &format!("mainspring doctor --fix, or rmdir {place}"),
        );
        if repair == Repair::Fix && lock::let_go(&left) {
            findings.mended();
        }
    }
}

/// A lock ends with its process, so whoever holds one is still running.
fn ours(path: &std::path::Path, findings: &mut Findings) {
    let Ok(file) = mainspring_platform::file::open(path) else {
        return;
    };
    match mainspring_platform::lock::try_take(&file) {
        Ok(true) => {}
        Ok(false) => findings.warn(
            "lock",
            "another process holds this project's lock right now",
            &format!("fuser -v {}", path.shown()),
        ),
        Err(error) => findings.error(
            "lock",
            format!("locks do not work here: {error}"),
            "set XDG_STATE_HOME to a folder on a local disk",
        ),
    }
}
