//! What a result means, whatever the event at which it came back.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::{BACKOFF, ClaimFile, status};
use super::memory::{Beat, CardFault, ClaimMemory, Mail, Topic, Weight};
use super::news::{Look, PullNews, question};
use super::phase::{Failure, Next, Phase, Task};
use super::pull::{Ci, Pull, PullState};
use super::text::unended;
use super::visit::At;
use super::work::{
    Beaten, BranchStatus, CardMove, CardUpdate, Effect, Fault, How, Item, Missing, Outcome, Release,
};
use super::{Claim, Facts, State};
use crate::hidden::quote;
use crate::ids::Millis;
use crate::machine::Input;

/// What a result means.
#[derive(Debug)]
pub(super) struct Meaning {
    pub(super) rule: &'static str,
    pub(super) state: State,
    /// For the agent, and worth a turn.
    pub(super) text: Option<String>,
    /// For the desktop of a person who looks elsewhere.
    pub(super) notices: Vec<String>,
    /// For the person.
    pub(super) notes: Vec<String>,
}

impl Meaning {
    fn quiet(rule: &'static str, state: State) -> Self {
        Self {
            rule,
            state,
            text: None,
            notices: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn say(mut self, text: String) -> Self {
        self.notices.extend(text.lines().next().map(Into::into));
        self.text = Some(text);
        self
    }

    fn note(mut self, note: impl Into<Option<String>>) -> Self {
        self.notes.extend(note.into());
        self
    }

    /// Says it to the agent, or, if that knows it, to the person.
    fn say_once(self, text: String, known: bool) -> Self {
        if known {
            self.note(text)
        } else {
            self.say(text)
        }
    }
}

/// The claim as it is now, when, and what was observed.
#[derive(Debug)]
pub(super) struct Held<'a> {
    pub(super) claim: ClaimFile,
    pub(super) memory: ClaimMemory,
    pub(super) now: Millis,
    pub(super) facts: &'a Facts,
}

impl Held<'_> {
    fn quiet(self, rule: &'static str) -> Meaning {
        let (claim, memory) = (self.claim, self.memory);
        Meaning::quiet(rule, State::Claimed { claim, memory })
    }

    /// The result of a change; `None` if it is about another claim.
    pub(super) fn take_in(self, effect: &Effect, outcome: &Outcome) -> Option<Meaning> {
        let (issue, branch) = (self.claim.issue_number, &self.claim.branch);
        match (effect, outcome) {
            (
                Effect::Open(open),
                Outcome::Opened {
                    pr,
                    url,
                    how,
                    board,
                },
            ) if open.branch == *branch => Some(self.opened(*pr, url, *how, board)),
            (Effect::Open(_), Outcome::Lacking(missing)) => {
                self.awaits_pull().then(|| self.lacking(missing.clone()))
            }
            (Effect::Open(open), Outcome::Integrated { base }) if open.branch == *branch => {
                self.awaits_pull().then(|| self.integrated(base))
            }
            (
                Effect::Close(close),
                Outcome::Closed {
                    how,
                    board,
                    release,
                },
            ) if close.issue == issue => Some(self.closed(*how, board, release)),
            (Effect::Open(_), Outcome::Failed(fault)) => self.failed(Task::Open, fault),
            (Effect::Close(_), Outcome::Failed(fault)) => self.failed(Task::Close, fault),
            (Effect::Sync(card), Outcome::Synced(board)) => Some(self.carded(card, board)),
            (Effect::Sync(card), Outcome::Failed(fault)) => {
                Some(self.carded(card, &CardMove::Unreachable(fault.cause.clone())))
            }
            (Effect::Beat(beat), Outcome::Beaten(beaten)) if beat.issue == issue => {
                Some(self.beaten(&beat.phase, beaten))
            }
            (Effect::Beat(beat), Outcome::Failed(_)) if beat.issue == issue => {
                let lease = self.memory.lease.clone().unwrap_or_default();
                Some(self.beaten(&beat.phase, &Beaten::Kept(lease)))
            }
            (_, _) => None,
        }
    }

