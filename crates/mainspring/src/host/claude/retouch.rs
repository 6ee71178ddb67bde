//! A JSON text with some of its values changed, and everything else as it was written.
//!
//! A person's settings file has lists in one line, blank lines, an order, an indentation. What
//! we do not change keeps its very text; what we add looks like the lines around it. The
//! text has been read as JSON before, so the scanner below only has to find where things end.

use serde_json::{Map, Value};

/// What a line may hold.
const WIDTH: usize = 110;

/// A file that was not there before.
pub(super) fn fresh(root: &Map<String, Value>) -> Option<String> {
    let style = Style::of("");
    let members = root.iter().map(|(key, value)| {
        let name = serde_json::to_string(key).ok()?;
        Some(format!("  {name}: {}", style.fresh(value, 1)?))
    });
    let members = members.collect::<Option<Vec<_>>>()?;
    Some(format!("{{\n{}\n}}\n", members.join(",\n")))
}

/// The text with this root; `None` where it cannot be done faithfully.
pub(super) fn retouch(text: &str, root: &Map<String, Value>) -> Option<String> {
    let body = text.trim();
    let start = text.len() - text.trim_start().len();
    let style = Style::of(text);
    let mut out = text[..start].to_owned();
    let wanted = Value::Object(root.clone());
    style.value(&mut out, Some(body), &wanted, 0)?;
    out.push_str(&text[start + body.len()..]);
    let same = serde_json::from_str::<Value>(&out).is_ok_and(|made| made == wanted);
    same.then_some(out)
}

/// How lines are written here.
struct Style<'a> {
    indent: &'a str,
    newline: &'static str,
}

/// A member of an object or an element of a list, as it is written.
struct Entry<'a> {
    /// The white space before it.
    before: &'a str,
    /// A member's name with all up to its value; empty in a list.
    key: &'a str,
    value: &'a str,
}

/// What is between a pair of brackets.
struct Inside<'a> {
    entries: Vec<Entry<'a>>,
    /// The white space before the closing one.
    tail: &'a str,
}

impl<'a> Style<'a> {
    fn of(text: &'a str) -> Self {
        let indented = text.lines().find(|line| line.starts_with([' ', '\t']));
        Self {
            indent: indented.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    fn line(&self, depth: usize) -> String {
        self.newline.to_owned() + &self.indent.repeat(depth)
    }

    /// A value that was not there before: in one line where it fits.
    fn fresh(&self, value: &Value, depth: usize) -> Option<String> {
        let line = in_one_line(value)?;
        let room = WIDTH.saturating_sub(depth * self.indent.len().max(2));
        let (open, pieces, close) = match value {
            Value::Object(members) if line.len() > room && !members.is_empty() => {
                let pieces = members.iter().map(|(key, value)| {
                    let name = serde_json::to_string(key).ok()?;
                    Some(format!("{name}: {}", self.fresh(value, depth + 1)?))
                });
                ("{", pieces.collect::<Option<Vec<_>>>()?, "}")
            }
            Value::Array(items) if line.len() > room && !items.is_empty() => {
                let pieces = items.iter().map(|item| self.fresh(item, depth + 1));
                ("[", pieces.collect::<Option<Vec<_>>>()?, "]")
            }
            _ => return Some(line),
        };
        let inner = self.line(depth + 1);
        let body = pieces.join(&format!(",{inner}"));
        Some(format!("{open}{inner}{body}{}{close}", self.line(depth)))
    }

    fn value(&self, out: &mut String, old: Option<&str>, new: &Value, depth: usize) -> Option<()> {
        if let Some(old) = old.filter(|old| is(old, new)) {
            out.push_str(old);
            return Some(());
        }
        let old = old.and_then(inside).filter(|old| !old.entries.is_empty());
        match (old, new) {
            (Some(old), Value::Object(new)) if !new.is_empty() && old.is_object() => {
                self.object(out, &old, new, depth)
            }
            (Some(old), Value::Array(new)) if !new.is_empty() && !old.is_object() => {
                self.list(out, &old, new, depth)
            }
            _ => {
                out.push_str(&self.fresh(new, depth)?);
                Some(())
            }
        }
    }

    fn object(
        &self,
        out: &mut String,
        old: &Inside<'_>,
        new: &Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let mut pieces = Vec::new();
        for (key, value) in new {
            // Of two members with one name the last one counts.
            let found = old.entries.iter().rev().find(|entry| entry.is_named(key));
            let name = serde_json::to_string(key).ok()?;
            pieces.push(self.piece(found, &format!("{name}: "), value, depth)?);
        }
        self.join(out, ["{", "}"], old, pieces, depth);
        Some(())
    }

    fn list(&self, out: &mut String, old: &Inside<'_>, new: &[Value], depth: usize) -> Option<()> {
        let mut left = old.entries.as_slice();
        let mut pieces = Vec::new();
        for (at, value) in new.iter().enumerate() {
            let same = left.iter().position(|entry| is(entry.value, value));
            let found = match (same, left.first()) {
                (Some(place), _) => {
                    let found = &left[place];
                    left = &left[place + 1..];
                    Some(found)
                }
                // The next one was changed, unless it comes later as it was.
                (None, Some(next)) if !new[at..].iter().any(|value| is(next.value, value)) => {
                    left = &left[1..];
                    Some(next)
                }
                (None, _) => None,
            };
            pieces.push(self.piece(found, "", value, depth)?);
        }
        self.join(out, ["[", "]"], old, pieces, depth);
        Some(())
    }

    /// One entry: the white space that it had, if it was there, and its text.
    fn piece<'e>(
        &self,
        found: Option<&Entry<'e>>,
        key: &str,
        value: &Value,
        depth: usize,
    ) -> Option<(Option<&'e str>, String)> {
        let mut text = found.map_or(key, |entry| entry.key).to_owned();
        self.value(&mut text, found.map(|entry| entry.value), value, depth + 1)?;
        Some((found.map(|entry| entry.before), text))
    }

    /// What is new in one line stays in one line if it has room there.
    fn join(
        &self,
        out: &mut String,
        [open, close]: [&str; 2],
        old: &Inside<'_>,
        pieces: Vec<(Option<&str>, String)>,
        depth: usize,
    ) {
        let flat = old.is_flat();
        let tall =
            |(before, text): &(Option<&str>, String)| before.is_none() && text.contains('\n');
        let grown = flat && pieces.iter().any(tall);
        out.push_str(open);
        for (at, (before, text)) in pieces.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match before {
                Some(before) => out.push_str(before),
                None if flat && !grown => out.push_str(if at > 0 { " " } else { "" }),
                None => out.push_str(&self.line(depth + 1)),
            }
            out.push_str(&text);
        }
        if grown {
            out.push_str(&self.line(depth));
        } else {
            out.push_str(old.tail);
        }
        out.push_str(close);
    }
}

