//! Something that every process relies on is really missing: disk space, a writable folder, a
//! reader of the output, descriptors, memory, variables, the working directory.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path as FilePath;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};

use super::check;
use super::deadline;
use super::lab::{Lab, Ran, Subject, finish, without_digits};
use super::paths::{Does, Path};
use super::sweep::{Depth, Tally};
use super::tree::Node;
use crate::world::World;

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let mut tally = Tally::default();
    let lab = Lab::new(subject, path);
    for (name, starter) in starters(depth) {
        lab.reset();
        let ran = finish(lab.command(&starter).stdin(lab.stdin()));
        tally.add(format!("{}: {name}", path.name), lacking(&lab, &ran));
    }
    without_memory(&lab, depth, &mut tally);
    if !path.has_children {
        for size in sizes(&lab, depth) {
            let at = format!("{}: no file grows beyond {size} bytes", path.name);
            tally.add(at, cut_short(&lab, size));
        }
    }
    if path.does == Does::Hook {
        let at = format!("{}: its input comes byte by byte", path.name);
        tally.add(at, byte_by_byte(&lab));
    }
    for listener in ["full", "gone", "closed"] {
        lab.reset();
        let at = format!("{}: stdout is {listener}", path.name);
        tally.add(at, unheard(&lab, listener));
    }
    if depth == Depth::Full {
        on_a_small_disk(subject, path, &mut tally);
    }
    tally
}

/// A program that removes something and then starts ours.
fn starters(depth: Depth) -> Vec<(String, Vec<&'static str>)> {
    let mut all = vec![
        (
            "a directory that is gone".to_owned(),
            vec![
                "sh",
                "-c",
                "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"",
                "sh",
            ],
        ),
        ("no variables".to_owned(), vec!["env", "-i"]),
        ("no home".to_owned(), vec!["env", "-u", "HOME"]),
        (
            "a mask of everything".to_owned(),
            vec!["sh", "-c", "umask 777 && exec \"$@\"", "sh"],
        ),
        (
            "a mask of nothing".to_owned(),
            vec!["sh", "-c", "umask 0 && exec \"$@\"", "sh"],
        ),
    ];
    let fds = [
        "--nofile=3",
        "--nofile=4",
        "--nofile=5",
        "--nofile=6",
        "--nofile=8",
    ];
    let memory = [
        "--as=3000000",
        "--as=6000000",
        "--as=12000000",
        "--as=64000000",
    ];
    for limit in fds.into_iter().chain(memory) {
        all.push((limit.to_owned(), vec!["prlimit", limit]));
    }
    if depth == Depth::Quick {
        all = all.into_iter().step_by(4).collect();
    }
    all
}

/// From the k-th time on, the kernel refuses memory.
fn without_memory(lab: &Lab<'_>, depth: Depth, tally: &mut Tally) {
    let asked = |(call, count): &(String, usize)| {
        let asks = ["brk", "mmap"].contains(&call.as_str());
        asks.then_some(*count)
    };
    let most = lab.calls().iter().filter_map(asked).max().unwrap_or(0);
    let step = match depth {
        Depth::Quick => 3,
        Depth::Full => 1,
    };
    for k in (1..=most).step_by(step) {
        lab.reset();
        let ran = lab.inject("brk,mmap", &format!("error=ENOMEM:when={k}+"));
        let result = if ran.trace.contains("(INJECTED)") {
            lacking(lab, &ran)
        } else {
            Err("the fault did not fire".into())
        };
        tally.add(format!("{}: no memory from #{k} on", lab.path.name), result);
    }
}

/// Size limits that cut a write in two, of the journal's next record or of any file.
fn sizes(lab: &Lab<'_>, depth: Depth) -> Vec<u64> {
    let is_journal = |path: &FilePath| path.ends_with("journal.jsonl");
    let journal = lab.tree.nodes.iter().find_map(|(path, node)| match node {
        Node::File { bytes, .. } if is_journal(path) => Some(bytes.len() as u64),
        Node::File { .. } | Node::Dir { .. } | Node::Link(_) => None,
    });
    let journal = journal.unwrap_or(0);
    match depth {
        Depth::Quick => vec![journal + 100],
        Depth::Full => vec![0, 1, 30, journal + 1, journal + 100, journal + 300],
    }
}

/// The write that reaches the limit is short, and the next one fails.
fn cut_short(lab: &Lab<'_>, size: u64) -> Result<(), String> {
    lab.reset();
    let limit = format!("trap '' XFSZ; exec prlimit --fsize={size} \"$@\"");
    let ran = finish(lab.command(&["sh", "-c", &limit, "sh"]).stdin(lab.stdin()));
    lacking(lab, &ran)?;
    let records = lab.healthy.trace.contains("O_APPEND");
    if records && lab.acknowledged(&ran) {
        return Err(format!("the limit was not felt: {}", ran.stdout));
    }
    Ok(())
}

