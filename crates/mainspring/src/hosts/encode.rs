//! Encodes an answer as a host's JSON: exactly the fields that the host understands at this
//! event, because some hosts ignore an answer with any other.

use mainspring_kernel::{Answer, Decision, HoldTexts, Kind, Voice};
use serde_json::{Map, Value, json};

use super::answers::{Answers, ContextIn, DenyBy, OUR_REASON, ObjectBy, OrdersBy};
use super::text::{self, clean};
use super::{Payload, Wording};

/// One line of JSON that keeps an order from the model, with what its user reads instead.
pub(crate) fn handled(payload: &Payload, said: &str) -> String {
    let mut out = Map::new();
    match (payload.host.answers.orders, &payload.event.kind) {
        // A message that is blocked would come back into the input.
        (OrdersBy::Command, Kind::Prompt { .. }) => {
            out.insert("continue".into(), false.into());
            out.insert("stopReason".into(), clean(said).into());
        }
        // Without the prompt, which would look as if it had been refused.
        (OrdersBy::Command, _) => {
            block(&mut out, said);
            let event = payload.wire_name.as_str();
            let output = json!({ "hookEventName": event, "suppressOriginalPrompt": true });
            out.insert("hookSpecificOutput".into(), output);
        }
        (OrdersBy::Message | OrdersBy::Nowhere, _) => block(&mut out, said),
    }
    Value::Object(out).to_string()
}

/// One line of JSON; `None` if there is nothing to say.
pub(crate) fn encode(
    host: &Answers,
    answer: &Answer,
    event: &str,
    wording: Wording,
) -> Option<String> {
    if answer.is_nothing() {
        return None;
    }
    let mut out = Map::new();
    match &answer.decision {
        Decision::Stop { hold } => match wording {
            Wording::Block => block(&mut out, &hold_text(host, hold)),
            Wording::Context => add_context(&mut out, host, event, &hold.text()),
        },
        Decision::Context { tell } => add_context(&mut out, host, event, &tell.text()),
        Decision::AfterTool { tell, object } => match host.object {
            ObjectBy::Block => {
                block(&mut out, &object.text());
                add_context(&mut out, host, event, &tell.text());
            }
            ObjectBy::Context => {
                let both = object.clone().join(tell.clone());
                add_context(&mut out, host, event, &both.text());
            }
        },
        Decision::BeforeTool { deny } => deny_tool(&mut out, host, event, &deny.text()),
        Decision::Idle { notify } if host.notifies => desktop_notice(&mut out, &notify.text()),
        // No host has such an event: the watcher wakes the agent by itself.
        Decision::Watch { .. } | Decision::Idle { .. } | Decision::Silent => {}
    }
    let said = text::notes(answer);
    if !said.is_empty() {
        out.insert("systemMessage".into(), clean(&said).into());
    }
    let mut desktop = answer.notes.iter().filter(|note| note.by == Voice::Desktop);
    if let Some(note) = desktop.next_back().filter(|_| host.notifies) {
        desktop_notice(&mut out, &note.text);
    }
    if out.is_empty() {
        return None;
    }
    mainspring_json::text(&out).ok().map(|line| line + "\n")
}

fn hold_text(host: &Answers, hold: &HoldTexts) -> String {
    let text = hold.text();
    if host.reason_is_prompt && !text.is_empty() {
        format!("{OUR_REASON}\n{text}")
    } else {
        text
    }
}

fn add_context(out: &mut Map<String, Value>, host: &Answers, event: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let text = clean(text);
    match host.context {
        ContextIn::Output => {
            let output = json!({ "hookEventName": event, "additionalContext": text });
            out.insert("hookSpecificOutput".into(), output);
        }
        ContextIn::TopLevel => {
            out.insert("additionalContext".into(), text.into());
        }
        ContextIn::Nowhere => {}
    }
}

fn deny_tool(out: &mut Map<String, Value>, host: &Answers, event: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    match host.deny {
        DenyBy::Permission => {
            let output = json!({
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": clean(text),
            });
            out.insert("hookSpecificOutput".into(), output);
        }
        DenyBy::Decision => {
            out.insert("decision".into(), "deny".into());
            out.insert("reason".into(), clean(text).into());
        }
    }
}

/// Operating system command 9: a desktop notification, if the terminal supports it.
fn desktop_notice(out: &mut Map<String, Value>, text: &str) {
    if !text.is_empty() {
        let text = clean(text).replace(['\n', '\t'], " ");
        let sequence = format!("\u{1b}]9;{text}\u{7}");
        out.insert("terminalSequence".into(), sequence.into());
    }
}

fn block(out: &mut Map<String, Value>, text: &str) {
    if !text.is_empty() {
        out.insert("decision".into(), "block".into());
        out.insert("reason".into(), clean(text).into());
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::{Name, Note};

    use super::*;
    use crate::hosts::DEFAULT;

    fn said(text: &str) -> HoldTexts {
        HoldTexts::one(Name::Gate, text.into())
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
                encode(&DEFAULT.answers, &answer, event, Wording::Block),
                Some(format!("{expected}\n"))
            );
        }
    }

    #[test]
    fn a_decision_without_reasons_prints_nothing() {
        let nothing = HoldTexts::default;
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
            assert_eq!(
                encode(&DEFAULT.answers, &answer, "Stop", Wording::Block),
                None
            );
        }
    }

    #[test]
    fn a_hold_may_be_worded_as_context() {
        let answer = Answer {
            decision: Decision::Stop {
                hold: HoldTexts::one(Name::Gate, "go on".into()),
            },
            notes: Vec::new(),
        };
        assert_eq!(
            encode(&DEFAULT.answers, &answer, "Stop", Wording::Context).unwrap(),
            "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"go on\"}}\n"
        );
        let silent = Answer::nothing(&mainspring_kernel::Kind::Idle);
        assert_eq!(
            encode(&DEFAULT.answers, &silent, "Stop", Wording::Context),
            None
        );
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
            encode(&DEFAULT.answers, &answer, "Stop", Wording::Block).unwrap(),
            "{\"systemMessage\":\"mainspring loop: stale\\nmainspring: disk full\"}\n"
        );
    }
}
