//! What the real clients sent, decoded.

use mainspring_kernel::event::{Author, Background, Chain, Kind, Speaker};
use mainspring_kernel::{Answer, Decision, HoldTexts, Millis, Name, Note};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::*;

#[derive(Deserialize)]
struct Captured<'a> {
    env: Vec<String>,
    #[serde(borrow)]
    stdin: &'a RawValue,
}

/// Decodes each line as its host's hook would, and says in short what it is.
fn decoded(program: &str, lines: &str) -> String {
    let mut out = String::new();
    for line in lines.lines() {
        let captured: Captured<'_> = serde_json::from_str(line).unwrap();
        let stdin: serde_json::Value = serde_json::from_str(captured.stdin.get()).unwrap();
        let session = stdin["session_id"].as_str().unwrap_or_default();
        let value = |name: &String| match name.as_str() {
            "GEMINI_SESSION_ID" | "QWEN_CODE_SESSION_ID" | "GROK_SESSION_ID" => session.to_owned(),
            _ => "1".to_owned(),
        };
        let vars: Vec<(String, String)> = captured
            .env
            .iter()
            .map(|name| (name.clone(), value(name)))
            .collect();
        let vars: Vec<(&str, &str)> = vars.iter().map(|(n, v)| (&**n, &**v)).collect();
        let env = Environment::given(&vars, Millis(0));
        let bytes = captured.stdin.get().as_bytes().to_vec();
        let payload = decode(&env, bytes.clone(), DecodeAs::Named, None).unwrap();
        if stdin["hook_event_name"].is_string() {
            assert_eq!(payload.host.program, program, "{line}");
        }
        let host = named(program);
        let forced = decode(
            &Environment::given(&[], Millis(0)),
            bytes,
            DecodeAs::Named,
            host,
        );
        assert_eq!(forced.unwrap().event, payload.event, "{line}");
        out += &format!("{}: {}\n", payload.wire_name, short(&payload));
    }
    out
}

fn short(payload: &Payload) -> String {
    let mut text = match &payload.event.kind {
        Kind::Other { .. } => "nothing".to_owned(),
        Kind::Prompt { author } => match author {
            Author::Person => "prompt of a person".into(),
            Author::Host => "prompt of the host".into(),
        },
        Kind::Stop { chain, background } => {
            let chain = match chain {
                Chain::First => "first stop",
                Chain::Continued => "later stop",
            };
            match background {
                Background::Quiet => chain.to_owned(),
                Background::Working => format!("{chain}, a sub-agent works"),
            }
        }
        Kind::AfterTool { tool, skill } => match skill {
            Some(skill) => format!("after the skill {skill}"),
            None => format!("after {tool}"),
        },
        Kind::BeforeTool { tool } => format!("before {tool}"),
        Kind::Expansion { command } => format!("typed {command}"),
        kind => kind.name().to_owned(),
    };
    if payload.event.speaker == Speaker::Subagent {
        text += ", by a sub-agent";
    }
    if let Some(words) = &payload.last_message {
        text += &format!(", said {words:?}");
    }
    text
}

