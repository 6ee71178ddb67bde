//! What a person has been told need not be said at every stop.

use std::path::Path;

use mainspring_store::{atomic, file_name};

use crate::store::StateDir;

/// Sessions that are remembered for one file, the newest last.
const MOST_SESSIONS: usize = 32;

/// Has this session not heard of this file? It has after this. What cannot be remembered is
/// said again.
pub(crate) fn is_news(state: &StateDir, about: &Path, session: &str) -> bool {
    let path = state.told_of(about);
    let known = atomic::read_text(&path, 16 * 1024);
    let known = known.ok().flatten().unwrap_or_default();
    let session = file_name(session);
    let mut sessions: Vec<&str> = known.lines().collect();
    if sessions.contains(&session.as_ref()) {
        return false;
    }
    sessions.push(&session);
    let oldest = sessions.len().saturating_sub(MOST_SESSIONS);
    let text = sessions[oldest..].join("\n") + "\n";
    if let Some(folder) = path.parent()
        && state.create(folder).is_ok()
    {
        let _ = atomic::replace(&path, text.as_bytes());
    }
    true
}
