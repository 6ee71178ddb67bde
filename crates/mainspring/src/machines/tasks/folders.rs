//! Where the task lists are: each is a folder of its own.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use mainspring_store::Trouble;

use crate::env::Environment;
use crate::hosts::{self, Payload};

/// The folder of the task list that an event is about.
pub(crate) fn list_folder(env: &Environment, payload: &Payload) -> Result<PathBuf, Trouble> {
    let session = || payload.event.session.as_ref().map(ToString::to_string);
    folder_of(env, payload.team.clone().or_else(session))
}

/// The folder of the list that the environment names, else of the list with this id.
pub(crate) fn folder_of(env: &Environment, id: Option<String>) -> Result<PathBuf, Trouble> {
    let named = (hosts::of_environment(env).task_files.named)(env);
    let id = named.or(id).ok_or_else(|| {
        Trouble::Other("the session is not known, so its task list cannot be found".into())
    })?;
    folder_named(env, &id)
}

pub(crate) fn folder_named(env: &Environment, id: &str) -> Result<PathBuf, Trouble> {
    let lists = all_lists(env).ok_or_else(|| {
        Trouble::Other("there is no home directory, so there are no task lists".into())
    })?;
    Ok(lists.join(hosts::task_files::list_folder(id)))
}

/// The folder that holds all lists; `None` without a home.
pub(crate) fn all_lists(env: &Environment) -> Option<PathBuf> {
    let roots = hosts::of_environment(env).roots(env, None)?;
    Some(roots.tasks)
}

/// The lists that were changed last, for a person who must choose one.
pub(crate) fn newest_lists(env: &Environment) -> Vec<String> {
    let folders = all_lists(env).and_then(|lists| fs::read_dir(lists).ok());
    let mut lists: Vec<(SystemTime, String)> = folders
        .into_iter()
        .flatten()
        .take(1_000)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let changed = entry.metadata().ok()?.modified().ok()?;
            Some((changed, entry.file_name().into_string().ok()?))
        })
        .collect();
    lists.sort_by(|one, other| other.cmp(one));
    lists.into_iter().take(3).map(|(_, name)| name).collect()
}
