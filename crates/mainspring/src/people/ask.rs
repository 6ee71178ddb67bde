//! A question to the person at the terminal.

use std::io::{BufRead, IsTerminal};

use crate::command::Result;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Paint};

/// What Enter alone means: the answer in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enter {
    Yes,
    No,
}

/// Is a person there? For what `--yes` alone does not allow.
pub(crate) fn require_terminal() -> Result<()> {
    require("run it in a terminal")
}

/// Nobody can be asked without a terminal: `instead` is what to type then.
fn require(instead: &str) -> Result<()> {
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(CliError::refused("stdin is not a terminal, so there is nobody to confirm").hint(instead))
}

/// The answer to a yes-or-no question.
pub(crate) fn yes(question: &str, enter: Enter, paint: Paint) -> Result<bool> {
    require("`--yes` goes on without asking")?;
    let choice = match enter {
        Enter::Yes => "[Y/n]",
        Enter::No => "[y/N]",
    };
    output::question(&format!("{question} {choice} "), paint);
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| CliError::new(format!("no answer: {error}")))?;
    let answer = answer.trim().to_lowercase();
    Ok(match enter {
        Enter::No => matches!(answer.as_str(), "y" | "yes"),
        Enter::Yes => !matches!(answer.as_str(), "n" | "no"),
    })
}

/// Goes on only if the person types yes.
pub(crate) fn confirm(question: &str, paint: Paint) -> Result<()> {
    confirm_or(question, Enter::No, paint)
}

/// The same, for a question that says by itself what Enter means.
pub(crate) fn confirm_or(question: &str, enter: Enter, paint: Paint) -> Result<()> {
    if yes(question, enter, paint)? {
        return Ok(());
    }
    // A no is an answer, and no error.
    Err(CliError::shown(
        "nothing was changed\n".into(),
        Exit::Failure,
    ))
}
