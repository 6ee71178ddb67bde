//! This build reads the state files and journals of an earlier one, and decides the next events
//! as that build would have.
//!
//! A fixture is the files of one story, with the next events and what the earlier build
//! answered. `make.rs` has the stories.

mod make;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mainspring_store::digest;
use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, program};

const FIXTURE: &str = "tests/fixtures/state-0.1.0-before-house";

/// Placeholders in a fixture for what differs between computers.
const ROOT: &str = "@ROOT@";
const PROJECT: &str = "@PROJECT@";
const SETTINGS: &str = "@SETTINGS@";
const PROGRAM: &str = "@PROGRAM@";

/// Rules that the earlier build did not have, and that hold nobody and say nothing: a claim's sign
/// of life for the others at the server.
const ADDED: &[[&str; 2]] = &[["claim", "beat"]];

/// States and rules that were renamed since.
const RENAMED: [(&str, &str); 5] = [
    ("braked", "suspended"),
    ("worn", "gave_up"),
    ("still-worn", "gave-up"),
    ("asked-worn", "asked"),
    ("typed-worn", "typed"),
];

#[derive(Serialize, Deserialize)]
struct Story {
    /// By their path relative to the story's root.
    files: BTreeMap<String, String>,
    next: Vec<NextEvent>,
    then: Outcome,
}

#[derive(Clone, Serialize, Deserialize)]
struct NextEvent {
    event: String,
    fields: Value,
}

/// What a build answers in a story.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Outcome {
    /// The states of the machines that have one here.
    states: BTreeMap<String, String>,
    trusted: bool,
    /// How many lines the log has, and how many decisions were the same when replayed.
    records: usize,
    replayed: u64,
    answers: Vec<Answer>,
    /// The counts in each state file after the next events. Times do not count.
    counts: BTreeMap<String, Vec<u64>>,
}