    const fn awaits_pull(&self) -> bool {
        matches!(self.claim.phase, Phase::ReadyForPr | Phase::Failed(_))
    }

    fn opened(mut self, pr: u64, url: &str, how: How, board: &CardMove) -> Meaning {
        self.claim.pr_number = Some(pr);
        if !self.awaits_pull() {
            return self.quiet("late");
        }
        self.claim.phase = Phase::PrCreated;
        self.claim.status = status::IN_REVIEW.into();
        self.claim.last_check_poll = None;
        self.memory.lacking = None;
        let note = self.card_result(status::IN_REVIEW, board);
        let url = quote(url, 300);
        let there = match how {
            How::Now => format!("PR #{pr} created: {url}"),
            How::Already => format!("PR #{pr} is there already: {url}"),
        };
        let text = format!(
            "{there}\nTell the user. CI is watched from here on: you will be told when it fails, \
             passes, or the pull request is merged."
        );
        self.quiet("opened").say(text).note(note)
    }

    fn closed(mut self, how: How, board: &CardMove, release: &Release) -> Meaning {
        let issue = self.claim.issue_number;
        if !matches!(self.claim.phase, Phase::Failed(_) | Phase::Done) {
            return self.quiet("late").note(format!(
                "issue #{issue} was closed, but the claim changed meanwhile, so it stays"
            ));
        }
        let note = self.card_result(status::DONE, board);
        let unreleased = match release {
            Release::NotHeld | Release::Released | Release::Theirs(_) => {
                self.memory.lease = None;
                None
            }
            // It is tried again, as for a claim whose file was deleted.
            Release::Failed(cause) => Some(format!(
                "the claim on the git server was not given back yet: {}",
                quote(cause, 300)
            )),
        };
        self.memory.beat = Some(Beat {
            at: self.now,
            phase: Phase::Done.as_str().into(),
        });
        let done = match how {
            How::Now => format!("Issue #{issue} closed."),
            How::Already => format!("Issue #{issue} was closed already."),
        };
        let card = match board {
            CardMove::Moved | CardMove::MovedOnly(_) => " Board → Done.",
            CardMove::Off | CardMove::Lacks(_) | CardMove::Unreachable(_) => "",
        };
        Meaning::quiet("closed", State::Unclaimed(self.memory.after()))
            .say(format!("{done}{card} Signal file cleaned up."))
            .note(note)
            .note(unreleased)
    }

    /// Something must be done first. The same thing is not said twice: that would only trap the
    /// agent.
    pub(super) fn lacking(mut self, missing: Missing) -> Meaning {
        self.claim.phase = Phase::ReadyForPr;
        let advice = missing.advice(&self.claim);
        let known = self.memory.lacking.as_ref() == Some(&missing);
        if let Missing::Claim { by } = &missing {
            self.memory.lease = None;
            self.memory.lost = Some(by.clone());
        }
        self.memory.lacking = Some(missing);
        self.quiet("lacking").say_once(advice, known)
    }

    /// The file says `done`, and nobody let the issue be closed.
    pub(super) fn unconsented(mut self) -> Meaning {
        let text = format!(
            "issue #{} is not closed: its claim file says `done`, but the user has not said that it \
             may be closed. When the pull request is merged, ask the user; after their yes, run \
             `mainspring claim done`",
            self.claim.issue_number
        );
        let known = core::mem::replace(&mut self.memory.told_unconsented, true);
        self.quiet("unconsented").say_once(text, known)
    }

    /// Somebody merged the branch without a pull request.
    fn integrated(mut self, base: &str) -> Meaning {
        self.claim.phase = Phase::MergedDetected;
        self.memory.lacking = None;
        self.memory.told.state = Some(PullState::Merged);
        self.memory.merged_at = Some(self.now);
        self.memory.ask();
        let why = format!(
            "Every commit of `{}` is in `{}` already: somebody merged it by hand, and no pull \
             request is needed.",
            quote(&self.claim.branch, 200),
            quote(base, 200)
        );
        let text = question(self.claim.issue_number, &why, &self.facts.phrases);
        self.quiet("integrated").say(text)
    }

