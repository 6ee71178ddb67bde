//! Reads and writes `state.json`: eight typed fields in a document that belongs to the user.

use mainspring_json::{Fields as Document, Row, row};
use mainspring_kernel::machines::review::phase::Phase;
use mainspring_kernel::machines::review::{Fields, Lack};
use serde::de::IgnoredAny;

/// The fields that rule 8 requires.
const REQUIRED: [&str; 6] = [
    "phase",
    "next_phase",
    "review_model",
    "max_reviews",
    "consecutive_clean",
    "tdd",
];

/// What the file says, and messages about it for the person. Nobody is held because of them.
pub fn read(bytes: Option<&[u8]>) -> (Result<Fields, Lack>, Vec<String>) {
    let Some(bytes) = bytes else {
        return (Err(Lack::Missing), Vec::new());
    };
    let document = match Document::of(bytes) {
        Ok(document) => document,
        Err(error) if error.is_data() && mainspring_json::read::<IgnoredAny>(bytes).is_ok() => {
            return unreadable("state.json contains invalid JSON: it is not an object".into());
        }
        Err(error) => return unreadable(format!("state.json contains invalid JSON: {error}")),
    };
    let missing: Vec<&str> = REQUIRED
        .into_iter()
        .filter(|field| document.get(field).is_none())
        .collect();
    let warnings = if missing.is_empty() {
        Vec::new()
    } else {
        vec![format!(
            "state.json missing required fields: {}",
            missing.join(", ")
        )]
    };
    match fields(&document) {
        Ok(fields) => (Ok(fields), warnings),
        Err(problem) => unreadable(format!("state.json is left as it is: {problem}")),
    }
}

fn unreadable(problem: String) -> (Result<Fields, Lack>, Vec<String>) {
    (Err(Lack::Unreadable(problem.clone())), vec![problem])
}

fn fields(document: &Document<'_>) -> Result<Fields, String> {
    let default = Fields::default();
    Ok(Fields {
        max_reviews: count(document, "max_reviews")?.unwrap_or(default.max_reviews),
        current_task: match document.known("current_task") {
            // Agents forget the quotes; the number is kept as they wrote it.
            Some(number) if number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                Some(number.to_owned())
            }
            _ => document.word("current_task")?,
        },
        phase: document.word("phase")?.map(|phase| Phase::parse(&phase)),
        phase_iteration: count(document, "phase_iteration")?,
        next_phase: document
            .word("next_phase")?
            .map(|phase| Phase::parse(&phase)),
        review_model: document
            .word("review_model")?
            .unwrap_or(default.review_model),
        consecutive_clean: count(document, "consecutive_clean")?.unwrap_or(0),
        tdd: match document.known("tdd") {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err("tdd is neither true nor false".into()),
        },
    })
}

fn count(document: &Document<'_>, field: &str) -> Result<Option<u32>, String> {
    let number = document.whole(field)?.map(u32::try_from);
    number
        .transpose()
        .map_err(|_| format!("{field} is not a whole number"))
}

/// The document with these fields. Unchanged and unknown fields and their order stay as they
/// were written; missing fields are added.
pub fn write(bytes: Option<&[u8]>, fields: &Fields) -> String {
    let mut document = bytes
        .and_then(|bytes| Document::of(bytes).ok())
        .unwrap_or_default();
    let mut before = rows(&self::fields(&document).unwrap_or_default());
    before.retain(|(name, _)| document.get(name).is_some());
    document.update(&before, rows(fields));
    document.lines(0) + "\n"
}

