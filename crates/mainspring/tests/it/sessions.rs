//! Which sessions are live, and how a command names one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv, finish, payload};

/// A process that stands for a client. It ends with the test.
pub(crate) struct Client(Child);

impl Client {
    pub(crate) fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// An event from this client.
    pub(crate) fn hook(&self, env: &TestEnv, session: &str, event: &str, fields: Value) -> Ran {
        self.hook_in(env, &env.project(), session, (event, fields))
    }

    pub(crate) fn hook_in(
        &self,
        env: &TestEnv,
        cwd: &Path,
        session: &str,
        (event, fields): (&str, Value),
    ) -> Ran {
        let mut event = payload(cwd, event, fields);
        event["session_id"] = session.into();
        let mut command = env.command();
        command
            .arg("hook")
            .env("CLAUDE_PID", self.pid().to_string())
            .env("CLAUDE_CODE_SESSION_ID", session);
        finish(&mut command, event.to_string().as_bytes())
    }

    pub(crate) fn starts(&self, env: &TestEnv, session: &str) -> Ran {
        self.hook(env, session, "SessionStart", json!({ "source": "startup" }))
    }

    pub(crate) fn ends(&self, env: &TestEnv, session: &str) -> Ran {
        self.hook(env, session, "SessionEnd", json!({ "reason": "other" }))
    }

    pub(crate) fn stops(&self, env: &TestEnv, session: &str, words: &str) -> Ran {
        self.hook(
            env,
            session,
            "Stop",
            json!({ "last_assistant_message": words }),
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The reason that holds a stop, however it is worded.
pub(crate) fn held(ran: Ran) -> String {
    let answer = ran.json();
    let context = &answer["hookSpecificOutput"]["additionalContext"];
    let reason = context.as_str().or(answer["reason"].as_str());
    reason
        .unwrap_or_else(|| panic!("not held: {answer}"))
        .to_owned()
}

fn listed(env: &TestEnv) -> Vec<String> {
    let all = env.run(&["sessions", "--json"]).json();
    let all = all["sessions"].as_array().unwrap().iter();
    all.map(|one| one["session"].as_str().unwrap().to_owned())
        .collect()
}

/// Every file below a folder, with its content and time.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            let changed = fs::metadata(&path).unwrap().modified().unwrap();
            files.insert(path.clone(), (fs::read(&path).unwrap(), changed));
        }
    }
    files
}

#[test]
fn a_session_is_live_from_its_start_until_its_end_or_until_its_client_dies() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "first").ok();
    two.starts(&env, "second").ok();
    assert_eq!(listed(&env), ["second", "first"]);
    one.ends(&env, "first").ok();
    assert_eq!(listed(&env), ["second"]);
    drop(two);
    assert!(listed(&env).is_empty(), "its client is gone");
    assert_eq!(env.run(&["sessions"]).ok(), "no session is live\n");
}

#[test]
fn a_session_that_was_there_before_us_is_known_from_its_first_event_and_then_nothing_is_written() {
    let env = TestEnv::new();
    let client = Client::new();
    client.stops(&env, "s", "hello").ok();
    assert_eq!(listed(&env), ["s"]);
    let before = snapshot(&env.state());
    assert_eq!(before.len(), 1, "{before:?}");
    client
        .hook(&env, "s", "UserPromptSubmit", json!({ "prompt": "go on" }))
        .ok();
    client.stops(&env, "s", "hello again").ok();
    assert_eq!(snapshot(&env.state()), before);
}

#[test]
fn a_resumed_session_is_its_new_clients_and_the_old_clients_end_does_not_end_it() {
    let env = TestEnv::new();
    let (old, new) = (Client::new(), Client::new());
    old.starts(&env, "s").ok();
    new.hook(&env, "s", "SessionStart", json!({ "source": "resume" }))
        .ok();
    old.ends(&env, "s").ok();
    assert_eq!(listed(&env), ["s"]);
    new.ends(&env, "s").ok();
    assert!(listed(&env).is_empty());
}

