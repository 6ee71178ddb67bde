//! Decodes a host's JSON to our event. Only input that is not JSON is an error.

use std::borrow::Cow;
use std::path::PathBuf;

use mainspring_kernel::SessionId;
use mainspring_kernel::event::{
    Author, Background, Chain, EndReason, Event, Kind, Speaker, StartSource,
};

use super::reading::{ChainFrom, Means, PromptBy, Reading};
use super::wire::{BackgroundTask, Field, SkillResponse, Wire};
use super::{DecodeAs, DecodeError, HostSpec, Payload, sender};
use crate::env::Environment;
use crate::transcript::Transcript;

/// Decodes the event that a host sent: this one, or the one that the payload shows.
pub(crate) fn decode(
    env: &Environment,
    bytes: Vec<u8>,
    known: DecodeAs,
    named: Option<&'static HostSpec>,
) -> Result<Payload, DecodeError> {
    let text = std::str::from_utf8(&bytes).map_err(|_| DecodeError::NotText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(DecodeError::Empty);
    }
    // serde would also accept a list of our fields' values.
    if !text.trim_start().starts_with('{') {
        return Err(DecodeError::NotJson(
            "it does not start with a brace".into(),
        ));
    }
    let wire: Wire<'_> =
        serde_json::from_str(text).map_err(|error| DecodeError::NotJson(error.to_string()))?;
    let host = named.unwrap_or_else(|| sender(env, &wire));
    let mut payload = of_wire(host, &wire, known);
    payload.bytes = bytes;
    Ok(payload)
}

/// All but the bytes.
fn of_wire(host: &'static HostSpec, wire: &Wire<'_>, known: DecodeAs) -> Payload {
    let reading = &host.reading;
    let wire_name = event_name(reading, wire, known);
    let is_subagents = given(&wire.agent_id).is_some() || given(&wire.subagent_type).is_some();
    let speaker = if is_subagents {
        Speaker::Subagent
    } else {
        Speaker::Main
    };
    let path = |text: Cow<'_, str>| (!text.is_empty()).then(|| PathBuf::from(&*text));
    let transcript = wire.transcript_path.text().and_then(path);
    let means = reading.means(&wire_name);
    Payload {
        host,
        event: Event {
            session: wire.session_id.text().and_then(|id| SessionId::parse(&id)),
            speaker,
            kind: kind(host, means, wire, known).unwrap_or_else(|| Kind::Other {
                name: wire_name.clone(),
            }),
        },
        cwd: wire.cwd.text().and_then(path),
        transcript,
        last_message: (reading.last_words)(wire),
        tool_input: match means {
            Some(Means::BeforeTool) => wire.tool_input.raw().map(str::to_owned),
            _ => None,
        },
        to_us: to_us(means, wire),
        command_args: given(&wire.command_args),
        command_source: given(&wire.command_source),
        team: given(&wire.team_name),
        stamp: given(&wire.timestamp),
        wire_name,
        bytes: Vec::new(),
    }
}

/// A prompt that begins with our name may be an order. No order is long.
fn to_us(means: Option<Means>, wire: &Wire<'_>) -> Option<String> {
    if means != Some(Means::Prompt) {
        return None;
    }
    let prompt = wire.prompt.text()?;
    let message = prompt.trim();
    let begins = ["mainspring ", "/mainspring:"];
    let is_ours = begins.iter().any(|begin| message.starts_with(begin));
    (is_ours && message.len() < 100).then(|| message.to_owned())
}

/// A text that is not empty.
pub(super) fn given(field: &Field<'_>) -> Option<String> {
    let text = field.text()?;
    (!text.is_empty()).then(|| text.into_owned())
}

