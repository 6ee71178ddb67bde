//! What a process did to the disk, according to strace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Inode, Op, Story, View, exchange};
use crate::faults::strace;

/// What is open while a trace is read.
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

/// A trace that is being read: which files its process sees, and which are open.
struct Tracer<'a> {
    story: &'a mut Story,
    view: View,
    open: BTreeMap<i64, Open>,
    root: &'a Path,
}

impl Story {
    /// Adds what a process did, by its trace.
    pub(in super::super) fn add(&mut self, trace: &str, root: &Path) {
        let mut tracer = Tracer {
            view: self.view(),
            open: BTreeMap::new(),
            story: self,
            root,
        };
        for line in trace.lines() {
            let Some(name) = strace::name(line) else {
                continue;
            };
            let result = returned(line);
            if result >= 0 {
                tracer.add(name, line, result);
            }
        }
    }
}

impl Tracer<'_> {
    fn add(&mut self, name: &str, line: &str, result: i64) {
        match name {
            "openat" | "openat2" => {
                let path = self.below(line, 0);
                let opened = path.map_or(Open::Elsewhere, |path| self.opened(path, line));
                self.open.insert(result, opened);
            }
            "close" => drop(self.open.remove(&descriptor(line))),
            "write" if descriptor(line) == 1 => self.story.ops.push(Op::Say),
            "write" | "pwrite64" => self.write(name, line),
            "ftruncate" => {
                if let Some(Open::File { file, .. }) = self.open.get(&descriptor(line)) {
                    let (file, length) = (*file, offset(line));
                    self.view.lengths.insert(file, length);
                    self.story.ops.push(Op::Cut { file, length });
                }
            }
            "fsync" | "fdatasync" => match self.open.get(&descriptor(line)) {
                Some(Open::File { file, .. }) => self.story.ops.push(Op::SyncFile(*file)),
                // A name that fits into a folder's last block is not part of its data.
                Some(Open::Folder(path)) if name == "fsync" => {
                    self.story.ops.push(Op::SyncFolder(path.clone()));
                }
                Some(Open::Folder(_) | Open::Elsewhere) | None => {}
            },
            "syncfs" => self.story.ops.push(Op::SyncAll),
            "rename" | "renameat" | "renameat2" => self.rename(line),
            "unlink" | "unlinkat" | "rmdir" => {
                if let Some(path) = self.below(line, 0) {
                    self.view.names.remove(&path);
                    self.story.ops.push(Op::Unlink(path));
                }
            }
            "mkdir" | "mkdirat" => {
                if let Some(path) = self.below(line, 0) {
                    self.view.folders.insert(path.clone());
                    self.story.ops.push(Op::Folder(path));
                }
            }
            _ => {}
        }
    }

    /// The path in a line's string of this number, if it is below the root.
    fn below(&self, line: &str, at: usize) -> Option<PathBuf> {
        let strings = strings(line);
        let path = PathBuf::from(String::from_utf8_lossy(strings.get(at)?).into_owned());
        if path.is_absolute() {
            return path.strip_prefix(self.root).ok().map(Path::to_owned);
        }
        match self.open.get(&folder_of(line, at)) {
            Some(Open::Folder(folder)) => Some(folder.join(path)),
            Some(Open::File { .. } | Open::Elsewhere) | None => None,
        }
    }

    fn write(&mut self, name: &str, line: &str) {
        let Some(Open::File { file, at, appends }) = self.open.get_mut(&descriptor(line)) else {
            return;
        };
        let length = self.view.lengths.entry(*file).or_default();
        let bytes = strings(line).into_iter().next().unwrap_or_default();
        let start = match (name, *appends) {
            ("pwrite64", _) => offset(line),
            (_, true) => *length,
            (_, false) => *at,
        };
        *length = (*length).max(start + bytes.len());
        *at = start + bytes.len();
        self.story.ops.push(Op::Write {
            file: *file,
            at: start,
            bytes,
        });
    }

    fn rename(&mut self, line: &str) {
        let (Some(from), Some(to)) = (self.below(line, 0), self.below(line, 1)) else {
            return;
        };
        if line.contains("RENAME_EXCHANGE") {
            exchange(&mut self.view.names, &from, &to);
            self.story.ops.push(Op::Exchange {
                one: from,
                other: to,
            });
            return;
        }
        if let Some(file) = self.view.names.remove(&from) {
            self.view.names.insert(to.clone(), file);
        }
        self.story.ops.push(Op::Rename { from, to });
    }

    fn opened(&mut self, path: PathBuf, line: &str) -> Open {
        let (story, view) = (&mut *self.story, &mut self.view);
        if view.folders.contains(&path) {
            return Open::Folder(path);
        }
        let known = view.names.get(&path).copied();
        let file = match known {
            Some(file) => file,
            None if line.contains("O_CREAT") => {
                let file = story.contents.len();
                story.contents.push(Vec::new());
                view.names.insert(path.clone(), file);
                story.ops.push(Op::Name { path, file });
                file
            }
            None => return Open::Elsewhere,
        };
        if line.contains("O_TRUNC") && view.lengths.get(&file).is_some_and(|length| *length > 0) {
            view.lengths.insert(file, 0);
            story.ops.push(Op::Cut { file, length: 0 });
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

/// The descriptor of the folder that this string of a call is relative to.
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

/// The strings of a line; strace prints them entirely as `\x…`.
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
