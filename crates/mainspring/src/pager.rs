//! What is longer than the window is shown in a pager.

use std::io::{self, IsTerminal as _};

use mainspring_platform::terminal;

use crate::children::permit::Permit;
use crate::children::process;
use crate::env::{Environment, name};
use crate::output::Paint;

/// Shows a text that is longer than the window in a pager: `$PAGER`, or `less`. Returns false if
/// the text must be printed instead.
pub(crate) fn shows(env: &Environment, text: &str, paint: Paint) -> bool {
    let Some((_, rows)) = terminal::size() else {
        return false;
    };
    let dumb = env.var_os(name::TERM).is_none_or(|term| term == "dumb");
    if dumb || text.lines().count() < rows || !io::stdin().is_terminal() {
        return false;
    }
    let pager = env.var(name::PAGER).unwrap_or_else(|| "less".into());
    let words = shlex::split(&pager).unwrap_or_default();
    let is_known = words.first().is_some_and(|program| {
        program != "cat" && (program.contains('/') || env.program(program).is_some())
    });
    is_known && process::fed(&Permit::for_view(), &words, &paint.shown(text)).is_ok()
}
