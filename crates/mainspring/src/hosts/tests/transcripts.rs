//! The transcripts of the real clients.

use std::io::Write as _;

use super::super::*;
use crate::transcript::{Entry, LastBlock, Outcome, Tail, Transcript};

fn tail_of(host: &HostSpec, text: &str) -> Tail {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let transcript = Transcript::open(file.path()).unwrap();
    transcript
        .tail(host.transcript.entry, LastBlock::None)
        .unwrap()
}

/// What each line that matters is.
fn lines(program: &str, text: &str) -> String {
    let host = named(program).unwrap();
    let entries = text.lines().filter_map(|line| {
        let entry = (host.transcript.entry)(line.as_bytes());
        let prompt = (host.transcript.prompt)(line.as_bytes());
        let entry = match entry.unwrap_or_else(|| panic!("{line}")) {
            Entry::Other => return None,
            Entry::Prompt => match prompt {
                Some(prompt) => format!("prompt {:?}", prompt.text),
                None => "prompt".into(),
            },
            Entry::Block => "held".into(),
            Entry::ToolResults(Outcome::Fine) => "result".into(),
            Entry::ToolResults(Outcome::Failed) => "failed result".into(),
            Entry::Agent(said) => format!("agent {:?}, {} calls", said.texts, said.tools),
        };
        Some(entry)
    });
    let mut out: Vec<String> = entries.collect();
    let tail = tail_of(host, text);
    out.push(format!("last words: {:?}", tail.final_texts));
    out.push(format!("a recent error: {}", tail.recent_error));
    out.push(format!("holds without a tool: {:?}", tail.run));
    out.join("\n")
}

