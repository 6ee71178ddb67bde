//! Once the check was red, only a run over this very tree makes it green.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{BAD, Comes, lie};
use crate::check::{Checked, SCRIPT};

/// A project whose check was green, and is red now.
fn red(more: &str) -> Checked {
    let checked = Checked::with(more).green();
    checked.write("good.txt", BAD);
    let held = checked.stop("red").held();
    assert!(held.contains("`tests` fails"), "{held}");
    checked
}

#[test]
fn l65_a_tree_that_changes_and_changes_back_while_the_check_runs() {
    let checked = Checked::new().green();
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"\nif [ ! -e \"$COUNT.back\" ]; then\n  touch \"$COUNT.back\"\n  \
         git -c user.name=a -c user.email=a@b stash --quiet\n  grep -q yes good.txt; seen=$?\n  \
         git stash pop --quiet\n  exit $seen\nfi\ngrep -q yes good.txt\n",
    );
    checked.commit();
    checked.write("good.txt", BAD);
    let before = checked.runs();
    let held = checked.stop("done").held();
    assert!(held.contains("`tests` fails"), "{held}");
    assert_eq!(checked.runs(), before + 2, "it ran once more");
}

#[test]
fn l66_a_pinned_script_that_changes_and_changes_back_while_the_check_runs() {
    // The pin is no input.
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\ninputs = [\"good.txt\"]\npins = [\"test.sh\", \"more.sh\"]\n",
    );
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"\nif [ ! -e \"$COUNT.back\" ]; then\n  touch \"$COUNT.back\"\n  \
         cp more.sh \"$COUNT.more\"; echo exit 0 > more.sh\n  sh more.sh; seen=$?\n  \
         cp \"$COUNT.more\" more.sh\n  exit $seen\nfi\nsh more.sh\n",
    );
    checked.write("more.sh", "exit 1\n");
    checked.env.trust();
    let held = checked.stop("done").held();
    assert!(held.contains("`tests` fails"), "{held}");
    assert_eq!(checked.runs(), 2);
}

#[test]
fn l67_a_check_that_writes_its_own_inputs_counts_and_the_person_is_told_once() {
    let checked = Checked::new().green();
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; echo generated > made.txt; grep -q yes good.txt\n",
    );
    for (good, told, passes) in [("yes 1\n", true, true), ("yes 2\n", false, true)] {
        checked.write("good.txt", good);
        let before = checked.runs();
        let said = checked.stop(good).let_go();
        assert_eq!(said.contains("tests pass at"), passes, "{said}");
        assert_eq!(
            said.contains("tests writes made.txt itself"),
            told,
            "{said}"
        );
        assert_eq!(checked.runs(), before + 2);
    }
    checked.write("good.txt", BAD);
    lie(&checked, Comes::Runs);
}

#[test]
fn l68_an_ignore_file_that_hides_the_bad_file() {
    // The one in the root, if the inputs are below it; and one that ignores itself.
    for (inputs, rules, text) in [
        ("inputs = [\"src/**\"]", ".gitignore", "src/bad.txt\n"),
        ("", "src/.gitignore", ".gitignore\nbad.txt\n"),
    ] {
        for red_first in [false, true] {
            let checked = Checked::untrusted(&format!(
                "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; test ! -e src/bad.txt\"]\nenv = [\"COUNT\"]\n{inputs}\n"
            ));
            checked.write("src/good.txt", "yes\n");
            checked.env.trust();
            let checked = checked.green();
            checked.write("src/bad.txt", "");
            if red_first {
                lie(&checked, Comes::Runs);
            }
            checked.write(rules, text);
            lie(&checked, Comes::Runs);
        }
    }
}

#[test]
fn l69_an_old_pass_of_another_session_does_not_count_after_red() {
    let checked = red("");
    // The tree is as it was when it was green; what the check needs besides is not.
    checked.write("good.txt", "yes\n");
    let before = checked.runs();
    let said = checked.env.stop_of("another", "done").let_go();
    assert!(said.contains("tests pass at"), "{said}");
    assert_eq!(checked.runs(), before + 1);
    assert_eq!(checked.stop("again").let_go(), "", "now it is known");
}

#[test]
fn l70_a_run_that_does_not_come_to_its_end_is_red_after_red() {
    for (script, says) in [
        ("exec yes", "it printed more than 64 MiB"),
        ("kill -9 $PPID; sleep 60", "it was ended by signal 9"),
        (
            "date +%N > moving.txt",
            "its inputs changed while it ran, twice: moving.txt",
        ),
        ("rm test.sh; exit 0", "its `inputs` match no file"),
    ] {
        let checked = red("inputs = [\"*.txt\", \"test.sh\"]");
        checked.write("test.sh", &format!("echo run >> \"$COUNT\"; {script}\n"));
        if script.starts_with("rm") {
            // Nothing is left to look at.
            fs::remove_file(checked.path("test.sh")).unwrap();
            fs::remove_file(checked.path("good.txt")).unwrap();
        }
        let held = checked.again("one").held();
        assert!(held.contains("`tests` does not come to its end"), "{held}");
        assert!(held.contains(says), "{held}");
        // Another session does not get past it either, and nobody is trapped.
        let held = checked.env.stop_of("another", "two").held();
        assert!(held.contains(says), "{held}");
        let most = 30;
        let let_go =
            (0..most).find(|at| !checked.again(&format!("{at}")).stdout.contains("decision"));
        assert!(let_go.is_some(), "held {most} times");
    }
}

#[test]
fn l71_a_hang_is_red_after_red_with_its_last_lines() {
    let checked = red("");
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; echo waiting for godot; sleep 600\n",
    );
    checked.write(
        "mainspring.toml",
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\ntimeout = \"1s\"\n",
    );
    checked.env.trust();
    let held = checked.again("done").held();
    assert!(held.contains("it timed out after 1s"), "{held}");
    assert!(held.contains("    | waiting for godot"), "{held}");
}

#[test]
fn l72_what_is_nobodys_fault_lets_go_after_red_and_stays_red() {
    let checked =
        Checked::untrusted("[[check]]\nname = \"tests\"\nrun = [\"judge\"]\nenv = [\"COUNT\"]\n");
    let bin = checked.env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let judge = bin.join("judge");
    let install = || {
        fs::write(&judge, format!("#!/bin/sh\n{SCRIPT}")).unwrap();
        fs::set_permissions(&judge, fs::Permissions::from_mode(0o755)).unwrap();
    };
    install();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let Checked { env } = checked;
    let checked = Checked {
        env: env.with("PATH", &path),
    };
    checked.env.trust();
    checked.write("good.txt", BAD);
    lie(&checked, Comes::Runs);
    fs::remove_file(&judge).unwrap();
    lie(&checked, Comes::Loud("there is no program `judge`"));
    install();
    lie(&checked, Comes::Runs);
}
