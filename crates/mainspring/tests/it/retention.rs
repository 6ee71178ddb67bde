//! Old state goes once a day, when a session starts, and never what is open.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mainspring_testkit::year::{Plan, live};
use serde_json::{Value, json};

use crate::env::{MAINSPRING, Ran, TestEnv};

/// The binding of a session whose project is gone.
const NOWHERE: &str = r#"{"project":"/nowhere"}"#;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes a file or folder look this many days old.
fn age(path: &Path, days: u32) {
    let file = File::open(path).unwrap();
    file.set_modified(SystemTime::now() - DAY * days).unwrap();
}

fn write(path: &Path, text: &str, days: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    age(path, days);
}

/// Makes every file of ours look this many days older than now, and what is in it.
fn age_all(dir: &Path, days: u32) {
    for path in all_below(dir) {
        age(&path, days);
    }
}

/// Every file below a folder.
pub(crate) fn all_below(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(all_below(&path));
        } else {
            all.push(path);
        }
    }
    all
}

fn start(env: &TestEnv) -> Ran {
    env.hook(
        "SessionStart",
        json!({ "session_id": "new", "source": "startup" }),
    )
}

fn swept(env: &TestEnv) -> PathBuf {
    env.state().join("swept")
}

/// Was everything swept within the last day?
fn is_swept(env: &TestEnv) -> bool {
    let meta = fs::metadata(swept(env));
    meta.is_ok_and(|meta| meta.modified().unwrap() > SystemTime::now() - DAY)
}

/// A session starts a day after the last sweep.
fn sweep(env: &TestEnv) {
    let _ = fs::remove_file(swept(env));
    start(env).ok();
    assert!(is_swept(env));
}

/// A project with a gate that holds, so that sessions leave a ledger.
fn gated() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    env
}

#[test]
fn old_files_of_every_kind_go_and_young_ones_stay() {
    let env = gated();
    env.stop_of("old", "no").held();
    env.stop_of("young", "no").held();
    let project = env.project_state();
    let told = env.state().join("told/0123/old");
    let attempt = project.join("reviews/7");
    let gone = [
        project.join("sessions/old.json"),
        env.state().join("sessions/old"),
        told,
        project.join("reviews.jsonl"),
        project.join("loop.json.aside-0123abcd"),
        project.join(".loop.json.mainspring"),
        attempt.join("stdout.json"),
        project.join("checks/tests/000001-1.log"),
        project.join("checks/tests/green"),
        project.join("checks/index-0123"),
    ];
    for path in &gone {
        let text = fs::read_to_string(path).unwrap_or_default();
        write(path, &text, 91);
    }
    age(&attempt, 91);
    let stays = [
        project.join("sessions/young.json"),
        env.state().join("sessions/young"),
        project.join("journal.jsonl"),
        project.join("gate.json"),
        project.join("lock"),
        project.join("checks/tests/000002-1.log"),
    ];
    write(&project.join("checks/tests/000002-1.log"), "", 1);
    // What a crashed command checked out goes whole, however old its files say they are.
    let tree = project.join("checks/tree-0123");
    write(&tree.join("src/lib.rs"), "", 1);
    age(&tree.join("src"), 91);
    age(&tree, 91);
    age(&project.join("journal.jsonl"), 91);
    age(&project.join("gate.json"), 91);
    sweep(&env);
    for path in gone {
        assert!(!path.exists(), "{}", path.display());
    }
    assert!(!attempt.exists() && !env.state().join("told/0123").exists());
    assert!(!tree.exists());
    for path in stays {
        assert!(path.exists(), "{}", path.display());
    }
    env.run(&["log"]).ok();
    env.run(&["debug", "replay"]).ok();
    env.stop_of("old", "no").held();
}

