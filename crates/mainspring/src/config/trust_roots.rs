//! `[trust] roots`: folders in which the person trusts every project.
//!
//! Only the person's own file can name them ([`super::Reach::User`]).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::path;
use mainspring_store::Trouble;

use super::Config;
use crate::env::Environment;
use crate::path_contains::path_contains;

/// The folders with their symlinks resolved. A folder that does not exist is left out.
pub(crate) fn trust_roots(env: &Environment) -> Result<Vec<PathBuf>, Trouble> {
    let config = Config::of_user(env)?;
    let mut folders = Vec::new();
    for name in &*config.trust.roots {
        let path = expand(name, env.home().as_deref())?;
        match path::real(&path) {
            Ok(folder) => folders.push(folder),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Trouble::io("find", &path)(error)),
        }
    }
    Ok(folders)
}

/// Is this project one of the folders, or below one? All paths are resolved.
pub(crate) fn is_below(root: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path_contains(root, folder))
}

/// `~` is the home, as a shell would have it. A relative path would mean another folder in
/// every project.
fn expand(name: &str, home: Option<&Path>) -> Result<PathBuf, Trouble> {
    let below_home = match name.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('/'),
        None => None,
    };
    let path = match (below_home, home) {
        (Some(below), Some(home)) => home.join(below.trim_start_matches('/')),
        (Some(_), None) | (None, _) => PathBuf::from(name),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Trouble::Other(format!(
        "trust.roots: {name:?} is no absolute path: write it from / or ~/"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_an_absolute_path_or_below_the_home() {
        let home = Some(Path::new("/home/me"));
        for (name, path) in [
            ("~", "/home/me"),
            ("~/", "/home/me"),
            ("~/work", "/home/me/work"),
            ("~//work", "/home/me/work"),
            ("/srv/work", "/srv/work"),
        ] {
            assert_eq!(expand(name, home).unwrap(), Path::new(path), "{name}");
        }
        for name in ["", "work", "./work", "../work", "~you/work", "$HOME/work"] {
            assert!(expand(name, home).is_err(), "{name}");
        }
        assert!(expand("~/work", None).is_err(), "without a home");
    }

    #[test]
    fn below_is_by_folders_and_not_by_letters() {
        let folders = [PathBuf::from("/home/me/work"), PathBuf::from("/srv")];
        for (root, is) in [
            ("/home/me/work", true),
            ("/home/me/work/one/deep", true),
            ("/srv/x", true),
            ("/home/me/workshop", false),
            ("/home/me", false),
            ("/", false),
        ] {
            assert_eq!(is_below(Path::new(root), &folders), is, "{root}");
        }
        assert!(!is_below(Path::new("/home/me"), &[]));
    }
}
