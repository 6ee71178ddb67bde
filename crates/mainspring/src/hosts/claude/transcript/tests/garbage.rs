//! Any transcript can be read, and its valid lines are understood.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::script::{jsonl, prompt, says, tail, tail_of_bytes, tool_result, uses_tool};
use crate::transcript::{Run, repair};

/// A line of the agent's, as bytes that a test can damage.
fn line_with(text_in_json: &str) -> Vec<u8> {
    let line = says("m", "@").to_string().replace('@', text_in_json);
    [line.as_bytes(), b"\n"].concat()
}

#[test]
fn texts_that_strict_json_refuses() {
    let table: [(&str, &[u8], &str); 8] = [
        ("a high surrogate alone", br"a\ud800b", "a\u{fffd}b"),
        ("a low surrogate alone", br"a\uDC00b", "a\u{fffd}b"),
        (
            "two in the wrong order",
            br"\udc00\ud800",
            "\u{fffd}\u{fffd}",
        ),
        (
            "a pair, which is one character",
            br"\ud83c\udf89\ud83c",
            "\u{1f389}\u{fffd}",
        ),
        (
            "an escaped backslash before a u",
            br"\\ud800\ud800",
            "\\ud800\u{fffd}",
        ),
        (
            "control characters",
            b"a\x01\x1b[0m\x00b\tc",
            "a\u{1}\u{1b}[0m\u{0}b\tc",
        ),
        (
            "bytes that are not UTF-8",
            b"a\xff\xc3(b",
            "a\u{fffd}\u{fffd}(b",
        ),
        ("a character cut short", b"caf\xc3", "caf\u{fffd}"),
    ];
    for (why, raw, text) in table {
        let line = says("m", "@").to_string();
        let (before, after) = line.split_once('@').unwrap();
        let line = [before.as_bytes(), raw, after.as_bytes(), b"\n"].concat();
        assert_eq!(tail_of_bytes(&line).final_texts, [text], "{why}");
    }
}

#[test]
fn damage_around_a_line_is_passed_over() {
    let good = line_with("done");
    let table: [(&str, Vec<u8>); 9] = [
        ("a byte order mark", [b"\xef\xbb\xbf", &good[..]].concat()),
        (
            "zeros of a lost write before it",
            [&[0; 4096], &good[..]].concat(),
        ),
        (
            "a line of zeros behind it",
            [&good[..], &[0; 4096], b"\n"].concat(),
        ),
        (
            "blank lines behind it",
            [&good[..], b"\n\r\n \n\n"].concat(),
        ),
        ("CR LF", [good.trim_ascii_end(), b"\r\n"].concat()),
        ("no line feed at the end", good.trim_ascii_end().to_vec()),
        ("a torn line behind it", [&good[..], &good[..40]].concat()),
        (
            "lines that are not objects",
            [&good[..], b"null\n[]\n1e999\n\"x\"\n{}\n"].concat(),
        ),
        (
            "deep nesting",
            [&good[..], "[".repeat(10_000).as_bytes(), b"\n"].concat(),
        ),
    ];
    for (why, bytes) in table {
        assert_eq!(tail_of_bytes(&bytes).final_texts, ["done"], "{why}");
    }
}

#[test]
fn lines_of_an_unknown_shape_say_nothing() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let table = [
        (
            "a type twice",
            r#"{"type":"assistant","type":"user","message":{"content":"x"}}"#.to_owned(),
        ),
        (
            "a content twice",
            r#"{"type":"assistant","message":{"content":"x","content":"y"}}"#.to_owned(),
        ),
        (
            "a text that is a number",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":1}]}}"#.to_owned(),
        ),
        (
            "a content that is an object",
            r#"{"type":"assistant","message":{"content":{"type":"text","text":"x"}}}"#.to_owned(),
        ),
        (
            "a flag that is a text",
            r#"{"type":"assistant","isSidechain":"no","message":{"content":"x"}}"#.to_owned(),
        ),
        (
            "a message that is a text",
            r#"{"type":"assistant","message":"x"}"#.to_owned(),
        ),
        (
            "deep content",
            format!(r#"{{"type":"assistant","message":{{"content":{deep}}}}}"#),
        ),
    ];
    for (why, line) in table {
        let tail = tail_of_bytes(format!("{line}\n").as_bytes());
        assert_eq!(tail.final_texts, Vec::<String>::new(), "{why}");
    }
}

