//! Calls GitHub through `gh api`. The body goes to stdin as JSON and never into an argument, so
//! no title, branch or summary can be taken for an option.

use std::time::{Duration, Instant};

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::remote::Repository;
use mainspring_kernel::machines::claim::work::{Fault, FaultKind};
use mainspring_platform::lock::InheritedLock;
use mainspring_store::Trouble;
use serde_json::{Value, json};

use super::programs::Programs;
use crate::context::EventContext;
use crate::hosts::text::excerpt;
use crate::limits;

#[derive(Debug)]
pub(crate) struct GitHub<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) repository: &'a Repository,
    /// The time now, for a header that gives a time span.
    pub(crate) now: Millis,
}

/// A reply of GitHub's, whatever its status.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    status: u16,
    not_before: Option<Millis>,
    pub body: Value,
}

impl GitHub<'_> {
    /// Sends one GraphQL document. The result is `Ok` if the reply has `data`, even if it also
    /// has errors.
    pub(crate) fn graphql(&self, query: &str, variables: &Value) -> Result<Reply, Fault> {
        let body = json!({ "query": query, "variables": variables });
        let reply = self.call("graphql", &body)?;
        if reply.status < 300 && reply.body.get("data").is_some_and(|data| !data.is_null()) {
            return Ok(reply);
        }
        if reply.is_scope_missing() {
            return Ok(reply);
        }
        Err(reply.fault())
    }

    /// Makes one REST call that creates something. The result is `Ok` for a 422, too: the
    /// caller finds out why.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Reply, Fault> {
        let reply = self.call(path, body)?;
        match reply.status {
            200..300 | 422 => Ok(reply),
            _ => Err(reply.fault()),
        }
    }

    /// A text that GitHub keeps, whole; `None` if it cannot be had.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let host = format!("--hostname={}", self.repository.host);
        let args = ["api", path, &host, "--method=GET"];
        let finished = self.programs.gh(&args, Vec::new()).ok()?;
        let whole = (finished.stdout.len() as u64) < limits::CHILD_OUTPUT;
        let fine = finished.code == Some(0) && whole;
        fine.then(|| String::from_utf8_lossy(&finished.stdout).into_owned())
    }

    fn call(&self, path: &str, body: &Value) -> Result<Reply, Fault> {
        let args = arguments(self.repository, path);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let finished = self
            .programs
            .gh(&args, body.to_string().into_bytes())
            .map_err(|failure| Fault::new(failure.to_string()))?;
        parse(&finished.stdout, self.now).ok_or_else(|| {
            let stderr = excerpt(&String::from_utf8_lossy(&finished.stderr));
            // The words of gh itself, when nobody is signed in.
            let kind = if stderr.contains("gh auth login") {
                FaultKind::SignedOut
            } else {
                FaultKind::Unreachable
            };
            let cause = if stderr.is_empty() {
                format!("gh ended with {} and printed no error", finished.ending())
            } else {
                stderr
            };
            Fault {
                kind,
                ..Fault::new(cause)
            }
        })
    }
}

impl Reply {
    /// Is the status one of success?
    pub(crate) fn is_success(&self) -> bool {
        self.status < 300
    }

    pub fn errors(&self) -> Vec<&str> {
        let listed = self.body["errors"].as_array().into_iter().flatten();
        listed
            .filter_map(|error| error["message"].as_str().or(error.as_str()))
            .collect()
    }

    /// The message of the error at this path.
    pub(crate) fn error_at(&self, alias: &str) -> Option<&str> {
        let listed = self.body["errors"].as_array()?;
        let here = listed
            .iter()
            .find(|error| error["path"][0].as_str() == Some(alias))?;
        here["message"].as_str()
    }

    /// Was the request refused because the token may not see boards? GitHub then refuses all of
    /// it.
    pub fn is_scope_missing(&self) -> bool {
        let listed = self.body["errors"].as_array().into_iter().flatten();
        let mut scopes = listed.filter(|error| error["type"] == "INSUFFICIENT_SCOPES");
        scopes.next().is_some()
    }

