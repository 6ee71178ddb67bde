//! How each channel puts a release into a home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::home::Home;
use super::{Release, ok};
use crate::clients::workspace;

pub(super) fn npm(home: &Home, release: &Release) -> PathBuf {
    let mut command = home.command("npm");
    command.args(["install", "--offline", "--no-audit", "--no-fund"]);
    ok(command.args(files(&release.channels.join("npm"), "tgz")));
    home.at("project/node_modules/.bin/mainspring")
}

pub(super) fn wheel(home: &Home, release: &Release) -> PathBuf {
    let place = home.at("venv");
    if !place.exists() {
        ok(home.command("python3").args(["-m", "venv"]).arg(&place));
    }
    let mut command = home.command(place.join("bin/pip"));
    command.args([
        "install",
        "--quiet",
        "--no-index",
        "--disable-pip-version-check",
    ]);
    ok(command.args(files(&release.channels.join("pypi"), "whl")));
    place.join("bin/mainspring")
}

pub(super) fn script(home: &Home, release: &Release) -> PathBuf {
    let mut command = home.command("sh");
    command.arg(release.channels.join("script/install.sh"));
    ok(command.env("MAINSPRING_FROM", address(&release.archives)));
    home.at(".local/bin/mainspring")
}

/// By a stand-in for `brew` that reads the real formula.
pub(super) fn homebrew(home: &Home, release: &Release) -> PathBuf {
    let prefix = home.at("brew");
    let mut command = home.command("ruby");
    command
        .arg(workspace().join("crates/testkit/homebrew/install.rb"))
        .arg(release.channels.join("homebrew/mainspring.rb"))
        .args([&release.archives, &prefix]);
    // The formula's test compares the program's own version.
    if release.version == env!("CARGO_PKG_VERSION") {
        command.arg("--test");
    }
    ok(&mut command);
    for file in [
        "share/man/man1/mainspring.1",
        "etc/bash_completion.d/mainspring",
    ] {
        assert!(prefix.join(file).is_file(), "{file} is not installed");
    }
    prefix.join("bin/mainspring")
}

/// The steps of the GitHub Action: it installs, and compares a receipt of checks with the commit.
pub(super) fn action(home: &Home, release: &Release) -> PathBuf {
    let bin = home.at("runner/mainspring");
    let path = home.at("github-path");
    fs::write(&path, "").expect("room for a path");
    ok(home
        .command("sh")
        .args(["-ec", &step(0)])
        .env("MAINSPRING_VERSION", &release.version)
        .env("MAINSPRING_BIN", &bin)
        .env("MAINSPRING_FROM", address(&release.archives))
        .env("GITHUB_ACTION_PATH", workspace())
        .env("GITHUB_PATH", &path));
    let added = fs::read_to_string(&path).expect("the action writes it");
    assert_eq!(added.trim_end(), bin.to_str().expect("a path in UTF-8"));
    let program = bin.join("mainspring");
    let receipt = receipt(home, &program);
    let ran = home
        .command("bash")
        .args(["-ec", &step(1)])
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("VERIFY", format!("--receipt {}", receipt.display()))
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        said.contains("tests: pass, but not over this commit"),
        "{said}"
    );
    assert_eq!(ran.status.code(), Some(1), "{said}");
    program
}

/// What a step of the action runs.
fn step(number: usize) -> String {
    let read = "puts YAML.load_file(ARGV[0])['runs']['steps'][ARGV[1].to_i]['run']";
    ok(Command::new("ruby")
        .args(["-ryaml", "-e", read])
        .arg(workspace().join("action.yml"))
        .arg(number.to_string()))
}

/// A receipt of the project's one check, over another commit than the project's.
fn receipt(home: &Home, program: &Path) -> PathBuf {
    let file = home.at("checks.json");
    if file.exists() {
        return file;
    }
    let check = "[[check]]\nname = \"tests\"\nrun = [\"true\"]\nwhen = [\"handoff\"]\n";
    fs::write(home.project().join("mainspring.toml"), check).expect("room for settings");
    let git = |words: &[&str]| {
        let mut command = home.command("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
        ok(command.args(words));
    };
    git(&["init", "--quiet"]);
    git(&["add", "mainspring.toml"]);
    git(&["commit", "--quiet", "-m", "Add a check"]);
    ok(home.command(program).args(["trust", "--yes"]));
    let text = r#"{"v":1,"mainspring":"0","system":"s","checks":[{"name":"tests","result":"pass",
        "key":"","definition":"","pins":"","toolchain":"","environment":"","inputs":"","at":1,
        "took":1}]}"#;
    fs::write(&file, text).expect("room for a receipt");
    file
}

fn address(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the channel's folder");
    let paths = entries.map(|entry| entry.expect("that can be read").path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}