fn rows(fields: &Fields) -> Vec<Row> {
    vec![
        row("max_reviews", &fields.max_reviews),
        row("current_task", &fields.current_task),
        row("phase", &fields.phase.as_ref().map(Phase::as_str)),
        row("phase_iteration", &fields.phase_iteration),
        row("next_phase", &fields.next_phase.as_ref().map(Phase::as_str)),
        row("review_model", &fields.review_model),
        row("consecutive_clean", &fields.consecutive_clean),
        row("tdd", &fields.tdd),
    ]
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::machines::review::Kind;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn of(text: &str) -> Fields {
        match read(Some(text.as_bytes())) {
            (Ok(fields), _) => fields,
            (other, _) => panic!("{other:?}"),
        }
    }

    #[test]
    fn missing_fields_have_their_defaults() {
        let fields = of(r#"{"phase": "new-plan"}"#);
        assert_eq!(
            fields,
            Fields {
                phase: Some(Phase::NewPlan),
                ..Fields::default()
            }
        );
        assert_eq!(
            (fields.max_reviews, fields.review_model.as_str()),
            (8, "opus")
        );
    }

    #[test]
    fn only_what_changed_is_written_and_order_and_strangers_stay() {
        let found = r#"{"tdd": false, "custom": {"b": 1, "a": [2.50]}, "phase": "next-task",
            "current_task": 3, "next_phase": "code-review", "max_reviews": 8,
            "review_model": "opus", "consecutive_clean": 0, "phase_iteration": 0}"#;
        let mut fields = of(found);
        assert_eq!(fields.current_task.as_deref(), Some("3"));
        fields.phase = Some(Phase::Review(Kind::Code));
        fields.phase_iteration = Some(1);
        insta::assert_snapshot!(write(Some(found.as_bytes()), &fields), @r#"
        {
          "tdd": false,
          "custom": {"b": 1, "a": [2.50]},
          "phase": "code-review",
          "current_task": 3,
          "next_phase": "code-review",
          "max_reviews": 8,
          "review_model": "opus",
          "consecutive_clean": 0,
          "phase_iteration": 1
        }
        "#);
    }

    #[test]
    fn all_eight_fields_are_there_after_a_write() {
        let text = write(None, &Fields::default());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document.as_object().unwrap().len(), 8);
        assert_eq!(of(&text), Fields::default());
    }

    #[test]
    fn what_cannot_be_understood_is_said() {
        for (text, problem) in [
            (
                "not valid json",
                "state.json contains invalid JSON: expected",
            ),
            (
                "\"not valid json\"",
                "state.json contains invalid JSON: it is not an object",
            ),
            ("", "state.json contains invalid JSON: EOF"),
            (
                r#"{"max_reviews": "8"}"#,
                "state.json is left as it is: max_reviews is not",
            ),
            (
                r#"{"phase_iteration": -1}"#,
                "state.json is left as it is: phase_iteration",
            ),
            (
                r#"{"phase": ["x"]}"#,
                "state.json is left as it is: phase is not a string",
            ),
        ] {
            let (record, warnings) = read(Some(text.as_bytes()));
            assert!(matches!(record, Err(Lack::Unreadable(_))), "{text}");
            assert!(warnings[0].starts_with(problem), "{warnings:?}");
        }
        let (_, warnings) = read(Some(br#"{"phase": "new-plan", "tdd": false}"#));
        assert_eq!(
            warnings,
            [
                "state.json missing required fields: next_phase, review_model, max_reviews, \
              consecutive_clean"
            ]
        );
    }

    proptest! {
        #[test]
        fn garbage_is_refused_once_and_by_name(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (record, warnings) = read(Some(&bytes));
            let Err(Lack::Unreadable(problem)) = record else {
                panic!("{record:?}");
            };
            prop_assert!(problem.starts_with("state.json contains invalid JSON: "));
            prop_assert_eq!(warnings, [problem]);
        }

        /// One byte of a valid file is changed: the file is refused with a message, or the
        /// record can be written and read again.
        #[test]
        fn a_damaged_file_is_refused_or_consistent(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = write(None, &Fields::default()).into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            match read(Some(&bytes)) {
                (Err(Lack::Missing), _) => panic!("it is there"),
                (Err(Lack::Unreadable(problem)), warnings) => prop_assert_eq!(warnings, [problem]),
                (Ok(fields), _) => {
                    let written = write(Some(&bytes), &fields);
                    prop_assert_eq!(read(Some(written.as_bytes())).0, Ok(fields));
                }
            }
        }
    }
}
