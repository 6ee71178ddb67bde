//! Processes, through what every system offers.

use std::io::Read;
use std::process::{Command, Stdio};

use mainspring_platform::host::boot_id;
use mainspring_platform::process::{Group, ancestors, end_below, exists, is_alive, started};

fn sleeper() -> Command {
    #[expect(clippy::disallowed_methods, reason = "it is only there to be ended")]
    let mut command = Command::new("sleep");
    command.arg("60");
    command
}

#[test]
fn the_first_ancestor_is_the_process_that_started_this_one() {
    let found = ancestors();
    let parent = std::os::unix::process::parent_id();
    assert_eq!(found[0].pid, parent);
    assert!(!found[0].args.is_empty(), "{found:?}");
}

#[test]
fn this_process_lives_and_keeps_its_start() {
    let me = std::process::id();
    assert!(exists(me));
    assert!(started(me).is_some());
    assert_eq!(started(me), started(me));
    let nobody = u32::try_from(i32::MAX).unwrap();
    assert!(!exists(nobody));
    assert_eq!(started(nobody), None);
}

#[test]
fn a_process_is_told_from_a_later_one_with_its_number_and_from_one_that_ended() {
    let me = std::process::id();
    let start = started(me).unwrap();
    assert!(is_alive(me, start, boot_id()));
    assert!(!is_alive(me, start + 100, boot_id()));
    let mut child = sleeper().spawn().unwrap();
    let (pid, start) = (child.id(), started(child.id()).unwrap());
    assert!(is_alive(pid, start, boot_id()));
    child.kill().unwrap();
    // Until its parent waits for it, a process that ended keeps its number.
    while is_alive(pid, start, boot_id()) {
        std::thread::yield_now();
    }
    child.wait().unwrap();
    assert!(!is_alive(pid, start, boot_id()));
}

#[test]
fn a_group_ends_as_a_whole() {
    #[expect(clippy::disallowed_methods, reason = "it is only there to be ended")]
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 60 & wait"]);
    let (mut child, group) = Group::start(&mut shell).unwrap();
    group.end();
    assert!(!child.wait().unwrap().success());
}

#[test]
fn everything_below_a_process_is_ended_and_the_process_is_not() {
    #[expect(clippy::disallowed_methods, reason = "it is only there to be ended")]
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 60 & sleep 61 & echo ready; wait; exit 7"]);
    shell.stdout(Stdio::piped());
    let (mut child, _group) = Group::start(&mut shell).unwrap();
    let mut said = [0; 5];
    child.stdout.take().unwrap().read_exact(&mut said).unwrap();
    end_below(child.id());
    // The shell itself goes on once its sleepers are gone.
    assert_eq!(child.wait().unwrap().code(), Some(7));
}
