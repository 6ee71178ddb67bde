//! How reviews are counted, who may begin a cycle again, and who may end one.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{config, stop, trusted};
use crate::env::{Ran, payload};
use crate::taskie::{Taskie, write};

/// A person writes this in the session's client, which keeps it in its transcript.
fn prompt(taskie: &Taskie, session: &str, text: &str) -> Ran {
    typed(taskie, session, text);
    let fields = json!({"session_id": session, "prompt": text});
    let event = payload(&taskie.env.project(), "UserPromptSubmit", fields);
    taskie.run(&["hook"], event.to_string().as_bytes())
}

/// A line of the user's in a session's transcript.
fn typed(taskie: &Taskie, session: &str, text: &str) {
    let line = json!({
        "type": "user", "promptId": text, "timestamp": jiff::Timestamp::now().to_string(),
        "origin": {"kind": "human"}, "message": {"role": "user", "content": text},
    });
    let name = format!(".claude/projects/p/{session}.jsonl");
    let transcript = taskie.env.home().join(name);
    let before = fs::read_to_string(&transcript).unwrap_or_default();
    write(&transcript, &format!("{before}{line}\n"));
}

/// What the agent is told at a prompt.
fn told(ran: Ran) -> String {
    let text = ran.ok();
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let context = &answer["hookSpecificOutput"]["additionalContext"];
    context.as_str().unwrap_or_default().to_owned()
}

/// The reviews of a cycle, all with findings.
fn reviews(taskie: &Taskie, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        let held = stop(taskie, "s", &format!("stop {number}")).held();
        let file = format!("plan-review-{number}.md");
        assert!(held.contains(&file), "{held}");
        taskie.file(&format!("plan-post-review-{number}.md"), "fixed");
        let answered = ["plan", "advance", "post-plan-review"];
        let _ = taskie.env.agent("s", &answered).ok();
    }
}

#[test]
fn a_second_cycle_has_all_its_reviews_although_the_files_of_the_first_are_there() {
    let taskie = trusted(json!({"next_phase": "plan-review", "max_reviews": 3}));
    reviews(&taskie, 1..=3);
    let note = stop(&taskie, "s", "no more").let_go();
    assert!(note.contains("3 of 3 plan reviews are done"), "{note}");
    taskie.run(&["plan", "review", "restart"], b"").ok();
    assert_eq!(
        taskie.fields(&["phase_iteration", "consecutive_clean", "review_model"]),
        json!({"phase_iteration": 0, "consecutive_clean": 0, "review_model": "opus"})
    );
    reviews(&taskie, 4..=6);
    let note = stop(&taskie, "s", "no more again").let_go();
    assert!(note.contains("3 of 3 plan reviews are done"), "{note}");
    assert_eq!(taskie.calls().len(), 6);
}

#[test]
fn eight_files_that_the_agent_wrote_itself_switch_no_review_off() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    for number in 1..=8 {
        taskie.file(&format!("plan-review-{number}.md"), "all is well");
    }
    let held = stop(&taskie, "s", "one").held();
    assert!(held.contains("plan-review-9.md"), "{held}");
    assert_eq!(taskie.state_now()["phase_iteration"], 1);
}

#[test]
fn a_cycle_that_is_entered_again_after_it_passed_starts_a_reviewer() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    let _ = stop(&taskie, "s", "one").held();
    taskie.post_review();
    let note = stop(&taskie, "s", "two").let_go();
    assert!(note.contains("two clean reviews in a row"), "{note}");
    assert_eq!(
        taskie.fields(&["next_phase", "phase_iteration"]),
        json!({"next_phase": "create-tasks", "phase_iteration": null}),
        "no count outside a cycle"
    );
    // By a command, and by an edit that keeps the counts of before.
    let _ = taskie
        .env
        .agent("s", &["plan", "review", "restart", "plan"])
        .ok();
    let _ = stop(&taskie, "s", "three").held();
    assert_eq!(taskie.calls().len(), 3);
    taskie.state(
        json!({"phase": "all-code-review", "next_phase": "all-code-review",
        "phase_iteration": 2, "consecutive_clean": 2}),
    );
    let answer = stop(&taskie, "s", "four").json();
    assert_eq!(answer["decision"], "block", "{answer}");
    let note = answer["systemMessage"].as_str().unwrap();
    assert!(note.contains("there is no record of such"), "{note}");
    assert_eq!(taskie.calls().len(), 4);
}

