//! What a process did to the disk, as strace tells it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Inode, Op, Story, View, exchange};
use crate::faults::strace;

/// What is open, while a trace is read.
#[derive(Debug)]
enum Open {
    File {
        file: Inode,
        at: usize,
        appends: bool,
    },
    Folder(PathBuf),
    Elsewhere,
}

impl Story {
    /// Adds what a process did, by its trace.
    pub(in super::super) fn add(&mut self, trace: &str, root: &Path) {
        // The view that the processes had, for names and lengths.
        let mut view = self.view();
        let mut open: BTreeMap<i64, Open> = BTreeMap::new();
        for line in trace.lines() {
            let Some(name) = strace::name(line) else {
                continue;
            };
            let result = returned(line);
            if result < 0 {
                continue;
            }
            let strings = strings(line);
            let below = |at: usize| -> Option<PathBuf> {
                let path = PathBuf::from(String::from_utf8_lossy(strings.get(at)?).into_owned());
                if path.is_absolute() {
                    return path.strip_prefix(root).ok().map(Path::to_owned);
                }
                match open.get(&folder_of(line, at)) {
                    Some(Open::Folder(folder)) => Some(folder.join(path)),
                    Some(Open::File { .. } | Open::Elsewhere) | None => None,
                }
            };
            match name {
                "openat" | "openat2" => {
                    let opened =
                        below(0).map_or(Open::Elsewhere, |path| self.opened(&mut view, path, line));
                    open.insert(result, opened);
                }
                "close" => drop(open.remove(&descriptor(line))),
                "write" if descriptor(line) == 1 => self.ops.push(Op::Say),
                "write" | "pwrite64" => {
                    if let Some(Open::File { file, at, appends }) = open.get_mut(&descriptor(line))
                    {
                        let length = view.lengths.entry(*file).or_default();
                        let bytes = strings.first().cloned().unwrap_or_default();
                        let place = match (name, *appends) {
                            ("pwrite64", _) => offset(line),
                            (_, true) => *length,
                            (_, false) => *at,
                        };
                        *length = (*length).max(place + bytes.len());
                        *at = place + bytes.len();
                        let file = *file;
                        self.ops.push(Op::Write {
                            file,
                            at: place,
                            bytes,
                        });
                    }
                }
                "ftruncate" => {
                    if let Some(Open::File { file, .. }) = open.get(&descriptor(line)) {
                        let length = offset(line);
                        view.lengths.insert(*file, length);
                        self.ops.push(Op::Cut {
                            file: *file,
                            length,
                        });
                    }
                }
                "fsync" | "fdatasync" => match open.get(&descriptor(line)) {
                    Some(Open::File { file, .. }) => self.ops.push(Op::SyncFile(*file)),
                    // A name that fits into a folder's last block is none of its data.
                    Some(Open::Folder(path)) if name == "fsync" => {
                        self.ops.push(Op::SyncFolder(path.clone()));
                    }
                    Some(Open::Folder(_) | Open::Elsewhere) | None => {}
                },
                "syncfs" => self.ops.push(Op::SyncAll),
                "renameat2" if line.contains("RENAME_EXCHANGE") => {
                    if let (Some(one), Some(other)) = (below(0), below(1)) {
                        exchange(&mut view.names, &one, &other);
                        self.ops.push(Op::Exchange { one, other });
                    }
                }
                "rename" | "renameat" | "renameat2" => {
                    if let (Some(from), Some(to)) = (below(0), below(1)) {
                        if let Some(file) = view.names.remove(&from) {
                            view.names.insert(to.clone(), file);
                        }
                        self.ops.push(Op::Rename { from, to });
                    }
                }
                "unlink" | "unlinkat" | "rmdir" => {
                    if let Some(path) = below(0) {
                        view.names.remove(&path);
                        self.ops.push(Op::Unlink(path));
                    }
                }
                "mkdir" | "mkdirat" => {
                    if let Some(path) = below(0) {
                        view.folders.insert(path.clone());
                        self.ops.push(Op::Folder(path));
                    }
                }
                _ => {}
            }
        }
    }

    fn opened(&mut self, view: &mut View, path: PathBuf, line: &str) -> Open {
        if view.folders.contains(&path) {
            return Open::Folder(path);
        }
        let known = view.names.get(&path).copied();
        let file = match known {
            Some(file) => file,
            None if line.contains("O_CREAT") => {
                let file = self.contents.len();
                self.contents.push(Vec::new());
                view.names.insert(path.clone(), file);
                self.ops.push(Op::Name { path, file });
                file
            }
            None => return Open::Elsewhere,
        };
        if line.contains("O_TRUNC") && view.lengths.get(&file).is_some_and(|length| *length > 0) {
            view.lengths.insert(file, 0);
            self.ops.push(Op::Cut { file, length: 0 });
        }
        Open::File {
            file,
            at: 0,
            appends: line.contains("O_APPEND"),
        }
    }
}

/// What a call returned.
fn returned(line: &str) -> i64 {
    let result = line.rsplit_once(" = ").map_or("", |(_, result)| result);
    let number = result.split_whitespace().next().unwrap_or("");
    number.parse().unwrap_or(-1)
}

/// The descriptor that a call is about.
fn descriptor(line: &str) -> i64 {
    let inside = line.split_once('(').map_or("", |(_, rest)| rest);
    let digits: String = inside.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(-1)
}

/// The descriptor of the folder that a call's string of this place is below.
fn folder_of(line: &str, at: usize) -> i64 {
    let before = line.split('"').nth(2 * at).unwrap_or("");
    let word = before
        .split(['(', ',', ' '])
        .rfind(|word| !word.is_empty())
        .unwrap_or("");
    word.parse().unwrap_or(-1)
}

/// A call's last argument, as a number.
fn offset(line: &str) -> usize {
    let inside = line.rsplit_once(')').map_or("", |(inside, _)| inside);
    let last = inside.rsplit_once(", ").map_or("", |(_, last)| last);
    last.parse().unwrap_or(0)
}

/// The strings of a line, which strace printed as `\x…` throughout.
fn strings(line: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for text in line.split('"').skip(1).step_by(2) {
        let bytes = text
            .split("\\x")
            .skip(1)
            .filter_map(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok());
        found.push(bytes.collect());
    }
    found
}
