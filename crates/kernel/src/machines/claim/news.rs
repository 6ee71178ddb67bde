//! What is new about a pull request, and what of it the agent must know. Each change is told once,
//! whatever the event at which it was seen.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::ClaimFile;
use super::consent::{Phrases, examples};
use super::memory::{ClaimMemory, Mail, Told, Topic, Weight};
use super::phase::Phase;
use super::pull::{Ci, Pull, PullState, Review};
use crate::hidden::quote;
use crate::ids::Millis;

/// How long a head may be without checks before the agent is told.
pub const GRACE: Millis = Millis::seconds(5 * 60);

/// One look at a pull request.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub pull: &'a Pull,
    pub now: Millis,
    /// What else counts as a yes, for the question.
    pub phrases: Phrases<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullNews {
    pub claim: ClaimFile,
    pub memory: ClaimMemory,
    pub news: Vec<Mail>,
    /// The same, for the person's desktop: only what is worth a notice.
    pub notices: Vec<String>,
}

impl PullNews {
    /// Takes in a look at the claim's pull request.
    pub fn of(claim: &ClaimFile, memory: &ClaimMemory, look: Look<'_>) -> Self {
        let Look { pull, now, .. } = look;
        let mut seen = Self {
            claim: claim.clone(),
            memory: memory.clone(),
            news: Vec::new(),
            notices: Vec::new(),
        };
        seen.claim.last_check_poll = Some(now);
        seen.memory.not_before = None;
        seen.memory.trouble = None;
        match pull.state {
            PullState::Merged => seen.merged(look),
            PullState::Closed => seen.closed(pull, now),
            PullState::Open => {
                seen.move_on(Phase::ChecksRunning);
                seen.foresee(pull, now);
                seen.reviewed(pull, now);
                seen.checked(pull, now);
            }
        }
        seen.memory.told.state = Some(pull.state);
        seen
    }

