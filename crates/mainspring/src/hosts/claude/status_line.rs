//! The line below the client's prompt. A person's own line stays.

use std::path::Path;

use jsonc_parser::cst::CstObject;
use serde_json::{Map, Value, json};

use crate::hosts::call::{self, Caller, PROGRAM};
use crate::hosts::install::StatusLine;
use crate::hosts::jsonc;

const FIELD: &str = "statusLine";

/// What we are called with.
const WORDS: [&str; 2] = ["status", "--line"];

pub(super) fn of(root: &Map<String, Value>) -> StatusLine {
    match root.get(FIELD) {
        None | Some(Value::Null) => StatusLine::None,
        Some(line) if is_ours(line) => StatusLine::Ours,
        Some(_) => StatusLine::Other,
    }
}

/// Is there no line yet, or an old one of ours?
pub(super) fn is_due(root: &Map<String, Value>, caller: &Caller) -> bool {
    match of(root) {
        StatusLine::None => true,
        StatusLine::Ours => root.get(FIELD) != Some(&wanted(caller)),
        StatusLine::Other => false,
    }
}

pub(super) fn put_in(root: &CstObject, caller: &Caller) {
    take_out(root);
    root.append(FIELD, jsonc::input(&wanted(caller)));
}

pub(super) fn take_out(root: &CstObject) {
    if let Some(member) = jsonc::member(root, FIELD)
        && member.to_serde_value().as_ref().is_some_and(is_ours)
    {
        jsonc::remove(member);
    }
}

fn wanted(caller: &Caller) -> Value {
    json!({ "type": "command", "command": caller.line(&WORDS) })
}

fn is_ours(line: &Value) -> bool {
    let command = line.get("command").and_then(Value::as_str);
    let words = call::words(command.unwrap_or_default());
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    Path::new(program)
        .file_name()
        .is_some_and(|name| name == PROGRAM)
        && args == WORDS
}