    fn failed(mut self, task: Task, fault: &Fault) -> Option<Meaning> {
        match &self.claim.phase {
            Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => {}
            Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
                return None;
            }
        }
        let now = self.now;
        let cause = unended(&quote(&fault.cause, 300));
        let Failure { attempts, next, .. } = self.claim.fail(task, &cause, now, fault.not_before);
        let (doing, issue) = (task.as_str(), self.claim.issue_number);
        let meaning = self.quiet("github-failed");
        Some(match next {
            Next::Never => meaning.say(format!(
                "Gave up {doing} for issue #{issue} after {attempts} attempts: {cause}. Tell the \
                 user. `mainspring claim retry` tries again."
            )),
            Next::At(at) => {
                let minutes = at.since(now).0.div_ceil(60_000);
                let text = format!(
                    "Failed {doing} for issue #{issue}: {cause}. It is tried again after {minutes} \
                     minutes; `mainspring claim retry` tries at the next stop."
                );
                meaning.say_once(text, attempts > 1)
            }
        })
    }

    fn carded(mut self, card: &CardUpdate, board: &CardMove) -> Meaning {
        let note = self.card_result(&card.status, board);
        let rule = match &self.claim.phase {
            Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
                "card"
            }
            Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "late",
        };
        self.quiet(rule).note(note)
    }

    /// The claim on the git server was written again, or somebody else has it now.
    fn beaten(mut self, phase: &str, beaten: &Beaten) -> Meaning {
        self.memory.beat = Some(Beat {
            at: self.now,
            phase: phase.into(),
        });
        match beaten {
            Beaten::Kept(commit) => {
                self.memory.lease = Some(commit.clone()).filter(|commit| !commit.is_empty());
                self.quiet("beat")
            }
            Beaten::Lost(holder) => {
                self.memory.lease = None;
                self.memory.lost = Some(holder.clone());
                let text = format!(
                    "Issue #{} was taken over by {}. Ask the user how to go on: `mainspring claim \
                     abort` gives up the claim here, `mainspring claim list` shows who has what.",
                    self.claim.issue_number,
                    quote(holder, 200)
                );
                self.quiet("beat").say(text)
            }
        }
    }

    /// Takes in the result of moving a card. The note is for something new.
    fn card_result(&mut self, status: &str, board: &CardMove) -> Option<String> {
        let (claim, memory) = (&mut self.claim, &mut self.memory);
        let (cause, retry_at) = match board {
            CardMove::Moved => {
                claim.last_synced_status = Some(status.into());
                memory.card = None;
                return None;
            }
            CardMove::MovedOnly(cause) => {
                claim.last_synced_status = Some(status.into());
                (cause, None)
            }
            CardMove::Off => return None,
            CardMove::Lacks(cause) => (cause, None),
            CardMove::Unreachable(cause) => (cause, Some(self.now.plus(BACKOFF))),
        };
        let fault = memory.card.as_ref();
        let known = fault.is_some_and(|fault| fault.cause == *cause);
        memory.card = Some(CardFault {
            status: status.into(),
            cause: cause.clone(),
            retry_at,
        });
        let said = unended(&quote(cause, 300));
        (!known).then(|| match board {
            CardMove::MovedOnly(_) => format!("the card was moved, but {said}"),
            _ => format!("the board was not updated: {said}. The rest goes on without it"),
        })
    }

    /// The result of a look at the claim's pull request; `None` if that is not merged, and nothing
    /// else was asked.
    pub(super) fn looked(self, at: At, outcome: &Outcome) -> Option<Meaning> {
        match outcome {
            Outcome::Polled(pull) | Outcome::MergeChecked(Some(pull)) => Some(self.saw(pull)),
            Outcome::Failed(fault) => Some(self.saw_nothing(at, fault)),
            _ => None,
        }
    }

    pub(super) fn saw(self, pull: &Pull) -> Meaning {
        let look = Look {
            pull,
            now: self.now,
            phrases: &self.facts.phrases,
        };
        let mut seen = PullNews::of(&self.claim, &self.memory, look);
        let notices = if self.facts.is_script {
            script_words(&seen, pull).into_iter().collect()
        } else {
            core::mem::take(&mut seen.notices)
        };
        let rule = seen.rule();
        let PullNews { claim, memory, .. } = seen.posted();
        Meaning {
            notices,
            ..Meaning::quiet(rule, State::Claimed { claim, memory })
        }
    }

    /// A failed look counts for the back-off, too. A person is told once of a trouble that stays:
    /// at a stop or when idle at once, otherwise at the next prompt or start.
    pub(super) fn saw_nothing(mut self, at: At, fault: &Fault) -> Meaning {
        self.claim.last_check_poll = Some(self.now);
        let note = self.memory.look_failed(fault, self.now);
        if at == At::Stop && note.is_some() {
            self.memory.untold_trouble();
        }
        self.quiet("unpolled").note(note)
    }
}

