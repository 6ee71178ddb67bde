//! Google's `generateContent`.

use serde_json::{Value, json};

use super::{Reply, Talk, list, text_of};

pub(super) fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    let system = text_of(&body["systemInstruction"]["parts"]);
    talk.messages.push(("system".into(), system));
    for content in list(&body["contents"]) {
        let parts = list(&content["parts"]);
        let role = match content["role"].as_str() {
            Some("model") => "assistant",
            _ if parts
                .iter()
                .any(|part| part["functionResponse"].is_object()) =>
            {
                "tool"
            }
            _ => "user",
        };
        let texts = parts.iter().map(|part| match part["text"].as_str() {
            Some(text) => text.to_owned(),
            None => part["functionResponse"]["response"].to_string(),
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        talk.messages.push((role.into(), text));
    }
    for group in list(&body["tools"]) {
        for tool in list(&group["functionDeclarations"]) {
            let name = tool["name"].as_str().unwrap_or_default().to_owned();
            let schema = match &tool["parametersJsonSchema"] {
                Value::Null => &tool["parameters"],
                schema => schema,
            };
            talk.tools.push((name, schema.clone()));
        }
    }
    talk
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let text = reply.text();
    let mut parts = Vec::new();
    let calls = reply.calls();
    if !text.is_empty() || calls.is_empty() {
        parts.push(json!({"text": text}));
    }
    for (id, name, input) in calls {
        parts.push(json!({"functionCall": {"id": id, "name": name, "args": input}}));
    }
    json!({
        "candidates": [{
            "index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110,
        },
        "modelVersion": reply.model, "responseId": format!("resp-{}", reply.serial),
    })
}
