//! A stateful stand-in for GitHub that the real `gh` talks to.
//!
//! It listens on a unix socket, which `gh` uses for every host if its `config.yml` has
//! `http_unix_socket`. Any number of processes may talk to it at once; requests are handled one
//! after the other.
//!
//! ```no_run
//! use mainspring_testkit::github::{Fault, GitHub, on};
//!
//! let github = GitHub::start();
//! let widgets = github.add_repository("acme", "widgets");
//! widgets.add_issue(42, "Fix the race");
//! widgets.push("fix-42", "1f".repeat(20).as_str());
//! github.fault(on("createPullRequest"), Fault::DropAfterCommit);
//! let run = github.gh(["pr", "create", "-R", "acme/widgets", "-H", "fix-42", "-t", "Fix", "-b", ""]).run();
//! assert!(!run.succeeded());
//! assert_eq!(github.prs_created(), 1);
//! ```

mod board;
mod check;
mod faults;
mod gh;
mod git;
mod graphql;
mod http;
mod items;
mod operation;
mod project;
mod record;
mod repository;
mod rest;
mod rest_json;
mod server;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

pub use board::{ItemValues, STATUSES};
pub use check::{Check, CheckKind, RunState};
pub use faults::{Fault, On, on, on_any};
pub use gh::{CountedGh, Gh, client};
pub use git::{BareRepo, bare_repo};
pub use items::{Comment, Issue, IssueState, Merging, PullRequest, PullRequestState, Review};
pub use project::Project;
pub use record::{Outcome, Recorded};
pub use repository::Repo;
pub use state::{AccountKind, Grant, Token};

use server::{Server, Shared};

/// The token in `env()`, and its owner.
pub const TOKEN: &str = "ghp_0123456789abcdef";
pub const LOGIN: &str = "octo";

/// A running stand-in. It ends when this is dropped.
#[derive(Debug)]
pub struct GitHub {
    shared: Arc<Shared>,
    _server: Server,
    home: TempDir,
}

impl GitHub {
    /// Starts one that knows the user `octo`, whose token has the scopes
    /// `repo`, `read:org` and `project`.
    pub fn start() -> Self {
        let home = tempfile::Builder::new()
            .prefix("github-")
            .tempdir()
            .expect("a directory for the socket");
        let shared = Arc::new(Shared::default());
        let socket = home.path().join("socket");
        let server = Server::start(&socket, Arc::clone(&shared)).expect("the socket can be bound");
        let github = Self {
            shared,
            _server: server,
            home,
        };
        github.add_account(LOGIN, AccountKind::User);
        github.set_token(
            TOKEN,
            Token::classic(LOGIN, &["repo", "read:org", "project"]),
        );
        github.write_config();
        github
    }

    pub fn socket(&self) -> PathBuf {
        self.home.path().join("socket")
    }

    /// The directory for `GH_CONFIG_DIR`.
    pub fn gh_config_dir(&self) -> PathBuf {
        self.home.path().join("gh")
    }

