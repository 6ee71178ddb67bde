//! Where things are in a JSON text: the tasks of an array, and the fields of each.
//!
//! The text is known to be valid JSON, so this code checks nothing.

/// One element of the array.
#[derive(Debug, PartialEq, Eq)]
pub struct Element {
    pub at: usize,
    /// Every field, with the place of its value. A name may appear twice.
    pub fields: Vec<(String, usize)>,
}

pub fn elements(text: &str) -> Vec<Element> {
    let mut walk = Walk {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut elements = Vec::new();
    if !walk.eat(b'[') {
        return elements;
    }
    while !matches!(walk.peek(), None | Some(b']')) {
        let at = walk.at;
        let fields = if walk.peek() == Some(b'{') {
            walk.object(text)
        } else {
            walk.value();
            Vec::new()
        };
        elements.push(Element { at, fields });
        if !walk.eat(b',') {
            break;
        }
    }
    elements
}

/// Line and column, from 1, in characters.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    (line, column)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn object(&mut self, text: &str) -> Vec<(String, usize)> {
        let mut fields = Vec::new();
        self.eat(b'{');
        while self.peek() == Some(b'"') {
            let start = self.at;
            self.string();
            let name = serde_json::from_str(text.get(start..self.at).unwrap_or_default());
            self.eat(b':');
            self.peek();
            fields.push((name.unwrap_or_default(), self.at));
            self.value();
            if !self.eat(b',') {
                break;
            }
        }
        self.eat(b'}');
        fields
    }

    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                b'"' => {
                    self.at += 1;
                    return;
                }
                _ => 1,
            };
        }
    }

    /// Skips one value, however deep.
    fn value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.string(),
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' | b',' if depth == 0 => return,
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
            let ended = matches!(byte, b'"' | b']' | b'}');
            if depth == 0 && ended {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Any JSON that is not deep, with what looks like more of it in its texts.
    fn value() -> impl Strategy<Value = serde_json::Value> {
        let text = || "[\\[\\]{}\",:\\\\ aé\n]{0,6}";
        let plain = prop_oneof![
            any::<i32>().prop_map(|number| json!(number)),
            any::<bool>().prop_map(|is| json!(is)),
            Just(json!(null)),
            text().prop_map(|text| json!(text)),
        ];
        plain.prop_recursive(3, 12, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(|list| json!(list)),
                proptest::collection::btree_map(text(), inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    #[test]
    fn tasks_and_fields_are_found_where_they_are() {
        let text = "[\n  {\"id\": 1, \"sub\\u006aect\": \"a ] } , \\\" b\",\n   \"blockedBy\": [1, [2]]},\n  7, \"é\", {}\n]";
        let found: Vec<_> = elements(text)
            .into_iter()
            .map(|element| {
                let fields: Vec<_> = element
                    .fields
                    .into_iter()
                    .map(|(name, at)| (name, place(text, at)))
                    .collect();
                (place(text, element.at), fields)
            })
            .collect();
        let first = vec![
            ("id".to_owned(), (2, 10)),
            ("subject".to_owned(), (2, 29)),
            ("blockedBy".to_owned(), (3, 17)),
        ];
        assert_eq!(
            found,
            [
                ((2, 3), first),
                ((4, 3), vec![]),
                ((4, 6), vec![]),
                ((4, 11), vec![]),
            ]
        );
    }

    proptest! {
        /// In a list, spread over lines or not, each element is where its text begins.
        #[test]
        fn elements_of_a_list_are_where_they_begin(
            values in proptest::collection::vec(value(), 0..8),
            spread: bool,
        ) {
            let list = serde_json::Value::Array(values.clone());
            let text = if spread { format!("{list:#}") } else { list.to_string() };
            let found: Vec<_> = elements(&text)
                .iter()
                .filter_map(|element| {
                    let rest = serde_json::Deserializer::from_str(&text[element.at..]);
                    rest.into_iter::<serde_json::Value>().next()?.ok()
                })
                .collect();
            prop_assert_eq!(found, values);
        }

        /// Places are within the text, and rise.
        #[test]
        fn garbage_has_places_within_it(text in "[\\[\\]{}\",:\\\\ a1\n]{0,60}") {
            let found = elements(&text);
            let mut last = 0;
            for element in &found {
                prop_assert!(element.at > last && element.at < text.len());
                last = element.at;
                let (line, column) = place(&text, element.at);
                let shown = text.split('\n').nth(line - 1).unwrap();
                prop_assert_eq!(shown.chars().nth(column - 1), text[element.at..].chars().next());
            }
        }
    }
}
