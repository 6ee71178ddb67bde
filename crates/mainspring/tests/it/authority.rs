//! An agent is not a person: what it may end, what it may not, and what its person sees.

use std::fs;

use serde_json::json;

use crate::env::{Ran, TestEnv};

fn refused(ran: Ran, command: &str) -> String {
    let error = ran.failed();
    assert!(error.contains("an agent cannot "), "{error}");
    let tell = format!("tell the user to run `mainspring {command}");
    assert!(error.contains(&tell), "{error}");
    error
}

#[test]
fn an_agent_ends_the_gate_that_it_switched_on_and_its_person_sees_it() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.stop("bye").held();
    let said = env.agent("s", &["gate", "off"]).ok();
    assert!(said.contains("your user is told of it"), "{said}");
    let note = env.stop("bye again").let_go();
    assert!(
        note.contains("the agent switched off the gate that it had switched on itself"),
        "{note}"
    );
    assert_eq!(env.stop("and again").let_go(), "", "said once");
    let log = env.run(&["log"]).ok();
    assert!(log.contains("gate off --session s"), "{log}");
    let why = env.run(&["why", "--last", "9"]).ok();
    assert!(why.contains("ended"), "{why}");
}

#[test]
fn an_agent_does_not_end_a_gate_that_somebody_else_switched_on() {
    let env = TestEnv::new();
    env.stop("hello").let_go();
    env.run(&["gate", "on", "--session", "s"]).ok();
    refused(env.agent("s", &["gate", "off"]), "gate off --session s");
    // Asking for what is on already makes it nobody's own.
    env.agent("s", &["gate", "on"]).ok();
    refused(env.agent("s", &["gate", "off"]), "gate off --session s");
    env.stop("bye").held();

    let env = TestEnv::new();
    env.stop("hello").let_go();
    env.agent("other", &["gate", "on", "--session", "s"]).ok();
    refused(env.agent("s", &["gate", "off"]), "gate off --session s");
    let others = ["gate", "off", "--session", "other"];
    env.agent("other", &["gate", "on"]).ok();
    refused(env.agent("s", &others), "gate off --session other");

    let env = TestEnv::new();
    fs::write(
        env.project().join("mainspring.toml"),
        "[gate]\nenabled = true\n",
    )
    .unwrap();
    env.trust();
    refused(env.agent("s", &["gate", "off"]), "gate off --session s");
    refused(
        env.agent("s", &["gate", "off", "--project"]),
        "gate off --project",
    );
    env.stop("bye").held();
}

#[test]
fn an_agent_that_takes_its_own_switch_back_leaves_the_persons_in_force() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    env.agent("s", &["gate", "on"]).ok();
    env.stop("bye").held();
    let said = env.agent("s", &["gate", "off"]).ok();
    assert!(said.contains("the gate stays on"), "{said}");
    env.stop("bye again").held();
}

#[test]
fn a_gate_that_is_switched_on_after_its_agent_ended_it_holds_and_says_nothing_of_the_end() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["gate", "off"]).ok();
    env.run(&["gate", "on", "--project"]).ok();
    let held = env.stop("bye");
    assert!(!held.stdout.contains("switched"), "{}", held.stdout);
    held.held();
    refused(env.agent("s", &["gate", "off"]), "gate off --session s");
    // Nor later, when the agent may go.
    env.run(&["gate", "off", "--project"]).ok();
    let note = env.stop("bye again").let_go();
    assert!(!note.contains("agent"), "{note}");
}

#[test]
fn an_agent_ends_and_takes_no_loop_of_another_session() {
    let env = TestEnv::new();
    env.stop_of("t", "hello").let_go();
    env.agent("s", &["loop", "start"]).ok();
    refused(env.agent("t", &["loop", "abort"]), "loop abort");
    let inner = ["loop", "push", "--max", "1"];
    refused(env.agent("t", &inner), "loop push");
    refused(env.agent("t", &["loop", "adopt"]), "loop adopt --session t");
    let away = ["loop", "adopt", "--session", "t"];
    refused(env.agent("s", &away), "loop adopt --session t");
    env.stop("bye").held();

    env.agent("s", &["loop", "abort", "enough"]).ok();
    let note = env.stop("bye again").let_go();
    assert!(note.contains("aborted: by the agent: enough"), "{note}");
}

