//! `OpenAI`'s Chat Completions.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Reply, Talk, list, text_of};

pub(super) fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        talk.messages.push((role, text_of(&message["content"])));
    }
    for tool in list(&body["tools"]) {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default().to_owned();
        talk.tools.push((name, function["parameters"].clone()));
    }
    talk
}

fn calls(reply: &Reply<'_>) -> Vec<Value> {
    let calls = reply.calls().into_iter().enumerate();
    calls
        .map(|(index, (id, name, input))| {
            json!({
                "index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": input.to_string()},
            })
        })
        .collect()
}

fn base(reply: &Reply<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{}", reply.serial), "created": 1, "model": reply.model,
        "object": object,
    })
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
}

fn finish(reply: &Reply<'_>) -> &'static str {
    if reply.calls().is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text()});
    let calls = calls(reply);
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut whole = base(reply, "chat.completion");
    whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": finish(reply)}]);
    whole["usage"] = usage();
    whole
}

pub(super) fn stream(reply: &Reply<'_>) -> String {
    let mut stream = String::new();
    let mut send = |choices: Value, usage: Option<Value>| {
        let mut chunk = base(reply, "chat.completion.chunk");
        chunk["choices"] = choices;
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        write!(stream, "data: {chunk}\n\n").expect("a string takes it");
    };
    let delta = |delta: Value| json!([{"index": 0, "delta": delta, "finish_reason": null}]);
    send(delta(json!({"role": "assistant", "content": ""})), None);
    let text = reply.text();
    if !text.is_empty() {
        send(delta(json!({"content": text})), None);
    }
    for call in calls(reply) {
        send(delta(json!({"tool_calls": [call]})), None);
    }
    send(
        json!([{"index": 0, "delta": {}, "finish_reason": finish(reply)}]),
        None,
    );
    send(json!([]), Some(usage()));
    stream + "data: [DONE]\n\n"
}
