//! A repository or another user puts a symlink where we read or write: nothing is written
//! behind it, and every stop gets an answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::tree;
use crate::env::TestEnv;

const PAGE: &str = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 9\n---\n\nGo.\n";
const STATE: &str = r#"{"max_reviews":8,"current_task":null,"phase":"new-plan","phase_iteration":0,"next_phase":"plan-review","review_model":"opus","consecutive_clean":0,"tdd":false}"#;
const CLAIM: &str =
    r#"{"schema_version":1,"issue_number":42,"branch":"b","phase":"ready_for_pr","summary":"x"}"#;

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The symlink's path relative to the test's root, and the outside file that it would reach.
/// `{state}` is the project's folder in our own state.
const LINKS: [(&str, &str, &str); 20] = [
    ("project/.claude", "idle-loop.local.md", PAGE),
    ("project/.claude/idle-loop.local.md", "", PAGE),
    ("project/.claude/.idle-loop.local.md.mainspring", "", ""),
    ("project/.taskie", "plans/demo/state.json", STATE),
    ("project/.taskie/plans", "demo/state.json", STATE),
    ("project/.taskie/plans/demo", "state.json", STATE),
    ("project/.taskie/plans/demo/state.json", "", STATE),
    ("project/.taskie/plans/demo/tasks.md", "", "| Id |\n"),
    ("project/.agent-claim.json", "", CLAIM),
    ("project/mainspring.toml", "", "[gate]\nenabled = true\n"),
    ("{state}/loop-of-s.json", "", "{}"),
    ("{state}/.loop-of-s.json.mainspring", "", ""),
    ("{state}/lock", "", ""),
    ("{state}/journal.jsonl", "", ""),
    ("tmp/taskmaster/.s.mainspring", "", ""),
    ("{state}/sessions/s.json", "", "{}"),
    ("{state}/orders.json", "", "{}"),
    ("tmp/taskmaster", "s", "1"),
    ("tmp/taskmaster/s", "", "1"),
    ("home/.local/state/mainspring", "trusted/x.json", "{}"),
];

#[test]
fn nothing_is_written_at_the_other_end_of_a_link() {
    let mut cases = 0;
    for (link, below, text) in LINKS {
        for absolute in [true, false] {
            let env = TestEnv::new();
            env.trust();
            env.agent("s", &["gate", "on"]).ok();
            env.agent("s", &["loop", "start", "--max", "9"]).ok();
            let outside = env.root().join("outside");
            let target = if below.is_empty() {
                outside.join("file")
            } else {
                outside.join("folder")
            };
            put(&target.join(below).components().collect::<PathBuf>(), text);
            let state = env.project_state().display().to_string();
            let place = match link.strip_prefix("{state}") {
                Some(rest) => PathBuf::from(format!("{state}{rest}")),
                None => env.root().join(link),
            };
            if link.starts_with("project/.claude") {
                // A loop in our own store would hide the one in the Markdown file.
                env.agent("s", &["loop", "abort"]).ok();
            }
            remove(&place);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            if absolute {
                symlink(&target, &place).unwrap();
            } else {
                let up = place.strip_prefix(env.root()).unwrap().components().count() - 1;
                let to = target.strip_prefix(env.root()).unwrap();
                symlink(Path::new(&"../".repeat(up)).join(to), &place).unwrap();
            }
            let before = tree(&outside);
            for words in ["one", "two", "TASKMASTER_DONE::s"] {
                let ran = env.stop(words);
                assert_eq!(ran.code, Some(0), "{link}: {ran:?}");
                assert!(!ran.stdout.contains("internal error"), "{link}: {ran:?}");
            }
            let _ = env.agent("s", &["loop", "start"]);
            let _ = env.run(&["gate", "off", "--session", "s"]);
            assert_eq!(tree(&outside), before, "{link}");
            cases += 1;
        }
    }
    assert_eq!(cases, 40);
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// The message names the reason: a person who linked a folder on purpose must not have to
/// guess.
#[test]
fn a_project_file_behind_a_link_is_named() {
    let env = TestEnv::new();
    env.trust();
    let elsewhere = env.root().join("elsewhere");
    put(&elsewhere.join("idle-loop.local.md"), PAGE);
    symlink(&elsewhere, env.project().join(".claude")).unwrap();
    let said = env.stop("x").let_go();
    assert!(
        said.contains("symbolic link") && said.contains("idle-loop.local.md"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(elsewhere.join("idle-loop.local.md")).unwrap(),
        PAGE
    );
}

/// Ids of every kind, as a host or an attacker may send them: everything that is created has a
/// plain name in our own folders.
#[test]
fn no_session_id_leaves_its_folder() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    let long = "x".repeat(300);
    let ids = [
        "..",
        "../..",
        "../../../../tmp/owned",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "CON",
        "nul.",
        "a.",
        " ",
        ".",
        "~",
        "$(id)",
        "`id`",
        "a\nb",
        "a\u{0}b",
        "\u{202e}",
        "e\u{301}",
        "\u{e9}",
        "-rf",
        "--",
        "*",
        "?",
        "%2e%2e%2f",
        "\u{feff}",
        "null",
        "",
        "#",
        "lock",
        &long,
    ];
    for id in ids {
        let ran = env.stop_of(id, "x");
        assert_eq!(ran.code, Some(0), "{id:?}: {ran:?}");
    }
    let allowed = [env.state(), env.tmp().join("taskmaster")];
    for (path, bytes) in tree(&env.root()) {
        if bytes == b"folder" {
            continue;
        }
        assert!(
            allowed.iter().any(|folder| path.starts_with(folder)),
            "{}",
            path.display()
        );
        let name = path.file_name().unwrap().to_str().unwrap();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.#".contains(c);
        assert!(name.len() <= 110 && name.chars().all(plain), "{name:?}");
    }
}

/// Another user was there first, with a folder of their own or one that they can write to.
#[test]
fn what_another_user_made_is_not_used() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let other = Some(65_534);
    let env = TestEnv::new();
    fs::create_dir_all(env.state()).unwrap();
    if chown(env.state(), other, other).is_err() {
        eprintln!("skipped: only root can make another user's folder");
        return;
    }
    let refused = env.agent("s", &["gate", "on"]).failed();
    assert!(refused.contains("belongs to user 65534"), "{refused}");
    assert_eq!(tree(&env.state()).len(), 0, "and nothing was put there");

    for mode in [0o700, 0o777, 0o1777] {
        let env = TestEnv::new();
        let dir = env.tmp().join("taskmaster");
        put(&dir.join("s"), "99");
        fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
        chown(&dir, other, other).unwrap();
        env.agent("s", &["gate", "on"]).ok();
        assert!(
            env.stop("x").held().starts_with("TASKMASTER (1):"),
            "their count is not ours"
        );
        assert_eq!(fs::read_to_string(dir.join("s")).unwrap(), "99");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }
}
