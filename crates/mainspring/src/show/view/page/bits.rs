//! Small pieces that several pages show.

use std::borrow::Cow;

use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::hidden;
use mainspring_kernel::{Millis, SessionId};
use maud::{Markup, html};

use super::super::route::{Filter, to};
use crate::command::timestamp;
use crate::hosts::text::excerpt;
use crate::show::model::journal::Row;
use crate::show::model::machine::MachineState;

/// A text of anybody's, with what hides or reorders made visible.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    hidden::escape(text)
}

/// A sentence of ours: what stands in backticks is a command.
pub(super) fn prose(sentence: &str) -> Markup {
    html! {
        @for (index, part) in sentence.split('`').enumerate() {
            @if index % 2 == 1 { code { (text(part)) } } @else { (text(part)) }
        }
    }
}

/// A moment. The script shows how long ago it was, in the reader's own time zone.
pub(super) fn time(at: Millis) -> Markup {
    let exact = timestamp(at);
    html! { time datetime=(exact) { (exact) } }
}

/// The beginning of a session's id.
pub(super) fn short(session: &SessionId) -> String {
    session.as_str().chars().take(8).collect()
}

pub(super) fn session_link(session: &SessionId) -> Markup {
    let filter = Filter {
        session: Some(session.as_str().to_owned()),
        ..Filter::default()
    };
    html! { a.session href=(filter.address()) { (text(&short(session))) } }
}

pub(super) fn project_link(key: &str, name: &str) -> Markup {
    html! { a href=(to("project", &[("project", key)])) { (text(name)) } }
}

/// The event and its outcome, or that it was a command.
pub(super) fn what(row: &Row) -> Markup {
    html! {
        span.event { (text(&row.event)) }
        @if let Some(ending) = row.ending { " " span.outcome.(ending.word()) { (ending.word()) } }
    }
}

/// What happened, in one line: which machine took which rule, and what was said.
pub(super) fn steps(row: &Row) -> Markup {
    html! {
        @for step in row.steps.iter().filter(|step| !step.rule.is_empty()) {
            span.step {
                b { (step.machine.as_str()) } " "
                @if step.from == step.to { (text(&step.to)) } @else { (text(&step.from)) " → " (text(&step.to)) }
                " " span.rule { (text(&step.rule)) }
            }
        }
        @for note in &row.notes { span.note { (prose(&excerpt(note))) } }
    }
}

/// The rows as a list; each opens its explanation.
pub(super) fn rows<S: AsRef<str>>(rows: &[(&str, S, &Row)]) -> Markup {
    html! {
        ol.rows {
            @for (key, project, row) in rows {
                @let seq = row.seq.to_string();
                li {
                    a.row href=(to("decision", &[("project", key), ("seq", &seq)])) {
                        span.when { (time(row.at)) }
                        span.what { (what(row)) }
                        span.steps { (steps(row)) }
                        span.where {
                            (text(project.as_ref())) " #" (seq)
                            @if let Some(session) = &row.session { " · " (text(&short(session))) }
                        }
                    }
                }
            }
        }
    }
}

/// A machine that has a state: its name, state and summary.
pub(super) fn machine(key: &str, machine: &MachineState) -> Markup {
    let address = to(
        "machine",
        &[("project", key), ("machine", machine.name.as_str())],
    );
    html! {
        a.machine href=(address) { (machine.name.as_str()) }
        " "
        span.state.bad[machine.problem.is_some()] { (machine.state()) }
        " " span.summary { (text(&machine.summary)) }
        @if let Some(order) = &machine.suspended { " " span.braked { (order.to_string()) } }
    }
}

/// Work that runs now, with its time against its deadline. The script moves it on.
pub(super) fn running(work: &AtWork) -> Markup {
    let limit = work.deadline.since(work.since);
    let details = [work.work.who.as_deref(), work.work.more.as_deref()];
    html! {
        p.work data-since=(work.since.0) {
            b { (work.machine.as_str()) } " " (text(&work.work.name()))
            @for detail in details.into_iter().flatten() { ", " (text(detail)) }
            " "
            progress max=(limit.0 / 1_000) value=(work.ran.0 / 1_000) aria-label={ "Time of " (text(&work.work.name())) } {}
            " " span.ran { (work.ran.in_words()) } " of " (limit.in_words())
        }
    }
}
