//! An object with some known fields, which keeps all others.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::{Line, text};

/// The fields of an object in order, each with the text of its value. Fields that nobody asks for
/// are neither parsed nor changed. If a name occurs twice, the last one counts.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<(Name<'a>, Cow<'a, str>)>);

/// A known field, with the JSON of its value.
pub type Row = (&'static str, String);

/// A known field with this value.
pub fn row<T: Serialize + ?Sized>(name: &'static str, value: &T) -> Row {
    (name, text(value).unwrap_or_else(|_| "null".into()))
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Fields<'a> {
    /// An error has the category `Data` if the text may be JSON but is not an object.
    pub fn read(text: &'a str) -> serde_json::Result<Self> {
        let mut reader = Deserializer::from_str(text);
        let fields = reader.deserialize_map(Reader)?;
        reader.end()?;
        Ok(fields)
    }

    /// The same from a file's bytes.
    pub fn of(bytes: &'a [u8]) -> serde_json::Result<Self> {
        match str::from_utf8(bytes) {
            Ok(text) => Self::read(text),
            Err(_) => Err(serde_json::Error::custom("it is not UTF-8 text")),
        }
    }

    /// The text of a value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.at(name).map(|at| &*self.0[at].1)
    }

    /// The text of a value that is there, and is not `null`.
    pub fn known(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| *value != "null")
    }

    /// A value that must be a string if it is present; the error says so.
    pub fn word(&self, name: &str) -> Result<Option<String>, String> {
        let value = self.known(name).map(serde_json::from_str);
        value
            .transpose()
            .map_err(|_| format!("{name} is not a string"))
    }

    /// A value that must be a whole number if it is present; the error says so.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, String> {
        let value = self.known(name).map(str::parse);
        value
            .transpose()
            .map_err(|_| format!("{name} is not a whole number"))
    }

    /// A value if it is a string; `None` if it is anything else.
    pub fn string(&self, name: &str) -> serde_json::Result<Option<String>> {
        let value = self.get(name).filter(|value| value.starts_with('"'));
        value.map(serde_json::from_str).transpose()
    }

    /// Sets a field in its present position, or as the last one.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) {
        let (name, value) = row(name, value);
        self.set_text(name, Cow::Owned(value));
    }

    /// The same with a value that is already JSON.
    pub fn set_text(&mut self, name: &'static str, value: Cow<'a, str>) {
        match self.at(name) {
            Some(at) => self.0[at].1 = value,
            None => self.0.push((Name(Cow::Borrowed(name)), value)),
        }
    }

    /// Sets the fields of `now` that differ from `was`: a field that did not change keeps its text.
    pub fn update(&mut self, was: &[Row], now: Vec<Row>) {
        for row in now {
            if !was.contains(&row) {
                self.set_text(row.0, Cow::Owned(row.1));
            }
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|field| field.0.0 != name);
    }

    /// The whole object with a line for each field, for people, indented this deep.
    pub fn lines(&self, depth: usize) -> String {
        if self.0.is_empty() {
            return "{}".into();
        }
        let end = format!("\n{:1$}", "", depth * 2);
        let mut line = Line::default();
        for (index, (name, value)) in self.0.iter().enumerate() {
            line.0.push(if index == 0 { b'{' } else { b',' });
            line.0.extend_from_slice(end.as_bytes());
            line.0.extend_from_slice(b"  ");
            // Writing to memory cannot fail.
            let _ = line.string(&name.0);
            line.0.extend_from_slice(b": ");
            line.0.extend_from_slice(value.as_bytes());
        }
        line.0.extend_from_slice(end.as_bytes());
        line.0.push(b'}');
        String::from_utf8(line.0).unwrap_or_default()
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.0.iter().rposition(|field| field.0.0 == name)
    }
}

/// The whole object, as text.
impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Line::default();
        for (index, (name, value)) in self.0.iter().enumerate() {
            line.0.push(if index == 0 { b'{' } else { b',' });
            line.string(&name.0).map_err(|_| fmt::Error)?;
            line.0.push(b':');
            line.0.extend_from_slice(value.as_bytes());
        }
        if self.0.is_empty() {
            line.0.push(b'{');
        }
        line.0.push(b'}');
        f.write_str(str::from_utf8(&line.0).map_err(|_| fmt::Error)?)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
            fields.push((name, Cow::Borrowed(value.get())));
        }
        Ok(Fields(fields))
    }
}

/// A list with a line for each value, for people, indented this deep.
pub fn list_lines(values: &[&str], depth: usize) -> String {
    if values.is_empty() {
        return "[]".into();
    }
    let end = format!("\n{:1$}", "", depth * 2);
    let inner = values.join(&format!(",{end}  "));
    format!("[{end}  {inner}{end}]")
}

