//! The commands: what people type about checks.

use std::fs;
use std::path::PathBuf;

use mainspring_testkit::process::{Running, wait_until};
use pretty_assertions::assert_eq;

use super::Checked;

#[test]
fn the_view_says_what_is_known_about_this_tree() {
    let checked = Checked::new();
    let row = |checked: &Checked| checked.env.run(&["check", "--json"]).json()["checks"][0].clone();
    assert_eq!(row(&checked)["now"], "unknown");
    let checked = checked.green();
    assert_eq!(row(&checked)["now"], "pass");
    checked.write("good.txt", "no\n");
    assert_eq!(row(&checked)["now"], "unknown", "another tree");
    let _ = checked.stop("done").held();
    let red = row(&checked);
    assert_eq!(
        (&red["now"], &red["last"]["cause"]),
        (&"fail".into(), &"exit code 3".into())
    );
    let text = checked.env.run(&["check"]).ok();
    assert!(text.contains("tests  fail  at "), "{text}");
    assert!(
        checked
            .env
            .run(&["check", "log", "tests"])
            .ok()
            .contains("good.txt says no")
    );
    assert!(
        checked
            .env
            .run(&["check", "log", "x"])
            .failed()
            .contains("the checks are tests")
    );
    assert!(checked.env.run(&["status"]).ok().contains("tests fail at"));
}

#[test]
fn without_a_check_the_view_says_how_to_get_one() {
    let checked = Checked::untrusted("");
    let text = checked.env.run(&["check"]).failed();
    assert!(text.contains("check init"), "{text}");
}

#[test]
fn a_person_runs_the_checks_and_the_result_counts_at_the_stop() {
    let checked = Checked::new();
    let ran = checked.env.run(&["check", "run"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("tests pass at"), "{ran:?}");
    assert!(
        ran.stderr.contains("tests: running, for the first time"),
        "{ran:?}"
    );
    assert_eq!(checked.stop("done").let_go(), "");
    assert_eq!(checked.runs(), 1);
    checked.write("good.txt", "no\n");
    let ran = checked.env.run(&["check", "run", "tests"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("`tests` fails"), "{ran:?}");
    assert!(ran.stderr.contains("last time"), "{ran:?}");
    // It speaks to a person.
    assert!(!ran.stdout.contains("then stop again"), "{ran:?}");
    assert!(
        ran.stdout
            .contains("    | assertion failed: good.txt says no"),
        "{ran:?}"
    );
}

#[test]
fn what_could_not_run_is_no_success_and_names_no_output_that_is_not_there() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"zero\"\nrun = [\"no-such-program\"]\n\
         [[check]]\nname = \"one\"\nrun = [\"sh\", \"-c\", \"echo first; exit 1\"]\n\
         [[check]]\nname = \"two\"\nrun = [\"echo\", \"second\"]\n",
    );
    checked.env.trust();
    let ran = checked.env.run(&["check", "run", "zero"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("zero could not run"), "{ran:?}");
    assert!(!ran.stdout.contains("check log"), "{ran:?}");
    let ran = checked.env.run(&["check", "run"]);
    assert!(ran.stdout.contains("two pass at"), "{ran:?}");
    assert!(ran.stdout.contains("`one` fails: exit code 1"), "{ran:?}");
    // Without a name, the log of one that did not pass is meant.
    assert_eq!(checked.env.run(&["check", "log"]).ok(), "first\n");
}

#[test]
fn a_check_is_proved_by_its_canary_and_one_that_cannot_go_red_is_refused() {
    let checked = Checked::with("canary = { patch = \"canary.patch\" }");
    checked.write(
        "canary.patch",
        "--- a/good.txt\n+++ b/good.txt\n@@ -1 +1 @@\n-yes\n+no\n",
    );
    let text = checked.env.run(&["check", "prove", "tests"]).ok();
    assert!(
        text.contains("tests goes red with its canary (exit code 3)"),
        "{text}"
    );
    checked.write("test.sh", "exit 0\n");
    checked.commit();
    let text = checked.env.run(&["check", "prove", "tests"]).failed();
    assert!(
        text.contains("it cannot go red, so it proves nothing"),
        "{text}"
    );
    assert!(!tree(&checked).exists(), "no worktree is left");
    let bare = Checked::new();
    assert!(
        bare.env
            .run(&["check", "prove", "tests"])
            .failed()
            .contains("has no canary")
    );
}

fn tree(checked: &Checked) -> PathBuf {
    checked.env.project_state().join("checks/tree")
}

#[test]
fn a_worktree_that_a_killed_command_left_is_taken_away_by_the_next_one_and_by_a_stop() {
    let checked = Checked::with("canary = { patch = \"canary.patch\" }");
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; test -e stay && sleep 600\nexit 0\n",
    );
    checked.write("stay", "");
    checked.commit();
    fs::remove_file(checked.path("stay")).unwrap();
    let worktrees = || {
        let folder = checked.path(".git/worktrees");
        fs::read_dir(folder).map_or(0, Iterator::count)
    };
    let kill_in_the_middle = || {
        let before = checked.runs();
        let mut command = checked.env.command();
        let proving = Running::start(command.args(["check", "prove", "tests"]));
        wait_until("the check runs", || checked.runs() == before + 1);
        let second = checked.env.run(&["check", "prove", "tests"]).failed();
        assert!(second.contains("another `check prove`"), "{second}");
        proving.kill();
        assert!(tree(&checked).exists());
        assert_eq!(worktrees(), 1);
    };
    kill_in_the_middle();
    let said = checked.stop("done").let_go();
    assert!(said.contains("tests pass at"), "{said}");
    assert!(!tree(&checked).exists());
    assert_eq!(worktrees(), 0, "git knows of none");
    kill_in_the_middle();
    checked.write("canary.patch", "no patch\n");
    checked.commit();
    let text = checked.env.run(&["check", "prove", "tests"]).failed();
    assert!(text.contains("git apply"), "{text}");
    assert!(!tree(&checked).exists());
    assert_eq!(worktrees(), 0);
}

