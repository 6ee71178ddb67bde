//! What the check looks at: files that changed unnoticed, links, other repositories.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{BAD, Comes, lie, told};
use crate::check::{Checked, git};

#[test]
fn l01_an_unstaged_edit() {
    told(Comes::Runs, "", |it| it.write("good.txt", BAD));
}

#[test]
fn l02_a_staged_edit() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        it.git(&["add", "good.txt"]);
    });
}

#[test]
fn l03_a_bad_version_staged_and_a_good_one_on_the_disk_counts_as_it_is_on_the_disk() {
    told(Comes::Same, "", |it| {
        it.write("good.txt", BAD);
        it.git(&["add", "good.txt"]);
        it.write("good.txt", "yes\n");
    });
}

#[test]
fn l04_a_good_version_staged_and_a_bad_one_on_the_disk() {
    told(Comes::Runs, "", |it| {
        it.git(&["add", "good.txt"]);
        it.write("good.txt", BAD);
    });
}

#[test]
fn l05_a_bad_commit() {
    told(Comes::Runs, "", |it| {
        it.write("good.txt", BAD);
        it.commit();
    });
}

#[test]
fn l06_an_untracked_file() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; test ! -e bad.txt\"]\nenv = [\"COUNT\"]\n",
    );
    checked.env.trust();
    let checked = checked.green();
    checked.write("bad.txt", "");
    lie(&checked, Comes::Runs);
}

#[test]
fn l07_a_deleted_file() {
    told(Comes::Runs, "", |it| {
        fs::remove_file(it.path("good.txt")).unwrap();
    });
}

#[test]
fn l08_a_renamed_file() {
    told(Comes::Runs, "", |it| {
        fs::rename(it.path("good.txt"), it.path("other.txt")).unwrap();
    });
}

#[test]
fn l09_the_old_time_on_an_edited_file() {
    told(Comes::Runs, "", |it| {
        let path = it.path("good.txt");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "no!\n").unwrap();
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    });
}

#[test]
fn l10_the_old_size_and_time_on_an_edited_file() {
    told(Comes::Runs, "", |it| {
        let path = it.path("good.txt");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "nay\n").unwrap();
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    });
}

#[test]
fn l11_a_file_that_git_is_told_not_to_look_at() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        told(Comes::Runs, "", |it| {
            it.git(&["update-index", flag, "good.txt"]);
            it.write("good.txt", BAD);
        });
    }
}

#[test]
fn l12_a_filter_that_shows_git_another_content() {
    told(Comes::Runs, "", |it| {
        it.git(&["config", "filter.lie.clean", "echo yes"]);
        fs::write(it.path(".git/info/attributes"), "good.txt filter=lie\n").unwrap();
        it.write("good.txt", BAD);
    });
}

#[test]
fn l13_a_monitor_that_says_that_nothing_changed() {
    told(Comes::Runs, "", |it| {
        it.git(&["config", "core.fsmonitor", "true"]);
        it.git(&["config", "core.trustctime", "false"]);
        it.git(&["config", "core.checkStat", "minimal"]);
        it.write("good.txt", BAD);
    });
}

#[test]
fn l14_a_tracked_file_that_is_ignored_now() {
    told(Comes::Runs, "", |it| {
        it.write(".gitignore", "good.txt\n");
        it.write("good.txt", BAD);
    });
}

#[test]
fn l15_a_file_that_is_neither_tracked_nor_seen_by_a_rule_outside_of_the_tree() {
    told(Comes::Runs, "", |it| {
        it.git(&["rm", "--quiet", "--cached", "good.txt"]);
        fs::write(it.path(".git/info/exclude"), "good.txt\n").unwrap();
        it.write("good.txt", BAD);
    });
}

#[test]
fn l16_an_ignored_file_that_matters_counts_if_the_check_names_it() {
    let settings = |inputs: &str| {
        format!(
            "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; test ! -s local.cfg\"]\nenv = [\"COUNT\"]\n{inputs}\n"
        )
    };
    for (inputs, comes) in [
        ("inputs = [\"**\", \"local.cfg\"]", Comes::Runs),
        ("", Comes::Same),
    ] {
        let checked = Checked::untrusted(&settings(inputs));
        checked.write(".gitignore", "local.cfg\n");
        checked.write("local.cfg", "");
        checked.commit();
        checked.env.trust();
        let checked = checked.green();
        checked.write("local.cfg", "bad");
        lie(&checked, comes);
    }
}

