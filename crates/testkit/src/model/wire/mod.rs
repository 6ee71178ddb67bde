//! The APIs that the scripted model speaks. The path of a request tells which one is meant.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::{Value, json};

use super::turn::Block;

/// Whose API it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wire {
    /// Anthropic's.
    Messages,
    /// `OpenAI`'s newer one.
    Responses,
    /// `OpenAI`'s older one, which many others copied.
    Chat,
    /// Google's `generateContent`.
    Gemini,
}

/// An answer that is about to be sent.
pub(super) struct Reply<'a> {
    pub(super) serial: usize,
    pub(super) model: &'a str,
    pub(super) blocks: &'a [Block],
}

/// What a request says, whichever API it uses.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// Roles and texts, oldest first. The model's own role is `assistant`.
    pub(super) messages: Vec<(String, String)>,
    /// The tools on offer, with the schema of their input.
    pub(super) tools: Vec<(String, Value)>,
}

impl Wire {
    pub(super) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/messages") {
            Some(Self::Messages)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(super) fn read(self, body: &Value) -> Talk {
        match self {
            Self::Messages => messages::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// The beginning of a stream, up to the text.
    pub(super) fn begin(self, path: &str, reply: &Reply<'_>) -> String {
        if self == Self::Gemini {
            let mut piece = gemini::whole(reply);
            piece["candidates"][0]["finishReason"] = Value::Null;
            return format!("data: {piece}\n\n");
        }
        let (_, mut stream) = self.write(path, &json!({"stream": true}), reply);
        let text = json!(reply.text()).to_string();
        let text = stream.find(&text).expect("the stream has the text");
        let event = stream[text..].find("\n\n").expect("its event ends");
        stream.truncate(text + event + 2);
        stream
    }

    /// The content type and the body of an answer.
    pub(super) fn write(
        self,
        path: &str,
        body: &Value,
        reply: &Reply<'_>,
    ) -> (&'static str, String) {
        let streams = body["stream"] == true || path.ends_with(":streamGenerateContent");
        let text = match (self, streams) {
            (Self::Messages, true) => reply.stream(),
            (Self::Messages, false) => reply.whole().to_string(),
            (Self::Responses, true) => responses::stream(reply),
            (Self::Responses, false) => responses::whole(reply).to_string(),
            (Self::Chat, true) => chat::stream(reply),
            (Self::Chat, false) => chat::whole(reply).to_string(),
            (Self::Gemini, true) => format!("data: {}\n\n", gemini::whole(reply)),
            (Self::Gemini, false) => gemini::whole(reply).to_string(),
        };
        let kind = if streams {
            "text/event-stream"
        } else {
            "application/json"
        };
        (kind, text)
    }
}

impl Reply<'_> {
    fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Thinking(_) | Block::ToolUse { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Each call's id, tool and input.
    fn calls(&self) -> Vec<(String, &str, &Value)> {
        let calls = (0..)
            .zip(self.blocks)
            .filter_map(|(index, block)| match block {
                Block::ToolUse { name, input } => Some((
                    format!("call_{}_{index}", self.serial),
                    name.as_str(),
                    input,
                )),
                Block::Text(_) | Block::Thinking(_) => None,
            });
        calls.collect()
    }
}

/// The texts of a content field: a string, or parts with a text.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The body of an error answer, as Anthropic's API words it, with what the clients of the other
/// APIs look for beside that.
pub(super) fn error(wire: Wire, status: u16, kind: &str, message: &str) -> Value {
    let mut error = json!({"type": kind, "message": message});
    if wire != Wire::Messages {
        error["code"] = status.into();
        error["status"] = "SCRIPTED".into();
    }
    json!({ "type": "error", "error": error })
}
