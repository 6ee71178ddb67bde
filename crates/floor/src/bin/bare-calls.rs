//! Makes the file system calls of a hook and nothing else, to measure their cost alone. The calls
//! are on stdin, in the format of `bench::bare`; writes have the recorded length.

#![expect(clippy::expect_used, reason = "a call that fails measures nothing")]

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};

use rustix::buffer::spare_capacity;
use rustix::fs::{CWD, OFlags, RawDir, RenameFlags};

/// Reads stdin as a hook does: until its end.
fn input() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32 << 10);
    while rustix::io::read(rustix::stdio::stdin(), spare_capacity(&mut bytes)).expect("a file") > 0
    {
    }
    bytes
}

fn main() {
    let bytes = input();
    let calls = str::from_utf8(&bytes).expect("text");
    let mut open: Vec<Option<File>> = Vec::new();
    let mut room = vec![0; 8 << 10];
    for line in calls.lines() {
        let mut words = line.split('\t');
        let mut word = || words.next().unwrap_or_default();
        let call = word();
        let number: usize = word().parse().unwrap_or_default();
        let length: usize = word().parse().unwrap_or_default();
        let (path, other) = (word(), word());
        room.resize(length.max(room.len()), 0);
        open.resize_with(open.len().max(number + 1), || None);
        let file = &mut open[number];
        match (call, file.as_mut()) {
            ("open" | "change" | "append" | "create", _) => *file = opened(call, path),
            ("stat", _) => drop(fs::symlink_metadata(path)),
            ("close", _) => *file = None,
            ("me", _) => drop(rustix::process::geteuid()),
            ("rename", _) => renamed(path, other, RenameFlags::NOREPLACE),
            ("replace", _) => fs::rename(path, other).expect("it was so in the trace"),
            ("exchange", _) => renamed(path, other, RenameFlags::EXCHANGE),
            ("delete", _) => fs::remove_file(path).expect("it is there"),
            ("say", _) => {
                let said = std::io::stdout().write_all(" ".repeat(length).as_bytes());
                said.expect("somebody hears it");
            }
            ("look", Some(file)) => drop(file.metadata()),
            ("read", Some(file)) => drop(file.read(&mut room[..length])),
            ("read at", Some(file)) => drop(file.read_at(&mut room[..length], 0)),
            ("write", Some(file)) => file.write_all(&room[..length]).expect("room for it"),
            ("write at", Some(file)) => {
                file.write_all_at(&room[..length], 0).expect("room for it");
            }
            ("sync", Some(file)) => file.sync_data().expect("a file"),
            ("open to others", Some(file)) => {
                let permissions = fs::Permissions::from_mode(0o644);
                file.set_permissions(permissions).expect("a file of ours");
            }
            ("lock", Some(file)) => file.try_lock().expect("nobody else has it"),
            ("list", Some(file)) => {
                let mut names = Vec::with_capacity(4096);
                let mut names = RawDir::new(file, names.spare_capacity_mut());
                while names.next().is_some() {}
            }
            (_, Some(_) | None) => {}
        }
    }
}

fn opened(how: &str, path: &str) -> Option<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    match how {
        "open" => options.read(true),
        "change" => options.read(true).write(true).create(true).truncate(false),
        "append" => options.read(true).append(true).create(true),
        _ => options.write(true).create_new(true),
    };
    options.open(path).ok()
}

fn renamed(from: &str, to: &str, how: RenameFlags) {
    rustix::fs::renameat_with(CWD, from, CWD, to, how).expect("it was so in the trace");
}
