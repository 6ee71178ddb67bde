//! What `install`, `uninstall` and `trust` ask and say.

use std::fs;

use crate::env::TestEnv;

#[test]
fn enter_writes_what_install_shows_and_trusts_no_project() {
    let env = TestEnv::new();
    let said = env.answering(&env.project(), &["install"], "\n\n\n\n\n");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("Write this? [Y/n]"), "{said:?}");
    assert!(env.home().join(".claude/settings.json").exists());
    assert!(
        said.stdout.contains("registered for every project. "),
        "{said:?}"
    );
    let local = ["install", "--scope", "local"];
    let said = env.answering(&env.project(), &local, "\n");
    let question = format!("Write this, and trust {}? [y/N]", env.project().display());
    assert!(said.stdout.contains(&question), "{said:?}");
    assert!(said.stdout.contains("nothing was changed"), "{said:?}");
    assert!(!env.project().join(".claude/settings.local.json").exists());
    let list = env.run(&["trust", "--list"]).ok();
    assert!(list.contains("no project is trusted"), "{list}");
}

#[test]
fn a_no_is_no_error() {
    let env = TestEnv::new();
    let said = env.answering(&env.project(), &["trust"], "\n");
    assert!(said.stdout.contains("Trust it? [y/N]"), "{said:?}");
    assert!(said.stdout.contains("nothing was changed"), "{said:?}");
    assert!(!said.stdout.contains("error"), "{said:?}");
    assert_eq!(said.code, Some(1));
}

/// The paths that a preview lists with this sign.
fn listed(preview: &str, sign: &str) -> Vec<String> {
    let lines = preview.lines().take_while(|line| !line.is_empty());
    let paths = lines.filter_map(|line| line.strip_prefix(sign));
    paths.map(|path| path.trim().to_owned()).collect()
}

#[test]
fn a_preview_begins_with_the_files_that_change() {
    let env = TestEnv::new();
    let preview = env.run(&["install", "--dry-run"]).ok();
    let settings = env.home().join(".claude/settings.json");
    let first = preview.lines().next().unwrap();
    let begins = format!("{}: ", settings.display());
    assert!(
        first.starts_with(&begins) && first.ends_with(" lines added"),
        "{preview}"
    );
    let added = listed(&preview, "+ ");
    assert!(added.len() > 3, "{preview}");
    env.run(&["install", "--yes"]).ok();
    for path in &added {
        assert!(fs::exists(path).unwrap(), "{path}");
    }
    let preview = env.run(&["uninstall", "--dry-run"]).ok();
    let mut gone = listed(&preview, "- ");
    assert_eq!(gone.remove(0), settings.to_str().unwrap(), "{preview}");
    gone.sort();
    let mut expected = added.clone();
    expected.sort();
    assert_eq!(gone, expected, "uninstall lists what install listed");
    env.run(&["uninstall", "--yes"]).ok();
    for path in &added {
        assert!(!fs::exists(path).unwrap(), "{path}");
    }
}

#[test]
fn uninstall_says_what_becomes_of_the_trust() {
    let env = TestEnv::new();
    let project = env.project();
    let project = project.display();
    env.run(&["install", "--yes", "--trust"]).ok();
    let ends = format!("the trust of {project} ends: the installation granted it\n");
    let preview = env.run(&["uninstall", "--dry-run"]).ok();
    assert!(preview.contains(&ends), "{preview}");
    let said = env.run(&["uninstall", "--yes"]).ok();
    assert!(said.contains(&ends), "{said}");
    env.run(&["trust", "--yes"]).ok();
    env.run(&["install", "--yes"]).ok();
    let stays = format!("the trust of {project} stays\n");
    let preview = env.run(&["uninstall", "--dry-run"]).ok();
    assert!(preview.contains(&stays), "{preview}");
    let said = env.run(&["uninstall", "--yes"]).ok();
    assert!(said.contains(&stays), "{said}");
    let list = env.run(&["trust", "--list"]).ok();
    assert!(list.contains(&project.to_string()), "{list}");
}

#[test]
fn a_second_install_says_that_the_project_is_trusted_and_asks_for_no_restart() {
    let env = TestEnv::new();
    let first = env.run(&["install", "--yes", "--trust"]).ok();
    assert!(first.contains("restart claude"), "{first}");
    let again = env.run(&["install", "--yes"]).ok();
    assert!(!again.contains("mainspring trust"), "{again}");
    assert!(!again.contains("restart"), "{again}");
    let trusted = format!("{} is trusted\n", env.project().display());
    assert!(again.contains(&trusted), "{again}");
}

#[test]
fn the_local_settings_repeat_nothing_of_the_user_settings_and_doctor_agrees() {
    let env = TestEnv::new();
    env.run(&["install", "--yes", "--trust"]).ok();
    let local = ["install", "--scope", "local"];
    let said = env.answering(&env.project(), &local, "\n");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stdout.matches("[Y/n]").count(), 1, "{said:?}");
    let file = env.project().join(".claude/settings.local.json");
    let text = fs::read_to_string(file).unwrap();
    assert!(
        !text.contains("\"env\"") && !text.contains("statusLine"),
        "{text}"
    );
    let advice = "The user settings are enough";
    let fix = "mainspring uninstall --scope local";
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains(&format!("{advice}: `{fix}`")), "{said:?}");
    let doctor = env.run(&["doctor"]).stdout;
    assert!(doctor.contains(advice) && doctor.contains(fix), "{doctor}");
}
