//! What we remember of a claim besides its file: which messages were given, and which still wait.
//! It is stored outside the repository.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::pull::{Ci, PullState, Review};
use super::work::Missing;
use crate::ids::{Millis, SessionId};

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct ClaimMemory {
    /// The issue that all other fields are about; for another issue they start empty.
    pub issue: Option<u64>,
    /// The session that claimed the issue or last changed the claim.
    pub owner: Option<SessionId>,
    pub mail: Vec<Mail>,
    pub told: Told,
    /// What the agent was told is missing. The same thing is not said twice in a row.
    pub lacking: Option<Missing>,
    pub card: Option<CardFault>,
    pub consent: Consent,
    /// When the agent was told of the merge: what a person said before is no answer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Millis>,
    /// The agent was told that `done` in the file alone closes nothing.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub told_unconsented: bool,
    /// The commit by which we hold the issue on the git server; `None` if we do not.
    pub lease: Option<String>,
    /// GitHub asked us not to call before this time.
    pub not_before: Option<Millis>,
    /// When a branch without a claim was last looked at, and which merge was reported.
    pub looked: Option<Millis>,
    pub suggested: Option<u64>,
}

/// A message for the agent that waits for the next prompt, start or stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mail {
    pub topic: Topic,
    pub weight: Weight,
    pub at: Millis,
    pub text: String,
}

/// Newer mail on a topic replaces the older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Work,
    Ci,
    Pull,
    /// The question whether to close the issue.
    Merge,
    Review,
    Next,
}

/// Is it worth a turn of the agent?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Said when the agent is about to work anyway.
    Info,
    /// The agent is kept going or woken for it.
    Wake,
}

/// What the agent was told about its pull request: each change is told once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    pub head: String,
    pub ci: Ci,
    /// Since when this head has had no checks.
    pub bare_since: Option<Millis>,
    pub bare_told: bool,
    /// The last sentence about the checks.
    pub said: String,
    pub state: Option<PullState>,
    pub review: Review,
}

/// Why the board could not be updated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CardFault {
    pub status: String,
    pub cause: String,
    /// `None`: not before the status changes.
    pub retry_at: Option<Millis>,
}

/// Has a person written since the agent was told of the merge? Only then could the agent ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    #[default]
    NotAsked,
    Asked,
    /// The person wrote a prompt afterwards.
    Spoken,
    /// They said yes: in a terminal, or in a message that the host's transcript has.
    Given,
}

/// If its owner has not fetched mail for this long, any session here may read it.
const FORWARD: Millis = Millis::seconds(10 * 60);

/// The most mail that is given at once.
const MOST_MAIL: usize = 8;

impl ClaimMemory {
    /// The memory of this issue. The memory of another issue is dropped.
    #[must_use]
    pub fn about(&self, issue: u64) -> Self {
        match self.issue {
            Some(known) if known == issue => self.clone(),
            Some(_) => Self {
                issue: Some(issue),
                ..Self::default()
            },
            // Somebody wrote a claim by hand where there was none. Mail from before may stay.
            None => Self {
                issue: Some(issue),
                ..self.clone()
            },
        }
    }

    /// For a claim that is gone: only the messages that nobody has read yet.
    #[must_use]
    pub fn after(self) -> Self {
        if self.mail.is_empty() {
            return Self::default();
        }
        Self {
            owner: self.owner,
            mail: self.mail,
            ..Self::default()
        }
    }

    pub fn post(&mut self, mail: Mail) {
        self.mail.retain(|old| old.topic != mail.topic);
        self.mail.push(mail);
        let surplus = self.mail.len().saturating_sub(MOST_MAIL);
        self.mail.drain(..surplus);
    }

    /// May this session read the mail and be held for it?
    pub fn is_for(&self, session: Option<&SessionId>, now: Millis) -> bool {
        let oldest = self.mail.iter().map(|mail| mail.at).min();
        let forwarded = oldest.is_some_and(|at| now.since(at) >= FORWARD);
        match (&self.owner, session) {
            (None, _) => true,
            (Some(owner), Some(session)) => owner == session || forwarded,
            (Some(_), None) => forwarded,
        }
    }