#[test]
fn l17_a_file_outside_of_the_inputs_changes_nothing() {
    told(Comes::Same, "inputs = [\"*.txt\", \"test.sh\"]", |it| {
        it.write("docs/a.md", "new");
    });
}

#[test]
fn l18_an_input_by_its_pattern() {
    told(Comes::Runs, "inputs = [\"*.txt\"]", |it| {
        it.write("good.txt", BAD);
    });
}

#[test]
fn l27_a_link_to_a_file_outside_of_the_project() {
    let checked = Checked::new();
    let outside = checked.env.root().join("outside.txt");
    fs::write(&outside, "yes\n").unwrap();
    fs::remove_file(checked.path("good.txt")).unwrap();
    symlink(&outside, checked.path("good.txt")).unwrap();
    let checked = checked.green();
    fs::write(&outside, BAD).unwrap();
    lie(&checked, Comes::Runs);
}

#[test]
fn l28_a_link_to_a_folder_outside_of_the_project() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; grep -q yes data/x\"]\nenv = [\"COUNT\"]\n",
    );
    let outside = checked.env.root().join("data");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "yes\n").unwrap();
    symlink(&outside, checked.path("data")).unwrap();
    checked.env.trust();
    let checked = checked.green();
    fs::write(outside.join("x"), BAD).unwrap();
    lie(&checked, Comes::Runs);
}

#[test]
fn l29_another_target_for_a_link() {
    let checked = Checked::new();
    checked.write("a.txt", "yes\n");
    checked.write("b.txt", BAD);
    fs::remove_file(checked.path("good.txt")).unwrap();
    symlink("a.txt", checked.path("good.txt")).unwrap();
    let checked = checked.green();
    fs::remove_file(checked.path("good.txt")).unwrap();
    symlink("b.txt", checked.path("good.txt")).unwrap();
    lie(&checked, Comes::Runs);
}

#[test]
fn l30_a_file_in_a_submodule() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; grep -q yes sub/x\"]\nenv = [\"COUNT\"]\n",
    );
    let other = checked.env.root().join("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "--quiet"]);
    fs::write(other.join("x"), "yes\n").unwrap();
    git(&other, &["add", "--all"]);
    git(&other, &["commit", "--quiet", "-m", "x"]);
    checked.git(&[
        "submodule",
        "--quiet",
        "add",
        other.to_str().unwrap(),
        "sub",
    ]);
    checked.commit();
    checked.env.trust();
    let checked = checked.green();
    checked.write("sub/x", BAD);
    lie(&checked, Comes::Runs);
}

#[test]
fn l31_a_repository_in_the_repository() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; test ! -e in/bad\"]\nenv = [\"COUNT\"]\n",
    );
    checked.env.trust();
    let checked = checked.green();
    fs::create_dir(checked.path("in")).unwrap();
    git(&checked.path("in"), &["init", "--quiet"]);
    checked.write("in/bad", "");
    lie(&checked, Comes::Runs);
}

#[test]
fn l32_a_sparse_checkout_without_the_bad_file() {
    // The tree without it is another tree: the check runs over what is there.
    told(Comes::Runs, "", |it| {
        it.write("docs/a.md", "a");
        it.commit();
        it.git(&["sparse-checkout", "set", "--no-cone", "docs/", "test.sh"]);
    });
}

#[test]
fn l33_a_worktree_is_checked_by_itself() {
    let checked = Checked::new().green();
    let tree = checked.env.root().join("tree");
    checked.git(&[
        "worktree",
        "add",
        "--quiet",
        tree.to_str().unwrap(),
        "-b",
        "other",
    ]);
    fs::write(tree.join("good.txt"), BAD).unwrap();
    let text = checked.stop_in(&tree, "done").held();
    assert!(text.contains("assertion failed"), "{text}");
}

#[test]
fn l57_a_stop_in_another_worktree_does_not_leave_a_red_tree_behind() {
    let checked = Checked::new().green();
    let tree = checked.env.root().join("tree");
    checked.git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    checked.write("good.txt", BAD);
    checked.stop("one").held();
    // The worktree has the last commit, which is green.
    for words in ["two", "three"] {
        let text = checked.stop_in(&tree, words).held();
        let root = checked.env.project().canonicalize().unwrap();
        let place = format!("`tests` fails in {}, where", root.display());
        assert!(text.contains(&place), "{text}");
    }
    checked.write("good.txt", "yes\n");
    let said = checked.stop_in(&tree, "four").let_go();
    assert!(
        said.contains("tests pass at"),
        "only a run makes green: {said}"
    );
    // From here on, only the worktree counts.
    checked.write("good.txt", BAD);
    assert_eq!(checked.stop_in(&tree, "five").let_go(), "");
}

