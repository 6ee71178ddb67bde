//! Replays the corpus.

use std::fs;
use std::path::{Path, PathBuf};

use crate::TARGETS;

/// The limit for the corpus: every checkout carries it.
const MOST_BYTES: u64 = 1_000_000;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

#[test]
fn the_corpus_of_every_target_holds() {
    let mut bytes = 0;
    let mut folders: Vec<String> = Vec::new();
    for target in TARGETS {
        let folder = corpus().join(target.name);
        let mut files = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let input = fs::read(&path).unwrap();
            bytes += input.len() as u64;
            files += 1;
            let caught = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(caught.is_ok(), "{} fails {}", path.display(), target.name);
        }
        assert!(files >= 10, "{}: {files} inputs", target.name);
        folders.push(target.name.into());
    }
    let there = fs::read_dir(corpus()).unwrap();
    let mut there: Vec<String> = there
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    folders.sort();
    assert_eq!(there, folders, "a folder per target, and no other");
    assert!(bytes < MOST_BYTES, "{bytes} bytes are a large corpus");
}
