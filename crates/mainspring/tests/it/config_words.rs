//! What `config set` and `config unset` say and write.

use std::fs;

use crate::env::TestEnv;

#[test]
fn a_switch_that_counts_more_than_the_setting_is_named() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    env.run(&["gate", "off", "--project"]).ok();
    let said = env.run(&["config", "set", "gate.enabled", "on"]).ok();
    let named = "but `mainspring gate off --project` counts here; `mainspring gate on --project` \
                 undoes it\n";
    assert!(said.ends_with(named), "{said}");
    env.run(&["gate", "on", "--project"]).ok();
    let said = env.run(&["config", "set", "gate.enabled", "on"]).ok();
    assert!(!said.contains("but "), "{said}");
}

#[test]
fn set_prints_what_it_writes() {
    let env = TestEnv::new();
    let said = env.run(&["config", "set", "loop.ttl", "3h"]).ok();
    assert!(said.starts_with("loop.ttl = \"3h\" in "), "{said}");
    let file = env.home().join(".config/mainspring/config.toml");
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains("ttl = \"3h\""), "{text}");
}

#[test]
fn what_counts_until_the_project_is_trusted_is_named() {
    let env = TestEnv::new();
    let set = ["config", "set", "pulse.beats", "3", "--project"];
    let waits = "this project is not trusted: `mainspring trust` lets it count\n\
                 until then the default, 2, counts\n";
    for _ in 0..2 {
        let said = env.run(&set).ok();
        assert!(said.ends_with(waits), "{said}");
    }
    env.run(&["trust", "--yes"]).ok();
    let said = env.run(&set).ok();
    assert!(!said.contains("until then"), "{said}");
}

#[test]
fn unset_takes_a_bare_section_away_and_keeps_one_with_a_comment() {
    let env = TestEnv::new();
    let file = env.home().join(".config/mainspring/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let unset = ["config", "unset", "pulse.beats"];
    for (before, after) in [
        ("[pulse]\nbeats = 3\n", ""),
        (
            "[pulse]\nbeats = 3\n\n[loop]\nttl = \"3h\"\n",
            "\n[loop]\nttl = \"3h\"\n",
        ),
        ("# mine\n[pulse]\nbeats = 3\n", "# mine\n[pulse]\n"),
        ("[pulse]\nbeats = 3\n# mine\n", "[pulse]\n# mine\n"),
        ("[pulse] # mine\nbeats = 3\n", "[pulse] # mine\n"),
    ] {
        fs::write(&file, before).unwrap();
        env.run(&unset).ok();
        assert_eq!(fs::read_to_string(&file).unwrap(), after, "{before}");
    }
    let said = env.run(&unset).failed();
    assert!(
        said.contains("`mainspring config` shows where each value comes from"),
        "{said}"
    );
}

#[test]
fn an_agent_that_is_refused_names_the_whole_command() {
    let env = TestEnv::new();
    env.run(&["install", "--yes"]).ok();
    for args in [
        &["config", "set", "notify.desktop", "on"][..],
        &["config", "unset", "notify.desktop", "--project"],
        &["untrust", "/an/old one"],
        &["install", "--scope", "local", "--yes"],
        &["uninstall", "--all", "--yes"],
        &["debug", "state", "purge", "--yes"],
    ] {
        let said = env.agent("s", args).failed();
        let line = args.join(" ").replace("/an/old one", "'/an/old one'");
        let next = format!("tell the user to run `mainspring {line}` in their own terminal");
        assert!(said.contains(&next), "{said}");
    }
}
