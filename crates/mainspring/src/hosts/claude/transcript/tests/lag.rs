//! The number of blocks in a row is correct however far the transcript lags behind the stops.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::script::{Blocked, blocked, jsonl, prompt, says, tail_after, tool_result, uses_tool};
use crate::transcript::{LastBlock, Run, Shows, ToolUse};

#[derive(Debug, Clone)]
struct Stop {
    tools_before: usize,
    how: Blocked,
    /// Lines without meaning after every other line.
    noise: usize,
    /// How much of the hidden part becomes visible at this stop, in thousandths.
    written: usize,
}

fn stop() -> impl Strategy<Value = Stop> {
    let how = prop_oneof![
        Just(Blocked::Decision),
        Just(Blocked::ExitTwo),
        Just(Blocked::Context)
    ];
    let written = prop_oneof![Just(0_usize), 0..1000_usize, Just(1000_usize)];
    let tools_before = prop_oneof![3 => Just(0_usize), 1 => 1..3_usize];
    let noise = prop_oneof![Just(0_usize), Just(25_usize)];
    (tools_before, how, noise, written).prop_map(|(tools_before, how, noise, written)| Stop {
        tools_before,
        how,
        noise,
        written,
    })
}

/// A turn that was held once and let go after a tool call.
fn earlier_turn() -> Vec<Value> {
    let held = blocked(Blocked::Decision, "not yet");
    [
        vec![prompt("begin"), says("before", "earlier")],
        held,
        vec![uses_tool("tool before"), says("last", "earlier")],
    ]
    .concat()
}

/// Each line, followed by lines without meaning.
fn noisy(lines: &[Value], noise: usize) -> Vec<u8> {
    let noise = "{\"type\":\"mode\"}\n".repeat(noise);
    let noisy = |line: &Value| format!("{line}\n{noise}").into_bytes();
    lines.iter().flat_map(noisy).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// The file may end anywhere, even within a line or before the turn's own prompt. The last
    /// visible tool use is what counts.
    #[test]
    fn blocks_are_counted_once(
        earlier in prop_oneof![Just(Vec::new()), Just(earlier_turn())],
        stops in prop::collection::vec(stop(), 1..14),
    ) {
        let mut history = jsonl(&earlier);
        let mut visible = history.len();
        history.extend(jsonl(&[prompt("do it")]));
        let mut tool_ends = Vec::new();
        let mut block_starts = Vec::new();
        let mut last_block = LastBlock::None;
        for (number, stop) in stops.iter().enumerate() {
            for tool in 0..stop.tools_before {
                history.extend(jsonl(&[uses_tool(&format!("tool {number}.{tool}"))]));
                tool_ends.push(history.len());
            }
            let text = format!("text {number}");
            history.extend(noisy(&[says(&text, &text)], stop.noise));
            visible += (history.len() - visible) * stop.written / 1000;

            let tail = tail_after(last_block, &history[..visible]);

            // A line is understood one byte before its end: only the line feed is missing.
            let last_tool = tool_ends.iter().copied().filter(|end| *end <= visible + 1).max().unwrap_or(0);
            let since_tool = block_starts.iter().filter(|start| **start >= last_tool).count();
            prop_assert_eq!(tail.run, Run::Exactly(u32::try_from(since_tool).unwrap()));
            // A text from before our last block never counts as this stop's.
            let may_be_said = |said: &String| *said == text || (number == 0 && said == "earlier");
            prop_assert!(tail.final_texts.iter().all(may_be_said), "{:?} at {}", tail.final_texts, text);

            last_block = LastBlock::At { size: tail.size, unrecorded: tail.unrecorded + 1 };
            block_starts.push(history.len());
            history.extend(noisy(&blocked(stop.how, "not yet"), stop.noise));
        }
    }
}

#[test]
fn a_replaced_file_is_read_afresh() {
    let lines = jsonl(&[prompt("a"), says("m", "done")]);
    let known = LastBlock::At {
        size: 1 << 30,
        unrecorded: 1,
    };
    let tail = tail_after(known, &lines);
    assert_eq!((tail.unrecorded, tail.run), (0, Run::Exactly(0)));
    assert_eq!(tail.final_texts, ["done"]);
}

