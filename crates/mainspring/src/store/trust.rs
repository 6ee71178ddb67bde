//! The projects that a person has trusted: only there are children started.
//!
//! A file for each, so that asking about one costs the same however many there are, and two
//! people who trust two projects in the same instant do not write over each other.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_kernel::deliberate::Trust;
use mainspring_platform::sync;
use mainspring_store::{Trouble, atomic, read_json};
use serde::{Deserialize, Serialize};

use super::StateDir;

/// What is on record of one project. The path is for people, and for a look at whether the
/// record is in its own place.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    project: String,
    since: Millis,
}

/// By the project's path.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Trusted {
    pub(crate) projects: BTreeMap<String, Since>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Since {
    pub(crate) since: Millis,
}

/// All of them, for a person to see.
pub(crate) fn all(state: &StateDir) -> Result<Trusted, Trouble> {
    let dir = state.trusted();
    let mut trusted = Trusted::default();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(trusted),
        Err(error) => return Err(Trouble::io("list", &dir)(error)),
    };
    for entry in entries {
        let path = entry.map_err(Trouble::io("list", &dir))?.path();
        // Not what a crash left beside a record.
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        if let Some(Record { project, since }) = read_json(path)?.value {
            trusted.projects.insert(project, Since { since });
        }
    }
    Ok(trusted)
}

/// Trusts a project; was it not trusted before?
pub(crate) fn grant(state: &StateDir, root: &Path, since: Millis) -> Result<bool, Trouble> {
    if of(state, root) == Trust::Trusted {
        return Ok(false);
    }
    let record = Record {
        project: root.to_string_lossy().into_owned(),
        since,
    };
    let text = mainspring_json::text(&record).map_err(|error| Trouble::Other(error.to_string()))?;
    state.create(&state.trusted())?;
    // What is trusted is a project of ours: an event there looks further than elsewhere.
    state.create(&state.project(root))?;
    atomic::replace_durably(&state.trust_of(root), format!("{text}\n").as_bytes())?;
    Ok(true)
}

/// Takes the permission back; was there one?
pub(crate) fn revoke(state: &StateDir, root: &Path) -> Result<bool, Trouble> {
    let (path, dir) = (state.trust_of(root), state.trusted());
    match fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Trouble::io("delete", &path)(error)),
    }
    sync::folder(&dir).map_err(Trouble::io("sync", &dir))?;
    Ok(true)
}

/// A record that cannot be read, or that speaks of another project, trusts nobody.
pub(crate) fn of(state: &StateDir, root: &Path) -> Trust {
    let record = read_json::<Record>(state.trust_of(root));
    match record.map(|found| found.value) {
        Ok(Some(record)) if record.project == root.to_string_lossy() => Trust::Trusted,
        Ok(_) | Err(_) => Trust::Untrusted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_is_trusted_by_itself() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::at(temp.path().join("state"));
        let (one, two) = (Path::new("/p/one"), Path::new("/p/two"));
        assert_eq!(of(&state, one), Trust::Untrusted);
        assert!(!revoke(&state, one).unwrap());
        assert!(grant(&state, one, Millis(7)).unwrap());
        assert!(state.project(one).is_dir(), "an event there finds it");
        assert!(!grant(&state, one, Millis(8)).unwrap(), "it was already");
        assert!(grant(&state, two, Millis(9)).unwrap());
        let names: Vec<_> = all(&state).unwrap().projects.into_keys().collect();
        assert_eq!(names, ["/p/one", "/p/two"]);
        assert!(revoke(&state, one).unwrap());
        assert_eq!(of(&state, one), Trust::Untrusted);
        assert_eq!(of(&state, two), Trust::Trusted);
    }

    #[test]
    fn a_record_in_anothers_place_and_a_broken_one_trust_nobody() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::at(temp.path().join("state"));
        let (one, two) = (Path::new("/p/one"), Path::new("/p/two"));
        grant(&state, one, Millis(7)).unwrap();
        fs::copy(state.trust_of(one), state.trust_of(two)).unwrap();
        assert_eq!(of(&state, two), Trust::Untrusted);
        for garbage in ["", "{", "[]", "{\"project\":7}", "\u{0}"] {
            atomic::replace(&state.trust_of(one), garbage.as_bytes()).unwrap();
            assert_eq!(of(&state, one), Trust::Untrusted, "{garbage:?}");
        }
        assert!(all(&state).is_err(), "and a person is told which");
    }
}
