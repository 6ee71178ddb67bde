//! The world outside: a server and reviewers, with their failures.

use std::collections::BTreeMap;

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::pull::{Extent, Outlook, Pull, PullState, Review};
use mainspring_kernel::machines::claim::work::{CardMove, Effect, Fault, How, Outcome, Release};
use mainspring_kernel::machines::review::{self, Failure, Finding, Request, Verdict};

use super::random::Random;

/// One issue and its branch on the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    pulls: Vec<PullState>,
    comments: u32,
    closed: bool,
    /// Requests that have not arrived yet, and whose sender is gone.
    late: Vec<Late>,
    /// The faults since the claim began.
    pub(super) faults: u32,
}

#[derive(Debug, Clone, Copy)]
enum Late {
    Create,
    Close { comment: bool },
}

/// Did the process survive the effect?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Lives,
    Dies,
}

impl Server {
    pub(super) fn check(&self) -> Result<(), String> {
        let open = self.pulls.iter().filter(|pull| **pull == PullState::Open);
        if open.count() > 1 || self.pulls.len() > 1 {
            return Err(format!("{} pull requests for one claim", self.pulls.len()));
        }
        if self.comments > 1 + self.faults {
            return Err(format!(
                "{} comments after {} faults",
                self.comments, self.faults
            ));
        }
        Ok(())
    }

    pub(super) fn arrive(&mut self) {
        for request in std::mem::take(&mut self.late) {
            match request {
                Late::Create => {
                    self.create();
                }
                Late::Close { comment } => self.close(comment),
            }
        }
    }

    /// The person merges, once no request is on its way.
    pub(super) fn merge(&mut self) {
        self.arrive();
        for pull in &mut self.pulls {
            *pull = PullState::Merged;
        }
    }

    fn create(&mut self) -> Option<u64> {
        if self.pulls.contains(&PullState::Open) {
            return None;
        }
        self.pulls.push(PullState::Open);
        Some(self.pulls.len() as u64)
    }

    fn close(&mut self, comment: bool) {
        self.comments += u32::from(comment);
        self.closed = true;
    }

    /// Runs an effect as the shell does: it looks, asks, and looks again if no reply came.
    pub(super) fn run(&mut self, effect: &Effect, random: &mut Random) -> (Life, Outcome) {
        match effect {
            Effect::Open(_) => self.open(random),
            Effect::Close(_) => self.finish(random),
            Effect::Poll { pr, .. } => (Life::Lives, self.poll(*pr)),
            Effect::CheckMerge { .. } => (Life::Lives, Outcome::MergeChecked(None)),
            Effect::Sync(_)
            | Effect::Look { .. }
            | Effect::Survey
            | Effect::Arrive { .. }
            | Effect::Beat(_)
            | Effect::GiveBack { .. } => (Life::Lives, fault()),
        }
    }

    fn open(&mut self, random: &mut Random) -> (Life, Outcome) {
        if !self.pulls.is_empty() {
            return (Life::Lives, opened(1, How::Already));
        }
        match random.below(12) {
            0 => {
                self.faults += 1;
                self.late.push(Late::Create);
                (Life::Dies, fault())
            }
            1 => {
                self.faults += 1;
                self.create();
                (Life::Dies, fault())
            }
            2 => {
                // The reply is lost. It looks again, and the result is not there yet.
                self.faults += 1;
                self.late.push(Late::Create);
                (Life::Lives, fault())
            }
            3 => {
                self.faults += 1;
                self.create();
                (Life::Lives, opened(1, How::Already))
            }
            _ => match self.create() {
                Some(pr) => (Life::Lives, opened(pr, How::Now)),
                None => (Life::Lives, opened(1, How::Already)),
            },
        }
    }

    fn finish(&mut self, random: &mut Random) -> (Life, Outcome) {
        if self.closed {
            return (Life::Lives, closed(How::Already));
        }
        let comment = self.comments == 0;
        match random.below(12) {
            0 => {
                self.faults += 1;
                self.late.push(Late::Close { comment });
                (Life::Dies, fault())
            }
            1 => {
                self.faults += 1;
                self.close(comment);
                (Life::Dies, fault())
            }
            2 => {
                self.faults += 1;
                self.late.push(Late::Close { comment });
                (Life::Lives, fault())
            }
            _ => {
                self.close(comment);
                (Life::Lives, closed(How::Now))
            }
        }
    }

