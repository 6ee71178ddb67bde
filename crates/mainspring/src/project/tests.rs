use mainspring_kernel::Millis;

use super::*;
use crate::env::name;

struct Disk {
    temp: tempfile::TempDir,
    env: Environment,
}

impl Disk {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(temp.path()).unwrap().join("home");
        fs::create_dir_all(&home).unwrap();
        let env = Environment::given(&[(name::HOME, home.to_str().unwrap())], Millis(0));
        Self { temp, env }
    }

    fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.temp.path()).unwrap().join(below)
    }

    fn dir(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn state(&self) -> StateDir {
        StateDir::of(&self.env).unwrap()
    }

    /// Makes a folder one that holds something.
    fn mark(&self, below: &str) {
        let file = self.dir(below).join(crate::markers::PROJECT_FILE);
        atomic::replace(&file, b"").unwrap();
    }

    fn find(&self, session: &str, cwd: &str) -> Result<Project, Trouble> {
        let session = SessionId::parse(session);
        let (env, state) = (&self.env, self.state());
        let place = Whereabouts {
            cwd: Some(&self.path(cwd)),
            started: None,
        };
        super::find(Choice::PersonsFirst, env, &state, session.as_ref(), place)
    }

    /// A linked worktree as git lays it out.
    fn worktree(&self, repo: &str, tree: &str) {
        let admin = self.dir(&format!("{repo}/.git/worktrees/t"));
        let tree = self.dir(tree);
        atomic::replace(
            &tree.join(".git"),
            format!("gitdir: {}\n", admin.display()).as_bytes(),
        )
        .unwrap();
        atomic::replace(
            &admin.join("gitdir"),
            format!("{}\n", tree.join(".git").display()).as_bytes(),
        )
        .unwrap();
    }
}

/// However the path is spelled, and with any symlinks in it.
#[test]
fn a_path_is_resolved_as_the_system_does_it() {
    let disk = Disk::new();
    let folder = disk.dir("folder/below");
    atomic::replace(&folder.join("file"), b"").unwrap();
    std::os::unix::fs::symlink("folder", disk.path("link")).unwrap();
    std::os::unix::fs::symlink("below", disk.path("folder/again")).unwrap();
    for spelled in [
        "folder",
        "folder/below",
        "folder/below/",
        "folder//below",
        "folder/./below",
        "folder/below/..",
        "folder/../folder",
        "folder/below/file",
        "link",
        "link/below",
        "folder/again",
        "folder/again/file",
        "nowhere",
        "folder/below/file/nowhere",
    ] {
        let path = disk.path(spelled);
        let resolved = real(&path).ok().map(PathBuf::into_os_string);
        let expected = fs::canonicalize(&path).ok().map(PathBuf::into_os_string);
        assert_eq!(resolved, expected, "{spelled}");
    }
    assert!(
        real(Path::new("/proc/self/cwd")).is_ok_and(|path| path != Path::new("/proc/self/cwd"))
    );
}

#[test]
fn the_nearest_folder_with_a_machines_file_is_the_project() {
    let disk = Disk::new();
    disk.dir("home/repo/.git");
    disk.mark("home/repo");
    disk.dir("home/repo/src/deep");
    let project = disk.find("s", "home/repo/src/deep").unwrap();
    assert_eq!(project.root, disk.path("home/repo"));
    assert_eq!(project.worktree, disk.path("home/repo"));
    assert_eq!(project.bound, Bound::NotYet);
}

#[test]
fn a_file_above_the_repository_or_the_home_is_somebody_elses() {
    let disk = Disk::new();
    disk.mark("");
    disk.mark("home");
    disk.dir("home/repo/.git");
    disk.dir("home/plain");
    assert_eq!(
        disk.find("s", "home/repo").unwrap().root,
        disk.path("home/repo")
    );
    assert_eq!(
        disk.find("s", "home/plain").unwrap().root,
        disk.path("home")
    );
    fs::remove_file(disk.path("home/mainspring.toml")).unwrap();
    assert_eq!(
        disk.find("s", "home/plain").unwrap().root,
        disk.path("home/plain")
    );
}

