//! The real `cargo binstall`, which reads a repository's manifests and fetches an archive over HTTPS.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::home::Home;
use super::{Release, ok};
use crate::clients::workspace;

/// Where the manifests say that the project is.
const REPOSITORY: &str = "https://github.com/OWNER/mainspring";

/// Installs a release with this `cargo-binstall`, and says where its program is.
pub(super) fn install(binstall: &Path, home: &Home, release: &Release) -> PathBuf {
    let server = Archives::serve(home, release);
    let repository = home.at("repository");
    let _ = fs::remove_dir_all(&repository);
    write_sources(&repository, release, &server.address());
    let git = |words: &[&str]| {
        let mut command = home.command("git");
        command.arg("-C").arg(&repository);
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
        ok(command.args(words));
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "Name the server"]);
    let mut command = home.command(binstall);
    command
        .args(["--no-confirm", "--force", "--disable-telemetry"])
        .args([
            "--no-discover-github-token",
            "--strategies",
            "crate-meta-data",
        ])
        .arg("--root-certificates")
        .arg(&server.root)
        .arg("--git")
        .arg(format!("file://{}", repository.display()))
        .arg("mainspring")
        .env("CARGO_HOME", home.at(".cargo"));
    ok(&mut command);
    home.at(".cargo/bin/mainspring")
}

/// What `cargo binstall` reads of this workspace: the manifests, with this address and the release's
/// version, and the files that say which programs there are.
fn write_sources(repository: &Path, release: &Release, address: &str) {
    let root = workspace();
    let listed = ok(Command::new("git")
        .args(["ls-files", "*Cargo.toml", "*/src/main.rs", "*/src/bin/*.rs"])
        .current_dir(&root));
    for name in listed.lines() {
        let text = fs::read_to_string(root.join(name)).expect("a file of ours");
        let version = |version: &str| format!("version = \"{version}\"");
        let text = text.replace(REPOSITORY, address).replace(
            &version(env!("CARGO_PKG_VERSION")),
            &version(&release.version),
        );
        let place = repository.join(name);
        fs::create_dir_all(place.parent().expect("in a folder")).expect("room for a folder");
        fs::write(place, text).expect("room for a file");
    }
}

/// The archives of a release, as a forge serves them, until this is dropped.
struct Archives {
    process: Child,
    port: String,
    /// The certificate that a client has to trust.
    root: PathBuf,
}

impl Archives {
    fn serve(home: &Home, release: &Release) -> Self {
        let keys = home.at("keys");
        let mut process = home
            .command("python3")
            .arg(workspace().join("crates/testkit/https/serve.py"))
            .arg(&release.archives)
            .arg(format!("/releases/download/v{}", release.version))
            .arg(&keys)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let mut port = String::new();
        let stdout = process.stdout.take().expect("it was asked for");
        BufReader::new(stdout)
            .read_line(&mut port)
            .expect("it can be read");
        assert!(!port.is_empty(), "the server ended");
        Self {
            process,
            port: port.trim_end().into(),
            root: keys.join("root.pem"),
        }
    }

    fn address(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }
}

impl Drop for Archives {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
