//! One event at a claim. What is due, what a result means and how it is said is the same
//! everywhere; the event says only what may be started now, and who listens.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::claim_file::{ClaimFile, is_due};
use super::memory::{ClaimMemory, Consent};
use super::phase::{Phase, Task};
use super::results::{self, Held, Meaning};
use super::rounds;
use super::work::{CardUpdate, Close, Effect, HeartBeat, Open, Outcome};
use super::{BoardUse, Claim, State};
use crate::effect::EffectStatus;
use crate::event::{Kind, StartSource};
use crate::ids::Millis;
use crate::machine::{Input, Step};

/// What is said here, in whichever way the event allows.
pub(super) type Answer = Step<Claim, Option<String>>;

/// For three `gh` processes and some of git, on a slow line.
const CHANGE_LIMIT: Millis = Millis::seconds(60);
const CARD_LIMIT: Millis = Millis::seconds(30);
/// One `git push`.
const BEAT_LIMIT: Millis = Millis::seconds(15);

/// Where a claim is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// The agent would stop: whatever is due runs, and news holds it.
    Stop,
    /// The agent waits for the person, who gets a notice.
    Idle,
    /// The watcher looks while the agent rests; news wakes it.
    Watch,
    /// A session starts, and hears how things stand.
    Start,
}

impl At {
    /// For one `gh` process, and another for a log. The host waits for an idle hook and for a
    /// start, and for neither long.
    const fn look_limit(self) -> Millis {
        match self {
            Self::Stop | Self::Watch => Millis::seconds(30),
            Self::Idle => Millis::seconds(12),
            Self::Start => Millis::seconds(10),
        }
    }

    const fn change_limit(self) -> Millis {
        match self {
            Self::Idle => self.look_limit(),
            Self::Stop | Self::Watch | Self::Start => CHANGE_LIMIT,
        }
    }
}

/// What an event finds due.
#[expect(clippy::large_enum_variant, reason = "one lives at a time")]
enum Due {
    Run(&'static str, Effect, Millis),
    /// Something else must come first.
    Say(Meaning),
    Nothing,
}

#[derive(Clone, Copy)]
pub(super) struct Visit<'a> {
    pub(super) at: At,
    pub(super) state: &'a State,
    pub(super) input: &'a Input<'a, Claim>,
}

pub(super) fn visit(at: At, state: &State, input: &Input<'_, Claim>) -> Answer {
    Visit { at, state, input }.answer()
}

impl<'a> Visit<'a> {
    fn answer(self) -> Answer {
        let state = match self.state {
            State::Newer { version } => return self.newer(*version),
            State::Claimed { claim, memory } => State::Claimed {
                claim: claim.clone(),
                memory: memory.about(claim.issue_number),
            },
            State::Unclaimed(memory) => State::Unclaimed(memory.clone()),
        };
        if let (At::Start, EffectStatus::Done(_, outcome)) = (self.at, self.input.effect_status) {
            return self.arrived(state, outcome);
        }
        match self.input.effect_status {
            EffectStatus::Done(intent, outcome) => {
                match self.came_back(&state, &intent.effect, outcome) {
                    Some(meaning) => self.say(meaning),
                    None => self.rest(state),
                }
            }
            EffectStatus::Running(_) => self.busy(state),
            EffectStatus::Clear | EffectStatus::Abandoned(_) => match self.due(&state) {
                Due::Run(rule, effect, limit) => Step::need(rule, state, effect, limit),
                Due::Say(meaning) => self.say(meaning),
                Due::Nothing => self.rest(state),
            },
        }
    }

    pub(super) fn ignore(self) -> Answer {
        Step::ignore(self.state, None)
    }

