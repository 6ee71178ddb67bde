//! The requests that came in.

use serde_json::Value;

use super::faults::Fault;

/// One request and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// `github.com`, or the name of an Enterprise server.
    pub host: String,
    pub method: String,
    pub path: String,
    /// GraphQL: the operation's name and the fields of its root. REST: the route.
    pub names: Vec<String>,
    /// GraphQL variables, or the body of a REST request.
    pub variables: Value,
    /// The GraphQL document.
    pub query: Option<String>,
    pub agent: String,
    pub fault: Option<Fault>,
    pub outcome: Outcome,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// No answer yet: it is in progress, or hangs.
    Waiting,
    Answered(u16),
    /// The connection ended without a whole reply.
    Dropped,
}

impl Recorded {
    pub fn is(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}
