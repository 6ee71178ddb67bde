//! A checkout of `acme/widgets` whose server is a bare repository, with a stand-in for GitHub.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use mainspring_testkit::clients::Client;
use mainspring_testkit::github::{self, BareRepo, CountedGh, GitHub, Project, Repo, bare_repo};
use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};

pub(crate) const ORIGIN: &str = "https://github.com/acme/widgets.git";
pub(crate) const BRANCH: &str = "claude/fix-the-race-42";

pub(crate) struct World {
    pub(crate) github: GitHub,
    pub(crate) bare: BareRepo,
    pub(crate) env: TestEnv,
    gh: CountedGh,
    events: AtomicU32,
}

/// `None` if the real `gh` may not be run.
pub(crate) fn world() -> Option<World> {
    let world = untrusted()?;
    world.env.run(&["trust", "--yes"]).ok();
    Some(world)
}

pub(crate) fn untrusted() -> Option<World> {
    at("github.com", ORIGIN)
}

/// A checkout whose `origin` has this address, and a repository on this GitHub server.
pub(crate) fn at(host: &str, origin: &str) -> Option<World> {
    if github::client() == Client::Skipped {
        return None;
    }
    let github = GitHub::start();
    let bare = bare_repo();
    let widgets = github.add_repository_on(host, "acme", "widgets");
    widgets.follow(&bare.git_dir());
    widgets.add_issue(42, "Fix the race");
    widgets.add_issue(43, "Tidy up");
    let board = github.add_project_on(host, "acme", 1);
    board.add_item(widgets, 42, "Todo");
    board.add_item(widgets, 43, "Todo");
    let gh = CountedGh::install();
    let mut env = TestEnv::new();
    for (name, value) in github.env() {
        env = env.with(&name, &value);
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", gh.folder().display());
    let env = env
        .with("PATH", &path)
        .with("USER", "ada")
        .with("MOLTNET_PROJECT_NUMBER", "1");
    bare.clone_as(origin, &env.project());
    Some(World {
        github,
        bare,
        env,
        gh,
        events: AtomicU32::new(0),
    })
}

impl World {
    pub(crate) fn widgets(&self) -> Repo<'_> {
        self.github.repository("acme", "widgets")
    }

    pub(crate) fn board(&self) -> Project<'_> {
        self.github.project("acme", 1)
    }

    /// The card of issue 42: its status, and who works on it.
    pub(crate) fn card(&self) -> (String, String) {
        let values = self.board().item(42).values;
        let value = |name: &str| values.get(name).cloned().unwrap_or_default();
        (value("Status"), value("Agent"))
    }

    /// The PATH, with the counted `gh` first.
    pub(crate) fn path(&self) -> String {
        format!(
            "{}:/usr/local/bin:/usr/bin:/bin",
            self.gh.folder().display()
        )
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.env.project().join(".agent-claim.json")
    }

    pub(crate) fn claim(&self) -> Value {
        let text = fs::read_to_string(self.file()).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Edits the claim file as an agent would.
    pub(crate) fn edit(&self, fields: Value) {
        let mut claim = self.claim();
        let Value::Object(fields) = fields else {
            panic!("an object")
        };
        claim.as_object_mut().unwrap().extend(fields);
        fs::write(self.file(), claim.to_string()).unwrap();
    }

    /// Writes the claim file by hand.
    pub(crate) fn write(&self, phase: &str) {
        let claim = json!({
            "schema_version": 1, "item_id": "", "issue_number": 42, "branch": BRANCH,
            "agent_id": "ada-1", "phase": phase, "summary": "Fix the race", "status": "In Progress",
            "pr_number": null, "last_check_poll": null, "last_synced_status": "In Progress",
        });
        fs::write(self.file(), claim.to_string()).unwrap();
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.env.project(), args)
    }

    /// Commits on the claim's branch and pushes it.
    pub(crate) fn work(&self) -> String {
        self.git(&["switch", "--quiet", "-C", BRANCH]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "Work"]);
        self.git(&["push", "--quiet", "origin", BRANCH]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// The result, and the number of `gh` processes that were started.
    pub(crate) fn gh_runs(&self, what: impl FnOnce() -> Ran) -> (Ran, usize) {
        let before = self.gh.starts().len();
        let ran = what();
        (ran, self.gh.starts().len() - before)
    }

    pub(crate) fn idle(&self) -> Ran {
        // The same bytes within two seconds would count as the same delivery.
        let message = format!("waiting {}", self.events.fetch_add(1, Ordering::Relaxed));
        let fields = json!({ "notification_type": "idle_prompt", "message": message });
        self.env.hook("Notification", fields)
    }

    /// A stop after this message; a second stop with the same message counts as another.
    pub(crate) fn stop(&self, words: &str) -> Ran {
        let event = self.events.fetch_add(1, Ordering::Relaxed);
        self.env.stop(&format!("{words} ({event})"))
    }

    /// The user writes this, and the client keeps it in its transcript.
    pub(crate) fn prompt(&self, text: &str) -> Ran {
        self.typed("s", text);
        self.piped_prompt(text)
    }

    /// A line of the user's in a session's transcript.
    pub(crate) fn typed(&self, session: &str, text: &str) {
        let line = json!({
            "type": "user", "promptId": text, "timestamp": jiff::Timestamp::now().to_string(),
            "promptSource": "typed", "origin": { "kind": "human" },
            "message": { "role": "user", "content": text },
        });
        self.transcribe(session, &line);
    }

    /// The agent says this, and the client keeps it in its transcript.
    pub(crate) fn agent_says(&self, text: &str) {
        let line = json!({
            "type": "assistant", "timestamp": jiff::Timestamp::now().to_string(),
            "message": { "id": text, "role": "assistant", "content": [{ "type": "text", "text": text }] },
        });
        self.transcribe("s", &line);
    }

    fn transcribe(&self, session: &str, line: &Value) {
        let name = format!(".claude/projects/p/{session}.jsonl");
        let transcript = self.env.home().join(name);
        fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&transcript).unwrap_or_default();
        fs::write(&transcript, format!("{before}{line}\n")).unwrap();
    }

    /// The event alone, as anybody can give it to the hook.
    pub(crate) fn piped_prompt(&self, text: &str) -> Ran {
        self.env.hook("UserPromptSubmit", json!({ "prompt": text }))
    }

    /// The pull request is merged, and the user lets the issue be closed.
    pub(crate) fn let_close(&self) {
        self.widgets().merge(44);
        self.two_minutes_later();
        drop(self.idle());
        drop(self.prompt("what is new?"));
        self.agent_says("PR #44 is merged. Should I close issue #42?");
        drop(self.prompt("yes"));
    }

    /// The agent closes the issue that the user let be closed.
    pub(crate) fn done(&self) -> Ran {
        self.env.agent("s", &["claim", "done"])
    }

    pub(crate) fn start(&self, session: &str, source: &str) -> Ran {
        let number = self.events.fetch_add(1, Ordering::Relaxed);
        let fields = json!({ "session_id": session, "source": source, "number": number });
        self.env.hook("SessionStart", fields)
    }

    /// Makes two minutes pass for the back-off.
    pub(crate) fn two_minutes_later(&self) {
        self.edit(json!({ "last_check_poll": "2020-01-01T00:00:00Z" }));
    }

    /// Does everything up to the pull request.
    pub(crate) fn with_pull_request(&self) -> String {
        let head = self.work();
        self.write("ready_for_pr");
        let said = self.stop("done").held();
        assert!(said.contains("PR #44 created"), "{said}");
        head
    }
}

pub(crate) fn git(folder: &std::path::Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().into()
}

/// The context that the agent was given.
pub(crate) fn context(ran: Ran) -> String {
    let answer = ran.json();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
    text.unwrap_or_else(|| panic!("no context in {answer}"))
        .to_owned()
}
