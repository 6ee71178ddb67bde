//! A day of stops: what the agent reads, what the person reads, and when it ends.

use std::fs;
use std::time::{Duration, Instant};

use mainspring_testkit::process::{PATIENCE, Running, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::Checked;
use crate::env::payload;

#[test]
fn the_agent_is_held_with_the_failing_line_and_let_go_with_the_receipt() {
    let checked = Checked::new().green();
    checked.write("good.txt", "no\n");
    let text = checked.stop("done").held();
    assert!(text.contains("`tests` fails with exit code 3"), "{text}");
    assert!(
        text.contains("    | assertion failed: good.txt says no"),
        "{text}"
    );
    assert!(
        text.contains("Changed since it last passed: good.txt."),
        "{text}"
    );
    let log = text.rsplit("The whole output: ").next().unwrap();
    assert!(
        std::fs::read_to_string(log)
            .unwrap()
            .contains("good.txt says no")
    );
    checked.write("good.txt", "yes, really\n");
    let said = checked.again("fixed").let_go();
    assert!(said.contains("tests pass at"), "{said}");
    assert!(
        said.contains("let go after 1 held stop (check 1)"),
        "{said}"
    );
    assert_eq!(
        checked.stop("again").let_go(),
        "",
        "nothing changed, nothing ran"
    );
    assert_eq!(checked.runs(), 3);
}

#[test]
fn red_for_the_same_reason_three_times_is_told_to_both_and_the_maximum_lets_go() {
    let checked = Checked::new();
    checked.write("good.txt", "no\n");
    for stop in 1..=4 {
        let answer = checked.again(&format!("stop {stop}"));
        let stuck = answer.stdout.contains("may be stuck");
        assert_eq!(stuck, stop == 3, "{answer:?}");
        assert_eq!(
            answer.held().contains("try another way"),
            stop >= 3,
            "{stop}"
        );
    }
    let said = checked.again("stop 5").let_go();
    assert!(
        said.contains("let go after 5 red stops: tests is still red"),
        "{said}"
    );
    // The next prompt counts anew.
    assert!(checked.stop("next").held().contains("`tests` fails"));
}

#[test]
fn the_project_says_after_how_many_red_stops_the_agent_is_let_go_and_the_person_has_the_last_word()
{
    let settings = |max: u32| {
        format!(
            "[checks]\nmax = {max}\n[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\n"
        )
    };
    let checked = Checked::untrusted(&settings(1));
    checked.env.trust();
    checked.write("mainspring.toml", &settings(2));
    checked.env.trust();
    // An agent goes back to a version that asked for less.
    checked.write("mainspring.toml", &settings(1));
    checked.write("good.txt", "no\n");
    let _ = checked.stop("one").held();
    let said = checked.again("two").let_go();
    assert!(said.contains("let go after 2 red stops"), "{said}");
    let own = checked.env.home().join(".config/mainspring");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("config.toml"), "[checks]\nmax = 1\n").unwrap();
    let said = checked.stop("three").let_go();
    assert!(said.contains("let go after 1 red stop:"), "{said}");
}

#[test]
fn settings_of_all_checks_under_the_name_of_one_are_refused_with_the_right_name() {
    let checked = Checked::untrusted("[check]\nmax = 2\n");
    let text = checked.env.run(&["trust", "--yes"]).failed();
    assert!(text.contains("line 1, column 2"), "{text}");
    assert!(
        text.contains("the settings of all checks as [checks]"),
        "{text}"
    );
}

#[test]
fn a_check_that_fails_and_then_passes_on_the_same_tree_is_flaky_until_it_passes_again() {
    let checked = Checked::new().green();
    checked.write(
        "test.sh",
        "echo run >> \"$COUNT\"; test -e \"$COUNT.served\" || exit 1\n",
    );
    let _ = checked.stop("one").held();
    std::fs::write(checked.env.root().join("count.served"), "").unwrap();
    let said = checked.again("two").let_go();
    assert!(said.contains("tests is flaky"), "{said}");
    assert!(!said.contains("tests pass at"), "{said}");
    assert!(checked.stop("three").let_go().contains("tests pass at"));
    assert_eq!(checked.stop("four").let_go(), "", "now it is known");
}