#[test]
fn the_list_says_where_a_session_is_what_is_at_work_for_it_and_when_it_was_heard() {
    let env = TestEnv::new();
    let client = Client::new();
    client.starts(&env, "s").ok();
    env.run(&["gate", "on", "--session", "s"]).ok();
    env.run(&["loop", "start", "--session", "s"]).ok();
    let all = env.run(&["sessions", "--json"]).json()["sessions"].clone();
    assert_eq!(all[0]["session"], "s");
    assert_eq!(all[0]["host"], "Claude Code");
    assert_eq!(all[0]["client"], client.pid());
    assert_eq!(all[0]["attendance"], "attended");
    assert_eq!(all[0]["project"], env.project().to_str().unwrap());
    assert_eq!(all[0]["here"], true);
    let work =
        json!([{ "name": "gate", "state": "waiting" }, { "name": "loop", "state": "active" }]);
    assert_eq!(all[0]["machines"], work);
    let text = env.run(&["sessions"]).ok();
    assert!(text.contains("s  Claude Code, latest event "), "{text}");
    assert!(
        text.contains("(here)\n  gate: waiting · loop: iteration 0 of 10\n"),
        "{text}"
    );
}

/// `claude`, `/exit`, `claude`: the one that is there now is meant, and nothing else is.
#[test]
fn last_means_the_live_session_and_never_one_that_ended() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "exited").ok();
    env.agent("exited", &["loop", "start"]).ok();
    env.run(&["loop", "abort"]).ok();
    one.ends(&env, "exited").ok();
    drop(one);
    let none = env.run(&["gate", "on", "--session", "last"]).failed();
    assert!(
        none.contains("no session is live in this project"),
        "{none}"
    );
    assert!(none.contains("the last one here was exited"), "{none}");
    two.starts(&env, "present").ok();
    let did = env.run(&["gate", "on", "--session", "last"]).ok();
    assert_eq!(did, "the gate is on for session present\n");
    let did = env.run(&["gate", "on", "--session", "exited"]).ok();
    assert!(
        did.starts_with("the gate is on for session exited (not live: it ended "),
        "{did}"
    );
}

#[test]
fn a_loop_from_a_terminal_is_taken_by_the_session_that_is_live_after_another_exited() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "exited").ok();
    one.stops(&env, "exited", "bye").ok();
    one.ends(&env, "exited").ok();
    drop(one);
    two.starts(&env, "present").ok();
    env.run(&["loop", "start", "--max", "5"]).ok();
    let reason = held(two.stops(&env, "present", "working"));
    assert!(reason.starts_with("[ITERATION 1/5]"), "{reason}");
}

#[test]
fn with_two_live_sessions_a_loop_from_a_terminal_holds_nobody_and_says_so() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "one").ok();
    two.starts(&env, "two").ok();
    let said = env.run(&["loop", "start"]).ok();
    for words in [
        "2 sessions are live here, so it holds none of them yet",
        "`mainspring loop adopt --session last`",
        "`--session two` or `--session one`",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let told = one.stops(&env, "one", "working").let_go();
    assert!(
        told.contains("a loop without an owner waits here"),
        "{told}"
    );
    assert!(
        told.contains("`mainspring loop adopt --session one`"),
        "{told}"
    );
}

#[test]
fn what_is_said_of_a_loop_without_an_owner_works_where_it_is_read() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "one").ok();
    two.starts(&env, "two").ok();
    env.run(&["loop", "start"]).ok();
    let refused = env.run(&["loop", "start", "--session", "two"]).failed();
    assert!(refused.contains("belongs to no session"), "{refused}");
    assert!(
        refused.contains("`mainspring loop adopt --session two`"),
        "{refused}"
    );
    let asked = env.run(&["loop", "adopt"]).failed();
    assert!(asked.contains("2 sessions are live here"), "{asked}");
    assert!(asked.contains("`--session one`"), "{asked}");
    two.ends(&env, "two").ok();
    let did = env.run(&["loop", "adopt"]).ok();
    assert_eq!(did, "the loop now belongs to session one\n");
    held(one.stops(&env, "one", "working"));

    let env = TestEnv::new();
    env.run(&["loop", "start", "--max", "1"]).ok();
    let none = env.run(&["loop", "adopt"]).failed();
    assert!(none.contains("no session is live here"), "{none}");
    let again = env.run(&["loop", "start"]).failed();
    assert!(again.contains("`mainspring loop abort` ends it"), "{again}");
    env.run(&["loop", "abort"]).ok();
    let said = env.run(&["loop", "start", "--max", "1"]).ok();
    assert!(said.contains("going for one iteration. It ends"), "{said}");
}

