//! Ways to make a stop pass although the check did not pass over this very tree. Each is tried
//! after the check was green, through the binary.
//!
//! | what must come of it | |
//! |---|---|
//! | `Runs` | the old result does not count: the check runs again, and is red |
//! | `Holds` | the check does not run, and the agent is held |
//! | `Loud` | the stop passes, it is no pass, and the person is told |
//! | `Same` | nothing that the check depends on has changed: its result counts |
//! | `Unknowable` | it passes, and nobody could know better; the documentation says so |

mod after_red;
mod content;
mod definition;
mod runs;

use super::Checked;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    Runs,
    Holds,
    Loud(&'static str),
    Same,
    Unknowable,
}

/// Plays the lie, and checks what comes of it at the next stop.
fn lie(checked: &Checked, comes: Comes) {
    let before = checked.runs();
    let answer = checked.stop("done, all tests pass");
    let ran = checked.runs() - before;
    match comes {
        Comes::Runs => {
            let text = answer.held();
            assert!(text.contains("`tests` fails"), "{text}");
            assert!(ran > 0, "it ran");
        }
        Comes::Holds => {
            assert!(answer.held().contains("tests"));
            assert_eq!(ran, 0, "it did not run");
        }
        Comes::Loud(said) => {
            let text = answer.let_go();
            assert!(text.contains(said), "{text}");
            assert!(!text.contains("tests pass at"), "{text}");
        }
        Comes::Same => {
            assert_eq!(answer.let_go(), "");
            assert_eq!(ran, 0, "nothing ran");
        }
        Comes::Unknowable => {
            let _ = answer.let_go();
        }
    }
}

/// A green project, then the lie.
fn told(comes: Comes, more: &str, lies: impl FnOnce(&Checked)) {
    let checked = Checked::with(more).green();
    lies(&checked);
    lie(&checked, comes);
}

const BAD: &str = "no\n";
