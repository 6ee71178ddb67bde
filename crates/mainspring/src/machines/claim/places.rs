//! The checkouts of one project: which one's claim is meant.

use std::path::{Path, PathBuf};

use mainspring_kernel::machines::Name;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_store::{digest, path_text, read_json};

use super::file;
use crate::context::EventContext;

/// The checkout whose claim an event or a command is about: the one that it came from; else one
/// with a claim of the same session, which may work in a worktree while its host stays in the
/// primary checkout; else the primary checkout.
pub(crate) fn place(context: &EventContext<'_>) -> PathBuf {
    let here = &context.project.worktree;
    let root = &context.project.root;
    let claimed = |place: &Path| std::fs::symlink_metadata(place.join(file::NAME)).is_ok();
    if claimed(here) {
        return here.clone();
    }
    let session = context.session();
    let others = linked(context);
    let ours = others
        .iter()
        .filter(|(place, _)| claimed(place))
        .find(|(_, memory)| session.is_some() && memory.owner == session);
    if let Some((place, _)) = ours {
        return place.clone();
    }
    if claimed(root) {
        return root.clone();
    }
    // A person means the only claim that there is.
    let mut all = others.iter().filter(|(place, _)| claimed(place));
    match (session, all.next(), all.next()) {
        (None, Some((place, _)), None) if context.payload().is_none() => return place.clone(),
        _ => {}
    }
    // A worktree was removed with its claim: a stop gives the issue back.
    let now = context.env.now();
    let mut removed = others
        .into_iter()
        .filter(|(place, memory)| !place.is_dir() && memory.leftover(now).is_some());
    match removed.next() {
        Some((place, _)) if context.at_stop() => place,
        Some(_) | None => here.clone(),
    }
}

/// Every checkout with a claim, the primary one first.
pub(crate) fn all(context: &EventContext<'_>) -> Vec<PathBuf> {
    let mut places = vec![
        context.project.root.clone(),
        context.project.worktree.clone(),
    ];
    places.extend(linked(context).into_iter().map(|(place, _)| place));
    let mut seen = std::collections::BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places.retain(|place| place.join(file::NAME).exists());
    places
}

/// The folder with a memory file for each linked worktree with a claim.
const LINKED: &str = "claims";

/// The linked worktrees in which an issue was claimed, with what we remember of each.
fn linked(context: &EventContext<'_>) -> Vec<(PathBuf, ClaimMemory)> {
    // Where no worktree had a claim, which is most often the case, one look is enough.
    let Ok(entries) = std::fs::read_dir(context.store.dir().join(LINKED)) else {
        return Vec::new();
    };
    let mut found: Vec<(PathBuf, ClaimMemory)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter_map(|path| {
            let memory = read_json::<ClaimMemory>(path).ok()?.value?;
            let place = path_text::from_text(memory.worktree.as_deref()?).into_owned();
            Some((place, memory))
        })
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// There is one memory file per claim file, because two worktrees may work on two issues.
pub(crate) fn memory_path(context: &EventContext<'_>, place: &Path) -> PathBuf {
    if place == context.project.root {
        return context.store.machine_file(Name::Claim);
    }
    let place = digest::of(&[place.as_os_str().as_encoded_bytes()]).0;
    let name = format!("claim-{}.json", &place[..16]);
    context.store.dir().join(LINKED).join(name)
}
