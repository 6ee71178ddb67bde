//! What comes of a run: how it ended, what it printed, what was kept of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{BAD, Comes, lie, told};
use crate::check::{Checked, SCRIPT};

#[test]
fn l35_a_suite_without_tests() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\n",
    );
    checked.env.trust();
    let checked = checked.green();
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; echo 'running 0 tests'; echo 'test result: ok. 0 passed; 0 failed'\n",
    );
    let before = checked.runs();
    let text = checked.stop("done").held();
    assert!(text.contains("it ran no test"), "{text}");
    assert_eq!(checked.runs(), before + 1);
}

#[test]
fn l36_every_test_skipped() {
    told(Comes::Runs, "", |it| {
        it.write(
            "test.sh",
            "echo run >> \"$COUNT\"; echo '======= 3 skipped in 0.01s ======='\n",
        );
    });
}

#[test]
fn l37_failures_that_only_the_output_tells_cannot_be_known() {
    told(Comes::Unknowable, "", |it| {
        it.write(
            "test.sh",
            "echo run >> \"$COUNT\"; echo '7 tests failed'; exit 0\n",
        );
    });
}

#[test]
fn l38_a_check_that_never_ends() {
    // It is never green: on a busy machine no check ends in a second for certain.
    let checked = Checked::with("timeout = \"1s\"");
    checked.write("test.sh", "echo run >> \"$COUNT\"; sleep 600\n");
    lie(&checked, Comes::Loud("timed out after 1s"));
}

#[test]
fn l39_a_check_that_kills_itself() {
    told(Comes::Loud("ended by signal 9"), "", |it| {
        it.write("test.sh", "echo run >> \"$COUNT\"; kill -9 $$\n");
    });
}

#[test]
fn l40_a_check_that_crashes_has_failed() {
    told(Comes::Runs, "", |it| {
        it.write("test.sh", "echo run >> \"$COUNT\"; kill -SEGV $$\n");
    });
}

#[test]
fn l41_a_program_that_is_not_there() {
    let checked = Checked::untrusted("[[check]]\nname = \"tests\"\nrun = [\"no-such-program\"]\n");
    checked.env.trust();
    lie(
        &checked,
        Comes::Loud("there is no program `no-such-program`"),
    );
}

#[test]
fn l42_a_flaky_check_is_no_pass() {
    told(Comes::Loud("is flaky"), "retries = 1", |it| {
        it.write(
            "test.sh",
            "echo run >> \"$COUNT\"; if [ -e \"$COUNT.seen\" ]; then exit 0; fi; touch \"$COUNT.seen\"; exit 1\n",
        );
    });
}

#[test]
fn l43_a_file_that_changes_while_the_check_runs() {
    let checked = Checked::new().green();
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; date +%N > moving.txt; exit 0\n",
    );
    let before = checked.runs();
    let said = checked.stop("done").let_go();
    assert!(
        said.contains("its inputs changed while it ran, twice: moving.txt"),
        "{said}"
    );
    assert_eq!(checked.runs(), before + 2, "it had a second try");
}

#[test]
fn l44_a_file_that_changes_once_while_the_check_runs() {
    let checked = Checked::new().green();
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; test -e lock.txt || echo made > lock.txt; exit 0\n",
    );
    let before = checked.runs();
    assert!(checked.stop("done").let_go().contains("tests pass at"));
    assert_eq!(
        checked.runs(),
        before + 2,
        "it passed over the tree that stays"
    );
}

#[test]
fn l45_an_old_log_in_the_place_of_the_new_one() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        let logs = it.env.project_state().join("checks/tests");
        for number in 1..9 {
            fs::write(logs.join(format!("{number:06}-1.log")), "all is well\n").unwrap();
        }
    });
}

#[test]
fn l46_a_forged_result() {
    let checked = Checked::new().green();
    checked.write("good.txt", BAD);
    let file = checked.env.project_state().join("check.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"pass\"", "\"fail\"")).unwrap();
    let said = checked.stop("done").let_go();
    assert!(said.contains("check.json"), "the person is told: {said}");
    assert!(!said.contains("tests pass at"), "{said}");
}

#[test]
fn l47_a_deleted_result_is_no_result() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        fs::remove_file(it.env.project_state().join("check.json")).unwrap();
    });
}

#[test]
fn l48_a_forged_index() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        let folder = it.env.project_state().join("checks");
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("index-") {
                let mut bytes = fs::read(entry.path()).unwrap();
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
                fs::write(entry.path(), bytes).unwrap();
            }
        }
    });
}

#[test]
fn l49_another_environment() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; test -z \\\"$BROKEN\\\"\"]\nenv = [\"COUNT\"]\n",
    );
    checked.env.trust();
    let Checked { env } = checked.green();
    let checked = Checked {
        env: env.with("BROKEN", "1"),
    };
    lie(&checked, Comes::Runs);
}

