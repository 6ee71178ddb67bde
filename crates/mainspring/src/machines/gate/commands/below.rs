//! Projects below this one. Outside a repository nothing tells where a project begins: whoever
//! typed `gate on --project` in a folder first, and then in one above it, means the same project.

use mainspring_store::ShownPath as _;
use mainspring_store::limits::LOCK_WAIT;

use crate::command::{CommandContext, Result};
use crate::markers;
use crate::path_contains::path_contains;
use crate::project::{self, Project};
use crate::retention::projects::{self, Stored};
use crate::store::StateDir;

/// More than this many need not be named.
const MOST_NAMED: usize = 5;

/// Takes every folder below into this project for which nothing is kept but a gate. Says so, and
/// which folders stay projects of their own, and why.
pub(super) fn join(cmd: &CommandContext, (project, state): (&Project, &StateDir)) -> Result {
    let mut out = String::new();
    if !begins_anywhere(cmd, project) {
        return Ok(out);
    }
    let below = |stored: &Stored| {
        let root = stored.root.as_deref();
        root.is_some_and(|root| *root != project.root && path_contains(root, &project.root))
    };
    for stored in projects::all(state)
        .into_iter()
        .filter(below)
        .take(MOST_NAMED)
    {
        out += &join_one(cmd, project, state, &stored)?;
    }
    Ok(out)
}

/// Could this project as well begin in another folder? The home is nobody's project.
fn begins_anywhere(cmd: &CommandContext, project: &Project) -> bool {
    let at_home = cmd.env.home().is_some_and(|home| home == project.root);
    !at_home && !project::is_in_own_repository(&project.root, &cmd.env)
}

fn join_one(cmd: &CommandContext, project: &Project, state: &StateDir, stored: &Stored) -> Result {
    let root = stored.root.as_deref().unwrap_or(&stored.dir);
    let marked = || markers::all().any(|marker| root.join(marker).exists());
    if !root.is_dir() || project::is_in_own_repository(root, &cmd.env) || marked() {
        return Ok(String::new());
    }
    let store = stored.store();
    let held = store.hold(LOCK_WAIT)?;
    let name = root.shown();
    if let Some(kept) = stored.besides_gate(state, cmd.env.now()) {
        return Ok(format!("{name} stays a project of its own: {kept}\n"));
    }
    held.delete()?;
    for binding in projects::bindings_to(state, root) {
        project::write_binding(&binding, &project.root)?;
    }
    Ok(format!(
        "{name} belongs to it now: it had a gate of its own, which is gone\n"
    ))
}