    pub(crate) fn says(&self, words: &str) -> bool {
        self.errors().iter().any(|message| message.contains(words))
    }

    pub fn fault(&self) -> Fault {
        let said = match self.errors().first() {
            Some(message) => (*message).to_owned(),
            None => self.body["message"]
                .as_str()
                .unwrap_or("no reason given")
                .to_owned(),
        };
        let said = excerpt(&said);
        let kind = match self.status {
            401 => FaultKind::SignedOut,
            429 => FaultKind::RateLimited,
            _ if self.not_before.is_some() || said.contains("rate limit") => FaultKind::RateLimited,
            _ => FaultKind::Unreachable,
        };
        Fault {
            kind,
            cause: if self.status < 300 {
                format!("GitHub says: {said}")
            } else {
                format!("GitHub answered {}: {said}", self.status)
            },
            not_before: self.not_before,
        }
    }
}

/// All arguments of `gh`: none of them comes from a title, a branch or a summary.
fn arguments(repository: &Repository, path: &str) -> [String; 6] {
    [
        "api".into(),
        path.into(),
        format!("--hostname={}", repository.host),
        "--include".into(),
        "--method=POST".into(),
        "--input=-".into(),
    ]
}

/// Parses the output of `gh api --include`: status line, headers, an empty line, the body.
pub fn parse(stdout: &[u8], now: Millis) -> Option<Reply> {
    let text = std::str::from_utf8(stdout).ok()?;
    let mut status = None;
    let mut not_before = None;
    let mut rest = text;
    loop {
        let (line, after) = rest.split_once('\n')?;
        rest = after;
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            break;
        }
        match status {
            None => {
                let code = line.strip_prefix("HTTP/")?.split(' ').nth(1)?;
                status = Some(code.parse::<u16>().ok()?);
            }
            Some(_) => not_before = not_before.max(limit_header(line, now)),
        }
    }
    let rest = rest.trim();
    let body = match rest {
        "" => Value::Null,
        _ => serde_json::from_str(rest).unwrap_or_else(|_| json!({ "message": excerpt(rest) })),
    };
    let status = status?;
    // Every reply names the end of its rate-limit hour; it matters only if the request was
    // refused.
    let errors = body["errors"].as_array().into_iter().flatten();
    let limited = matches!(status, 403 | 429 | 503)
        || errors
            .into_iter()
            .any(|error| error["type"] == "RATE_LIMITED");
    Some(Reply {
        status,
        not_before: not_before.filter(|_| limited),
        body,
    })
}

/// The time at which the server allows the next request, if this header says so.
fn limit_header(line: &str, now: Millis) -> Option<Millis> {
    let (name, value) = line.split_once(':')?;
    let value: u64 = value.trim().parse().ok()?;
    // No header makes us wait longer than a day.
    let day = now.plus(Millis::seconds(24 * 60 * 60));
    let at = match name.to_ascii_lowercase().as_str() {
        "retry-after" => now.plus(Millis::seconds(value)),
        "x-ratelimit-reset" => Millis::seconds(value),
        _ => return None,
    };
    Some(at.min(day))
}

/// How long we wait for a child that has outlived its hook.
const LOCK_LONGEST: Duration = Duration::from_secs(20);
const LOCK_STEP: Duration = Duration::from_millis(10);

/// A lock that is held while any `gh` of ours runs, even one whose hook was killed.
///
/// A killed hook leaves its `gh` behind, and that `gh` may close an issue just after the next
/// hook has found it open. So `gh` runs under a lock that the children inherit: it is free when
/// the last of them has ended, whoever started them. It is not held while git runs, because git's
/// helpers may live for minutes.
#[derive(Debug)]
pub(super) struct GhLock {
    _lock: InheritedLock,
}

