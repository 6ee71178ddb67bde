//! The REST routes that `gh` and the claim machine use.

use serde_json::{Value, json};

use super::faults::refusal;
use super::graphql::{Failure, Session};
use super::http::Response;
use super::items::{IssueState, PullRequestState};
use super::operation::Transport;
use super::rest_json::{Shown, account};
use super::state::{NewPullRequest, now};

/// The default size of a page.
const PAGE: usize = 30;

#[derive(Debug)]
pub(crate) struct Route {
    method: String,
    segments: Vec<String>,
    query: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Route {
    pub(crate) fn read(method: &str, target: &str, body: Value) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        Self {
            method: method.to_owned(),
            segments: path
                .split('/')
                .filter(|part| !part.is_empty())
                .map(decode)
                .collect(),
            query: pairs
                .map(|(name, value)| (decode(name), decode(value)))
                .collect(),
            body,
        }
    }

    /// The method and the path, with placeholders for what varies.
    pub(crate) fn name(&self) -> String {
        let mut name = format!("{} /", self.method);
        let segments: Vec<_> = self.segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["repos", _, _, rest @ ..] => {
                name.push_str("repos/{owner}/{repo}");
                for segment in rest {
                    let number = segment.parse::<u64>().is_ok();
                    name.push('/');
                    name.push_str(if number { "{number}" } else { segment });
                }
            }
            other => name.push_str(&other.join("/")),
        }
        name
    }

    fn asked(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name)?.as_str()
    }

    pub(crate) fn answer(&self, session: &mut Session<'_>) -> Response {
        let answer = self.dispatch(session);
        answer.unwrap_or_else(|failure| refusal(Transport::Rest, &failure))
    }

    fn dispatch(&self, session: &mut Session<'_>) -> Result<Response, Failure> {
        let segments: Vec<_> = self.segments.iter().map(String::as_str).collect();
        match (self.method.as_str(), segments.as_slice()) {
            ("GET", []) => Ok(ok(
                &json!({ "current_user_url": "https://api.github.com/user" }),
            )),
            ("GET", ["meta"]) => Ok(ok(&json!({ "installed_version": "3.14.0" }))),
            ("GET", ["user"]) => Ok(ok(&account(session.world, &session.token().login))),
            (method, ["repos", owner, name, rest @ ..]) => {
                let repository = session
                    .visible_repository(owner, name)
                    .ok_or_else(not_found)?;
                self.in_repository(session, repository, method, rest)
            }
            _ => Ok(self.no_route()),
        }
    }

    fn in_repository(
        &self,
        session: &mut Session<'_>,
        repository: usize,
        method: &str,
        rest: &[&str],
    ) -> Result<Response, Failure> {
        let number = rest.get(1).and_then(|number| number.parse().ok());
        match (method, rest, number) {
            ("GET", [], _) => Ok(ok(&shown(session, repository).repository())),
            ("GET", ["pulls"], _) => Ok(self.list_pulls(session, repository)),
            ("POST", ["pulls"], _) => self.create_pull(session, repository),
            ("GET", ["pulls", _], Some(number)) => {
                Ok(ok(&shown(session, repository).pull(number)?))
            }
            ("PATCH", ["pulls", _], Some(number)) => self.edit_pull(session, repository, number),
            ("GET", ["issues", _], Some(number)) => {
                Ok(ok(&shown(session, repository).issue(number)?))
            }
            ("PATCH", ["issues", _], Some(number)) => self.edit_issue(session, repository, number),
            ("GET", ["issues", _, "comments"], Some(number)) => {
                let comments = shown(session, repository).comments(number)?;
                Ok(self.page(&comments))
            }
            ("POST", ["issues", _, "comments"], Some(number)) => {
                let body = self.text("body").unwrap_or_default();
                session
                    .world
                    .comment(repository, number, &session.token().login, body)?;
                let comments = shown(session, repository).comments(number)?;
                Ok(Response::json(201, &json!(comments.last())))
            }
            ("POST" | "DELETE", ["issues", _, "assignees"], Some(number)) => {
                self.assign(session, repository, number)
            }
            ("GET", ["actions", "jobs", job, "logs"], _) => {
                let logs = &session.world.repositories[repository].logs;
                let log = job.parse().ok().and_then(|job: u64| logs.get(&job));
                Ok(Response::text(200, log.ok_or_else(not_found)?))
            }
            ("GET", ["commits", sha, "check-runs"], _) => {
                Ok(ok(&shown(session, repository).check_runs(sha)))
            }
            ("GET", ["commits", sha, "status"], _) => {
                Ok(ok(&shown(session, repository).combined_status(sha)))
            }
            _ => Ok(self.no_route()),
        }
    }

    /// GitHub says only "Not Found"; a test should know why.
    fn no_route(&self) -> Response {
        let reason = format!("the stand-in has no route {}", self.name());
        Response::json(404, &json!({ "message": "Not Found", "stand_in": reason }))
    }

    fn list_pulls(&self, session: &mut Session<'_>, repository: usize) -> Response {
        let owner = session.world.repositories[repository].owner.clone();
        let state = self.asked("state").unwrap_or("open");
        // GitHub ignores a head that is not owner:branch, and lists everything.
        let head = self.asked("head").and_then(|head| head.split_once(':'));
        let pulls = session.world.repositories[repository].pulls.values().rev();
        let numbers: Vec<_> = pulls
            .filter(|pull| {
                let open = pull.state == PullRequestState::Open;
                let in_state = match state {
                    "open" => open,
                    "closed" => !open,
                    _ => true,
                };
                let of_head = head.is_none_or(|(user, branch)| {
                    user.eq_ignore_ascii_case(&owner) && branch == pull.head
                });
                let of_base = self.asked("base").is_none_or(|base| base == pull.base);
                in_state && of_head && of_base
            })
            .map(|pull| pull.number)
            .collect();
        let shown = shown(session, repository);
        let pulls = numbers
            .into_iter()
            .filter_map(|number| shown.pull(number).ok());
        self.page(&pulls.collect::<Vec<_>>())
    }

    fn create_pull(
        &self,
        session: &mut Session<'_>,
        repository: usize,
    ) -> Result<Response, Failure> {
        let new = NewPullRequest {
            author: &session.token().login,
            head: self.text("head").unwrap_or_default(),
            base: self.text("base").unwrap_or_default(),
            title: self.text("title").unwrap_or_default(),
            body: self.text("body").unwrap_or_default(),
            draft: self.body.get("draft") == Some(&Value::Bool(true)),
        };
        let number = session.world.create_pull(repository, &new)?;
        Ok(Response::json(
            201,
            &shown(session, repository).pull(number)?,
        ))
    }

    fn edit_pull(
        &self,
        session: &mut Session<'_>,
        repository: usize,
        number: u64,
    ) -> Result<Response, Failure> {
        let pulls = &mut session.world.repositories[repository].pulls;
        let pull = pulls.get_mut(&number).ok_or_else(not_found)?;
        if let Some(title) = self.text("title") {
            title.clone_into(&mut pull.title);
        }
        if let Some(body) = self.text("body") {
            body.clone_into(&mut pull.body);
        }
        if self.text("state") == Some("closed") && pull.state == PullRequestState::Open {
            pull.state = PullRequestState::Closed { at: now() };
        }
        Ok(ok(&shown(session, repository).pull(number)?))
    }

    fn edit_issue(
        &self,
        session: &mut Session<'_>,
        repository: usize,
        number: u64,
    ) -> Result<Response, Failure> {
        let issues = &mut session.world.repositories[repository].issues;
        let issue = issues.get_mut(&number).ok_or_else(not_found)?;
        match self.text("state") {
            Some("closed") => {
                let reason = self.text("state_reason").unwrap_or("completed");
                issue.close(&reason.to_ascii_uppercase());
            }
            Some(_) => issue.state = IssueState::Open,
            None => {}
        }
        Ok(ok(&shown(session, repository).issue(number)?))
    }

    fn assign(
        &self,
        session: &mut Session<'_>,
        repository: usize,
        number: u64,
    ) -> Result<Response, Failure> {
        let issues = &mut session.world.repositories[repository].issues;
        let issue = issues.get_mut(&number).ok_or_else(not_found)?;
        let given = self.body.get("assignees").and_then(Value::as_array);
        for login in given.into_iter().flatten().filter_map(Value::as_str) {
            issue.assignees.retain(|known| known != login);
            if self.method == "POST" {
                issue.assignees.push(login.to_owned());
            }
        }
        let status = if self.method == "POST" { 201 } else { 200 };
        Ok(Response::json(
            status,
            &shown(session, repository).issue(number)?,
        ))
    }

    /// One page of a list, with a link to the next.
    fn page(&self, all: &[Value]) -> Response {
        let number = |name: &str| {
            self.asked(name)
                .and_then(|value| value.parse::<usize>().ok())
        };
        let size = number("per_page").unwrap_or(PAGE).clamp(1, 100);
        let page = number("page").unwrap_or(1).max(1);
        let start = (page - 1).saturating_mul(size).min(all.len());
        let end = start.saturating_add(size).min(all.len());
        let response = Response::json(200, &json!(all[start..end]));
        if end == all.len() {
            return response;
        }
        let path = self.segments.join("/");
        let next = format!(
            "<https://api.github.com/{path}?per_page={size}&page={}>; rel=\"next\"",
            page + 1
        );
        response.with_header("Link", &next)
    }
}