/// Its client died before anything was said: nobody else is kept by it, and everybody reads that.
#[test]
fn a_loop_whose_session_is_gone_says_so_and_is_given_away() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "one").ok();
    two.starts(&env, "two").ok();
    env.run(&["loop", "start", "--max", "5", "--session", "one"])
        .ok();
    assert_eq!(
        env.agent("one", &["status", "--line"]).ok(),
        "loop: iteration 0 of 5\n"
    );
    assert_eq!(env.agent("two", &["status", "--line"]).ok(), "");
    drop(one);
    assert_eq!(env.agent("two", &["status", "--line"]).ok(), "");
    let gone = "its session is gone: `mainspring loop adopt` or `mainspring loop abort`";
    for view in [&["status"][..], &["loop", "status"]] {
        let said = env.run(view).ok();
        assert!(said.contains(gone), "{said}");
    }
    for command in [&["loop", "start"][..], &["loop", "push"]] {
        let refused = env.run(command).failed();
        assert!(
            refused.contains("session one, and its session is gone"),
            "{refused}"
        );
        assert!(
            refused.contains("`mainspring loop abort` ends it"),
            "{refused}"
        );
    }
    // It is meant also beside a loop of a session that is there.
    let three = Client::new();
    three.starts(&env, "three").ok();
    env.run(&["loop", "start", "--session", "three"]).ok();
    let did = env.run(&["loop", "adopt", "--session", "two"]).ok();
    assert_eq!(did, "the loop now belongs to session two\n");
    let reason = held(two.stops(&env, "two", "working"));
    assert!(reason.starts_with("[ITERATION 1/5]"), "{reason}");
    assert_eq!(
        env.agent("two", &["status", "--line"]).ok(),
        "loop: iteration 1 of 5\n"
    );
}

#[test]
fn a_pulse_is_shown_in_the_status_line_of_its_session_alone() {
    let env = TestEnv::new();
    env.agent("one", &["pulse", "2"]).ok();
    assert_eq!(
        env.agent("one", &["status", "--line"]).ok(),
        "pulse: 0 of 2 beats given\n"
    );
    assert_eq!(env.agent("two", &["status", "--line"]).ok(), "");
}