impl GhLock {
    pub(super) fn wait(context: &EventContext<'_>) -> Result<Self, Trouble> {
        let path = context.store.dir().join("claim-gh.lock");
        let lock = InheritedLock::open(&path).map_err(Trouble::io("open", &path))?;
        let until = Instant::now() + LOCK_LONGEST;
        // If the lock cannot be taken because of an error, waiting does not help.
        while !lock.try_take().map_err(Trouble::io("lock", &path))? && Instant::now() < until {
            std::thread::sleep(LOCK_STEP);
        }
        Ok(Self { _lock: lock })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use mainspring_store::atomic;
    use proptest::prelude::*;

    use super::*;
    use crate::config::Config;
    use crate::env::Environment;

    /// A `gh` that records its arguments and its stdin.
    fn recorder(folder: &std::path::Path) -> Programs {
        let gh = folder.join("gh");
        let script = "#!/bin/sh\nd=${0%/*}\nprintf '%s\\0' \"$@\" >\"$d/argv\"\ncat >\"$d/stdin\"\nprintf 'HTTP/1.1 200 OK\\r\\n\\r\\n{\"data\":{}}'\n";
        atomic::replace(&gh, script.as_bytes()).unwrap();
        std::fs::set_permissions(&gh, std::fs::Permissions::from_mode(0o700)).unwrap();
        let config = folder.join("mainspring/config.toml");
        atomic::replace(
            &config,
            format!("[claim]\ngh = '{}'\n", gh.display()).as_bytes(),
        )
        .unwrap();
        let folder = folder.to_str().unwrap();
        let env = Environment::given(
            &[("PATH", "/usr/bin:/bin"), ("XDG_CONFIG_HOME", folder)],
            NOW,
        );
        let config = Config::of_user(&env).unwrap();
        Programs::with(
            crate::children::permit::Permit::for_test(),
            &env,
            &config,
            std::path::Path::new("/"),
            Millis::seconds(20),
        )
        .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_text_is_ever_an_argument_and_all_of_it_arrives(title in any::<String>(), branch in "[-$`'\"; \\PC]{0,40}") {
            let folder = tempfile::tempdir().unwrap();
            let programs = recorder(folder.path());
            let repository = Repository { host: "github.com".into(), owner: "o".into(), name: "r".into() };
            let github = GitHub { programs: &programs, repository: &repository, now: NOW };
            let body = json!({ "title": title, "head": branch });
            github.post("repos/o/r/pulls", &body).unwrap();
            let argv = std::fs::read(folder.path().join("argv")).unwrap();
            prop_assert_eq!(
                argv,
                b"api\0repos/o/r/pulls\0--hostname=github.com\0--include\0--method=POST\0--input=-\0".to_vec()
            );
            let stdin = std::fs::read(folder.path().join("stdin")).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Value>(&stdin).unwrap(), body);
        }
    }

    /// Texts that have a meaning for shells, git or `gh`.
    const PIECES: [&str; 32] = [
        "$(id)",
        "`id`",
        ";",
        "&&",
        "|",
        "\n",
        "\r",
        "\0",
        "'",
        "\"",
        "\\",
        " ",
        "\u{a0}",
        "\u{2028}",
        "--",
        "-",
        "=",
        "*",
        "~",
        "^",
        ":",
        "@{",
        "..",
        "/",
        "é",
        "\u{1f389}",
        "\u{202e}",
        "a",
        "Z",
        "9",
        ".git",
        "github.com",
    ];

