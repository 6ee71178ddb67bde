//! Completions and the manual, made by the program itself.

use std::fs;

use crate::env::TestEnv;

/// A fresh home does not have the folders that the tutorial names.
#[test]
fn completions_and_pages_are_written_into_folders_that_are_not_there_yet() {
    let env = TestEnv::new();
    for (shell, name) in [
        ("bash", "mainspring.bash"),
        ("zsh", "_mainspring"),
        ("fish", "mainspring.fish"),
    ] {
        let dir = env.home().join("deep/er").join(shell);
        let dir = dir.to_str().unwrap();
        let said = env.run(&["completions", shell, "--dir", dir]).ok();
        assert_eq!(said, format!("{dir}/{name}\n"));
        let text = fs::read_to_string(said.trim_end()).unwrap();
        assert!(text.contains("handoff"), "{shell}");
        assert_eq!(env.run(&["completions", shell]).ok(), text, "{shell}");
    }
    let dir = env.home().join("man1");
    let said = env.run(&["man", "--dir", dir.to_str().unwrap()]).ok();
    let help = env.run(&["--help"]).ok();
    let commands = help.split_once("Commands:\n").unwrap().1;
    let commands = commands.split_once("\n\n").unwrap().0;
    let commands = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        // These have a page, although the help is not full of them.
        .chain(["hook", "compat", "man", "completions"]);
    let mut pages = 1;
    for command in commands {
        let page = fs::read_to_string(dir.join(format!("mainspring-{command}.1"))).unwrap();
        assert!(
            page.contains(&format!(".TH mainspring-{command} 1")),
            "{page}"
        );
        pages += 1;
    }
    assert_eq!(said.lines().count(), pages);
    assert!(dir.join("mainspring.1").is_file());
}

#[test]
fn a_page_that_goes_to_no_terminal_is_plain_text() {
    let env = TestEnv::new();
    let page = env.run(&["man", "claim"]).ok();
    assert!(page.contains("Usage: mainspring claim"), "{page}");
    assert!(
        env.run(&["man"])
            .ok()
            .contains("Usage: mainspring <COMMAND>")
    );
    let error = env.run(&["man", "opera"]).failed();
    assert!(error.contains("there is no command `opera`"), "{error}");
}
