//! The drop-ins for the two public stop scripts: what goes in, and exactly what comes out.

mod idle;
mod taskmaster;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::env::{Ran, TestEnv, finish};

fn compat(env: &TestEnv, script: &str, payload: &str) -> Ran {
    finish(env.command().args(["compat", script]), payload.as_bytes())
}

/// One line of a transcript.
fn line(role: &str, text: &str) -> String {
    let content = json!([{ "type": "text", "text": text }]);
    let message = json!({ "role": role, "id": text, "content": content });
    json!({ "type": role, "isSidechain": false, "message": message }).to_string() + "\n"
}

fn write(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}
