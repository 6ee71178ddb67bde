//! Paths that are not UTF-8 text work or are refused. A host's event is UTF-8 text, so for such
//! a folder it names one that does not exist.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::tree;
use crate::env::{Ran, TestEnv, finish};
use crate::taskie::{Taskie, write};

/// `café` in Latin-1.
fn odd(name: &str) -> PathBuf {
    let mut bytes = name.as_bytes().to_vec();
    bytes.extend(b"-caf\xe9");
    PathBuf::from(OsStr::from_bytes(&bytes))
}

/// Which folder has such a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Odd {
    Project,
    Home,
    Temp,
    State,
    All,
}

struct Place {
    env: TestEnv,
    odd: Odd,
    stops: Cell<u32>,
}

impl Place {
    fn new(odd: Odd) -> Self {
        let place = Self {
            env: TestEnv::new(),
            odd,
            stops: Cell::new(0),
        };
        for folder in [place.project(), place.home(), place.temp()] {
            fs::create_dir_all(folder).unwrap();
        }
        place
    }

    fn path(&self, name: &str, is_odd: Odd) -> PathBuf {
        if self.odd == is_odd || self.odd == Odd::All {
            self.env.root().join(odd(name))
        } else {
            self.env.root().join(name)
        }
    }

    fn project(&self) -> PathBuf {
        self.path("project", Odd::Project)
    }

    fn home(&self) -> PathBuf {
        self.path("home", Odd::Home)
    }

    fn temp(&self) -> PathBuf {
        self.path("tmp", Odd::Temp)
    }

    fn command(&self) -> Command {
        let mut command = self.env.command();
        command
            .env("HOME", self.home())
            .env("TMPDIR", self.temp())
            .env("XDG_STATE_HOME", self.path("state", Odd::State))
            .current_dir(self.project());
        command
    }

    /// A command in the agent's shell tells us the session's project.
    fn bind(&self) {
        self.agent(&["gate", "on"]);
        let mut command = self.command();
        finish(command.args(["gate", "off", "--session", "s"]), b"").ok();
    }

    fn agent(&self, args: &[&str]) -> String {
        let mut command = self.command();
        finish(command.args(args).env("CLAUDE_CODE_SESSION_ID", "s"), b"").ok()
    }

    /// A stop as a host reports it: with the folder's name as far as it is text.
    fn stop_of(&self, session: &str, words: &str) -> Ran {
        let stop = self.stops.get();
        self.stops.set(stop + 1);
        let event = json!({
            "session_id": session,
            "cwd": self.project().to_string_lossy(),
            "transcript_path": self.home().join("t.jsonl").to_string_lossy(),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": format!("stop {stop}\n{words}"),
        });
        finish(self.command().arg("hook"), event.to_string().as_bytes())
    }

    fn stop(&self, words: &str) -> Ran {
        self.stop_of("s", words)
    }

    /// No file or folder was created under a similar name.
    fn assert_nothing_lossy(&self) {
        for path in tree(&self.env.root()).into_keys() {
            let lossy = path.to_str().is_some_and(|text| text.contains('\u{fffd}'));
            assert!(!lossy, "{:?}: {}", self.odd, path.display());
        }
    }
}

const ALL: [Odd; 5] = [Odd::Project, Odd::Home, Odd::Temp, Odd::State, Odd::All];

#[test]
fn a_gate_counts_and_lets_go_whatever_its_folders_are_called() {
    for odd in ALL {
        let place = Place::new(odd);
        place.agent(&["gate", "on"]);
        for count in 1..=3 {
            let held = place.stop("").held();
            let expected = format!("TASKMASTER ({count}):");
            assert!(held.starts_with(&expected), "{odd:?}: {held}");
        }
        assert!(!place.stop("TASKMASTER_DONE::s").let_go().contains("cannot"));
        place.assert_nothing_lossy();
    }
}

#[test]
fn a_loop_comes_to_its_end_whatever_its_folders_are_called() {
    for odd in ALL {
        let place = Place::new(odd);
        place.agent(&["loop", "start", "--max", "3"]);
        for count in 1..=3 {
            let held = place.stop("").held();
            let expected = format!("[ITERATION {count}/3]");
            assert!(held.contains(&expected), "{odd:?}: {held}");
        }
        let _ = place.stop("").let_go();
        assert_eq!(place.stop("").let_go(), "", "{odd:?}: it is over");
        place.assert_nothing_lossy();
    }
}

