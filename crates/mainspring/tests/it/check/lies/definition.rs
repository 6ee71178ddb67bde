//! What the check is: its definition, its settings, its scripts.

use std::fs;
use std::os::unix::fs::symlink;

use super::{BAD, Comes, lie, told};
use crate::check::Checked;

#[test]
fn l19_the_check_edited_runs_as_it_was_trusted() {
    let checked = Checked::new().green();
    checked.write("good.txt", BAD);
    checked.write(
        "mainspring.toml",
        "[[check]]\nname = \"tests\"\nrun = [\"true\"]\n",
    );
    let answer = checked.stop("one");
    assert!(
        answer
            .stdout
            .contains("is not the version that you trusted"),
        "{answer:?}"
    );
    assert!(answer.held().contains("assertion failed"));
    let answer = checked.again("two");
    assert!(
        !answer.stdout.contains("version that you trusted"),
        "told once: {answer:?}"
    );
}

#[test]
fn l20_the_check_removed_runs_as_it_was_trusted() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        it.write("mainspring.toml", "[gate]\nenabled = false\n");
    });
}

#[test]
fn l21_mainspring_toml_deleted() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        fs::remove_file(it.path("mainspring.toml")).unwrap();
    });
}

#[test]
fn l22_mainspring_toml_replaced_by_a_link() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        it.write(
            "easy.toml",
            "[[check]]\nname = \"tests\"\nrun = [\"true\"]\n",
        );
        fs::remove_file(it.path("mainspring.toml")).unwrap();
        symlink("easy.toml", it.path("mainspring.toml")).unwrap();
    });
}

#[test]
fn l23_an_older_trusted_version_without_the_check() {
    let checked = Checked::untrusted("[gate]\nenabled = false\n");
    checked.env.trust();
    let settings = "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\n";
    checked.write("mainspring.toml", settings);
    checked.env.trust();
    let checked = checked.green();
    checked.write("good.txt", BAD);
    checked.write("mainspring.toml", "[gate]\nenabled = false\n");
    lie(&checked, Comes::Runs);
}

#[test]
fn l24_a_script_that_is_made_to_succeed() {
    // An input as any other: it runs, and is believed. That is what a pin is for.
    let checked = Checked::new().green();
    checked.write("good.txt", BAD);
    checked.write("test.sh", "echo run >> \"$COUNT\"\n");
    assert!(checked.stop("done").let_go().contains("tests pass at"));
}

#[test]
fn l25_a_pinned_script_that_is_made_to_succeed() {
    told(Comes::Holds, "pins = [\"test.sh\"]", |it| {
        it.write("test.sh", "exit 0\n");
    });
}

#[test]
fn l26_a_pinned_script_that_is_deleted_or_a_link() {
    told(Comes::Holds, "pins = [\"test.sh\"]", |it| {
        fs::remove_file(it.path("test.sh")).unwrap();
    });
    told(Comes::Holds, "pins = [\"test.sh\"]", |it| {
        fs::rename(it.path("test.sh"), it.path("same.sh")).unwrap();
        symlink("same.sh", it.path("test.sh")).unwrap();
    });
}
