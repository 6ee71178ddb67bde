//! The state directory: ours alone, or refused.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_platform::permissions::{self, create_owner_only_folder};

use crate::digest;
use crate::env::Environment;
use crate::error::Trouble;

#[derive(Debug, Clone)]
pub(crate) struct StateDir {
    root: PathBuf,
}

impl StateDir {
    pub(crate) fn of(env: &Environment) -> Option<Self> {
        Some(Self {
            root: env.state_dir()?,
        })
    }

    #[cfg(test)]
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a project's state is, whether or not it exists yet.
    pub(crate) fn project(&self, root: &Path) -> PathBuf {
        self.root.join("projects").join(key(root))
    }

    pub(crate) fn binding(&self, session: &str) -> PathBuf {
        self.root.join("sessions").join(file_name(session).as_ref())
    }

    /// Where it is recorded which projects are trusted.
    pub(crate) fn trusted(&self) -> PathBuf {
        self.root.join("trusted")
    }

    pub(crate) fn trust_of(&self, root: &Path) -> PathBuf {
        self.trusted().join(format!("{}.json", key(root)))
    }

    /// Makes a directory below ours, and refuses one that others can write to or own.
    pub(crate) fn create(&self, below: &Path) -> Result<(), Trouble> {
        make_private(&self.root)?;
        if below != self.root {
            create_owner_only_folder(below).map_err(Trouble::io("create", below))?;
        }
        Ok(())
    }

    /// Is what exists safe to use?
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        check_private(&self.root)
    }
}

/// A project's path as a file's name.
fn key(root: &Path) -> String {
    digest::of(&[root.as_os_str().as_encoded_bytes()]).0
}

/// Makes a directory for us alone, or refuses the one that is there.
pub(crate) fn make_private(path: &Path) -> Result<(), Trouble> {
    match check_private(path) {
        Err(Trouble::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        checked => return checked,
    }
    create_owner_only_folder(path).map_err(Trouble::io("create", path))?;
    check_private(path)
}

/// A directory that is no link, belongs to us, and that nobody else may write to.
pub(crate) fn check_private(path: &Path) -> Result<(), Trouble> {
    let meta = fs::symlink_metadata(path).map_err(Trouble::io("look at", path))?;
    let problem = if meta.is_dir() {
        permissions::exposed(&meta)
    } else {
        Some("is not a directory".into())
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Trouble::Unsafe {
            path: path.into(),
            problem,
        }),
    }
}

/// A name from outside as a file's name: itself where it is plain, else its digest, so
/// that no id can leave the directory or collide with another.
pub(crate) fn file_name(id: &str) -> Cow<'_, str> {
    let plain = !id.is_empty()
        && id.len() <= 100
        && !id.starts_with(['.', '#'])
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if plain {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(format!("#{}", digest::of(&[id.as_bytes()]).0))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_id_leaves_its_directory(id in ".{0,300}") {
            let name = file_name(&id);
            let path = Path::new("/root/dir").join(name.as_ref());
            prop_assert_eq!(path.parent(), Some(Path::new("/root/dir")));
            prop_assert!(name.len() <= 100 && !name.starts_with('.'));
        }
    }

    #[test]
    fn hostile_ids_are_hashed_and_plain_ones_kept() {
        assert_eq!(file_name("390b8429-0c35"), "390b8429-0c35");
        for hostile in [
            "..",
            "../x",
            "a/b",
            "",
            ".hidden",
            "a\0b",
            "#0",
            "é",
            &"x".repeat(101),
        ] {
            assert!(file_name(hostile).starts_with('#'), "{hostile:?}");
        }
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let dir = StateDir::at(temp.path().join("state"));
        dir.create(&dir.project(Path::new("/p"))).unwrap();
        dir.check().unwrap();
        let mode = fs::metadata(dir.root()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::set_permissions(dir.root(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(dir.check(), Err(Trouble::Unsafe { .. })));
        let link = StateDir::at(temp.path().join("link"));
        std::os::unix::fs::symlink(temp.path(), link.root()).unwrap();
        assert!(matches!(
            link.create(&link.project(Path::new("/p"))),
            Err(Trouble::Unsafe { .. })
        ));
    }
}
