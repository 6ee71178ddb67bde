//! What the journeys have in common: a client with our hooks, as `install` writes them.

use std::path::Path;

use crate::files;
use crate::hosts::{Host, HostClient};
use crate::model::{Model, Turn};
use crate::process::Finished;

/// One host, and the program to test.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) host: Host,
    mainspring: String,
}

/// A client that Mainspring is installed for.
#[derive(Debug)]
pub(super) struct Cast {
    pub(super) client: HostClient,
    mainspring: String,
}

impl Stage {
    pub(super) fn new(host: Host, mainspring: &Path) -> Self {
        Self {
            host,
            mainspring: mainspring.to_string_lossy().into_owned(),
        }
    }

    /// The client before anything is installed.
    pub(super) fn bare(&self, model: &Model) -> Cast {
        Cast {
            client: HostClient::new(self.host, model).expect("the client is here"),
            mainspring: self.mainspring.clone(),
        }
    }

    /// How an agent calls us in its shell.
    pub(super) fn program(&self) -> &str {
        &self.mainspring
    }

    /// The client, with our hooks, in a project that a person trusts.
    pub(super) fn installed(&self, model: &Model) -> Cast {
        let cast = self.bare(model);
        cast.install();
        cast
    }

    /// The same, with a gate for every session of the project.
    pub(super) fn gated(&self, model: &Model) -> Cast {
        let cast = self.installed(model);
        cast.mainspring(&["gate", "on", "--project"]);
        cast
    }
}

impl Cast {
    pub(super) fn install(&self) {
        let name = self.client.host.name();
        // The limit on holds stays the client's own.
        let args: &[&str] = if self.client.host == Host::Claude {
            &["--without", "cap"]
        } else {
            &[]
        };
        let all = ["install", "--host", name, "--yes", "--trust"];
        let said = self.mainspring(&[&all[..], args].concat());
        assert!(said.contains("proved:"), "{said}");
    }

    /// A person's command, which must succeed.
    #[track_caller]
    pub(super) fn mainspring(&self, args: &[&str]) -> String {
        self.client.person(&self.mainspring, args)
    }

    /// Runs `prompt`; the client must be content.
    #[track_caller]
    pub(super) fn run(&self, prompt: &str) {
        self.expect_success(&self.client.run(prompt));
    }

    #[track_caller]
    pub(super) fn expect_success(&self, run: &Finished) {
        let name = self.client.host.name();
        let (out, err) = (run.stdout_text(), run.stderr_text());
        assert!(run.succeeded(), "{name}: {:?}: {out}{err}", run.end);
    }

    /// How often an agent was held here.
    pub(super) fn holds(&self) -> usize {
        let log = self.mainspring(&["log"]);
        log.lines().filter(|line| line.contains(" held  ")).count()
    }

    #[track_caller]
    pub(super) fn expect_holds(&self, expected: usize) {
        let log = self.mainspring(&["log"]);
        assert_eq!(self.holds(), expected, "{log}");
    }

    /// A file of the project.
    pub(super) fn put(&self, path: &str, text: &str) {
        files::write(self.client.project.join(path), text);
    }

    /// The person's own configuration.
    pub(super) fn configure(&self, text: &str) {
        files::write(
            self.client.home.join(".config/mainspring/config.toml"),
            text,
        );
    }
}

pub(super) const TOKEN: &str = "TASKMASTER_DONE::";

/// Says this, with the session's token, which only the reason of a hold tells.
pub(super) fn token(said: &str) -> Turn {
    let said = said.to_owned();
    Turn::decide(move |request| {
        let token = request.last_word(TOKEN).unwrap_or_default();
        Turn::say(said.replace("TOKEN", &token))
    })
}
