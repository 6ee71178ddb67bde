//! What we remember of a claim besides its file: which messages were given, and which still wait.
//! It is stored outside the repository.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::pull::{Ci, Outlook, PullState, Review};
use super::rounds::Rounds;
use super::trouble::LookTrouble;
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
    #[serde(skip_serializing_if = "Rounds::are_new")]
    pub rounds: Rounds,
    /// What the agent was told is missing. The same thing is not said twice in a row.
    pub lacking: Option<Missing>,
    pub card: Option<CardFault>,
    pub consent: Consent,
    /// When the pull request was merged: what a person said before does not let the issue be
    /// closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Millis>,
    /// The agent was told that `done` in the file alone closes nothing.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub told_unconsented: bool,
    /// The commit by which we hold the issue on the git server; `None` if we do not.
    pub lease: Option<String>,
    /// Who has taken the issue over from us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// What the claim on the git server says, and when we last wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beat: Option<Beat>,
    /// The remotes of this claim.
    #[serde(skip_serializing_if = "Route::is_unknown")]
    pub route: Route,
    /// The worktree with the claim file, if it is a linked one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Why the pull request could not be looked at the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<LookTrouble>,
    /// GitHub asked us not to call before this time.
    pub not_before: Option<Millis>,
    /// When a branch without a claim was last looked at, and which merge was reported.
    pub looked: Option<Millis>,
    pub suggested: Option<u64>,
}

/// The last time that we wrote the claim on the git server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Beat {
    pub at: Millis,
    /// The phase that it says.
    pub phase: String,
}

/// Which remote is for what, as it was found when the issue was claimed. Empty: not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Route {
    /// The remote of the repository to which the branch is pushed.
    pub push: String,
    /// The remote that has the claim.
    pub claims: String,
}

impl Route {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// A message for the agent that waits for the next prompt, start or stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mail {
    pub topic: Topic,
    pub weight: Weight,
    pub at: Millis,
    pub text: String,
    /// Lines of a log, which no record keeps.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// It says that CI failed: `rounds` limits how often the agent works on for that.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub red: bool,
}

impl Mail {
    pub fn new(topic: Topic, weight: Weight, at: Millis, text: String) -> Self {
        Self {
            topic,
            weight,
            at,
            text,
            log: String::new(),
            red: false,
        }
    }

    pub(super) fn into_text(self) -> String {
        if self.log.is_empty() {
            return self.text;
        }
        self.text + "\n" + &self.log
    }
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
    /// A conflict with the base branch, the merge queue, a forced push.
    Outlook,
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
    #[serde(skip_serializing_if = "Outlook::is_plain")]
    pub outlook: Outlook,
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

/// The most mail that is given at once.
const MOST_MAIL: usize = 8;

impl ClaimMemory {
    /// Nobody has been asked about the work that follows.
    pub(super) fn ask_anew(&mut self) {
        self.lacking = None;
        self.consent = Consent::NotAsked;
        self.merged_at = None;
        self.told_unconsented = false;
    }

    /// The memory of this issue. The memory of another issue is dropped.
    #[must_use]
    pub fn about(&self, issue: u64) -> Self {
        // Without an issue: somebody wrote a claim by hand where there was none. Mail from before
        // may stay.
        let fits = self.issue.is_none_or(|known| known == issue);
        Self {
            issue: Some(issue),
            ..if fits { self.clone() } else { Self::default() }
        }
    }

    /// For a claim that is gone: only the messages that nobody has read yet, and the claim on the
    /// git server, if it is still there.
    #[must_use]
    pub fn after(self) -> Self {
        let held = self.lease.is_some();
        let unread = !self.mail.is_empty();
        Self {
            issue: self.issue.filter(|_| held),
            owner: self.owner.filter(|_| unread),
            mail: self.mail,
            lease: self.lease,
            beat: self.beat.filter(|_| held),
            route: if held { self.route } else { Route::default() },
            worktree: self.worktree.filter(|_| held || unread),
            ..Self::default()
        }
    }

    /// The commit whose failed checks the agent was told of.
    pub fn known_failure(&self) -> Option<String> {
        (self.told.ci == Ci::Failed).then(|| self.told.head.clone())
    }

