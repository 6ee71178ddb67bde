//! Where people and programs keep their files.

use std::path::{Path, PathBuf};

/// The variable that names the home directory.
pub const HOME: &str = "USERPROFILE";

/// The folder for programs' own state. `dir` gives the path that a variable contains.
pub fn state(home: &Path, dir: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    dir("LOCALAPPDATA").or_else(|| Some(home.join("AppData").join("Local")))
}

/// The folder for people's settings.
pub fn settings(home: &Path, dir: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    dir("APPDATA").or_else(|| Some(home.join("AppData").join("Roaming")))
}

/// Are these names of one variable? Most systems have `Path`, and some `PATH`.
pub fn is_same_variable(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
