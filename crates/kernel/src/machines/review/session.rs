//! Sessions that start and end while there is a plan.

use alloc::format;
use alloc::string::String;

use super::messages::{command, directory};
use super::plan::Waiting;
use super::standstill::Standstill;
use super::{Plan, Review, State};
use crate::event::{self, Author, StartSource};
use crate::machine::{Input, Nothing, OnContext, Step};

pub(super) fn on_start(state: &State, input: &Input<'_, Review>) -> Step<Review, OnContext> {
    let ignore = || Step::ignore(state, OnContext::Pass);
    let event::Kind::SessionStart { source } = &input.event.kind else {
        return ignore();
    };
    let (State::Plan(plan), Some(here)) = (state, &input.event.session) else {
        return ignore();
    };
    if !is_new(*source) || plan.memory.owner.is_some() || !state.is_live() {
        return ignore();
    }
    let mut plan = plan.clone();
    plan.memory.moved_by(Some(here));
    let tell = format!(
        "The plan in {} can be continued and now belongs to this session: {} says what comes \
         next. Do nothing about it unless the user asks; the user can end its reviews with {}.",
        directory(&plan.id),
        command(&plan.id, "route"),
        command(&plan.id, "accept")
    );
    Step::take("take", State::Plan(plan), OnContext::Tell(tell))
}

/// A person speaks. If the plan waits for one, the agent is told once, so that it can ask.
pub(super) fn on_prompt(state: &State, input: &Input<'_, Review>) -> Step<Review, OnContext> {
    let ignore = || Step::ignore(state, OnContext::Pass);
    let event::Kind::Prompt {
        author: Author::Person,
    } = &input.event.kind
    else {
        return ignore();
    };
    let Some(here) = &input.event.session else {
        return ignore();
    };
    let mut after = state.clone();
    let Some((_, memory)) = after.known() else {
        return ignore();
    };
    if memory.owner.as_ref().is_some_and(|owner| owner != here) {
        return ignore();
    }
    memory.allow_again();
    if let Some(question) = state.plan().and_then(|plan| question(plan, input)) {
        memory.waiting = Some(Waiting::Told);
        return Step::take("ask", after, OnContext::Tell(question));
    }
    if after == *state {
        return ignore();
    }
    Step::take("spoke", after, OnContext::Pass)
}

/// What the agent has not heard of yet, and only a person can change.
fn question(plan: &Plan, input: &Input<'_, Review>) -> Option<String> {
    if plan.memory.waiting != Some(Waiting::Untold) {
        return None;
    }
    let (review, still) = Standstill::of(plan, &input.facts.settings)?;
    Some(format!(
        "{}. Unless the user's message settles this, show them these choices and ask.",
        still.sentence(&plan.id, review)
    ))
}

pub(super) fn on_end(state: &State, input: &Input<'_, Review>) -> Step<Review, Nothing> {
    let owner = state.owner();
    let mut after = state.clone();
    match after.known() {
        Some((_, memory)) if owner.is_some() && owner == input.event.session.as_ref() => {
            memory.owner = None;
            Step::take("leave", after, Nothing)
        }
        _ => Step::ignore(state, Nothing),
    }
}

/// Does this start continue the same person's earlier work?
const fn is_new(source: StartSource) -> bool {
    match source {
        StartSource::Startup
        | StartSource::Resume
        | StartSource::Clear
        | StartSource::Fork
        | StartSource::Other => true,
        StartSource::Compact => false,
    }
}
