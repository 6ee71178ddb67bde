//! One project: its machines, its sessions, its plans, and the two buttons.

use mainspring_kernel::Name;
use maud::{Markup, html};

use super::super::route::{Filter, to};
use super::super::site::Site;
use super::{Made, Page, Part, bits, gone, open, overview};
use crate::machines::review::directory::{self, PLANS};
use crate::show::model::journal::Row;
use crate::show::model::machine::MachineState;
use crate::show::model::project::{Look, ProjectState};

/// How many of the latest decisions it shows.
const LATEST: usize = 12;
/// For how long the button can pause: what a person types, and what they read.
const SPANS: [(&str, &str); 4] = [
    ("15m", "15 minutes"),
    ("30m", "30 minutes"),
    ("2h", "2 hours"),
    ("12h", "12 hours"),
];

pub(super) fn page(site: &Site, key: &str) -> Made {
    let (known, open) = open(site, key)?;
    let journals = site.journals(&site.projects());
    let journal = journals.get(key).ok_or_else(gone)?;
    let plans = directory::all(&open.project.file(PLANS)).unwrap_or_default();
    let plans: Vec<String> = plans.into_iter().map(|plan| plan.id).collect();
    let state = open.look(journal, None, Look::Whole);
    let filter = Filter {
        project: Some(key.to_owned()),
        ..Filter::default()
    };
    let name = known.name();
    let latest = journal.rows.iter().rev().take(LATEST);
    let latest: Vec<(&str, &str, &Row)> = latest.map(|row| (key, name.as_str(), row)).collect();
    let allowed = site.may("pause").is_ok();
    Ok(Page {
        needs: state.needs.len(),
        part: Part::Other,
        body: html! {
            p.crumbs { span.path { (bits::text(&known.place(open.env.home().as_deref()))) } }
            @if !state.needs.is_empty() {
                (overview::needs_list(&state.needs.iter().map(|need| (&known, need)).collect::<Vec<_>>()))
            }
            (brake(key, &state, allowed))
            section #machines data-live aria-labelledby="machines-title" {
                h2 #machines-title { "Machines" }
                ul.machines { @for machine in &state.machines { li { (one_machine(key, &state, machine, allowed)) } } }
                (links(key, &plans, &state))
            }
            (overview::at_work(&state))
            section #sessions data-live aria-labelledby="sessions-title" {
                h2 #sessions-title { "Sessions" }
                @if state.sessions.is_empty() { p.empty { "No session was heard of today." } }
                ul.sessions { @for session in &state.sessions { li { (overview::one_session(key, session)) } } }
            }
            section #latest data-live aria-labelledby="latest-title" {
                h2 #latest-title { "Latest decisions" }
                (bits::rows(&latest))
                p { a href=(filter.address()) { "All decisions of this project" } }
            }
        },
        title: name,
    })
}

fn links(key: &str, plans: &[String], state: &ProjectState) -> Markup {
    let claims = |machine: &&MachineState| machine.name == Name::Claim && machine.state.is_some();
    let claimed = state.machines.iter().any(|machine| claims(&machine));
    html! {
        @if claimed || !plans.is_empty() {
            ul.links {
                @for plan in plans {
                    li { "Plan " a href=(to("plan", &[("project", key), ("plan", plan)])) { (bits::text(plan)) } }
                }
                @if claimed { li { a href=(to("claim", &[("project", key)])) { "The claimed issue and its checks" } } }
            }
        }
    }
}

fn one_machine(key: &str, state: &ProjectState, machine: &MachineState, allowed: bool) -> Markup {
    html! {
        div.line {
            p {
                (bits::machine(key, machine))
                @if machine.state.is_none() { span.about { (machine.about) } }
                @if let Some(problem) = &machine.problem { " " (bits::prose(problem)) }
            }
            @if state.stopped.is_none() && (machine.state.is_some() || machine.suspended.is_some()) {
                (button(key, Some(machine), machine.suspended.is_some(), allowed))
            }
        }
        @if let Some(next) = machine.next() {
            p.next { "at a stop now: " (bits::prose(&next.when)) " → " (bits::prose(&next.does)) }
        }
    }
}

/// The brake on everything here.
fn brake(key: &str, state: &ProjectState, allowed: bool) -> Markup {
    html! {
        section #brake data-live aria-label="Pause or resume this project" {
            (overview::flags(state))
            (button(key, None, state.stopped.is_some(), allowed))
            @if !allowed { p.hint { "An agent started this page, so its buttons do nothing." } }
        }
    }
}

fn button(key: &str, machine: Option<&MachineState>, braked: bool, allowed: bool) -> Markup {
    let name = machine.map_or("", |machine| machine.name.as_str());
    let what = machine.map_or("this project", |machine| machine.name.as_str());
    let id = |verb: &str| format!("{verb}-{name}");
    html! {
        @if braked {
            form.press action="resume" method="post" {
                input type="hidden" name="project" value=(key);
                input type="hidden" name="machine" value=(name);
                button id=(id("resume")) disabled[!allowed] aria-label={ "Resume " (what) } { "Resume" }
            }
        } @else {
            form.press action="pause" method="post" {
                input type="hidden" name="project" value=(key);
                input type="hidden" name="machine" value=(name);
                select id=(id("span")) name="span" disabled[!allowed] aria-label={ "For how long to pause " (what) } {
                    @for (value, words) in SPANS { option value=(value) selected[value == "30m"] { (words) } }
                }
                button id=(id("pause")) disabled[!allowed] aria-label={ "Pause " (what) } { "Pause" }
            }
        }
    }
}
