use mainspring_kernel::Millis;
use mainspring_kernel::machines::review::cycle::CycleKey;
use mainspring_kernel::machines::review::findings::{Entry, EntryState};
use mainspring_kernel::machines::review::{Kind, OpenLedger, Progress};
use serde_json::{Value, json};

use super::*;

fn read_printed(printed: &[u8]) -> Option<Said> {
    (crate::hosts::reviewer::DEFAULT.read)(printed)
}

/// A second review, with two findings open.
fn asked() -> Request {
    let entry = |id: &str| Entry {
        id: id.into(),
        key: CycleKey {
            review: Kind::Plan,
            task: None,
        },
        severity: Severity::Major,
        place: None,
        claim: "it is wrong".into(),
        print: digest::of(&[id.as_bytes()]),
        state: EntryState::Open,
        answer: None,
        unfixed: 0,
        disputed: 0,
    };
    Request {
        plan: "demo".into(),
        review: Kind::Plan,
        task: None,
        iteration: 2,
        model: "opus".into(),
        progress: Progress::default(),
        tasks: Vec::new(),
        ledger: Some(OpenLedger {
            open: vec![entry("F1"), entry("F2")],
            dismissed: Vec::new(),
            next: 3,
        }),
        not_before: Millis(0),
        resumes: Vec::new(),
    }
}

/// What a client prints for this answer.
fn printed(answer: &Value) -> String {
    json!({"type": "result", "subtype": "success", "structured_output": answer}).to_string()
}

fn judged(printed: &str) -> Verdict {
    read_printed(printed.as_bytes()).map_or(Verdict::Unsaid, |said| judge(&said, &asked()))
}

fn clean() -> Value {
    json!({"verdict": "PASS", "findings": [],
        "earlier": [{"id": "F1", "status": "fixed"}, {"id": "F2", "status": "withdrawn"}]})
}

fn failing() -> Value {
    json!({"verdict": "FAIL", "findings": [{"id": "F3", "severity": "minor", "path": "a.rs",
        "line": 7, "claim": "It leaks.", "evidence": "See line 7."}],
        "earlier": [{"id": "F1", "status": "not_fixed"}, {"id": "F2", "status": "fixed"}]})
}

#[test]
fn a_complete_answer_has_its_verdict_and_its_findings() {
    assert_eq!(judged(&printed(&clean())), Verdict::Pass);
    assert_eq!(judged(&printed(&failing())), Verdict::Fail);
    let said = read_printed(printed(&failing()).as_bytes()).unwrap();
    let report = said.report.unwrap();
    assert_eq!(report.findings[0].place.as_deref(), Some("a.rs:7"));
    assert_eq!(report.earlier[0], ("F1".into(), Status::NotFixed));
    let text = prose(&report, &asked(), Verdict::Fail);
    assert!(
        text.contains("## F3 (minor, a.rs:7)\n\nIt leaks."),
        "{text}"
    );
    assert!(text.contains("- F1: not_fixed"), "{text}");
}

#[test]
fn the_same_claim_in_other_words_of_punctuation_is_the_same_finding() {
    let print = |path: &str, claim: &str| {
        let value = json!({"id": "x", "severity": "minor", "path": path, "claim": claim,
            "evidence": ""});
        finding(&value).unwrap().print
    };
    assert_eq!(print("a.rs", "It leaks!"), print("a.rs", "it  leaks"));
    assert_ne!(print("a.rs", "It leaks!"), print("b.rs", "It leaks!"));
    assert_ne!(print("a.rs", "It leaks!"), print("a.rs", "It hangs!"));
}

/// Every place of a value, as a list of steps.
fn places(value: &Value, at: &[String], found: &mut Vec<Vec<String>>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (step, child) in children {
        let mut path = at.to_vec();
        path.push(step);
        found.push(path.clone());
        places(child, &path, found);
    }
}

fn parent<'a>(root: &'a mut Value, path: &[String]) -> &'a mut Value {
    path[..path.len() - 1]
        .iter()
        .fold(root, |value, step| match value {
            Value::Array(list) => &mut list[step.parse::<usize>().unwrap()],
            other => &mut other[step.as_str()],
        })
}

fn removed(mut root: Value, path: &[String]) -> Value {
    let last = path.last().unwrap();
    match parent(&mut root, path) {
        Value::Array(list) => {
            list.remove(last.parse().unwrap());
        }
        Value::Object(map) => {
            map.remove(last);
        }
        _ => {}
    }
    root
}

fn replaced(mut root: Value, path: &[String], with: &Value) -> Value {
    let last = path.last().unwrap();
    match parent(&mut root, path) {
        Value::Array(list) => list[last.parse::<usize>().unwrap()] = with.clone(),
        Value::Object(map) => {
            map.insert(last.clone(), with.clone());
        }
        _ => {}
    }
    root
}

/// A clean answer that is cut, has a part removed, a part of another type, a key twice, or says
/// two things at once.
fn broken() -> Vec<String> {
    let whole = printed(&clean());
    let mut all: Vec<String> = (0..whole.len())
        .map(|end| whole[..end].to_owned())
        .collect();
    let mut found = Vec::new();
    places(&clean(), &[], &mut found);
    let others = [
        json!(null),
        json!(1),
        json!(true),
        json!("pass"),
        json!([]),
        json!({}),
        json!(["PASS"]),
        json!({"verdict": "PASS"}),
        json!("not_fixed"),
        json!("FAIL"),
    ];
    for path in &found {
        all.push(printed(&removed(clean(), path)));
        for other in &others {
            // An empty list is what a clean answer has there.
            if path == &["findings"] && *other == json!([]) {
                continue;
            }
            all.push(printed(&replaced(clean(), path, other)));
        }
    }
    for key in ["verdict", "findings", "earlier", "id", "status", "type"] {
        let twice = format!("\"{key}\":\"x\",\"{key}\":");
        all.push(whole.replacen(&format!("\"{key}\":"), &twice, 1));
    }
    for noise in ["x", "{", "]", "\u{0}", "PASS", ",", "{}"] {
        all.push(format!("{noise}{whole}"));
        all.push(format!("{whole}{noise}"));
        all.push(format!("{noise}{whole}{noise}"));
    }
    let mut contradicts = clean();
    contradicts["findings"] = failing()["findings"].clone();
    all.push(printed(&contradicts));
    let mut unfixed = clean();
    unfixed["earlier"] = failing()["earlier"].clone();
    all.push(printed(&unfixed));
    all.push(json!({"type": "result", "result": "PASS"}).to_string());
    all.push(json!({"type": "result", "result": {"verdict": "PASS"}}).to_string());
    for byte in [b'#', b'"', b'}'] {
        for at in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[at] = byte;
            all.push(String::from_utf8(bytes).unwrap());
        }
    }
    all
}

#[test]
fn of_five_hundred_broken_outputs_none_is_clean() {
    let broken = broken();
    assert!(broken.len() >= 500, "{}", broken.len());
    for output in broken {
        // What only changes a name that nobody reads is whole all the same.
        let ignored = serde_json::from_str::<Value>(&output)
            .is_ok_and(|value| value["structured_output"] == clean());
        if !ignored {
            assert_ne!(judged(&output), Verdict::Pass, "{output}");
        }
    }
}