/// The public script told the agent, at every poll, also that checks still run.
fn script_words(seen: &PullNews, pull: &Pull) -> Option<String> {
    let is_running = pull.state == PullState::Open && pull.ci() == Ci::Running;
    seen.wake().or_else(|| is_running.then(|| pull.sentence()))
}

/// The same where there is no claim file.
pub(super) fn without_claim(
    at: At,
    memory: &ClaimMemory,
    outcome: &Outcome,
    input: &Input<'_, Claim>,
) -> Option<Meaning> {
    let (memory, now) = (memory.clone(), input.now);
    match (at, outcome) {
        (At::Stop, Outcome::GivenBack(release)) => Some(given_back(memory, release, now)),
        (At::Stop, Outcome::Failed(fault)) => {
            let release = Release::Failed(fault.cause.clone());
            Some(given_back(memory, &release, now))
        }
        (At::Idle, _) if input.facts.branch.is_none() => None,
        (At::Idle, Outcome::Looked(sight)) => Some(branch_looked_at(memory, sight, now)),
        // A failed look counts as a look: the next one keeps its distance.
        (At::Idle, _) => Some(branch_looked_at(memory, &BranchStatus::NotMerged, now)),
        (At::Stop | At::Watch | At::Start, _) => None,
    }
}

/// The claim file is gone, and the issue was given back on the git server.
fn given_back(mut memory: ClaimMemory, release: &Release, now: Millis) -> Meaning {
    let issue = memory.issue.unwrap_or_default();
    let note = match release {
        Release::NotHeld | Release::Released => {
            memory.lease = None;
            format!(
                "there is no claim file here any more, so issue #{issue} was given back on the git \
                 server; `mainspring claim {issue}` takes it again"
            )
        }
        Release::Theirs(by) => {
            memory.lease = None;
            let by = quote(by, 80);
            format!("there is no claim file here any more, and {by} has taken issue #{issue} over")
        }
        Release::Failed(cause) => {
            memory.beat = Some(Beat {
                at: now,
                phase: String::new(),
            });
            format!(
                "issue #{issue} is still reserved on the git server: {}. It is tried again in an \
                 hour; `mainspring claim release {issue}` tries at once",
                unended(&quote(cause, 300))
            )
        }
    };
    Meaning::quiet("given-back", State::Unclaimed(memory.after())).note(note)
}

/// Is the branch's pull request merged? Then the next issue is named, once.
fn branch_looked_at(mut memory: ClaimMemory, sight: &BranchStatus, now: Millis) -> Meaning {
    memory.looked = Some(now);
    let mut notices = Vec::new();
    if let BranchStatus::Merged { pr, next } = sight
        && memory.suggested != Some(*pr)
    {
        memory.suggested = Some(*pr);
        let next = match next {
            Some(Item { issue, title }) => format!(
                "Next on the board: #{issue} {}. `mainspring claim {issue}` takes it.",
                quote(title, 120)
            ),
            None => "Nothing is waiting on the board.".into(),
        };
        let text = format!("PR #{pr} of this branch is merged. {next}");
        memory.post(Mail::new(Topic::Next, Weight::Info, now, text.clone()));
        notices.push(text);
    }
    Meaning {
        notices,
        ..Meaning::quiet("looked", State::Unclaimed(memory))
    }
}
