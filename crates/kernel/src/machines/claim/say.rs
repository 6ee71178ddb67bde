//! How news is said at an event: it holds the agent, wakes it, is a notice for the person, or goes
//! with what a starting session hears. What nobody hears now waits in the mailbox.

use alloc::string::String;
use alloc::vec::Vec;

use super::memory::{Mail, Topic, Weight};
use super::results::Meaning;
use super::visit::{Answer, At, Visit};
use super::{State, rounds};
use crate::machine::{Step, Verdict};

impl Visit<'_> {
    pub(super) fn say(self, meaning: Meaning) -> Answer {
        let Meaning {
            rule,
            state,
            text,
            notices,
            notes,
        } = meaning;
        let state = match text.clone() {
            Some(text) => self.post(&state, text),
            None => state,
        };
        match self.at {
            At::Stop => {
                let mut step = self.hold(rule, state);
                // Said by another session than the claim's: that one gets the message.
                if matches!(step.verdict, Verdict::Say(None)) {
                    step.notes.extend(text);
                }
                step.notes.extend(notes);
                step
            }
            At::Idle => {
                let mut step = self.notify(rule, state, notices);
                step.notes.extend(notes);
                step
            }
            // A look at which nothing changed leaves no record.
            At::Watch if state.differs_only_in_time(self.state) => self.ignore(),
            At::Watch => {
                let waits = self.waiting(&state);
                let step = self.wake(rule, &state);
                let mut step = step.unwrap_or_else(|| Step::take(rule, state, None));
                step.notes.extend(waits);
                step
            }
            At::Start => self.welcome(rule, &state, None),
        }
    }

    /// The state with a message about our own work in its mailbox.
    fn post(self, state: &State, text: String) -> State {
        let Some(mut memory) = state.memory().cloned() else {
            return state.clone();
        };
        memory.post(Mail::new(Topic::Work, Weight::Wake, self.input.now, text));
        state.with_memo(memory)
    }

    /// Red CI that waits for the person.
    fn waiting(self, state: &State) -> Option<String> {
        match state {
            State::Claimed { claim, memory } => {
                rounds::waiting(claim, memory, self.input.facts.max_ci_rounds)
            }
            State::Unclaimed(_) | State::Newer { .. } => None,
        }
    }

    /// Lets the agent go, or holds it for mail that is worth a turn. The person is told once of red
    /// CI that waits for them.
    pub(super) fn hold(self, rule: &'static str, state: State) -> Answer {
        let Some(mut memory) = state.memory().cloned() else {
            return Step::take(rule, state, None);
        };
        if self.input.facts.owner_is_gone {
            memory.owner = None;
        }
        let session = self.input.event.session.as_ref();
        let most = self.input.facts.max_ci_rounds;
        let waits = match &state {
            State::Claimed { claim, .. } if memory.is_own(session) => {
                rounds::untold(claim, &mut memory, most)
            }
            _ => None,
        };
        let text = memory.fetch_urgent(session, most, self.input.now);
        let next = if text.is_some() || waits.is_some() {
            state.with_memo(memory)
        } else {
            state
        };
        let mut step = Step::take(rule, next, text);
        step.notes.extend(waits);
        step
    }

    /// Wakes the agent with mail that waits for this session, if there is any.
    pub(super) fn wake(self, rule: &'static str, state: &State) -> Option<Answer> {
        let mut memory = state.memory()?.clone();
        let session = self.input.event.session.as_ref();
        if !memory.is_own(session) {
            return None;
        }
        let most = self.input.facts.max_ci_rounds;
        let text = memory.fetch_urgent(session, most, self.input.now)?;
        Some(Step::take(rule, state.with_memo(memory), Some(text)))
    }

    /// Tells the person, who may look elsewhere.
    pub(super) fn notify(
        self,
        rule: &'static str,
        mut state: State,
        mut notices: Vec<String>,
    ) -> Answer {
        let facts = self.input.facts;
        if let State::Claimed { claim, memory } = &mut state
            && !facts.is_script
        {
            notices.extend(rounds::untold(claim, memory, facts.max_ci_rounds));
        }
        let said = (!notices.is_empty()).then(|| notices.join("; "));
        Step::take(rule, state, said)
    }
}
