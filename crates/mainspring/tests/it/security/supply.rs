//! What the shipped binary is made of, according to Cargo: few crates from one source, with
//! allowed licences, each in one version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The limit on crates in the binary. A new one changes this number and adds a row in
/// docs/design/dependencies.md.
const MOST_CRATES: usize = 54;
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "Unlicense",
    "BSD-3-Clause",
    "BSD-2-Clause",
    "Zlib",
    "Unicode-3.0",
    "ISC",
];
/// Crates that would bring a shell, a network, a second runtime or a second way to do
/// something.
const BANNED: [&str; 16] = [
    "openssl",
    "openssl-sys",
    "native-tls",
    "reqwest",
    "hyper",
    "ureq",
    "curl",
    "tokio",
    "async-std",
    "libloading",
    "regex",
    "chrono",
    "time",
    "duct",
    "xshell",
    "git2",
];

fn cargo(args: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(option_env!("CARGO").unwrap_or("cargo"))
        .args(args)
        .args(["--locked", "--offline"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Name, version and licence of every crate that is linked into the binary: no tests, no build
/// scripts, no macros.
fn shipped() -> BTreeMap<String, String> {
    let tree = cargo(&[
        "tree",
        "--package=mainspring",
        "--edges=normal,no-proc-macro",
        "--target=x86_64-unknown-linux-gnu",
        "--prefix=none",
        "--no-dedupe",
        "--format={p}|{l}",
    ]);
    tree.lines()
        .filter(|line| !line.starts_with("mainspring"))
        .map(|line| line.split_once('|').unwrap())
        .map(|(package, licence)| (package.to_owned(), licence.to_owned()))
        .collect()
}

/// Can the crate be used under one of the allowed licences?
fn is_allowed(licence: &str) -> bool {
    let allowed = |one: &str| LICENCES.contains(&one.trim().trim_matches(['(', ')']));
    let all_of = |group: &str| group.split(" AND ").all(allowed);
    let text = licence.replace('/', " OR ");
    // `(A OR B) AND C`: each part needs an allowed licence.
    if let Some((choice, rest)) = text.split_once(") AND ") {
        return choice.split(" OR ").any(allowed) && all_of(rest);
    }
    text.split(" OR ").any(all_of)
}

/// The fuzzer has its own lock file, and no test builds it.
#[test]
fn the_fuzzer_is_made_of_the_same_crates() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/libfuzzer/Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    for package in shipped().keys() {
        let (name, version) = package.split_once(" v").unwrap();
        let row = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(
            lock.contains(&row),
            "{package}: `cargo metadata` in crates/fuzz/libfuzzer mends its lock file"
        );
    }
}

#[test]
fn the_binary_is_made_of_few_crates_each_once() {
    let shipped = shipped();
    let names: BTreeSet<&str> = shipped
        .keys()
        .map(|package| package.split(' ').next().unwrap())
        .collect();
    assert_eq!(names.len(), shipped.len(), "each crate once: {shipped:?}");
    assert!(names.len() <= MOST_CRATES, "{}: {names:?}", names.len());
    eprintln!("{} crates of others are in the binary", names.len());
    for name in BANNED {
        assert!(!names.contains(name), "{name} is banned");
    }
    for (package, licence) in &shipped {
        assert!(is_allowed(licence), "{package}: {licence}");
    }
}

#[test]
fn everything_that_is_built_comes_from_the_registry_or_is_ours() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version=1"])).unwrap();
    let mut ours = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        match package["source"].as_str() {
            Some(source) => assert_eq!(source, REGISTRY, "{name}"),
            None => ours.push(name),
        }
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(is_allowed(licence), "{name}: {licence}");
    }
    ours.sort_unstable();
    assert_eq!(
        ours,
        [
            "mainspring",
            "mainspring-floor",
            "mainspring-fuzz",
            "mainspring-json",
            "mainspring-kernel",
            "mainspring-platform",
            "mainspring-plugins",
            "mainspring-store",
            "mainspring-testkit"
        ]
    );
}

/// Our own crates use the workspace's lints, which forbid `unsafe`.
#[test]
fn only_calls_of_windows_are_unsafe_in_ours() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    // One folder of `platform` may be unsafe; its own test keeps it to that folder.
    assert!(workspace.contains("unsafe_code = \"deny\""));
    for name in [
        "crates/floor",
        "crates/fuzz",
        "crates/json",
        "crates/kernel",
        "crates/mainspring",
        "crates/platform",
        "crates/store",
        "crates/testkit",
        "plugins",
    ] {
        let manifest = std::fs::read_to_string(root.join(name).join("Cargo.toml"));
        assert!(
            manifest.unwrap().contains("[lints]\nworkspace = true"),
            "{name}"
        );
    }
}

/// Every promise in SECURITY.md names its tests, and every test that it names exists, as a module or
/// a function.
#[test]
fn the_tests_that_the_page_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    assert!(page.split_whitespace().count() <= 1_800, "one page");
    let sources: String = super::tree(&root.join("crates"))
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    let promises: Vec<_> = rows.filter(|row| !row.starts_with("promise ")).collect();
    assert!(promises.len() >= 30, "{promises:?}");
    for row in promises {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next();
        let tests: Vec<_> = tests.unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{row}");
        for name in tests {
            for part in name.split("::") {
                let word =
                    |before: &str, after: &str| sources.contains(&format!("{before}{part}{after}"));
                let known = word("fn ", "(") || word("mod ", ";") || word("mod ", " {");
                assert!(known, "{name}: there is no {part}");
            }
        }
    }
}