    /// Has GitHub asked us to come back later?
    pub fn is_told_to_wait(&self, now: Millis) -> bool {
        self.not_before.is_some_and(|at| now < at)
    }

    /// The agent is told of the merge, and asks.
    pub fn ask(&mut self) {
        if self.consent != Consent::Given {
            self.consent = Consent::Asked;
        }
    }

    pub fn post(&mut self, mail: Mail) {
        self.mail.retain(|old| old.topic != mail.topic);
        self.mail.push(mail);
        let surplus = self.mail.len().saturating_sub(MOST_MAIL);
        self.mail.drain(..surplus);
    }

    /// Is the claim this session's, or nobody's? Only such a session reads its mail, is held for it
    /// and is woken by it. If the claim's session is gone, the claim is nobody's.
    pub fn is_own(&self, session: Option<&SessionId>) -> bool {
        self.owner.is_none() || self.owner.as_ref() == session
    }

    /// Is there mail that is worth a turn of the agent, and may it have that turn now?
    pub fn has_urgent(&self, most: u32, now: Millis) -> bool {
        let may = self.rounds.may_tell(most, now);
        let mut mail = self.mail.iter();
        mail.any(|mail| mail.weight == Weight::Wake && (!mail.red || may))
    }

    /// Takes out the mail for a session that is kept going or woken for it; `most` limits how often
    /// that happens for red CI.
    pub fn fetch_urgent(
        &mut self,
        session: Option<&SessionId>,
        most: u32,
        now: Millis,
    ) -> Option<String> {
        if !self.has_urgent(most, now) {
            return None;
        }
        let may = self.rounds.may_tell(most, now);
        let (given, kept) = core::mem::take(&mut self.mail)
            .into_iter()
            .partition(|mail| !mail.red || may);
        self.mail = given;
        let text = self.fetch(session, now);
        self.mail.extend(kept);
        text
    }

    /// Takes out all mail, for a session that is about to work anyway.
    pub fn fetch(&mut self, session: Option<&SessionId>, now: Millis) -> Option<String> {
        if self.mail.is_empty() || !self.is_own(session) {
            return None;
        }
        if let Some(session) = session {
            self.owner = Some(session.clone());
        }
        let asks = self.mail.iter().any(|mail| mail.topic == Topic::Merge);
        if asks {
            self.ask();
        }
        if self.mail.iter().any(|mail| mail.red) {
            self.rounds.tell(now);
        }
        let texts: Vec<String> = self.mail.drain(..).map(Mail::into_text).collect();
        Some(texts.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::MOST;
    use super::*;

    const NOW: Millis = Millis::seconds(100_000);

    fn mail(topic: Topic, weight: Weight, at: u64, text: &str) -> Mail {
        Mail::new(topic, weight, Millis::seconds(at), text.into())
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
        assert_eq!(
            memory.fetch_urgent(None, MOST, NOW).as_deref(),
            Some("failed")
        );
        assert_eq!(memory.fetch(None, NOW), None);
    }

    #[test]
    fn progress_alone_is_not_worth_a_turn_but_goes_with_what_is() {
        let mut memory = ClaimMemory::default();
        memory.post(mail(Topic::Ci, Weight::Info, 1, "2/3 passed"));
        assert_eq!(memory.clone().fetch_urgent(None, MOST, NOW), None);
        assert!(memory.clone().fetch(None, NOW).is_some());
        memory.post(mail(Topic::Review, Weight::Wake, 1, "changes requested"));
        let text = memory.fetch_urgent(None, MOST, NOW);
        assert_eq!(text.as_deref(), Some("2/3 passed\nchanges requested"));
    }

    #[test]
    fn a_sessions_mail_is_read_by_no_other() {
        let mut memory = ClaimMemory {
            owner: Some(session("a")),
            ..ClaimMemory::default()
        };
        memory.post(mail(Topic::Ci, Weight::Wake, 0, "failed"));
        let other = session("b");
        assert_eq!(memory.fetch_urgent(Some(&other), MOST, NOW), None);
        assert_eq!(memory.fetch_urgent(None, MOST, NOW), None);
        memory.owner = None;
        let text = memory.fetch_urgent(Some(&other), MOST, NOW);
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