    /// Takes out the mail that this session reads now: all of it, or only what is worth keeping an
    /// agent going for.
    pub fn fetch(
        &mut self,
        session: Option<&SessionId>,
        now: Millis,
        at_least: Weight,
    ) -> Option<String> {
        let wake = self.mail.iter().any(|mail| mail.weight == Weight::Wake);
        let due = match at_least {
            Weight::Info => !self.mail.is_empty(),
            Weight::Wake => wake,
        };
        if !due || !self.is_for(session, now) {
            return None;
        }
        if let Some(session) = session {
            self.owner = Some(session.clone());
        }
        let asks = self.mail.iter().any(|mail| mail.topic == Topic::Merge);
        if asks && self.consent != Consent::Given {
            self.consent = Consent::Asked;
            self.asked_at = Some(now);
        }
        let texts: Vec<String> = self.mail.drain(..).map(|mail| mail.text).collect();
        Some(texts.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(topic: Topic, weight: Weight, at: u64, text: &str) -> Mail {
        Mail {
            topic,
            weight,
            at: Millis::seconds(at),
            text: text.into(),
        }
    }

    fn session(name: &str) -> SessionId {
        SessionId::parse(name).unwrap()
    }

    #[test]
    fn newer_mail_on_a_topic_replaces_the_older_and_the_box_has_a_limit() {
        let mut memory = ClaimMemory::default();
        memory.post(mail(Topic::Ci, Weight::Info, 1, "1 running"));
        memory.post(mail(Topic::Pull, Weight::Wake, 2, "merged"));
        memory.post(mail(Topic::Ci, Weight::Wake, 3, "failed"));
        let texts: Vec<&str> = memory.mail.iter().map(|mail| mail.text.as_str()).collect();
        assert_eq!(texts, ["merged", "failed"]);
    }

    #[test]
    fn mail_is_read_once() {
        let mut memory = ClaimMemory::default();
        memory.post(mail(Topic::Ci, Weight::Wake, 1, "failed"));
        let now = Millis::seconds(2);
        assert_eq!(
            memory.fetch(None, now, Weight::Wake).as_deref(),
            Some("failed")
        );
        assert_eq!(memory.fetch(None, now, Weight::Info), None);
    }

    #[test]
    fn progress_alone_is_not_worth_a_turn_but_goes_with_what_is() {
        let mut memory = ClaimMemory::default();
        memory.post(mail(Topic::Ci, Weight::Info, 1, "2/3 passed"));
        let now = Millis::seconds(2);
        assert_eq!(memory.clone().fetch(None, now, Weight::Wake), None);
        assert!(memory.clone().fetch(None, now, Weight::Info).is_some());
        memory.post(mail(Topic::Review, Weight::Wake, 1, "changes requested"));
        let text = memory.fetch(None, now, Weight::Wake);
        assert_eq!(text.as_deref(), Some("2/3 passed\nchanges requested"));
    }

    #[test]
    fn another_sessions_mail_waits_for_it_but_not_for_ever() {
        let mut memory = ClaimMemory {
            owner: Some(session("a")),
            ..ClaimMemory::default()
        };
        memory.post(mail(Topic::Ci, Weight::Wake, 0, "failed"));
        let other = session("b");
        assert_eq!(
            memory.fetch(Some(&other), Millis::seconds(599), Weight::Wake),
            None
        );
        let text = memory.fetch(Some(&other), Millis::seconds(600), Weight::Wake);
        assert_eq!(text.as_deref(), Some("failed"));
        assert_eq!(memory.owner, Some(other), "who reads it goes on with it");
    }

    #[test]
    fn another_issue_starts_with_an_empty_memory() {
        let memory = ClaimMemory {
            issue: Some(1),
            consent: Consent::Spoken,
            ..ClaimMemory::default()
        };
        assert_eq!(memory.about(1).consent, Consent::Spoken);
        assert_eq!(memory.about(2).consent, Consent::NotAsked);
    }
}
