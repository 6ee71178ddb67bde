//! The only writer of stdout and stderr.

use std::io::{self, IsTerminal, Write};

use crate::env::{Environment, name};

/// Writes all of it in one call, so that a reader never sees half an object.
pub(crate) fn stdout(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Nothing is left to do if stderr is gone too.
pub(crate) fn stderr(text: &str) {
    let mut line = String::with_capacity(text.len() + 1);
    line.push_str(text);
    line.push('\n');
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// How a view may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Ansi,
}

impl Paint {
    /// Colour only for a person at a terminal who did not decline it.
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

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn warn(self, text: &str) -> String {
        self.wrap("33", text)
    }
}
