//! Who else works in this project.

use std::fs;
use std::time::Duration;

use mainspring_kernel::machines::review::Company;

use crate::scene::Scene;
use crate::store::file_name;

/// A session that was bound longer ago, and never ended, was killed.
const FORGOTTEN: Duration = Duration::from_secs(12 * 60 * 60);
/// More than anybody has open.
const MOST: usize = 512;

/// Every session is bound to its project at its first event, and unbound at its end.
pub(crate) fn of(scene: &Scene<'_>) -> Company {
    let me = scene.session();
    let me = me.as_ref().map(|id| file_name(id.as_str()).into_owned());
    let root = scene.root().as_os_str().as_encoded_bytes();
    let bindings = scene.store.state().root().join("sessions");
    let Ok(entries) = fs::read_dir(bindings) else {
        return Company::Alone;
    };
    let other = entries.take(MOST).filter_map(Result::ok).any(|entry| {
        let recent = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age < FORGOTTEN));
        let mine = entry.file_name().to_str() == me.as_deref();
        !mine && recent && fs::read(entry.path()).is_ok_and(|bytes| bytes == root)
    });
    if other {
        Company::Several
    } else {
        Company::Alone
    }
}
