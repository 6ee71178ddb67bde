//! The agent waits for the person: how is its pull request?

use alloc::format;

use super::memo::{Mail, Memo, Topic, Weight};
use super::news::Seen;
use super::phase::Phase;
use super::pull::Pull;
use super::signal::{Signal, is_due};
use super::text::quote;
use super::work::{Effect, Fault, Item, Outcome, Sight};
use super::{Claim, State};
use crate::effect::Standing;
use crate::ids::Millis;
use crate::machine::{Input, OnIdle, Step};

type Idle = Step<Claim, OnIdle>;
type In<'a> = Input<'a, Claim>;

/// One `gh` process.
const LOOK_LIMIT: Millis = Millis::seconds(12);

pub(super) fn on_idle(state: &State, input: &In<'_>) -> Idle {
    match state {
        State::Newer { .. } => Step::ignore(state, OnIdle::Pass),
        State::Unclaimed(memo) => unclaimed(memo, input),
        State::Claimed { signal, memo } => {
            let rules = match &signal.phase {
                Phase::PrCreated => &CREATED,
                Phase::ChecksRunning => &RUNNING,
                Phase::Coding
                | Phase::ReadyForPr
                | Phase::MergedDetected
                | Phase::Done
                | Phase::Failed(_) => return Step::ignore(state, OnIdle::Pass),
            };
            match signal.pr_number {
                Some(pr) => poll(rules, pr, signal, memo.about(signal.issue_number), input),
                None => Step::ignore(state, OnIdle::Pass),
            }
        }
    }
}

/// The arrows' names, by the phase they start from.
struct Rules {
    backoff: &'static str,
    poll: &'static str,
    polled: &'static str,
    merged: &'static str,
    unpolled: &'static str,
}

const CREATED: Rules = Rules {
    backoff: "created-backoff",
    poll: "created-poll",
    polled: "created-polled",
    merged: "created-merged",
    unpolled: "created-unpolled",
};

const RUNNING: Rules = Rules {
    backoff: "running-backoff",
    poll: "running-poll",
    polled: "running-polled",
    merged: "running-merged",
    unpolled: "running-unpolled",
};

fn poll(rules: &Rules, pr: u64, signal: &Signal, memo: Memo, input: &In<'_>) -> Idle {
    let waiting = memo.not_before.is_some_and(|at| input.now < at);
    let state = |signal: Signal, memo| State::Claimed { signal, memo };
    match input.standing {
        Standing::Done(intent, Outcome::Polled(pull)) if intent.effect == (Effect::Poll { pr }) => {
            polled(rules, signal, &memo, pull, input.now)
        }
        Standing::Done(_, Outcome::Failed(fault)) => {
            unpolled(rules, signal.clone(), memo, fault, input.now)
        }
        Standing::Done(..) | Standing::Running(_) => {
            Step::take(rules.backoff, state(signal.clone(), memo), OnIdle::Pass)
        }
        Standing::Clear | Standing::Abandoned(_)
            if waiting || !is_due(signal.last_check_poll, input.now) =>
        {
            Step::take(rules.backoff, state(signal.clone(), memo), OnIdle::Pass)
        }
        Standing::Clear | Standing::Abandoned(_) => Step::need(
            rules.poll,
            state(signal.clone(), memo),
            Effect::Poll { pr },
            LOOK_LIMIT,
        ),
    }
}

fn polled(rules: &Rules, signal: &Signal, memo: &Memo, pull: &Pull, now: Millis) -> Idle {
    let mut seen = Seen::of(signal, memo, pull, now);
    let wake = seen.wake();
    for mail in seen.news.drain(..) {
        seen.memo.post(mail);
    }
    let rule = match &seen.signal.phase {
        Phase::MergedDetected => rules.merged,
        Phase::Coding
        | Phase::ReadyForPr
        | Phase::PrCreated
        | Phase::ChecksRunning
        | Phase::Done
        | Phase::Failed(_) => rules.polled,
    };
    let Seen { signal, memo, .. } = seen;
    let say = wake.map_or(OnIdle::Pass, OnIdle::Notify);
    Step::take(rule, State::Claimed { signal, memo }, say)
}

/// The back-off counts from a poll that failed, too: a server in trouble is not asked more
/// often than a healthy one.
fn unpolled(rules: &Rules, mut signal: Signal, mut memo: Memo, fault: &Fault, now: Millis) -> Idle {
    signal.last_check_poll = Some(now);
    memo.not_before = fault.not_before;
    let note = format!(
        "the pull request could not be looked at: {}",
        quote(&fault.cause, 300)
    );
    Step::take(
        rules.unpolled,
        State::Claimed { signal, memo },
        OnIdle::Pass,
    )
    .note(note)
}

fn unclaimed(memo: &Memo, input: &In<'_>) -> Idle {
    let Some(branch) = &input.facts.branch else {
        return Step::ignore(&State::Unclaimed(memo.clone()), OnIdle::Pass);
    };
    let memo = memo.clone();
    match input.standing {
        Standing::Done(_, Outcome::Looked(sight)) => looked(memo, sight, input.now),
        // A look that failed has been a look: the next one keeps its distance.
        Standing::Done(..) => looked(memo, &Sight::NotMerged, input.now),
        Standing::Running(_) => Step::take("backoff", State::Unclaimed(memo), OnIdle::Pass),
        Standing::Clear | Standing::Abandoned(_) if !is_due(memo.looked, input.now) => {
            Step::take("backoff", State::Unclaimed(memo), OnIdle::Pass)
        }
        Standing::Clear | Standing::Abandoned(_) => {
            let look = Effect::Look {
                branch: branch.clone(),
            };
            Step::need("look", State::Unclaimed(memo), look, LOOK_LIMIT)
        }
    }
}

fn looked(mut memo: Memo, sight: &Sight, now: Millis) -> Idle {
    memo.looked = Some(now);
    let say = match sight {
        Sight::Merged { pr, next } if memo.suggested != Some(*pr) => {
            memo.suggested = Some(*pr);
            let text = match next {
                Some(Item { issue, title }) => format!(
                    "PR #{pr} of this branch is merged. Next on the board: #{issue} {}. \
                     `mainspring claim {issue}` takes it.",
                    quote(title, 120)
                ),
                None => {
                    format!("PR #{pr} of this branch is merged. Nothing is waiting on the board.")
                }
            };
            memo.post(Mail {
                topic: Topic::Next,
                weight: Weight::Info,
                at: now,
                text: text.clone(),
            });
            OnIdle::Notify(text)
        }
        Sight::Merged { .. } | Sight::NotMerged => OnIdle::Pass,
    };
    Step::take("looked", State::Unclaimed(memo), say)
}
