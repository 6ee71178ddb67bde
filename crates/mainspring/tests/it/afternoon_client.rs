//! A recorded afternoon in the real client: two live sessions, three projects, a loop in each, one
//! `/clear`, one `--resume` and a fork. The snapshot is what each person and each agent was told.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use mainspring_testkit::claude::{Claude, Hook};
use mainspring_testkit::model::{Model, Turn};
use mainspring_testkit::process::wait_until;
use mainspring_testkit::recorder::{HookCall, Outcome};
use mainspring_testkit::tmux::Terminal;
use serde_json::{Value, json};

use crate::env::MAINSPRING;

const EVENTS: [&str; 4] = ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"];
const RESUMED: &str = "11111111-2222-4333-8444-555555555555";
const DONE: &str = "<loop-done>COMPLETE</loop-done>";

/// A project, its client and what its person reads.
struct Project {
    name: &'static str,
    claude: Claude,
}

impl Project {
    fn new(name: &'static str, model: &Model) -> Option<Self> {
        let claude = Claude::new(model)?.in_repository();
        Some(Self { name, claude })
    }

    /// All three share one person's home.
    fn at_home(self, home: &Path, projects: &Value) -> Self {
        let hook = Hook::exec(MAINSPRING, ["hook"]);
        let claude = self.claude.remembering("projects", projects.clone());
        let claude = claude.env("HOME", home).hooks(EVENTS, &hook).recording();
        Self { claude, ..self }
    }

