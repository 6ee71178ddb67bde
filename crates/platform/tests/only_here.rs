//! Only this crate uses the system's own paths and types; no other shipped crate does.
#![expect(clippy::unwrap_used, reason = "the sources can be read")]

use std::fs;
use std::path::{Path, PathBuf};

const SHIPPED: &[&str] = &["json", "kernel", "mainspring", "store"];
const OF_THE_SYSTEM: &[&str] = &[
    "rustix::",
    "\"/proc",
    "std::os::",
    "nix::",
    "libc::",
    // On Windows they differ from `path::real` and `lock::take`.
    "canonicalize(",
    "fs::canonicalize",
    ".try_lock()",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Tests create symlinks, FIFOs and modes as they need them: in a folder of tests, or at the end of
/// a file. So do the fuzz targets.
fn without_tests(path: &Path) -> String {
    let is_test = |part: &std::ffi::OsStr| part == "tests" || part == "tests.rs" || part == "fuzz";
    if path.iter().any(is_test) {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Windows is asked through C functions. Everything else is code that the compiler checks.
#[test]
fn only_the_functions_of_windows_are_unsafe() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in SHIPPED.iter().chain(&["platform"]) {
        sources(&crates.join(name).join("src"), &mut files);
    }
    let allows = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("unsafe_code");
    files.retain(allows);
    let only = crates.join("platform/src/windows/api/mod.rs");
    assert_eq!(files, [only]);
}

#[test]
fn no_other_crate_asks_the_system_itself() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut asked = Vec::new();
    let mut looked_at = 0;
    for name in SHIPPED {
        let folder = crates.join(name).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files);
        for file in files {
            looked_at += 1;
            for (number, line) in without_tests(&file).lines().enumerate() {
                if OF_THE_SYSTEM.iter().any(|what| line.contains(what)) {
                    asked.push(format!("{}:{}: {line}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(looked_at > 100, "{looked_at} files are not all of them");
    assert_eq!(asked, Vec::<String>::new());
}
