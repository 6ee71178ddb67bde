//! Reads and checks a skill's `fsm.json`.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_kernel::machines::tasks::check::{List, MOST_BYTES, MOST_TASKS, Problem, check};
use mainspring_kernel::machines::tasks::draft::{Draft, Field, Key, Row, Status};
use mainspring_kernel::machines::tasks::text::excerpt;
use mainspring_store::ShownPath as _;
use serde_json::{Map, Value};

use super::locate;

/// How much of a string is quoted in a message.
const QUOTED: usize = 40;

/// The file's tasks, unchanged.
#[derive(Debug)]
pub struct Source {
    values: Vec<Value>,
    by_local: BTreeMap<u64, usize>,
}

/// Why the file gives no list.
#[derive(Debug)]
pub enum Fault {
    /// The file could not be read as a list.
    File(String),
    Tasks(Vec<Problem>),
}

impl Source {
    pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
        locate::read(path, MOST_BYTES).map_err(|trouble| Fault::File(trouble.to_string()))
    }

    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Fault> {
        let fault = |problem: String| Fault::File(format!("{}: {problem}", path.shown()));
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match mainspring_json::read(bytes) {
            Err(error) => Err(fault(format!("malformed JSON: {error}"))),
            Ok(Value::Array(values)) if values.len() > MOST_TASKS => Err(fault(format!(
                "{} tasks are more than {MOST_TASKS}",
                values.len()
            ))),
            Ok(Value::Array(values)) => {
                let local = |value: &Value| value.get(Key::Id.as_str())?.as_u64();
                let places = values.iter().enumerate();
                let by_local = places.filter_map(|(at, value)| Some((local(value)?, at)));
                Ok(Self {
                    by_local: by_local.collect(),
                    values,
                })
            }
            Ok(other) => Err(fault(format!(
                "must be an array of tasks, found {}",
                seen(&other)
            ))),
        }
    }

    pub fn check(&self) -> Result<List, Fault> {
        check(&self.rows()).map_err(Fault::Tasks)
    }

    pub fn rows(&self) -> Vec<Row> {
        self.values.iter().map(row).collect()
    }

    /// The task with this local id; the list must have passed the check.
    pub fn task(&self, local: u64) -> Option<&Map<String, Value>> {
        self.values.get(*self.by_local.get(&local)?)?.as_object()
    }
}

