//! What waits in a project for a person to trust it. The person is told once in each session,
//! and at every stop of what may have let go of an agent that was held; the agent is told nothing.

use std::fmt;

use mainspring_kernel::decision::listed;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustNotice {
    /// The project brings these files, and nobody trusted it.
    Untrusted { files: Vec<&'static str> },
    /// The record of what was trusted cannot be read.
    Unreadable { cause: String },
    /// The project is not the one that was trusted at this path.
    Replaced,
    /// The same, below one of `[trust] roots`.
    ReplacedBelowRoot,
    /// This file is not the version that was trusted.
    Newer { file: &'static str },
    /// This file was trusted, and is gone.
    Removed { file: &'static str },
    /// This file defines these checks in a project that is only below one of `[trust] roots`.
    Checks {
        file: &'static str,
        names: Vec<String>,
    },
}

impl TrustNotice {
    /// A name for this kind of notice, so that each kind is told once.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Untrusted { .. } => "untrusted",
            Self::Unreadable { .. } => "unreadable",
            Self::Replaced | Self::ReplacedBelowRoot => "replaced",
            Self::Newer { .. } => "newer",
            Self::Removed { .. } => "removed",
            Self::Checks { .. } => "checks",
        }
    }

    /// Is it said at every stop? What held the agent may have been let go by it.
    pub(crate) const fn is_urgent(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. } | Self::Replaced | Self::ReplacedBelowRoot
        )
    }
}

impl TrustNotice {
    /// What is the case, without what to do about it.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Untrusted { files } => format!(
                "this project brings {}, which Mainspring ignores until you trust the project",
                listed(files)
            ),
            Self::Unreadable { cause } => {
                format!("{cause}. This project's files are ignored until you trust it again")
            }
            Self::Replaced => "this is not the project that you trusted at this path, or somebody \
                               deleted its .git/mainspring-id: this project's files are ignored"
                .into(),
            Self::ReplacedBelowRoot => "this is not the project that you trusted at this path, or \
                                        somebody deleted its .git/mainspring-id: it counts as any \
                                        other project below your [trust] roots, without the \
                                        checks that you trusted"
                .into(),
            Self::Newer { file } => format!(
                "{file} is not the version that you trusted: the trusted one stays in force"
            ),
            Self::Removed { file } => {
                format!("{file} is gone: the version that you trusted stays in force")
            }
            Self::Checks { file, names } => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let what = match names.as_slice() {
                    [one] => format!("the check {one}, which does"),
                    all => format!("the checks {}, which do", listed(all)),
                };
                format!(
                    "{file} defines {what} not run yet: a folder in `[trust] roots` allows no \
                     command of a project"
                )
            }
        }
    }

    /// The command to type.
    pub(crate) const fn remedy(&self) -> &'static str {
        match self {
            Self::Untrusted { .. } => "`mainspring trust` shows what that would allow",
            Self::Unreadable { .. } => "`mainspring trust` asks for it anew",
            Self::Replaced | Self::ReplacedBelowRoot => {
                "`mainspring trust` trusts what is here now; `mainspring untrust` ends this message"
            }
            Self::Newer { .. } => "`mainspring trust` shows the difference",
            Self::Removed { .. } => "`mainspring trust` goes on without it",
            Self::Checks { .. } => "`mainspring trust` shows and allows them",
        }
    }
}

impl fmt::Display for TrustNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, remedy) = (self.what(), self.remedy());
        match self {
            Self::Untrusted { .. } => write!(f, "{what}: {remedy}"),
            Self::Unreadable { .. }
            | Self::Replaced
            | Self::ReplacedBelowRoot
            | Self::Newer { .. }
            | Self::Removed { .. }
            | Self::Checks { .. } => {
                write!(f, "{what}. {remedy}")
            }
        }
    }
}
