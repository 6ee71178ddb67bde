//! The real client, also as the reviewer: both follow a script.

use std::fs;
use std::path::{Path, PathBuf};

use mainspring_testkit::claude::Claude;
use mainspring_testkit::model::{Model, Request, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::env::MAINSPRING;

/// Only a reviewer's prompt has this.
pub(crate) const REVIEWER: &str = "You start from a clean slate";

/// The client in a trusted project, with `mainspring` on the PATH and our hooks in its own
/// settings, so that a reviewer has them, too.
fn client(model: &Model) -> Option<Claude> {
    let bin = Path::new(MAINSPRING).parent().unwrap();
    let claude = Claude::new(model)?.in_repository().path_first(bin);
    let hook = json!([{"hooks": [
        {"type": "command", "command": MAINSPRING, "args": ["hook"], "timeout": 660}
    ]}]);
    let settings = json!({"hooks": {"Stop": hook, "SessionStart": hook, "SessionEnd": hook}});
    write(
        &claude.home().join(".claude/settings.json"),
        &settings.to_string(),
    );
    mainspring(&claude, &["trust", "--yes"]);
    Some(claude)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A command that a person types in the project.
fn mainspring(claude: &Claude, args: &[&str]) -> String {
    let output = std::process::Command::new(MAINSPRING)
        .args(args)
        .env_clear()
        .env("HOME", claude.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(claude.project())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn plan(claude: &Claude) -> PathBuf {
    claude.project().join(".taskie/plans/demo")
}

fn state(claude: &Claude) -> Value {
    let text = fs::read_to_string(plan(claude).join("state.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The agent runs a command.
fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({"command": command, "description": "work"}))
}

/// The reviewer writes its review.
fn write_review() -> Turn {
    Turn::decide(|request: &Request| {
        let asked = request
            .texts()
            .iter()
            .find_map(|text| {
                let (_, rest) = text.split_once("Write your review to ")?;
                Some(rest.split([',', ' ']).next()?.to_owned())
            })
            .unwrap();
        let system = request.texts().join("\n") + &request.system();
        let folder = system
            .lines()
            .find_map(|line| {
                line.split_once("orking directory: ")
                    .map(|(_, path)| path.trim())
            })
            .unwrap_or_else(|| panic!("no working directory in {system}"));
        let file = Path::new(folder).join(asked);
        Turn::call(
            "Write",
            json!({"file_path": file, "content": "# Review\n\nFindings.\n"}),
        )
    })
}

/// The turns of one reviewer.
pub(crate) fn review(verdict: &str) -> [Turn; 2] {
    [
        write_review(),
        Turn::structured(json!({"verdict": verdict, "findings": [], "earlier": []})),
    ]
}

/// The agent answers a review: the file, then the command.
fn answer(kind: &str, stem: &str, iteration: u32) -> [Turn; 2] {
    let file = format!(".taskie/plans/demo/{stem}-post-review-{iteration}.md");
    [
        bash(&format!(
            "echo fixed > {file} && mainspring plan advance post-{kind}"
        )),
        Turn::say(format!("Answered review {iteration}.")),
    ]
}

/// The models of the reviewers, one for each.
fn reviewers(model: &Model) -> Vec<String> {
    let mut seen: Vec<(String, String)> = vec![];
    for request in model.requests() {
        if request.has_text(REVIEWER) {
            let who = (request.session().to_owned(), request.model().to_owned());
            if !seen.contains(&who) {
                seen.push(who);
            }
        }
    }
    seen.into_iter()
        .map(|(_, model)| {
            let family = ["opus", "sonnet", "haiku"];
            let known = family.iter().find(|name| model.contains(**name));
            known.map_or(model.clone(), ToString::to_string)
        })
        .collect()
}

#[test]
fn a_plan_is_reviewed_three_times_in_one_prompt() {
    let main = [
        bash(
            "mkdir -p .taskie/plans/demo && printf '# Plan\\n\\n## Overview\\n' > \
             .taskie/plans/demo/plan.md && mainspring plan init demo",
        ),
        Turn::say("The plan is written."),
    ]
    .into_iter()
    .chain(answer("plan-review", "plan", 1))
    .chain(answer("plan-review", "plan", 2));
    let verdicts = ["FAIL", "PASS", "PASS"].into_iter().flat_map(review);
    let model = Model::play(Script::new(main).when_told(REVIEWER, verdicts));
    let Some(claude) = client(&model) else { return };

    let run = claude.run("make a plan").expect_success();

    assert_eq!(run.answer(), "Answered review 2.");
    assert_eq!(reviewers(&model), ["opus", "sonnet", "opus"]);
    assert_eq!(
        state(&claude),
        json!({
            "max_reviews": 8, "current_task": null, "phase": "plan-review", "phase_iteration": null,
            "next_phase": "create-tasks", "review_model": "sonnet", "consecutive_clean": 2,
            "tdd": false,
        })
    );
    let mut names: Vec<String> = fs::read_dir(plan(&claude))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "plan-post-review-1.md",
            "plan-post-review-2.md",
            "plan-review-1.md",
            "plan-review-2.md",
            "plan-review-3.md",
            "plan.md",
            "state.json",
        ]
    );
    // If a reviewer's own stop had reached us, it would be in the journal.
    let log = mainspring(&claude, &["log", "--json"]);
    let sessions: std::collections::BTreeSet<String> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|record| {
            let event = &record["entry"]["turn"]["case"]["event"];
            event["session"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(sessions.into_iter().collect::<Vec<_>>(), [run.session_id()]);
    model.assert_played_out();
}

const LAST_TASK: &str = "| Id | Status |\n|----|--------|\n| 1 | done |\n";

/// A plan whose only task is implemented and due for review.
fn built(claude: &Claude) {
    let dir = plan(claude);
    write(&dir.join("plan.md"), "# Plan\n\n## Overview\n");
    write(&dir.join("tasks.md"), LAST_TASK);
    write(
        &dir.join("task-1.md"),
        "# Task 1\n\n- **Status**: completed\n",
    );
}

#[test]
fn the_last_tasks_review_leads_to_all_code_and_to_the_end() {
    let first = [
        bash("mainspring plan advance complete-task --task 1"),
        Turn::say("Task 1 is built."),
    ]
    .into_iter()
    .chain(answer("code-review", "task-1", 1));
    let second = [
        bash("mainspring plan route"),
        Turn::say("Stopping for the review."),
    ]
    .into_iter()
    .chain(answer("all-code-review", "all-code", 1));
    let third = [
        bash("mainspring plan route && mainspring plan advance complete"),
        Turn::say("All done."),
    ];
    let verdicts = ["PASS"; 4].into_iter().flat_map(review);
    let model =
        Model::play(Script::new(first.chain(second).chain(third)).when_told(REVIEWER, verdicts));
    let Some(claude) = client(&model) else { return };
    built(&claude);
    write(
        &plan(&claude).join("state.json"),
        r#"{"phase": "create-tasks", "next_phase": "complete-task"}"#,
    );

    claude.run("complete the task").expect_success();
    let after_code = state(&claude);
    assert_eq!(after_code["phase"], "code-review");
    assert_eq!(after_code["next_phase"], "all-code-review");
    assert_eq!(after_code["phase_iteration"], 0);
    assert_eq!(after_code["consecutive_clean"], 0);

    // Another session goes on: by asking for the route, it takes the plan over.
    claude.run("continue the plan").expect_success();
    assert!(model.saw_text("The all-code review starts when you stop"));
    let after_all = state(&claude);
    assert_eq!(after_all["phase"], "all-code-review");
    assert_eq!(after_all["next_phase"], "complete");

    claude.run("continue the plan").expect_success();
    assert!(model.saw_text("run `mainspring plan advance complete --plan demo`"));
    assert!(model.saw_text("commit what is left of the plan's files"));
    let end = state(&claude);
    assert_eq!(
        (&end["phase"], &end["next_phase"]),
        (&json!("complete"), &Value::Null)
    );
    assert_eq!(reviewers(&model), ["opus", "sonnet", "opus", "sonnet"]);
    let status = mainspring(&claude, &["plan", "status"]);
    assert_eq!(status.matches("PASS").count(), 4, "{status}");
    model.assert_played_out();
}

/// The agent plans and stops, and then says this.
fn planning(after: impl IntoIterator<Item = Turn>) -> impl Iterator<Item = Turn> {
    [
        bash(
            "mkdir -p .taskie/plans/demo && printf '# Plan\\n\\n## Overview\\n' > \
             .taskie/plans/demo/plan.md && mainspring plan init demo",
        ),
        Turn::say("The plan is written."),
    ]
    .into_iter()
    .chain(after)
}

#[test]
fn a_reviewer_that_never_answers_in_the_schema_is_not_clean() {
    let model = Model::play(
        Script::new(planning([Turn::say("I read the review.")]))
            .when_told(REVIEWER, [write_review()])
            .and_then_always(|_| Turn::say("PASS. Everything is fine: verdict PASS.")),
    );
    let Some(claude) = client(&model) else { return };

    claude.run("make a plan").expect_success();

    let state = state(&claude);
    assert_eq!(state["next_phase"], "post-plan-review");
    assert_eq!(state["phase_iteration"], 1);
    assert_eq!(state["consecutive_clean"], 0);
    assert!(model.saw_text("The plan review 1 of 8: no verdict"));
    let status = mainspring(&claude, &["plan", "status"]);
    assert!(status.contains("no verdict"), "{status}");
}

#[test]
fn a_reviewer_that_hangs_is_ended_and_the_stop_goes_through() {
    let model = Model::play(Script::new(planning([])).when_told(REVIEWER, [Turn::hang()]));
    let Some(claude) = client(&model) else { return };
    let config = claude.home().join(".config/mainspring/config.toml");
    write(&config, "[review]\ndeadline = \"4s\"\n");

    let run = claude.run("make a plan").expect_success();

    assert_eq!(run.answer(), "The plan is written.");
    let state = state(&claude);
    assert_eq!(state["phase_iteration"], 0, "nothing is consumed");
    assert_eq!(state["next_phase"], "plan-review", "it is still due");
    let status = mainspring(&claude, &["plan", "status"]);
    assert!(status.contains("timed out"), "{status}");
    assert!(plan(&claude).join(".review-1.log").exists());
}

/// A reviewer that reports this.
fn reports(answer: Value) -> [Turn; 2] {
    [write_review(), Turn::structured(answer)]
}

/// The agent of one plan, prompt by prompt, and its reviewers.
struct Life {
    plan: &'static str,
}

impl Life {
    fn dir(&self) -> String {
        format!(".taskie/plans/{}", self.plan)
    }

    /// The agent writes the answer file of a review, and says that it did.
    fn answers(&self, kind: &str, file: &str, text: &str) -> [Turn; 2] {
        let (dir, plan) = (self.dir(), self.plan);
        [
            bash(&format!(
                "echo '{text}' > {dir}/{file} && mainspring plan advance post-{kind} --plan {plan}"
            )),
            Turn::say(format!("Answered {file}.")),
        ]
    }

    fn turns(&self) -> Vec<Turn> {
        let (dir, plan) = (self.dir(), self.plan);
        let mut turns = vec![
            // The plan: one finding, disputed and withdrawn.
            bash(&format!(
                "mkdir -p {dir} && printf '# Plan\\n\\n## Overview\\n' > {dir}/plan.md && \
                 mainspring plan init {plan}"
            )),
            Turn::say("The plan is written."),
        ];
        turns.extend(self.answers(
            "plan-review",
            "plan-post-review-1.md",
            "F1: disputed, it is there",
        ));
        turns.extend(self.answers("plan-review", "plan-post-review-2.md", "Nothing."));
        // The user wants the plan reviewed from the start.
        turns.push(Turn::say("Then it is reviewed again."));
        turns.extend(self.answers("plan-review", "plan-post-review-4.md", "Nothing."));
        // The tasks: the user finds them good enough.
        turns.push(bash(&format!(
            "printf '| Id | Status |\\n|----|--------|\\n| 1 | pending |\\n' > {dir}/tasks.md && \
             printf '# Task 1\\n\\n- **Status**: pending\\n' > {dir}/task-1.md && \
             mainspring plan advance create-tasks --plan {plan}"
        )));
        turns.push(Turn::say("The tasks are written."));
        turns.push(Turn::say("I would rather ask first."));
        turns.push(bash(&format!("mainspring plan accept --plan {plan}")));
        turns.push(Turn::say("Accepted."));
        // The code.
        turns.push(bash(&format!(
            "echo built >> {plan}.txt && sed -i s/pending/done/ {dir}/tasks.md && \
             mainspring plan advance complete-task --task 1 --plan {plan}"
        )));
        turns.push(Turn::say("Task 1 is built."));
        turns.extend(self.answers("code-review", "task-1-post-review-1.md", "Nothing."));
        turns.push(Turn::say("All code comes next."));
        turns.extend(self.answers("all-code-review", "all-code-post-review-1.md", "Nothing."));
        turns.push(bash(&format!(
            "mainspring plan route --plan {plan} && mainspring plan advance complete --plan {plan}"
        )));
        turns.push(Turn::say("All done."));
        turns
    }

    fn reviews() -> Vec<Turn> {
        let finding = json!({"id": "F1", "severity": "major", "path": "plan.md", "line": 1,
            "claim": "It says nothing of errors.", "evidence": "There is no such heading."});
        let clean = || json!({"verdict": "PASS", "findings": [], "earlier": []});
        let answers = [
            json!({"verdict": "FAIL", "findings": [finding.clone()], "earlier": []}),
            json!({"verdict": "PASS", "findings": [],
                "earlier": [{"id": "F1", "status": "withdrawn"}]}),
            clean(),
            clean(),
            clean(),
            json!({"verdict": "FAIL", "findings": [finding], "earlier": []}),
            clean(),
            clean(),
            clean(),
            clean(),
        ];
        answers.into_iter().flat_map(reports).collect()
    }
}

/// A plan from its first prompt to its end, and then another one in the same project: with a
/// disputed finding, a cycle that the user begins again, and tasks that the user accepts.
#[test]
fn two_whole_plans_with_a_dispute_a_restart_and_an_accept() {
    let lives = [Life { plan: "demo" }, Life { plan: "again" }];
    let main = lives.iter().flat_map(Life::turns);
    let reviews = lives.iter().flat_map(|_| Life::reviews());
    let model = Model::play(Script::new(main).when_told(REVIEWER, reviews));
    let Some(claude) = client(&model) else { return };
    for life in &lives {
        let state = || {
            let file = claude.project().join(life.dir()).join("state.json");
            serde_json::from_str::<Value>(&fs::read_to_string(file).unwrap()).unwrap()
        };
        claude.run("make a plan").expect_success();
        assert_eq!(state()["next_phase"], "create-tasks");
        mainspring(
            &claude,
            &["plan", "review", "restart", "plan", "--plan", life.plan],
        );
        claude.run("review the plan once more").expect_success();
        assert_eq!(state()["next_phase"], "create-tasks");
        assert_eq!(state()["phase_iteration"], Value::Null);
        claude.run("create the tasks").expect_success();
        assert_eq!(state()["next_phase"], "post-tasks-review");
        claude.run("accept it").expect_success();
        assert_eq!(state()["next_phase"], "complete-task");
        claude.run("build it").expect_success();
        assert_eq!(state()["next_phase"], "all-code-review");
        claude.run("go on").expect_success();
        assert_eq!(state()["next_phase"], "complete");
        claude.run("finish it").expect_success();
        assert_eq!(state()["phase"], "complete");
        let status = mainspring(&claude, &["plan", "status", "--plan", life.plan]);
        assert_eq!(status.matches("PASS").count(), 8, "{status}");
        assert_eq!(status.matches("FAIL").count(), 2, "{status}");
    }
    assert!(model.saw_text("F1 (major, plan.md:1), new: It says nothing of errors."));
    assert!(model.saw_text("(the agent: disputed, it is there)"));
    model.assert_played_out();
}

/// The names in a list of variables.
fn names(listing: &str) -> std::collections::BTreeSet<String> {
    let names = listing.lines().filter_map(|line| line.split_once('='));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn nothing_that_the_client_sets_for_a_hook_reaches_the_reviewer() {
    let model = Model::play(Script::new(planning([])));
    let Some(claude) = client(&model) else { return };
    let seen = claude.home().join("seen");
    let reviewer = claude.home().join("reviewer");
    write(
        &reviewer,
        &format!("#!/bin/sh\nenv > {}\nexit 1\n", seen.display()),
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&reviewer, mode).unwrap();
    let config = claude.home().join(".config/mainspring/config.toml");
    write(
        &config,
        &format!("[review]\ncommand = \"{}\"\n", reviewer.display()),
    );

    claude.run("make a plan").expect_success();

    let mut own =
        names(&String::from_utf8(claude.command("env").output().unwrap().stdout).unwrap());
    own.extend(["MAINSPRING_DEPTH", "PWD", "OLDPWD", "SHLVL", "_"].map(str::to_owned));
    let reached = names(&fs::read_to_string(seen).unwrap());
    let strangers: Vec<&String> = reached.difference(&own).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    assert!(reached.contains("ANTHROPIC_API_KEY"), "{reached:?}");
}
