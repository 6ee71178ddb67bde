//! Deletes state that has served its time, a little at each start of a session. The rules are the
//! kernel's: [`mainspring_kernel::retention`].
//!
//! A sweep has little time, looks at a bounded number of files and deletes fewer. Then it remembers
//! where it stopped in the file `swept`, and the next start goes on from there. Once everything was
//! looked at, `swept` is empty and its time says when, and for a day a start costs one look at it.
//!
//! Whole files are deleted and nothing is rewritten, so a sweep can die anywhere. A project's
//! files are deleted under its lock; if that is taken, they wait for the next sweep.

mod files;
pub(crate) mod projects;
pub(crate) mod survey;
mod sweep;

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use mainspring_kernel::retention::{Mark, Progress, Rules, is_due};
use mainspring_kernel::{Millis, SessionId};
use mainspring_store::{Trouble, atomic};

use self::sweep::{Cursor, Sweep};
use crate::config::{Config, Value};
use crate::env::Environment;
use crate::store::StateDir;

/// The setting that says how long state is kept.
pub(crate) const KEEP: &str = "state.keep";

/// How long one sweep may take; with the last file and the mark it stays below 10 ms.
const TIME: Duration = Duration::from_millis(8);
/// Files that every sweep looks at, and old ones that it deals with, however slow the machine is:
/// fifty starts a day must be enough for what fifty sessions a day leave.
const LEAST_LOOKED_AT: usize = 64;
const LEAST_OLD: usize = 16;
/// Files that one sweep looks at.
const LOOKED_AT: usize = 1_024;
/// Old files that one sweep looks at more closely, and mostly deletes.
const OLD: usize = 128;
/// Names of a folder that are read at once. More are never there, unless somebody else put them
/// there.
const NAMES: usize = 100_000;
/// A cursor is two names.
const CURSOR_BYTES: u64 = 4_096;

/// The rules as the person set them.
pub(crate) fn rules(env: &Environment) -> Result<Rules, Trouble> {
    let config = Config::of_user(env)?;
    let keep = config.get(KEEP).and_then(Value::span).unwrap_or_default();
    Ok(Rules::new(env.now(), keep))
}

/// A session starts: sweeps if it is time to. Whatever fails is tried again by another sweep.
pub(crate) fn session_starts(env: &Environment, session: Option<&SessionId>) {
    let Some(state) = StateDir::of(env) else {
        return;
    };
    let mark = state.root().join("swept");
    if is_due(read_mark(&mark), env.now()) && state.check().is_ok() {
        let _ = sweep(env, &state, &mark, session);
    }
}

fn read_mark(path: &Path) -> Option<Mark> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some(Mark {
        made: changed(&meta),
        progress: if meta.len() == 0 {
            Progress::Finished
        } else {
            Progress::Unfinished
        },
    })
}

fn sweep(
    env: &Environment,
    state: &StateDir,
    mark: &Path,
    session: Option<&SessionId>,
) -> Result<(), Trouble> {
    // Before anything else: if the settings cannot be read, nothing is deleted.
    let rules = rules(env)?;
    let from = atomic::read(mark, CURSOR_BYTES).ok().flatten();
    let from = from.and_then(|bytes| Cursor::parse(&bytes));
    let stopped = Sweep::new(state, rules, session).run(from.as_ref());
    let text = stopped.map_or_else(String::new, |cursor| cursor.to_string());
    // A name that is too long to come back to: begin again.
    let text = if text.len() as u64 > CURSOR_BYTES {
        String::new()
    } else {
        text
    };
    atomic::replace(mark, text.as_bytes())
}

/// When a file was last changed.
fn changed(meta: &Metadata) -> Millis {
    let since_epoch = meta.modified().ok();
    let since_epoch = since_epoch.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let millis = since_epoch.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    Millis(millis.unwrap_or(0))
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
