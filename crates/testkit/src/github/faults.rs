//! What can go wrong with an upcoming request.

use serde_json::json;

use super::graphql::Failure;
use super::http::Response;
use super::operation::Transport;
use super::state::already_exists;

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Refused as GitHub refuses a second pull request for a branch. Nothing is committed.
    PullRequestExists { owner: String, branch: String },
    /// Refused with 422 and this message. Nothing is committed.
    Unprocessable(String),
    /// A classic token without this scope.
    MissingScope(String),
    /// A token that sees no project: "Could not resolve to a `ProjectV2` …".
    NoProject,
    /// 403: the token may not do this.
    Forbidden,
    /// 401: the token is unknown.
    BadCredentials,
    /// 429, with the second at which the limit ends.
    RateLimited { reset: i64 },
    /// The hourly limit as GraphQL says it: 200 with an error inside; 403 over REST.
    HourlyLimit { reset: i64 },
    /// 403, "secondary rate limit", with the seconds to wait.
    SecondaryLimit { retry_after: u32 },
    /// 5xx, with a page instead of JSON, as a proxy gives it.
    Server(u16),
    /// The connection ends before anything is committed.
    DropBeforeCommit,
    /// It is committed, and then the connection ends without a reply.
    DropAfterCommit,
    /// It is committed, and the reply stops half way.
    HalfReply,
    /// No reply until `release` or the end of the test. Nothing is committed.
    HangBeforeCommit,
    /// It is committed, and no reply comes.
    HangAfterCommit,
}

impl Fault {
    /// The reply instead of the real one, if this fault is a reply.
    pub(crate) fn reply(&self, transport: Transport) -> Option<Response> {
        Some(match self {
            Self::PullRequestExists { owner, branch } => {
                refusal(transport, &already_exists(owner, branch))
            }
            Self::Unprocessable(message) => refusal(transport, &Failure::unprocessable(message)),
            Self::NoProject => {
                let message = "Could not resolve to a ProjectV2 with the number 1.";
                refusal(transport, &Failure::not_found(message))
            }
            Self::MissingScope(scope) => missing_scope(transport, scope),
            Self::Forbidden => {
                let message = "Resource not accessible by personal access token";
                match transport {
                    Transport::Graphql => refusal(transport, &Failure::forbidden(message)),
                    Transport::Rest => Response::json(403, &json!({ "message": message })),
                }
            }
            Self::BadCredentials => bad_credentials(),
            Self::RateLimited { reset } => limited(429, *reset),
            Self::HourlyLimit { reset } => match transport {
                Transport::Rest => limited(403, *reset),
                Transport::Graphql => {
                    let error = json!({ "type": "RATE_LIMITED", "message": LIMIT });
                    limit_headers(Response::json(200, &json!({ "errors": [error] })), *reset)
                }
            },
            Self::SecondaryLimit { retry_after } => {
                let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
                Response::json(403, &json!({ "message": message }))
                    .with_header("Retry-After", &retry_after.to_string())
            }
            Self::Server(status) => Response::html(*status, "<html><body>Unicorn!</body></html>"),
            Self::DropBeforeCommit
            | Self::DropAfterCommit
            | Self::HalfReply
            | Self::HangBeforeCommit
            | Self::HangAfterCommit => return None,
        })
    }
}

const LIMIT: &str = "API rate limit exceeded for user ID 1.";

fn limited(status: u16, reset: i64) -> Response {
    limit_headers(Response::json(status, &json!({ "message": LIMIT })), reset)
}

fn limit_headers(response: Response, reset: i64) -> Response {
    response
        .with_header("X-RateLimit-Remaining", "0")
        .with_header("X-RateLimit-Reset", &reset.to_string())
}