#[test]
fn a_loop_on_a_page_of_the_project_comes_to_its_end() {
    let page = "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 3\nsession_id: s\n---\n\nGo.\n";
    for odd in ALL {
        let place = Place::new(odd);
        place.bind();
        let file = place.project().join(".claude/idle-loop.local.md");
        write(&file, page);
        finish(place.command().args(["trust", "--yes"]), b"").ok();
        for count in 2..=3 {
            let held = place.stop("").held();
            let expected = format!("[ITERATION {count}/3]");
            assert!(held.contains(&expected), "{odd:?}: {held}");
        }
        let _ = place.stop("").let_go();
        assert_eq!(place.stop("").let_go(), "", "{odd:?}: it is over");
        place.assert_nothing_lossy();
    }
}

/// The prompt of a loop may be in a file whose name JSON cannot hold.
#[test]
fn a_prompt_in_a_file_of_such_a_name_is_kept_as_its_text() {
    let place = Place::new(Odd::Temp);
    let name = odd("prompt");
    write(&place.project().join(&name), "Write the tests first.\n");
    let mut command = place.command();
    command
        .args(["loop", "start", "--max", "5", "--prompt-file"])
        .arg(&name)
        .env("CLAUDE_CODE_SESSION_ID", "s");
    finish(&mut command, b"").ok();
    write(
        &place.project().join("mainspring.toml"),
        "[loop]\nrepeat_prompt = true\n",
    );
    let held = place.stop("").held();
    assert!(held.contains("Write the tests first."), "{held}");
}

/// The session is not bound, and its events cannot name its folder.
#[test]
fn the_list_of_trusted_projects_shows_such_a_folder_as_every_view_does() {
    let place = Place::new(Odd::Project);
    let run = |args: &[&str]| finish(place.command().args(args), b"").ok();
    run(&["trust", "--yes"]);
    let list = run(&["trust", "--list"]);
    let shown = place.project().to_string_lossy().into_owned();
    assert!(list.starts_with(&format!("{shown}  since ")), "{list}");
    assert!(!list.contains("(gone)"), "{list}");
}

#[test]
fn an_event_that_cannot_name_its_folder_is_refused_aloud() {
    let place = Place::new(Odd::Project);
    finish(place.command().args(["gate", "on", "--project"]), b"").ok();
    for _ in 0..2 {
        let said = place.stop_of("other", "").let_go();
        assert!(said.contains("is not UTF-8 text"), "{said}");
        assert!(said.contains("mainspring gate on"), "{said}");
    }
    place.assert_nothing_lossy();
}

/// A project with a plan that is due for review, moved to another name.
fn moved(taskie: &Taskie) -> PathBuf {
    let project = taskie.env.root().join(odd("project"));
    fs::rename(taskie.env.project(), &project).unwrap();
    project
}

fn run(taskie: &Taskie, home: &Path, project: &Path, args: &[&str], input: &Value) -> Ran {
    let mut command = taskie.command();
    command.args(args).env("HOME", home).current_dir(project);
    if args == ["gate", "on"] {
        command.env("CLAUDE_CODE_SESSION_ID", "s");
    }
    finish(&mut command, input.to_string().as_bytes())
}

fn stop_event(project: &Path, words: &str) -> Value {
    json!({
        "session_id": "s", "cwd": project.to_string_lossy(), "hook_event_name": "Stop",
        "stop_hook_active": false, "last_assistant_message": words,
    })
}

#[test]
fn a_plan_is_reviewed_whatever_its_folder_is_called() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    let (home, project) = (taskie.env.home(), moved(&taskie));
    run(&taskie, &home, &project, &["trust", "--yes"], &Value::Null).ok();
    run(&taskie, &home, &project, &["gate", "on"], &Value::Null).ok();
    let off = ["gate", "off", "--session", "s"];
    run(&taskie, &home, &project, &off, &Value::Null).ok();
    let event = stop_event(&project, "one");
    let held = run(&taskie, &home, &project, &["hook"], &event).held();
    assert!(held.contains("plan-review-1.md"), "{held}");
    let plan = project.join(".taskie/plans/demo");
    assert!(plan.join("plan-review-1.md").is_file());
    let state = fs::read_to_string(plan.join("state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["phase"], "plan-review", "{state}");
    assert_eq!(state["phase_iteration"], 1, "{state}");
}

/// The reviewer's instructions are in our state directory, and its prompt is text.
#[test]
fn a_reviewer_that_cannot_be_told_where_its_rules_are_is_not_started() {
    let taskie = Taskie::with_state(json!({"next_phase": "plan-review"}));
    let (home, project) = (taskie.env.root().join(odd("home")), taskie.env.project());
    fs::create_dir(&home).unwrap();
    run(&taskie, &home, &project, &["trust", "--yes"], &Value::Null).ok();
    let event = stop_event(&project, "one");
    let said = run(&taskie, &home, &project, &["hook"], &event).let_go();
    assert!(said.contains("is not UTF-8 text"), "{said}");
    assert!(said.contains("XDG_STATE_HOME"), "{said}");
    assert_eq!(taskie.calls().len(), 0);
}