#[test]
fn a_bound_session_keeps_its_project_wherever_the_agent_goes() {
    let disk = Disk::new();
    let root = disk.dir("home/repo");
    disk.dir("home/repo/.git");
    disk.dir("home/repo/vendor/nested/.git");
    disk.worktree("home/repo", "home/tree");
    let session = SessionId::parse("s").unwrap();
    bind(&disk.state(), &session, &root).unwrap();
    for (cwd, here) in [
        ("home/repo/vendor/nested", "home/repo"),
        ("home/tree", "home/tree"),
        ("home", "home/repo"),
        ("home/deleted", "home/repo"),
    ] {
        let project = disk.find("s", cwd).unwrap();
        assert_eq!(project.root, root, "{cwd}");
        assert_eq!(project.worktree, disk.path(here), "{cwd}");
        assert_eq!(project.bound, Bound::Yes);
    }
    let other = disk.find("other", "home/repo/vendor/nested").unwrap();
    assert_eq!(other.root, disk.path("home/repo/vendor/nested"));
}

#[test]
fn a_linked_worktree_shares_the_checkouts_project_and_looks_at_its_own_files_first() {
    let disk = Disk::new();
    disk.mark("home/repo");
    disk.worktree("home/repo", "home/tree");
    let project = disk.find("s", "home/tree").unwrap();
    assert_eq!(project.root, disk.path("home/repo"));
    assert_eq!(project.worktree, disk.path("home/tree"));
    assert_eq!(
        project.file("mainspring.toml"),
        disk.path("home/repo/mainspring.toml")
    );
    disk.mark("home/tree");
    let project = disk.find("s", "home/tree").unwrap();
    assert_eq!(
        project.root.as_os_str(),
        disk.path("home/repo").as_os_str(),
        "to the byte: it is a key"
    );
    assert_eq!(
        project.file("mainspring.toml"),
        disk.path("home/tree/mainspring.toml")
    );
}

#[test]
fn where_the_session_started_counts_when_the_agent_moved_before_anything_was_bound() {
    let disk = Disk::new();
    let root = disk.dir("home/repo");
    disk.dir("home/repo/.git");
    disk.mark("home/repo");
    disk.dir("home/repo/nested/.git");
    let variable = |host: &hosts::HostSpec| {
        let variables = [
            (name::HOME, disk.path("home").to_str().unwrap().to_owned()),
            (
                host.variables.project.unwrap(),
                root.to_str().unwrap().to_owned(),
            ),
        ];
        let variables = variables.each_ref().map(|(name, value)| (*name, &**value));
        Environment::given(&variables, Millis(0))
    };
    let nested = disk.path("home/repo/nested");
    let stop = format!(
        r#"{{"hook_event_name":"Stop","cwd":"{}"}}"#,
        nested.display()
    );
    let of_stop = |env: &Environment| {
        let payload = hosts::decode(env, stop.clone().into(), hosts::DecodeAs::Named, None);
        of_event(env, &disk.state(), None, &payload.unwrap()).unwrap()
    };
    assert_eq!(of_stop(&variable(hosts::DEFAULT)).root, root);
    // A client of another vendor, in whose agent's shell this one was started, tells nothing.
    let is_other = |host: &&&hosts::HostSpec| {
        host.program != hosts::DEFAULT.program && host.variables.project.is_some()
    };
    let other = variable(hosts::HOSTS.iter().find(is_other).unwrap());
    assert_eq!(of_stop(&other).root, nested);
    // A command may be typed in any of them.
    let command = of_command(&other, &disk.state(), None, &nested);
    assert_eq!(command.unwrap().root, root);
}

#[test]
fn no_directory_or_one_that_is_gone_is_an_error_that_names_it() {
    let disk = Disk::new();
    let nowhere = Whereabouts {
        cwd: None,
        started: None,
    };
    let choice = Choice::PersonsFirst;
    let missing = find(choice, &disk.env, &disk.state(), None, nowhere).unwrap_err();
    assert!(missing.to_string().contains("no working directory"));
    let gone = disk.find("s", "home/gone").unwrap_err();
    assert!(gone.to_string().contains("home/gone"), "{gone}");
    disk.mark("home");
    let file = disk.find("s", "home/mainspring.toml").unwrap_err();
    assert!(file.to_string().contains("not a directory"), "{file}");
}
