//! The Messages API's format: a whole message, or the stream of events for it.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Reply, Talk, list, text_of};
use crate::model::turn::Block;

/// The client sends it back with the thought; nobody checks it here.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

pub(super) fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        talk.messages.push((role, text_of(&message["content"])));
    }
    for tool in list(&body["tools"]) {
        let name = tool["name"].as_str().unwrap_or_default().to_owned();
        talk.tools.push((name, tool["input_schema"].clone()));
    }
    talk
}

impl Reply<'_> {
    /// The answer to a request that did not ask for a stream.
    pub(super) fn whole(&self) -> Value {
        let content: Vec<Value> = (0..)
            .zip(self.blocks)
            .map(|(index, block)| match block {
                Block::Text(text) => json!({"type": "text", "text": text}),
                Block::Thinking(thought) => {
                    json!({"type": "thinking", "thinking": thought, "signature": SIGNATURE})
                }
                Block::ToolUse { name, input } => {
                    json!({"type": "tool_use", "id": self.tool_id(index), "name": name, "input": input})
                }
            })
            .collect();
        json!({
            "id": self.id(), "type": "message", "role": "assistant", "model": self.model,
            "content": content, "stop_reason": self.stop_reason(), "stop_sequence": null,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        })
    }

    /// The same as server-sent events.
    pub(super) fn stream(&self) -> String {
        let start = json!({"type": "message_start", "message": {
            "id": self.id(), "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        }});
        let end = [
            json!({"type": "message_delta",
                "delta": {"stop_reason": self.stop_reason(), "stop_sequence": null},
                "usage": {"output_tokens": 10}}),
            json!({"type": "message_stop"}),
        ];
        let blocks = (0..)
            .zip(self.blocks)
            .flat_map(|(index, block)| self.block_events(index, block));
        let mut stream = String::new();
        for event in std::iter::once(start).chain(blocks).chain(end) {
            let name = event["type"].as_str().unwrap_or_default();
            write!(stream, "event: {name}\ndata: {event}\n\n").expect("a string takes it");
        }
        stream
    }

    fn block_events(&self, index: usize, block: &Block) -> [Value; 3] {
        let (empty, delta) = match block {
            Block::Text(text) => (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": text}),
            ),
            Block::Thinking(thought) => (
                json!({"type": "thinking", "thinking": "", "signature": SIGNATURE}),
                json!({"type": "thinking_delta", "thinking": thought}),
            ),
            Block::ToolUse { name, input } => (
                json!({"type": "tool_use", "id": self.tool_id(index), "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            ),
        };
        [
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    }

    fn id(&self) -> String {
        format!("msg_{:06}", self.serial)
    }

    fn tool_id(&self, index: usize) -> String {
        format!("toolu_{:06}_{index}", self.serial)
    }

    fn stop_reason(&self) -> &'static str {
        let calls = |block: &Block| matches!(block, Block::ToolUse { .. });
        if self.blocks.iter().any(calls) {
            "tool_use"
        } else {
            "end_turn"
        }
    }
}