/// Unknown fields do not matter, however deep they are nested.
#[test]
fn unknown_fields_are_passed_over() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let line =
        says("m", "done")
            .to_string()
            .replacen('{', &format!(r#"{{"input":{deep},"n":1e400,"#), 1);
    assert_eq!(tail_of_bytes(line.as_bytes()).final_texts, ["done"]);
}

#[test]
fn a_line_longer_than_the_limit_hides_what_is_before_it() {
    let huge = prompt(&"x".repeat(2 << 20));
    let hidden = tail(&[says("m", "before"), huge.clone()]);
    assert_eq!(hidden.final_texts, Vec::<String>::new());
    assert_eq!(hidden.run, Run::AtLeast(0));
    assert_eq!(hidden.bytes_read, 1 << 20);
    assert_eq!(tail(&[huge, says("m", "after")]).final_texts, ["after"]);
}

/// The rest of such a line may look like a complete line.
#[test]
fn a_line_cut_by_the_limit_is_not_read() {
    let line = jsonl(&[says("m", &"x".repeat(1 << 20))]);
    let excess = line.len() - (1 << 20);
    let exact = jsonl(&[says("m", &"x".repeat((1 << 20) - excess))]);
    assert_eq!(exact.len(), 1 << 20);
    assert_eq!(tail_of_bytes(&exact).final_texts.len(), 1);
    let cut = [b"?", &exact[..]].concat();
    assert_eq!(tail_of_bytes(&cut).final_texts, Vec::<String>::new());
}

#[test]
fn a_long_line_within_the_limit_is_read() {
    let long = "x".repeat(1_000_000);
    assert_eq!(
        tail(&[prompt("do it"), says("m", &long)]).final_texts,
        [long]
    );
}

#[test]
fn an_error_is_recent_for_forty_lines() {
    let errors = |lines_behind: usize| {
        let mut lines = vec![prompt("do it"), uses_tool("m"), tool_result("no", true)];
        lines.extend((0..lines_behind).map(|_| json!({"type": "mode"})));
        tail(&lines).recent_error
    };
    assert!(errors(0));
    assert!(errors(39));
    assert!(!errors(40));
    let mended = [
        prompt("do it"),
        uses_tool("a"),
        tool_result("no", true),
        uses_tool("b"),
        tool_result("yes", false),
        says("c", "done"),
    ];
    assert!(tail(&mended).recent_error, "also before the last tool use");
    let shown: Vec<Value> = vec![
        says("m", r#""is_error": true"#),
        tool_result(r#""is_error": true"#, false),
    ];
    assert!(!tail(&shown).recent_error, "a text about an error is none");
}

#[test]
fn a_transcript_cut_anywhere_is_read() {
    let bytes = jsonl(&[
        prompt("do it"),
        says("a", "caf\u{e9} one"),
        tool_result("r", true),
        says("b", "two \u{1f389}"),
    ]);
    for end in 0..bytes.len() {
        let texts = tail_of_bytes(&bytes[..end]).final_texts;
        let whole = |text: &str| texts == [text.to_owned()];
        assert!(
            texts.is_empty() || whole("caf\u{e9} one") || whole("two \u{1f389}"),
            "cut at {end}: {texts:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_say_nothing(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        prop_assert_eq!(tail_of_bytes(&bytes).final_texts, Vec::<String>::new());
    }

    #[test]
    fn flipped_bytes_are_survived(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = jsonl(&[prompt("do it"), says("m", "done"), tool_result("r", false)]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        prop_assert!(tail_of_bytes(&bytes).final_texts.len() <= 1);
    }

    #[test]
    fn repair_decodes_any_utf16(units in prop::collection::vec(prop_oneof![any::<u16>(), 0xd7f0..0xe010_u16], 0..40)) {
        let escaped: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let json = format!("\"{}\"", escaped.concat());
        let text: String = serde_json::from_str(&repair(json.as_bytes())).unwrap();
        prop_assert_eq!(text, String::from_utf16_lossy(&units));
    }

    #[test]
    fn repair_leaves_good_json_alone(text in any::<String>(), key in any::<String>()) {
        let json = json!({key: [text, 1.5, null]});
        prop_assert_eq!(serde_json::from_str::<Value>(&repair(json.to_string().as_bytes())).unwrap(), json);
    }
}