impl Outcome {
    /// The outcome with the current names of states and rules.
    fn with_current_names(mut self) -> Self {
        let words = self.answers.iter_mut().flat_map(|one| &mut one.taken);
        for word in self.states.values_mut().chain(words.flatten()) {
            if let Some((_, now)) = RENAMED.iter().find(|(before, _)| before == word) {
                *word = (*now).into();
            }
        }
        self
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    decision: Value,
    /// Was the agent told something in addition?
    context: bool,
    /// Machine, rule, from and to of each arrow.
    taken: Vec<[String; 4]>,
}

/// An earlier build let the agent stop between an inner loop and the outer one.
fn goes_on_at_the_next_stop(env: &TestEnv) {
    let config = env.home().join(".config/mainspring/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let text = fs::read_to_string(&config).unwrap_or_default();
    let text = if text.contains("[loop]\n") {
        text.replace("[loop]\n", "[loop]\nouter = \"next stop\"\n")
    } else {
        format!("{text}\n[loop]\nouter = \"next stop\"\n")
    };
    fs::write(config, text).unwrap();
}

#[test]
fn state_of_an_earlier_build_is_read_and_goes_on_as_it_would_have() {
    let mut stories = 0;
    for entry in fs::read_dir(fixture()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        stories += 1;
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut story: Story = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let env = place(&story.files);
        goes_on_at_the_next_stop(&env);
        // An earlier build took settings from a project that nobody had trusted.
        if !story.then.trusted && env.project().join("mainspring.toml").exists() {
            env.trust();
            story.then.trusted = true;
        }
        let mut then = outcome(&env, &story.next);
        // This build may count more than the earlier one, but must not lose a count.
        for (file, had) in &story.then.counts {
            let has = then
                .counts
                .get(file)
                .unwrap_or_else(|| panic!("{name}: no {file}"));
            assert!(includes(has, had), "{name}: {file} has {has:?} of {had:?}");
        }
        then.counts.clone_from(&story.then.counts);
        for answer in &mut then.answers {
            let taken = &mut answer.taken;
            taken.retain(|[machine, rule, ..]| !ADDED.contains(&[machine.as_str(), rule.as_str()]));
        }
        for (file, text) in read(&env) {
            let ours = file.contains("/projects/") && file.ends_with(".json");
            if ours && story.files.get(&file) != Some(&text) && !file.contains("/reviews/") {
                assert!(
                    text.starts_with("{\"v\":1,"),
                    "{name}: {file} is not sealed: {text}"
                );
            }
        }
        assert_eq!(then, story.then.with_current_names(), "{name}");
    }
    assert!(stories >= 8, "only {stories} stories");
}

/// Does the first list contain every count of the second, as often?
fn includes(has: &[u64], had: &[u64]) -> bool {
    let mut rest = has.to_vec();
    had.iter().all(|count| {
        let at = rest.iter().position(|other| other == count);
        at.map(|at| rest.swap_remove(at)).is_some()
    })
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE)
}

/// The views of the present state, and the answers to the next events.
fn outcome(env: &TestEnv, next: &[NextEvent]) -> Outcome {
    let status = env.run(&["status", "--json"]).json();
    let mut states = BTreeMap::new();
    for machine in status["machines"].as_array().unwrap() {
        assert_eq!(machine["problem"], Value::Null, "{machine}");
        if let Some(state) = machine["state"].as_str() {
            states.insert(machine["name"].as_str().unwrap().into(), state.into());
        }
    }
    let log = env.run(&["log", "-n", "1000"]).ok();
    assert!(!log.contains("damaged"), "{log}");
    let replayed = env.run(&["replay", "--json"]).json();
    assert_eq!(replayed["differs"], Value::Null, "{replayed}");
    assert_eq!(replayed["skipped"], json!([]), "{replayed}");
    let doctor = env.run(&["doctor", "--json"]).stdout;
    assert!(!doctor.contains("cannot read"), "{doctor}");
    Outcome {
        states,
        trusted: status["trusted"].as_bool().unwrap(),
        records: log.lines().count(),
        replayed: replayed["same"].as_u64().unwrap(),
        answers: next.iter().map(|next| answer(env, next)).collect(),
        counts: counts(env),
    }
}

fn answer(env: &TestEnv, next: &NextEvent) -> Answer {
    let before = records(env).len();
    let ran: Ran = env.hook(&next.event, next.fields.clone());
    let text = ran.ok();
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let context = &answer["hookSpecificOutput"]["additionalContext"];
    let new = records(env).split_off(before);
    Answer {
        decision: answer["decision"].clone(),
        context: context.is_string(),
        taken: new.iter().flat_map(taken).collect(),
    }
}

/// The arrows that the machines took in a record.
fn taken(record: &Value) -> Vec<[String; 4]> {
    let settled = &record["entry"]["turn"]["ruling"]["settled"];
    let all = [&settled["moves"], &settled["transitions"]];
    let all = all.iter().find_map(|list| list.as_array());
    let all = all.into_iter().flatten().map(|one| {
        let (machine, arrow) = one.as_object().unwrap().iter().next().unwrap();
        let word = |name: &str| arrow[name].as_str().unwrap().to_owned();
        [machine.clone(), word("rule"), word("from"), word("to")]
    });
    all.collect()
}

fn records(env: &TestEnv) -> Vec<Value> {
    let text = fs::read_to_string(env.project_state().join("journal.jsonl")).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The numbers in our state files and in the machines' files of the project.
fn counts(env: &TestEnv) -> BTreeMap<String, Vec<u64>> {
    let mut all = BTreeMap::new();
    for (name, text) in read(env) {
        let ours = name.contains("/projects/@PROJECT@/") || name.starts_with("project/");
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        if ours {
            let mut found = Vec::new();
            numbers(&value, &mut found);
            found.sort_unstable();
            all.insert(name, found);
        }
    }
    all
}

fn numbers(value: &Value, found: &mut Vec<u64>) {
    const A_TIME: u64 = 1_000_000_000_000;
    match value {
        Value::Number(number) => found.extend(number.as_u64().filter(|one| *one < A_TIME)),
        Value::Array(list) => list.iter().for_each(|one| numbers(one, found)),
        // The process and how long something took differ between runs.
        Value::Object(fields) => {
            for (name, one) in fields {
                match name.as_str() {
                    "owner" => {}
                    "took" => found.push(0),
                    _ => numbers(one, found),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn key(path: &Path) -> String {
    digest::of(&[path.as_os_str().as_encoded_bytes()]).0
}

/// The placeholders, and what each stands for in this environment.
fn places(env: &TestEnv, program: &Path) -> [(&'static str, String); 4] {
    [
        (PROJECT, key(&env.project())),
        (SETTINGS, key(&env.home().join(".claude/settings.json"))),
        (ROOT, env.root().to_string_lossy().into_owned()),
        (PROGRAM, program.to_string_lossy().into_owned()),
    ]
}

/// An environment with these files, as if they had been written in it.
fn place(files: &BTreeMap<String, String>) -> TestEnv {
    // The PATH is empty, so that no program of this computer answers.
    let env = TestEnv::new().with("PATH", "/nonexistent");
    place_in(&env, files, &program());
    env
}

/// The files of a story, in this environment. The earlier program is this one.
pub(crate) fn place_story(env: &TestEnv, name: &str, program: &Path) {
    let text = fs::read_to_string(fixture().join(format!("{name}.json"))).unwrap();
    let story: Story = serde_json::from_str(&text).unwrap();
    place_in(env, &story.files, program);
}

fn place_in(env: &TestEnv, files: &BTreeMap<String, String>, program: &Path) {
    let here = |text: &str| {
        let all = places(env, program);
        all.iter()
            .fold(text.to_owned(), |text, (mark, is)| text.replace(mark, is))
    };
    for (name, text) in files {
        let path = env.root().join(here(name));
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        for folder in folder.ancestors().take_while(|above| *above != env.root()) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let mut text = here(text);
        if name.ends_with("journal.jsonl") {
            text = summed(&text);
        }
        fs::write(&path, text).unwrap();
        // The modification times must not depend on the order of writing.
        let file = fs::File::options().append(true).open(&path).unwrap();
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000);
        file.set_modified(then).unwrap();
    }
}

/// A journal whose paths were replaced, with new checksums.
fn summed(journal: &str) -> String {
    let mut sum = "0".repeat(32);
    let mut out = String::new();
    for line in journal.lines() {
        let (body, _) = line.rsplit_once(",\"sum\":\"").unwrap();
        sum = digest::of(&[sum.as_bytes(), body.as_bytes()]).0;
        out += &format!("{body},\"sum\":\"{sum}\"}}\n");
    }
    out
}

/// Every state file of an environment, by its name there.
fn read(env: &TestEnv) -> BTreeMap<String, String> {
    let everywhere = |text: &str| {
        let all = places(env, &program());
        all.iter()
            .fold(text.to_owned(), |text, (mark, is)| text.replace(is, mark))
    };
    let mut files = BTreeMap::new();
    let mut folders = vec![env.home(), env.project(), env.tmp()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let name = path.strip_prefix(env.root()).unwrap().to_string_lossy();
                files.insert(everywhere(&name), everywhere(&text));
            }
        }
    }
    files
}
