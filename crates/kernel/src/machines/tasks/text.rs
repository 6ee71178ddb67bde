//! Text from a file on its way to an agent: short, on one line, and only what it seems.

use alloc::string::String;

/// What is kept of one text.
pub const EXCERPT: usize = 200;

/// The first [`EXCERPT`] characters on one line, without the characters that could make it
/// read as something else: controls, and marks that hide or reverse what follows.
pub fn excerpt(text: &str) -> String {
    let mut short = String::with_capacity(text.len().min(EXCERPT * 4));
    let mut count = 0;
    for character in text.trim().chars() {
        let shown = match character {
            '\n' | '\r' | '\t' => ' ',
            hidden if is_hidden(hidden) => continue,
            plain => plain,
        };
        if shown == ' ' && short.ends_with(' ') {
            continue;
        }
        if count == EXCERPT {
            short.push('…');
            break;
        }
        short.push(shown);
        count += 1;
    }
    short
}

const fn is_hidden(character: char) -> bool {
    character.is_ascii_control()
        || matches!(character,
            '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_visible_line() {
        assert_eq!(
            excerpt("  Set\n\tup \u{1b}[31mred\u{202e}\u{e0041} "),
            "Set up [31mred"
        );
        let long = "é".repeat(EXCERPT);
        assert_eq!(excerpt(&long), long);
        assert_eq!(excerpt(&(long.clone() + "é")), long + "…");
    }
}