#[test]
fn codex_is_understood() {
    insta::assert_snapshot!(decoded("codex", include_str!("../fixtures/codex.jsonl")), @r#"
SessionStart: session_start
UserPromptSubmit: prompt of a person
Stop: first stop, said "Done 1."
PreToolUse: before Bash
PostToolUse: after Bash
Stop: later stop, said "Done 2."
SessionEnd: session_end
SubagentStart: nothing, by a sub-agent
UserPromptSubmit: prompt of a person, by a sub-agent
SubagentStop: nothing, by a sub-agent, said "Sub words."
Interrupt: nothing
SessionStart: session_start
SessionStart: session_start
"#);
}

/// An interrupted turn is no stop, and the last words are those of the transcript.
#[test]
fn gemini_is_understood() {
    insta::assert_snapshot!(decoded("gemini", include_str!("../fixtures/gemini.jsonl")), @r#"
SessionStart: session_start
BeforeAgent: prompt of a person
PreCompress: nothing
AfterAgent: first stop
BeforeAgent: prompt of a person
BeforeTool: before run_shell_command
AfterTool: after run_shell_command
BeforeAgent: prompt of a person
AfterAgent: first stop
SessionEnd: session_end
AfterTool: after the skill demo
AfterAgent: first stop
AfterAgent: nothing
AfterAgent: first stop
SessionStart: session_start
Notification: nothing
SessionStart: session_start
"#);
}

/// Our own reason and a tool's result are no prompts, and its notice of an idle agent is none.
#[test]
fn qwen_is_understood() {
    insta::assert_snapshot!(decoded("qwen", include_str!("../fixtures/qwen.jsonl")), @r#"
SessionStart: session_start
Notification: nothing
UserPromptSubmit: prompt of a person
Stop: first stop, said "Done 1."
UserPromptSubmit: nothing
PreToolUse: before run_shell_command
PostToolUse: after run_shell_command
PostToolBatch: nothing
UserPromptSubmit: nothing
Stop: later stop, said "Done 2."
UserPromptSubmit: nothing
UserPromptExpansion: typed demo
PostToolUse: after the skill demo
UserPromptSubmit: prompt of a person
PreToolUse: before agent
SubagentStart: nothing, by a sub-agent
PostToolUse: after agent
PreToolUse: before run_shell_command, by a sub-agent
PostToolUse: after run_shell_command, by a sub-agent
PostToolBatch: nothing, by a sub-agent
Stop: first stop, a sub-agent works, said "Parent words."
SubagentStop: nothing, by a sub-agent, said "Sub words."
SubagentStop: nothing, by a sub-agent, said "Sub words 2."
Notification: nothing
Notification: nothing
PostToolUseFailure: nothing
"#);
}

#[test]
fn copilot_is_understood() {
    insta::assert_snapshot!(decoded("copilot", include_str!("../fixtures/copilot.jsonl")), @r#"
SessionStart: session_start
UserPromptSubmit: prompt of a person
Stop: first stop
UserPromptSubmit: prompt of a person
PreToolUse: before Bash
: nothing
PostToolUse: after Bash
Stop: later stop
UserPromptSubmit: prompt of a person
SessionEnd: session_end
PostToolUse: after the skill demo
UserPromptSubmit: prompt of a person
PreToolUse: before Agent
: nothing, by a sub-agent
UserPromptSubmit: prompt of a person, by a sub-agent
PreToolUse: before Bash, by a sub-agent
: nothing, by a sub-agent
PostToolUse: after Bash, by a sub-agent
Stop: first stop, by a sub-agent
SubagentStop: nothing, by a sub-agent
UserPromptSubmit: prompt of a person, by a sub-agent
SubagentStop: nothing, by a sub-agent
PostToolUse: after Agent
Notification: nothing
"#);
}

/// Its second stop, when it ends, is none; nor is the end of a sub-agent a person's prompt.
#[test]
fn grok_is_understood() {
    insta::assert_snapshot!(decoded("grok", include_str!("../fixtures/grok.jsonl")), @r#"
UserPromptSubmit: prompt of a person
SessionStart: session_start
Stop: first stop, said "Done 1."
PreToolUse: before run_terminal_command
PostToolUse: after run_terminal_command
Stop: later stop, said "Done 2."
Stop: later stop, said "Done 3."
SessionEnd: session_end
Stop: nothing
UserPromptSubmit: prompt of a person
SessionStart: session_start
PreToolUse: before spawn_subagent
UserPromptSubmit: prompt of a person, by a sub-agent
SubagentStart: nothing, by a sub-agent
PostToolUse: after spawn_subagent
PreToolUse: before run_terminal_command, by a sub-agent
PostToolUse: after run_terminal_command, by a sub-agent
Stop: first stop, a sub-agent works, said "Parent words."
SubagentStop: nothing, by a sub-agent, said "Sub words."
SubagentStop: nothing, by a sub-agent, said "Sub words 2."
SessionEnd: session_end, by a sub-agent
SessionEnd: session_end
UserPromptSubmit: prompt of the host
Stop: nothing
"#);
}

#[test]
fn droid_is_understood() {
    insta::assert_snapshot!(decoded("droid", include_str!("../fixtures/droid.jsonl")), @r#"
SessionStart: session_start
Stop: first stop
PreToolUse: before Execute
PostToolUse: after Execute
Stop: later stop
Stop: later stop
SessionEnd: session_end
PostToolUse: after the skill demo
Stop: first stop
SessionStart: session_start
UserPromptSubmit: prompt of a person
Notification: nothing
"#);
}

/// Our own reason comes back as a prompt, and is none.
#[test]
fn a_prompt_that_is_our_own_reason_is_nobodys() {
    for program in ["gemini", "copilot", "qwen", "droid", "opencode", "pi"] {
        let host = named(program).unwrap();
        let answer = Answer {
            decision: Decision::Stop {
                hold: HoldTexts::one(Name::Gate, "go on".into()),
            },
            notes: Vec::new(),
        };
        let line = encode::encode(&host.answers, &answer, "Stop", Wording::Block).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        let event = host.reading.name_of(reading::Means::Prompt);
        let prompt = |text: &serde_json::Value| {
            let stdin = serde_json::json!({
                "hook_event_name": event, "session_id": "s", "prompt": text,
                "submitted_prompt": text,
            });
            let env = Environment::given(&[], Millis(0));
            let bytes = stdin.to_string().into_bytes();
            decode(&env, bytes, DecodeAs::Named, Some(host))
                .unwrap()
                .event
                .kind
        };
        assert!(
            matches!(prompt(&said["reason"]), Kind::Other { .. }),
            "{program}"
        );
        let persons = serde_json::Value::from("go on");
        assert!(matches!(prompt(&persons), Kind::Prompt { .. }), "{program}");
    }
}

/// Every answer for each of these hosts.
fn answers(hosts: &[&HostSpec]) -> String {
    let said = |text: &str| HoldTexts::one(Name::Gate, text.into());
    let decisions = [
        ("hold", Decision::Stop { hold: said("R") }),
        ("tell", Decision::Context { tell: said("C") }),
        ("deny", Decision::BeforeTool { deny: said("D") }),
        (
            "object",
            Decision::AfterTool {
                tell: said("C"),
                object: said("O"),
            },
        ),
        ("notify", Decision::Idle { notify: said("N") }),
    ];
    let mut out = String::new();
    for host in hosts {
        out += &format!("{}\n", host.program);
        for (what, decision) in &decisions {
            let answer = Answer {
                decision: decision.clone(),
                notes: Vec::new(),
            };
            let line = encode::encode(&host.answers, &answer, "E", Wording::Block);
            out += &format!("  {what}: {}\n", line.as_deref().unwrap_or("-").trim_end());
        }
        assert_note_is_beside_the_hold(host);
    }
    out
}

/// Each host's schema, to the byte: one that is closed drops an answer with any other field.
#[test]
fn every_answer_is_in_its_hosts_schema() {
    insta::assert_snapshot!(answers(&HOSTS[..5]), @r#"
claude
  hold: {"decision":"block","reason":"R"}
  tell: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: {"decision":"block","reason":"O","hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  notify: {"terminalSequence":"\u001b]9;N\u0007"}
codex
  hold: {"decision":"block","reason":"R"}
  tell: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: {"decision":"block","reason":"O","hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  notify: -
gemini
  hold: {"decision":"block","reason":"[This is Mainspring, a stop hook, and not the user]\nR"}
  tell: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  deny: {"decision":"deny","reason":"D"}
  object: {"decision":"block","reason":"O","hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  notify: -
qwen
  hold: {"decision":"block","reason":"[This is Mainspring, a stop hook, and not the user]\nR"}
  tell: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C\n\nO"}}
  notify: -
copilot
  hold: {"decision":"block","reason":"[This is Mainspring, a stop hook, and not the user]\nR"}
  tell: {"additionalContext":"C"}
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: {"decision":"block","reason":"O","additionalContext":"C"}
  notify: -
"#);
}

#[test]
fn every_answer_is_in_the_schema_of_the_other_hosts() {
    insta::assert_snapshot!(answers(&HOSTS[5..]), @r#"
droid
  hold: {"decision":"block","reason":"[This is Mainspring, a stop hook, and not the user]\nR"}
  tell: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C\n\nO"}}
  notify: -
grok
  hold: {"decision":"block","reason":"R"}
  tell: {"hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: {"decision":"block","reason":"O","hookSpecificOutput":{"hookEventName":"E","additionalContext":"C"}}
  notify: -
opencode
  hold: {"decision":"block","reason":"[This is Mainspring, a stop hook, and not the user]\nR"}
  tell: -
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: -
  notify: -
pi
  hold: {"decision":"block","reason":"[This is Mainspring, a stop hook, and not the user]\nR"}
  tell: -
  deny: {"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"D"}}
  object: -
  notify: -
"#);
}

fn assert_note_is_beside_the_hold(host: &HostSpec) {
    let note = Answer {
        decision: Decision::Stop {
            hold: HoldTexts::one(Name::Gate, "R".into()),
        },
        notes: vec![Note::ours("for the person")],
    };
    let line = encode::encode(&host.answers, &note, "E", Wording::Block).unwrap();
    let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
    let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
    assert_eq!(keys, ["decision", "reason", "systemMessage"]);
}