/// No agent goes round for ever: not by its verbs, not by an edit.
#[test]
fn an_agent_does_not_begin_an_exhausted_cycle_again_until_a_person_spoke() {
    let taskie = trusted(json!({"next_phase": null, "max_reviews": 1}));
    let _ = taskie.env.agent("s", &["plan", "advance", "new-plan"]).ok();
    reviews(&taskie, 1..=1);
    let note = stop(&taskie, "s", "no more").let_go();
    assert!(note.contains("1 of 1 plan reviews are done"), "{note}");
    for again in [
        vec!["plan", "review", "restart"],
        vec!["plan", "review", "restart", "plan"],
    ] {
        let refused = taskie.env.agent("s", &again).failed();
        assert!(refused.contains("had all its reviews"), "{refused}");
    }
    // It says again that the plan is written: that begins nothing.
    let _ = taskie.env.agent("s", &["plan", "advance", "new-plan"]).ok();
    taskie.state(json!({"next_phase": null}));
    let _ = stop(&taskie, "s", "edited out").let_go();
    taskie.state(json!({"next_phase": "plan-review", "max_reviews": 1}));
    let note = stop(&taskie, "s", "edited in").let_go();
    assert!(note.contains("1 of 1 plan reviews are done"), "{note}");
    assert_eq!(taskie.calls().len(), 1);
    let said = told(prompt(&taskie, "s", "review it once more"));
    assert!(
        said.contains("`mainspring plan accept --plan demo`"),
        "{said}"
    );
    let _ = taskie.env.agent("s", &["plan", "review", "restart"]).ok();
    let held = stop(&taskie, "s", "again").held();
    assert!(held.contains("plan-review-2.md"), "{held}");
}

/// What `plan route` tells the agent, `plan status` and `status` the person: one sentence.
fn everything_says(taskie: &Taskie, sentence: &str) {
    let route = taskie.env.agent("s", &["plan", "route"]).ok();
    assert!(route.contains(sentence), "{route}");
    assert!(!route.contains("starts when you stop"), "{route}");
    let shown = taskie.run(&["plan", "status"], b"").ok();
    assert!(shown.contains(sentence), "{shown}");
    let shown = taskie.run(&["status", "--json"], b"").json();
    let machines = shown["machines"].as_array().unwrap();
    let review = machines.iter().find(|one| one["name"] == "review");
    let summary = review.unwrap()["summary"].as_str().unwrap();
    assert!(summary.ends_with(sentence), "{summary}");
}

#[test]
fn at_the_limit_everything_says_the_same() {
    let taskie = trusted(json!({"next_phase": "plan-review", "max_reviews": 1}));
    reviews(&taskie, 1..=1);
    let sentence = "plan 'demo': 1 of 1 plan reviews are done without two clean ones in a row. \
                    Decide: `mainspring plan accept --plan demo` goes on as it is, `mainspring \
                    plan review restart --plan demo` begins a fresh cycle, `mainspring plan set \
                    max_reviews 5 --plan demo` allows more";
    let note = stop(&taskie, "s", "no more").let_go();
    assert!(note.contains(sentence), "{note}");
    everything_says(&taskie, sentence);
    let said = told(prompt(&taskie, "s", "go on"));
    assert!(said.contains(sentence), "{said}");
    assert_eq!(told(prompt(&taskie, "s", "go on, I said")), "", "told once");
}

