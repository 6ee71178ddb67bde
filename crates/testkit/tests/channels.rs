//! Every channel leads from nothing to a first held stop, from local files.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test that cannot prepare its environment has failed; one that is skipped says so"
)]

use std::path::Path;

use mainspring_testkit::channels::try_all;

fn mainspring() -> std::path::PathBuf {
    let here = std::env::current_exe().expect("this test is a file");
    let build = here.ancestors().nth(2).expect("in a build folder");
    build.join("mainspring")
}

#[test]
fn every_channel_leads_to_a_held_stop_and_up_and_down() {
    if std::env::var_os("MAINSPRING_SKIP_CHANNELS").is_some() {
        eprintln!("skipped: npm, pip or ruby is missing");
        return;
    }
    let reached = try_all(&mainspring());
    let channels: Vec<&str> = reached.iter().map(|one| one.channel).collect();
    assert_eq!(channels, ["npm", "pypi", "script", "homebrew", "action"]);
}

/// `cargo binstall` fills in its templates and finds the archive and the program in it.
#[test]
fn binstalls_templates_name_the_archives() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).expect("it is there");
    let manifest: serde_json::Value =
        serde_json::from_str(&read("packaging/manifest.json")).expect("the manifest is JSON");
    let templates = read("crates/mainspring/Cargo.toml");
    let (everywhere, windows) = templates
        .split_once("[package.metadata.binstall.overrides.x86_64-pc-windows-gnu]")
        .expect("templates for Windows");
    for platform in manifest["platforms"].as_array().expect("a list") {
        let target = platform["target"].as_str().expect("a text");
        let (part, ending, suffix) = if target.contains("windows") {
            (windows, "zip", ".exe")
        } else {
            (everywhere, "tar.gz", "")
        };
        let filled = |part: &str, name: &str| {
            let start = format!("{name} = \"");
            let line = part.lines().find_map(|line| line.strip_prefix(&start));
            line.expect("a template")
                .trim_end_matches('"')
                .replace("{ repo }", manifest["repository"].as_str().expect("a text"))
                .replace("{ version }", "0.1.0")
                .replace("{ target }", target)
                .replace("{ bin }", "mainspring")
                .replace("{ binary-ext }", suffix)
        };
        let archive = format!("mainspring-0.1.0-{target}");
        let place = "https://github.com/OWNER/mainspring/releases/download/v0.1.0";
        assert_eq!(
            filled(part, "pkg-url"),
            format!("{place}/{archive}.{ending}")
        );
        assert_eq!(
            filled(everywhere, "bin-dir"),
            format!("{archive}/mainspring{suffix}")
        );
    }
}

/// A crate's package has only files of its own folder.
#[test]
fn no_crate_that_is_published_includes_a_file_from_outside() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in [
        "crates/json",
        "crates/kernel",
        "crates/mainspring",
        "crates/platform",
        "crates/store",
        "plugins",
    ] {
        let listed = std::process::Command::new(env!("CARGO"))
            .args([
                "package",
                "--list",
                "--allow-dirty",
                "--offline",
                "--manifest-path",
            ])
            .arg(workspace.join(name).join("Cargo.toml"))
            .output()
            .expect("cargo runs");
        assert!(listed.status.success(), "{listed:?}");
        let listed = String::from_utf8(listed.stdout).expect("paths in UTF-8");
        for file in listed.lines().filter(|file| file.ends_with(".rs")) {
            let path = workspace.join(name).join(file);
            let text = std::fs::read_to_string(&path).expect("it is there");
            for part in text.split("include_str!(\"").skip(1) {
                let (included, _) = part.split_once('"').expect("a path");
                let up = included.matches("../").count();
                let depth = Path::new(file).components().count() - 1;
                assert!(up <= depth, "{name}/{file} includes {included}");
            }
        }
    }
}

/// The version of the crate, the newest entry of the changelog and the archives' names agree.
#[test]
fn version_and_changelog_agree() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).expect("it is there");
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("Cargo.toml").contains(&format!("version = \"{version}\"")));
    let changelog = read("CHANGELOG.md");
    let newest = changelog
        .lines()
        .find_map(|line| line.strip_prefix("## "))
        .expect("an entry");
    assert!(
        newest == "Unreleased" || newest.starts_with(version),
        "the changelog begins with {newest}, and the version is {version}"
    );
}
