//! An upgrade: what an earlier build set up and wrote is found by a later one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::{Value, json};

use crate::channels::built;
use crate::process::{Finished, PATIENCE, Running};

/// Set everything up with an earlier build, and upgrade to a later one
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The earlier program
    #[arg(long, value_name = "PROGRAM")]
    from: PathBuf,
    /// The later program [default: the debug build]
    #[arg(long, value_name = "PROGRAM")]
    to: Option<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "the steps are its output")]
pub fn run(args: &Args) -> ExitCode {
    let to = args.to.clone();
    let to = to.unwrap_or_else(|| built().expect("build it first: cargo build"));
    for step in play(&args.from, &to) {
        println!("{step}");
    }
    ExitCode::SUCCESS
}

/// What stands in the person's settings before anything is installed.
const BEFORE: &str = "{\n  \"theirs\": 1\n}\n";

/// Installs with one program, uses it, and upgrades to the other. Returns what was seen, a line per
/// step.
///
/// # Panics
/// If the later program does not find the registration or the state of the earlier one.
pub fn play(from: &Path, to: &Path) -> Vec<String> {
    let upgrade = Upgrade::new(from, to);
    let Upgrade { old, new, .. } = &upgrade;
    let mut steps = Vec::new();

    upgrade.types(old, &["install", "--yes"]);
    // An earlier build does not ask.
    if !upgrade.ran(old, &["trust", "--yes"]).succeeded() {
        upgrade.types(old, &["trust"]);
    }
    upgrade.types(old, &["pulse", "3"]);
    upgrade.types(old, &["gate", "on", "--project"]);
    let said = upgrade.stop("one");
    assert!(said.contains("beat 1 of 3"), "{said}");
    steps.push("the earlier program is installed, and holds a stop".into());

    let found = upgrade.hooks_finding(new).expect("the doctor says nothing");
    assert!(found.starts_with("two versions are in use: "), "{found}");
    assert!(found.contains(&*old.to_string_lossy()), "{found}");
    steps.push(format!("doctor: {}", upgrade.without_root(&found)));

    let status = upgrade.types(new, &["status", "--json"]);
    let status: Value = serde_json::from_str(&status).expect("it prints JSON");
    let state = |name: &str| {
        let mut machines = status["machines"].as_array().expect("a list").iter();
        let machine = machines.find(|machine| machine["name"] == name);
        machine.expect("every machine is there")["state"].clone()
    };
    assert_eq!(
        (state("pulse"), state("gate")),
        ("beating".into(), "waiting".into())
    );
    assert_eq!(status["trusted"], true);
    steps.push("the later program shows the same state, and the project is trusted".into());

    let said = upgrade.types(new, &["install", "--yes"]);
    assert!(said.contains("proved: "), "{said}");
    assert_eq!(upgrade.hooks_finding(new), None);
    let settings = upgrade.settings();
    assert!(!settings.contains(&*old.to_string_lossy()), "{settings}");
    steps.push("install brings the registration up to date; doctor is content with it".into());

    let said = upgrade.stop("two");
    assert!(said.contains("beat 2 of 3"), "{said}");
    let log = upgrade.types(new, &["log"]);
    let held = log.lines().filter(|line| line.contains(" held  ")).count();
    assert_eq!(held, 2, "{log}");
    steps.push("the next stop is held where the earlier program left off".into());

    upgrade.types(new, &["uninstall", "--yes"]);
    assert_eq!(upgrade.settings(), BEFORE);
    steps.push("uninstall brings back the settings of before the first installation".into());
    steps
}

/// A home, a project, and the two programs.
struct Upgrade {
    temp: tempfile::TempDir,
    old: PathBuf,
    new: PathBuf,
}

impl Upgrade {
    fn new(from: &Path, to: &Path) -> Self {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let root = temp.path().canonicalize().expect("it was just made");
        let copied = |folder: &str, program: &Path| {
            let folder = root.join(folder);
            fs::create_dir(&folder).expect("the folder is ours");
            let copy = folder.join("mainspring");
            fs::copy(program, &copy).expect("the program can be read");
            copy
        };
        let upgrade = Self {
            old: copied("old", from),
            new: copied("new", to),
            temp,
        };
        fs::create_dir_all(upgrade.project()).expect("the folder is ours");
        fs::create_dir_all(upgrade.file().parent().expect("a folder")).expect("it is ours");
        fs::write(upgrade.file(), BEFORE).expect("the file is ours");
        upgrade
    }

    fn root(&self) -> PathBuf {
        self.temp.path().canonicalize().expect("it is there")
    }

    fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    fn file(&self) -> PathBuf {
        self.root().join("home/.claude/settings.json")
    }

    fn settings(&self) -> String {
        fs::read_to_string(self.file()).expect("the settings are there")
    }

    fn without_root(&self, text: &str) -> String {
        text.replace(&*self.root().to_string_lossy(), "")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.root().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.project());
        command
    }

    fn ran(&self, program: &Path, args: &[&str]) -> Finished {
        Running::start(self.command(program).args(args)).wait(PATIENCE)
    }

    fn types(&self, program: &Path, args: &[&str]) -> String {
        let ran = self.ran(program, args);
        let said = ran.stdout_text();
        assert!(ran.succeeded(), "{args:?}: {said}{}", ran.stderr_text());
        said
    }

    /// What the doctor says about the hooks, if it is not content.
    fn hooks_finding(&self, program: &Path) -> Option<String> {
        // Its exit code is about everything.
        let doctor = self.ran(program, &["doctor", "--json"]).stdout_text();
        let doctor: Value = serde_json::from_str(&doctor).expect("it prints JSON");
        let mut findings = doctor["findings"].as_array().expect("a list").iter();
        let about = |finding: &&Value| {
            ["hooks", "trial"]
                .map(Value::from)
                .contains(&finding["about"])
                && finding["level"] != "fine"
        };
        let found = findings.find(about)?;
        Some(found["what"].as_str().expect("a text").into())
    }

    /// A stop through what is registered, as the host would send it; what was answered.
    fn stop(&self, words: &str) -> String {
        let settings: Value = serde_json::from_str(&self.settings()).expect("it is JSON");
        let groups = settings["hooks"]["Stop"].as_array().expect("a list").iter();
        let mut handlers = groups.flat_map(|group| group["hooks"].as_array().expect("a list"));
        // What waits in the background answers nothing.
        let handler = handlers.find(|handler| handler["asyncRewake"] != true);
        let handler = handler.expect("a handler");
        let line = handler["command"].as_str().expect("a command");
        let args = handler["args"].as_array();
        let mut command = self.command(Path::new(args.map_or("/bin/sh", |_| line)));
        match args {
            Some(args) => command.args(args.iter().filter_map(Value::as_str)),
            None => command.args(["-c", line]),
        };
        let event = json!({
            "session_id": "s", "cwd": self.project(), "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": words,
        });
        let answer = Running::start_with(&mut command, event.to_string()).wait(PATIENCE);
        assert!(answer.succeeded(), "{}", answer.stderr_text());
        answer.stdout_text()
    }
}
