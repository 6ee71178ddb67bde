//! The projects that a person has trusted: only there are children started.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_kernel::deliberate::Trust;
use serde::{Deserialize, Serialize};

use super::{StateDir, atomic};
use crate::error::Trouble;
use crate::limits;

/// By the project's path, so that a person can read the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Trusted {
    pub(crate) projects: BTreeMap<String, Since>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Since {
    pub(crate) since: Millis,
}

pub(crate) fn load(state: &StateDir) -> Result<Trusted, Trouble> {
    let path = state.trust();
    match atomic::read(&path, limits::STATE_FILE)? {
        None => Ok(Trusted::default()),
        Some(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| Trouble::corrupt(&path, error))
        }
    }
}

/// Written whole. Two people who trust two projects in the same instant may have to say
/// it again; nothing that they trusted before is lost.
pub(crate) fn save(state: &StateDir, trusted: &Trusted) -> Result<(), Trouble> {
    state.create(state.root())?;
    let text =
        serde_json::to_string_pretty(trusted).map_err(|error| Trouble::Other(error.to_string()))?;
    atomic::replace_durably(&state.trust(), format!("{text}\n").as_bytes())
}

/// A record that cannot be read trusts nobody.
pub(crate) fn of(state: &StateDir, root: &Path) -> Trust {
    let known = load(state).is_ok_and(|trusted| {
        root.to_str()
            .is_some_and(|root| trusted.projects.contains_key(root))
    });
    if known {
        Trust::Trusted
    } else {
        Trust::Untrusted
    }
}