/// A ledger that missed the user's prompt delays nothing: the block's record comes first.
#[test]
fn a_prompt_outdates_the_last_block() {
    let first_turn = jsonl(&[prompt("one"), says("a", "first")]);
    let known = LastBlock::At {
        size: first_turn.len() as u64,
        unrecorded: 1,
    };
    let second_turn = [
        blocked(Blocked::Decision, "not yet"),
        vec![prompt("two"), says("b", "second")],
    ]
    .concat();
    let lines = [first_turn, jsonl(&second_turn)].concat();
    let tail = tail_after(known, &lines);
    assert_eq!((tail.unrecorded, tail.run), (0, Run::Exactly(0)));
    assert_eq!(tail.final_texts, ["second"]);
}

/// The host may write nothing before the first stop, not even the prompt.
#[test]
fn a_prompt_that_was_written_late_outdates_nothing() {
    let known = LastBlock::At {
        size: 0,
        unrecorded: 1,
    };
    let lines = jsonl(&[prompt("one"), says("a", "first")]);
    let tail = tail_after(known, &lines);
    assert_eq!((tail.unrecorded, tail.run), (1, Run::Exactly(1)));
    assert_eq!(tail.final_texts, [""; 0]);
}

/// The record of a block comes right after its stop, so if a MiB follows the stop, the record
/// was written.
#[test]
fn a_block_beyond_the_limit_has_been_recorded() {
    let known = LastBlock::At {
        size: 1,
        unrecorded: 1,
    };
    let lines = jsonl(&[tool_result(&"x".repeat(2 << 20), false), says("m", "done")]);
    let tail = tail_after(known, &lines);
    assert_eq!((tail.unrecorded, tail.run), (0, Run::AtLeast(0)));
    assert_eq!(tail.tool_used_since_last_block(), ToolUse::Unknown);
    assert_eq!(tail.final_texts, ["done"]);
}

#[test]
fn blocks_of_other_events_do_not_count() {
    let other = |event: &str| json!({"type": "attachment", "attachment": {"type": "hook_blocking_error", "hookEvent": event}});
    let lines = [
        vec![prompt("do it"), says("a", "first")],
        blocked(Blocked::Decision, "no"),
        vec![
            other("PostToolUse"),
            says("b", "second"),
            other("SubagentStop"),
        ],
        vec![other("UserPromptSubmit"), says("c", "third")],
    ];
    let tail = tail_after(LastBlock::None, &jsonl(&lines.concat()));
    assert_eq!(tail.run, Run::Exactly(1));
    assert_eq!(tail.tool_used_since_last_block(), ToolUse::No);
}

#[test]
fn another_hosts_transcript_leaves_the_count_to_the_ledger() {
    let lines = b"{\"type\":\"response_item\",\"payload\":{}}\n";
    let mut last_block = LastBlock::None;
    for blocks in 0..4 {
        let tail = tail_after(last_block, lines);
        assert_eq!(tail.run, Run::Exactly(blocks));
        last_block = LastBlock::At {
            size: tail.size,
            unrecorded: tail.unrecorded + 1,
        };
    }
}

/// With the last words, what came before them is there, too.
#[test]
fn the_last_words_are_those_of_this_stop_and_not_the_same_ones_of_an_earlier_one() {
    let held = blocked(Blocked::Decision, "not yet");
    let first = [vec![prompt("do it"), says("a", "Done.")], held].concat();
    let second = [first.clone(), vec![uses_tool("b"), says("c", "Done.\n")]].concat();
    let known = LastBlock::At {
        size: 1,
        unrecorded: 1,
    };
    let cut = first[..2].to_vec();
    for (lines, shows, has, why) in [
        (&cut, Shows::Holds, false, "the hold is not written yet"),
        (&cut, Shows::Talk, true, "no hold is ever written"),
        (&first, Shows::Holds, false, "they stand before the hold"),
        (&second, Shows::Holds, true, "they stand after it"),
    ] {
        let tail = tail_after(known, &jsonl(lines));
        assert_eq!(tail.has_last_words("Done.", shows), has, "{why}");
        assert!(!tail.has_last_words("Others.", shows), "{why}");
    }
}