/// What a symlink in the state folder leads to is somebody else's.
#[cfg(unix)]
#[test]
fn nothing_behind_a_link_in_the_state_folder_goes() {
    let env = gated();
    env.stop_of("old", "no").held();
    let project = env.project_state();
    let theirs = env.root().join("theirs");
    let files = ["file", "sub/file", "sessions/file", "7/stdout.json"].map(|f| theirs.join(f));
    for file in &files {
        write(file, "theirs", 400);
    }
    for folder in ["sub", "sessions", "7"] {
        age(&theirs.join(folder), 400);
    }
    let state = env.state();
    fs::create_dir_all(state.join("told")).unwrap();
    fs::create_dir_all(project.join("checks")).unwrap();
    let _ = fs::remove_dir_all(state.join("ended"));
    let links = [
        state.join("ended"),
        state.join("told/0123"),
        state.join("projects/0123456789abcdef0123456789abcdef"),
        project.join("checks/tests"),
        project.join("reviews"),
    ];
    for link in links {
        std::os::unix::fs::symlink(&theirs, link).unwrap();
    }
    sweep(&env);
    for file in files {
        assert!(file.exists(), "{} is gone", file.display());
    }
}

#[test]
fn what_is_open_stays_however_old_it_is() {
    let env = gated();
    env.agent("loop-owner", &["loop", "start"]).ok();
    for session in ["gate-owner", "loop-owner", "new", "resumed"] {
        env.stop_of(session, "no").held();
    }
    env.run(&["gate", "on", "--session", "gate-owner"]).ok();
    env.trust();
    let project = env.project_state();
    write(&env.state().join("installs/0123/installed.json"), "{}", 500);
    age_all(&env.state(), 500);
    // It is bound for long, and was at work yesterday.
    age(&project.join("sessions/resumed.json"), 1);
    let before = all_below(&env.state());
    sweep(&env);
    // That a session was live then is not open.
    let live = env.state().join("live");
    for path in before.into_iter().filter(|path| !path.starts_with(&live)) {
        assert!(path.exists(), "{}", path.display());
    }
}

#[test]
fn a_gate_that_an_agent_switched_on_for_itself_goes_with_its_session() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.stop("no").held();
    age_all(&env.state(), 89);
    sweep(&env);
    env.stop("not yet").held();
    age_all(&env.state(), 91);
    sweep(&env);
    let left = all_below(&env.project_state().join("sessions"));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_start_sweeps_once_a_day_and_otherwise_only_looks_at_the_mark() {
    let env = gated();
    sweep(&env);
    let binding = env.state().join("sessions/old");
    write(&binding, NOWHERE, 91);
    start(&env).ok();
    assert!(binding.exists(), "it is not a day ago");
    age(&swept(&env), 2);
    start(&env).ok();
    assert!(!binding.exists());
}

#[test]
fn where_there_is_no_state_a_start_makes_none_but_that_the_session_is_there() {
    let env = TestEnv::new();
    start(&env).ok();
    let mut made = all_below(&env.state());
    made.sort();
    assert_eq!(made, [env.state().join("live/new"), swept(&env)]);
}

#[test]
fn one_start_does_a_bounded_part_and_the_next_goes_on() {
    let env = gated();
    let sessions = env.state().join("sessions");
    for number in 0..600 {
        write(&sessions.join(format!("s{number:03}")), NOWHERE, 91);
    }
    let left = || {
        let names = fs::read_dir(&sessions).unwrap();
        names
            .filter(|entry| entry.as_ref().unwrap().file_name() != "new")
            .count()
    };
    start(&env).ok();
    assert_eq!((left(), is_swept(&env)), (88, false));
    start(&env).ok();
    assert_eq!((left(), is_swept(&env)), (0, true));
}

#[test]
fn a_broken_mark_or_setting_deletes_nothing_and_says_nothing() {
    let env = gated();
    let binding = env.state().join("sessions/old");
    write(&binding, NOWHERE, 91);
    let config = env.home().join(".config/mainspring/config.toml");
    write(&config, "[state]\nkeep = \"30 years", 0);
    start(&env).ok();
    assert!(binding.exists());
    write(&config, "[state]\nkeep = \"365d\"\n", 0);
    write(&swept(&env), "nonsense", 2);
    start(&env).ok();
    assert!(binding.exists() && is_swept(&env));
    write(&config, "[state]\nkeep = \"30d\"\n", 0);
    sweep(&env);
    assert!(!binding.exists());
}

#[test]
fn a_repository_cannot_set_how_long_state_is_kept() {
    let env = gated();
    fs::write(
        env.project().join("mainspring.toml"),
        "[state]\nkeep = \"1d\"\n",
    )
    .unwrap();
    env.trust();
    let binding = env.state().join("sessions/old");
    write(&binding, NOWHERE, 60);
    sweep(&env);
    assert!(binding.exists());
}

