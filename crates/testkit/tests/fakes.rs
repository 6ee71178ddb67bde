//! Fakes do what they are told, and remember what they were asked, to the byte.

#![expect(clippy::expect_used, reason = "a test fails where it stands")]
#![expect(clippy::disallowed_methods, reason = "a test starts what it tests")]

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use mainspring_testkit::fakes::{Fake, Fakes, Played, Stdin};
use mainspring_testkit::process::{End, Running};
use pretty_assertions::assert_eq;

/// Longer than any test runs: what lasts so long did not end by itself.
const LONG: Duration = Duration::from_secs(3600);

/// Calls a fake with nothing in its environment and nothing on stdin.
fn call(fakes: &Fakes, program: &str, args: &[&str]) -> Output {
    Command::new(fakes.program(program))
        .args(args)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("a fake starts")
}

#[test]
fn a_call_is_kept_to_the_byte() {
    let fakes = Fakes::install([Fake::of("gh")]);
    let odd = OsString::from_vec(b"not \xff text\n".to_vec());
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it exists");

    let mut child = Command::new(fakes.program("gh"))
        .args([&odd, &OsString::new()])
        .env_clear()
        .env("ODD", &odd)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a fake starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(b"in\0put").expect("the fake reads");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());

    let calls = fakes.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].program, "gh");
    assert_eq!(calls[0].args, [odd.clone(), OsString::new()]);
    assert_eq!(calls[0].env, [("ODD".into(), odd)]);
    assert_eq!(calls[0].cwd, folder);
    assert_eq!(calls[0].stdin, Stdin::Closed(b"in\0put".to_vec()));
}

#[test]
fn the_first_rule_that_fits_is_played_while_it_has_uses() {
    let fakes = Fakes::install([
        Fake::of("gh")
            .called_with(["pr", "create"])
            .once()
            .prints("first"),
        Fake::of("gh")
            .called_with(["pr", "create"])
            .prints("second"),
        Fake::of("gh").told("needle").prints("told"),
        Fake::of("claude").prints("claude"),
    ]);
    let table: [(&str, &[&str], &str); 8] = [
        ("gh", &["pr", "create", "--fill"], "first"),
        ("gh", &["-R", "o/r", "pr", "create"], "second"),
        ("gh", &["pr", "create"], "second"),
        ("gh", &["create", "pr"], ""),
        ("gh", &["pr", "created"], ""),
        ("gh", &["a needle in hay"], "told"),
        ("claude", &["pr", "create"], "claude"),
        ("gh", &[], ""),
    ];
    for (program, args, printed) in table {
        let output = call(&fakes, program, args);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            printed,
            "{program} {args:?}"
        );
    }
    let unexpected: Vec<_> = fakes
        .calls_of("gh")
        .into_iter()
        .filter(|call| call.rule == Played::NoneFits)
        .map(|call| call.words())
        .collect();
    assert_eq!(
        unexpected,
        [vec!["create", "pr"], vec!["pr", "created"], vec![]]
    );
}

#[test]
fn a_call_no_rule_is_for_says_so() {
    let fakes = Fakes::install([Fake::of("gh").called_with(["api"])]);

    let output = call(&fakes, "gh", &["issue", "list"]);

    assert_eq!(output.status.code(), Some(97));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "fake gh: no rule for [\"issue\", \"list\"]\n"
    );
}

#[test]
fn acts_follow_each_other_up_to_the_end_they_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let review = folder.path().join("plans/one/review.md");
    let fakes = Fakes::install([
        Fake::of("claude")
            .prints("out")
            .prints_error("err")
            .writes(&review, "clean")
            .sleeps(Duration::from_millis(50))
            .exits(3)
            .prints("never"),
        Fake::of("crash").prints("so far").dies_of(11),
        Fake::of("flood").floods(3 << 20),
    ]);

    let output = call(&fakes, "claude", &[]);
    assert_eq!(
        (&output.stdout[..], &output.stderr[..]),
        (&b"out"[..], &b"err"[..])
    );
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        std::fs::read_to_string(review).expect("it was written"),
        "clean"
    );

    let crash = call(&fakes, "crash", &[]);
    assert_eq!(crash.status.signal(), Some(11));
    assert_eq!(crash.stdout, b"so far");

    assert_eq!(call(&fakes, "flood", &[]).stdout.len(), 3 << 20);
}

#[test]
fn a_child_left_behind_holds_the_pipe() {
    let a_while = Duration::from_millis(400);
    let fakes = Fakes::install([Fake::of("claude").prints("done").leaves_child(a_while)]);
    let started = Instant::now();

    let output = call(&fakes, "claude", &[]);

    assert_eq!(output.stdout, b"done");
    assert!(started.elapsed() >= a_while, "the pipe was closed early");
}

#[test]
fn ending_the_group_ends_a_child_left_behind_unless_it_escaped() {
    let fakes = Fakes::install([
        Fake::of("tame").prints("done").leaves_child(LONG),
        Fake::of("wild")
            .prints("done")
            .leaves_escaped_child(Duration::from_secs(5)),
    ]);
    for (program, held_at_least) in [("tame", 0), ("wild", 900)] {
        let started = Instant::now();

        let done = Running::start(&mut Command::new(fakes.program(program))).wait(LONG);

        assert!(done.succeeded());
        assert_eq!(done.stdout_text(), "done");
        assert!(started.elapsed() < LONG / 2, "{program} held the test");
        assert!(
            started.elapsed() >= Duration::from_millis(held_at_least),
            "{program}"
        );
    }
}

#[test]
fn only_a_kill_ends_the_stubborn() {
    let fakes = Fakes::install([Fake::of("claude").ignores_termination(LONG)]);
    let mut child = Command::new(fakes.program("claude"));

    let done = Running::start(&mut child).wait(Duration::from_millis(500));

    assert_eq!(done.end, End::DeadlinePassed);
    assert!(done.duration < LONG / 2);
}

#[test]
fn a_caller_that_leaves_stdin_open_is_found_out() {
    let fakes = Fakes::install([Fake::of("gh")]);
    let mut child = Command::new(fakes.program("gh"))
        .stdin(Stdio::piped())
        .spawn()
        .expect("a fake starts");
    let held = child.stdin.take();
    assert!(child.wait().expect("it ends").success());
    drop(held);

    assert_eq!(fakes.calls()[0].stdin, Stdin::LeftOpen);
}

#[test]
fn calls_at_once_are_all_kept_and_a_rule_is_used_no_more_than_allowed() {
    let fakes = Fakes::install([
        Fake::of("gh").times(3).prints("early"),
        Fake::of("gh").prints("late"),
    ]);
    let children: Vec<_> = (0..16)
        .map(|_| {
            Command::new(fakes.program("gh"))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a fake starts")
        })
        .collect();
    let early = children
        .into_iter()
        .map(|child| child.wait_with_output().expect("it ends").stdout)
        .filter(|printed| printed == b"early")
        .count();

    assert_eq!((early, fakes.calls().len()), (3, 16));
}