/// The event's name: as the payload has it, or as the host would call it.
fn event_name(reading: &Reading, wire: &Wire<'_>, known: DecodeAs) -> String {
    let named = wire.hook_event_name.text().unwrap_or_default();
    let called = |means: Means| reading.name_of(means).to_owned();
    match known {
        DecodeAs::Named => named.into_owned(),
        DecodeAs::StopUnlessNamed if !named.is_empty() => named.into_owned(),
        DecodeAs::Stop | DecodeAs::StopUnlessNamed => called(Means::Stop),
        DecodeAs::Skill if reading.means(&named) == Some(Means::Expansion) => named.into_owned(),
        DecodeAs::Skill => called(Means::AfterTool),
        DecodeAs::Idle => called(Means::Notification),
        DecodeAs::SessionStart => called(Means::Start),
    }
}

/// `None` for an event that we do not handle, or that is not what its name says.
fn kind(host: &HostSpec, means: Option<Means>, wire: &Wire<'_>, known: DecodeAs) -> Option<Kind> {
    let reading = &host.reading;
    let kind = match means {
        _ if known == DecodeAs::Idle => Kind::Idle,
        Some(Means::Start) => Kind::SessionStart {
            source: start_source(wire, known),
        },
        Some(Means::End) => Kind::SessionEnd {
            reason: match wire.reason.text().as_deref() {
                Some("clear") => EndReason::Clear,
                Some(_) | None => EndReason::Other,
            },
        },
        Some(Means::Prompt) => match (reading.prompt)(wire) {
            PromptBy::Person => Kind::Prompt {
                author: Author::Person,
            },
            PromptBy::Host => Kind::Prompt {
                author: Author::Host,
            },
            PromptBy::Nobody => return None,
        },
        Some(Means::Expansion) => Kind::Expansion {
            command: wire.command_name.text().unwrap_or_default().into_owned(),
        },
        Some(Means::BeforeTool) => Kind::BeforeTool {
            tool: wire.tool_name.text().unwrap_or_default().into_owned(),
        },
        Some(Means::AfterTool) => after_tool(reading, wire, known),
        Some(Means::Stop) if (reading.is_stop)(wire) => Kind::Stop {
            chain: chain(host, wire),
            background: background(wire),
        },
        Some(Means::Notification)
            if wire.notification_type.text().as_deref() == Some("idle_prompt") =>
        {
            Kind::Idle
        }
        Some(Means::Stop | Means::Notification) | None => return None,
    };
    Some(kind)
}

fn start_source(wire: &Wire<'_>, known: DecodeAs) -> StartSource {
    match wire.source.text().as_deref() {
        None if known == DecodeAs::SessionStart => StartSource::Startup,
        Some("startup" | "new") => StartSource::Startup,
        Some("resume") => StartSource::Resume,
        Some("clear") => StartSource::Clear,
        Some("compact") => StartSource::Compact,
        Some("fork") => StartSource::Fork,
        Some(_) | None => StartSource::Other,
    }
}

fn after_tool(reading: &Reading, wire: &Wire<'_>, known: DecodeAs) -> Kind {
    let skill_tool = reading.skill.as_ref().map_or("", |skill| skill.tool);
    let unnamed = if known == DecodeAs::Skill {
        skill_tool
    } else {
        ""
    };
    let tool = wire.tool_name.text().unwrap_or(unnamed.into());
    let is_skill = !skill_tool.is_empty() && tool == skill_tool;
    Kind::AfterTool {
        skill: is_skill.then(|| skill(reading, wire)).flatten(),
        tool: tool.into_owned(),
    }
}

/// The skill that ran: its name in the response, which has the plugin's prefix, else the name
/// that the model asked for. `None` if the call failed.
fn skill(reading: &Reading, wire: &Wire<'_>) -> Option<String> {
    let response: Option<SkillResponse> = wire
        .tool_response
        .read()
        .or_else(|| wire.tool_result.read());
    let failed = response.as_ref().is_some_and(|response| {
        let result = response.result_type.as_deref();
        response.success == Some(false) || result.is_some_and(|result| result != "success")
    });
    if failed {
        return None;
    }
    let asked = || {
        let input: serde_json::Map<String, serde_json::Value> = wire.tool_input.read()?;
        let name = input.get(reading.skill.as_ref()?.field)?.as_str()?;
        Some(name.to_owned())
    };
    response
        .and_then(|response| response.command_name)
        .or_else(asked)
        .filter(|name| !name.is_empty())
}