#[test]
fn over_the_cost_and_parked_everything_says_the_same() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    config(&taskie, "[review]\nmax_cost_usd = 0.25\n");
    reviews(&taskie, 1..=1);
    let sentence = "the reviews of plan 'demo' have cost $0.25, and max_cost_usd is $0.25: the \
                    cycle waits. Decide: `mainspring plan accept --plan demo` goes on as it is, a \
                    higher `[review] max_cost_usd` allows more";
    let note = stop(&taskie, "s", "two").let_go();
    assert!(note.contains(sentence), "{note}");
    everything_says(&taskie, sentence);
    let said = told(prompt(&taskie, "s", "go on"));
    assert!(said.contains(sentence), "{said}");
    config(&taskie, "[review]\non_failure = \"park\"\n");
    taskie.set("MOCK_CLAUDE_EXIT_CODE", "3");
    let note = stop(&taskie, "s", "three").let_go();
    assert!(note.contains("It is parked"), "{note}");
    let sentence = "the plan review of plan 'demo' is parked after a failure: `mainspring plan \
                    review --now --plan demo` tries again";
    let note = stop(&taskie, "s", "four").let_go();
    assert!(note.contains(sentence), "{note}");
    everything_says(&taskie, sentence);
    let said = told(prompt(&taskie, "s", "go on"));
    assert!(said.contains(sentence), "{said}");
}

/// The agent hears of these by `plan route` alone: neither its stop nor the next prompt tells it.
#[test]
fn paused_and_untrusted_everything_says_the_same_and_the_agent_hears_it_by_the_route() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviews(&taskie, 1..=1);
    for order in [
        &["pause", "5m", "review"][..],
        &["stop"],
        &["stop", "review"],
    ] {
        taskie.run(order, b"").ok();
        let note = stop(&taskie, "s", &order.join(" ")).let_go();
        let ordered = match order[0] {
            "stop" => "you stopped review",
            _ => "you paused review",
        };
        assert!(note.contains(ordered), "{note}");
        assert!(note.contains("`mainspring resume` "), "{note}");
        everything_says(
            &taskie,
            "the plan review of plan 'demo' does not start, because a person stopped or paused \
             it: `mainspring resume` ends that",
        );
        assert_eq!(told(prompt(&taskie, "s", "go on")), "");
        taskie.run(&["resume"], b"").ok();
    }
    taskie.run(&["untrust"], b"").ok();
    let sentence = "the plan review of plan 'demo' does not start, because nobody trusted this \
                    project: `mainspring trust` allows it";
    let note = stop(&taskie, "s", "untrusted").let_go();
    assert!(note.contains(sentence), "{note}");
    assert_eq!(stop(&taskie, "s", "again").let_go(), "", "told once");
    everything_says(&taskie, sentence);
    assert_eq!(told(prompt(&taskie, "s", "go on")), "");
    assert_eq!(taskie.calls().len(), 1);
}

/// From the prompt, not from the first hold: the first review may take longer than all the rest.
#[test]
fn the_receipt_counts_from_the_prompt() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    let transcript = prompted_long_ago(&taskie);
    stops(&taskie, &transcript, "one", false).held();
    taskie.post_review();
    let receipt = stops(&taskie, &transcript, "two", true).let_go();
    twenty_minutes(
        &receipt,
        "let go after 1 held stop (review 1), 2 reviews of which 2 clean, $0.50, ",
    );
}

/// Also if the first hold was of a machine that starts nothing.
#[test]
fn the_receipt_counts_from_the_prompt_if_the_gate_held_before_the_review() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    taskie.verdict("PASS");
    taskie.env.agent("s", &["gate", "on"]).ok();
    let transcript = prompted_long_ago(&taskie);
    stops(&taskie, &transcript, "one", false).held();
    assert_eq!(taskie.calls().len(), 0, "the gate held alone");
    stops(&taskie, &transcript, "TASKMASTER_DONE::s", true).held();
    taskie.post_review();
    let receipt = stops(&taskie, &transcript, "three", true).let_go();
    twenty_minutes(
        &receipt,
        "let go after 2 held stops (gate 1, review 1), 2 reviews of which 2 clean, $0.50, ",
    );
}

