//! What can be set for `claim`.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::rounds;

use crate::config::{self, Config, List, Text, settings};

settings! {
    [claim] ClaimSettings at claim {
        /// number of the GitHub project board; 0: none
        project: u64 = 0, Trusted, most 1_000_000, variable "MOLTNET_PROJECT_NUMBER";
        /// the board's owner; if empty, the repository's owner
        owner: Text = Text::Borrowed(""), Trusted, variable "MOLTNET_PROJECT_OWNER";
        /// the git remote of the repository with the issues; if empty, gh's default, upstream or
        /// origin
        remote: Text = Text::Borrowed(""), Trusted;
        /// the board's names for Todo, In Progress, In Review and Done, in this order
        columns: List = List::Borrowed(&[]), Trusted;
        /// messages in your language that let an issue be closed; #N is its number
        consent: List = List::Borrowed(&[]), User;
        /// GitHub Enterprise servers, in addition to those that gh is signed in to
        hosts: List = List::Borrowed(&[]), User;
        /// the GitHub command line: a name on PATH, or an absolute path
        gh: Text = Text::Borrowed("gh"), User;
        /// git: a name on PATH, or an absolute path
        git: Text = Text::Borrowed("git"), User;
        /// how often since a prompt the agent is told that CI failed, before it waits for you; 0: no
        /// limit
        max_ci_rounds: u32 = rounds::MOST, User, most 1_000;
        /// how often `claim watch` looks at the pull request
        watch: Millis = Millis::seconds(120), User, variable "MAINSPRING_CLAIM_WATCH";
    }
}

/// What else the user may say to let an issue be closed.
pub(crate) fn phrases(config: &Config) -> Vec<String> {
    config::owned(&config.claim.consent)
}
