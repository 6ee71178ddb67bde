//! What we keep that belongs to no project.

use std::path::{Path, PathBuf};

use mainspring_kernel::Millis;
use mainspring_kernel::retention::Rules;

use super::survey::Size;
use super::{listed, projects, weigh};
use crate::people::sessions;
use crate::store::StateDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shelf {
    /// Which project a session is bound to.
    Bindings,
    /// Which sessions are live, and which ended.
    Live,
    /// What sessions were told about a path.
    Told,
    /// The task lists of hosts that keep none themselves: a folder each.
    Tasks,
    Trusted,
    Installs,
}

/// A file, or a folder of files that belong together.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) shelf: Shelf,
    pub(super) path: PathBuf,
    pub(super) size: Size,
    /// May it be deleted?
    pub(super) goes: bool,
}

/// All of it, and what of it goes when a session with files of the name `starts` starts.
pub(super) fn items(state: &StateDir, rules: &Rules, starts: Option<&str>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut add = |shelf, folder: &Path, goes: &dyn Fn(&Path, &str, Millis) -> bool| {
        for name in listed(folder) {
            let path = folder.join(&name);
            if let Some((size, changed)) = weigh(&path) {
                let goes = goes(&path, &name, changed);
                items.push(Item {
                    shelf,
                    path,
                    size,
                    goes,
                });
            }
        }
    };
    let is_old = |changed| rules.is_old(changed);
    // A session's other files go by their own age, and its binding after them.
    add(
        Shelf::Bindings,
        &state.bindings(),
        &|path, name, changed| {
            let needed = || starts == Some(name) || projects::is_in_use(state, path, name);
            is_old(changed) && !needed()
        },
    );
    for folder in [state.live(), state.ended()] {
        // Asked first whether it is old, because that is quick and mostly decides.
        add(Shelf::Live, &folder, &|path, _, changed| {
            rules.sweeps_presence(changed, false) && !sessions::has_client(path)
        });
    }
    for key in listed(&state.told()) {
        let marks = state.told().join(key);
        add(Shelf::Told, &marks, &|_, _, changed| is_old(changed));
    }
    add(Shelf::Tasks, &state.tasks(), &|_, name, changed| {
        is_old(changed) && starts != Some(name)
    });
    add(Shelf::Trusted, &state.trusted(), &|_, _, _| false);
    for key in listed(&state.installs()) {
        let files = state.installs().join(key);
        add(Shelf::Installs, &files, &|_, _, _| false);
    }
    items
}
