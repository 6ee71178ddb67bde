//! Payloads that name something else than a transcript, and files of any size.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use super::script::{jsonl, prompt, says, tool_result, uses_tool, written};
use crate::transcript::{LastBlock, Run, Transcript, Unreadability, Unreadable, expand_home};

fn refusal(path: &Path) -> Unreadable {
    Transcript::open(path).unwrap_err()
}

fn trouble(path: &Path) -> String {
    refusal(path).trouble.to_string()
}

#[test]
fn what_is_not_a_transcript_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    File::create(at("file")).unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink(at("loop"), at("loop")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();

    let refused = |name: &str| trouble(&at(name));
    assert_eq!(refused("missing"), "no such file");
    assert_eq!(refused("file/below"), "no such file");
    assert_eq!(refused("link"), "is a symbolic link");
    assert_eq!(refused("loop"), "is a symbolic link");
    assert_eq!(refused("dangling"), "is a symbolic link");
    assert_eq!(refused("fifo"), "is not a regular file");
    assert_eq!(refused("socket"), "is not a regular file");
    assert_eq!(refused("."), "is not a regular file");
    assert_eq!(trouble(Path::new("/dev/null")), "is not a regular file");
    assert_eq!(trouble(Path::new("")), "no such file");
    assert!(matches!(
        refusal(Path::new("a\0b")).trouble,
        Unreadability::Io(_)
    ));
    assert!(matches!(
        refusal(&at(&"n".repeat(300))).trouble,
        Unreadability::Io(_)
    ));
    assert!(
        matches!(
            Unreadability::of_open(Errno::ACCESS.into()),
            Unreadability::Denied
        ),
        "root may read all, so it is not tried"
    );

    let error = refusal(&at("missing")).to_string();
    assert_eq!(
        error,
        format!("transcript {}: no such file", at("missing").display())
    );
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_told() {
    let file = written(&jsonl(&[prompt("do it"), says("m", "done")]));
    let transcript = Transcript::open(&file.path).unwrap();
    File::options()
        .write(true)
        .open(&file.path)
        .unwrap()
        .set_len(10)
        .unwrap();
    assert!(matches!(
        transcript
            .tail(super::super::entry, LastBlock::None)
            .unwrap_err()
            .trouble,
        Unreadability::Shrunk
    ));
    assert!(matches!(
        transcript.has_lines(20).unwrap_err().trouble,
        Unreadability::Shrunk
    ));
}

#[test]
fn a_file_deleted_while_it_is_read_is_read() {
    let file = written(&jsonl(&[prompt("do it"), says("m", "done")]));
    let transcript = Transcript::open(&file.path).unwrap();
    fs::remove_file(&file.path).unwrap();
    assert_eq!(
        transcript
            .tail(super::super::entry, LastBlock::None)
            .unwrap()
            .final_texts,
        ["done"]
    );
}

/// Whenever a reader looks, it sees complete messages in their order.
#[test]
fn a_file_is_read_while_it_grows() {
    let file = written(&jsonl(&[prompt("do it")]));
    let mut writer = File::options().append(true).open(&file.path).unwrap();
    let appending = thread::spawn(move || {
        for number in 0..2000 {
            let line = jsonl(&[says(&format!("m{number}"), &number.to_string())]);
            let (start, end) = line.split_at(line.len() / 2);
            writer.write_all(start).unwrap();
            writer.write_all(end).unwrap();
        }
    });
    let read = || {
        Transcript::open(&file.path)
            .unwrap()
            .tail(super::super::entry, LastBlock::None)
            .unwrap()
            .final_texts
    };
    let mut latest = 0;
    while !appending.is_finished() {
        if let [text] = &read()[..] {
            let number: u32 = text.parse().unwrap();
            assert!(number >= latest, "{number} after {latest}");
            latest = number;
        }
    }
    appending.join().unwrap();
    assert_eq!(read(), ["1999"]);
}

#[test]
fn lines_are_counted_from_the_start() {
    let has = |bytes: &[u8], lines: usize| {
        Transcript::open(&written(bytes).path)
            .unwrap()
            .has_lines(lines)
            .unwrap()
    };
    assert!(has(b"", 0));
    assert!(!has(b"", 1));
    assert!(!has("{}\n".repeat(19).as_bytes(), 20));
    assert!(has("{}\n".repeat(20).as_bytes(), 20));
    assert!(
        !has(format!("{}{{}}", "{}\n".repeat(19)).as_bytes(), 20),
        "`wc -l` counts ended lines"
    );
    let long = vec![b'x'; 2 << 20];
    assert!(!has(&long, 1), "one long line that has not ended");
    let ten = [long, b"\n".to_vec()].concat().repeat(10);
    assert!(!has(&ten, 20), "ten long lines are ten");
    assert!(has(&ten, 10));
}

#[test]
fn a_home_is_expanded() {
    let home = Path::new("/home/dev");
    let table = [
        ("~/.claude/a.jsonl", "/home/dev/.claude/a.jsonl"),
        ("~//etc/passwd", "/home/dev/etc/passwd"),
        ("~other/a", "~other/a"),
        ("/a/~/b", "/a/~/b"),
        ("a", "a"),
        ("", ""),
    ];
    for (path, expanded) in table {
        assert_eq!(expand_home(path, home), PathBuf::from(expanded), "{path}");
    }
}

/// How many bytes this thread has read according to the kernel, without files under `/proc`.
#[cfg(target_os = "linux")]
fn bytes_read_by_this_thread() -> u64 {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    io.lines()
        .find_map(|line| line.strip_prefix("rchar: "))
        .unwrap()
        .parse()
        .unwrap()
}

/// Eight GiB cost what one MiB costs: the same number of bytes is read, whether the answer is
/// at the end or beyond the limit.
#[test]
#[cfg(target_os = "linux")]
fn the_size_of_the_file_does_not_matter() {
    const MIB: u64 = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse.jsonl");
    let read = |size: u64, tail: &[u8]| {
        let mut file = File::create(&path).unwrap();
        file.seek(SeekFrom::Start(size - tail.len() as u64))
            .unwrap();
        file.write_all(tail).unwrap();
        let transcript = Transcript::open(&path).unwrap();
        assert_eq!(transcript.size(), size);
        let before = bytes_read_by_this_thread();
        let tail = transcript
            .tail(super::super::entry, LastBlock::None)
            .unwrap();
        // The measurement itself reads less than a KiB.
        let by_kernel = bytes_read_by_this_thread() - before;
        assert!(
            by_kernel.abs_diff(tail.bytes_read as u64) < 1024,
            "{by_kernel} against {}",
            tail.bytes_read
        );
        let counted = transcript.has_lines(20).unwrap();
        assert!(
            counted || size <= 256 * MIB,
            "beyond the limit it is long, if not in lines"
        );
        tail
    };

    let near: Vec<_> = [
        prompt("do it"),
        uses_tool("t"),
        tool_result("x", true),
        says("m", "done"),
    ]
    .into();
    let near = [
        b"\n".to_vec(),
        jsonl(&near),
        "{\"type\":\"mode\"}\n".repeat(40).into_bytes(),
    ]
    .concat();
    let small = read(MIB, &near);
    let large = read(8192 * MIB, &near);
    assert_eq!(small.final_texts, ["done"]);
    assert_eq!(large.bytes_read, 64 << 10, "one chunk is enough");
    assert_eq!(
        (small.bytes_read, &small.final_texts, small.run),
        (large.bytes_read, &large.final_texts, large.run)
    );

    let far = jsonl(&[says("m", "done")]);
    let far = [b"\n".to_vec(), far].concat();
    let small = read(MIB, &far);
    let large = read(8192 * MIB, &far);
    assert_eq!(large.bytes_read as u64, MIB, "all that may be read");
    assert_eq!(large.run, Run::AtLeast(0));
    assert_eq!(
        (small.bytes_read, small.final_texts),
        (large.bytes_read, large.final_texts)
    );
}
