//! What the model does in one turn.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde_json::Value;

use super::request::Request;
use crate::process::PATIENCE;

/// One answer of the model.
#[derive(Debug)]
#[must_use]
pub struct Turn {
    pub(super) cue: Option<Cue>,
    pub(super) reply: Reply,
}

/// What a turn waits for, so that a test controls what happens before it.
#[derive(Clone, Debug, Default)]
pub struct Cue {
    given: Arc<(Mutex<bool>, Condvar)>,
}

impl Cue {
    pub fn give(&self) {
        let (given, changed) = &*self.given;
        *given.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    pub(super) fn wait(&self) {
        let (given, changed) = &*self.given;
        let now = given.lock().unwrap_or_else(PoisonError::into_inner);
        // If the test has failed, the cue never comes; then nobody waits for ever.
        let _ = changed.wait_timeout_while(now, PATIENCE, |given| !*given);
    }
}

pub(super) enum Reply {
    Message(Vec<Block>),
    /// The message begins, and never ends.
    Half(Vec<Block>),
    Error {
        status: u16,
        kind: &'static str,
        message: String,
    },
    Hang,
    Decide(Box<dyn FnOnce(&Request) -> Turn + Send>),
}

/// One content block of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    ToolUse { name: String, input: Value },
}

impl Turn {
    /// Says `text`, and ends the turn unless something follows.
    pub fn say(text: impl Into<String>) -> Self {
        Self::from(Reply::Message(vec![Block::Text(text.into())]))
    }

    /// Thinks, before it says or calls something.
    pub fn think(thought: impl Into<String>) -> Self {
        Self::from(Reply::Message(vec![Block::Thinking(thought.into())]))
    }

    /// Calls a tool; the client runs it and asks again with the result.
    pub fn call(tool: impl Into<String>, input: Value) -> Self {
        Self::from(Reply::Message(vec![Block::ToolUse {
            name: tool.into(),
            input,
        }]))
    }

    /// Runs a line in the client's own shell tool, whatever that is called.
    pub fn shell(line: impl Into<String>) -> Self {
        let line = line.into();
        Self::decide(move |request| {
            let (tool, input) = request.shell_call(&line);
            Self::call(tool, input)
        })
    }

    /// Answers in the schema of `--json-schema`, as the client wants it: through
    /// the tool that the client adds for it.
    pub fn structured(value: Value) -> Self {
        Self::call("StructuredOutput", value)
    }

    /// Answers with an HTTP error, as the API words it. The driver lets the
    /// client try only once, but a 400 makes it ask six times anyway, each time
    /// with fewer features: script it with `Script::and_then_always`.
    pub fn error(status: u16) -> Self {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        Self::from(Reply::Error {
            status,
            kind,
            message: format!("scripted {status}"),
        })
    }

    /// Says `text`, and then nothing more: the message never ends.
    pub fn half(text: impl Into<String>) -> Self {
        Self::from(Reply::Half(vec![Block::Text(text.into())]))
    }

    /// Never answers. The request is released when the model is dropped.
    pub fn hang() -> Self {
        Self::from(Reply::Hang)
    }

    /// Decides when it is asked, from the request itself.
    pub fn decide(decide: impl FnOnce(&Request) -> Self + Send + 'static) -> Self {
        Self::from(Reply::Decide(Box::new(decide)))
    }

    /// Adds a text to the same message.
    pub fn then_say(self, text: impl Into<String>) -> Self {
        self.then(Block::Text(text.into()))
    }

    /// Adds a tool call to the same message: calls of one message are one batch.
    pub fn then_call(self, tool: impl Into<String>, input: Value) -> Self {
        self.then(Block::ToolUse {
            name: tool.into(),
            input,
        })
    }

    /// Answers only once the test gives the cue.
    pub fn on(mut self, cue: &Cue) -> Self {
        self.cue = Some(cue.clone());
        self
    }

    fn then(mut self, block: Block) -> Self {
        match &mut self.reply {
            Reply::Message(blocks) => blocks.push(block),
            Reply::Half(_) | Reply::Error { .. } | Reply::Hang | Reply::Decide(_) => {
                panic!("only a message can be continued, not {:?}", self.reply)
            }
        }
        self
    }
}

impl From<Reply> for Turn {
    fn from(reply: Reply) -> Self {
        Self { cue: None, reply }
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(blocks) => f.debug_tuple("Message").field(blocks).finish(),
            Self::Half(blocks) => f.debug_tuple("Half").field(blocks).finish(),
            Self::Error { status, .. } => f.debug_tuple("Error").field(status).finish(),
            Self::Hang => f.write_str("Hang"),
            Self::Decide(_) => f.write_str("Decide"),
        }
    }
}
