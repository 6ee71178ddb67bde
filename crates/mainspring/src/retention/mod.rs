//! Deletes state that has served its time: once a day, when a session starts. The rules are the
//! kernel's: [`mainspring_kernel::retention`].
//!
//! A sweep deletes a bounded number of files, the oldest of each project first. If more may go, the
//! next start goes on; otherwise the time of the file `swept` says when all was gone, and for a day a
//! start costs one look at it.
//!
//! Whole files are deleted and nothing is rewritten, so a sweep can die anywhere. A project's
//! files are deleted under its lock; if that is taken, they wait for the next sweep.

mod files;
pub(crate) mod projects;
mod shared;
pub(crate) mod survey;
mod sweep;

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::UNIX_EPOCH;

use mainspring_kernel::retention::{Rules, is_due};
use mainspring_kernel::{Millis, SessionId};
use mainspring_store::{Trouble, atomic};

use self::survey::Size;
use self::sweep::{Sweep, Swept};
use crate::config::Config;
use crate::env::Environment;
use crate::store::StateDir;

/// Names of a folder that are read at once. More are never there, unless somebody else put them
/// there.
const NAMES: usize = 100_000;

/// The rules as the person set them.
pub(crate) fn rules(env: &Environment) -> Result<Rules, Trouble> {
    let keep = Config::of_user(env)?.state.keep;
    Ok(Rules::new(env.now(), keep))
}

/// A session starts: sweeps if it is time to. Whatever fails is tried again by another sweep.
pub(crate) fn session_starts(env: &Environment, session: Option<&SessionId>) {
    let Some(state) = StateDir::of(env) else {
        return;
    };
    let mark = state.root().join("swept");
    let made = fs::symlink_metadata(&mark).ok().map(|meta| changed(&meta));
    if is_due(made, env.now()) && state.check().is_ok() {
        let _ = sweep(env, &state, &mark, session);
    }
}

fn sweep(
    env: &Environment,
    state: &StateDir,
    mark: &Path,
    session: Option<&SessionId>,
) -> Result<(), Trouble> {
    // Before anything else: if the settings cannot be read, nothing is deleted.
    let rules = rules(env)?;
    match Sweep::new(state, rules, session).run() {
        Swept::All => atomic::replace(mark, b""),
        Swept::Part => Ok(()),
    }
}

/// When a file was last changed.
fn changed(meta: &Metadata) -> Millis {
    let since_epoch = meta.modified().ok();
    let since_epoch = since_epoch.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let millis = since_epoch.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    Millis(millis.unwrap_or(0))
}

/// How large a file is and when it was last changed; of a folder, the files in it and the newest
/// change. `None` if it is gone.
fn weigh(path: &Path) -> Option<(Size, Millis)> {
    let meta = fs::symlink_metadata(path).ok()?;
    let mut newest = changed(&meta);
    if !meta.is_dir() {
        return Some((Size::file(meta.len()), newest));
    }
    let mut size = Size::default();
    let below = fs::read_dir(path).into_iter().flatten().flatten();
    for meta in below.filter_map(|entry| entry.metadata().ok()) {
        size = size.plus(Size::file(meta.len()));
        newest = newest.max(changed(&meta));
    }
    Some((size, newest))
}

/// The names in a folder, in their order.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = listed(folder).collect();
    names.sort_unstable();
    names
}

/// The names in a folder, in no order. A name that is not text is not ours, and neither is what a
/// symlink leads to.
fn listed(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    let entries = is_folder.then(|| fs::read_dir(folder));
    let entries = entries.into_iter().flatten().flatten().flatten();
    let names = entries.take(NAMES);
    names.filter_map(|entry| entry.file_name().into_string().ok())
}
