//! Text for a terminal or for a model: bounded, and without characters that hide or move text.

use std::borrow::Cow;

use mainspring_kernel::{Answer, Voice, hidden};

use crate::limits;

/// A longer text. Line breaks and tabs stay; characters that hide or reorder text are removed.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let shown = hidden::strip(text);
    if shown.len() <= limits::TEXT_CHARS {
        return shown;
    }
    match shown.char_indices().nth(limits::TEXT_CHARS) {
        None => shown,
        Some((end, _)) => Cow::Owned(format!("{} … (cut)", &shown[..end])),
    }
}

/// The notes for the person, each with the name of its author.
pub(crate) fn notes(answer: &Answer) -> String {
    let lines = answer.notes.iter().filter_map(|note| match note.by {
        Voice::Machine(name) => Some(format!("mainspring {name}: {}", note.text)),
        Voice::Mainspring | Voice::Optional => Some(format!("mainspring: {}", note.text)),
        Voice::Desktop => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A quote of somebody else's text, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    hidden::quote(text, limits::EXCERPT_CHARS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_and_says_so() {
        let long = "é".repeat(limits::TEXT_CHARS + 1);
        let cut = clean(&long);
        assert!(cut.ends_with("é … (cut)"));
        assert_eq!(
            cut.chars().count(),
            limits::TEXT_CHARS + " … (cut)".chars().count()
        );
        let fits = "é".repeat(limits::TEXT_CHARS);
        assert_eq!(clean(&fits), fits);
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("  two\nlines\u{7} "), "two lines");
        assert_eq!(
            excerpt(&"x".repeat(500)).chars().count(),
            limits::EXCERPT_CHARS
        );
    }
}
