//! Transcripts of the real client, cut to what they contained when each Stop hook ran.

use super::script::{tail_after, tail_of_bytes};
use crate::transcript::{Entry, LastBlock, Run, Tail, ToolUse};

/// What the ledger would ask and learn at each stop of a session. `visible` is how many lines
/// the transcript had then; every stop but the last was blocked.
fn stops(transcript: &str, visible: &[usize]) -> Vec<Tail> {
    let mut last_block = LastBlock::None;
    let mut tails = Vec::new();
    for lines in visible {
        let cut: String = transcript.split_inclusive('\n').take(*lines).collect();
        let tail = tail_after(last_block, cut.as_bytes());
        last_block = LastBlock::At {
            size: tail.size,
            unrecorded: tail.unrecorded + 1,
        };
        tails.push(tail);
    }
    tails
}

fn summary(tail: &Tail) -> String {
    format!(
        "{:?}, {} unrecorded, {:?}",
        tail.run, tail.unrecorded, tail.final_texts
    )
}

fn summaries(transcript: &str, visible: &[usize]) -> String {
    stops(transcript, visible)
        .iter()
        .map(summary)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Decision, tool use, decision, context, exit code 2, release. At the second stop, the agent's
/// latest text was not written yet, only the one before the tool. At the fourth, neither its
/// text nor the previous block was written, and the older text does not count as new.
#[test]
fn blocks_of_every_kind() {
    let visible = [23, 31, 40, 40, 52];
    insta::assert_snapshot!(summaries(include_str!("fixtures/blocks-2.1.325.jsonl"), &visible), @r#"
    Exactly(0), 0 unrecorded, ["first try"]
    Exactly(0), 0 unrecorded, ["using a tool"]
    Exactly(1), 0 unrecorded, ["third stop, no tool"]
    Exactly(2), 1 unrecorded, []
    Exactly(3), 0 unrecorded, ["fifth, part one", "fifth, part two"]
    "#);
}

#[test]
fn blocks_of_every_kind_in_an_older_client() {
    let visible = [6, 10, 14, 14, 18];
    insta::assert_snapshot!(summaries(include_str!("fixtures/blocks-2.1.197.jsonl"), &visible), @r#"
    Exactly(0), 0 unrecorded, ["first try"]
    Exactly(0), 0 unrecorded, ["using a tool"]
    Exactly(1), 0 unrecorded, []
    Exactly(2), 1 unrecorded, []
    Exactly(3), 1 unrecorded, []
    "#);
}

/// The host accepts eight blocks and overrides the ninth. At four of these stops, the previous
/// block was not in the transcript yet, and once the block before that appeared meanwhile. The
/// count is correct at each stop.
#[test]
fn blocks_up_to_the_hosts_cap() {
    let visible = [19, 29, 29, 34, 44, 44, 52, 59, 59];
    let runs: Vec<_> = stops(include_str!("fixtures/capped-2.1.325.jsonl"), &visible)
        .iter()
        .map(|tail| tail.run)
        .collect();
    assert_eq!(runs, (0..9).map(Run::Exactly).collect::<Vec<_>>());
}

/// The next prompt begins a new turn, to which earlier blocks and texts do not belong.
#[test]
fn a_new_prompt_ends_the_run() {
    let text = include_str!("fixtures/blocks-2.1.325.jsonl");
    let tail = tail_of_bytes(text.as_bytes());
    assert_eq!(tail.final_texts, ["answer to prompt two"]);
    assert_eq!(tail.run, Run::Exactly(0));

    let cut: String = text.split_inclusive('\n').take(58).collect();
    let asked = tail_of_bytes(cut.as_bytes());
    assert_eq!(asked.final_texts, Vec::<String>::new());
    assert_eq!(asked.tool_used_since_last_block(), ToolUse::Yes);
}

#[test]
fn the_texts_of_one_message_are_together() {
    let text = include_str!("fixtures/blocks-2.1.325.jsonl");
    let cut: String = text.split_inclusive('\n').take(53).collect();
    assert_eq!(
        tail_of_bytes(cut.as_bytes()).final_texts,
        ["fifth, part one", "fifth, part two"]
    );
}

#[test]
fn an_api_error_is_not_the_agents_word() {
    let tail = tail_of_bytes(include_bytes!("fixtures/api-error-2.1.325.jsonl"));
    assert_eq!(tail.final_texts, Vec::<String>::new());
}

/// The payload of this stop had no `last_assistant_message`.
#[test]
fn text_before_a_structured_output_is_the_final_text() {
    let tail = tail_of_bytes(include_bytes!("fixtures/structured-2.1.325.jsonl"));
    assert_eq!(tail.final_texts, ["Text before the structure"]);
}

/// The summary contains the token.
#[test]
fn a_summary_is_not_the_agents_word() {
    let text = include_str!("fixtures/compacted-2.1.325.jsonl");
    assert!(text.contains("TASKMASTER_DONE::s-1"));
    assert_eq!(
        tail_of_bytes(text.as_bytes()).final_texts,
        ["after compact"]
    );
    let cut: String = text.split_inclusive('\n').take(40).collect();
    assert_eq!(
        tail_of_bytes(cut.as_bytes()).final_texts,
        Vec::<String>::new()
    );
}

/// When a background agent ends, the host sends a message in the user's place.
#[test]
fn a_notification_begins_a_turn() {
    let text = include_str!("fixtures/notified-2.1.325.jsonl");
    assert_eq!(tail_of_bytes(text.as_bytes()).final_texts, ["main end 2"]);
    let cut: String = text.split_inclusive('\n').take(30).collect();
    assert_eq!(
        tail_of_bytes(cut.as_bytes()).final_texts,
        Vec::<String>::new()
    );
}

#[test]
fn a_session_with_a_failed_tool() {
    let text = include_str!("../../../../../tests/fixtures/claude-transcripts/main.jsonl");
    let tail = tail_of_bytes(text.as_bytes());
    assert_eq!(tail.final_texts, ["Finished the work."]);
    assert!(tail.recent_error);
    assert_eq!(tail.run, Run::Exactly(0));
    // The failed tool's result is the 26th line.
    let before: String = text.split_inclusive('\n').take(25).collect();
    assert!(!tail_of_bytes(before.as_bytes()).recent_error);
}

#[test]
fn a_sub_agents_transcript_says_nothing() {
    let tail = tail_of_bytes(include_bytes!(
        "../../../../../tests/fixtures/claude-transcripts/subagent.jsonl"
    ));
    assert_eq!(tail.final_texts, Vec::<String>::new());
    assert_eq!(
        tail.run,
        Run::Exactly(0),
        "its blocks are not the main chain's"
    );
}

/// The host puts its own messages into the queue of what a person types, too.
#[test]
fn only_a_persons_queued_message_is_a_prompt() {
    let text = |more: serde_json::Value| {
        let mut queued = serde_json::json!({"type": "queued_command", "prompt": "close #42"});
        queued
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let line = serde_json::json!({"type": "attachment", "attachment": queued}).to_string();
        (super::super::TRANSCRIPT.prompt)(line.as_bytes()).map(|prompt| prompt.text)
    };
    for person in [
        serde_json::json!({}),
        serde_json::json!({"origin": {"kind": "human"}, "commandMode": "prompt", "isMeta": false}),
    ] {
        assert_eq!(text(person).as_deref(), Some("close #42"));
    }
    for host in [
        serde_json::json!({"origin": {"kind": "channel"}}),
        serde_json::json!({"isMeta": true}),
        serde_json::json!({"commandMode": "task-notification"}),
        serde_json::json!({"commandMode": "bash"}),
    ] {
        assert_eq!(text(host.clone()), None, "{host}");
    }
}

/// Nobody has read it yet, and it may be taken back: it is an order or nothing.
#[test]
fn what_waits_in_the_queue_is_nobodys_word() {
    let line = br#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-18T16:15:03.676Z","sessionId":"s","content":"yes, close #42"}"#;
    assert_eq!((super::super::TRANSCRIPT.prompt)(line), None);
    assert_eq!((super::super::TRANSCRIPT.entry)(line), Some(Entry::Other));
}
