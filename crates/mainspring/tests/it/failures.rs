//! What each failure leads to: the agent may stop, the person is told why, and nothing is
//! deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;

use crate::env::{Ran, TestEnv};

#[test]
fn input_that_is_no_event_lets_go_and_names_the_cause() {
    let env = TestEnv::new();
    let huge = vec![b' '; 8 * 1024 * 1024 + 1];
    for (input, cause) in [
        (&b""[..], "the hook got no input"),
        (b"   \n", "the hook got no input"),
        (b"nonsense", "not a JSON object"),
        (b"{\"session_id\":", "not a JSON object"),
        (b"\xff\xff", "not UTF-8"),
        (&huge, "larger than 8388608 bytes"),
    ] {
        let said = env.hook_bytes(input).let_go();
        assert!(said.contains(cause), "{said:?} should name {cause:?}");
    }
    assert!(!env.state().exists(), "and nothing is written");
}

#[test]
fn an_unknown_event_and_a_project_without_anything_get_no_answer_and_leave_no_trace() {
    let env = TestEnv::new();
    let silent = |event| {
        let answer = env.hook(event, json!({ "new_field": [1] })).ok();
        assert_eq!(answer, "", "{event}");
    };
    for event in ["PreCompact", "BrandNewEvent", ""] {
        silent(event);
    }
    assert!(!env.state().exists());
    // From now on the session is known, and nothing else is.
    for event in ["Stop", "PostToolUse", "UserPromptSubmit"] {
        silent(event);
    }
    let names = |folder| {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(env.state()), ["live"]);
    assert_eq!(names(env.state().join("live")), ["s"]);
}

#[test]
fn a_directory_that_is_missing_or_gone_is_named() {
    let env = TestEnv::new();
    let said = env.hook("Stop", json!({ "cwd": null })).let_go();
    assert!(said.contains("no working directory"), "{said}");
    let said = env
        .hook("Stop", json!({ "cwd": "/nonexistent/place" }))
        .let_go();
    assert!(said.contains("/nonexistent/place"), "{said}");
    assert_eq!(
        env.hook("PostToolUse", json!({ "cwd": "/nonexistent" }))
            .ok(),
        ""
    );
}

#[test]
fn no_home_is_named() {
    let env = TestEnv::new();
    let payload = crate::env::payload(&env.project(), "Stop", json!({}));
    let mut command = env.command();
    command.arg("hook").env_remove("HOME");
    let said = crate::env::finish(&mut command, payload.to_string().as_bytes()).let_go();
    assert!(said.contains("set HOME or XDG_STATE_HOME"), "{said}");
}

/// A project in which the next two stops are held.
fn beating() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["pulse", "3"]).ok();
    env
}

#[test]
fn state_that_cannot_be_read_lets_go_and_stays_as_it_is() {
    for garbage in [&b"{"[..], b"\xff", b"[]", b"{\"beating\":{\"beat\":-1}}"] {
        let env = beating();
        let path = env.project_state().join("pulse.json");
        fs::write(&path, garbage).unwrap();
        let said = env.stop("done").let_go();
        assert!(said.contains("mainspring pulse: cannot read"), "{said}");
        assert!(said.contains("pulse.json"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), garbage);
    }
}

#[test]
fn a_state_file_that_is_no_file_is_named_and_not_waited_for() {
    let env = beating();
    let path = env.project_state().join("pulse.json");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(env.stop("done").let_go().contains("is not a regular file"));
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(env.stop("done").let_go().contains("pulse.json"));
}