    /// A xorshift generator, so that every run tests the same texts.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).unwrap_or(0) % most
        }

        /// Fewer pieces than `most`.
        fn text(&mut self, most: usize) -> String {
            (0..self.below(most))
                .map(|_| PIECES[self.below(PIECES.len())])
                .collect()
        }
    }

    /// A hundred thousand titles, branches and addresses. The body keeps each text byte for
    /// byte, and no text changes the arguments: an address gets into them only as the plain
    /// name of a repository on a known server.
    #[test]
    fn a_hundred_thousand_hostile_texts_change_no_argument() {
        let repository = Repository {
            host: "github.com".into(),
            owner: "o".into(),
            name: "r".into(),
        };
        let plain = arguments(&repository, "repos/o/r/pulls");
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut text = |most: usize| random.text(most);
        let mut known = 0;
        for round in 0..100_000 {
            let (title, branch) = (text(12), text(8));
            let body = json!({ "title": title, "head": branch }).to_string();
            let arrived: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(
                (&arrived["title"], &arrived["head"]),
                (&json!(title), &json!(branch))
            );
            let address = match round % 3 {
                0 => format!("https://github.com/o{}/r{}", text(2), text(3)),
                1 => format!("git@{}:{}/{}", text(3), text(3), text(3)),
                _ => text(10),
            };
            let Ok(repository) = Repository::parse(&address, []) else {
                continue;
            };
            known += 1;
            let path = format!("repos/{}/{}/pulls", repository.owner, repository.name);
            let given = arguments(&repository, &path);
            assert_eq!(given[2..], plain[2..], "{address}");
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            assert!(given[1].chars().all(plain), "{address}");
            assert_eq!(given[1].split('/').count(), 4, "{address}");
        }
        assert!(known > 100, "{known} of them named a repository");
    }

    const NOW: Millis = Millis::seconds(1_000_000);

    #[test]
    fn an_answer_is_status_headers_and_body() {
        let reply = parse(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Ratelimit-Reset: 1000900\r\n\r\n{\"data\":{\"a\":1}}",
            NOW,
        )
        .unwrap();
        assert_eq!((reply.status, reply.not_before), (200, None));
        assert_eq!(reply.body["data"]["a"], 1);
    }

    #[test]
    fn a_limit_says_when_to_come_back() {
        for (headers, expected) in [
            ("Retry-After: 60\r\n", 1_000_060),
            ("X-Ratelimit-Reset: 1000900\r\n", 1_000_900),
            (
                "Retry-After: 60\r\nx-ratelimit-reset: 1000900\r\n",
                1_000_900,
            ),
            ("Retry-After: 99999999999\r\n", 1_086_400),
        ] {
            let text =
                format!("HTTP/2.0 429 Too Many Requests\r\n{headers}\r\n{{\"message\":\"slow\"}}");
            let fault = parse(text.as_bytes(), NOW).unwrap().fault();
            assert_eq!(
                fault.not_before,
                Some(Millis::seconds(expected)),
                "{headers}"
            );
            assert_eq!(fault.cause, "GitHub answered 429: slow");
            assert_eq!(fault.kind, FaultKind::RateLimited);
        }
        let inside = "HTTP/2.0 200 OK\r\nX-Ratelimit-Reset: 1000900\r\n\r\n{\"errors\":[{\"type\":\"RATE_LIMITED\",\"message\":\"limit\"}]}";
        let fault = parse(inside.as_bytes(), NOW).unwrap().fault();
        assert_eq!(fault.not_before, Some(Millis::seconds(1_000_900)));
    }

    #[test]
    fn a_fault_says_whether_nobody_is_signed_in_or_the_server_limits_us() {
        for (status, message, kind) in [
            (401, "Bad credentials", FaultKind::SignedOut),
            (403, "a secondary rate limit", FaultKind::RateLimited),
            (403, "not for you", FaultKind::Unreachable),
            (502, "oops", FaultKind::Unreachable),
        ] {
            let text = format!("HTTP/2.0 {status} X\r\n\r\n{{\"message\":\"{message}\"}}");
            assert_eq!(parse(text.as_bytes(), NOW).unwrap().fault().kind, kind);
        }
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for garbage in [
            "",
            "gh: error",
            "HTTP/1.1\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK",
        ] {
            assert_eq!(parse(garbage.as_bytes(), NOW), None, "{garbage:?}");
        }
        let html = parse(b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>oops</html>", NOW).unwrap();
        assert_eq!(html.fault().cause, "GitHub answered 502: <html>oops</html>");
    }

    #[test]
    fn errors_are_found_by_their_place() {
        let reply = Reply {
            status: 200,
            not_before: None,
            body: json!({
                "data": {"status": null},
                "errors": [{"type": "NOT_FOUND", "path": ["status"], "message": "no such field"}],
            }),
        };
        assert_eq!(reply.error_at("status"), Some("no such field"));
        assert_eq!(reply.error_at("agent"), None);
        assert!(!reply.is_scope_missing());
    }
}
