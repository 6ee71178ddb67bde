//! What a request is for.

use serde_json::Value;

use super::graphql::Call;
use super::http::Request;
use super::rest::Route;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Transport {
    Graphql,
    Rest,
}

/// A request, parsed as far as possible without the state.
#[derive(Debug)]
pub(crate) struct Operation {
    /// `github.com`, or the name of an Enterprise server.
    pub(crate) host: String,
    pub(crate) action: Action,
}

#[derive(Debug)]
pub(crate) enum Action {
    Graphql(Call),
    Rest(Route),
}

impl Operation {
    pub(crate) fn of(request: &Request) -> Self {
        let authority = request.header("host").unwrap_or_default();
        // github.com and its tenants have a host for the API; Enterprise
        // servers have a folder for it.
        let (host, path) = match authority.strip_prefix("api.") {
            Some(host) => (host, request.target.as_str()),
            None => (
                authority,
                request
                    .target
                    .strip_prefix("/api")
                    .unwrap_or(&request.target),
            ),
        };
        let path = path.strip_prefix("/v3").unwrap_or(path);
        let action = if path == "/graphql" {
            Action::Graphql(Call::read(&request.json()))
        } else {
            Action::Rest(Route::read(&request.method, path, request.json()))
        };
        Self {
            host: host.to_owned(),
            action,
        }
    }

    pub(crate) fn transport(&self) -> Transport {
        match self.action {
            Action::Graphql(_) => Transport::Graphql,
            Action::Rest(_) => Transport::Rest,
        }
    }

    /// The names by which a fault or a test may refer to it.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.action {
            Action::Graphql(call) => call.names(),
            Action::Rest(route) => vec![route.name()],
        }
    }

    /// GraphQL variables, or the body of a REST request.
    pub(crate) fn variables(&self) -> Value {
        match &self.action {
            Action::Graphql(call) => Value::Object(call.variables.clone()),
            Action::Rest(route) => route.body.clone(),
        }
    }
}
