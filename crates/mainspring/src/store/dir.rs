//! The state directory. We use it only if nobody else can write to it.

use std::path::{Path, PathBuf};

use mainspring_platform::path;
use mainspring_platform::permissions::create_owner_only_folder;
use mainspring_store::{ShownPath as _, Trouble, atomic, digest, file_name, private};

use crate::env::Environment;

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

    /// The folder with a folder for each project.
    pub(crate) fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// Where a project's state is, whether or not it exists yet.
    pub(crate) fn project(&self, root: &Path) -> PathBuf {
        self.projects().join(key(root))
    }

    /// The folder with a binding for each session.
    pub(crate) fn bindings(&self) -> PathBuf {
        self.root.join("sessions")
    }

    pub(crate) fn binding(&self, session: &str) -> PathBuf {
        self.bindings().join(file_name(session).as_ref())
    }

    /// The folder with a file for each session that is live, or whose client died.
    pub(crate) fn live(&self) -> PathBuf {
        self.root.join("live")
    }

    /// The folder with a file for each session that has ended lately.
    pub(crate) fn ended(&self) -> PathBuf {
        self.root.join("ended")
    }

    /// The folder with a folder of marks for each path.
    pub(crate) fn told(&self) -> PathBuf {
        self.root.join("told")
    }

    /// Notes in a project's folder whose it is, for people.
    pub(crate) fn name_project(&self, root: &Path) -> Result<(), Trouble> {
        let mut line = path::bytes(root).to_vec();
        line.push(b'\n');
        atomic::replace(&self.project(root).join("root"), &line)
    }

    /// The folder of marks: one empty file for each session that was told about this path.
    pub(crate) fn told_of(&self, path: &Path) -> PathBuf {
        self.told().join(key(path))
    }

    /// The folder with a record for each settings file that an installation changed.
    pub(crate) fn installs(&self) -> PathBuf {
        self.root.join("installs")
    }

    /// The folder of task lists, for hosts that keep none themselves.
    pub(crate) fn tasks(&self) -> PathBuf {
        self.root.join("tasks")
    }

    /// The folder with a record for each trusted project.
    pub(crate) fn trusted(&self) -> PathBuf {
        self.root.join("trusted")
    }

    pub(crate) fn trust_of(&self, root: &Path) -> PathBuf {
        self.trusted().join(format!("{}.json", key(root)))
    }

    /// Has a person trusted the project whose state is in this folder?
    pub(crate) fn has_trust_record(&self, project: &Path) -> bool {
        let name = project.file_name().unwrap_or_default();
        let record = self.trusted().join(name).with_extension("json");
        std::fs::symlink_metadata(record).is_ok()
    }

    /// Creates a folder in the state directory. Refuses if others own the directory or can
    /// write to it.
    pub(crate) fn create(&self, below: &Path) -> Result<(), Trouble> {
        private::make(&self.root)?;
        if below != self.root {
            create_owner_only_folder(below).map_err(Trouble::io("create", below))?;
        }
        Ok(())
    }

    /// Is the existing directory safe to use, and ours alone?
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        private::check_closed(&self.root)
    }

    /// The same, but one that others can only look into is closed; the text says so.
    pub(crate) fn close(&self) -> Result<Option<String>, Trouble> {
        let open = private::close(&self.root)?;
        Ok(open.map(|mode| {
            format!(
                "{} could be read by other users (mode {mode:o}), so it was made yours alone \
                 (mode 700): there is nothing to do",
                self.root.shown()
            )
        }))
    }
}

/// A path as a file's name: its digest.
fn key(root: &Path) -> String {
    digest::of(&[root.as_os_str().as_encoded_bytes()]).0
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_that_others_can_write_to_is_refused_and_one_that_they_can_read_is_closed() {
        let temp = tempfile::tempdir().unwrap();
        let dir = StateDir::at(temp.path().join("state"));
        dir.create(&dir.project(Path::new("/p"))).unwrap();
        dir.check().unwrap();
        let mode = fs::metadata(dir.root()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let set = |mode| fs::set_permissions(dir.root(), fs::Permissions::from_mode(mode)).unwrap();
        set(0o777);
        for checked in [dir.check(), dir.close().map(|_| ())] {
            assert!(matches!(checked, Err(Trouble::Unsafe { .. })));
        }
        // What others can only look into is ours to close, once.
        for mode in [0o755, 0o750, 0o711, 0o701] {
            set(mode);
            let said = dir.check().unwrap_err().to_string();
            assert!(
                said.ends_with(&format!("(mode {mode:o}): `chmod 700` it")),
                "{said}"
            );
            let news = dir.close().unwrap().unwrap();
            assert!(news.contains(&format!("(mode {mode:o})")), "{news}");
            dir.check().unwrap();
            assert_eq!(dir.close().unwrap(), None);
        }
        let link = StateDir::at(temp.path().join("link"));
        std::os::unix::fs::symlink(temp.path(), link.root()).unwrap();
        assert!(matches!(
            link.create(&link.project(Path::new("/p"))),
            Err(Trouble::Unsafe { .. })
        ));
    }
}
