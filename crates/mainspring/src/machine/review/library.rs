//! The texts that a reviewer reads. They are the plugin's own and built into the binary, so
//! both always have the same version. They are written to our state directory, where the
//! reviewer finds them and no repository can change them.

use std::path::PathBuf;

use mainspring_store::{Trouble, atomic};

use crate::store::StateDir;

const TEXTS: [(&str, &str); 5] = [
    (
        "ground-rules.md",
        include_str!("../../../../../plugins/taskie/ground-rules.md"),
    ),
    (
        "actions/plan-review.md",
        include_str!("../../../../../plugins/taskie/actions/plan-review.md"),
    ),
    (
        "actions/tasks-review.md",
        include_str!("../../../../../plugins/taskie/actions/tasks-review.md"),
    ),
    (
        "actions/code-review.md",
        include_str!("../../../../../plugins/taskie/actions/code-review.md"),
    ),
    (
        "actions/all-code-review.md",
        include_str!("../../../../../plugins/taskie/actions/all-code-review.md"),
    ),
];

/// One of the texts.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let found = TEXTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The folder of the texts; missing or outdated ones are written.
pub(super) fn place(state: &StateDir) -> Result<PathBuf, Trouble> {
    let library = state.root().join("taskie");
    state.create(&library.join("actions"))?;
    for (name, text) in TEXTS {
        let path = library.join(name);
        let found = atomic::read(&path, text.len() as u64).ok().flatten();
        if found.as_deref() != Some(text.as_bytes()) {
            atomic::replace(&path, text.as_bytes())?;
        }
    }
    Ok(library)
}