    fn poll(&self, pr: u64) -> Outcome {
        let index = usize::try_from(pr).unwrap_or(1).saturating_sub(1);
        Outcome::Polled(Pull {
            number: pr,
            url: format!("pull/{pr}"),
            state: self.pulls.get(index).copied().unwrap_or(PullState::Closed),
            review: Review::None,
            head: "h".into(),
            checks: Vec::new(),
            awaited: Vec::new(),
            extent: Extent::All,
            outlook: Outlook::default(),
            merged_at: None,
            log: Vec::new(),
        })
    }
}

fn opened(pr: u64, how: How) -> Outcome {
    Outcome::Opened {
        pr,
        url: format!("pull/{pr}"),
        how,
        board: CardMove::Off,
    }
}

fn closed(how: How) -> Outcome {
    Outcome::Closed {
        how,
        board: CardMove::Off,
        release: Release::NotHeld,
    }
}

fn fault() -> Outcome {
    Outcome::Failed(Fault::new("no reply"))
}

/// The plan's folder: which attempt wrote each review, and what it said.
#[derive(Debug, Default)]
pub(super) struct Folder {
    written: BTreeMap<u32, (u64, Option<Verdict>)>,
    /// A finished review whose process died before it could count.
    unheard: Option<u32>,
}

impl Folder {
    pub(super) fn written(&self) -> Vec<u32> {
        self.written.keys().copied().collect()
    }

    /// Somebody changed the plan by hand, so the review is about nothing any more.
    pub(super) fn plan_changed(&mut self) {
        self.unheard = None;
    }

    /// Adopts the review of a dead process.
    pub(super) fn taken_over(&mut self, asked: &Request) -> Option<review::Outcome> {
        if asked.resumes.is_empty() {
            return None;
        }
        if self.unheard == Some(asked.iteration) {
            self.unheard = None;
        }
        let (attempt, said) = self.written.get(&asked.iteration)?;
        let known = asked.resumes.iter().any(|fence| fence.0 == *attempt);
        let verdict = said.filter(|_| known).unwrap_or(Verdict::Unsaid);
        Some(outcome(Finding::Reviewed(verdict)))
    }

    /// A reviewer does its work, or fails.
    pub(super) fn review(
        &mut self,
        asked: &Request,
        attempt: u64,
        random: &mut Random,
    ) -> Result<(Life, review::Outcome), String> {
        if let Some(unheard) = self.unheard {
            return Err(format!(
                "a reviewer starts, and nobody has taken in review {unheard}, which was paid for"
            ));
        }
        let failed = || {
            outcome(Finding::NotDone(Failure::Exit {
                status: "1".into(),
                said: String::new(),
            }))
        };
        let verdict = if random.chance(50) {
            Verdict::Pass
        } else {
            Verdict::Fail
        };
        let (life, said) = match random.below(10) {
            0 => return Ok((Life::Dies, failed())),
            1 => return Ok((Life::Lives, failed())),
            2 => (Life::Dies, None),
            3 => (Life::Dies, Some(verdict)),
            _ => (Life::Lives, Some(verdict)),
        };
        let before = self.written.insert(asked.iteration, (attempt, said));
        if before.is_some() {
            return Err("a review was overwritten".into());
        }
        if life == Life::Dies && said.is_some() {
            self.unheard = Some(asked.iteration);
        }
        Ok((life, outcome(Finding::Reviewed(verdict))))
    }
}

/// The result of a review that another process has taken over.
pub(super) fn given_up() -> review::Outcome {
    outcome(Finding::NotDone(Failure::Exit {
        status: "137".into(),
        said: String::new(),
    }))
}

fn outcome(result: Finding) -> review::Outcome {
    review::Outcome::new(result, Millis(0), 0)
}
