//! Checks on commits.

/// One check on one commit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Check {
    pub name: String,
    pub kind: CheckKind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CheckKind {
    /// A check run, as GitHub Actions makes them.
    Run(RunState),
    /// A status context, as older services post them: `PENDING`, `SUCCESS`,
    /// `FAILURE`, `ERROR` or `EXPECTED`.
    Status(String),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RunState {
    /// `QUEUED`, `IN_PROGRESS`, `WAITING` …
    Unfinished(String),
    /// `SUCCESS`, `FAILURE`, `SKIPPED` …
    Completed(String),
}

impl Check {
    pub fn queued(name: &str) -> Self {
        Self::unfinished(name, "QUEUED")
    }

    pub fn running(name: &str) -> Self {
        Self::unfinished(name, "IN_PROGRESS")
    }

    fn unfinished(name: &str, status: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: CheckKind::Run(RunState::Unfinished(status.to_owned())),
        }
    }

    pub fn completed(name: &str, conclusion: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: CheckKind::Run(RunState::Completed(conclusion.to_owned())),
        }
    }

    pub fn status(context: &str, state: &str) -> Self {
        Self {
            name: context.to_owned(),
            kind: CheckKind::Status(state.to_owned()),
        }
    }
}
