//! Checks at the hook: what runs, what holds, and every way to lie that we know.

mod client;
mod commands;
mod hosts;
pub(crate) mod joins;
mod lies;
mod stops;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::env::{Ran, TestEnv, payload};

/// A repository whose check passes if `good.txt` says so. The check counts how often it ran, in a
/// file outside of the repository.
pub(crate) struct Checked {
    pub(crate) env: TestEnv,
}

/// What the check runs: it leaves a mark, and looks at its input.
const SCRIPT: &str = "echo run >> \"$COUNT\"\nif grep -q yes good.txt; then echo 'all is well'; else \
                      echo 'assertion failed: good.txt says no'; exit 3; fi\n";

impl Checked {
    /// With more lines for the check's definition.
    pub(crate) fn with(more: &str) -> Self {
        let checked = Self::untrusted(&format!(
            "[[check]]\nname = \"tests\"\nrun = [\"sh\", \"test.sh\"]\nenv = [\"COUNT\"]\n{more}\n"
        ));
        checked.env.trust();
        checked
    }

    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// A repository with these settings, before anybody trusted it.
    pub(crate) fn untrusted(settings: &str) -> Self {
        let env = TestEnv::new();
        let count = env.root().join("count").to_string_lossy().into_owned();
        let checked = Self {
            env: env.with("COUNT", &count),
        };
        checked.write("mainspring.toml", settings);
        checked.write("test.sh", SCRIPT);
        checked.write("good.txt", "yes\n");
        git(&checked.env.project(), &["init", "--quiet", "-b", "main"]);
        checked.commit();
        checked
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.env.project().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn git(&self, args: &[&str]) {
        git(&self.env.project(), args);
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "work"]);
    }

    /// How often a check has run.
    pub(crate) fn runs(&self) -> usize {
        let text = fs::read_to_string(self.env.root().join("count")).unwrap_or_default();
        text.lines().count()
    }

    /// The first stop after a prompt; the words tell it from another. Without a transcript nobody
    /// knows whether the turn used a tool.
    pub(crate) fn stop(&self, words: &str) -> Ran {
        self.stop_in(&self.env.project(), words)
    }

    /// A stop that something has kept going before.
    pub(crate) fn again(&self, words: &str) -> Ran {
        let fields = json!({ "last_assistant_message": words, "stop_hook_active": true });
        self.env.hook("Stop", fields)
    }

    /// The check has passed over the tree as it is.
    pub(crate) fn green(self) -> Self {
        let said = self.stop("green").let_go();
        assert!(said.contains("tests pass at"), "{said}");
        self
    }

    /// A stop in another folder.
    pub(crate) fn stop_in(&self, folder: &Path, words: &str) -> Ran {
        let fields = json!({ "last_assistant_message": words, "transcript_path": null });
        let payload = payload(folder, "Stop", fields);
        self.env.hook_bytes(payload.to_string().as_bytes())
    }
}

pub(crate) fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(args)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}
