//! Sessions that start and end while there is a plan.

use alloc::format;
use alloc::string::String;

use super::messages::{command, directory};
use super::plan::Waiting;
use super::standstill::Standstill;
use super::stop::is_live;
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
    if !is_new(*source) || plan.memory.owner.is_some() || !is_live(plan) {
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
    let (State::Plan(plan), Some(here)) = (state, &input.event.session) else {
        return ignore();
    };
    if plan
        .memory
        .owner
        .as_ref()
        .is_some_and(|owner| owner != here)
    {
        return ignore();
    }
    let mut plan = plan.clone();
    let question = question(&plan, input);
    plan.memory.allow_again();
    if let Some(question) = question {
        plan.memory.waiting = Some(Waiting::Told);
        return Step::take("ask", State::Plan(plan), OnContext::Tell(question));
    }
    let state_now = State::Plan(plan);
    if state_now == *state {
        return ignore();
    }
    Step::take("spoke", state_now, OnContext::Pass)
}

/// What the agent has not heard of yet, and only a person can change.
fn question(plan: &Plan, input: &Input<'_, Review>) -> Option<String> {
    if plan.memory.waiting != Some(Waiting::Untold) {
        return None;
    }
    let facts = input.facts;
    let (review, still) = Standstill::of(plan, facts.counting, &facts.settings)?;
    Some(format!(
        "{}. Unless the user's message settles this, show them these choices and ask.",
        still.sentence(&plan.id, review)
    ))
}

pub(super) fn on_end(state: &State, input: &Input<'_, Review>) -> Step<Review, Nothing> {
    let State::Plan(plan) = state else {
        return Step::ignore(state, Nothing);
    };
    if plan.memory.owner.is_none() || plan.memory.owner != input.event.session {
        return Step::ignore(state, Nothing);
    }
    let mut plan = plan.clone();
    plan.memory.owner = None;
    Step::take("leave", State::Plan(plan), Nothing)
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