impl Entry<'_> {
    fn is_named(&self, name: &str) -> bool {
        let key = self.key.trim_end().trim_end_matches(':').trim_end();
        serde_json::from_str::<String>(key).is_ok_and(|key| key == name)
    }
}

impl Inside<'_> {
    fn is_object(&self) -> bool {
        self.entries.iter().all(|entry| !entry.key.is_empty())
    }

    fn is_flat(&self) -> bool {
        let spaces = self.entries.iter().map(|entry| entry.before);
        !spaces.chain([self.tail]).any(|space| space.contains('\n'))
    }
}

/// `{"a": [1, 2]}`
fn in_one_line(value: &Value) -> Option<String> {
    let each = |items: Vec<Option<String>>| items.into_iter().collect::<Option<Vec<_>>>();
    Some(match value {
        Value::Array(items) => {
            let items = items.iter().map(in_one_line).collect();
            format!("[{}]", each(items)?.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| {
                let name = serde_json::to_string(key).ok()?;
                Some(format!("{name}: {}", in_one_line(value)?))
            });
            format!("{{{}}}", each(members.collect())?.join(", "))
        }
        scalar => serde_json::to_string(scalar).ok()?,
    })
}

fn is(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|read| read == *value)
}

/// The entries of an object or a list.
fn inside(text: &str) -> Option<Inside<'_>> {
    let object = text.starts_with('{');
    if !object && !text.starts_with('[') {
        return None;
    }
    let mut entries = Vec::new();
    let mut at = 1;
    loop {
        let start = skip_space(text, at);
        if start + 1 == text.len() {
            let tail = &text[at..start];
            return Some(Inside { entries, tail });
        }
        let value = if object {
            let colon = skip_space(text, skip_value(text, start)?);
            skip_space(text, colon + 1)
        } else {
            start
        };
        let end = skip_value(text, value)?;
        entries.push(Entry {
            before: text.get(at..start)?,
            key: text.get(start..value)?,
            value: text.get(value..end)?,
        });
        let next = skip_space(text, end);
        if *text.as_bytes().get(next)? != b',' {
            let tail = text.get(end..next)?;
            return Some(Inside { entries, tail });
        }
        at = next + 1;
    }
}