#[test]
fn l50_another_program_on_the_path() {
    let checked =
        Checked::untrusted("[[check]]\nname = \"tests\"\nrun = [\"judge\"]\nenv = [\"COUNT\"]\n");
    let bin = checked.env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let judge = bin.join("judge");
    let write = |text: &str| {
        fs::write(&judge, text).unwrap();
        fs::set_permissions(&judge, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("#!/bin/sh\necho run >> $COUNT\n");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let Checked { env } = checked;
    let checked = Checked {
        env: env.with("PATH", &path),
    };
    checked.env.trust();
    let checked = checked.green();
    write("#!/bin/sh\necho run >> $COUNT\nexit 1\n");
    lie(&checked, Comes::Runs);
}

#[test]
fn l51_a_clock_that_is_set_back_hides_no_edit() {
    told(Comes::Runs, "", |it| {
        // A file from the future is read again each time.
        let path = it.path("good.txt");
        fs::write(&path, BAD).unwrap();
        let file = fs::File::options().append(true).open(&path).unwrap();
        let future = std::time::SystemTime::now() + std::time::Duration::from_secs(9_999);
        file.set_modified(future).unwrap();
    });
}

#[test]
fn l52_a_file_that_chooses_the_toolchain_counts_whatever_the_inputs_are() {
    let checked = Checked::with("inputs = [\"*.txt\"]").green();
    checked.write(".tool-versions", "rust 1.0\n");
    let before = checked.runs();
    assert!(checked.stop("done").let_go().contains("tests pass at"));
    assert_eq!(checked.runs(), before + 1);
}

#[test]
fn l53_an_agent_cannot_run_the_checks_or_trust_them_itself() {
    let checked = Checked::new();
    for command in [
        &["check", "run"][..],
        &["trust", "--yes"],
        &["check", "prove", "tests"],
    ] {
        let text = checked.env.agent("s", command).failed();
        assert!(text.contains("an agent cannot"), "{text}");
    }
    assert_eq!(checked.runs(), 0);
}

#[test]
fn l54_two_sessions_at_once_run_the_check_once_and_both_are_held() {
    let checked = Checked::new();
    checked.write("good.txt", BAD);
    checked.write("test.sh", "echo run >> \"$COUNT\"; sleep 1; exit 1\n");
    std::thread::scope(|scope| {
        let stops = ["a", "b"].map(|id| scope.spawn(|| checked.env.stop_of(id, "done")));
        for stop in stops {
            assert!(stop.join().unwrap().held().contains("`tests` fails"));
        }
    });
}

#[test]
fn l55_a_hook_that_is_killed_in_the_middle_leaves_no_pass() {
    let checked = Checked::new();
    checked.write("test.sh", "echo run >> \"$COUNT\"; sleep 600\n");
    let payload = crate::env::payload(
        &checked.env.project(),
        "Stop",
        serde_json::json!({ "last_assistant_message": "done" }),
    );
    let mut command = checked.env.command();
    let running =
        mainspring_testkit::process::Running::start_with(command.arg("hook"), payload.to_string());
    mainspring_testkit::process::wait_until("the check runs", || checked.runs() == 1);
    running.kill();
    let prompt = serde_json::json!({"prompt": "How far are you?"});
    checked.env.hook("UserPromptSubmit", prompt).ok();
    let end = serde_json::json!({"reason": "other"});
    checked.env.hook("SessionEnd", end).ok();
    let start = serde_json::json!({"source": "startup", "session_id": "another"});
    checked.env.hook("SessionStart", start).ok();
    checked.write("good.txt", BAD);
    checked.write("test.sh", SCRIPT);
    lie(&checked, Comes::Runs);
}

#[test]
fn l56_a_clock_that_is_moved_makes_no_pass_and_loses_none() {
    for hours in [-9_000_i64, 9_000] {
        let checked = Checked::new().green();
        // The pass was recorded by a clock that was wrong by a year.
        let file = checked.env.project_state().join("check.json");
        let text = fs::read_to_string(&file).unwrap();
        let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
        for at in ["/results/tests/last/at", "/results/tests/passes/0/at"] {
            let at = state.pointer_mut(at).unwrap();
            let moved = at.as_i64().unwrap() + hours * 3_600_000;
            *at = moved.into();
        }
        fs::write(&file, mainspring_testkit::files::sealed(state)).unwrap();
        lie(&checked, Comes::Same);
        checked.write("good.txt", BAD);
        lie(&checked, Comes::Runs);
        assert!(checked.env.run(&["check"]).ok().contains("fail"));
    }
}

/// Once a tree was red, breaking git is no way past it. It traps nobody either.
#[test]
fn l63_a_repository_that_cannot_be_listed_after_a_red_stop() {
    let checked = Checked::new();
    checked.write("good.txt", BAD);
    let held = checked.stop("red").held();
    assert!(held.contains("`tests` fails"), "{held}");
    checked.git(&["config", "core.bare", "true"]);
    let held = checked.again("done").held();
    assert!(held.contains("nobody can tell whether it passes"), "{held}");
    assert!(held.contains("git ls-files"), "{held}");
    let most = 30;
    let let_go = (0..most).find(|at| !checked.again(&format!("{at}")).stdout.contains("decision"));
    assert!(let_go.is_some(), "held {most} times");
    checked.git(&["config", "core.bare", "false"]);
    assert!(checked.stop("next").held().contains("`tests` fails"));
}

/// Before anything was red, it is the person's to know.
#[test]
fn l64_a_repository_that_cannot_be_listed_is_told() {
    let checked = Checked::new();
    checked.git(&["config", "core.bare", "true"]);
    let said = checked.stop("done").let_go();
    assert!(said.contains("no check ran"), "{said}");
}