/// A session whose person wrote the last prompt twenty minutes ago.
fn prompted_long_ago(taskie: &Taskie) -> std::path::PathBuf {
    let asked = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(20 * 60);
    let line = json!({
        "type": "user", "promptId": "p", "timestamp": asked.to_string(),
        "origin": {"kind": "human"}, "message": {"role": "user", "content": "plan it"},
    });
    let transcript = taskie.env.home().join(".claude/projects/p/s.jsonl");
    write(&transcript, &format!("{line}\n"));
    transcript
}

fn stops(taskie: &Taskie, transcript: &std::path::Path, words: &str, again: bool) -> Ran {
    let fields = json!({
        "last_assistant_message": words, "transcript_path": transcript,
        "stop_hook_active": again,
    });
    let event = payload(&taskie.env.project(), "Stop", fields);
    taskie.run(&["hook"], event.to_string().as_bytes())
}

/// However long this test itself takes, within a minute.
fn twenty_minutes(said: &str, before: &str) {
    let at = said.find(before).unwrap_or_else(|| panic!("{said}"));
    let time = &said[at + before.len()..];
    assert!(time.starts_with("20m") || time.starts_with("21m"), "{said}");
}

#[test]
fn accepting_needs_a_terminal_or_the_users_own_message() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    reviews(&taskie, 1..=1);
    let no_terminal = taskie.run(&["plan", "accept"], b"").failed();
    assert!(no_terminal.contains("not a terminal"), "{no_terminal}");
    for no in ["looks fine, go on", "yes", "accept?"] {
        typed(&taskie, "s", no);
        let refused = taskie.env.agent("s", &["plan", "accept"]).failed();
        assert!(refused.contains("without its user's consent"), "{refused}");
        assert!(refused.contains("`good enough`"), "{refused}");
        let named = "run `mainspring plan accept --plan demo` in their own terminal";
        assert!(refused.contains(named), "{refused}");
    }
    typed(&taskie, "s", "good enough");
    let did = taskie.env.agent("s", &["plan", "accept"]).ok();
    assert!(did.contains("next create-tasks"), "{did}");
    assert_eq!(
        taskie.fields(&["phase", "next_phase", "phase_iteration"]),
        json!({"phase": "plan-review", "next_phase": "create-tasks", "phase_iteration": null})
    );
    let again = taskie.env.in_terminal(&["plan", "accept"]);
    assert!(
        again.stdout.contains("no review of plan 'demo' is due"),
        "{again:?}"
    );
    assert_eq!(stop(&taskie, "s", "two").let_go(), "");
    assert_eq!(taskie.calls().len(), 1);
}

#[test]
fn a_plan_without_a_plan_file_is_not_accepted() {
    let taskie = trusted(json!({"next_phase": "plan-review"}));
    fs::remove_file(taskie.dir().join("plan.md")).unwrap();
    let said = taskie.env.in_terminal(&["plan", "accept"]);
    assert!(
        said.stdout.contains("there is nothing to accept"),
        "{said:?}"
    );
    assert_eq!(
        taskie.fields(&["next_phase"]),
        json!({"next_phase": "plan-review"})
    );
}

/// `/taskie:code-review` in the client: the agent does what its user typed, although a review is
/// due.
#[test]
fn what_the_user_typed_is_not_refused_to_the_agent() {
    let taskie = trusted(json!({"next_phase": "code-review"}));
    let args = ["plan", "advance", "code-review"];
    let refused = taskie.env.agent("s", &args).failed();
    assert!(refused.contains("is not over"), "{refused}");
    let tagged = "<command-message>taskie:code-review</command-message>\n\
                  <command-name>/taskie:code-review</command-name>";
    typed(&taskie, "s", tagged);
    let _ = taskie.env.agent("s", &args).ok();
    assert_eq!(taskie.state_now()["next_phase"], Value::Null);
    // The next message is another word.
    taskie.state(json!({"next_phase": "code-review"}));
    typed(&taskie, "s", "and now?");
    let refused = taskie.env.agent("s", &args).failed();
    assert!(refused.contains("is not over"), "{refused}");
}
