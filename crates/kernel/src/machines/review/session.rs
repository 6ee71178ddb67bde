//! Sessions that start and end while there is a plan.

use alloc::format;

use super::messages::directory;
use super::stop::is_live;
use super::{Review, State};
use crate::event::{self, StartSource};
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
        "The plan in {} can be continued and now belongs to this session: `mainspring plan route` \
         says what comes next. Do nothing about it unless the user asks; `mainspring plan set \
         next_phase null` ends its reviews.",
        directory(&plan.id)
    );
    Step::take("take", State::Plan(plan), OnContext::Tell(tell))
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
