//! `scripts/fetch-clients` with a stand-in for npm.

#![expect(clippy::expect_used, reason = "a test fails where it stands")]
#![expect(clippy::disallowed_methods, reason = "a test starts what it tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mainspring_testkit::files;
use mainspring_testkit::process::{End, PATIENCE, Running};
use pretty_assertions::assert_eq;
use tempfile::TempDir;

/// A program and a library.
const PINS: &str =
    "# what the tests run\nclaude @anthropic-ai/claude-code 2.1.0\naxe axe-core 4.0.0 library\n";

/// Installs a client that knows its version, and counts how often it was asked.
const GOOD_NPM: &str = r#"#!/bin/sh
echo asked >> "$ASKED"
case $1 in install) ;; *) exit 1 ;; esac
bin=$3/node_modules/.bin
mkdir -p "$bin"
printf '#!/bin/sh\necho "%s (Claude Code)"\n' "${7##*@}" > "$bin/claude"
chmod +x "$bin/claude"
library=$3/node_modules/${7%@*}
mkdir -p "$library"
printf '{\n  "version": "%s"\n}\n' "${7##*@}" > "$library/package.json"
"#;
const BAD_NPM: &str = "#!/bin/sh\necho first line\necho no such package >&2\nexit 1\n";

/// A checkout with nothing but what the script needs.
struct Checkout {
    root: TempDir,
}

impl Checkout {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let checkout = Self { root };
        for folder in ["scripts", "bin"] {
            fs::create_dir(checkout.at(folder)).expect("a folder");
        }
        let script = "scripts/fetch-clients";
        fs::copy(repository.join(script), checkout.at(script)).expect("a copy");
        files::write(checkout.at("crates/mainspring/clients.pin"), PINS);
        for tool in [
            "chmod", "dirname", "env", "grep", "mkdir", "mv", "rm", "sh", "tail",
        ] {
            symlink(Path::new("/bin").join(tool), checkout.at("bin").join(tool)).expect("a link");
        }
        checkout
    }

    fn with_npm(self, script: &str) -> Self {
        let npm = self.at("bin/npm");
        files::write(&npm, script);
        fs::set_permissions(npm, fs::Permissions::from_mode(0o755)).expect("executable");
        self
    }

    /// The exit status and what was said on stderr.
    fn fetch(&self) -> (i32, String) {
        let mut script = Command::new(self.at("scripts/fetch-clients"));
        script
            .env_clear()
            .env("PATH", self.at("bin"))
            .env("ASKED", self.at("asked"));
        let done = Running::start(&mut script).wait(PATIENCE);
        match done.end {
            End::Exited(status) => (status.code().expect("a code"), done.stderr_text()),
            End::DeadlinePassed => panic!("it never ended"),
        }
    }

    /// What is in `target/clients`, hidden things of the script's own left out.
    fn installed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at("target/clients"))
            .into_iter()
            .flatten();
        entries
            .map(|entry| entry.expect("readable").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| name != ".home")
            .collect()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }
}

#[test]
fn each_client_is_installed_once() {
    let checkout = Checkout::new().with_npm(GOOD_NPM);
    let lines = "fetch-clients: installing @anthropic-ai/claude-code 2.1.0\n\
                 fetch-clients: installing axe-core 4.0.0\n";

    assert_eq!(checkout.fetch(), (0, lines.into()));
    assert_eq!(checkout.fetch(), (0, String::new()));

    let mut installed = checkout.installed();
    installed.sort();
    assert_eq!(installed, ["axe-4.0.0", "claude-2.1.0"]);
    let asked = fs::read_to_string(checkout.at("asked"));
    assert_eq!(asked.expect("npm was asked"), "asked\nasked\n");
}

#[test]
fn a_client_that_does_not_start_is_not_installed() {
    let other_version = GOOD_NPM.replace("${7##*@}", "0.0.1");
    let checkout = Checkout::new().with_npm(&other_version);

    let (status, said) = checkout.fetch();

    assert_eq!(status, 4);
    assert!(said.ends_with("does not start as that version\n"), "{said}");
    assert_eq!(checkout.installed(), Vec::<String>::new());
}

/// Some say their version on stderr.
#[test]
fn a_client_may_say_its_version_anywhere() {
    let on_stderr = GOOD_NPM.replace("(Claude Code)\"", "(Claude Code)\" >&2");
    assert_ne!(on_stderr, GOOD_NPM);
    let checkout = Checkout::new().with_npm(&on_stderr);

    let (status, said) = checkout.fetch();

    assert_eq!(status, 0, "{said}");
}

#[test]
fn a_missing_npm_has_a_status_of_its_own() {
    let (status, said) = Checkout::new().fetch();

    assert_eq!(status, 3);
    assert_eq!(said.lines().count(), 2, "{said}");
    let missing = |line: &str| line.starts_with("fetch-clients: npm is missing");
    assert!(said.lines().all(missing), "{said}");
}

#[test]
fn a_failed_installation_leaves_nothing_that_looks_finished() {
    let checkout = Checkout::new().with_npm(BAD_NPM);

    let (status, said) = checkout.fetch();

    assert_eq!(status, 4);
    assert!(
        said.ends_with("could not be installed: no such package\n"),
        "{said}"
    );
    assert_eq!(checkout.installed(), Vec::<String>::new());
}

/// The clients of other hosts may be missing: their tests are skipped, and the others are not.
#[test]
fn a_missing_optional_client_has_a_status_of_its_own() {
    let checkout = Checkout::new().with_npm(GOOD_NPM);
    assert_eq!(checkout.fetch().0, 0);
    files::write(
        checkout.at("crates/mainspring/clients.pin"),
        format!("{PINS}codex @openai/codex 0.1.0 optional\n"),
    );
    let checkout = checkout.with_npm(BAD_NPM);

    let (status, said) = checkout.fetch();

    assert_eq!(status, 5, "{said}");
    assert!(
        said.contains("@openai/codex 0.1.0 could not be installed"),
        "{said}"
    );
}
