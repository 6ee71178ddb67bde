//! An object of which some fields are known and all are kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::{Line, text};

/// The fields of an object in their order, each with the text of its value. What nobody asks
/// for is neither understood nor changed. Of two with one name the last one counts.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<(Name<'a>, Cow<'a, str>)>);

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Fields<'a> {
    /// An error is of the category `Data` where it may be JSON, but is no object.
    pub fn read(text: &'a str) -> serde_json::Result<Self> {
        let mut reader = Deserializer::from_str(text);
        let fields = reader.deserialize_map(Reader)?;
        reader.end()?;
        Ok(fields)
    }

    /// The text of a value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.at(name).map(|at| &*self.0[at].1)
    }

    /// A value that is a string; `None` where it is anything else.
    pub fn string(&self, name: &str) -> serde_json::Result<Option<String>> {
        let value = self.get(name).filter(|value| value.starts_with('"'));
        value.map(serde_json::from_str).transpose()
    }

    /// In the place that it has, or as the last one.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) {
        let value = text(value).unwrap_or_else(|_| "null".into());
        self.set_text(name, Cow::Owned(value));
    }

    /// The same with a value that is JSON already.
    pub fn set_text(&mut self, name: &'static str, value: Cow<'a, str>) {
        match self.at(name) {
            Some(at) => self.0[at].1 = value,
            None => self.0.push((Name(Cow::Borrowed(name)), value)),
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|field| field.0.0 != name);
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

/// The texts of a list's values; `None` where it is none.
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