#[test]
fn an_agent_takes_a_loop_that_is_nobodys_and_a_person_any() {
    let env = TestEnv::new();
    env.run(&["loop", "start"]).ok();
    env.agent("s", &["loop", "adopt"]).ok();
    env.stop("bye").held();
    env.stop_of("t", "hello").let_go();
    env.run(&["loop", "adopt", "--session", "t"]).ok();
    env.stop_of("t", "bye").held();
    env.run(&["loop", "abort"]).ok();
}

#[test]
fn an_agent_does_not_change_how_often_it_is_reviewed() {
    let env = TestEnv::new();
    env.agent("s", &["plan", "init", "demo"]).ok();
    let zero = ["plan", "set", "max_reviews", "0"];
    refused(env.agent("s", &zero), "plan set max_reviews 0");
    env.run(&["plan", "set", "max_reviews", "1"]).ok();
    env.agent("s", &["plan", "set", "tdd", "true"]).ok();
    for phase in ["null", "post-plan-review", "create-tasks"] {
        let args = ["plan", "set", "next_phase", phase];
        let said = env.agent("s", &args).failed();
        assert!(said.contains("next_phase is no setting"), "{said}");
        let said = env.run(&args).failed();
        assert!(said.contains("next_phase is no setting"), "{said}");
    }
    refused(env.agent("s", &["plan", "accept"]), "plan accept");
    env.stop_of("t", "hello").ok();
    let away = ["plan", "adopt", "--session", "t"];
    refused(env.agent("s", &away), "plan adopt");
    env.agent("t", &["plan", "adopt"]).ok();
}

#[test]
fn whoever_makes_the_off_file_the_person_sees_a_line() {
    let env = TestEnv::new();
    env.run(&["gate", "on", "--project"]).ok();
    fs::write(env.project().join(".mainspring-off"), "").unwrap();
    for words in ["bye", "bye again"] {
        let note = env.stop(words).let_go();
        assert!(note.contains(".mainspring-off"), "{note}");
    }
    fs::remove_file(env.project().join(".mainspring-off")).unwrap();
    env.stop("and now").held();
}

#[test]
fn a_session_that_prompts_between_hears_the_end_of_its_gate_all_the_same() {
    let env = TestEnv::new();
    env.agent("s", &["gate", "on"]).ok();
    env.agent("s", &["gate", "off"]).ok();
    env.hook("UserPromptSubmit", json!({ "prompt": "go on" }))
        .ok();
    let note = env.stop("bye").let_go();
    assert!(note.contains("switched off the gate"), "{note}");
}

/// A person's loop of fifty becomes an agent's of one only if the person reads of it.
#[test]
fn an_agent_puts_no_other_loop_in_the_place_of_one_whose_end_nobody_read_of() {
    let env = TestEnv::new();
    env.run(&["loop", "start", "--max", "50"]).ok();
    env.agent("s", &["loop", "adopt"]).ok();
    env.agent("s", &["loop", "abort", "I am done"]).ok();
    for store in ["own", "markdown"] {
        let again = ["loop", "start", "--max", "1", "--store", store];
        let said = env.agent("s", &again).failed();
        assert!(said.contains("has not read yet"), "{store}: {said}");
    }
    let told = env.stop_of("s", "bye").let_go();
    assert!(told.contains("by the agent: I am done"), "{told}");
    env.agent("s", &["loop", "start", "--max", "1"]).ok();
    env.agent("s", &["loop", "abort"]).ok();
    env.run(&["loop", "start", "--max", "5"]).ok();
}

#[test]
fn an_agent_cannot_end_a_pulse() {
    let env = TestEnv::new();
    env.run(&["pulse", "2"]).ok();
    let said = env.agent("s", &["pulse", "off"]).failed();
    assert!(said.contains("an agent cannot end a pulse"), "{said}");
    env.stop("one").held();
    env.run(&["pulse", "off"]).ok();
    env.stop("two").let_go();
}

#[test]
fn a_pause_has_a_length_that_somebody_can_mean() {
    let env = TestEnv::new();
    for span in ["0s", "300000000000d", "366d"] {
        let said = env.run(&["pause", span]);
        assert_eq!(said.code, Some(2), "{span}: {said:?}");
        assert!(said.stderr.contains("a pause "), "{span}: {said:?}");
    }
    assert!(env.run(&["pause", "365d"]).ok().contains("until"));
}
