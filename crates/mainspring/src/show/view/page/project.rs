//! One project: its machines, its sessions, its plans, and the two buttons.

use maud::{Markup, html};

use super::super::super::status::Machine;
use super::super::history::Row;
use super::super::needs;
use super::super::project_state::{OpenProject, ProjectState};
use super::super::route::{Filter, to};
use super::super::site::Site;
use super::{Made, Missing, Page, Part, bits, find, overview};
use crate::machines::review::directory::{self, PLANS};

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
    let known = find(site, key)?;
    let history = site.history(&site.projects());
    let journal = history.of(key);
    let open = OpenProject::new(site, known.clone());
    let open = open.map_err(|trouble| Missing(trouble.to_string()))?;
    let plans = directory::all(&open.project.file(PLANS)).unwrap_or_default();
    let plans: Vec<String> = plans.into_iter().map(|plan| plan.id).collect();
    let state = open.look(journal);
    let needs = needs::of(&state, journal);
    let filter = Filter {
        project: Some(key.to_owned()),
        ..Filter::default()
    };
    let rows = journal.map_or(&[][..], |journal| &journal.rows);
    let name = known.name();
    let latest: Vec<(&str, &str, &Row)> = rows
        .iter()
        .rev()
        .take(LATEST)
        .map(|row| (key, name.as_str(), row))
        .collect();
    let allowed = site.may("pause").is_ok();
    Ok(Page {
        needs: needs.len(),
        part: Part::Other,
        body: html! {
            p.crumbs { span.path { (bits::text(&state.place)) } }
            @if !needs.is_empty() { (overview::needs_list(&needs)) }
            (brake(&state, allowed))
            section #machines data-live aria-labelledby="machines-title" {
                h2 #machines-title { "Machines" }
                ul.machines { @for machine in &state.machines { li { (one_machine(&state, machine, allowed)) } } }
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
    let claims = |machine: &&Machine| machine.name == "claim" && machine.state.is_some();
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

fn one_machine(state: &ProjectState, machine: &Machine, allowed: bool) -> Markup {
    let key = &state.known.key;
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
        @for next in machine.next.iter().filter(|next| machine.suspended.is_none() && next.matters()) {
            p.next { "at a stop now: " (bits::prose(&next.when)) " → " (bits::prose(&next.does)) }
        }
    }
}

/// The brake on everything here.
fn brake(state: &ProjectState, allowed: bool) -> Markup {
    html! {
        section #brake data-live aria-label="Pause or resume this project" {
            (overview::flags(state))
            (button(&state.known.key, None, state.stopped.is_some(), allowed))
            @if !allowed { p.hint { "An agent started this page, so its buttons do nothing." } }
        }
    }
}

fn button(key: &str, machine: Option<&Machine>, braked: bool, allowed: bool) -> Markup {
    let name = machine.map_or("", |machine| machine.name);
    let what = machine.map_or("this project", |machine| machine.name);
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
