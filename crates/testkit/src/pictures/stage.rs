//! A computer with a few projects at work, for pictures and for measuring the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::process::{Held, Running, wait_until};

#[derive(Debug)]
pub(crate) struct Stage {
    temp: tempfile::TempDir,
    mainspring: PathBuf,
    /// Hooks that wait for a reviewer.
    waiting: Mutex<Vec<Held>>,
}

/// The session that works in a project.
fn session(project: &str) -> String {
    let digit = project.len() % 10;
    format!("{digit}f2c77aa-51b0-4e0e-9f7e-0000{project:0>8}")
}

impl Stage {
    pub(crate) fn new(mainspring: &Path) -> Self {
        let stage = Self {
            temp: tempfile::tempdir().expect("a temporary folder"),
            mainspring: mainspring.into(),
            waiting: Mutex::default(),
        };
        for folder in ["home", "tmp", "bin"] {
            fs::create_dir_all(stage.path(folder)).expect("a folder");
        }
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = self.temp.path().canonicalize().expect("it is there");
        root.join(name)
    }

    fn project(&self, name: &str) -> PathBuf {
        self.path("home").join(name)
    }

    /// The program in a project, with nothing but this computer in its environment.
    pub(crate) fn command(&self, project: &str) -> Command {
        let folder = self.project(project);
        fs::create_dir_all(folder.join(".git")).expect("a folder");
        let mut command = Command::new(&self.mainspring);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", self.path("bin").display()),
            )
            .current_dir(folder);
        command
    }

    /// A command that a person types.
    pub(crate) fn person(&self, project: &str, args: &[&str]) {
        let output = self.command(project).args(args).output();
        let output = output.expect("mainspring runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    fn event(&self, project: &str, words: &str) -> Value {
        json!({
            "session_id": session(project),
            "transcript_path": self.project(project).join("none.jsonl"),
            "cwd": self.project(project),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": words,
        })
    }

    /// The agent of a project wants to stop.
    pub(crate) fn stop(&self, project: &str, words: &str) {
        let event = self.event(project, words).to_string();
        let mut command = self.command(project);
        let done = Running::start_with(command.arg("hook"), event).wait(crate::process::PATIENCE);
        assert!(done.succeeded(), "{}", done.stderr_text());
    }

    /// The same, at a stop that starts a reviewer which takes its time.
    fn stop_under_review(&self, project: &str) {
        let event = self.path("tmp").join("event.json");
        fs::write(&event, self.event(project, "Done.").to_string()).expect("room");
        let reader = fs::File::open(&event).expect("it is there");
        let mut command = self.command(project);
        command
            .arg("hook")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let hook = Held::start_with(&mut command, reader);
        self.waiting.lock().expect("nobody panicked").push(hook);
        let intent = |name: &str| name.starts_with("intent-");
        wait_until("the reviewer runs", || {
            let names = fs::read_dir(self.state(project)).expect("it has state");
            names
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .any(|name| intent(&name))
        });
    }

    fn state(&self, project: &str) -> PathBuf {
        let projects = self.path("home").join(".local/state/mainspring/projects");
        let mut all = fs::read_dir(projects).expect("there is state").flatten();
        let root = self.project(project);
        let its = |dir: &PathBuf| {
            let named = fs::read_to_string(dir.join("root")).unwrap_or_default();
            Path::new(named.trim_end()) == root
        };
        all.find_map(|entry| Some(entry.path()).filter(its))
            .expect("the project has state")
    }

    /// A project's name in addresses.
    pub(crate) fn key(&self, project: &str) -> String {
        let state = self.state(project);
        let name = state.file_name().expect("a name");
        name.to_string_lossy().into_owned()
    }

    /// Three projects: a gate and a merged claim, a loop and a plan, and one that waits for trust.
    pub(crate) fn fill(&self) {
        self.person("shop", &["trust", "--yes"]);
        self.person("shop", &["gate", "on", "--project"]);
        for words in ["The form works.", "All of it works now.", "Really done."] {
            self.stop("shop", words);
        }
        let claim = json!({
            "schema_version": 1, "item_id": "", "issue_number": 42, "branch": "fix-checkout",
            "agent_id": "ada-1", "phase": "merged_detected", "summary": "Fix the checkout",
            "status": "In Review", "pr_number": 57,
        });
        self.write("shop/.agent-claim.json", &claim.to_string());
        self.write("docs/.taskie/plans/site/plan.md", "# Plan\n");
        self.person("docs", &["pulse", "2"]);
        self.stop("docs", "Hello!");
        self.plan();
    }

    fn plan(&self) {
        self.person("api", &["trust", "--yes"]);
        self.write("api/.taskie/plans/checkout/plan.md", "# Plan\n");
        self.person("api", &["plan", "init", "checkout"]);
        self.person("api", &["loop", "start", "--max", "5"]);
        for words in ["Two endpoints are left.", "One endpoint is left."] {
            self.stop("api", words);
        }
        let rounds = [
            (310_000, 4),
            (240_000, 2),
            (180_000, 1),
            (90_000, 0),
            (80_000, 0),
        ];
        let mut reviews = String::new();
        for (round, (cost, findings)) in (1_u32..).zip(rounds) {
            let past = json!({
                "at": 1_760_000_000_000_u64 + u64::from(round) * 600_000, "plan": "checkout",
                "review": "plan", "file": format!("plan-review-{round}.md"), "iteration": round,
                "model": if round % 2 == 1 { "opus" } else { "sonnet" },
                "result": { "reviewed": if round < 4 { "fail" } else { "pass" } },
                "took": 47_000, "cost": cost, "findings": findings,
            });
            reviews += &format!("{past}\n");
        }
        fs::write(self.state("api").join("reviews.jsonl"), reviews).expect("room");
        // A reviewer that takes its time.
        let reviewer = self.path("bin").join("claude");
        fs::write(&reviewer, "#!/bin/sh\nexec sleep 600\n").expect("room");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&reviewer, mode).expect("it is ours");
        self.person("api", &["loop", "abort"]);
        self.person("api", &["loop", "start", "--max", "5"]);
        self.stop("api", "One endpoint is left.");
        self.stop("api", "Nearly done.");
        self.write("web/.taskie/plans/theme/plan.md", "# Plan\n");
        self.person("web", &["trust", "--yes"]);
        self.person("web", &["plan", "init", "theme"]);
        self.stop_under_review("web");
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path("home").join(below);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("room");
    }
}

impl Drop for Stage {
    /// A hook that waits must not write into a home that is being deleted.
    fn drop(&mut self) {
        if let Ok(waiting) = self.waiting.get_mut() {
            waiting.clear();
        }
    }
}