fn shown<'a>(session: &'a Session<'_>, repository: usize) -> Shown<'a> {
    Shown {
        world: session.world,
        repository: &session.world.repositories[repository],
    }
}

fn ok(body: &Value) -> Response {
    Response::json(200, body)
}

fn not_found() -> Failure {
    Failure::not_found("Not Found")
}

/// Undoes percent-encoding.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        let hex = text.get(index + 1..index + 3);
        match (
            bytes[index],
            hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                index += 3;
            }
            (b'+', _) => {
                decoded.push(b' ');
                index += 1;
            }
            (byte, _) => {
                decoded.push(byte);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_named_without_what_varies() {
        let name = |method, target| Route::read(method, target, Value::Null).name();

        assert_eq!(name("GET", "/"), "GET /");
        assert_eq!(
            name("POST", "/repos/acme/widgets/pulls"),
            "POST /repos/{owner}/{repo}/pulls"
        );
        assert_eq!(
            name("GET", "/repos/acme/widgets/issues/42/comments?per_page=100"),
            "GET /repos/{owner}/{repo}/issues/{number}/comments"
        );
    }

    #[test]
    fn percent_encoding_is_undone_and_garbage_is_kept() {
        assert_eq!(decode("acme%3Aclaude%2Ffix"), "acme:claude/fix");
        assert_eq!(decode("a+b"), "a b");
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%é"), "%zz%é");
    }
}
