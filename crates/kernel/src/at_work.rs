//! What an effect does, as people see it while it runs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::data::Never;
use crate::ids::Millis;
use crate::name::Name;

/// What an effect does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Work {
    /// What is done: "plan review".
    pub what: String,
    /// Which of how many.
    #[serde(flatten)]
    pub count: Option<Count>,
    /// Who does it, if that matters: the model of a reviewer.
    pub who: Option<String>,
    /// What else a person wants to know, in a few words.
    pub more: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    pub number: u32,
    pub of: u32,
}

impl Work {
    /// Work of which there is nothing to say but what it is.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            count: None,
            who: None,
            more: None,
        }
    }

    /// "plan review 2 of 8"
    pub fn name(&self) -> String {
        match self.count {
            None => self.what.clone(),
            Some(Count { number, of }) => format!("{} {number} of {of}", self.what),
        }
    }
}

/// An effect says what it does.
pub trait Describe {
    fn work(&self) -> Work;
}

impl Describe for Never {
    fn work(&self) -> Work {
        match *self {}
    }
}

/// An effect that runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AtWork {
    pub machine: Name,
    #[serde(flatten)]
    pub work: Work,
    pub since: Millis,
    pub deadline: Millis,
    /// How long it has run.
    pub ran: Millis,
}

impl AtWork {
    /// "plan review 2 of 8, sonnet, 3m 12s of 10m, streak 1"
    pub fn line(&self) -> String {
        let limit = self.deadline.since(self.since);
        let time = format!("{} of {}", self.ran.in_words(), limit.in_words());
        let Work { who, more, .. } = &self.work;
        let parts = [
            Some(self.work.name()),
            who.clone(),
            Some(time),
            more.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }

    /// The line, and how to end the work.
    pub fn line_and_end(&self) -> String {
        format!(
            "{}; `mainspring stop {}` ends it",
            self.line(),
            self.machine
        )
    }

    /// "plan review 2 of 8, sonnet, 3m", for the host's status line
    pub fn brief(&self) -> String {
        let ran = self.ran.in_words();
        // The largest unit is enough there.
        let ran = ran.split(' ').next().map(String::from);
        let what = match self.work.count {
            Some(_) => self.work.name(),
            None => format!("{}: {}", self.machine, self.work.what),
        };
        let parts = [Some(what), self.work.who.clone(), ran];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_runs_by_whom_for_how_long_and_what_else() {
        let mut work = AtWork {
            machine: Name::Review,
            work: Work {
                count: Some(Count { number: 2, of: 8 }),
                who: Some("sonnet".into()),
                more: Some("streak 1".into()),
                ..Work::new("plan review")
            },
            since: Millis::seconds(1_000),
            deadline: Millis::seconds(1_600),
            ran: Millis::seconds(192),
        };
        assert_eq!(
            work.line(),
            "plan review 2 of 8, sonnet, 3m 12s of 10m, streak 1"
        );
        assert_eq!(work.brief(), "plan review 2 of 8, sonnet, 3m");
        assert_eq!(
            work.line_and_end(),
            "plan review 2 of 8, sonnet, 3m 12s of 10m, streak 1; `mainspring stop review` ends it"
        );
        work.work = Work::new("opening the pull request of #42");
        assert_eq!(
            work.line(),
            "opening the pull request of #42, 3m 12s of 10m"
        );
        work.machine = Name::Claim;
        assert_eq!(work.brief(), "claim: opening the pull request of #42, 3m");
    }
}
