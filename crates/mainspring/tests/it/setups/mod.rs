//! Broken set-ups: the doctor names each, and after the command that it says to type, it has
//! nothing to complain about. `docs/setups.md` shows them as a table.

mod bench;
mod every_agent;
mod installing;
mod routes;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

pub(crate) use self::bench::Bench;
use self::table::{Broken, SETUPS};

#[test]
fn every_broken_set_up_is_named_and_its_fix_works() {
    let mut wrong = String::new();
    std::thread::scope(|scope| {
        let runs: Vec<_> = SETUPS
            .iter()
            .map(|one| (one, scope.spawn(|| try_out(one))))
            .collect();
        for (one, run) in runs {
            let result = run.join();
            match result {
                Ok(Ok(())) => {}
                Ok(Err(what)) => {
                    let _ = writeln!(wrong, "## {}\n{what}", one.name);
                }
                Err(_) => {
                    let _ = writeln!(wrong, "## {} panicked", one.name);
                }
            }
        }
    });
    assert_eq!(wrong, "");
}

/// What other agents make of what is registered for Claude Code. The tests of
/// `registration_clients` see to the first four rows.
const ELSEWHERE: &str = "
# Claude Code's registration in other agents

Other coding agents read what is registered for Claude Code, and each in its own way. This was seen in the real clients on \
2026-11-17, with a scripted model: no prompt is refused anywhere, and `mainspring pulse 1` holds one stop and lets go at the next. \
For the first four, `./test` repeats it (`registration_clients`).

| agent | arguments in a list, as earlier versions registered them | our plugin for Claude Code | the project's `.claude/settings.json` | its own migration |
|---|---|---|---|---|
| Codex 0.166.0 | dropped; one stop held | `codex plugin add`: one stop held | not tried | has none |
| Gemini CLI 0.61.0 | dropped; one stop held | not tried | not tried | `gemini hooks migrate --from-claude`: one stop held. It takes our seconds for milliseconds, so at a session's end it warns that the hook was too slow |
| Qwen Code 0.24.4 | dropped; one stop held | `qwen extensions install`: one stop held | not tried | has none |
| Copilot CLI 1.0.102 | dropped; one stop held | `--plugin-dir`: one stop held | read in a trusted folder: one stop held, and without Mainspring on the PATH nothing happens | has none |
| Grok Build 1.0.41 | dropped; one stop held | not tried | read in a trusted folder: one stop held, and without Mainspring on the PATH nothing happens | has none |
| Factory Droid 0.225.2 | dropped; one stop held | not tried | not read | has none |

Two things make that safe. A bare `mainspring` that gets an event on stdin answers it, and never exits with 2, which means \"block\" in most of them. \
And the settings that a project shares begin with `command -v mainspring-hook`, so they are silent where Mainspring is not installed.
";

/// The table as a page. `GENERATE=1` writes it.
#[test]
fn the_page_of_broken_set_ups_has_every_one() {
    let mut page = String::from(
        "# Broken set-ups\n\n`mainspring doctor` names each of these, and its fix makes the doctor green again: the test \
         `every_broken_set_up_is_named_and_its_fix_works` breaks a set-up, runs the command that the doctor prints, and \
         runs the doctor again. This page is made from the test's table.\n\n| what is wrong | the doctor says | part of its fix |\n|---|---|---|\n",
    );
    for one in SETUPS {
        let _ = writeln!(
            page,
            "| {} | `{}`: … {} … | `{}` |",
            one.name, one.about, one.says, one.fix
        );
    }
    let _ = writeln!(
        page,
        "| a project that moved | `trust`: this project was trusted as …, and has moved | `mainspring trust && mainspring untrust OLD` |"
    );
    page += ELSEWHERE;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/setups.md");
    if std::env::var_os("GENERATE").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let there = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        there, page,
        "`GENERATE=1 cargo test -p mainspring page_of_broken` writes it"
    );
    assert!(SETUPS.len() >= 30);
}

fn try_out(one: &Broken) -> Result<(), String> {
    let mut bench = Bench::installed();
    let before = bench.findings();
    if !before.is_empty() {
        return Err(format!("not green to begin with: {before:#?}"));
    }
    (one.breaks)(&mut bench);
    let found = bench.findings();
    let named = found.iter().any(|finding| {
        let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        text("about") == one.about
            && text("what").contains(one.says)
            && text("fix").contains(one.fix)
    });
    if !named {
        return Err(format!("not named: {found:#?}"));
    }
    let after = bench.fixed(&found);
    if after.code != Some(0) {
        return Err(format!("not green after {found:#?}: {after:?}"));
    }
    Ok(())
}

/// Without git, nothing but the folder itself tells that it is the same project.
#[test]
fn a_project_without_git_that_moved_is_known_by_its_old_name() {
    let bench = Bench::installed();
    let old = bench.env.project();
    bench.env.run(&["untrust"]).ok();
    fs::remove_dir_all(old.join(".git")).unwrap();
    bench.env.run(&["trust", "--yes"]).ok();
    let new = bench.env.root().join("moved");
    fs::rename(&old, &new).unwrap();
    symlink(&new, &old).unwrap();
    let found = bench.findings();
    assert_eq!(found, Vec::<serde_json::Value>::new(), "a link leads to it");
    fs::remove_file(&old).unwrap();
    let old = old.to_str().unwrap();
    let doctor = |line: &str| {
        let line = format!("cd {} && {line}", new.display());
        let mut shell = bench.command();
        let vars: Vec<_> = shell
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
            .collect();
        shell = std::process::Command::new("/bin/sh");
        shell
            .env_clear()
            .args(["-c", &line])
            .current_dir(bench.env.root());
        for (name, value) in vars {
            shell.env(name, value.unwrap());
        }
        crate::env::finish(&mut shell, b"")
    };
    let said = doctor("mainspring doctor").stdout;
    assert!(
        said.contains(&format!("was trusted as {old}, and has moved")),
        "{said}"
    );
    let fix = format!("mainspring trust && mainspring untrust {old}");
    assert!(said.contains(&fix), "{said}");
    doctor(&fix.replace("trust &&", "trust --yes &&")).ok();
    doctor("mainspring doctor").ok();
    let list = doctor("mainspring trust --list").ok();
    assert_eq!(list.lines().count(), 1, "{list}");
}
