//! What is new about a pull request, and what of it the agent must know. Each change is told once,
//! whether the idle hook or the watcher saw it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::ClaimFile;
use super::memory::{ClaimMemory, Consent, Mail, Told, Topic, Weight};
use super::phase::Phase;
use super::pull::{Ci, Pull, PullState, Review};
use crate::ids::Millis;

/// How long a head may be without checks before the agent is told.
pub const GRACE: Millis = Millis::seconds(5 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullNews {
    pub claim: ClaimFile,
    pub memory: ClaimMemory,
    pub news: Vec<Mail>,
}

impl PullNews {
    /// Takes in a look at the claim's pull request.
    pub fn of(claim: &ClaimFile, memory: &ClaimMemory, pull: &Pull, now: Millis) -> Self {
        let mut seen = Self {
            claim: claim.clone(),
            memory: memory.clone(),
            news: Vec::new(),
        };
        seen.claim.last_check_poll = Some(now);
        seen.memory.not_before = None;
        match pull.state {
            PullState::Merged => seen.merged(pull, now),
            PullState::Closed => seen.closed(pull, now),
            PullState::Open => {
                seen.move_on(Phase::ChecksRunning);
                seen.reviewed(pull, now);
                seen.checked(pull, now);
            }
        }
        seen.memory.told.state = Some(pull.state);
        seen
    }

    /// The news that wakes an agent that has stopped.
    pub fn wake(&self) -> Option<String> {
        let texts: Vec<&str> = self
            .news
            .iter()
            .filter(|mail| mail.weight == Weight::Wake)
            .map(|mail| mail.text.as_str())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Wakes the agent with this news now; other news waits in the mailbox.
    pub fn deliver(mut self) -> (ClaimFile, ClaimMemory, Option<String>) {
        let wake = self.wake();
        for mail in self.news.drain(..) {
            match mail.weight {
                Weight::Info => self.memory.post(mail),
                Weight::Wake if mail.topic == Topic::Merge => self.memory.consent = Consent::Asked,
                Weight::Wake => {}
            }
        }
        (self.claim, self.memory, wake)
    }

    fn move_on(&mut self, to: Phase) {
        if matches!(self.claim.phase, Phase::PrCreated | Phase::ChecksRunning) {
            self.claim.phase = to;
        }
    }

    fn say(&mut self, topic: Topic, weight: Weight, at: Millis, text: String) {
        self.news.push(Mail {
            topic,
            weight,
            at,
            text,
        });
    }

    fn merged(&mut self, pull: &Pull, now: Millis) {
        self.move_on(Phase::MergedDetected);
        if self.memory.told.state == Some(PullState::Merged) {
            return;
        }
        let text = merged(&self.claim, pull.number);
        self.say(Topic::Merge, Weight::Wake, now, text);
    }

    fn closed(&mut self, pull: &Pull, now: Millis) {
        self.move_on(Phase::ChecksRunning);
        if self.memory.told.state == Some(PullState::Closed) {
            return;
        }
        let text = format!(
            "PR #{} was closed without being merged. Ask the user how to go on: \
             `mainspring handoff` opens another one after new commits, `mainspring claim abort` gives \
             issue #{} back.",
            pull.number, self.claim.issue_number
        );
        self.say(Topic::Pull, Weight::Wake, now, text);
    }

    fn reviewed(&mut self, pull: &Pull, now: Millis) {
        let before = core::mem::replace(&mut self.memory.told.review, pull.review);
        if before == pull.review {
            return;
        }
        let number = pull.number;
        match pull.review {
            Review::ChangesRequested => {
                let text = format!("A reviewer of PR #{number} requests changes: {}", pull.url);
                self.say(Topic::Review, Weight::Wake, now, text);
            }
            Review::Approved => {
                self.say(
                    Topic::Review,
                    Weight::Info,
                    now,
                    format!("PR #{number} is approved."),
                );
            }
            Review::None => {}
        }
    }

    fn checked(&mut self, pull: &Pull, now: Millis) {
        if self.memory.told.head != pull.head {
            self.memory.told = Told {
                head: pull.head.clone(),
                state: self.memory.told.state,
                review: self.memory.told.review,
                ..Told::default()
            };
        }
        let ci = pull.ci();
        let before = core::mem::replace(&mut self.memory.told.ci, ci);
        let sentence = pull.sentence();
        match ci {
            Ci::NotStarted => {
                let since = *self.memory.told.bare_since.get_or_insert(now);
                if now.since(since) >= GRACE && !self.memory.told.bare_told {
                    self.memory.told.bare_told = true;
                    let text = format!(
                        "PR #{} still has no checks, {} minutes on. If this repository has CI, \
                         look why it did not start; no checks is not green.",
                        pull.number,
                        now.since(since).0 / 60_000
                    );
                    self.say(Topic::Ci, Weight::Info, now, text);
                }
            }
            Ci::Failed | Ci::Passed if before != ci => {
                self.say(Topic::Ci, Weight::Wake, now, sentence.clone());
            }
            Ci::Running if self.memory.told.said != sentence => {
                self.say(Topic::Ci, Weight::Info, now, sentence.clone());
            }
            Ci::Failed | Ci::Passed | Ci::Running => {}
        }
        self.memory.told.said = sentence;
    }
}

/// The question, which is asked once.
pub fn merged(claim: &ClaimFile, pr: u64) -> String {
    let issue = claim.issue_number;
    format!(
        "PR #{pr} merged! Should I close issue #{issue}? Ask the user to answer `yes` or `close \
         #{issue}`; after that, run `mainspring claim done`."
    )
}

#[cfg(test)]
mod tests {
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

    /// Looks at each pull request in turn, a minute apart, and returns the messages.
    fn history(pulls: &[Pull]) -> (Vec<Vec<(Weight, String)>>, PullNews) {
        let mut seen = PullNews {
            claim: claim(),
            memory: ClaimMemory::default().about(42),
            news: Vec::new(),
        };
        let mut said = Vec::new();
        for (index, pull) in pulls.iter().enumerate() {
            let now = Millis::seconds(60 * (index as u64 + 1));
            seen = PullNews::of(&seen.claim, &seen.memory, pull, now);
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
    }

    #[test]
    fn an_agent_that_is_woken_has_been_asked_and_the_rest_waits_for_it() {
        let merged = Pull {
            state: PullState::Merged,
            ..pull(&[])
        };
        let seen = PullNews::of(&claim(), &ClaimMemory::default(), &merged, Millis(1));
        let (_, memory, wake) = seen.deliver();
        assert!(wake.is_some_and(|text| text.starts_with("PR #107 merged!")));
        assert_eq!((memory.consent, memory.mail.len()), (Consent::Asked, 0));
        let running = pull(&[("a", Running, Optional)]);
        let (_, memory, wake) =
            PullNews::of(&claim(), &ClaimMemory::default(), &running, Millis(1)).deliver();
        assert_eq!((wake, memory.mail.len()), (None, 1));
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
        let seen = PullNews::of(&done, &ClaimMemory::default(), &merged, Millis(1));
        assert_eq!(seen.claim.phase, Phase::Done);
    }
}
