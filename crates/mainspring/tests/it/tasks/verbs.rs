//! The commands that change a list from a shell.

use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::{STEPS, invoke, put, skill, tasks};
use crate::env::TestEnv;

#[test]
fn an_agent_without_task_tools_works_through_its_list() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    invoke(&env, "ship").ok();
    let agent = |args: &[&str]| {
        let mut words = vec!["tasks"];
        words.extend(args);
        env.agent("s", &words)
    };
    assert_snapshot!(agent(&["next"]).ok(), @"#1    pending     Set up");
    assert_snapshot!(agent(&["start", "3"]).failed(), @r"
    error: #3 waits for #1, #2
    hint: `mainspring tasks next` shows what can be started
    ");
    assert_snapshot!(agent(&["start", "1"]).ok(), @"started #1 Set up");
    assert_snapshot!(agent(&["note", "1", "half \u{1b}way"]).ok(), @"noted #1 Set up");
    assert_snapshot!(agent(&["done", "1"]).ok(), @"completed #1 Set up");
    assert_snapshot!(agent(&["add", "Document", "--after", "2"]).ok(), @"added #4 Document");
    assert_snapshot!(agent(&["list"]).ok(), @r"
    #1    completed   Set up
            note: half way
    #2    pending     Build
            All of it
    #3    pending     Ship  (waits for #2)
    #4    pending     Document  (waits for #2)
    ");
    assert_snapshot!(agent(&["done", "9"]).failed(), @r"
    error: there is no task #9
    hint: `mainspring tasks list` shows all
    ");
    assert_snapshot!(agent(&["add", " "]).failed(), @r#"
    error: a task needs a subject
    hint: `mainspring tasks add "What to do"`
    "#);
    for id in ["2", "3", "4"] {
        agent(&["done", id]).ok();
    }
    assert_snapshot!(agent(&["next"]).ok(), @"all tasks are completed");
    // A task that was added by hand stays when the skill starts over.
    invoke(&env, "ship").ok();
    assert_eq!(
        tasks(&env),
        [
            "4 Document <>",
            "5 Set up <>",
            "6 Build <5>",
            "7 Ship <5,6>"
        ]
    );
}

#[test]
fn a_person_names_the_list_or_looks_at_that_of_the_last_session() {
    let env = TestEnv::new();
    skill(&env, "ship", STEPS);
    invoke(&env, "ship").ok();
    assert_snapshot!(env.run(&["tasks", "next"]).ok(), @"#1    pending     Set up");
    assert_snapshot!(env.run(&["tasks", "start", "1"]).failed(), @r"
    error: the session is not known, so its task list cannot be found
    hint: name the list: `--list NAME`
    hint: there is `--list s`
    ");
    assert_snapshot!(env.run(&["tasks", "next", "--list", "s"]).ok(), @"#1    pending     Set up");
    assert_snapshot!(env.run(&["tasks", "list", "--list", "../s"]).ok(), @"no tasks");
}

#[test]
fn an_author_is_told_line_and_column() {
    let env = TestEnv::new();
    let place = |text: String| text.replace(&env.project().display().to_string(), "PROJECT");
    skill(
        &env,
        "bad",
        "[\n  {\"id\": 0, \"subject\": \"é\"},\n  {\"id\": 2, \"blocks\": [\"x\"]}\n]\n",
    );
    assert_snapshot!(place(env.run(&["tasks", "validate", ".claude/skills/bad"]).failed()), @r#"
    error: 3 problems
    PROJECT/.claude/skills/bad/fsm.json:2:10: error: Task 1: 'id' must be a whole number from 1 to 1000000, found 0
    PROJECT/.claude/skills/bad/fsm.json:3:3: error: Task 2: missing required field 'subject'
    PROJECT/.claude/skills/bad/fsm.json:3:23: error: Task 2: blocks must hold ids, found "x"
    "#);
    skill(
        &env,
        "odd",
        r#"[
  {"id": 1, "subject": "a", "description": "d", "blockedBy": [2], "owner": "x", "owner": "y"},
  {"id": 2, "subject": "b", "description": "d", "blockedBy": [1]},
  {"id": 3, "subject": "c", "description": "d", "blockedBy": [2]},
  {"id": 4, "subject": "d", "blocks": [5]},
  {"id": 5, "subject": "e", "description": "d"}
]"#,
    );
    put(
        &env.project().join(".claude/skills/odd/SKILL.md"),
        "# Odd\n\nRead fsm.json first.\n",
    );
    assert_snapshot!(place(env.run(&["tasks", "validate", ".claude/skills/odd/fsm.json"]).ok()), @r"
    PROJECT/.claude/skills/odd/fsm.json: 5 tasks, 5 warnings
    PROJECT/.claude/skills/odd/fsm.json:2:62: warning: id 1 waits for id 2 waits for id 1: none of them can start
    PROJECT/.claude/skills/odd/fsm.json:2:90: warning: 'owner' appears twice: the last one counts
    PROJECT/.claude/skills/odd/fsm.json:4:62: warning: id 3 can never start: it waits for tasks that wait for each other
    PROJECT/.claude/skills/odd/fsm.json:5:3: warning: id 4 has no description
    PROJECT/.claude/skills/odd/SKILL.md:3:1: warning: mentions fsm.json: the agent would read it, and fill its context
    ");
    assert_snapshot!(env.run(&["tasks", "preview", ".claude/skills/odd"]).ok(), @r"
    first  4 d
    then   5 e  (after 4)
    never  1 a  (after 2)
    never  2 b  (after 1)
    never  3 c  (after 2)
    ");
    skill(
        &env,
        "good",
        r#"[{"id":1,"subject":"a \"<b>\"","description":"d"},{"id":2,"subject":"c","description":"d","blockedBy":[1]}]"#,
    );
    assert_snapshot!(env.run(&["tasks", "preview", "--mermaid", ".claude/skills/good"]).ok(), @r#"
    graph TD
      t1["1 a &quot;&lt;b&gt;&quot;"]
      t2["2 c"]
      t1 --> t2
    "#);
    let missing = env.run(&["tasks", "validate", "nowhere"]).failed();
    assert!(missing.starts_with("error: cannot find "), "{missing}");
}
