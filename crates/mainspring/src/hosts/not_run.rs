//! Hosts that Mainspring was not run in: what their documents say, so that nobody relies on it in
//! silence.

use crate::env::Environment;

/// A host without an entry in the table of hosts.
#[derive(Debug)]
pub(crate) struct NotRun {
    pub(crate) name: &'static str,
    /// The names of its program.
    programs: &'static [&'static str],
    /// What Mainspring could do there, and what it could not.
    pub(crate) what: &'static str,
}

pub(crate) const NOT_RUN: &[NotRun] = &[
    NotRun {
        name: "Cursor",
        programs: &["cursor-agent"],
        what: "its hooks send a message of their own at a stop instead of a reason, and its models \
               run only in its cloud",
    },
    NotRun {
        name: "Kimi Code",
        programs: &["kimi"],
        what: "it does not understand a block, and asks only once in a turn, so nothing that needs \
               two holds can work: no gate, no loop, no review",
    },
    NotRun {
        name: "Cline",
        programs: &["cline"],
        what: "its hooks cannot hold a stop at all",
    },
    NotRun {
        name: "Kiro",
        programs: &["kiro-cli", "kiro"],
        what: "its hooks at a stop can only report",
    },
];

impl NotRun {
    /// Is it on this computer?
    pub(crate) fn is_here(&self, env: &Environment) -> bool {
        let mut programs = self.programs.iter();
        programs.any(|program| env.program(program).is_some())
    }
}