#[test]
fn below_a_trusted_folder_no_check_runs_before_the_person_trusts_it_and_is_told() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\n",
    );
    let own = checked.env.home().join(".config/mainspring");
    std::fs::create_dir_all(&own).unwrap();
    let roots = format!("[trust]\nroots = [{:?}]\n", checked.env.project());
    std::fs::write(own.join("config.toml"), roots).unwrap();
    checked.write("good.txt", "no\n");
    let said = checked.stop("one").let_go();
    assert!(
        said.contains("defines the check tests, which does not run yet"),
        "{said}"
    );
    assert!(said.contains("mainspring trust"), "{said}");
    assert_eq!(checked.stop("two").let_go(), "", "told once");
    assert_eq!(checked.runs(), 0);
    let seen = checked.env.run(&["doctor"]);
    assert!(seen.stdout.contains("the check tests"), "{seen:?}");
    let seen = checked.env.run(&["check"]).failed();
    assert!(seen.contains("mainspring.toml defines tests"), "{seen}");
    assert!(seen.contains("`mainspring trust` shows them"), "{seen}");
    checked.env.trust();
    assert!(checked.stop("three").held().contains("`tests` fails"));
}

/// A line of a transcript.
fn line(kind: &str, message: &Value) -> String {
    json!({"type": kind, "isSidechain": false, "uuid": "u", "message": message}).to_string()
}

/// The transcript of a turn without a tool.
fn talk() -> [String; 2] {
    let said = json!([{"type": "text", "text": "A sum."}]);
    [
        line("user", &json!({"role": "user", "content": "what is it?"})),
        line(
            "assistant",
            &json!({"id": "m", "role": "assistant", "content": said}),
        ),
    ]
}

#[test]
fn a_turn_without_a_tool_runs_nothing() {
    let checked = Checked::new();
    checked.write("good.txt", "no\n");
    let transcript = checked.env.root().join("talk.jsonl");
    let [asked, answered] = talk();
    let used = line(
        "assistant",
        &json!({"id": "t", "role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "Bash", "input": {}}]}),
    );
    let stop = |lines: &[&String]| {
        let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&transcript, text.concat()).unwrap();
        checked.env.hook(
            "Stop",
            json!({"transcript_path": transcript, "last_assistant_message": "A sum."}),
        )
    };
    assert_eq!(stop(&[&asked, &answered]).let_go(), "");
    assert_eq!(checked.runs(), 0);
    assert!(
        stop(&[&asked, &used, &answered])
            .held()
            .contains("`tests` fails")
    );
    // The agent's last words are not written yet, so nobody knows.
    let runs = checked.runs();
    let _ = stop(&[&asked]).held();
    assert_eq!(checked.runs(), runs + 1);
}

/// A client may begin its transcript a moment after its first stop.
#[test]
fn a_transcript_that_begins_after_the_stop_is_waited_for() {
    let checked = Checked::new();
    checked.write("good.txt", "no\n");
    let transcript = checked.env.root().join("talk.jsonl");
    let words = json!({"transcript_path": transcript, "last_assistant_message": "A sum."});
    let event = payload(&checked.env.project(), "Stop", words);
    let hook = Running::start_with(checked.env.command().arg("hook"), event.to_string());
    std::thread::sleep(Duration::from_millis(50));
    fs::write(&transcript, talk().join("\n") + "\n").unwrap();
    let finished = hook.wait(PATIENCE);
    assert_eq!(String::from_utf8_lossy(&finished.stdout), "");
    assert_eq!(checked.runs(), 0);
}

#[test]
fn nothing_runs_in_a_project_that_nobody_trusted_and_the_person_is_told() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\n",
    );
    let said = checked.stop("done").let_go();
    assert!(said.contains("mainspring trust"), "{said}");
    assert_eq!(checked.runs(), 0);
}