/// The texts of a list's values; `None` if it is not a list.
pub fn list(text: &str) -> Option<Vec<&str>> {
    let values: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(values.into_iter().map(RawValue::get).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_not_asked_for_stays_as_it_was_written() {
        let text = r#"{ "a" : 1.50, "b\u0041":{ "c": [ 1, "\ud800" ] },"d":"e" }"#;
        let mut fields = Fields::read(text).unwrap();
        assert_eq!(fields.get("a"), Some("1.50"));
        assert_eq!(fields.string("a").unwrap(), None);
        assert_eq!(fields.string("d").unwrap().as_deref(), Some("e"));
        assert_eq!(fields.get("z"), None);
        fields.set("d", &["new"]);
        fields.set("z", "last");
        assert_eq!(
            fields.to_string(),
            r#"{"a":1.50,"bA":{ "c": [ 1, "\ud800" ] },"d":["new"],"z":"last"}"#
        );
        fields.remove("bA");
        fields.set_text("a", "{}".into());
        assert_eq!(fields.to_string(), r#"{"a":{},"d":["new"],"z":"last"}"#);
        assert_eq!(Fields::default().to_string(), "{}");
    }

    #[test]
    fn a_field_of_the_wrong_kind_is_named() {
        let fields = Fields::read(r#"{"a":"é","b":7,"c":null,"d":7.0}"#).unwrap();
        assert_eq!(fields.word("a").unwrap().as_deref(), Some("é"));
        assert_eq!(fields.word("b").unwrap_err(), "b is not a string");
        assert_eq!(fields.whole("b"), Ok(Some(7)));
        assert_eq!(fields.whole("d").unwrap_err(), "d is not a whole number");
        for none in ["c", "z"] {
            assert_eq!(fields.known(none), None);
            assert_eq!(
                (fields.word(none), fields.whole(none)),
                (Ok(None), Ok(None))
            );
        }
    }

    #[test]
    fn only_what_changed_is_set_and_a_line_is_a_field() {
        let mut fields = Fields::of(br#"{"a": 1.0, "x":[ 1 ]}"#).unwrap();
        let was = [row("a", &1), row("b", "old")];
        fields.update(&was, vec![row("a", &1), row("b", "new")]);
        let mut inner = Fields::default();
        inner.set("c", &None::<u8>);
        fields.set_text("in", inner.lines(1).into());
        assert_eq!(
            fields.lines(0),
            "{\n  \"a\": 1.0,\n  \"x\": [ 1 ],\n  \"b\": \"new\",\n  \"in\": {\n    \"c\": null\n  }\n}"
        );
        assert_eq!(Fields::default().lines(3), "{}");
        assert!(Fields::of(b"\xff").is_err());
    }

    #[test]
    fn of_two_with_one_name_the_last_one_counts() {
        let mut fields = Fields::read(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(fields.get("a"), Some("3"));
        fields.set("a", &4);
        assert_eq!(fields.to_string(), r#"{"a":1,"b":2,"a":4}"#);
        fields.remove("a");
        assert_eq!(fields.to_string(), r#"{"b":2}"#);
    }

    #[test]
    fn what_is_no_object_is_told_from_what_is_no_json() {
        for (text, is_data) in [
            ("7", true),
            ("[]", true),
            ("\"a\"", true),
            ("{} {}", false),
            ("{", false),
            ("", false),
        ] {
            assert_eq!(Fields::read(text).unwrap_err().is_data(), is_data, "{text}");
        }
        let half = Fields::read(r#"{"a":"\ud800"}"#).unwrap();
        assert!(half.string("a").is_err());
    }

    #[test]
    fn a_list_is_its_values() {
        assert_eq!(
            list(" [1, {\"a\": 2},[] ] "),
            Some(vec!["1", "{\"a\": 2}", "[]"])
        );
        assert_eq!(list("{}"), None);
        assert_eq!(list("[1"), None);
        assert_eq!(list_lines(&[], 1), "[]");
        assert_eq!(list_lines(&["1", "{}"], 1), "[\n    1,\n    {}\n  ]");
    }

    proptest! {
        #[test]
        fn the_library_reads_the_same(name in ".*", word in ".*", number: i64, bytes: Vec<u8>) {
            let value = json!({ name: [word], "n": number });
            let text = value.to_string();
            let fields = Fields::read(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&fields.to_string()).unwrap(), value);

            let garbage = String::from_utf8_lossy(&bytes);
            let known = serde_json::from_str::<Value>(&garbage).is_ok_and(|value| value.is_object());
            prop_assert!(!known || Fields::read(&garbage).is_ok());
        }
    }
}