fn row(value: &Value) -> Row {
    let Value::Object(task) = value else {
        return Row::Other(seen(value));
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let ids = |value: &Value| {
        let elements = value.as_array()?.iter();
        Some(elements.map(|one| sort(one, Value::as_u64)).collect())
    };
    Row::Task(Box::new(Draft {
        id: field(task, Key::Id, Value::as_u64),
        subject: field(task, Key::Subject, text),
        description: field(task, Key::Description, text),
        active_form: field(task, Key::ActiveForm, text),
        owner: field(task, Key::Owner, text),
        status: field(task, Key::Status, |value| Status::parse(value.as_str()?)),
        blocked_by: field(task, Key::BlockedBy, ids),
        blocks: field(task, Key::Blocks, ids),
        metadata: field(task, Key::Metadata, |value| value.is_object().then_some(())),
    }))
}

fn field<T>(
    task: &Map<String, Value>,
    key: Key,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Field<T> {
    match task.get(key.as_str()) {
        None => Field::Missing,
        Some(value) => sort(value, read),
    }
}

fn sort<T>(value: &Value, read: impl FnOnce(&Value) -> Option<T>) -> Field<T> {
    match read(value) {
        Some(given) => Field::Given(given),
        None => Field::Wrong(seen(value)),
    }
}

/// A value in a few words.
fn seen(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => {
            let short: String = excerpt(text).chars().take(QUOTED).collect();
            format!("{short:?}")
        }
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn said(text: &str) -> String {
        let path = Path::new("fsm.json");
        match Source::parse(path, text.as_bytes()).and_then(|source| source.check()) {
            Ok(list) => format!("{} tasks", list.items.len()),
            Err(Fault::File(problem)) => problem,
            Err(Fault::Tasks(problems)) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                lines.join("\n")
            }
        }
    }

    #[test]
    fn what_an_author_can_get_wrong_is_named() {
        assert_snapshot!(said(r#"[{"id":true,"subject":""},{"id":1.0,"subject":["x"]},{"id":-1},{"id":"1"},7,
            {"id":5,"subject":"s","status":"todo","blockedBy":[1,"2",null],"metadata":[],"owner":{}}]"#), @r#"
        Task 1: 'id' must be a whole number from 1 to 1000000, found true
        Task 1: 'subject' must be a string that is not empty, found an empty one
        Task 2: 'id' must be a whole number from 1 to 1000000, found 1.0
        Task 2: 'subject' must be a string that is not empty, found a list
        Task 3: 'id' must be a whole number from 1 to 1000000, found -1
        Task 3: missing required field 'subject'
        Task 4: 'id' must be a whole number from 1 to 1000000, found "1"
        Task 4: missing required field 'subject'
        Task 5: must be an object, found 7
        Task 6 (id 5): 'owner' must be a string, found an object
        Task 6 (id 5): 'status' must be "pending", "in_progress" or "completed", found "todo"
        Task 6 (id 5): blockedBy references non-existent id 1
        Task 6 (id 5): blockedBy must hold ids, found "2"
        Task 6 (id 5): blockedBy must hold ids, found null
        Task 6 (id 5): 'metadata' must be an object, found a list
        "#);
    }

    #[test]
    fn what_is_no_list_is_refused_whole() {
        assert_snapshot!(said("[{\n  \"id\": 1,,\n}]"), @"fsm.json: malformed JSON: key must be a string at line 2 column 11");
        assert_snapshot!(said(""), @"fsm.json: malformed JSON: EOF while parsing a value at line 1 column 0");
        assert_snapshot!(said("{\"tasks\":[]}"), @"fsm.json: must be an array of tasks, found an object");
        assert_snapshot!(said("\"\u{1b}]9;x\""), @r#"fsm.json: malformed JSON: control character (\u0000-\u001F) found while parsing a string at line 1 column 2"#);
        let deep = "[".repeat(10_000);
        assert!(said(&deep).contains("recursion limit"));
        let many = format!("[{}1]", "1,".repeat(MOST_TASKS));
        assert_snapshot!(said(&many), @"fsm.json: 1001 tasks are more than 1000");
        assert_snapshot!(said("\u{feff}[]"), @"0 tasks");
    }

    #[test]
    fn a_list_cut_anywhere_is_refused_and_one_with_a_wrong_byte_is_named_or_whole() {
        let good = r#"[{"id":1,"subject":"a","blockedBy":[1],"metadata":{"k":1}}]"#;
        assert_eq!(said(good), "1 tasks");
        for cut in 0..good.len() {
            let torn = said(&good[..cut]);
            assert!(torn.starts_with("fsm.json: malformed JSON: "), "{torn}");
            for byte in [b'"', b'[', b'}', b'9', 0, 0xff] {
                let mut bytes = good.as_bytes().to_vec();
                bytes[cut] = byte;
                let shown = String::from_utf8_lossy(&bytes);
                match Source::parse(Path::new("f"), &bytes).and_then(|source| source.check()) {
                    Err(Fault::File(problem)) => assert!(problem.starts_with("f: "), "{problem}"),
                    Err(Fault::Tasks(problems)) => {
                        assert!(!problems.is_empty(), "{shown}");
                        assert!(problems.iter().all(|problem| problem.task == 1), "{shown}");
                    }
                    Ok(list) => {
                        assert_eq!(list.items.len(), 1, "{shown}");
                        let edges = &list.items[0].blocked_by;
                        assert!(edges.iter().all(|id| *id == list.items[0].local), "{shown}");
                    }
                }
            }
        }
    }
}
