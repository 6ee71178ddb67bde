//! What can be set for `claim`.

use mainspring_kernel::machines::claim::rounds;

use crate::config::{Config, Key, Kind, Reach, Value};

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "claim.project",
        kind: Kind::Number { most: 1_000_000 },
        default: "0",
        reach: Reach::Anyone,
        variable: Some("MOLTNET_PROJECT_NUMBER"),
        about: "number of the GitHub project board; 0: none",
    },
    Key {
        name: "claim.owner",
        kind: Kind::Text,
        default: "",
        reach: Reach::Anyone,
        variable: Some("MOLTNET_PROJECT_OWNER"),
        about: "the board's owner; if empty, the repository's owner",
    },
    Key {
        name: "claim.remote",
        kind: Kind::Text,
        default: "",
        reach: Reach::Anyone,
        variable: None,
        about: "the git remote of the repository with the issues; if empty, gh's default, upstream or origin",
    },
    Key {
        name: "claim.columns",
        kind: Kind::List,
        default: "",
        reach: Reach::Anyone,
        variable: None,
        about: "the board's names for Todo, In Progress, In Review and Done, in this order",
    },
    Key {
        name: "claim.consent",
        kind: Kind::List,
        default: "",
        reach: Reach::User,
        variable: None,
        about: "messages in your language that let an issue be closed; #N is its number",
    },
    Key {
        name: "claim.hosts",
        kind: Kind::List,
        default: "",
        reach: Reach::User,
        variable: None,
        about: "GitHub Enterprise servers, in addition to those that gh is signed in to",
    },
    Key {
        name: "claim.gh",
        kind: Kind::Text,
        default: "gh",
        reach: Reach::User,
        variable: None,
        about: "the GitHub command line: a name on PATH, or an absolute path",
    },
    Key {
        name: "claim.git",
        kind: Kind::Text,
        default: "git",
        reach: Reach::User,
        variable: None,
        about: "git: a name on PATH, or an absolute path",
    },
    Key {
        name: "claim.max_ci_rounds",
        kind: Kind::Number { most: 1_000 },
        default: "5",
        reach: Reach::User,
        variable: None,
        about: "how often since a prompt the agent is told that CI failed, before it waits for you; 0: no limit",
    },
    Key {
        name: "claim.watch",
        kind: Kind::Span,
        default: "2m",
        reach: Reach::User,
        variable: Some("MAINSPRING_CLAIM_WATCH"),
        about: "how often `claim watch` looks at the pull request",
    },
];

/// How often since a prompt the agent is told of red CI.
pub(crate) fn max_ci_rounds(config: &Config) -> u32 {
    let set = config.get("claim.max_ci_rounds").and_then(Value::number);
    set.and_then(|most| u32::try_from(most).ok())
        .unwrap_or(rounds::MOST)
}

/// What else the user may say to let an issue be closed.
pub(crate) fn phrases(config: &Config) -> Vec<String> {
    let listed = config.get("claim.consent").and_then(Value::list);
    listed.unwrap_or_default().to_vec()
}
