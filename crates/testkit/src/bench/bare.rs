//! A lower bound for a hook: a program that makes only the hook's file system calls.

use std::collections::BTreeMap;

/// The input of `bare-calls`: a line for each call on a file, with the descriptor, a length and
/// paths.
pub(super) fn calls(trace: &str) -> Vec<u8> {
    let ours = trace.lines().skip_while(|line| !line.starts_with("read(0"));
    let mut opened = Opened::new();
    let lines: Vec<String> = ours.filter_map(|line| call(line, &mut opened)).collect();
    (lines.join("\n") + "\n").into_bytes()
}

/// What is open, for names relative to a folder.
type Opened = BTreeMap<i64, String>;

fn call(line: &str, opened: &mut Opened) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result: i64 = result.split(' ').next()?.parse().ok()?;
    let number = |text: &str| text.trim().trim_end_matches(')').parse().unwrap_or(0);
    let first: i64 = number(arguments.split(',').next()?);
    // A folder and a name; a rename has two of each.
    let pieces: Vec<&str> = arguments.split('"').collect();
    let paths: Vec<String> = pieces
        .chunks_exact(2)
        .map(|piece| {
            let folder = piece[0].trim_matches([',', ' ']);
            match opened.get(&number(folder)) {
                Some(folder) if !piece[1].starts_with('/') => format!("{folder}/{}", piece[1]),
                Some(_) | None => piece[1].to_owned(),
            }
        })
        .collect();
    let path = paths.first().map(String::as_str).unwrap_or_default();
    let file = |call: &str, length: i64| Some(format!("{call}\t{first}\t{length}"));
    let named = |call: &str| Some(format!("{call}\t0\t0\t{path}"));
    let both = |call: &str| {
        let other = paths.get(1)?;
        Some(format!("{call}\t0\t0\t{path}\t{other}"))
    };
    match name {
        "open" | "openat" | "openat2" => {
            let how = if arguments.contains("O_APPEND") {
                "append"
            } else if arguments.contains("O_EXCL") {
                "create"
            } else if arguments.contains("O_CREAT") {
                "change"
            } else {
                "open"
            };
            opened.insert(result, path.to_owned());
            // A call that fails opens nothing for later calls.
            Some(format!("{how}\t{}\t0\t{path}", result.max(0)))
        }
        "statx" | "newfstatat" | "fstat" if pieces.get(1).is_none_or(|name| name.is_empty()) => {
            file("look", 0)
        }
        "statx" | "newfstatat" => named("stat"),
        "read" if first > 0 => file("read", result),
        "pread64" => file("read at", result),
        "write" if first == 1 => file("say", result),
        "write" => file("write", result),
        "pwrite64" => file("write at", result),
        "fdatasync" => file("sync", 0),
        "flock" => file("lock", 0),
        "close" => file("close", 0),
        "fchmod" => file("open to others", 0),
        // The second read only finds the end.
        "getdents64" if result > 0 => file("list", 0),
        "geteuid" => file("me", 0),
        "renameat2" if arguments.contains("RENAME_EXCHANGE") => both("exchange"),
        "rename" | "renameat" => both("replace"),
        "renameat2" => both("rename"),
        "unlink" | "unlinkat" => named("delete"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn calls_that_ask_something_of_a_file_are_kept() {
        let trace = r#"execve("/x", ["x"], 0x7ff /* 2 vars */) = 0
openat(AT_FDCWD, "/proc/self/maps", O_RDONLY|O_CLOEXEC) = 3
read(0, "{}", 4096)                     = 2
openat(AT_FDCWD, "/none", O_RDONLY|O_NOFOLLOW) = -1 ENOENT (No such file or directory)
openat(AT_FDCWD, "/s/lock", O_RDWR|O_CREAT|O_NOFOLLOW, 0600) = 3
flock(3, LOCK_EX|LOCK_NB)               = 0
statx(3, "", AT_EMPTY_PATH, STATX_ALL, {stx_size=27, ...}) = 0
statx(AT_FDCWD, "/s", AT_SYMLINK_NOFOLLOW, STATX_ALL, {stx_size=80, ...}) = 0
brk(0x36f4e000)                         = 0x36f4e000
openat(AT_FDCWD, "/s/.a.new", O_WRONLY|O_CREAT|O_EXCL, 0600) = 4
write(4, "{\"a\":1}", 7)                = 7
close(4)                                = 0
renameat2(AT_FDCWD, "/s/.a.new", AT_FDCWD, "/s/a", RENAME_EXCHANGE) = 0
unlink("/s/.a.new")                     = 0
openat2(AT_FDCWD, "/p", {flags=O_PATH|O_DIRECTORY, resolve=RESOLVE_NO_SYMLINKS}, 24) = 5
openat(5, ".b.new", O_WRONLY|O_CREAT|O_EXCL, 0600) = 6
renameat(5, ".b.new", 5, "b")           = 0
write(1, "{}\n", 3)                     = 3
"#;
        let kept = "\
open\t0\t0\t/none
change\t3\t0\t/s/lock
lock\t3\t0
look\t3\t0
stat\t0\t0\t/s
create\t4\t0\t/s/.a.new
write\t4\t7
close\t4\t0
exchange\t0\t0\t/s/.a.new\t/s/a
delete\t0\t0\t/s/.a.new
open\t5\t0\t/p
create\t6\t0\t/p/.b.new
replace\t0\t0\t/p/.b.new\t/p/b
say\t1\t3
";
        assert_eq!(String::from_utf8(calls(trace)).unwrap(), kept);
    }
}