#[test]
fn a_headless_session_is_no_rival_of_an_attended_one_but_of_another_headless_one() {
    let env = TestEnv::new();
    let (person, script) = (Client::new(), Client::new());
    // The same home and project, but nobody attends.
    let headless_start = |client: &Client, id: &str| {
        let mut event = payload(
            &env.project(),
            "SessionStart",
            json!({ "source": "startup" }),
        );
        event["session_id"] = id.into();
        let mut command = env.command();
        command
            .arg("hook")
            .env("CLAUDE_PID", client.pid().to_string())
            .env("CLAUDE_CODE_SESSION_ATTENDED", "0");
        finish(&mut command, event.to_string().as_bytes()).ok();
    };
    headless_start(&script, "script");
    person.starts(&env, "person").ok();
    assert_eq!(listed(&env).len(), 2);
    env.run(&["loop", "start"]).ok();
    let reason = held(person.stops(&env, "person", "working"));
    assert!(reason.starts_with("[ITERATION 1/10]"), "{reason}");
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id_from_any_folder() {
    let env = TestEnv::new();
    let (one, two) = (Client::new(), Client::new());
    one.starts(&env, "390b8429-first").ok();
    two.starts(&env, "390bffff-second").ok();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let typed = |args: &[&str]| finish(env.command().args(args).current_dir(&elsewhere), b"");
    let several = typed(&["gate", "on", "--session", "390b"]).failed();
    assert!(
        several.contains("\"390b\" can mean 2 sessions"),
        "{several}"
    );
    assert!(several.contains("`--session 390b8429-first`"), "{several}");
    let did = typed(&["gate", "on", "--session", "390b8"]).ok();
    assert_eq!(did, "the gate is on for session 390b8429-first\n");
    let reason = held(one.stops(&env, "390b8429-first", "done?"));
    assert!(
        reason.contains("TASKMASTER_DONE::390b8429-first"),
        "{reason}"
    );
    two.stops(&env, "390bffff-second", "done?").let_go();
    typed(&["gate", "off", "--session", "390b8"]).ok();
    one.stops(&env, "390b8429-first", "done?").let_go();
    let none = typed(&["gate", "on", "--session", "typo"]).failed();
    assert!(
        none.contains("no session's id is or begins with \"typo\""),
        "{none}"
    );
    assert!(none.contains("mainspring sessions"), "{none}");
}

#[test]
fn a_plan_is_adopted_by_the_last_session_and_not_by_a_session_called_last() {
    let env = TestEnv::new();
    env.run(&["plan", "init", "feature"]).ok();
    let none = env.run(&["plan", "adopt", "--session", "last"]).failed();
    assert!(none.contains("no session is live"), "{none}");
    let client = Client::new();
    client.starts(&env, "present").ok();
    let did = env.run(&["plan", "adopt", "--session", "last"]).ok();
    let whose = "plan 'feature' belongs to session present\n";
    assert!(did.starts_with(whose), "{did}");
}

#[test]
fn a_project_knows_its_sessions_in_every_folder_of_its_repository() {
    let env = TestEnv::new();
    fs::create_dir_all(env.project().join(".git")).unwrap();
    fs::create_dir_all(env.project().join("src/deep")).unwrap();
    let client = Client::new();
    let deep = env.project().join("src/deep");
    client
        .hook_in(
            &env,
            &deep,
            "s",
            ("SessionStart", json!({ "source": "startup" })),
        )
        .ok();
    let did = env.run(&["gate", "on", "--session", "last"]).ok();
    assert_eq!(did, "the gate is on for session s\n");
    let reason = held(client.hook_in(&env, &deep, "s", ("Stop", json!({}))));
    assert!(reason.starts_with("TASKMASTER (1)"), "{reason}");
}

/// The system calls of `mainspring sessions`, one on a line.
fn traced(env: &TestEnv) -> Option<String> {
    let trace = env.root().join("trace");
    let plain = env.command();
    let mut strace = Command::new("strace");
    strace
        .args(["-qq", "-o"])
        .arg(&trace)
        .arg(plain.get_program())
        .arg("sessions")
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(env.project());
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: strace is not installed");
        return None;
    }
    finish(&mut strace, b"").ok();
    Some(fs::read_to_string(trace).unwrap())
}

/// A loop that nobody owns asks at every session who else is there.
#[test]
fn the_list_costs_the_same_for_each_session_however_many_there_are() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    env.run(&["loop", "start"]).ok();
    let mut counts = Vec::new();
    for number in 0..80 {
        let session = format!("s-{number}");
        for event in ["SessionStart", "Stop"] {
            let fields = json!({ "session_id": session, "last_assistant_message": "Done." });
            let event = payload(&env.project(), event, fields).to_string();
            // A host that does not tell its process.
            let mut hook = env.command();
            hook.args(["hook", "--host", "codex"]);
            assert_eq!(finish(&mut hook, event.as_bytes()).code, Some(0));
        }
        if [20, 40, 80].contains(&(number + 1)) {
            let Some(trace) = traced(&env) else { return };
            let journals = trace.matches("journal.jsonl").count();
            counts.push((trace.lines().count(), journals));
        }
    }
    let [(few, journals), (more, _), (many, later)] = counts[..] else {
        panic!("{counts:?}")
    };
    assert_eq!(journals, later, "the journal is read once");
    assert!(many - more <= 2 * (more - few) + 40, "{counts:?}");
}

/// A second client goes on with a session that a first one has open, too.
#[test]
fn a_session_that_is_open_in_two_clients_is_held_in_both() {
    let env = TestEnv::new();
    let first = Client::new();
    first.starts(&env, "s").ok();
    env.run(&["gate", "on", "--project"]).ok();
    let second = Client::new();
    second
        .hook(&env, "s", "SessionStart", json!({ "source": "resume" }))
        .ok();
    held(first.stops(&env, "s", "one"));
    held(second.stops(&env, "s", "two"));
}
