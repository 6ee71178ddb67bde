//! `OpenAI`'s Responses API.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Reply, Talk, list, text_of};

pub(super) fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    if let Some(text) = body["instructions"].as_str() {
        talk.messages.push(("system".into(), text.into()));
    }
    if let Some(text) = body["input"].as_str() {
        talk.messages.push(("user".into(), text.into()));
    }
    for item in list(&body["input"]) {
        let (role, text) = match item["type"].as_str().unwrap_or("message") {
            "message" => (
                item["role"].as_str().unwrap_or_default().to_owned(),
                text_of(&item["content"]),
            ),
            kind if kind.ends_with("_output") => {
                let output = &item["output"];
                let text = output
                    .as_str()
                    .map_or_else(|| output.to_string(), str::to_owned);
                ("tool".into(), text)
            }
            _ => ("assistant".into(), item["arguments"].to_string()),
        };
        talk.messages.push((role, text));
    }
    for tool in list(&body["tools"]) {
        let name = tool["name"].as_str().or(tool["type"].as_str());
        let name = name.unwrap_or_default().to_owned();
        talk.tools.push((name, tool["parameters"].clone()));
    }
    talk
}

fn items(reply: &Reply<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    let text = reply.text();
    if !text.is_empty() {
        items.push(json!({
            "type": "message", "id": format!("msg_{}", reply.serial), "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }));
    }
    for (id, name, input) in reply.calls() {
        // A tool of a group is named `group/tool`.
        let (group, name) = match name.split_once('/') {
            Some((group, name)) => (Some(group), name),
            None => (None, name),
        };
        let mut item = json!({
            "type": "function_call", "id": format!("f{id}"), "call_id": id, "name": name,
            "arguments": input.to_string(), "status": "completed",
        });
        if let Some(group) = group {
            item["namespace"] = group.into();
        }
        items.push(item);
    }
    items
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    json!({
        "id": format!("resp_{}", reply.serial), "object": "response", "created_at": 1,
        "status": "completed", "model": reply.model, "output": items(reply),
        "parallel_tool_calls": false, "tools": [], "tool_choice": "auto", "error": null,
        "incomplete_details": null, "instructions": null, "metadata": {},
        "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 110,
        },
    })
}

pub(super) fn stream(reply: &Reply<'_>) -> String {
    let whole = whole(reply);
    let mut begun = whole.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in list(&whole["output"]).iter().enumerate() {
        for (kind, mut event) in item_events(item) {
            event["type"] = kind.into();
            event["output_index"] = index.into();
            event["item_id"] = item["id"].clone();
            events.push(event);
        }
    }
    events.push(json!({"type": "response.completed", "response": whole}));
    let mut stream = String::new();
    for (number, mut event) in events.into_iter().enumerate() {
        event["sequence_number"] = number.into();
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        write!(stream, "event: {name}\ndata: {event}\n\n").expect("a string takes it");
    }
    stream
}

/// One item, piece by piece.
fn item_events(item: &Value) -> Vec<(&'static str, Value)> {
    let mut empty = item.clone();
    empty["status"] = "in_progress".into();
    let mut events = Vec::new();
    if item["type"] == "message" {
        let part = &item["content"][0];
        let text = &part["text"];
        let no_text = json!({"type": "output_text", "text": "", "annotations": []});
        empty["content"] = json!([]);
        events.extend([
            ("response.output_item.added", json!({"item": empty})),
            (
                "response.content_part.added",
                json!({"content_index": 0, "part": no_text}),
            ),
            (
                "response.output_text.delta",
                json!({"content_index": 0, "delta": text}),
            ),
            (
                "response.output_text.done",
                json!({"content_index": 0, "text": text}),
            ),
            (
                "response.content_part.done",
                json!({"content_index": 0, "part": part}),
            ),
        ]);
    } else {
        let arguments = &item["arguments"];
        empty["arguments"] = "".into();
        events.extend([
            ("response.output_item.added", json!({"item": empty})),
            (
                "response.function_call_arguments.delta",
                json!({"delta": arguments}),
            ),
            (
                "response.function_call_arguments.done",
                json!({"arguments": arguments, "name": item["name"]}),
            ),
        ]);
    }
    events.push(("response.output_item.done", json!({"item": item})));
    events
}
