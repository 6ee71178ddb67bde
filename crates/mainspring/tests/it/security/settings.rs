//! What is read as configuration: how much of it, from which owner, and through which symlinks.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use serde_json::json;

use super::tree;
use crate::env::{TestEnv, finish};

/// A stop took 12 seconds in a repository whose 256 KiB file had only unknown settings: each
/// was searched in the text and compared with every known name.
#[test]
fn a_file_of_unknown_settings_is_named_in_a_few_lines() {
    let env = TestEnv::new();
    for section in ["[gate]\n", "", "[a.b]\n"] {
        let mut text = section.to_owned();
        let mut keys = 0;
        while text.len() < 255 * 1024 {
            writeln!(text, "k{keys} = 1").unwrap();
            keys += 1;
        }
        fs::write(env.project().join("mainspring.toml"), &text).unwrap();
        env.trust();
        let checked = env.run(&["config", "check"]);
        assert_eq!(checked.code, Some(3), "{}", checked.stdout.len());
        let warnings = checked
            .stdout
            .lines()
            .filter(|line| line.starts_with("warning:"));
        assert!(warnings.count() <= 11, "{section}: {}", checked.stdout);
        if section != "[a.b]\n" {
            let rest = format!("{} more problems of this kind", keys - 10);
            assert!(checked.stdout.contains(&rest), "{}", checked.stdout);
        }
        assert_eq!(env.stop("x").let_go(), "");
        let examined = env.run(&["doctor"]).stdout;
        assert!(examined.lines().count() < 80, "{examined}");
    }
}

const OTHER: Option<u32> = Some(65_534);
const GATE: &str = "[gate]\nenabled = true\n";

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// As dotfile tools lay them out: the file, its folder, or all of `~/.config` is a symlink.
#[test]
fn the_persons_own_configuration_may_be_a_link() {
    for link in [
        ".config/mainspring/config.toml",
        ".config/mainspring",
        ".config",
    ] {
        for relative in [false, true] {
            let env = TestEnv::new();
            put(
                &env.home().join("dotfiles/config/mainspring/config.toml"),
                GATE,
            );
            let target = env.home().join("dotfiles").join(&link[1..]);
            let place = env.home().join(link);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            if relative {
                let up = "../".repeat(link.matches('/').count());
                symlink(Path::new(&up).join("dotfiles").join(&link[1..]), &place).unwrap();
            } else {
                symlink(target, &place).unwrap();
            }
            let _ = env.stop("x").held();
            env.run(&["config", "check"]).ok();
        }
    }
}

#[test]
fn a_configuration_that_others_can_write_says_nothing_and_is_named_once() {
    type Change = fn(&Path) -> bool;
    let changes: [(&str, Change, &str); 3] = [
        (
            "belongs to user 65534",
            |file| chown(file, OTHER, OTHER).is_ok(),
            "sudo chown",
        ),
        (
            "can be written by everybody",
            |file| fs::set_permissions(file, fs::Permissions::from_mode(0o646)).is_ok(),
            "chmod go-w",
        ),
        (
            "can be written by group 65534",
            |file| {
                fs::set_permissions(file, fs::Permissions::from_mode(0o664)).is_ok()
                    && chown(file, None, OTHER).is_ok()
            },
            "chmod go-w",
        ),
    ];
    for (why, change, fix) in changes {
        for linked in [false, true] {
            let env = TestEnv::new();
            let place = env.home().join(".config/mainspring/config.toml");
            let file = if linked {
                let file = env.root().join("elsewhere/config.toml");
                put(&file, GATE);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                symlink(&file, &place).unwrap();
                file
            } else {
                put(&place, GATE);
                place.clone()
            };
            if !change(&file) {
                eprintln!("skipped: only root can make another user's file");
                continue;
            }
            let said = env.stop("x").let_go();
            let named = format!("{} is ignored: it {why}", place.display());
            assert!(said.contains(&named), "{said}");
            assert_eq!(env.stop("x").let_go(), "", "it was said");
            let other = env.stop_of("another", "x").let_go();
            assert!(other.contains(why), "to each session: {other}");
            let examined = env.run(&["doctor"]).stdout;
            assert!(
                examined.contains(why) && examined.contains(fix),
                "{examined}"
            );
            let checked = env.run(&["config", "check"]);
            assert_eq!(checked.code, Some(3), "{checked:?}");
            assert!(checked.stdout.contains(why), "{checked:?}");
        }
    }
}