/// A small year: `mainspring-testkit year` lives through the whole one.
#[test]
fn state_stops_growing_when_its_time_is_over() {
    let plan = |days| Plan {
        days,
        sessions: 4,
        decisions: 2,
        projects: 2,
        keep: "5d",
    };
    let short = live(MAINSPRING.as_ref(), plan(8));
    let long = live(MAINSPRING.as_ref(), plan(16));
    let (journals, marks) = (2 * 3, 1);
    assert!(short.files > 4 * 5 * 2, "the young ones stay: {short:?}");
    // A ledger and a binding each; a sweep that ended just before may leave one more day.
    assert!(long.files <= 4 * 8 * 2 + journals + marks, "{long:?}");
}

/// Leaves a project whose folder is gone, and returns its state.
fn gone_project(env: &TestEnv, prepare: impl Fn(&TestEnv)) -> PathBuf {
    prepare(env);
    let state = env.project_state();
    fs::remove_dir_all(env.project()).unwrap();
    age_all(&env.state(), 91);
    state
}

/// A session starts where no project is.
fn start_elsewhere(env: &TestEnv) {
    let fields = json!({ "session_id": "new", "source": "startup", "cwd": env.root() });
    let payload = crate::env::payload(&env.root(), "SessionStart", fields);
    let mut command = env.command();
    command.current_dir(env.root()).arg("hook");
    crate::env::finish(&mut command, payload.to_string().as_bytes()).ok();
}

#[test]
fn a_project_whose_folder_is_gone_goes_when_nothing_in_it_is_open() {
    let env = TestEnv::new();
    let state = gone_project(&env, |env| {
        env.run(&["pulse", "1"]).ok();
        env.stop("no").held();
        env.stop("yes").let_go();
    });
    start_elsewhere(&env);
    assert!(!state.exists());
    for open in [
        &["gate", "on", "--project"][..],
        &["loop", "start"],
        &["stop"],
        &["observe"],
        &["trust", "--yes"],
    ] {
        let env = TestEnv::new();
        let state = gone_project(&env, |env| {
            env.run(open).ok();
        });
        start_elsewhere(&env);
        assert!(state.exists(), "{open:?}");
    }
}

#[test]
fn a_deletion_that_was_interrupted_is_finished() {
    let env = gated();
    let left = env.state().join("projects/0123.deleted");
    write(&left.join("journal.jsonl"), "{}", 0);
    sweep(&env);
    assert!(!left.exists());
}

/// Old segments go, the newest closed one stays: the journal still continues it, even if a power
/// loss takes the head.
#[test]
fn the_journal_goes_on_after_its_old_segments_went() {
    let env = gated();
    let project = env.project_state();
    let close = |next: u64| {
        let name = format!("journal-{next:012}.jsonl");
        fs::rename(project.join("journal.jsonl"), project.join(&name)).unwrap();
        // Without its head, the next process takes up what the closed segments say.
        fs::write(project.join("lock"), "").unwrap();
        age(&project.join(&name), 91);
        project.join(name)
    };
    let first = close(2);
    env.stop_of("a", "no").held();
    let second = close(3);
    env.stop_of("b", "no").held();
    sweep(&env);
    assert!(!first.exists() && second.exists());
    fs::write(project.join("lock"), "").unwrap();
    env.stop_of("c", "no").held();
    let log = env.run(&["log", "--json"]).ok();
    let numbers: Vec<u64> = log
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(numbers, [2, 3, 4], "{log}");
    env.run(&["debug", "replay"]).ok();
}

fn state_of(env: &TestEnv) -> Value {
    env.run(&["debug", "state", "--json"]).json()
}