    /// What a child needs in its environment so that `gh` in it reaches us.
    pub fn env(&self) -> Vec<(String, String)> {
        let config = self.gh_config_dir();
        [
            ("GH_CONFIG_DIR", config.to_str().expect("the path is UTF-8")),
            ("GH_TOKEN", TOKEN),
            ("GH_ENTERPRISE_TOKEN", TOKEN),
            ("GH_PROMPT_DISABLED", "1"),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GH_TELEMETRY", "false"),
            ("NO_COLOR", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    fn write_config(&self) {
        let place = self.gh_config_dir();
        std::fs::create_dir(&place).expect("a directory for gh");
        // With its version there, newer releases do not rewrite the file.
        let config = format!(
            "version: \"1\"\nprompt: disabled\ngit_protocol: https\nhttp_unix_socket: {}\n",
            self.socket().display()
        );
        let hosts = format!(
            "github.com:\n    user: {LOGIN}\n    oauth_token: {TOKEN}\n    git_protocol: https\n"
        );
        std::fs::write(place.join("config.yml"), config).expect("config.yml is written");
        std::fs::write(place.join("hosts.yml"), hosts).expect("hosts.yml is written");
    }

    /// The real `gh` with these arguments, to be run against this stand-in.
    pub fn gh<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Gh {
        Gh::new(self, arguments)
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn add_account(&self, login: &str, kind: AccountKind) {
        self.shared.lock().world.add_account(login, kind);
    }

    /// Sets the owner and rights of a token.
    pub fn set_token(&self, secret: &str, token: Token) {
        let mut inside = self.shared.lock();
        inside.world.add_account(&token.login, AccountKind::User);
        inside.world.tokens.insert(secret.to_owned(), token);
    }

    /// A repository on github.com with an empty `main`.
    pub fn add_repository(&self, owner: &str, name: &str) -> Repo<'_> {
        self.add_repository_on("github.com", owner, name)
    }

    /// A repository on an Enterprise server.
    pub fn add_repository_on(&self, host: &str, owner: &str, name: &str) -> Repo<'_> {
        Repo::add(self, host, owner, name)
    }

    /// A repository on github.com that was added before.
    pub fn repository(&self, owner: &str, name: &str) -> Repo<'_> {
        Repo::find(self, owner, name)
    }

    /// A board with `Status` and `Agent`, of an owner that exists already.
    pub fn add_project(&self, owner: &str, number: u64) -> Project<'_> {
        self.add_project_on("github.com", owner, number)
    }

    /// A board on an Enterprise server.
    pub fn add_project_on(&self, host: &str, owner: &str, number: u64) -> Project<'_> {
        Project::add(self, host, owner, number)
    }

    /// A board on github.com that was added before.
    pub fn project(&self, owner: &str, number: u64) -> Project<'_> {
        Project::find(self, owner, number)
    }

    /// Makes something fail with an upcoming request.
    pub fn fault(&self, on: On, fault: Fault) {
        self.shared.lock().faults.add(on, fault);
    }

    /// Drops the faults that have not happened.
    pub fn clear_faults(&self) {
        self.shared.lock().faults.clear();
    }

    /// Ends every request that hangs, without a reply.
    pub fn release(&self) {
        self.shared.lock().released += 1;
        self.shared.notify();
    }

    /// All requests that came in and that no test has taken.
    pub fn requests(&self) -> Vec<Recorded> {
        let inside = self.shared.lock();
        inside.log[inside.taken..].to_vec()
    }

    /// The requests with this name.
    pub fn requests_of(&self, name: &str) -> Vec<Recorded> {
        let requests = self.requests().into_iter();
        requests.filter(|request| request.is(name)).collect()
    }

    /// All requests that came in since the last call.
    pub fn take_requests(&self) -> Vec<Recorded> {
        let mut inside = self.shared.lock();
        let requests = inside.log[inside.taken..].to_vec();
        inside.taken = inside.log.len();
        requests
    }

    /// Waits for a request with this name. Returns whether it came.
    pub fn wait_for_request(&self, name: &str, limit: Duration) -> bool {
        self.shared.wait_until(limit, |inside| {
            inside.log[inside.taken..]
                .iter()
                .any(|request| request.is(name))
        })
    }

    /// Pull requests in any state.
    pub fn prs_created(&self) -> usize {
        let inside = self.shared.lock();
        inside
            .world
            .repositories
            .iter()
            .map(|known| known.pulls.len())
            .sum()
    }

    /// How often an issue went from open to closed.
    pub fn closes(&self) -> u32 {
        let inside = self.shared.lock();
        let repositories = inside.world.repositories.iter();
        repositories
            .flat_map(|known| known.issues.values())
            .map(|issue| issue.closes)
            .sum()
    }

    /// How often a value on a board was set or cleared.
    pub fn board_writes(&self) -> u32 {
        let inside = self.shared.lock();
        inside.world.boards.iter().map(|board| board.writes).sum()
    }
}