    /// The arrow that a look takes.
    pub(super) const fn rule(&self) -> &'static str {
        match self.claim.phase {
            Phase::MergedDetected => "merged",
            _ => "polled",
        }
    }

    /// The news that wakes an agent that has stopped.
    pub fn wake(&self) -> Option<String> {
        let texts: Vec<String> = self
            .news
            .iter()
            .filter(|mail| mail.weight == Weight::Wake)
            .map(|mail| mail.clone().into_text())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Puts the news into the mailbox.
    #[must_use]
    pub fn posted(mut self) -> Self {
        for mail in core::mem::take(&mut self.news) {
            self.memory.post(mail);
        }
        self
    }

    fn move_on(&mut self, to: Phase) {
        if matches!(self.claim.phase, Phase::PrCreated | Phase::ChecksRunning) {
            self.claim.phase = to;
        }
    }

    fn tell(&mut self, topic: Topic, at: Millis, text: String) {
        self.news.push(Mail::new(topic, Weight::Info, at, text));
    }

    /// News that is worth a turn of the agent and a notice to the person.
    fn wake_for(&mut self, topic: Topic, at: Millis, text: String, notice: String) {
        self.news.push(Mail::new(topic, Weight::Wake, at, text));
        self.notices.push(notice);
    }

    fn merged(&mut self, look: Look<'_>) {
        let Look { pull, now, phrases } = look;
        self.move_on(Phase::MergedDetected);
        if self.memory.told.state == Some(PullState::Merged) {
            return;
        }
        // If GitHub's clock is ahead of ours, the moment at which we saw it counts.
        let at = pull.merged_at.unwrap_or(now).min(now);
        self.memory.merged_at = Some(at);
        self.memory.mail.retain(|mail| !mail.red);
        let issue = self.claim.issue_number;
        self.wake_for(
            Topic::Merge,
            now,
            question(issue, &format!("PR #{} merged!", pull.number), phrases),
            format!(
                "PR #{} is merged. To close issue #{issue}, answer your agent with `close #{issue}`",
                pull.number
            ),
        );
    }

    fn closed(&mut self, pull: &Pull, now: Millis) {
        self.move_on(Phase::ChecksRunning);
        if self.memory.told.state == Some(PullState::Closed) {
            return;
        }
        let number = pull.number;
        let text = format!(
            "PR #{number} was closed without being merged. Ask the user how to go on: \
             `mainspring handoff` opens another one, `gh pr reopen {number}` opens this one again, \
             `mainspring claim abort` gives issue #{} back.",
            self.claim.issue_number
        );
        self.wake_for(
            Topic::Pull,
            now,
            text,
            format!("PR #{number} was closed without being merged"),
        );
    }

    /// What else may keep it from being merged.
    fn foresee(&mut self, pull: &Pull, now: Millis) {
        let known = !self.memory.told.head.is_empty();
        let before = core::mem::replace(&mut self.memory.told.outlook, pull.outlook.clone());
        let (after, number) = (&pull.outlook, pull.number);
        if after.conflict && !before.conflict {
            let text = format!(
                "PR #{number} has conflicts with its base branch. Merge or rebase, resolve them on \
                 the branch and push."
            );
            let notice = format!("PR #{number} has conflicts with its base branch");
            self.wake_for(Topic::Outlook, now, text, notice);
        } else if before.queued && !after.queued {
            let text = format!(
                "PR #{number} was taken out of the merge queue without being merged: {}",
                quote(&pull.url, 300)
            );
            let notice = format!("PR #{number} was taken out of the merge queue");
            self.wake_for(Topic::Outlook, now, text, notice);
        } else if after.queued && !before.queued {
            let text = format!("PR #{number} is in the merge queue. Do not push to its branch.");
            self.tell(Topic::Outlook, now, text);
        } else if after.auto_merge && !before.auto_merge {
            let text = format!(
                "Auto-merge is on for PR #{number}: GitHub merges it when its checks and reviews \
                 allow it."
            );
            self.tell(Topic::Outlook, now, text);
        }
        if let Some(commit) = after.forced_to.as_ref().filter(|_| known)
            && before.forced_to.as_ref() != Some(commit)
        {
            let text = format!(
                "The branch of PR #{number} was force-pushed and is now at {}. If that was not you, \
                 fetch it before you go on.",
                quote(commit, 12)
            );
            self.tell(Topic::Pull, now, text);
        }
    }

    fn reviewed(&mut self, pull: &Pull, now: Millis) {
        let before = core::mem::replace(&mut self.memory.told.review, pull.review);
        if before == pull.review {
            return;
        }
        let number = pull.number;
        match pull.review {
            Review::ChangesRequested => {
                let url = quote(&pull.url, 300);
                let text = format!("A reviewer of PR #{number} requests changes: {url}");
                let notice = format!("A reviewer of PR #{number} requests changes");
                self.wake_for(Topic::Review, now, text, notice);
            }
            Review::Approved if pull.ci() == Ci::Passed => {
                let text = format!("PR #{number} is approved. {}", pull.outlook_words());
                self.tell(Topic::Review, now, text);
            }
            Review::Approved => {
                self.tell(Topic::Review, now, format!("PR #{number} is approved."));
            }
            Review::None | Review::Required => {}
        }
    }

    fn checked(&mut self, pull: &Pull, now: Millis) {
        if self.memory.told.head != pull.head {
            self.memory.told = Told {
                head: pull.head.clone(),
                state: self.memory.told.state,
                review: self.memory.told.review,
                outlook: self.memory.told.outlook.clone(),
                ..Told::default()
            };
        }
        let ci = pull.ci();
        let before = core::mem::replace(&mut self.memory.told.ci, ci);
        let sentence = pull.sentence();
        match ci {
            Ci::NotStarted => self.bare(pull.number, now),
            Ci::Failed if before != ci => {
                let text = sentence.clone() + &pull.failed_links();
                self.wake_for(Topic::Ci, now, text, pull.notice());
                if let Some(mail) = self.news.last_mut() {
                    mail.red = true;
                    mail.log = log(&pull.log);
                }
            }
            Ci::Passed if before != ci => {
                self.wake_for(Topic::Ci, now, sentence.clone(), pull.notice());
            }
            Ci::Running if self.memory.told.said != sentence => {
                self.tell(Topic::Ci, now, sentence.clone());
            }
            Ci::Failed | Ci::Passed | Ci::Running => {}
        }
        self.memory.told.said = sentence;
    }

    /// The head has no checks.
    fn bare(&mut self, number: u64, now: Millis) {
        let since = *self.memory.told.bare_since.get_or_insert(now);
        if now.since(since) < GRACE || self.memory.told.bare_told {
            return;
        }
        self.memory.told.bare_told = true;
        let text = format!(
            "PR #{number} still has no checks, {} minutes on. If this repository has CI, look why \
             it did not start; no checks is not green.",
            now.since(since).0 / 60_000
        );
        self.tell(Topic::Ci, now, text);
    }
}