    /// The person types a command of ours in another terminal, in this project.
    fn person(&self, home: &Path, args: &[&str]) -> String {
        let output = Command::new(MAINSPRING)
            .args(args)
            .env_clear()
            .env("HOME", home)
            .current_dir(self.claude.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        format!("$ mainspring {}\n{said}", args.join(" "))
    }

    fn ended(&self, event: &str) -> usize {
        let calls = self.claude.hook_calls_of(event);
        let ended = |call: &&HookCall| matches!(call.outcome, Outcome::Ended { .. });
        calls.iter().filter(ended).count()
    }

    fn wait_for(&self, event: &str, count: usize) {
        wait_until(&format!("{event} {count} in {}", self.name), || {
            self.ended(event) == count
        });
    }

    /// What the hooks said, in order.
    fn told(&self) -> String {
        let mut out = String::new();
        // A terminal that is closed may end the client before its last event.
        let ends =
            |call: &HookCall| call.event() == "SessionEnd" && call.input["reason"] != "clear";
        for call in self
            .claude
            .hook_calls()
            .into_iter()
            .filter(|call| !ends(call))
        {
            let Outcome::Ended {
                code: 0, stdout, ..
            } = &call.outcome
            else {
                panic!("{call:?}")
            };
            let answer: Value = serde_json::from_str(stdout).unwrap_or_default();
            let source = call.input["source"]
                .as_str()
                .or(call.input["reason"].as_str());
            let said = call.input["last_assistant_message"].as_str();
            let what = source.or(said).unwrap_or_default().replace('\n', " ");
            let session = call.input["session_id"].as_str().unwrap();
            let _ = writeln!(out, "{} {} ({what})", session, call.event());
            let agent = answer["hookSpecificOutput"]["additionalContext"].as_str();
            for (who, text) in [
                ("agent", agent.or(answer["reason"].as_str())),
                ("person", answer["systemMessage"].as_str()),
            ] {
                if let Some(text) = text {
                    let _ = writeln!(out, "  {who}: {}", text.replace('\n', "\n    "));
                }
            }
        }
        out
    }
}

/// Numbers for sessions, folders and times, which differ in every run.
fn plain(text: &str, home: &Path, projects: &[&Project]) -> String {
    let mut text = text.to_owned();
    let mut seen: Vec<String> = Vec::new();
    for project in projects {
        for call in project.claude.hook_calls() {
            let session = call.input["session_id"].as_str().unwrap().to_owned();
            if !seen.contains(&session) {
                seen.push(session);
            }
        }
        let folder = project.claude.project().display().to_string();
        text = text.replace(&folder, &format!("/{}", project.name));
    }
    for (index, session) in seen.iter().enumerate() {
        text = text.replace(session, &format!("S{}", index + 1));
    }
    let text = text.replace(&home.display().to_string(), "~");
    let lines = text
        .lines()
        .map(|line| match line.split_once(", latest event ") {
            Some((before, after)) => {
                let rest = after.split_once(',').map_or("", |(_, rest)| rest);
                format!(
                    "{before}, latest event TIME{}{rest}",
                    if rest.is_empty() { "" } else { "," }
                )
            }
            None => line.to_owned(),
        });
    let text: Vec<String> = lines.collect();
    // How long it took depends on the machine.
    let text = text.join("\n");
    let mut out = String::new();
    for line in text.lines() {
        let line = match line.split_once("), ") {
            Some((before, after)) if after.ends_with('s') && before.contains("let go after") => {
                format!("{before}), TIME")
            }
            _ => line.to_owned(),
        };
        out += &line;
        out.push('\n');
    }
    out
}

/// The agent runs a command of ours in its shell.
fn agent(args: &str) -> Turn {
    let line = format!("{MAINSPRING} {args}");
    Turn::call("Bash", json!({ "command": line, "description": "work" }))
}

fn prompt(terminal: &Terminal, text: &str) {
    terminal.wait_for("? for shortcuts");
    terminal.enter(text);
}

fn models() -> [Model; 3] {
    [
        Model::play([
            Turn::say("Hello."),
            Turn::say("Half of it is tidy."),
            Turn::say(format!("All of it is tidy.\n\n{DONE}")),
        ]),
        Model::play([
            agent("loop start --max 3 --prompt \"Write the guide.\""),
            Turn::say("A draft."),
            Turn::say("A better draft."),
            Turn::say(format!("The guide is written.\n\n{DONE}")),
        ]),
        Model::play([
            Turn::say("The tool is read."),
            Turn::say("A fork has no loop."),
            Turn::say("One test passes."),
            Turn::say(format!("All tests pass.\n\n{DONE}")),
        ]),
    ]
}

/// Three projects of one person; `None` if clients are skipped.
fn projects(models: &[Model; 3]) -> Option<Vec<Project>> {
    let made = ["shop", "guide", "tool"]
        .into_iter()
        .zip(models)
        .map(|(name, model)| Project::new(name, model));
    let made = made.collect::<Option<Vec<_>>>()?;
    let home = made[0].claude.home().to_owned();
    let trusted = |project: &Project| {
        let folder = project.claude.project().display().to_string();
        (folder, json!({ "hasTrustDialogAccepted": true }))
    };
    let folders: serde_json::Map<String, Value> = made.iter().map(trusted).collect();
    let folders = Value::from(folders);
    let at_home = |project: Project| project.at_home(&home, &folders);
    Some(made.into_iter().map(at_home).collect())
}

/// Two live sessions: one starts a loop itself, the other gets one from another terminal and is
/// then cleared.
fn two_sessions(shop: &Project, guide: &Project, home: &Path) -> String {
    let in_shop = shop.claude.interactive();
    prompt(&in_shop, "hello");
    shop.wait_for("Stop", 1);
    let in_guide = guide.claude.interactive();
    prompt(&in_guide, "write the guide in a loop");
    guide.wait_for("Stop", 3);
    let task = "Tidy the shop.";
    let start = [
        "loop",
        "start",
        "--session",
        "last",
        "--max",
        "5",
        "--prompt",
        task,
    ];
    let mut diary = shop.person(home, &start);
    diary += &shop.person(home, &["sessions"]);
    prompt(&in_shop, "/clear");
    shop.wait_for("SessionStart", 2);
    prompt(&in_shop, "go on");
    shop.wait_for("Stop", 3);
    diary
}

/// A run, a loop for its session, a fork of it, and the session resumed.
fn resumed_session(tool: &Project, home: &Path) -> String {
    let ask = |text: &'static str| tool.claude.ask(text);
    let first = ask("read the tool").args(["--session-id", RESUMED]);
    first.run().expect_success();
    let task = "Test the tool.";
    let start = [
        "loop",
        "start",
        "--session",
        RESUMED,
        "--max",
        "4",
        "--prompt",
        task,
    ];
    let diary = tool.person(home, &start);
    ask("look around").forking(RESUMED).run().expect_success();
    ask("go on").resuming(RESUMED).run().expect_success();
    diary
}

#[test]
fn an_afternoon_with_two_sessions_three_projects_and_a_loop_in_each() {
    let models = models();
    let Some(made) = projects(&models) else {
        return;
    };
    let home = made[0].claude.home().to_owned();
    let [shop, guide, tool] = made.as_slice() else {
        panic!("three were made")
    };
    let mut diary = two_sessions(shop, guide, &home);
    diary += &resumed_session(tool, &home);
    for project in &made {
        let _ = write!(diary, "\n# {}\n{}", project.name, project.told());
        assert_eq!(
            project.person(&home, &["loop", "status"]),
            "$ mainspring loop status\nno loop\n"
        );
    }
    let told = plain(&diary, &home, &[shop, guide, tool]);
    insta::with_settings!({
        description => "what each person and each agent was told, project by project",
        omit_expression => true,
        prepend_module_to_snapshot => false,
        snapshot_path => "../snapshots",
    }, {
        insta::assert_snapshot!("an_afternoon", told);
    });
}
