//! The texts that a reviewer reads. They are the plugin's own and built into the binary, so
//! both always have the same version. They are written to our state directory, where the
//! reviewer finds them and no repository can change them.

use std::path::PathBuf;

use mainspring_plugins::REVIEWER;
use mainspring_store::{Trouble, atomic};

use crate::store::StateDir;

/// One of the texts.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let found = REVIEWER.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The folder of the texts; missing or outdated ones are written.
pub(super) fn place(state: &StateDir) -> Result<PathBuf, Trouble> {
    let library = state.root().join("taskie");
    state.create(&library.join("actions"))?;
    for (name, text) in REVIEWER {
        let path = library.join(name);
        let found = atomic::read(&path, text.len() as u64).ok().flatten();
        if found.as_deref() != Some(text.as_bytes()) {
            atomic::replace(&path, text.as_bytes())?;
        }
    }
    Ok(library)
}