    pub(super) fn held(self, claim: &ClaimFile, memory: &ClaimMemory) -> Held<'a> {
        Held {
            claim: claim.clone(),
            memory: memory.clone(),
            now: self.input.now,
            facts: self.input.facts,
        }
    }

    fn due(self, state: &State) -> Due {
        match state {
            State::Newer { .. } => Due::Nothing,
            _ if self.at == At::Start => self.due_at_start(state),
            State::Unclaimed(memory) => self.due_without_claim(memory),
            State::Claimed { memory, .. } if self.at == At::Watch && !self.may_look(memory) => {
                Due::Nothing
            }
            State::Claimed { claim, memory } => match (&claim.phase, self.at) {
                (Phase::ReadyForPr, At::Stop) => self.open("open", claim, memory),
                (Phase::Done, At::Stop) => self.close("close", claim, memory),
                (Phase::Failed(failure), _) if failure.next.is_due(self.input.now) => {
                    match failure.during {
                        Task::Open => self.open("retry", claim, memory),
                        Task::Close => self.close("retry", claim, memory),
                    }
                }
                (Phase::ReadyForPr | Phase::Done | Phase::Failed(_), _) => Due::Nothing,
                (
                    Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected,
                    _,
                ) => self.upkeep(claim, memory),
            },
        }
    }

    /// The watcher looks for its own session, and not before that has read its news.
    fn may_look(self, memory: &ClaimMemory) -> bool {
        memory.is_own(self.input.event.session.as_ref())
            && !memory.has_urgent(self.input.facts.max_ci_rounds, self.input.now)
    }

    /// While the work goes on elsewhere: the card, a look at the pull request, a sign of life.
    fn upkeep(self, claim: &ClaimFile, memory: &ClaimMemory) -> Due {
        let now = self.input.now;
        let stops = self.at == At::Stop;
        if stops && self.input.facts.board == BoardUse::On && card_is_due(claim, memory, now) {
            let card = CardUpdate::of(claim, &claim.status);
            return Due::Run("card", Effect::Sync(card), CARD_LIMIT);
        }
        if let Some(look) = self.look(claim, memory) {
            return Due::Run("poll", look, self.at.look_limit());
        }
        match HeartBeat::due(claim, memory, now).filter(|_| stops) {
            Some(beat) => Due::Run("beat", Effect::Beat(beat), BEAT_LIMIT),
            None => Due::Nothing,
        }
    }

    /// The look at the pull request that this event may have.
    fn look(self, claim: &ClaimFile, memory: &ClaimMemory) -> Option<Effect> {
        let pr = claim.watched_pull()?;
        if memory.is_told_to_wait(self.input.now) {
            return None;
        }
        let due = is_due(claim.last_check_poll, self.input.now);
        let poll = Effect::Poll {
            pr,
            known: memory.known_failure(),
        };
        match self.at {
            At::Watch => Some(poll),
            // Only where nobody attends is there no watcher that looks.
            At::Stop => (due && self.input.facts.headless).then_some(poll),
            At::Start => due.then_some(poll),
            At::Idle if due => Some(poll),
            // A server in trouble is not asked more often than a healthy one.
            At::Idle => memory
                .trouble
                .is_none()
                .then_some(Effect::CheckMerge { pr }),
        }
    }

    fn open(self, rule: &'static str, claim: &ClaimFile, memory: &ClaimMemory) -> Due {
        match Open::of(claim, memory) {
            Ok(open) => Due::Run(rule, Effect::Open(open), self.at.change_limit()),
            Err(missing) => self.say_at_stop(self.held(claim, memory).lacking(missing)),
        }
    }

    /// Closes the issue, if its user let it be closed. The file says only what somebody wrote
    /// into it.
    fn close(self, rule: &'static str, claim: &ClaimFile, memory: &ClaimMemory) -> Due {
        let given = memory.consent == Consent::Given;
        let may = given || (self.at == At::Stop && self.input.facts.is_script);
        if !may {
            return self.say_at_stop(self.held(claim, memory).unconsented());
        }
        let close = Close {
            only_if_merged: !given,
            ..Close::of(claim, memory)
        };
        Due::Run(rule, Effect::Close(close), self.at.change_limit())
    }

    /// What keeps a retry from being made waits for a stop, where the agent can do something.
    fn say_at_stop(self, meaning: Meaning) -> Due {
        match self.at {
            At::Stop => Due::Say(meaning),
            At::Idle | At::Watch | At::Start => Due::Nothing,
        }
    }

    /// No claim file. At a stop, an issue that is still reserved on the git server is given back.
    fn due_without_claim(self, memory: &ClaimMemory) -> Due {
        let now = self.input.now;
        match (self.at, &self.input.facts.branch) {
            (At::Stop, _) => match memory.leftover(now) {
                Some(effect) => Due::Run("give-back", effect, BEAT_LIMIT),
                None => Due::Nothing,
            },
            (At::Idle, Some(branch)) if is_due(memory.looked, now) => {
                let branch = branch.clone();
                Due::Run("look", Effect::Look { branch }, self.at.look_limit())
            }
            (At::Idle | At::Watch | At::Start, _) => Due::Nothing,
        }
    }

    /// A session that starts looks at the board, and at a pull request that nobody has looked at
    /// for two minutes. It may have been merged overnight.
    fn due_at_start(self, state: &State) -> Due {
        let begins = matches!(
            self.input.event.kind,
            Kind::SessionStart {
                source: StartSource::Startup | StartSource::Clear
            }
        );
        let look = match state {
            State::Claimed { claim, memory } => self.look(claim, memory),
            State::Unclaimed(_) | State::Newer { .. } => None,
        };
        let (rule, effect) = match (begins && self.input.facts.board == BoardUse::On, look) {
            (true, Some(Effect::Poll { pr, known })) => ("survey", Effect::Arrive { pr, known }),
            (true, _) => ("survey", Effect::Survey),
            (false, Some(look)) => ("poll", look),
            (false, None) => return Due::Nothing,
        };
        Due::Run(rule, effect, self.at.look_limit())
    }

    /// What a result means, if it is about this claim and was asked for at such an event.
    fn came_back(self, state: &State, effect: &Effect, outcome: &Outcome) -> Option<Meaning> {
        let (claim, memory) = match state {
            State::Newer { .. } => return None,
            State::Unclaimed(memory) => {
                return results::without_claim(self.at, memory, outcome, self.input);
            }
            State::Claimed { claim, memory } => (claim, memory),
        };
        let held = self.held(claim, memory);
        if effect.polls().is_some() && effect.polls() == claim.watched_pull() {
            return held.looked(self.at, outcome);
        }
        let is_retry = matches!(claim.phase, Phase::Failed(_))
            && matches!(effect, Effect::Open(_) | Effect::Close(_));
        (self.at == At::Stop || is_retry)
            .then(|| held.take_in(effect, outcome))
            .flatten()
    }

    /// Another process is working on it, and will tell the result.
    fn busy(self, state: State) -> Answer {
        let doing = match (&state, self.at) {
            (State::Claimed { claim, .. }, At::Stop) => match &claim.phase {
                Phase::ReadyForPr => Task::Open,
                Phase::Done => Task::Close,
                Phase::Failed(failure) => failure.during,
                Phase::Coding | Phase::PrCreated | Phase::ChecksRunning | Phase::MergedDetected => {
                    return self.rest(state);
                }
            },
            _ => return self.rest(state),
        };
        let note = format!("another process is {}", doing.as_str());
        Step::take("busy", state, None).note(note)
    }

    /// Nothing is due: there may be a message that waits.
    fn rest(self, state: State) -> Answer {
        match (self.at, &state) {
            (At::Start, _) => self.welcome("welcome", &state, None),
            (At::Watch, _) => self.wake("wake", &state).unwrap_or_else(|| self.ignore()),
            (At::Idle, State::Claimed { claim, .. }) if claim.watched_pull().is_some() => {
                self.notify("poll-backoff", state, Vec::new())
            }
            (At::Idle, State::Unclaimed(_)) if self.input.facts.branch.is_some() => {
                Step::take("backoff", state, None)
            }
            (At::Idle, _) => self.ignore(),
            (At::Stop, State::Claimed { claim, .. }) if matches!(claim.phase, Phase::Failed(_)) => {
                Step::take("failed", state, None)
            }
            (At::Stop, _) => self.hold(self.resting_rule(&state), state).drop_abandoned(),
        }
    }

    fn resting_rule(self, state: &State) -> &'static str {
        let State::Claimed { claim, memory } = state else {
            return "unclaimed";
        };
        let most = self.input.facts.max_ci_rounds;
        match &claim.phase {
            Phase::Coding => "coding",
            Phase::PrCreated | Phase::ChecksRunning => match rounds::waiting(claim, memory, most) {
                Some(_) => "ci-limit",
                None => "watched",
            },
            Phase::MergedDetected => "asked",
            Phase::ReadyForPr | Phase::Done | Phase::Failed(_) => "late",
        }
    }
}

fn card_is_due(claim: &ClaimFile, memory: &ClaimMemory, now: Millis) -> bool {
    let may = match &memory.card {
        None => true,
        Some(fault) if fault.status != claim.status => true,
        Some(fault) => fault.retry_at.is_some_and(|at| now >= at),
    };
    // The card is theirs who have the issue.
    may && memory.lost.is_none() && claim.card_is_behind()
}
