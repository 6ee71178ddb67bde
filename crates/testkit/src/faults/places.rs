//! Something else is in place of a file of the path: the process must not block, and must not touch
//! or reveal anything outside.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::check;
use super::lab::{Lab, Ran, Subject};
use super::paths::Path;
use super::sweep::{Depth, Tally};
use super::tree;
use crate::process::{End, Running};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fifo,
    Socket,
    Device,
    Folder,
    DanglingLink,
    LinkToASecret,
    LinkToAFolder,
}

const KINDS: [Kind; 7] = [
    Kind::Fifo,
    Kind::Socket,
    Kind::Device,
    Kind::Folder,
    Kind::DanglingLink,
    Kind::LinkToASecret,
    Kind::LinkToAFolder,
];

/// Longer than any of our waits except the one for a lock.
const PATIENCE: Duration = Duration::from_secs(30);
const SECRET: &str = "the-secret-of-somebody-else";

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let lab = Lab::new(subject, path);
    let outside = tempfile::tempdir_in(&subject.place).expect("a temporary folder");
    let mut tally = Tally::default();
    for (number, file) in files(&lab).into_iter().enumerate() {
        for (at, kind) in KINDS.into_iter().enumerate() {
            if subject.satisfied_by(&tally) {
                return tally;
            }
            // With `quick`: a third of the files with one kind each, and another kind for the next
            // file.
            if depth == Depth::Quick && (number / 3 + at * 3 + number) % (3 * KINDS.len()) != 0 {
                continue;
            }
            let name = file.display();
            let title = format!("{}: a {kind:?} at {name}", path.name);
            tally.add(title, point(&lab, &file, kind, outside.path()));
        }
    }
    tally
}

/// Every file below its world that the path names in a call.
fn files(lab: &Lab<'_>) -> BTreeSet<PathBuf> {
    let root = lab.world.root();
    let large = [
        root.to_owned(),
        lab.world.home(),
        lab.world.project(),
        root.join("tmp"),
    ];
    let named = |line: &str| -> Vec<PathBuf> {
        let quoted = line.split('"').skip(1).step_by(2);
        quoted.map(PathBuf::from).collect()
    };
    let about_files = |line: &&str| {
        let calls = [
            "open(",
            "openat(",
            "openat2(",
            "statx(",
            "newfstatat(",
            "rename(",
            "renameat2(",
            "unlink(",
            "mkdir(",
        ];
        calls.iter().any(|call| line.starts_with(call))
    };
    let all = lab
        .healthy
        .trace
        .lines()
        .filter(about_files)
        .flat_map(named);
    // We wait for the client's own locks, whatever they are; other tests cover them.
    let waited_for = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
    all.filter(|path| path.starts_with(root) && !large.contains(path) && !waited_for(path))
        .collect()
}

fn point(lab: &Lab<'_>, file: &FilePath, kind: Kind, outside: &FilePath) -> Result<(), String> {
    lab.reset();
    let secret = outside.join("secret");
    let folder = outside.join("folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder of ours");
    fs::write(&secret, SECRET).expect("room for a secret");
    plant(file, kind, &secret, &folder);
    let running = Running::start_with(&mut lab.command(&[]), lab.event.clone());
    let finished = running.wait(PATIENCE);
    let code = match finished.end {
        End::Exited(status) => status.code(),
        End::DeadlinePassed => return Err(format!("no answer within {PATIENCE:?}")),
    };
    let ran = Ran {
        stdout: finished.stdout_text(),
        stderr: finished.stderr_text(),
        code,
        ..Ran::default()
    };
    lab.settle();
    check::answered(lab.path, &ran)?;
    if format!("{}{}", ran.stdout, ran.stderr).contains(SECRET) {
        return Err(format!("a secret was revealed: {}", ran.stdout));
    }
    if fs::read_to_string(&secret).is_ok_and(|text| text != SECRET) {
        return Err("a file outside was written to".into());
    }
    // A folder may be a symlink, but no file is created through a dangling symlink.
    if kind == Kind::DanglingLink && folder.join("none").exists() {
        return Err("a file was made outside".into());
    }
    Ok(())
}

fn plant(file: &FilePath, kind: Kind, secret: &FilePath, folder: &FilePath) {
    if fs::symlink_metadata(file).is_ok() {
        tree::remove(file);
    }
    if let Some(parent) = file.parent()
        && fs::create_dir_all(parent).is_err()
    {
        return;
    }
    let node = |kind, device| mknodat(CWD, file, kind, Mode::RUSR | Mode::WUSR, device);
    match kind {
        Kind::Fifo => node(FileType::Fifo, 0).expect("a FIFO"),
        Kind::Socket => drop(UnixListener::bind(file).map(drop)),
        // /dev/zero, if we may create a device; otherwise a symlink to it.
        Kind::Device => {
            if node(FileType::CharacterDevice, rustix::fs::makedev(1, 5)).is_err() {
                symlink("/dev/zero", file).expect("a link");
            }
        }
        Kind::Folder => fs::create_dir(file).expect("a folder"),
        Kind::DanglingLink => symlink(folder.join("none"), file).expect("a link"),
        Kind::LinkToASecret => symlink(secret, file).expect("a link"),
        Kind::LinkToAFolder => symlink(folder, file).expect("a link"),
    }
}
