//! The floor of what a hook can be: its own file system calls, made by a program that does
//! nothing else.

/// What `bare-calls` reads: a line for each call that asks something of a file, with the
/// descriptor, a length and paths.
pub(super) fn calls(trace: &str) -> Vec<u8> {
    let ours = trace.lines().skip_while(|line| !line.starts_with("read(0"));
    let lines: Vec<String> = ours.filter_map(call).collect();
    (lines.join("\n") + "\n").into_bytes()
}

fn call(line: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result: i64 = result.split(' ').next()?.parse().ok()?;
    let first: i64 = arguments
        .split([',', ')'])
        .next()?
        .trim()
        .parse()
        .unwrap_or(0);
    let paths: Vec<&str> = arguments.split('"').skip(1).step_by(2).collect();
    let path = paths.first().copied().unwrap_or_default();
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
            // One that fails is found by no later call.
            Some(format!("{how}\t{}\t0\t{path}", result.max(0)))
        }
        "statx" | "newfstatat" | "fstat" if path.is_empty() => file("look", 0),
        "statx" | "newfstatat" => named("stat"),
        "read" if first > 0 => file("read", result),
        "pread64" => file("read at", result),
        "write" if first == 1 => file("say", result),
        "write" => file("write", result),
        "pwrite64" => file("write at", result),
        "fdatasync" => file("sync", 0),
        "flock" => file("lock", 0),
        "close" => file("close", 0),
        // The second only says that there is nothing more.
        "getdents64" if result > 0 => file("list", 0),
        "geteuid" => file("me", 0),
        "renameat2" if arguments.contains("RENAME_EXCHANGE") => both("exchange"),
        "rename" | "renameat2" => both("rename"),
        "unlink" => named("delete"),
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
say\t1\t3
";
        assert_eq!(String::from_utf8(calls(trace)).unwrap(), kept);
    }
}
