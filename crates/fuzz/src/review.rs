//! A plan's `state.json`, and the output of a reviewer.

use mainspring_kernel::machines::review::{Lack, Verdict};
use serde_json::Value;

use crate::json;
use mainspring::formats::{plan, verdict};

const OURS: [&str; 8] = [
    "max_reviews",
    "current_task",
    "phase",
    "phase_iteration",
    "next_phase",
    "review_model",
    "consecutive_clean",
    "tdd",
];

/// A state that is read and written again is the same, with unknown fields. A refusal is reported.
/// Only output in the schema is a verdict.
pub(crate) fn run(bytes: &[u8]) {
    match plan::read(Some(bytes)) {
        (Err(Lack::Missing), _) => panic!("a file that is there is missing"),
        (Err(Lack::Unreadable(problem)), warnings) => {
            assert!(problem.contains("state.json"), "{problem}");
            assert_eq!(warnings, [problem], "a refusal is heard once");
        }
        (Ok(fields), _) => {
            let written = plan::write(Some(bytes), &fields);
            let again = plan::read(Some(written.as_bytes()));
            assert_eq!(again.0, Ok(fields.clone()));
            assert_eq!(plan::write(Some(written.as_bytes()), &fields), written);
            if let Ok(text) = std::str::from_utf8(bytes) {
                json::strangers_stay(text, &written, &OURS);
            }
        }
    }
    let Some(said) = verdict::read(bytes) else {
        return;
    };
    if said.verdict == Verdict::Unsaid {
        return;
    }
    let result: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let nested = result["result"].as_str().unwrap_or("");
    let places = [
        result["structured_output"].clone(),
        result["result"].clone(),
        serde_json::from_str(nested).unwrap_or_default(),
    ];
    let word = match said.verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Unsaid => "",
    };
    assert!(places.iter().any(|place| place["verdict"] == word));
}
