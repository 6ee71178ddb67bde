//! `why` by number, and what other commands say when something is missing.

use std::fs;

use crate::env::TestEnv;

#[test]
fn why_explains_the_record_that_log_numbers() {
    let env = TestEnv::new();
    env.run(&["pulse", "3"]).ok();
    env.stop("one").held();
    env.stop("two").held();
    let log = env.run(&["log"]).ok();
    let number = |line: &str| {
        let at = line.find('#').unwrap() + 1;
        let digits = line[at..].chars().take_while(char::is_ascii_digit);
        digits.collect::<String>()
    };
    let numbers: Vec<String> = log.lines().map(number).collect();
    assert_eq!(numbers.len(), 3, "{log}");
    let command = env.run(&["why", &numbers[0]]).ok();
    assert!(command.starts_with("mainspring pulse"), "{command}");
    let first = env.run(&["why", &numbers[1]]).ok();
    let begins = format!("#{} stop held", numbers[1]);
    assert!(first.starts_with(&begins), "{first}");
    let missing = env.run(&["why", "999"]).failed();
    assert!(missing.contains("has no record #999"), "{missing}");
    let last = env.run(&["why"]).ok();
    let begins = format!("#{} stop held", numbers[2]);
    assert!(last.starts_with(&begins), "{last}");
    let note = "A later stop at which no machine applied is not recorded: the agent was let go.\n";
    assert!(last.ends_with(note), "{last}");
}

#[test]
fn claim_says_that_there_is_no_repository() {
    let env = TestEnv::new();
    let bin = env.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/true", bin.join("gh")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let env = env.with("PATH", &path);
    let said = env.run(&["claim", "3"]).failed();
    let first = format!("error: {} is no git repository", env.project().display());
    assert!(said.starts_with(&first), "{said}");
}

#[test]
fn claim_says_where_gh_comes_from() {
    let env = TestEnv::new();
    let bin = env.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink("/usr/bin/git", bin.join("git")).unwrap();
    let env = env.with("PATH", bin.to_str().unwrap());
    let said = env.run(&["claim", "3"]).failed();
    assert!(
        said.contains("gh is not installed: install it from https://cli.github.com, or set"),
        "{said}"
    );
}

#[test]
fn doctor_names_the_setting_of_a_missing_notify_send() {
    let env = TestEnv::new();
    let env = env.with("PATH", "/nowhere");
    env.run(&["config", "set", "notify.desktop", "on"]).ok();
    let doctor = env.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("mainspring config set notify.desktop off"),
        "{doctor}"
    );
}

#[test]
fn state_calls_no_aborted_loop_on() {
    let env = TestEnv::new();
    env.agent("s", &["loop", "start"]).ok();
    let state = env.run(&["debug", "state"]).ok();
    assert!(state.contains("loop is on"), "{state}");
    env.agent("s", &["loop", "abort"]).ok();
    let state = env.run(&["debug", "state"]).ok();
    assert!(!state.contains("loop is on"), "{state}");
}

#[test]
fn a_pause_says_when_it_ends_and_how_long_it_is() {
    let env = TestEnv::new();
    let said = env.run(&["pause", "5m"]).ok();
    assert!(said.contains(" UTC, in 5m; `mainspring resume`"), "{said}");
}