#[test]
fn l58_a_red_worktree_is_not_left_for_the_checkout_and_one_that_is_gone_holds_nothing() {
    let checked = Checked::new().green();
    let tree = checked.env.root().join("tree");
    checked.git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    fs::write(tree.join("good.txt"), BAD).unwrap();
    checked.stop_in(&tree, "one").held();
    let text = checked.stop("two").held();
    assert!(text.contains("assertion failed"), "{text}");
    checked.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    assert_eq!(checked.stop("three").let_go(), "");
}

#[test]
fn l59_a_link_to_a_file_of_the_project_that_is_no_input() {
    let checked = Checked::with("inputs = [\"*.txt\", \"test.sh\"]");
    checked.write("docs/a.md", "yes\n");
    fs::remove_file(checked.path("good.txt")).unwrap();
    symlink("docs/a.md", checked.path("good.txt")).unwrap();
    let checked = checked.green();
    checked.write("docs/a.md", BAD);
    lie(&checked, Comes::Runs);
}

#[test]
fn l60_a_link_behind_a_link_outside_of_the_project() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; grep -q yes data/x\"]\nenv = [\"COUNT\"]\n",
    );
    let outside = checked.env.root().join("data");
    fs::create_dir(&outside).unwrap();
    let far = checked.env.root().join("far.txt");
    fs::write(&far, "yes\n").unwrap();
    symlink(&far, outside.join("x")).unwrap();
    symlink(&outside, checked.path("data")).unwrap();
    checked.env.trust();
    let checked = checked.green();
    fs::write(&far, BAD).unwrap();
    lie(&checked, Comes::Runs);
}

#[test]
fn l61_a_pipe_in_the_place_of_a_file() {
    let checked = Checked::new().green();
    let path = checked.path("good.txt");
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    lie(
        &checked,
        Comes::Loud("cannot read good.txt: it is no regular file"),
    );
}

/// Git opens these itself, and would wait for a writer until its time is over.
#[test]
fn l73_a_pipe_in_the_place_of_a_file_that_git_reads() {
    for name in [".git/HEAD", ".gitignore", "src/a/.gitignore"] {
        let checked = Checked::new();
        checked.write("src/a/x", "");
        let checked = checked.green();
        let path = checked.path(name);
        let _ = fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let said = checked.stop("done").let_go();
        let says = format!("{name}: it is no regular file");
        assert!(said.contains(&says), "{said}");
        let seen = checked.env.run(&["check"]);
        assert!(seen.stdout.contains(&says), "{seen:?}");
    }
}

/// Where nobody trusts a check, no git is started to look at its files.
#[test]
fn l74_a_pipe_in_a_project_that_nobody_trusts() {
    let checked = Checked::untrusted("[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\n");
    let mark = checked.env.root().join("git-ran");
    let bin = checked.env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let git = bin.join("git");
    fs::write(&git, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let Checked { env } = checked;
    let checked = Checked {
        env: env.with("PATH", &path),
    };
    let said = checked.env.run(&["check"]).failed();
    assert!(said.contains("no check is trusted"), "{said}");
    assert!(!mark.exists());
}

#[test]
fn l75_a_name_that_speaks_like_us() {
    let checked = Checked::new().green();
    checked.write("good.txt", BAD);
    checked.write("z\n\nmainspring: all checks pass", "");
    let held = checked.stop("done").held();
    let shown =
        "Changed since it last passed: good.txt, \"z\\u000a\\u000amainspring: all checks pass\".";
    assert!(held.contains(shown), "{held}");
}

#[test]
fn l62_a_folder_among_the_inputs_means_everything_below_it() {
    for inputs in ["src", "src/", "./src/**", "./src"] {
        let checked = Checked::untrusted(&format!(
            "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"-c\", \"echo run >> $COUNT; grep -q yes src/a/x\"]\nenv = [\"COUNT\"]\ninputs = [\"{inputs}\"]\n",
        ));
        checked.write("src/a/x", "yes\n");
        checked.env.trust();
        let checked = checked.green();
        checked.write("src/a/x", BAD);
        lie(&checked, Comes::Runs);
    }
}

#[test]
fn l34_a_file_that_becomes_executable() {
    let checked = Checked::new().green();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(checked.path("good.txt"), mode).unwrap();
    let before = checked.runs();
    assert!(checked.stop("done").let_go().contains("tests pass at"));
    assert_eq!(checked.runs(), before + 1);
}