/// A symlink of another user's leads to a file of the person's that others have written, for
/// example a repository's.
#[test]
fn a_link_of_another_user_is_not_followed_to_a_configuration() {
    let env = TestEnv::new();
    let place = env.home().join(".config/mainspring/config.toml");
    put(&env.project().join("evil.toml"), GATE);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(env.project().join("evil.toml"), &place).unwrap();
    if std::os::unix::fs::lchown(&place, OTHER, OTHER).is_err() {
        eprintln!("skipped: only root can make another user's link");
        return;
    }
    let said = env.stop("x").let_go();
    assert!(said.contains("belongs to user 65534"), "{said}");
}

/// Under `sudo`, the home may still be that of the user who called it.
#[test]
fn root_reads_the_configuration_of_the_user_who_called_sudo() {
    let env = TestEnv::new().with("SUDO_UID", "65534");
    let place = env.home().join(".config/mainspring/config.toml");
    put(&place, GATE);
    if chown(&place, OTHER, OTHER).is_err() {
        eprintln!("skipped: only root can make another user's file");
        return;
    }
    let _ = env.stop("x").held();
}

/// The same binary, run by an ordinary user who may be the only member of their group.
#[test]
fn a_group_of_ones_own_may_write_ones_files() {
    use std::os::unix::process::CommandExt;
    let env = TestEnv::new();
    let place = env.home().join(".config/mainspring/config.toml");
    put(&place, GATE);
    let user = 54_321;
    for path in tree(&env.root()).into_keys().chain([env.root()]) {
        if chown(&path, Some(user), Some(user)).is_err() {
            eprintln!("skipped: only root can be another user");
            return;
        }
    }
    fs::set_permissions(&place, fs::Permissions::from_mode(0o664)).unwrap();
    let stop = |session: &str, group: u32| {
        let event = json!({
            "session_id": session, "cwd": env.project(), "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": "x",
        });
        let mut command = env.command();
        command.arg("hook").uid(user).gid(group);
        finish(&mut command, event.to_string().as_bytes())
    };
    let _ = stop("one", user).held();
    let shared = 54_322;
    chown(&place, None, Some(shared)).unwrap();
    let said = stop("two", shared).let_go();
    assert!(said.contains("can be written by group 54322"), "{said}");
}

#[test]
fn the_hosts_own_files_may_be_links_too() {
    for link in [
        ".claude",
        ".claude/plugins",
        ".claude/plugins/installed_plugins.json",
        ".claude/settings.json",
    ] {
        let env = TestEnv::new();
        let kept = env.home().join("dotfiles/claude");
        let list = json!({"version": 2, "plugins": {"flow@m": [
            {"scope": "user", "installPath": env.root().join("plugin")},
        ]}});
        put(
            &kept.join("plugins/installed_plugins.json"),
            &list.to_string(),
        );
        put(&kept.join("settings.json"), "{\n  \"model\": \"opus\"\n}\n");
        put(
            &env.root().join("plugin/skills/steps/fsm.json"),
            r#"[{"id": 1, "subject": "Set up"}]"#,
        );
        let place = env.home().join(link);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(
            kept.join(link.trim_start_matches(".claude").trim_start_matches('/')),
            &place,
        )
        .unwrap();
        if link.contains("plugins") || link == ".claude" {
            let ran = env.hook(
                "PostToolUse",
                json!({
                    "tool_name": "Skill", "tool_input": {"skill": "flow:steps"},
                    "tool_response": {"success": true, "commandName": "flow:steps"},
                }),
            );
            let said = ran.ok();
            assert!(!said.contains("not found"), "{link}: {said}");
            let task = env.home().join(".claude/tasks/s/1.json");
            assert!(task.exists(), "{link}: {said}");
        }
        if !link.contains("plugins") {
            env.run(&["install", "--yes"]).ok();
            let text = fs::read_to_string(kept.join("settings.json")).unwrap();
            assert!(
                text.contains("mainspring") && text.contains("opus"),
                "{text}"
            );
            assert!(fs::symlink_metadata(&place).unwrap().is_symlink(), "{link}");
            env.run(&["uninstall", "--yes"]).ok();
        }
    }
}