#[test]
fn a_ledger_that_cannot_be_read_lets_go_and_stays() {
    let env = beating();
    env.stop("one").held();
    let path = env.project_state().join("sessions/s.json");
    fs::write(&path, "garbage").unwrap();
    assert!(env.stop("two").let_go().contains("sessions/s.json"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "garbage");
}

#[test]
fn a_corrupt_configuration_is_named_with_line_and_column() {
    let env = TestEnv::new();
    fs::write(
        env.project().join("mainspring.toml"),
        "[pulse]\nbeats = = 1\n",
    )
    .unwrap();
    let error = env.run(&["trust", "--yes"]).failed();
    assert!(
        error.contains("mainspring.toml: line 2, column 9"),
        "{error}"
    );
}

#[test]
fn a_lock_that_is_not_released_is_waited_for_no_longer_than_its_bound() {
    let env = beating();
    let lock = fs::File::open(env.project_state().join("lock")).unwrap();
    lock.lock().unwrap();
    let said = env.stop("done").let_go();
    assert!(said.contains("for more than 5 seconds"), "{said}");
    drop(lock);
    env.stop("done").held();
}

#[test]
fn a_state_directory_that_others_can_write_to_is_refused() {
    let env = beating();
    fs::set_permissions(env.state(), fs::Permissions::from_mode(0o777)).unwrap();
    let said = env.stop("done").let_go();
    assert!(said.contains("can be written by others"), "{said}");
}

#[test]
fn a_state_directory_that_others_can_read_is_closed_and_the_person_hears_of_it_once() {
    let env = beating();
    let open = |mode| fs::set_permissions(env.state(), fs::Permissions::from_mode(mode)).unwrap();
    let mode = || fs::metadata(env.state()).unwrap().permissions().mode() & 0o777;
    open(0o755);
    let doctor = env.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("can be read by others (mode 755)"),
        "{doctor}"
    );
    assert!(doctor.contains("→ chmod 700 "), "{doctor}");
    assert_eq!(mode(), 0o755, "doctor only looks");

    let answer = env.stop("done").json();
    assert_eq!(answer["decision"], "block", "{answer}");
    let told = answer["systemMessage"].as_str().unwrap();
    assert!(
        told.contains("could be read by other users (mode 755)"),
        "{told}"
    );
    assert_eq!(mode(), 0o700);

    open(0o711);
    let ran = env.run(&["pulse", "2"]);
    assert!(
        ran.stderr
            .contains("could be read by other users (mode 711)"),
        "{ran:?}"
    );
    assert_eq!(mode(), 0o700);
    env.run(&["pulse", "3"]).ok();

    open(0o750);
    let fixed = env.run(&["doctor", "--fix"]);
    assert_eq!(mode(), 0o700, "{fixed:?}");
}

/// A file system mounted over the home, until this value is dropped.
struct Mounted(std::path::PathBuf);

impl Mounted {
    /// `None`, with a message, if this user may not mount.
    fn over(home: &std::path::Path, size: &str) -> Option<Self> {
        let options = format!("size={size},mode=0700");
        if mount(&["-t", "tmpfs", "-o", &options, "tmpfs"], home) {
            return Some(Self(home.into()));
        }
        eprintln!("skipped: mounting needs root");
        None
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], &self.0));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

fn mount(args: &[&str], place: &std::path::Path) -> bool {
    let mut command = std::process::Command::new("mount");
    command.args(args).arg(place).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn a_full_disk_lets_go_and_keeps_the_state_until_there_is_room() {
    let env = TestEnv::new();
    let Some(_disk) = Mounted::over(&env.home(), "256k") else {
        return;
    };
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    let before = snapshot(&env);
    let filler = env.home().join("filler");
    let mut fill = fs::File::create(&filler).unwrap();
    let full = std::io::copy(&mut std::io::repeat(0), &mut fill).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let said = env.stop("two").let_go();
    assert!(said.contains("No space left on device"), "{said}");
    // An open file keeps its space, so it is closed before it is deleted.
    drop(fill);
    fs::remove_file(&filler).unwrap();
    let beats = |files: &[(String, Vec<u8>)]| {
        files
            .iter()
            .find(|(name, _)| name.ends_with("pulse.json"))
            .cloned()
    };
    assert_eq!(beats(&snapshot(&env)), beats(&before));
    assert!(env.stop("three").held().contains("beat 2 of 9"));
}

#[test]
fn a_read_only_home_lets_go_and_says_so() {
    let env = TestEnv::new();
    let Some(disk) = Mounted::over(&env.home(), "1m") else {
        return;
    };
    env.run(&["pulse", "9"]).ok();
    disk.remount("ro");
    let said = env.stop("one").let_go();
    assert!(said.contains("Read-only file system"), "{said}");
    let error = env.run(&["pulse", "3"]).failed();
    assert!(error.contains("Read-only file system"), "{error}");
    disk.remount("rw");
    assert!(env.stop("two").held().contains("beat 1 of 9"));
}

#[test]
fn a_full_stdout_is_a_failure_that_blocks_nobody() {
    let env = beating();
    let payload = crate::env::payload(&env.project(), "Stop", json!({}));
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(input.path(), payload.to_string()).unwrap();
    let output = env
        .command()
        .arg("hook")
        .stdin(fs::File::open(input.path()).unwrap())
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    let ran = Ran::of(output);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("cannot answer the host"), "{ran:?}");
}

#[test]
fn switched_off_and_inside_a_child_of_ours_it_leaves_at_once() {
    for variable in ["MAINSPRING_DISABLE", "MAINSPRING_DEPTH"] {
        let env = beating();
        let before = snapshot(&env);
        let env = env.with(variable, "1");
        assert_eq!(env.stop("done").ok(), "", "{variable}");
        assert_eq!(snapshot(&env), before, "{variable}");
    }
}

fn snapshot(env: &TestEnv) -> Vec<(String, Vec<u8>)> {
    let dir = env.project_state();
    let mut files: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}