#[test]
fn init_proposes_what_the_project_is_and_an_edit_counts_when_it_is_trusted() {
    let checked = Checked::untrusted("[gate]\nenabled = false\n");
    assert!(
        checked
            .env
            .run(&["check", "init", "--yes"])
            .failed()
            .contains("which checks")
    );
    checked.write("Cargo.toml", "[package]\n");
    checked.write(
        "package.json",
        "{\"scripts\": {\"test\": \"x\", \"typecheck\": \"y\"}}",
    );
    checked.write("Makefile", "all:\n\ntest:\n\techo\n");
    let told = checked.env.run(&["check", "init", "--yes"]).ok();
    assert!(told.contains("tests, lint, types"), "{told}");
    let text = fs::read_to_string(checked.path("mainspring.toml")).unwrap();
    assert!(
        text.starts_with(
            "[gate]\nenabled = false\n\n[[check]]\nname = \"tests\"\nrun = [\"cargo\", \"test\"]\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("run = [\"npm\", \"run\", \"typecheck\"]"),
        "{text}"
    );
    assert!(
        checked
            .env
            .run(&["check", "init", "--yes"])
            .failed()
            .contains("every check")
    );
    checked.env.run(&["config", "check"]).ok();
    assert!(
        checked
            .env
            .run(&["check"])
            .failed()
            .contains("no check is trusted")
    );
    checked.env.trust();
    assert!(checked.env.run(&["check"]).ok().contains("cargo test"));
}

#[test]
fn init_knows_cargo_npm_pytest_go_and_make_by_their_files() {
    type Files = &'static [(&'static str, &'static str)];
    let projects: [(Files, &[&str]); 7] = [
        (
            &[("Cargo.toml", "[package]\n"), (".config/nextest.toml", "")],
            &["cargo nextest run", "cargo clippy"],
        ),
        (
            &[(
                "package.json",
                r#"{"scripts": {"test": "x", "lint": "y", "build": "z"}}"#,
            )],
            &["npm run test", "npm run lint", "npm run build"],
        ),
        (
            &[
                ("package.json", r#"{"scripts": {"test": "x"}}"#),
                ("pnpm-lock.yaml", ""),
            ],
            &["pnpm run test"],
        ),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
            &["python3 -m pytest -q"],
        ),
        (&[("conftest.py", "")], &["python3 -m pytest -q"]),
        (
            &[("go.mod", "module x\n")],
            &["go test ./...", "go vet ./..."],
        ),
        (&[("Makefile", "all:\n\ntest:\n\techo\n")], &["make test"]),
    ];
    for (files, commands) in projects {
        let checked = Checked::untrusted("");
        for (name, text) in files {
            checked.write(name, text);
        }
        checked.env.run(&["check", "init", "--yes"]).ok();
        let text = fs::read_to_string(checked.path("mainspring.toml")).unwrap();
        for command in commands {
            let words: Vec<String> = command.split(' ').map(|word| format!("{word:?}")).collect();
            assert!(text.contains(&words.join(", ")), "{files:?}: {text}");
        }
    }
}

#[test]
fn what_a_person_writes_with_init_is_trusted_in_that_step_and_nothing_else_is() {
    let checked = Checked::untrusted("[gate]\nenabled = false\n");
    checked.env.trust();
    checked.write("go.mod", "module x\n");
    let proves = |text: String, counts: bool| {
        assert_eq!(text.contains("and you trust them"), counts, "{text}");
        let shown = checked.env.run(&["check"]);
        assert_eq!(shown.code == Some(0), counts, "{shown:?}");
    };
    // An agent trusts nothing by writing it.
    proves(
        checked.env.agent("s", &["check", "init", "--yes"]).ok(),
        false,
    );
    // Nor does a person who has not seen what else is new in the file.
    checked.write("mainspring.toml", "[gate]\nenabled = true\n");
    proves(checked.env.run(&["check", "init", "--yes"]).ok(), false);
    checked.write("mainspring.toml", "[gate]\nenabled = false\n");
    proves(checked.env.run(&["check", "init", "--yes"]).ok(), true);
    let said = checked.env.run(&["trust", "--yes"]).ok();
    assert!(said.contains("is trusted already, as it is now"), "{said}");
}

#[test]
fn a_definition_with_a_mistake_is_not_trusted_and_the_place_is_named() {
    let checked = Checked::untrusted("[[check]]\nname = \"tests\"\nrum = [\"x\"]\n");
    let text = checked.env.run(&["trust", "--yes"]).failed();
    assert!(text.contains("needs `run`"), "{text}");
    let missing =
        Checked::untrusted("[[check]]\nname = \"t\"\nrun = [\"x\"]\npins = [\"ci.sh\"]\n");
    let text = missing.env.run(&["trust", "--yes"]).failed();
    assert!(
        text.contains("ci.sh") && text.contains("it is not there"),
        "{text}"
    );
}

#[test]
fn a_changed_pin_can_be_trusted_again() {
    let checked = Checked::with("pins = [\"test.sh\"]").green();
    checked.write("test.sh", &format!("# better\n{}", super::SCRIPT));
    let text = checked.stop("done").held();
    assert!(
        text.contains("test.sh is not what the user trusted"),
        "{text}"
    );
    let text = checked.env.run(&["check"]).ok();
    assert!(text.contains("test.sh is not as you trusted it"), "{text}");
    checked.env.trust();
    assert!(checked.again("done").let_go().contains("tests pass at"));
}
