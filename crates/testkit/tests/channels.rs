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
    let reached = try_all(&mainspring(), None);
    let channels: Vec<&str> = reached.iter().map(|one| one.channel).collect();
    assert_eq!(channels, ["npm", "pypi", "script", "homebrew", "action"]);
}

/// Targets without an archive of their own, and the one whose archive runs there.
const RUNS_ANOTHERS: [(&str, &str); 2] = [
    ("x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"),
    ("x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu"),
];

/// `cargo binstall` fills in its templates and finds the archive and the program in it.
#[test]
fn binstalls_templates_name_the_archives() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).expect("it is there");
    let manifest: serde_json::Value =
        serde_json::from_str(&read("packaging/manifest.json")).expect("the manifest is JSON");
    let package: toml::Table = read("crates/mainspring/Cargo.toml")
        .parse()
        .expect("the crate's manifest is TOML");
    let templates = &package["package"]["metadata"]["binstall"];
    let platforms = manifest["platforms"].as_array().expect("a list");
    let own = platforms.iter().map(|platform| {
        let target = platform["target"].as_str().expect("a text");
        (target, target)
    });
    for (target, archived) in own.chain(RUNS_ANOTHERS) {
        let (ending, format, suffix) = if target.contains("windows") {
            ("zip", "zip", ".exe")
        } else {
            ("tar.gz", "tgz", "")
        };
        let filled = |name: &str| {
            let special = templates["overrides"].get(target);
            let special = special.and_then(|templates| templates.get(name));
            special
                .unwrap_or(&templates[name])
                .as_str()
                .expect("a template")
                .replace("{ repo }", manifest["repository"].as_str().expect("a text"))
                .replace("{ version }", "0.1.0")
                .replace("{ target }", target)
                .replace("{ bin }", "mainspring")
                .replace("{ binary-ext }", suffix)
        };
        let archive = format!("mainspring-0.1.0-{archived}");
        let place = "https://github.com/OWNER/mainspring/releases/download/v0.1.0";
        assert_eq!(filled("pkg-url"), format!("{place}/{archive}.{ending}"));
        assert_eq!(filled("bin-dir"), format!("{archive}/mainspring{suffix}"));
        assert_eq!(filled("pkg-fmt"), format);
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