#[test]
fn several_checks_are_told_at_once() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"one\"\nrun = [\"sh\", \"-c\", \"echo first; exit 1\"]\n\
         [[check]]\nname = \"two\"\nrun = [\"true\"]\n\
         [[check]]\nname = \"three\"\nrun = [\"sh\", \"-c\", \"echo third; exit 2\"]\n",
    );
    checked.env.trust();
    let answer = checked.stop("done");
    assert!(answer.stdout.contains("two pass at"), "{answer:?}");
    let text = answer.held();
    assert!(text.contains("`one` fails with exit code 1"), "{text}");
    assert!(text.contains("`three` fails with exit code 2"), "{text}");
}

#[test]
fn the_brake_lets_a_red_agent_go() {
    let checked = Checked::new();
    checked.write("good.txt", "no\n");
    let _ = checked.stop("one").held();
    checked.env.run(&["stop", "check"]).ok();
    let said = checked.again("two").let_go();
    assert!(said.contains("you stopped check"), "{said}");
    checked.env.run(&["resume"]).ok();
    let _ = checked.again("three").held();
}

#[test]
fn what_a_check_gets_of_the_environment() {
    let checked = Checked::untrusted(
        "[[check]]\nname = \"env\"\nrun = [\"sh\", \"-c\", \"env | sort; exit 1\"]\nenv = [\"SSH_AUTH_SOCK\"]\n",
    );
    let Checked { env } = checked;
    let env = env
        .with("GITHUB_TOKEN", "secret")
        .with("MY_API_KEY", "secret")
        .with("CLAUDE_CODE_ENTRYPOINT", "cli")
        .with("ANTHROPIC_BASE_URL", "http://x")
        .with("SSH_AUTH_SOCK", "/agent")
        .with("DATABASE_URL", "db");
    let checked = Checked { env };
    checked.env.trust();
    let text = checked.stop("done").held();
    for there in [
        "DATABASE_URL=db",
        "SSH_AUTH_SOCK=/agent",
        "GITHUB_TOKEN=secret",
        "MY_API_KEY=secret",
        "MAINSPRING_DEPTH=1",
        "NO_COLOR=1",
    ] {
        assert!(text.contains(there), "{there}: {text}");
    }
    for gone in ["CLAUDE", "ANTHROPIC"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
}

#[test]
fn a_running_check_is_seen_and_the_brake_ends_it() {
    let checked = Checked::new().green();
    checked.write("test.sh", "echo run >> \"$COUNT\"; sleep 600\n");
    let event = payload(
        &checked.env.project(),
        "Stop",
        json!({ "last_assistant_message": "done" }),
    );
    let hook = Running::start_with(checked.env.command().arg("hook"), event.to_string());
    wait_until("the check runs", || checked.runs() == 2);
    let seen = checked.env.run(&["status"]).ok();
    assert!(
        seen.contains("tests, ") && seen.contains("last time"),
        "{seen}"
    );
    let braked = Instant::now();
    checked.env.run(&["stop", "check"]).ok();
    let ended = hook.wait(PATIENCE);
    assert!(ended.succeeded(), "{ended:?}");
    assert!(
        braked.elapsed() < Duration::from_secs(300),
        "not its own end"
    );
    let said = ended.stdout_text();
    assert!(said.contains("cancelled"), "{said}");
    assert!(!said.contains("\"block\""), "{said}");
}

/// A sparse file that takes minutes to read, though it has no content.
#[test]
fn the_brake_ends_the_reading_of_an_input_that_is_too_large() {
    let checked = Checked::new().green();
    let big = fs::File::create(checked.path("big")).unwrap();
    big.set_len(200 << 30).unwrap();
    let event = payload(
        &checked.env.project(),
        "Stop",
        json!({ "last_assistant_message": "done" }),
    );
    let hook = Running::start_with(checked.env.command().arg("hook"), event.to_string());
    checked.env.run(&["stop"]).ok();
    let ended = hook.wait(PATIENCE);
    assert!(ended.succeeded(), "{ended:?}");
    let said = ended.stdout_text();
    assert!(!said.contains("\"block\""), "{said}");
}

#[test]
fn a_check_whose_inputs_match_no_file_does_not_pass() {
    let checked = Checked::with("inputs = [\"srcs/**\"]");
    let said = checked.stop("done").let_go();
    assert!(said.contains("`inputs` match no file"), "{said}");
    assert_eq!(checked.runs(), 0);
}