fn chain(host: &HostSpec, wire: &Wire<'_>) -> Chain {
    let continued = match host.reading.chain {
        ChainFrom::Payload => {
            let fields = [&wire.stop_hook_active, &wire.stop_hook_active_camel];
            fields.iter().any(|field| field.read() == Some(true))
        }
        ChainFrom::Transcript => {
            let path = wire.transcript_path.text().unwrap_or_default();
            let transcript = Transcript::open(path.as_ref().as_ref());
            transcript.is_ok_and(|transcript| transcript.is_held(host.transcript.entry))
        }
    };
    if continued {
        Chain::Continued
    } else {
        Chain::First
    }
}

/// The host wakes the agent when a sub-agent or a workflow ends. A shell does not count: it may
/// run for ever, like a development server.
fn background(wire: &Wire<'_>) -> Background {
    let tasks: Option<Vec<BackgroundTask>> = wire.background_tasks.read();
    let tasks = tasks.or_else(|| wire.background_tasks_camel.read());
    let tasks = tasks.unwrap_or_default();
    let wakes = tasks.iter().any(|task| {
        let is_agent = match task.r#type.as_str() {
            "subagent" | "workflow" => true,
            "" => !task.agent_type.is_empty(),
            _ => false,
        };
        task.status == "running" && is_agent
    });
    if wakes {
        Background::Working
    } else {
        Background::Quiet
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    use mainspring_kernel::Millis;

    fn decode_as(bytes: Vec<u8>, known: DecodeAs) -> Result<Payload, DecodeError> {
        let env = Environment::given(&[], Millis(0));
        super::decode(&env, bytes, known, Some(crate::hosts::DEFAULT))
    }

    fn decode(bytes: Vec<u8>) -> Result<Payload, DecodeError> {
        decode_as(bytes, DecodeAs::Named)
    }

    fn kind_of(json: &str) -> Kind {
        decode(json.as_bytes().to_vec()).unwrap().event.kind
    }

    #[test]
    fn a_stop_says_whether_anything_will_wake_the_agent() {
        let stop = |tasks: &str| {
            kind_of(&format!(
                r#"{{"hook_event_name":"Stop","stop_hook_active":true,"background_tasks":{tasks}}}"#
            ))
        };
        let expected = |background| Kind::Stop {
            chain: Chain::Continued,
            background,
        };
        for (tasks, background, why) in [
            ("[]", Background::Quiet, "nothing runs"),
            (
                r#"[{"type":"shell","status":"running"}]"#,
                Background::Quiet,
                "a server never ends",
            ),
            (
                r#"[{"type":"shell","status":"running"},{"type":"subagent","status":"running"}]"#,
                Background::Working,
                "its end wakes the agent",
            ),
            (
                r#"[{"type":"subagent","status":"completed"}]"#,
                Background::Quiet,
                "it has ended",
            ),
            (r#""soon""#, Background::Quiet, "another type is no list"),
            ("[1]", Background::Quiet, "another shape is no list"),
        ] {
            assert_eq!(stop(tasks), expected(background), "{why}");
        }
    }

    #[test]
    fn a_skill_is_named_by_the_response_and_only_if_it_ran() {
        let skill = |rest: &str| match kind_of(&format!(
            r#"{{"hook_event_name":"PostToolUse","tool_name":"Skill",{rest}}}"#
        )) {
            Kind::AfterTool { skill, .. } => skill,
            other => panic!("{other:?}"),
        };
        for (rest, expected) in [
            (
                r#""tool_input":{"skill":"s"},"tool_response":{"success":true,"commandName":"p:s"}"#,
                Some("p:s"),
            ),
            (
                r#""tool_input":{"skill":"s"},"tool_response":"done""#,
                Some("s"),
            ),
            (
                r#""tool_input":{"skill":"s"},"tool_response":{"success":false,"commandName":"s"}"#,
                None,
            ),
            (r#""tool_input":{}"#, None),
        ] {
            assert_eq!(skill(rest).as_deref(), expected, "{rest}");
        }
    }

    #[test]
    fn what_is_not_json_is_an_error_and_the_rest_is_not() {
        for (bytes, error) in [
            (&b""[..], DecodeError::Empty),
            (b" \n", DecodeError::Empty),
            (b"\xff\xfe", DecodeError::NotText),
        ] {
            assert_eq!(decode(bytes.to_vec()).unwrap_err(), error);
        }
        for bytes in [&b"{"[..], b"[1]", b"nonsense", b"{\"a\":1}{"] {
            assert!(
                matches!(decode(bytes.to_vec()), Err(DecodeError::NotJson(_))),
                "{bytes:?}"
            );
        }
        for odd in [
            "{}",
            r#"{"hook_event_name":7,"session_id":[],"cwd":null}"#,
            "\u{feff}{\"hook_event_name\":\"Stop\",\"new\":{\"deep\":[[[]]]}}",
        ] {
            assert!(decode(odd.as_bytes().to_vec()).is_ok(), "{odd}");
        }
    }

    /// Ids are taken unchanged or not at all: two different ids must not become one.
    #[test]
    fn half_a_character_costs_a_message_that_character_and_an_id_everything() {
        let payload = decode(
            br#"{"hook_event_name":"Stop","session_id":"a\ud83d","last_assistant_message":"cut \ud83d\n\nDONE"}"#.to_vec(),
        )
        .unwrap();
        assert_eq!(
            payload.last_message.as_deref(),
            Some("cut \u{fffd}\n\nDONE")
        );
        assert_eq!(payload.event.session, None);
    }

    /// A drop-in's payload may be `{}`: its registration says the rest.
    #[test]
    fn what_a_drop_in_is_registered_for_says_what_its_payload_does_not() {
        let stop = Kind::Stop {
            chain: Chain::First,
            background: Background::Quiet,
        };
        let skill = |tool: &str, skill: Option<&str>| Kind::AfterTool {
            tool: tool.into(),
            skill: skill.map(str::to_owned),
        };
        for (json, known, kind) in [
            ("{}", DecodeAs::Stop, stop.clone()),
            (
                r#"{"hook_event_name":"SubagentStop"}"#,
                DecodeAs::Stop,
                stop.clone(),
            ),
            ("{}", DecodeAs::StopUnlessNamed, stop),
            (
                r#"{"hook_event_name":"SessionEnd"}"#,
                DecodeAs::StopUnlessNamed,
                Kind::SessionEnd {
                    reason: EndReason::Other,
                },
            ),
            ("{}", DecodeAs::Idle, Kind::Idle),
            (
                "{}",
                DecodeAs::SessionStart,
                Kind::SessionStart {
                    source: StartSource::Startup,
                },
            ),
            (
                r#"{"tool_input":{"skill":"s"}}"#,
                DecodeAs::Skill,
                skill("Skill", Some("s")),
            ),
            (
                r#"{"tool_name":"Bash","tool_input":{"skill":"s"}}"#,
                DecodeAs::Skill,
                skill("Bash", None),
            ),
            (
                r#"{"hook_event_name":"UserPromptExpansion","command_name":"s"}"#,
                DecodeAs::Skill,
                Kind::Expansion {
                    command: "s".into(),
                },
            ),
        ] {
            let payload = decode_as(json.as_bytes().to_vec(), known).unwrap();
            assert_eq!(payload.event.kind, kind, "{json} as {known:?}");
        }
    }

    #[test]
    fn deep_nesting_is_skipped_and_not_followed() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"x":{deep},"hook_event_name":"Stop","background_tasks":{deep}}}"#);
        assert!(matches!(kind_of(&text), Kind::Stop { .. }));
    }

    #[test]
    fn prompts_that_no_person_wrote_are_told_apart() {
        for (prompt, author) in [
            ("do it", Author::Person),
            ("<task-notification>\\n<task-id>a</task-id>", Author::Host),
        ] {
            let kind = kind_of(&format!(
                r#"{{"hook_event_name":"UserPromptSubmit","prompt":"{prompt}"}}"#
            ));
            assert_eq!(kind, Kind::Prompt { author });
        }
    }
}