#[test]
fn the_view_has_the_size_of_everything_and_what_goes() {
    let env = gated();
    env.stop_of("old", "no").held();
    env.stop_of("young", "no").held();
    env.trust();
    age(&env.project_state().join("sessions/old.json"), 91);
    age(&env.state().join("sessions/old"), 91);
    let log = env.project_state().join("checks/tests/000001-1.log");
    write(&log, "said", 1);
    let view = state_of(&env);
    let sizes = all_below(&env.state());
    let sizes = sizes.iter().map(|path| fs::metadata(path).unwrap().len());
    assert_eq!(view["total"]["bytes"], sizes.sum::<u64>());
    assert_eq!(view["keep"], "90d");
    let project = &view["projects"][0];
    assert_eq!(project["project"], env.project().to_str().unwrap());
    assert_eq!(project["exists"], true);
    assert_eq!(project["kinds"]["sessions"]["files"], 2);
    let checks = json!({ "files": 1, "bytes": 4 });
    assert_eq!(project["kinds"]["checks"], checks);
    assert_eq!(project["swept"]["files"], 1);
    assert_eq!(project["open"], json!(["it is trusted", "gate is on"]));
    assert_eq!(view["shared"]["trusted"]["files"], 1);
    // The session's binding goes once its ledger is gone.
    assert_eq!(view["swept"]["files"], 1);
    let table = env.run(&["debug", "state"]).ok();
    assert!(table.contains(env.project().to_str().unwrap()), "{table}");
    sweep(&env);
    assert_eq!(state_of(&env)["swept"]["files"], 0);
    assert!(
        env.run(&["debug", "state"])
            .ok()
            .contains("nothing goes yet")
    );
}

#[test]
fn purge_names_what_is_open_and_how_to_end_it() {
    let env = gated();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["loop", "start"]).ok();
    env.run(&["observe"]).ok();
    let before = all_below(&env.state());
    let error = env.run(&["debug", "state", "purge", "--yes"]).failed();
    for part in [
        "mainspring gate off --project",
        "mainspring gate off --session s",
        "mainspring loop abort",
        "mainspring observe off",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(all_below(&env.state()), before);
}

#[test]
fn purge_ends_this_projects_state_and_nothing_else() {
    let env = TestEnv::new();
    env.run(&["pulse", "1"]).ok();
    env.stop("one").held();
    env.trust();
    let state = env.project_state();
    let other = env.state().join("sessions/other");
    write(&other, NOWHERE, 0);
    let asked = env.run(&["debug", "state", "purge"]).failed();
    assert!(asked.contains("--yes"), "{asked}");
    let said = env.run(&["debug", "state", "purge", "--yes"]).ok();
    assert!(said.contains("is still trusted"), "{said}");
    assert!(all_below(&state).is_empty(), "{state:?}");
    assert!(other.exists() && !env.state().join("sessions/s").exists());
    // It begins anew, and the person's permission counts.
    env.run(&["pulse", "1"]).ok();
    env.stop("two").held();
    env.run(&["debug", "state", "purge", "--yes", "/nowhere"])
        .failed();
}

#[test]
fn purge_ends_projects_whose_folder_is_gone_whatever_is_on_there() {
    let env = TestEnv::new();
    let gone = env.project();
    let state = gone_project(&env, |env| {
        env.run(&["gate", "on", "--project"]).ok();
    });
    fs::create_dir(env.root().join("elsewhere")).unwrap();
    let purge = |args: &[&str]| {
        let mut command = env.command();
        command.current_dir(env.root().join("elsewhere"));
        crate::env::finish(
            command
                .args(["debug", "state", "purge", "--yes"])
                .args(args),
            b"",
        )
    };
    assert!(purge(&["--all"]).ok().contains(gone.to_str().unwrap()));
    assert!(!state.exists());
    assert!(purge(&["--all"]).ok().contains("there is no state"));
    fs::create_dir(&gone).unwrap();
    let state = gone_project(&env, |env| {
        env.run(&["gate", "on", "--project"]).ok();
    });
    purge(&[gone.to_str().unwrap()]).ok();
    assert!(!state.exists());
}

#[test]
fn task_lists_of_hosts_that_keep_none_go_by_age() {
    let env = gated();
    let lists = env.state().join("tasks");
    for (list, days) in [("old", 100), ("young", 10), ("new", 100)] {
        write(&lists.join(list).join("1.json"), "{}", days);
        age(&lists.join(list), days);
    }
    let view = state_of(&env);
    assert_eq!(view["shared"]["tasks"]["files"], 3, "{view}");
    sweep(&env);
    assert!(!lists.join("old").exists());
    assert!(lists.join("young/1.json").exists());
    assert!(lists.join("new/1.json").exists(), "its session starts");
}