/// The end of a log, each line marked, so that it is not taken for our own words.
fn log(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let marked: Vec<String> = lines
        .iter()
        .map(|line| format!("\n| {}", quote(line, 200)))
        .collect();
    format!("The end of the log:{}", marked.concat())
}

/// The question, which is asked once, and what counts as a yes.
pub fn question(issue: u64, why: &str, phrases: Phrases<'_>) -> String {
    format!(
        "{why} Should I close issue #{issue}? Ask the user just that. Their whole message must be {}; \
         then run `mainspring claim done`.",
        examples(issue, phrases)
    )
}

#[cfg(test)]
mod tests {
    use super::super::memory::Consent;
    use super::super::pull::CheckState::{Failed, Passed, Running};
    use super::super::pull::Need::Optional;
    use super::super::pull::tests::pull;
    use super::*;

    fn claim() -> ClaimFile {
        ClaimFile {
            phase: Phase::PrCreated,
            pr_number: Some(107),
            ..ClaimFile::claimed(42, "b".into(), "me".into(), "PVTI".into())
        }
    }

    fn look(pull: &Pull, now: Millis) -> Look<'_> {
        Look {
            pull,
            now,
            phrases: &[],
        }
    }

    /// Looks at each pull request in turn, a minute apart, and returns the messages.
    fn history(pulls: &[Pull]) -> (Vec<Vec<(Weight, String)>>, PullNews) {
        let mut seen = PullNews {
            claim: claim(),
            memory: ClaimMemory::default().about(42),
            news: Vec::new(),
            notices: Vec::new(),
        };
        let mut said = Vec::new();
        for (index, pull) in pulls.iter().enumerate() {
            let now = Millis::seconds(60 * (index as u64 + 1));
            seen = PullNews::of(&seen.claim, &seen.memory, look(pull, now));
            let news = seen.news.iter();
            said.push(news.map(|mail| (mail.weight, mail.text.clone())).collect());
        }
        (said, seen)
    }

    fn weights(pulls: &[Pull]) -> Vec<Vec<Weight>> {
        let (said, _) = history(pulls);
        let only =
            |news: Vec<(Weight, String)>| news.into_iter().map(|(weight, _)| weight).collect();
        said.into_iter().map(only).collect()
    }

    use Weight::{Info, Wake};

    #[test]
    fn each_change_of_the_checks_is_said_once() {
        let running = pull(&[("a", Passed, Optional), ("b", Running, Optional)]);
        let failed = pull(&[("a", Passed, Optional), ("b", Failed, Optional)]);
        let worse = pull(&[("a", Failed, Optional), ("b", Failed, Optional)]);
        let passed = pull(&[("a", Passed, Optional), ("b", Passed, Optional)]);
        let said = weights(&[
            running.clone(),
            running.clone(),
            failed.clone(),
            failed.clone(),
            worse,
            running,
            failed,
            passed.clone(),
            passed,
        ]);
        let none: Vec<Weight> = Vec::new();
        assert_eq!(
            said,
            [
                Vec::from([Info]),
                none.clone(),
                Vec::from([Wake]),
                none.clone(),
                none.clone(),
                Vec::from([Info]),
                Vec::from([Wake]),
                Vec::from([Wake]),
                none,
            ]
        );
    }

    #[test]
    fn a_new_head_is_reported_again() {
        let failed = pull(&[("b", Failed, Optional)]);
        let fixed = Pull {
            head: "h2".into(),
            ..failed.clone()
        };
        assert_eq!(weights(&[failed, fixed]), [[Wake], [Wake]]);
    }

    #[test]
    fn no_checks_is_not_green_and_is_said_after_the_grace_period_only() {
        let bare: Vec<Pull> = (0..8).map(|_| pull(&[])).collect();
        let (said, seen) = history(&bare);
        let when: Vec<usize> = said.iter().map(Vec::len).collect();
        assert_eq!(when, [0, 0, 0, 0, 0, 1, 0, 0], "at five minutes, once");
        assert!(said[5][0].1.contains("no checks is not green"), "{said:?}");
        assert_eq!(seen.claim.phase, Phase::ChecksRunning);
    }

    #[test]
    fn a_merge_asks_once_and_moves_the_phase() {
        let merged = Pull {
            state: PullState::Merged,
            ..pull(&[])
        };
        let (said, seen) = history(&[merged.clone(), merged]);
        assert_eq!(said[0].len(), 1);
        assert!(
            said[0][0]
                .1
                .starts_with("PR #107 merged! Should I close issue #42?")
        );
        assert!(said[1].is_empty());
        assert_eq!(seen.claim.phase, Phase::MergedDetected);
        assert_eq!(
            seen.memory.consent,
            Consent::NotAsked,
            "the agent has not heard of it yet"
        );
        assert_eq!(seen.claim.last_check_poll, Some(Millis::seconds(120)));
        assert_eq!(seen.memory.merged_at, Some(Millis::seconds(60)));
    }

    #[test]
    fn a_failure_comes_with_its_link_and_the_end_of_its_log() {
        let mut failed = pull(&[("test", Failed, Optional)]);
        failed.checks[0].url = "https://github.com/o/r/actions/runs/1/job/2".into();
        failed.log = Vec::from(["running 2 tests".into(), "panicked\u{1b}[0m".into()]);
        let seen = PullNews::of(&claim(), &ClaimMemory::default(), look(&failed, Millis(1)));
        assert_eq!(
            seen.wake().as_deref(),
            Some(
                "CI failed for PR #107: 1 of 1 checks FAILED: test. Look at the logs, fix it on the \
                 branch and push.\ntest: https://github.com/o/r/actions/runs/1/job/2\nThe end of the \
                 log:\n| running 2 tests\n| panicked[0m"
            )
        );
        assert_eq!(seen.notices, ["PR #107: checks failed: test"]);
    }

    #[test]
    fn a_conflict_the_queue_auto_merge_and_a_forced_push_each_have_their_sentence() {
        let with = |change: fn(&mut Pull)| {
            let mut pull = pull(&[("a", Running, Optional)]);
            change(&mut pull);
            pull
        };
        let (said, _) = history(&[
            with(|pull| pull.outlook.forced_to = Some("0123456789abcdef".into())),
            with(|pull| pull.outlook.conflict = true),
            with(|pull| pull.outlook.auto_merge = true),
            with(|pull| pull.outlook.queued = true),
            with(|pull| pull.outlook.queued = true),
            with(|pull| pull.outlook.forced_to = Some("fedcba9876543210".into())),
        ]);
        let texts: Vec<Vec<&str>> = said
            .iter()
            .map(|news| news.iter().map(|(_, text)| text.as_str()).collect())
            .collect();
        assert_eq!(texts[0], ["CI for PR #107: 0/1 passed, 1 still running."]);
        assert!(texts[1][0].starts_with("PR #107 has conflicts with its base branch."));
        assert!(texts[2][0].starts_with("Auto-merge is on for PR #107"));
        assert!(texts[3][0].starts_with("PR #107 is in the merge queue."));
        assert!(texts[4].is_empty());
        assert!(texts[5][0].starts_with("PR #107 was taken out of the merge queue"));
        assert!(texts[5][1].contains("was force-pushed and is now at fedcba98765"));
    }

    #[test]
    fn a_close_and_a_review_are_said_once() {
        let closed = Pull {
            state: PullState::Closed,
            ..pull(&[])
        };
        let changes = Pull {
            review: Review::ChangesRequested,
            ..pull(&[])
        };
        let approved = Pull {
            review: Review::Approved,
            ..pull(&[])
        };
        assert_eq!(
            weights(&[changes.clone(), changes, approved, closed.clone(), closed]),
            [
                Vec::from([Wake]),
                Vec::new(),
                Vec::from([Info]),
                Vec::from([Wake]),
                Vec::new()
            ]
        );
    }

    #[test]
    fn a_phase_that_somebody_set_meanwhile_stays() {
        let mut done = claim();
        done.phase = Phase::Done;
        let merged = Pull {
            state: PullState::Merged,
            ..pull(&[])
        };
        let seen = PullNews::of(&done, &ClaimMemory::default(), look(&merged, Millis(1)));
        assert_eq!(seen.claim.phase, Phase::Done);
    }
}
