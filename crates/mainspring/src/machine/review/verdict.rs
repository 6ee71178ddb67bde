//! What the reviewer's program printed: a verdict in the schema's place, and the bill.

use mainspring_kernel::machines::review::Verdict;
use serde_json::Value;

/// The schema that the verdict is constrained to.
pub(crate) const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]}},"required":["verdict"]}"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) verdict: Verdict,
    /// In millionths of a dollar.
    pub(crate) cost: u64,
    pub(crate) end: End,
}

/// Does the program itself say that it failed?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Error,
}

/// `None` if it is not a result object.
pub(crate) fn read(stdout: &[u8]) -> Option<Said> {
    let result: Value = serde_json::from_slice(stdout).ok()?;
    let result = result.as_object()?;
    let verdict = match (result.get("structured_output"), result.get("result")) {
        (Some(structured @ Value::Object(_)), _) => verdict(structured),
        (_, Some(object @ Value::Object(_))) => verdict(object),
        (_, Some(Value::String(text))) => {
            serde_json::from_str(text).map_or(Verdict::Unsaid, |value| verdict(&value))
        }
        _ => Verdict::Unsaid,
    };
    let dollars = result
        .get("total_cost_usd")
        .or_else(|| result.get("cost_usd"))
        .and_then(Value::as_f64);
    let end = match result.get("is_error") {
        Some(Value::Bool(true)) => End::Error,
        _ => End::Well,
    };
    Some(Said {
        verdict,
        cost: dollars.map_or(0, micros),
        end,
    })
}

fn verdict(value: &Value) -> Verdict {
    match value.get("verdict").and_then(Value::as_str) {
        Some("PASS") => Verdict::Pass,
        Some("FAIL") => Verdict::Fail,
        Some(_) | None => Verdict::Unsaid,
    }
}

/// A program that claims more than this has made a mistake.
const MOST_DOLLARS: f64 = 1_000_000.0;

pub(crate) fn micros(dollars: f64) -> u64 {
    if !dollars.is_finite() || dollars <= 0.0 {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is positive and bounded"
    )]
    let micros = (dollars.min(MOST_DOLLARS) * 1_000_000.0).round() as u64;
    micros
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn verdict_of(result: &Value) -> Verdict {
        read(result.to_string().as_bytes()).map_or(Verdict::Unsaid, |said| said.verdict)
    }

    #[test]
    fn a_verdict_is_taken_from_three_places() {
        for (result, expected) in [
            (
                json!({"structured_output": {"verdict": "PASS"}, "result": "x"}),
                Verdict::Pass,
            ),
            (
                json!({"structured_output": {"verdict": "FAIL"}, "result": "{\"verdict\":\"PASS\"}"}),
                Verdict::Fail,
            ),
            (json!({"result": {"verdict": "PASS"}}), Verdict::Pass),
            (json!({"result": "{\"verdict\": \"FAIL\"}"}), Verdict::Fail),
            (
                json!({"structured_output": null, "result": "{\"verdict\":\"PASS\"}"}),
                Verdict::Pass,
            ),
        ] {
            assert_eq!(verdict_of(&result), expected, "{result}");
        }
    }

    #[test]
    fn nothing_else_is_a_verdict() {
        for hostile in [
            json!({"result": "PASS"}),
            json!({"result": "VERDICT: PASS"}),
            json!({"result": "```json\n{\"verdict\":\"PASS\"}\n```"}),
            json!({"result": "\"{\\\"verdict\\\":\\\"PASS\\\"}\""}),
            json!({"verdict": "PASS"}),
            json!({"structured_output": {"verdict": "pass"}}),
            json!({"structured_output": {"verdict": ["PASS"]}}),
            json!({"structured_output": {"other": 1}, "result": {"verdict": "PASS"}}),
            json!({"structured_output": "PASS"}),
            json!({"result": ["PASS"]}),
            json!([{"result": {"verdict": "PASS"}}]),
            json!("PASS"),
            json!({}),
        ] {
            assert_eq!(verdict_of(&hostile), Verdict::Unsaid, "{hostile}");
        }
        assert_eq!(read(b"PASS"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn the_bill_is_read_and_bounded() {
        for (cost, expected) in [
            (json!(0.1234), 123_400),
            (json!(-1.0), 0),
            (json!("0.5"), 0),
            (json!(1e300), 1_000_000_000_000),
        ] {
            let text = json!({"result": "x", "total_cost_usd": cost, "is_error": true}).to_string();
            let said = read(text.as_bytes()).unwrap();
            assert_eq!((said.cost, said.end), (expected, End::Error), "{cost}");
        }
    }

    proptest! {
        #[test]
        fn garbage_is_no_verdict(text in "\\PC{0,200}") {
            let said = read(text.as_bytes()).map_or(Verdict::Unsaid, |said| said.verdict);
            prop_assert_eq!(said, Verdict::Unsaid);
        }
    }
}