fn skip_space(text: &str, at: usize) -> usize {
    let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| space(byte)).count()
}

/// Where the value that begins here ends.
fn skip_value(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = skip_string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ => at += 1,
        }
        let ends = bytes.get(at).is_none_or(|byte| {
            matches!(byte, b',' | b':' | b'}' | b']') || byte.is_ascii_whitespace()
        });
        let whole = matches!(bytes[at - 1], b'"' | b'}' | b']') || ends;
        if depth == 0 && whole {
            return Some(at);
        }
    }
}

fn skip_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn made(text: &str, change: impl FnOnce(&mut Value)) -> String {
        let mut root: Value = serde_json::from_str(text).unwrap();
        change(&mut root);
        retouch(text, root.as_object().unwrap()).unwrap()
    }

    #[test]
    fn what_is_not_changed_keeps_its_text() {
        let text = "{\n  \"list\": [1, 2,   3],\n\n  \"env\" : {\"A\": \"1\"},\n  \"deep\": {\n    \"x\": [ {\"y\": 1e2} ]\n  }\n}\n";
        assert_eq!(made(text, |_| {}), text);
        let more = made(text, |root| {
            root["env"]["B"] = "2".into();
            root["new"] = json!({"a": [1]});
        });
        assert_eq!(
            more,
            "{\n  \"list\": [1, 2,   3],\n\n  \"env\" : {\"A\": \"1\", \"B\": \"2\"},\n  \"deep\": {\n    \"x\": [ {\"y\": 1e2} ]\n  },\n  \"new\": {\"a\": [1]}\n}\n"
        );
        let less = made(&more, |root| {
            let root = root.as_object_mut().unwrap();
            root.shift_remove("new");
            root["env"].as_object_mut().unwrap().shift_remove("B");
        });
        assert_eq!(less, text);
    }

    #[test]
    fn a_list_in_one_line_grows_by_lines_only_for_what_is_tall() {
        let text = "{\n\t\"Stop\": [{\"say\": 1}]\n}";
        let long = "x".repeat(WIDTH);
        assert_eq!(
            made(text, |root| root["Stop"]
                .as_array_mut()
                .unwrap()
                .push(json!({"a": long, "b": [1]}))),
            format!(
                "{{\n\t\"Stop\": [{{\"say\": 1}},\n\t\t{{\n\t\t\t\"a\": \"{long}\",\n\t\t\t\"b\": [1]\n\t\t}}\n\t]\n}}"
            )
        );
        assert_eq!(
            made(text, |root| root["Stop"]
                .as_array_mut()
                .unwrap()
                .push(json!(2))),
            "{\n\t\"Stop\": [{\"say\": 1}, 2]\n}"
        );
    }

    #[test]
    fn a_changed_element_is_changed_inside_and_line_ends_stay_what_they_are() {
        let text = "{\r\n  \"a\": [\r\n    { \"k\": [1, 2], \"l\": 3 },\r\n    4\r\n  ]\r\n}\r\n";
        let less = made(text, |root| {
            root["a"][0].as_object_mut().unwrap().shift_remove("l");
            root["b"] = json!([]);
        });
        assert_eq!(
            less,
            "{\r\n  \"a\": [\r\n    { \"k\": [1, 2] },\r\n    4\r\n  ],\r\n  \"b\": []\r\n}\r\n"
        );
    }

    #[test]
    fn names_and_brackets_in_strings_are_no_structure() {
        let text = r#"{"a": "}],\"{", "b\"": ["]", "\\"], "": {}}"#;
        assert_eq!(
            made(text, |root| root["c"] = json!(null)),
            r#"{"a": "}],\"{", "b\"": ["]", "\\"], "": {}, "c": null}"#
        );
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c\"\\\\{}\\[\\],:é\n]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c\"]{0,2}", inner), 0..4)
                    .prop_map(|members| { Value::Object(members.into_iter().collect()) }),
            ]
        })
    }

    fn object() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::vec(("[a-d]", json()), 0..5)
            .prop_map(|members| members.into_iter().collect())
    }

    proptest! {
        /// Whatever stands there and whatever is wanted, in one line or in many.
        #[test]
        fn it_says_what_is_wanted(old in object(), new in object(), tall in any::<bool>()) {
            let text = if tall {
                serde_json::to_string_pretty(&old).unwrap()
            } else {
                serde_json::to_string(&old).unwrap()
            };
            let made = retouch(&text, &new);
            prop_assert!(made.is_some(), "{} to {:?}", text, new);
            prop_assert_eq!(retouch(&text, &old), Some(text));
        }
    }
}
