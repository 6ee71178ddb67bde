//! What the client asked the model, stored for assertions.

use serde_json::{Value, json};

use super::wire::{Talk, Wire};

/// One request to the model.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub wire: Wire,
    pub headers: Vec<(String, String)>,
    /// The whole body, for what the accessors below do not cover.
    pub body: Value,
}

/// What clients call their shell tool.
const SHELLS: &[&str] = &[
    "Bash",
    "bash",
    "exec_command",
    "shell",
    "shell_command",
    "run_shell_command",
    "run_terminal_command",
    "Execute",
];

/// What a request is for, as far as a script is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// A turn of an agent: consumes a turn of the script.
    Turn,
    /// The client's own chores (a title, a summary of a command, a quota check). They get a stock
    /// answer.
    Chore,
}

impl Request {
    /// The model's full name, such as `claude-opus-4-8`.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// The system prompt's texts, joined.
    pub fn system(&self) -> String {
        texts_of(&self.body["system"]).join("\n")
    }

    /// The names of the tools on offer.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.talk().tools.into_iter();
        tools.map(|(name, _)| name).collect()
    }

    fn talk(&self) -> Talk {
        self.wire.read(&self.body)
    }

    /// The client's own shell tool, and its input for this line.
    pub(super) fn shell_call(&self, line: &str) -> (String, Value) {
        let tools = self.talk().tools;
        let is_shell = |(name, _): &&(String, Value)| SHELLS.contains(&name.as_str());
        let Some((name, schema)) = tools.iter().find(is_shell) else {
            panic!("no shell among {:?}", self.tools());
        };
        let mut input = json!({});
        let fields = &schema["properties"];
        let command = ["command", "cmd"]
            .into_iter()
            .find(|field| fields[field].is_object());
        input[command.unwrap_or("command")] = line.into();
        for field in schema["required"].as_array().into_iter().flatten() {
            let field = field.as_str().unwrap_or_default();
            if input[field].is_null() {
                input[field] = match fields[field]["type"].as_str() {
                    Some("boolean") => false.into(),
                    Some("integer" | "number") => 30.into(),
                    _ => "run it".into(),
                };
            }
        }
        (name.clone(), input)
    }

    /// The last text among the messages that begins with `prefix`, up to the next space.
    pub fn last_word(&self, prefix: &str) -> Option<String> {
        let texts = self.texts();
        let text = texts.iter().rev().find(|text| text.contains(prefix))?;
        let word = &text[text.rfind(prefix)?..];
        let end = word.find(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | '<'));
        Some(word[..end.unwrap_or(word.len())].to_owned())
    }

    pub fn messages(&self) -> &[Value] {
        self.array("messages")
    }

    /// Every text of every message, reminders and tool results included.
    pub fn texts(&self) -> Vec<String> {
        if self.wire != Wire::Messages {
            let messages = self.talk().messages.into_iter();
            return messages.map(|(_, text)| text).collect();
        }
        self.messages()
            .iter()
            .flat_map(|message| texts_of(&message["content"]))
            .collect()
    }

    /// What the client says *now*: the texts since the model's last answer. Besides the user's
    /// messages there are messages of the role `system`, in which newer models get their reminders.
    pub fn news(&self) -> Vec<String> {
        self.since_last_answer()
            .flat_map(|message| texts_of(&message["content"]))
            .collect()
    }

    /// Whether any message holds `text`.
    pub fn has_text(&self, text: &str) -> bool {
        self.texts().iter().any(|held| held.contains(text))
    }

    /// The tool results among the news, as the model reads them.
    pub fn tool_results(&self) -> Vec<String> {
        self.since_last_answer()
            .flat_map(|message| message["content"].as_array().into_iter().flatten())
            .filter(|block| block["type"] == "tool_result")
            .map(|block| texts_of(&block["content"]).join("\n"))
            .collect()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(held, _)| held.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The session the client asks for. A reviewer's differs from its caller's.
    pub fn session(&self) -> &str {
        self.header("x-claude-code-session-id").unwrap_or_default()
    }

    /// The subagent that asks; the main agent has no id.
    pub fn agent(&self) -> Option<&str> {
        self.header("x-claude-code-agent-id")
    }

    /// A request of an agent has tools, or at least (`--tools ""`) a context to manage; a chore has
    /// neither.
    pub fn purpose(&self) -> Purpose {
        let has_tools = match self.wire {
            Wire::Messages => !self.array("tools").is_empty(),
            Wire::Responses | Wire::Chat | Wire::Gemini => !self.talk().tools.is_empty(),
        };
        // Grok Build has its title made by a tool that the model must call, and a line about the
        // turn after it.
        let is_title = self.wire == Wire::Responses && self.body["tool_choice"].is_object();
        // In a terminal some ask what the person may say next.
        let is_about_turn = self.texts().last().is_some_and(|text| {
            text.contains("Write an ultra-short dashboard line")
                || text.contains("Format: 2-12 words, match the user's style")
        });
        if is_title || is_about_turn || !has_tools && self.body["context_management"].is_null() {
            Purpose::Chore
        } else {
            Purpose::Turn
        }
    }

    fn since_last_answer(&self) -> impl Iterator<Item = &Value> {
        let messages = self.messages();
        let answers = |message: &Value| message["role"] == "assistant";
        let start = messages
            .iter()
            .rposition(answers)
            .map_or(0, |last| last + 1);
        messages[start..].iter()
    }

    fn array(&self, field: &str) -> &[Value] {
        self.body[field].as_array().map_or(&[], Vec::as_slice)
    }
}

/// The texts of a content field, which is a string, or blocks that hold a text
/// or (a tool result) more content.
fn texts_of(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .flat_map(|block| match block["text"].as_str() {
                Some(text) => vec![text.to_owned()],
                None => texts_of(&block["content"]),
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}
