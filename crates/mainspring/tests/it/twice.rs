//! Every command that changes something, typed a second time: if it changes nothing, it does not
//! say that it did.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::claim::world::world;
use crate::env::{Ran, TestEnv};
use crate::sessions::Client;

/// A command, what comes before it, and whether typing it again changes something.
struct Row {
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    again: Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// It fails, or says that nothing changed.
    Nothing,
    /// It does the same anew, and that is a change.
    Changes,
}

const fn row(
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    again: Again,
) -> Row {
    Row {
        before,
        command,
        again,
    }
}

const GATE: &[&str] = &["gate", "on", "--project"];
const LOOP: &[&str] = &["loop", "start", "--max", "3", "--session", "s"];
const NEXT: &[&str] = &["loop", "start", "--session", "next"];
const TRUST: &[&str] = &["trust", "--yes"];
const PLAN: &[&str] = &["plan", "init", "demo"];
const GUARD: &[&str] = &["config", "set", "tasks.guard_files", "true"];
const LOCAL: &[&str] = &["install", "--scope", "local", "--yes"];

#[rustfmt::skip]
const COMMANDS: &[Row] = &[
    row(&[],                    GATE,                                              Again::Nothing),
    row(&[GATE],                &["gate", "off", "--project"],                     Again::Nothing),
    row(&[],                    &["gate", "on"],                                   Again::Nothing),
    row(&[],                    &["gate", "on", "--session", "s"],                 Again::Nothing),
    row(&[&["gate", "on"]],     &["gate", "off"],                                  Again::Nothing),
    row(&[],                    LOOP,                                              Again::Nothing),
    row(&[LOOP],                &["loop", "push", "--max", "2"],                   Again::Changes),
    row(&[LOOP],                &["loop", "abort"],                                Again::Nothing),
    row(&[LOOP],                &["loop", "abort", "--all"],                       Again::Nothing),
    row(&[NEXT],                &["loop", "adopt", "--session", "s"],              Again::Nothing),
    row(&[],                    TRUST,                                             Again::Nothing),
    row(&[TRUST],               &["untrust"],                                      Again::Nothing),
    row(&[],                    &["stop"],                                         Again::Nothing),
    row(&[],                    &["stop", "gate"],                                 Again::Nothing),
    // A pause begins now.
    row(&[],                    &["pause", "1h"],                                  Again::Changes),
    row(&[&["stop"]],           &["resume"],                                       Again::Nothing),
    row(&[&["stop", "loop"]],   &["resume", "loop"],                               Again::Nothing),
    row(&[],                    &["observe"],                                      Again::Nothing),
    row(&[&["observe"]],        &["observe", "off"],                               Again::Nothing),
    row(&[],                    &["config", "set", "gate.max", "5"],               Again::Nothing),
    row(&[TRUST],               &["config", "set", "--project", "gate.max", "5"],  Again::Nothing),
    row(&[GUARD],               &["config", "unset", "tasks.guard_files"],         Again::Nothing),
    row(&[TRUST],               &["check", "init", "--yes"],                       Again::Nothing),
    row(&[TRUST],               PLAN,                                              Again::Nothing),
    row(&[TRUST, PLAN],         &["plan", "set", "max_reviews", "4"],              Again::Nothing),
    row(&[TRUST, PLAN],         &["plan", "set", "tdd", "true"],                   Again::Nothing),
    row(&[TRUST, PLAN],         &["plan", "adopt", "--session", "s"],              Again::Nothing),
    row(&[],                    &["pulse", "3"],                                   Again::Nothing),
    row(&[&["pulse", "3"]],     &["pulse", "off"],                                 Again::Nothing),
    row(&[],                    &["install", "--yes"],                             Again::Nothing),
    row(&[],                    LOCAL,                                             Again::Nothing),
    row(&[LOCAL],               &["uninstall", "--scope", "local", "--yes"],       Again::Nothing),
    row(&[TRUST, GATE, &["gate", "off", "--project"]], &["debug", "state", "purge", "--yes"], Again::Nothing),
];

/// Everything that is there, but for the journal, which has a record of each command, and what is
/// known of who is live.
fn everything(env: &TestEnv) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = crate::security::tree(&env.root());
    let is_noise = |path: &Path| {
        let mut parts = path
            .components()
            .filter_map(|part| part.as_os_str().to_str());
        parts.any(|part| part.starts_with("journal") || ["live", "lock", ".git"].contains(&part))
    };
    found.retain(|path, _| !is_noise(path));
    found
}

/// Says what is wrong with the second answer.
fn judge(row: &Row, same: bool, ran: &Ran) -> Result<(), String> {
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let admits = ran.code != Some(0)
        || ["nothing changed: ", " already", "as it should be"]
            .iter()
            .any(|words| said.contains(words));
    match (row.again, same) {
        (Again::Nothing, true) if admits => Ok(()),
        (Again::Nothing, true) => Err("it changed nothing, and says that it did".into()),
        (Again::Nothing, false) => Err("it changed something".into()),
        (Again::Changes, true) => Err("it changed nothing".into()),
        (Again::Changes, false) if admits => Err("it says that it changed nothing".into()),
        (Again::Changes, false) => Ok(()),
    }
}

#[test]
fn a_command_that_changes_nothing_never_says_that_it_did() {
    let mut wrong = String::new();
    for row in COMMANDS {
        let env = TestEnv::new();
        fs::write(env.project().join("go.mod"), "module example.com/m\n").unwrap();
        let client = Client::new();
        client.starts(&env, "s").ok();
        for args in row.before {
            env.run(args).ok();
        }
        let before = everything(&env);
        let first = env.run(row.command);
        let between = everything(&env);
        if first.code != Some(0) || between == before {
            wrong += &format!("## {:?} at first: {first:?}\n", row.command);
            continue;
        }
        let again = env.run(row.command);
        if let Err(what) = judge(row, everything(&env) == between, &again) {
            wrong += &format!("## {:?} again: {what}: {again:?}\n", row.command);
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn a_claim_that_is_typed_again_says_that_it_is_there_already() {
    let Some(world) = world() else { return };
    world.env.run(&["claim", "42"]).ok();
    let between = everything(&world.env);
    let again = world.env.run(&["claim", "42"]);
    let row = row(&[], &["claim", "42"], Again::Nothing);
    judge(&row, everything(&world.env) == between, &again)
        .unwrap_or_else(|what| panic!("{what}: {again:?}"));
    world.env.run(&["claim", "abort"]).ok();
    world.env.run(&["claim", "abort"]).failed();
    world.env.run(&["claim", "release", "42"]).failed();
}
