//! Reads a reviewer's output: a verdict where the schema has it, and the cost.

use std::collections::BTreeSet;
use std::fmt;

use mainspring_kernel::machines::review::Verdict;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::hosts::reviewer::{End, Said, report};

/// `None` if it is not a result object.
pub(crate) fn read(stdout: &[u8]) -> Option<Said> {
    let result = unambiguous(std::str::from_utf8(stdout).ok()?)?;
    let result = result.as_object()?;
    if result.get("type").is_some_and(|kind| kind != "result") {
        return None;
    }
    let answer = match (result.get("structured_output"), result.get("result")) {
        (Some(structured @ Value::Object(_)), _) => Some(structured.clone()),
        // The schema's field exists and holds something else.
        (Some(other), _) if !other.is_null() => None,
        (_, Some(object @ Value::Object(_))) => Some(object.clone()),
        (_, Some(Value::String(text))) => unambiguous(text),
        _ => None,
    };
    let dollars = result
        .get("total_cost_usd")
        .or_else(|| result.get("cost_usd"))
        .and_then(Value::as_f64);
    let failed = result.get("is_error").is_some_and(|flag| *flag != false)
        || result.get("subtype").is_some_and(|kind| kind != "success");
    let end = if failed { End::Error } else { End::Well };
    Some(Said {
        verdict: answer.as_ref().map_or(Verdict::Unsaid, verdict),
        report: answer.as_ref().and_then(report::read),
        cost: dollars.map_or(0, micros),
        end,
    })
}

/// Parses JSON without duplicate keys: with two verdicts, it would be chance which one a reader
/// takes.
pub(in crate::hosts) fn unambiguous(text: &str) -> Option<Value> {
    serde_json::from_str::<Once>(text).ok()?;
    serde_json::from_str(text).ok()
}

/// A value in which no object has a duplicate key.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without a key that is there twice")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<Once>()?;
            if !keys.insert(key) {
                return Err(A::Error::custom("a key is there twice"));
            }
        }
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Once, A::Error> {
        while list.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }
}

pub(in crate::hosts) fn verdict(value: &Value) -> Verdict {
    match value.get("verdict").and_then(Value::as_str) {
        Some("PASS") => Verdict::Pass,
        Some("FAIL") => Verdict::Fail,
        Some(_) | None => Verdict::Unsaid,
    }
}

/// A higher cost is an error of the program.
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
            json!({"structured_output": "PASS", "result": {"verdict": "PASS"}}),
            json!({"type": "assistant", "structured_output": {"verdict": "PASS"}}),
            json!({"result": "{\"verdict\":\"FAIL\",\"verdict\":\"PASS\"}"}),
            json!({"result": ["PASS"]}),
            json!([{"result": {"verdict": "PASS"}}]),
            json!("PASS"),
            json!({}),
        ] {
            assert_eq!(verdict_of(&hostile), Verdict::Unsaid, "{hostile}");
        }
        for none in [
            "PASS",
            "",
            r#"{"structured_output":{"verdict":"FAIL","verdict":"PASS"}}"#,
            r#"{"result":"x","structured_output":{"verdict":"PASS"},"result":"y"}"#,
            r#"{"structured_output":{"verdict":"PASS"}} {}"#,
        ] {
            assert_eq!(read(none.as_bytes()), None, "{none}");
        }
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

    #[test]
    fn the_program_says_itself_that_it_failed() {
        for (field, value, end) in [
            ("is_error", json!(false), End::Well),
            ("is_error", json!(true), End::Error),
            ("is_error", json!("true"), End::Error),
            ("subtype", json!("success"), End::Well),
            ("subtype", json!("error_max_turns"), End::Error),
        ] {
            let text = json!({"type": "result", "result": "x", field: value}).to_string();
            assert_eq!(read(text.as_bytes()).unwrap().end, end, "{text}");
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
