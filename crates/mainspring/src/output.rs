//! The only writer of stdout and stderr. Texts of others (a title, a file's name, a prompt)
//! reach a terminal only through here, so characters that would hide, reorder or move something
//! on it are escaped here. Only `Paint` makes colours: it marks them with characters that no
//! text may contain, and this module turns them into escape sequences.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use mainspring_kernel::hidden;

use crate::env::{Environment, name};

/// Writes all of it in one call, so that a reader never sees half an object.
pub(crate) fn stdout(text: &str, paint: Paint) -> io::Result<()> {
    write_whole(&paint.shown(text))
}

/// The same, after clearing the screen if stdout is a terminal.
pub(crate) fn screen(text: &str, paint: Paint) -> io::Result<()> {
    match paint {
        Paint::Plain => stdout(text, paint),
        Paint::Ansi => write_whole(&format!("\u{1b}[H\u{1b}[2J{}", paint.shown(text))),
    }
}

fn write_whole(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// An error is ignored: if stderr cannot be written, nobody can be told.
pub(crate) fn stderr(text: &str) {
    let line = format!("{}\n", hidden::escape(text));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// The characters that `Paint` uses as marks. If a text contains one of them after all, it can
/// change a colour, but nothing else.
const RESET: char = '\u{fdd0}';
const BOLD: char = '\u{fdd1}';
const DIM: char = '\u{fdd2}';
const GREEN: char = '\u{fdd3}';
const YELLOW: char = '\u{fdd4}';

/// Is it one of the marks? They take no room on a screen.
pub(crate) fn is_mark(c: char) -> bool {
    sequence(c).is_some()
}

fn sequence(mark: char) -> Option<&'static str> {
    Some(match mark {
        RESET => "\u{1b}[0m",
        BOLD => "\u{1b}[1m",
        DIM => "\u{1b}[2m",
        GREEN => "\u{1b}[32m",
        YELLOW => "\u{1b}[33m",
        _ => return None,
    })
}

/// Whether a view has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Ansi,
}

impl Paint {
    /// Colours only at a terminal, and only if the person did not decline them.
    pub(crate) fn detect(env: &Environment) -> Self {
        let declined = env
            .var_os(name::NO_COLOR)
            .is_some_and(|value| !value.is_empty());
        let dumb = env.var_os(name::TERM).is_some_and(|term| term == "dumb");
        if io::stdout().is_terminal() && !declined && !dumb {
            Self::Ansi
        } else {
            Self::Plain
        }
    }

    /// The text as it is safe to print on a terminal.
    pub(crate) fn shown(self, text: &str) -> Cow<'_, str> {
        let mut rest = text;
        let mut out = String::new();
        while self == Self::Ansi
            && let Some((at, mark)) = rest.char_indices().find(|(_, c)| sequence(*c).is_some())
        {
            out += &hidden::escape(&rest[..at]);
            out += sequence(mark).unwrap_or_default();
            rest = &rest[at + mark.len_utf8()..];
        }
        if out.is_empty() {
            return hidden::escape(rest);
        }
        Cow::Owned(out + &hidden::escape(rest))
    }

    fn wrap(self, mark: char, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("{mark}{text}{RESET}"),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap(BOLD, text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap(DIM, text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap(GREEN, text)
    }

    pub(crate) fn warn(self, text: &str) -> String {
        self.wrap(YELLOW, text)
    }
}

/// A question to the person, on stderr: stdout is for a command's result.
pub(crate) fn question(text: &str, paint: Paint) {
    let _ = io::stderr().lock().write_all(paint.shown(text).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\u{1b}[2Jx\u{1b}]52;c;eA==\u{7}\u{202e}y";

    #[test]
    fn what_we_paint_is_painted_and_nothing_else() {
        let line = format!("{} {}", Paint::Ansi.bold(HOSTILE), HOSTILE);
        let shown = "\\u001b[2Jx\\u001b]52;c;eA==\\u0007\\u202ey";
        assert_eq!(
            Paint::Ansi.shown(&line),
            format!("\u{1b}[1m{shown}\u{1b}[0m {shown}")
        );
        assert_eq!(Paint::Ansi.shown("plain"), "plain");
    }

    #[test]
    fn a_forged_mark_is_no_colour_where_none_is_wanted() {
        assert_eq!(Paint::Plain.shown("a\u{fdd1}b"), "a\\ufdd1b");
        assert_eq!(Paint::Plain.shown(&Paint::Plain.warn("b")), "b");
    }
}
