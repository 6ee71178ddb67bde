//! Encodes an answer as Claude Code's JSON.

use mainspring_kernel::{Answer, Decision, Reasons, Voice};
use serde_json::{Map, Value, json};

use crate::host::Wording;
use crate::host::text::{self, clean};

/// A blocked expansion does not reach the model, and its reason is shown to the user.
pub(crate) fn handled(said: &str) -> String {
    json!({ "decision": "block", "reason": clean(said) }).to_string()
}

/// One line of JSON; `None` if there is nothing to say.
pub(crate) fn encode(answer: &Answer, event: &str, wording: Wording) -> Option<String> {
    if answer.is_nothing() {
        return None;
    }
    let mut out = Map::new();
    match &answer.decision {
        Decision::Stop { hold } => match wording {
            Wording::Block => block(&mut out, hold),
            Wording::Context => add_context(&mut out, event, hold),
        },
        Decision::Context { tell } => add_context(&mut out, event, tell),
        Decision::AfterTool { tell, object } => {
            block(&mut out, object);
            add_context(&mut out, event, tell);
        }
        Decision::BeforeTool { deny } => deny_tool(&mut out, event, deny),
        Decision::Idle { notify } => notify_desktop(&mut out, notify),
        // Claude Code has no such event: the watcher wakes the agent by itself.
        Decision::Watch { .. } | Decision::Silent => {}
    }
    let said = text::notes(answer);
    if !said.is_empty() {
        out.insert("systemMessage".into(), clean(&said).into());
    }
    let mut desktop = answer.notes.iter().filter(|note| note.by == Voice::Desktop);
    if let Some(note) = desktop.next_back() {
        desktop_notice(&mut out, &note.text);
    }
    if out.is_empty() {
        return None;
    }
    mainspring_json::text(&out).ok().map(|line| line + "\n")
}

fn add_context(out: &mut Map<String, Value>, event: &str, reasons: &Reasons) {
    if !reasons.is_empty() {
        let output = json!({
            "hookEventName": event,
            "additionalContext": clean(&reasons.text()),
        });
        out.insert("hookSpecificOutput".into(), output);
    }
}

fn deny_tool(out: &mut Map<String, Value>, event: &str, reasons: &Reasons) {
    if !reasons.is_empty() {
        let output = json!({
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": clean(&reasons.text()),
        });
        out.insert("hookSpecificOutput".into(), output);
    }
}

fn notify_desktop(out: &mut Map<String, Value>, reasons: &Reasons) {
    if !reasons.is_empty() {
        desktop_notice(out, &reasons.text());
    }
}

/// Operating system command 9: a desktop notification, if the terminal supports it.
fn desktop_notice(out: &mut Map<String, Value>, text: &str) {
    let text = clean(text).replace(['\n', '\t'], " ");
    let sequence = format!("\u{1b}]9;{text}\u{7}");
    out.insert("terminalSequence".into(), sequence.into());
}

fn block(out: &mut Map<String, Value>, reasons: &Reasons) {
    if !reasons.is_empty() {
        out.insert("decision".into(), "block".into());
        out.insert("reason".into(), clean(&reasons.text()).into());
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::{Name, Note};

    use super::*;

    fn said(text: &str) -> Reasons {
        Reasons::one(Name::Gate, text.into())
    }

    #[test]
    fn every_decision_has_its_shape() {
        for (decision, event, expected) in [
            (
                Decision::Stop {
                    hold: said("go on"),
                },
                "Stop",
                r#"{"decision":"block","reason":"go on"}"#,
            ),
            (
                Decision::Context { tell: said("know") },
                "SessionStart",
                r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"know"}}"#,
            ),
            (
                Decision::AfterTool {
                    tell: said("know"),
                    object: said("no"),
                },
                "PostToolUse",
                r#"{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"know"}}"#,
            ),
            (
                Decision::BeforeTool { deny: said("no") },
                "PreToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            ),
            (
                Decision::Idle {
                    notify: said("CI\nfailed\u{7}"),
                },
                "Notification",
                r#"{"terminalSequence":"\u001b]9;CI failed\u0007"}"#,
            ),
        ] {
            let answer = Answer {
                decision,
                notes: Vec::new(),
            };
            assert_eq!(
                encode(&answer, event, Wording::Block),
                Some(format!("{expected}\n"))
            );
        }
    }

    #[test]
    fn a_decision_without_reasons_prints_nothing() {
        let nothing = Reasons::default;
        for silent in [
            Decision::Stop { hold: nothing() },
            Decision::Context { tell: nothing() },
            Decision::AfterTool {
                tell: nothing(),
                object: nothing(),
            },
            Decision::BeforeTool { deny: nothing() },
            Decision::Idle { notify: nothing() },
            Decision::Silent,
        ] {
            let answer = Answer {
                decision: silent,
                notes: Vec::new(),
            };
            assert_eq!(encode(&answer, "Stop", Wording::Block), None);
        }
    }

    #[test]
    fn a_hold_may_be_worded_as_context() {
        let answer = Answer {
            decision: Decision::Stop {
                hold: Reasons::one(Name::Gate, "go on".into()),
            },
            notes: Vec::new(),
        };
        assert_eq!(
            encode(&answer, "Stop", Wording::Context).unwrap(),
            "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"go on\"}}\n"
        );
        let silent = Answer::nothing(&mainspring_kernel::Kind::Idle);
        assert_eq!(encode(&silent, "Stop", Wording::Context), None);
    }

    #[test]
    fn the_person_reads_who_speaks() {
        let answer = Answer {
            decision: Decision::Silent,
            notes: vec![
                Note {
                    by: Voice::Machine(Name::Loop),
                    text: "stale".into(),
                },
                Note::ours("disk full"),
            ],
        };
        assert_eq!(
            encode(&answer, "Stop", Wording::Block).unwrap(),
            "{\"systemMessage\":\"mainspring loop: stale\\nmainspring: disk full\"}\n"
        );
    }
}
