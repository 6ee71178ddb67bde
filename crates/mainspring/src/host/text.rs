//! Text for a terminal and for a model: bounded, and without characters that hide or move
//! what follows them.

use std::borrow::Cow;

use mainspring_kernel::{Answer, Voice};

use crate::limits;

/// Keeps line breaks and tabs; drops other control characters, and the invisible ones
/// that reorder text or smuggle a second message.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    // Nearly every text is of plain letters, which needs no look at characters.
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let harmless = text.bytes().all(plain) || text.chars().all(is_harmless);
    if harmless && text.len() <= limits::TEXT_CHARS {
        return Cow::Borrowed(text);
    }
    let mut kept: String = text
        .chars()
        .filter(|c| is_harmless(*c))
        .take(limits::TEXT_CHARS)
        .collect();
    if text.chars().filter(|c| is_harmless(*c)).count() > limits::TEXT_CHARS {
        kept.push_str(" … (cut)");
    }
    Cow::Owned(kept)
}

/// What the person is told, each line with who says it.
pub(crate) fn notes(answer: &Answer) -> String {
    let lines = answer.notes.iter().map(|note| match note.by {
        Voice::Machine(name) => format!("mainspring {name}: {}", note.text),
        Voice::Mainspring | Voice::Optional => format!("mainspring: {}", note.text),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A quote from elsewhere, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| is_harmless(*c))
        .collect();
    let line = line.trim();
    if line.chars().count() <= limits::EXCERPT_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(limits::EXCERPT_CHARS - 1).collect();
    format!("{}…", cut.trim_end())
}

fn is_harmless(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // Marks, embeddings, overrides and isolates that reorder text; tag characters, which
        // are text that nobody sees.
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e007f}' => false,
        c => !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_reorders_is_dropped() {
        for (given, kept) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("a\u{1b}[31mred", "a[31mred"),
            ("right\u{202e}left", "rightleft"),
            ("tag\u{e0041}s", "tags"),
            ("bell\u{7}\r\n", "bell\n"),
        ] {
            assert_eq!(clean(given), kept);
        }
    }

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
