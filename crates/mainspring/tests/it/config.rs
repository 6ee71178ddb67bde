//! `mainspring config get|set|unset|edit`: which file is written, what stays in it, and when it
//! counts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::env::TestEnv;

fn own_file(env: &TestEnv) -> PathBuf {
    env.home().join(".config/mainspring/config.toml")
}

const COMMENTED: &str = "# mine\n[review] # about reviews\n  models = [\"opus\"] # the large one\n\n# the end\n[unknown]\nx = 1\n";

#[test]
fn a_setting_is_written_into_ones_own_file_and_everything_else_stays() {
    let env = TestEnv::new();
    fs::create_dir_all(own_file(&env).parent().unwrap()).unwrap();
    fs::write(own_file(&env), COMMENTED).unwrap();
    let said = env
        .run(&["config", "set", "review.models", "haiku, sonnet"])
        .ok();
    let place = own_file(&env);
    let place = place.to_str().unwrap();
    assert!(
        said.contains(&format!(
            "review.models = [\"haiku\", \"sonnet\"] in {place}"
        )),
        "{said}"
    );
    let text = fs::read_to_string(own_file(&env)).unwrap();
    let expected = COMMENTED.replace("[\"opus\"]", "[\"haiku\", \"sonnet\"]");
    assert_eq!(text, expected);
    assert_eq!(
        env.run(&["config", "get", "review.models"]).ok(),
        "haiku,sonnet\n"
    );
    env.run(&["config", "set", "review.deadline", "5m"]).ok();
    assert_eq!(
        env.run(&["config", "get", "review.deadline"]).ok(),
        "300s\n"
    );
    let row = env
        .run(&["config", "get", "review.deadline", "--json"])
        .json();
    assert_eq!(row["from"], place);
    env.run(&["config", "unset", "review.deadline"]).ok();
    assert_eq!(fs::read_to_string(own_file(&env)).unwrap(), expected);
    let twice = env.run(&["config", "unset", "review.deadline"]).failed();
    assert!(twice.contains("is not set in"), "{twice}");
}

#[test]
fn every_kind_of_value_is_written_so_that_it_is_read_back() {
    let env = TestEnv::new();
    for (name, value, read) in [
        ("pulse.beats", "7", "7\n"),
        ("review.max_cost_usd", "2.50", "2.50\n"),
        ("review.command", "my \"reviewer\"", "my \"reviewer\"\n"),
        ("review.on_failure", "park", "park\n"),
        ("state.keep", "30d", "30d\n"),
        ("tasks.guard_active", "on", "true\n"),
        ("trust.roots", "~/a,/b c", "~/a,/b c\n"),
    ] {
        env.run(&["config", "set", name, value]).ok();
        assert_eq!(env.run(&["config", "get", name]).ok(), read, "{name}");
    }
    env.run(&["config", "check"]).ok();
}

#[test]
fn what_a_person_sets_in_a_trusted_project_counts_at_once_and_nothing_else_does() {
    let env = TestEnv::new();
    let file = env.project().join("mainspring.toml");
    let set = ["config", "set", "pulse.beats", "5", "--project"];
    let said = env.run(&set).ok();
    assert!(
        said.contains("this project is not trusted: `mainspring trust`"),
        "{said}"
    );
    assert_eq!(env.run(&["config", "get", "pulse.beats"]).ok(), "2\n");
    env.trust();
    let said = env
        .run(&["config", "set", "pulse.beats", "6", "--project"])
        .ok();
    assert!(said.contains("you trust it as it is now"), "{said}");
    assert_eq!(env.run(&["config", "get", "pulse.beats"]).ok(), "6\n");
    // Somebody else's change is not trusted along with it.
    let theirs = fs::read_to_string(&file).unwrap() + "[review]\nmax_cost_usd = 1\n";
    fs::write(&file, theirs).unwrap();
    let said = env
        .run(&["config", "set", "pulse.beats", "7", "--project"])
        .ok();
    assert!(
        said.contains("changes that you did not trust yet"),
        "{said}"
    );
    assert_eq!(env.run(&["config", "get", "pulse.beats"]).ok(), "6\n");
}

#[test]
fn what_cannot_be_set_is_refused_with_what_to_type_and_the_file_stays() {
    let env = TestEnv::new();
    let said = env.run(&["config", "set", "pulse.beets", "3"]).failed();
    assert!(said.contains("did you mean pulse.beats?"), "{said}");
    let said = env.run(&["config", "set", "pulse.beats", "many"]).failed();
    assert!(said.contains("not a whole number from 0 to 100"), "{said}");
    let said = env
        .run(&["config", "set", "review.command", "x", "--project"])
        .failed();
    assert!(said.contains("a project cannot set it"), "{said}");
    let said = env
        .agent("s", &["config", "set", "pulse.beats", "3"])
        .failed();
    assert!(said.contains("an agent cannot change settings"), "{said}");
    assert!(!own_file(&env).exists());
    fs::create_dir_all(own_file(&env).parent().unwrap()).unwrap();
    fs::write(own_file(&env), "[pulse\n").unwrap();
    let said = env.run(&["config", "set", "pulse.beats", "3"]).failed();
    assert!(said.contains("line 1"), "{said}");
    assert_eq!(fs::read_to_string(own_file(&env)).unwrap(), "[pulse\n");
}

#[test]
fn what_another_place_sets_is_said() {
    let env = TestEnv::new();
    env.trust();
    env.run(&["config", "set", "pulse.beats", "9"]).ok();
    let said = env
        .run(&["config", "set", "pulse.beats", "3", "--project"])
        .ok();
    assert!(said.contains("sets it to 9, which counts"), "{said}");
}

#[test]
fn an_editors_text_is_checked_before_it_counts() {
    let env = TestEnv::new();
    let editor = |script: &str| {
        let file = env.root().join("my editor");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = env.command();
        command.args(["config", "edit"]);
        command.env("EDITOR", format!("'{}' -w", file.display()));
        crate::env::finish(&mut command, b"")
    };
    let said = editor("printf '[pulse]\\nbeats = 4\\n' > \"$2\"").ok();
    assert!(said.contains("config.toml is written"), "{said}");
    assert_eq!(env.run(&["config", "get", "pulse.beats"]).ok(), "4\n");
    assert!(editor("true").ok().contains("is unchanged"));
    let said = editor("echo '[pulse' > \"$2\"").failed();
    assert!(
        said.contains("line 1") && said.contains("your text is kept in"),
        "{said}"
    );
    assert_eq!(env.run(&["config", "get", "pulse.beats"]).ok(), "4\n");
    let said = editor("exit 1").failed();
    assert!(said.contains("nothing was changed"), "{said}");
}