fn missing_scope(transport: Transport, scope: &str) -> Response {
    match transport {
        Transport::Graphql => {
            let message = format!(
                "Your token has not been granted the required scopes to execute this query. The 'id' field requires \
                 one of the following scopes: ['{scope}'], but your token has only been granted the: ['repo'] scopes. \
                 Please modify your token's scopes at: https://github.com/settings/tokens."
            );
            let error = json!({ "type": "INSUFFICIENT_SCOPES", "message": message });
            Response::json(200, &json!({ "errors": [error] }))
        }
        // REST hides what a token may not see.
        Transport::Rest => Response::json(404, &json!({ "message": "Not Found" })),
    }
    .with_header("X-OAuth-Scopes", "repo")
    .with_header("X-Accepted-OAuth-Scopes", scope)
}

pub(crate) fn bad_credentials() -> Response {
    Response::json(401, &json!({ "message": "Bad credentials" }))
}

/// A failure of the whole request, in the form of its transport.
pub(crate) fn refusal(transport: Transport, failure: &Failure) -> Response {
    match transport {
        Transport::Graphql => {
            let error = json!({ "type": failure.kind, "message": failure.message });
            Response::json(200, &json!({ "data": null, "errors": [error] }))
        }
        Transport::Rest if failure.kind == "NOT_FOUND" => {
            Response::json(404, &json!({ "message": "Not Found" }))
        }
        Transport::Rest => {
            let error =
                json!({ "resource": "PullRequest", "code": "custom", "message": failure.message });
            Response::json(
                422,
                &json!({ "message": "Validation Failed", "errors": [error] }),
            )
        }
    }
}

/// Which of the upcoming requests a fault is for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct On {
    operation: Option<String>,
    skip: u32,
    times: u32,
}

/// The next request with this name: a GraphQL operation (`PullRequestCreate`), a
/// field of its root (`createPullRequest`), or a REST route
/// (`POST /repos/{owner}/{repo}/pulls`).
pub fn on(operation: &str) -> On {
    On {
        operation: Some(operation.to_owned()),
        skip: 0,
        times: 1,
    }
}

/// The next request, whatever it is.
pub fn on_any() -> On {
    On {
        operation: None,
        skip: 0,
        times: 1,
    }
}

impl On {
    /// Lets this many go by first.
    pub fn after(self, skip: u32) -> Self {
        Self { skip, ..self }
    }

    /// For this many requests instead of one.
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    fn matches(&self, names: &[String]) -> bool {
        self.operation
            .as_ref()
            .is_none_or(|wanted| names.contains(wanted))
    }
}

/// The faults that wait.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(On, Fault)>);

impl Faults {
    pub(crate) fn add(&mut self, on: On, fault: Fault) {
        self.0.push((on, fault));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The fault for a request with these names; it is used up.
    pub(crate) fn take(&mut self, names: &[String]) -> Option<Fault> {
        let due = self.0.iter_mut().find_map(|(on, fault)| {
            if !on.matches(names) || on.times == 0 {
                return None;
            }
            if on.skip > 0 {
                on.skip -= 1;
                return None;
            }
            on.times -= 1;
            Some(fault.clone())
        });
        self.0.retain(|(on, _)| on.times > 0);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    #[test]
    fn a_fault_waits_for_its_operation_and_is_used_up() {
        let mut faults = Faults::default();
        faults.add(
            on("createPullRequest").after(1).times(2),
            Fault::Server(502),
        );

        let taken: Vec<_> = [
            "viewer",
            "createPullRequest",
            "createPullRequest",
            "viewer",
            "createPullRequest",
            "createPullRequest",
        ]
        .map(|name| faults.take(&names(name)).is_some())
        .into();

        assert_eq!(taken, [false, false, true, false, true, false]);
    }

    #[test]
    fn the_first_fault_that_is_due_wins_and_the_next_waits() {
        let mut faults = Faults::default();
        faults.add(on_any(), Fault::Server(500));
        faults.add(on("viewer"), Fault::Server(503));

        assert_eq!(faults.take(&names("viewer")), Some(Fault::Server(500)));
        assert_eq!(faults.take(&names("viewer")), Some(Fault::Server(503)));
        assert_eq!(faults.take(&names("viewer")), None);
    }
}