#[test]
fn codex_rollout() {
    insta::assert_snapshot!(lines("codex", include_str!("../fixtures/codex-transcript.jsonl")), @r#"
prompt "PROMPT-1 please"
agent ["Before tool."], 0 calls
agent [], 1 calls
failed result
agent ["Done 1."], 0 calls
held
agent [], 1 calls
result
agent ["Done 2."], 0 calls
held
agent ["Done 3."], 0 calls
last words: ["Done 3."]
a recent error: true
holds without a tool: Exactly(1)
"#);
}

#[test]
fn gemini_chat() {
    insta::assert_snapshot!(lines("gemini", include_str!("../fixtures/gemini-transcript.jsonl")), @r#"
prompt
agent ["Before tool."], 0 calls
agent ["Before tool."], 1 calls
failed result
agent ["Done 1."], 0 calls
held
agent [], 0 calls
agent [], 1 calls
result
agent ["Done 2."], 0 calls
held
agent ["Done 3."], 0 calls
last words: ["Done 3."]
a recent error: true
holds without a tool: Exactly(1)
"#);
}

/// It does not show holds, and need not: there a tool call resets nothing.
#[test]
fn qwen_chat() {
    insta::assert_snapshot!(lines("qwen", include_str!("../fixtures/qwen-transcript.jsonl")), @r#"
prompt "PROMPT-1 please"
agent ["Before tool."], 1 calls
failed result
agent ["Done 1."], 0 calls
agent [], 1 calls
result
agent ["Done 2."], 0 calls
agent ["Done 3."], 0 calls
last words: ["Done 3."]
a recent error: true
holds without a tool: Exactly(0)
"#);
}

#[test]
fn copilot_events() {
    insta::assert_snapshot!(lines("copilot", include_str!("../fixtures/copilot-transcript.jsonl")), @r#"
prompt
agent ["Before tool."], 1 calls
failed result
agent ["Done 1."], 0 calls
held
agent [], 1 calls
result
agent ["Done 2."], 0 calls
held
agent ["Done 3."], 0 calls
last words: ["Done 3."]
a recent error: true
holds without a tool: Exactly(1)
"#);
}

/// The line about a stop has the stop's own time; what comes before the stop is before it.
#[test]
fn copilots_line_about_a_stop_is_known_by_its_time() {
    let about = named("copilot").unwrap().transcript.about_stop.unwrap();
    let text = include_str!("../fixtures/copilot-transcript.jsonl");
    let at = |stamp: &str| {
        let mut lines = text.lines();
        lines.position(|line| about(line.as_bytes(), stamp))
    };
    let stop = at("2026-11-17T16:03:36.371Z").unwrap();
    let words = text
        .lines()
        .position(|line| line.contains("\"content\":\"Done 2.\""));
    assert!(words.unwrap() < stop);
    assert_eq!(at("2026-11-17T16:03:36.372Z"), None);
}

/// At its second stop Gemini still says that no hook has blocked.
#[test]
fn whether_an_agent_was_held_is_read_from_the_transcript() {
    let host = named("gemini").unwrap();
    let text = include_str!("../fixtures/gemini-transcript.jsonl");
    let held = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let stdin = serde_json::json!({
            "hook_event_name": "AfterAgent", "session_id": "s", "prompt_response": "x",
            "transcript_path": file.path(), "stop_hook_active": false,
        });
        let env = Environment::given(&[], mainspring_kernel::Millis(0));
        let bytes = stdin.to_string().into_bytes();
        let payload = decode(&env, bytes, DecodeAs::Named, Some(host)).unwrap();
        payload.event.kind
            == mainspring_kernel::event::Event::stop(
                None,
                mainspring_kernel::event::Chain::Continued,
            )
            .kind
    };
    assert!(held(text));
    let first: Vec<&str> = text
        .lines()
        .take_while(|line| !line.contains("REASON-ONE"))
        .collect();
    assert!(!held(&first.join("\n")));
    assert!(!held(""));
}

#[test]
fn droid_session() {
    insta::assert_snapshot!(lines("droid", include_str!("../fixtures/droid-transcript.jsonl")), @r#"
prompt "PROMPT-1"
agent [], 1 calls
result
agent ["Parent words."], 0 calls
agent ["SCRIPT END 2"], 0 calls
last words: ["SCRIPT END 2"]
a recent error: false
holds without a tool: Exactly(0)
"#);
}

/// Is a stop of this host, with this transcript, a stop of the agent's?
fn is_stop(host: &str, event: &str, text: &str) -> bool {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let stop = serde_json::json!({
        "hook_event_name": event, "session_id": "s", "transcript_path": file.path(),
        "prompt_response": "Half of it.",
    });
    let env = Environment::given(&[], mainspring_kernel::Millis(0));
    let bytes = stop.to_string().into_bytes();
    let payload = decode(&env, bytes, DecodeAs::Named, named(host)).unwrap();
    matches!(payload.event.kind, mainspring_kernel::Kind::Stop { .. })
}

/// Droid sends a stop for a sub-agent and after an error of its API, and neither is the agent's.
#[test]
fn a_stop_of_droids_subagent_and_one_after_an_error_are_none() {
    let is_stop = |text: &str| is_stop("droid", "Stop", text);
    assert!(is_stop(include_str!("../fixtures/droid-transcript.jsonl")));
    assert!(!is_stop(include_str!(
        "../fixtures/droid-subagent-transcript.jsonl"
    )));
    assert!(!is_stop(include_str!(
        "../fixtures/droid-error-transcript.jsonl"
    )));
}

/// Gemini CLI sends its stop when a person presses Esc, and with what the agent had said by then.
/// What comes after that in the same session is a stop again.
#[test]
fn a_stop_of_geminis_after_esc_is_none() {
    let interrupted = include_str!("../fixtures/gemini-interrupted-transcript.jsonl");
    let whole = include_str!("../fixtures/gemini-transcript.jsonl");
    let is_stop = |text: &str| is_stop("gemini", "AfterAgent", text);
    assert!(is_stop(whole));
    assert!(!is_stop(interrupted));
    assert!(is_stop(&[interrupted, whole].concat()));
    assert!(!is_stop(&[whole, interrupted].concat()));
}
