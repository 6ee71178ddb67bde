//! Hundreds of reviewer outputs that are no verdict, each through the whole hook: none passes
//! the plan. And the formats that do count.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::verdict_outputs::{
    Output, almost, broken, failed, misplaced, other_events, prose, text, valid,
};
use crate::env::payload;
use crate::taskie::{Taskie, write};

/// The output with findings beside its verdict, so that nothing but the verdict's place and form
/// is in question.
fn complete(output: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(output) else {
        return output.to_vec();
    };
    let plain = r#""verdict":"PASS""#;
    let more = r#","findings":[],"earlier":[]"#;
    let escaped = |text: &str| text.replace('"', r#"\""#);
    let spaced = r#""verdict": "PASS""#;
    text.replace(plain, &format!("{plain}{more}"))
        .replace(spaced, &format!("{spaced}{more}"))
        .replace(&escaped(plain), &escaped(&format!("{plain}{more}")))
        .into_bytes()
}

/// One project, and a reviewer that prints a file.
struct Reviewed(Taskie);

impl Reviewed {
    fn new() -> Self {
        let taskie = Taskie::with_state(json!({}));
        let _ = taskie.run(&["trust", "--yes"], b"").ok();
        let said = taskie.env.root().join("said");
        let exit = taskie.env.root().join("exit");
        let script = format!(
            "#!/bin/sh\necho '# Review' > .taskie/plans/demo/plan-review-1.md\ncat {}\nexit $(cat {})\n",
            said.display(),
            exit.display()
        );
        write(&taskie.env.root().join("bin/claude"), &script);
        Self(taskie)
    }

    /// The number of clean reviews in a row after one more review, and the plan's next phase.
    fn after(&self, clean: u32, output: &Output, number: usize) -> (Value, Value) {
        let Self(taskie) = self;
        for file in ["plan-review-1.md", ".review-1.partial"] {
            let _ = fs::remove_file(taskie.dir().join(file));
        }
        // A fresh cycle: after three failures a review waits for a person.
        taskie.state(json!({"next_phase": "plan-review", "consecutive_clean": clean}));
        let _ = taskie.run(&["plan", "review", "restart", "plan"], b"").ok();
        fs::write(taskie.env.root().join("said"), complete(&output.bytes)).unwrap();
        fs::write(taskie.env.root().join("exit"), output.exit.to_string()).unwrap();
        let words = json!({"last_assistant_message": format!("stop {number}")});
        let event = payload(&taskie.env.project(), "Stop", words);
        let ran = taskie.run(&["hook"], event.to_string().as_bytes());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let state = taskie.state_now();
        (
            state["consecutive_clean"].clone(),
            state["next_phase"].clone(),
        )
    }
}

/// Runs each output through a hook, in several projects at once.
fn each(outputs: &[Output], check: impl Fn(&Reviewed, &Output, usize) + Sync) {
    std::thread::scope(|scope| {
        for part in outputs.chunks(outputs.len().div_ceil(4)) {
            scope.spawn(|| {
                let reviewed = Reviewed::new();
                for (number, output) in part.iter().enumerate() {
                    check(&reviewed, output, number);
                }
            });
        }
    });
}

fn shown(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.bytes);
    let start: String = text.chars().take(200).collect();
    format!("{start:?}, exit {}", output.exit)
}

#[test]
fn nothing_but_a_verdict_in_its_place_is_one() {
    let mut outputs: Vec<Output> = almost().chain(prose()).collect();
    outputs.extend(misplaced());
    outputs.extend(other_events());
    outputs.extend(broken());
    let outputs: Vec<Output> = outputs
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    assert!(outputs.len() >= 200, "{}", outputs.len());
    // A review without a verdict is not clean, so the count starts again.
    each(&outputs, |reviewed, output, number| {
        let after = reviewed.after(1, output, number);
        assert_eq!(
            after,
            (json!(0), json!("post-plan-review")),
            "{}",
            shown(output)
        );
    });
    eprintln!(
        "{} hostile outputs of a reviewer: none is a verdict",
        outputs.len()
    );
}

#[test]
fn a_reviewer_that_failed_has_said_nothing() {
    let outputs = failed();
    each(&outputs, |reviewed, output, number| {
        let after = reviewed.after(1, output, number);
        assert_eq!(after, (json!(0), json!("plan-review")), "{}", shown(output));
    });
    eprintln!(
        "{} verdicts of a reviewer that failed: none counts",
        outputs.len()
    );
}

#[test]
fn every_shape_of_a_real_verdict_counts() {
    let said = json!({"verdict": "PASS"});
    let mut outputs: Vec<String> = [
        valid(),
        json!({"structured_output": said}),
        json!({"result": said}),
        json!({"result": said.to_string()}),
        json!({"result": format!(" \n{said}\t\n")}),
        json!({"structured_output": null, "result": said}),
        json!({"structured_output": null, "result": said.to_string()}),
        json!({"structured_output": said, "result": "{\"verdict\":\"FAIL\"}"}),
        json!({"structured_output": said, "result": {"verdict": "FAIL"}}),
        json!({"structured_output": said, "result": "I found a problem: FAIL"}),
        json!({"structured_output": {"verdict": "PASS", "why": "FAIL is too hard"}}),
        json!({"structured_output": {"why": {"verdict": "FAIL"}, "verdict": "PASS"}}),
        json!({"type": "result", "structured_output": said, "is_error": false}),
        json!({"type": "result", "subtype": "success", "structured_output": said}),
        json!({"structured_output": said, "total_cost_usd": -1, "usage": null}),
        json!({"structured_output": said, "total_cost_usd": "a lot"}),
        json!({"structured_output": said, "result": "\u{202e}\u{1b}[0m\u{0}"}),
        json!({"structured_output": said, "errors": [], "permission_denials": [{"tool": "x"}]}),
        json!({"structured_output": said, "result": "x".repeat(1_000_000)}),
    ]
    .map(|output| output.to_string())
    .into();
    outputs.push(format!("{}\n", valid()));
    outputs.push(format!("\r\n\t {} \r\n\r\n", valid()));
    outputs.push(format!("{:#}", valid()));
    outputs.push(
        r#"{"structured_output":{"findings":[],"earlier":[],"\u0076erdict":"\u0050ASS"}}"#.into(),
    );
    outputs.push(r#"{"n":12345678901234567890123,"structured_output":{"verdict":"PASS"}}"#.into());
    let outputs: Vec<Output> = outputs.into_iter().map(text).collect();
    assert!(outputs.len() >= 20);
    each(&outputs, |reviewed, output, number| {
        let after = reviewed.after(0, output, number);
        assert_eq!(
            after,
            (json!(1), json!("post-plan-review")),
            "{}",
            shown(output)
        );
    });
}
