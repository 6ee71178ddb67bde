//! Payloads that were recorded from real clients.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::env::TestEnv;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Every payload of a client, with its name.
fn payloads(client: &str) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(fixtures().join(client))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(&path).unwrap())
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{client}");
    found
}

/// A check is running in the payload's own directory, so every event that decodes reaches the
/// machine. A main agent's stop is held, and nothing else is.
#[test]
fn every_payload_of_claude_code_decodes() {
    let mut stops = 0;
    for (name, bytes) in payloads("claude-2.1.325") {
        let env = TestEnv::new();
        env.run(&["pulse", "3"]).ok();
        let mut payload: Value = serde_json::from_slice(&bytes).unwrap();
        payload["cwd"] = env.project().to_str().unwrap().into();
        let ran = env.hook_bytes(payload.to_string().as_bytes());
        let is_stop = payload["hook_event_name"] == "Stop" && payload["agent_id"].is_null();
        if is_stop {
            stops += 1;
            assert!(ran.held().contains("beat 1 of 3"), "{name}");
        } else {
            assert_eq!(ran.ok(), "", "{name}");
        }
    }
    assert!(stops >= 4, "only {stops} stops among the fixtures");
}

/// Payloads of other hosts are JSON objects, too: none is an error, whatever it means.
#[test]
fn no_payload_of_another_client_is_an_error() {
    let mut seen = 0;
    for client in [
        "codex-0.166.0",
        "gemini-0.61.0",
        "qwen-0.24.4",
        "copilot-1.0.102-pascal",
        "copilot-1.0.102-camel",
    ] {
        for (name, bytes) in payloads(client) {
            let env = TestEnv::new();
            let mut payload: Value = serde_json::from_slice(&bytes).unwrap();
            payload["cwd"] = env.project().to_str().unwrap().into();
            let ran = env.hook_bytes(payload.to_string().as_bytes());
            assert_eq!(ran.ok(), "", "{client}/{name}");
            seen += 1;
        }
    }
    assert!(seen >= 40, "only {seen} payloads");
}
