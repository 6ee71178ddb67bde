//! A second opinion on JSON: the grammar of RFC 8259, implemented without any code of the parser
//! that we use. If the two disagree, one file could mean two things to two readers.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// How deep `serde_json` goes.
const DEEPEST: usize = 127;

/// Is it one JSON value that is not too deep to read?
pub(crate) fn is_json(text: &str) -> bool {
    let mut walk = Walk {
        rest: text.as_bytes(),
    };
    walk.space();
    walk.value(DEEPEST).is_some() && walk.rest.is_empty()
}

/// The two must agree, except about numbers beyond a float and halves of surrogate pairs, which are
/// grammatical but not text.
pub(crate) fn agrees(text: &str) {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => assert!(is_json(text), "it was taken for JSON: {text:?}"),
        Err(error) => {
            let said = error.to_string();
            let known = ["number out of range", "surrogate", "hex escape"];
            let known = known.iter().any(|words| said.contains(words));
            assert!(known || !is_json(text), "{said}: {text:?}");
        }
    }
}

/// The members of an object as they are written; `None` if it is not an object.
pub(crate) fn members(text: &str) -> Option<Vec<(String, String)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                found.push((name, value.get().to_owned()));
            }
            Ok(found)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Members).ok()?;
    reader.end().ok()?;
    Some(found)
}

/// Every member that is not one of `ours` is still there as it was written: same order, same
/// number, same text. Only white space may differ. A name that occurs twice is left out, because
/// our readers see only the last one.
pub(crate) fn strangers_stay(before: &str, after: &str, ours: &[&str]) {
    let (Some(before), Some(after)) = (members(before), members(after)) else {
        panic!("the output is not an object: {after}");
    };
    let once = |name: &str| before.iter().filter(|(other, _)| other == name).count() == 1;
    let was: Vec<(&str, String)> = before
        .iter()
        .filter(|(name, value)| !ours.contains(&name.as_str()) && once(name) && !names_twice(value))
        .map(|(name, value)| (name.as_str(), tokens(value)))
        .collect();
    let is = after
        .iter()
        .filter(|(name, _)| was.iter().any(|(other, _)| other == name))
        .map(|(name, value)| (name.as_str(), tokens(value)));
    assert_eq!(was, is.collect::<Vec<_>>());
}

/// Does an object anywhere in it name a member twice? Then not all of it can be kept.
fn names_twice(value: &str) -> bool {
    match serde_json::from_str::<Value>(value) {
        Ok(Value::Object(map)) => {
            let members = members(value).unwrap_or_default();
            members.len() != map.len() || members.iter().any(|(_, inner)| names_twice(inner))
        }
        Ok(Value::Array(_)) => serde_json::from_str::<Vec<&RawValue>>(value)
            .unwrap_or_default()
            .iter()
            .any(|inner| names_twice(inner.get())),
        Ok(_) | Err(_) => false,
    }
}

/// A value without white space, with its strings decoded.
fn tokens(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let length = string_length(rest);
            let (string, after) = rest.split_at(length);
            let said: String = serde_json::from_str(string).unwrap_or_default();
            out.push_str(&format!("{said:?}"));
            rest = after;
        } else {
            // The sign of an exponent and the case of its letter do not matter, either.
            if !first.is_whitespace() && first != '+' {
                out.push(first.to_ascii_lowercase());
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Does the top level of a text have a member of this name more than once?
pub(crate) fn repeats(text: &str, names: &[&str]) -> bool {
    let members: Option<Vec<String>> = names_of(text);
    let members = members.unwrap_or_default();
    names
        .iter()
        .any(|name| members.iter().filter(|other| other == name).count() > 1)
}

fn names_of(text: &str) -> Option<Vec<String>> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                found.push(name);
            }
            Ok(found)
        }
    }
    serde_json::Deserializer::from_str(text)
        .deserialize_map(Names)
        .ok()
}

struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn eat(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(bytes)?;
        Some(())
    }

    /// One value and the white space after it.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.rest.first()? {
            b'{' => self.list(b"{", b"}", depth, |walk| {
                walk.string()?;
                walk.space();
                walk.eat(b":")?;
                walk.space();
                walk.value(depth - 1)
            }),
            b'[' => self.list(b"[", b"]", depth, |walk| walk.value(depth - 1)),
            b'"' => self.string(),
            b't' => self.eat(b"true"),
            b'f' => self.eat(b"false"),
            b'n' => self.eat(b"null"),
            _ => self.number(),
        }?;
        self.space();
        Some(())
    }

    fn list(
        &mut self,
        open: &[u8],
        close: &[u8],
        depth: usize,
        item: impl Fn(&mut Self) -> Option<()>,
    ) -> Option<()> {
        if depth == 0 {
            return None;
        }
        self.eat(open)?;
        self.space();
        if self.eat(close).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            self.space();
            if self.eat(close).is_some() {
                return Some(());
            }
            self.eat(b",")?;
            self.space();
        }
    }

    fn string(&mut self) -> Option<()> {
        self.eat(b"\"")?;
        loop {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            match first {
                b'"' => return Some(()),
                b'\\' => {
                    let (escape, rest) = self.rest.split_first()?;
                    self.rest = rest;
                    match escape {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        b'u' => {
                            let (digits, rest) = self.rest.split_at_checked(4)?;
                            digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                            self.rest = rest;
                        }
                        _ => return None,
                    }
                }
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.eat(b"-");
        if self.eat(b"0").is_none() {
            self.digits()?;
        }
        if self.eat(b".").is_some() {
            self.digits()?;
        }
        if self.eat(b"e").or_else(|| self.eat(b"E")).is_some() {
            let _ = self.eat(b"+").or_else(|| self.eat(b"-"));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit());
        let count = count.count();
        self.rest = &self.rest[count..];
        (count > 0).then_some(())
    }
}