#[test]
fn a_link_to_another_users_settings_or_plugins_is_refused() {
    let env = TestEnv::new();
    let theirs = env.root().join("theirs");
    put(&theirs.join("settings.json"), "{}\n");
    let list = r#"{"version":2,"plugins":{"flow@m":[{"scope":"user","installPath":"/x"}]}}"#;
    put(&theirs.join("list.json"), list);
    for name in ["settings.json", "list.json"] {
        if chown(theirs.join(name), OTHER, OTHER).is_err() {
            eprintln!("skipped: only root can make another user's file");
            return;
        }
    }
    fs::create_dir_all(env.home().join(".claude/plugins")).unwrap();
    symlink(
        theirs.join("settings.json"),
        env.home().join(".claude/settings.json"),
    )
    .unwrap();
    symlink(
        theirs.join("list.json"),
        env.home().join(".claude/plugins/installed_plugins.json"),
    )
    .unwrap();
    let before = tree(&theirs);
    let refused = env.run(&["install", "--yes"]).failed();
    assert!(refused.contains("belongs to user 65534"), "{refused}");
    assert_eq!(tree(&theirs), before);
    put(
        &env.home()
            .join(".claude/plugins/cache/m/flow/1.0/skills/steps/fsm.json"),
        "[]",
    );
    let asked = json!({
        "tool_name": "Skill", "tool_input": {"skill": "flow:steps"},
        "tool_response": {"success": true, "commandName": "flow:steps"},
    });
    let said = env.hook("PostToolUse", asked).ok();
    assert!(said.contains("belongs to user 65534"), "{said}");
}

/// A clone's `.claude` may lead to the home of the person who installs in it.
#[test]
fn install_writes_through_no_link_of_a_repository() {
    for scope in ["project", "local"] {
        let name = match scope {
            "project" => "settings.json",
            _ => "settings.local.json",
        };
        let file = format!(".claude/{name}");
        for (link, dangling) in [
            (".claude", false),
            (file.as_str(), false),
            (".claude", true),
            (file.as_str(), true),
        ] {
            let env = TestEnv::on_path();
            fs::create_dir(env.project().join(".git")).unwrap();
            let outside = env.home().join("outside");
            fs::create_dir_all(&outside).unwrap();
            put(&outside.join(name), "{\n  \"model\": \"opus\"\n}\n");
            let target = match (link, dangling) {
                (".claude", false) => outside.clone(),
                (_, false) => outside.join(name),
                (_, true) => outside.join("new"),
            };
            let place = env.project().join(link);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(&target, &place).unwrap();
            let before = tree(&outside);
            for verb in ["install", "uninstall"] {
                let refused = env.run(&[verb, "--scope", scope, "--yes"]).failed();
                assert!(
                    refused.contains("symbolic link"),
                    "{verb} {link}: {refused}"
                );
            }
            assert_eq!(tree(&outside), before, "{link}");
            assert!(!env.state().join("trusted").exists(), "nor is it trusted");
        }
    }
    let env = TestEnv::on_path();
    fs::create_dir(env.project().join(".git")).unwrap();
    for scope in ["project", "local"] {
        env.run(&["install", "--scope", scope, "--yes"]).ok();
        env.run(&["uninstall", "--scope", scope, "--yes"]).ok();
    }
}

#[test]
fn only_the_persons_own_configuration_names_folders_to_trust() {
    let env = TestEnv::new();
    let named = "in a folder that your [trust] roots name";
    put(
        &env.project().join("mainspring.toml"),
        &format!("[trust]\nroots = [{:?}]\n", env.root()),
    );
    let examined = env.run(&["doctor"]).stdout;
    assert!(!examined.contains(named), "{examined}");
    let checked = env.run(&["config", "check"]).stdout;
    assert!(
        checked.contains("trust.roots decides what is executed"),
        "{checked}"
    );
    let own = env.home().join(".config/mainspring/config.toml");
    symlink(env.root(), env.home().join("all")).unwrap();
    for (roots, is) in [
        ("[\"~/all\"]", true),
        ("[\"~/all/project\"]", true),
        ("[\"~\", \"/nowhere\"]", false),
        ("[\"~/all/proj\"]", false),
        ("[]", false),
    ] {
        put(&own, &format!("[trust]\nroots = {roots}\n"));
        let examined = env.run(&["doctor"]).stdout;
        assert_eq!(examined.contains(named), is, "{roots}: {examined}");
    }
    put(&own, "[trust]\nroots = [\"work\"]\n");
    let examined = env.run(&["doctor"]).stdout;
    assert!(examined.contains("no absolute path"), "{examined}");
}
