//! How a settings file calls us. Some hosts drop a hook's list of arguments, and a file that one
//! host's settings are in may be read by another host, too. So an event's hook is one word, our
//! second name, and everything else is a line for the shell.

use std::path::{Path, PathBuf};

use mainspring_platform::path::for_shell;

/// Our program.
pub(crate) const PROGRAM: &str = "mainspring";
/// Our program's second name: it answers one event, and needs no argument.
pub(crate) const HOOK: &str = "mainspring-hook";
/// What [`HOOK`] is given in a file that several people share.
pub(crate) const SHARED: &str = "shared";

/// The commands that a settings file calls us by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A person's own file: these very programs.
    Own { program: PathBuf, hook: PathBuf },
    /// A file that people share: what is on the PATH of whoever works here, and nothing at all
    /// where Mainspring is not installed.
    Shared,
}

impl Caller {
    /// By the names that are on the PATH.
    pub(crate) fn by_name() -> Self {
        Self::Own {
            program: PROGRAM.into(),
            hook: HOOK.into(),
        }
    }

    /// The command line that answers an event.
    pub(crate) fn hook(&self) -> String {
        match self {
            Self::Own { hook, .. } => quoted(hook),
            Self::Shared => format!("{}exec {HOOK} {SHARED}", where_found(HOOK)),
        }
    }

    /// The command line for a few plain words.
    pub(crate) fn line(&self, words: &[&str]) -> String {
        let words = words.join(" ");
        match self {
            Self::Own { program, .. } => format!("{} {words}", quoted(program)),
            Self::Shared => format!("{}exec {PROGRAM} {words}", where_found(PROGRAM)),
        }
    }
}

fn where_found(program: &str) -> String {
    format!("command -v {program} >/dev/null 2>&1 || exit 0; ")
}

/// A path as one word of a command line. It is text: `install` refuses any other.
fn quoted(path: &Path) -> String {
    let text = for_shell(path).unwrap_or_default();
    // The only text that cannot be quoted has a NUL, which no path has.
    shlex::try_quote(&text).unwrap_or_default().into_owned()
}

/// Is this command line one word, which means the same with and without a shell?
pub(crate) fn is_one_word(line: &str) -> bool {
    shlex::try_quote(line).is_ok_and(|quoted| quoted == line)
}

/// What a command line runs in the end: a program and its arguments. Empty if it cannot be
/// told.
pub(crate) fn words(line: &str) -> Vec<String> {
    let last = line.rsplit([';', '|', '&']).next().unwrap_or_default();
    let mut words = shlex::split(last).unwrap_or_default();
    let is_before = |word: &String| word == "exec" || is_assignment(word);
    let before = words.iter().take_while(|word| is_before(word)).count();
    words.drain(..before);
    words
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_line_that_we_write_runs_our_program_with_its_words() {
        for folder in ["/usr/bin", "/home/me/my tools", "/home/o'brien/$bin"] {
            let own = Caller::Own {
                program: Path::new(folder).join(PROGRAM),
                hook: Path::new(folder).join(HOOK),
            };
            assert_eq!(words(&own.hook()), [format!("{folder}/mainspring-hook")]);
            let watch = own.line(&["claim", "watch"]);
            let program = format!("{folder}/mainspring");
            assert_eq!(words(&watch), [program.as_str(), "claim", "watch"]);
            assert_eq!(is_one_word(&own.hook()), folder == "/usr/bin");
        }
        assert_eq!(words(&Caller::Shared.hook()), [HOOK, SHARED]);
        let watch = Caller::Shared.line(&["claim", "watch"]);
        assert_eq!(words(&watch), [PROGRAM, "claim", "watch"]);
    }

    #[test]
    fn what_a_person_writes_before_the_program_is_passed_over() {
        for line in [
            "mainspring hook",
            "  exec mainspring hook",
            "A=1 B_2='x y' mainspring hook",
            "cd /tmp && \"mainspring\" hook",
            "true; mainspring 'hook'",
        ] {
            assert_eq!(words(line), ["mainspring", "hook"], "{line}");
        }
        assert_eq!(words("mainspring 'hook"), [""; 0]);
        assert_eq!(words(""), [""; 0]);
    }
}
