//! Where people and programs keep their files.

use std::path::{Path, PathBuf};

/// The variable that names the home directory.
pub const HOME: &str = "HOME";

/// The folder for programs' own state, in this home. `dir` gives the path that a variable contains.
pub fn state(home: &Path, _dir: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    Some(home.join(STATE))
}

/// The folder for people's settings.
pub fn settings(home: &Path, _dir: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    Some(home.join(".config"))
}

/// Are these names of one variable?
pub fn is_same_variable(one: &str, other: &str) -> bool {
    one == other
}

#[cfg(target_os = "macos")]
const STATE: &str = "Library/Application Support";

#[cfg(not(target_os = "macos"))]
const STATE: &str = ".local/state";
