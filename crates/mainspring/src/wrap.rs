//! Breaks long lines at spaces, so that a view fits the window. What follows a label stays in
//! its column.

use crate::output::is_mark;

/// The narrowest text that is worth a column of its own.
const LEAST: usize = 24;

/// What the demo puts between who speaks and the words.
const BAR: char = '│';

/// A label is at most this wide.
const LABEL: usize = 24;

/// The text with every line at most this wide, as far as it has spaces. `None`: as it is.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> String {
    broken(text, width, text_column)
}

/// The same, and every line goes on in this column.
pub(crate) fn hanging(text: &str, width: Option<usize>, column: usize) -> String {
    broken(text, width, |_| column)
}

fn broken(text: &str, width: Option<usize>, column: impl Fn(&str) -> usize) -> String {
    let Some(width) = width.filter(|width| *width >= LEAST) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        if columns(body) <= width {
            out += body;
        } else {
            wrap_line(body, width, column(body), &mut out);
        }
        out += end;
    }
    out
}

fn wrap_line(line: &str, width: usize, mut hang: usize, out: &mut String) {
    if width.saturating_sub(hang) < LEAST {
        hang = indent(line).min(width - LEAST);
    }
    let mut at = 0;
    let mut is_first = true;
    for piece in line.split_inclusive(' ') {
        let word = piece.trim_end_matches(' ');
        if at + columns(word) > width && !is_first && !word.is_empty() {
            while out.ends_with(' ') {
                out.pop();
            }
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', hang));
            at = hang;
        }
        *out += piece;
        at += columns(piece);
        is_first &= word.is_empty();
    }
    while out.ends_with(' ') {
        out.pop();
    }
}

/// How many columns a text takes. Marks of colours take none.
fn columns(text: &str) -> usize {
    text.chars().filter(|c| !is_mark(*c)).count()
}

fn indent(line: &str) -> usize {
    let visible = line.chars().filter(|c| !is_mark(*c));
    visible.take_while(|c| *c == ' ').count()
}

/// Where the text begins that follows a label and at least two spaces, or a bar; without a label,
/// where the line begins.
fn text_column(line: &str) -> usize {
    let visible: Vec<char> = line.chars().filter(|c| !is_mark(*c)).collect();
    let start = indent(line);
    if let Some(bar) = visible.iter().take(LABEL).position(|c| *c == BAR) {
        return bar + 2;
    }
    let label = visible.iter().skip(start).take(LABEL);
    let mut spaces = 0;
    for (at, c) in label.enumerate() {
        match c {
            ' ' => spaces += 1,
            _ if spaces >= 2 => return start + at,
            _ => spaces = 0,
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;
    use crate::output::Paint;

    #[test]
    fn a_long_line_is_broken_at_spaces_and_goes_on_in_its_column() {
        let text = "    because    the agent has not said its token yet\nshort\n";
        let broken = "    because    the agent has not said\n               its token yet\nshort\n";
        assert_eq!(wrap(text, Some(40)), broken);
        assert_eq!(wrap(text, None), text);
        let plain = "one two three four five six seven eight";
        assert_eq!(
            wrap(plain, Some(24)),
            "one two three four five\nsix seven eight"
        );
        let spoken = "     agent │ one two three four five six seven eight";
        let broken = "     agent │ one two three four five six\n             seven eight";
        assert_eq!(wrap(spoken, Some(40)), broken);
        assert_eq!(
            hanging(plain, Some(30), 4),
            "one two three four five six\n    seven eight"
        );
        let path = "see /a/path/that/is/longer/than/the/window/itself now";
        assert_eq!(
            wrap(path, Some(24)),
            "see\n/a/path/that/is/longer/than/the/window/itself\nnow"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let painted = format!("{} and the rest", Paint::Ansi.bold("four"));
        assert_eq!(wrap(&painted, Some(24)), painted);
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_is_too_long(
            words in proptest::collection::vec("[a-z]{1,20}", 0..40),
            indent in 0_usize..8,
            width in 24_usize..100,
        ) {
            let text = format!("{}{}", " ".repeat(indent), words.join(" "));
            let wrapped = wrap(&text, Some(width));
            prop_assert_eq!(
                wrapped.split_whitespace().collect::<Vec<_>>(),
                words.iter().map(String::as_str).collect::<Vec<_>>()
            );
            for line in wrapped.lines() {
                let alone = line.split_whitespace().count() == 1;
                prop_assert!(alone || line.chars().count() <= width, "{:?}", line);
            }
        }
    }
}