/// A pipe that gives one byte to every read.
fn byte_by_byte(lab: &Lab<'_>) -> Result<(), String> {
    lab.reset();
    let (reader, writer) = pipe_with(PipeFlags::DIRECT | PipeFlags::CLOEXEC).expect("a pipe");
    let mut command = lab.command(&[]);
    command.stdin(reader);
    let ran = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut writer = File::from(writer);
            // It may decide without reading all of it.
            let _ = lab
                .event
                .iter()
                .try_for_each(|byte| writer.write_all(&[*byte]));
        });
        let ran = finish(&mut command);
        // Nobody reads any more, so the writer ends.
        drop(command);
        ran
    });
    check::answered(lab.path, &ran)?;
    if without_digits(&ran.stdout) != without_digits(&lab.healthy.stdout) {
        return Err(format!("it says something else: {}", ran.stdout));
    }
    lab.check(&ran)
}

/// It may fail to start. If it started, it has answered, and the world is as it was or as it should
/// be.
fn lacking(lab: &Lab<'_>, ran: &Ran) -> Result<(), String> {
    check::ended(ran)?;
    let never_ours = ran.code.is_none_or(|code| code > 100);
    if never_ours {
        if !ran.stdout.is_empty() {
            return Err(format!("it died after saying {:?}", ran.stdout));
        }
    } else if !ran.stdout.contains("internal error") {
        // Without memory it cannot even start a thread, and says so.
        check::answered(lab.path, ran)?;
    }
    // Files that were created under a full umask can be read by nobody.
    repair(&lab.world);
    lab.check(&Ran::default())
}

fn repair(world: &World) {
    let status = Command::new("chmod")
        .arg("-R")
        .arg("u+rwX,go-w")
        .arg(world.home())
        .arg(world.project())
        .arg(world.root().join("tmp"))
        .status()
        .expect("chmod runs");
    assert!(status.success(), "files of the world's own");
}

/// Nobody reads its output: it says so on stderr, fails, and nothing else is wrong.
fn unheard(lab: &Lab<'_>, listener: &str) -> Result<(), String> {
    let mut command = match listener {
        "closed" => lab.command(&["sh", "-c", "exec \"$@\" >&-", "sh"]),
        _ => lab.command(&[]),
    };
    command.stdin(lab.stdin()).stderr(Stdio::piped());
    match listener {
        "full" => drop(command.stdout(File::create("/dev/full").expect("it is there"))),
        "gone" => {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            command.stdout(writer);
        }
        _ => {}
    }
    let output = command
        .spawn()
        .and_then(std::process::Child::wait_with_output);
    let output = output.expect("it runs");
    let says = !lab.healthy.stdout.is_empty();
    let hook = lab.path.does == Does::Hook;
    let failed = output.status.code() == Some(1) && !output.stderr.is_empty();
    if says && hook && listener != "closed" && !failed {
        return Err(format!(
            "nobody heard it, and it did not say so: {output:?}"
        ));
    }
    if output.status.code().is_none_or(|code| code > 1) {
        return Err(format!("it ended with {:?}", output.status));
    }
    lab.check(&Ran::default())
}

/// A file system of its own, which is unmounted at the end.
struct Mount(tempfile::TempDir);

impl Mount {
    fn new(place: &FilePath) -> Option<Self> {
        let dir = tempfile::tempdir_in(place).ok()?;
        let made = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "none"])
            .arg(dir.path())
            .stderr(Stdio::null())
            .status();
        made.is_ok_and(|status| status.success()).then(|| Self(dir))
    }

    /// Unmounts as soon as no process that was left behind has a file open.
    fn remount(&self, how: &str) {
        let start = Instant::now();
        let once = || {
            Command::new("mount")
                .args(["-o", &format!("remount,{how}")])
                .arg(self.0.path())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        while !once() {
            assert!(start.elapsed() < deadline::LIMIT, "a mount of ours");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn on_a_small_disk(subject: &Subject, path: &Path, tally: &mut Tally) {
    let Some(mount) = Mount::new(&subject.place) else {
        tally
            .notes
            .insert("a real full or read-only disk: skipped, mounting is not allowed here".into());
        return;
    };
    let world = World::below(mount.0.path(), &subject.mainspring);
    let lab = Lab::of(world, path);
    for free in [0, 4096, 8192, 16384] {
        lab.reset();
        let stdin = lab.stdin();
        fill(mount.0.path(), free);
        let ran = finish(lab.command(&[]).stdin(stdin));
        fs::remove_file(mount.0.path().join("filler")).expect("a file of ours");
        let result = check::answered(path, &ran).and_then(|()| lab.check(&ran));
        tally.add(format!("{}: {free} bytes left", path.name), result);
    }
    lab.reset();
    let stdin = lab.stdin();
    mount.remount("ro");
    let ran = finish(lab.command(&[]).stdin(stdin));
    mount.remount("rw");
    let result = check::answered(path, &ran).and_then(|()| lab.check(&ran));
    tally.add(format!("{}: a read-only disk", path.name), result);
}

/// Writes until nothing fits, then frees this much.
fn fill(place: &FilePath, free: u64) {
    let path = place.join("filler");
    let mut file = File::create(&path).expect("room for a name");
    while file.write_all(&[0; 4096]).is_ok() {}
    let size = file.metadata().expect("a file of ours").len();
    file.set_len(size.saturating_sub(free))
        .expect("a file of ours");
}
