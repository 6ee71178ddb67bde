//! A skill's `fsm.json`.

use std::collections::BTreeSet;
use std::path::Path;

use mainspring_kernel::machines::tasks::check::MOST_TASKS;
use serde_json::Value;

use crate::json;
use mainspring::formats::task_list::{Fault, Source, elements, place};

/// A list that passes can be laid out: ids are unique, every reference has its task, every task is
/// there. A list that does not pass is refused, with the position of the fault.
pub(crate) fn run(bytes: &[u8]) {
    let path = Path::new("skills/x/fsm.json");
    let text = std::str::from_utf8(bytes).ok();
    let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    if let Some(text) = text {
        json::agrees(text);
        places(text);
    }
    match Source::parse(path, bytes) {
        Err(Fault::File(problem)) => {
            assert!(problem.starts_with("skills/x/fsm.json: "), "{problem}");
        }
        Err(Fault::Tasks(problems)) => panic!("not checked yet: {problems:?}"),
        Ok(source) => match source.check() {
            Err(Fault::File(problem)) => panic!("{problem}"),
            Err(Fault::Tasks(problems)) => {
                let most = source.rows().len();
                let placed = problems.iter().all(|one| (1..=most).contains(&one.task));
                assert!(!problems.is_empty() && placed, "{problems:?}");
                for problem in problems {
                    let said = problem.to_string();
                    assert!(said.chars().count() < 400, "{said}");
                    assert!(!said.chars().any(char::is_control), "{said:?}");
                }
            }
            Ok(list) => {
                let ids: BTreeSet<u64> = list.items.iter().map(|item| item.local).collect();
                assert_eq!(ids.len(), list.items.len());
                assert!(ids.len() <= MOST_TASKS);
                for item in &list.items {
                    let mut edges = item.blocked_by.iter().chain(&item.blocks);
                    assert!(edges.all(|id| ids.contains(id)), "{item:?}");
                    assert!(source.task(item.local).is_some(), "{item:?}");
                }
            }
        },
    }
}

/// The position in the message is where the parser found the fault.
fn places(text: &str) {
    let found = elements(text);
    let Ok(Value::Array(values)) = serde_json::from_str(text) else {
        return;
    };
    assert_eq!(found.len(), values.len());
    for (element, value) in found.iter().zip(&values) {
        let names: BTreeSet<&str> = element.fields.iter().map(|(name, _)| &**name).collect();
        let keys = value.as_object().into_iter().flat_map(|map| map.keys());
        assert_eq!(names, keys.map(String::as_str).collect());
        let (line, column) = place(text, element.at);
        assert!(line >= 1 && column >= 1 && element.at < text.len());
    }
}
