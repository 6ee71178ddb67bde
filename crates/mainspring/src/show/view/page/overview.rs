//! The first page: what needs the person, and what runs.

use std::cmp::Reverse;
use std::path::Path;

use maud::{Markup, html};

use super::super::route::to;
use super::super::site::{Journals, KnownProject, Site, newest_first};
use super::{Page, Part, bits};
use crate::show::model::journal::Row;
use crate::show::model::needs::{Need, count};
use crate::show::model::project::{Look, ProjectState, SessionState};

/// How many of the latest decisions it shows.
const LATEST: usize = 12;

pub(super) fn page(site: &Site) -> Page {
    let projects = site.projects();
    let journals = site.journals(&projects);
    let mut states = Vec::new();
    for known in &projects {
        if let (Ok(open), Some(journal)) = (site.open(known), journals.get(&known.key)) {
            let last = journal.rows.last().map(|row| row.at);
            states.push((Reverse(last), known, open.look(journal, None, Look::Whole)));
        }
    }
    // Where something happened last comes first.
    states.sort_by_key(|(last, ..)| *last);
    let needs = states.iter();
    let needs = needs.flat_map(|(_, known, state)| state.needs.iter().map(|need| (*known, need)));
    let mut needs: Vec<(&KnownProject, &Need)> = needs.collect();
    needs.sort_by_key(|(_, need)| need.kind);
    let home = site.env.home();
    Page {
        title: "Overview".into(),
        needs: needs.len(),
        part: Part::Overview,
        body: html! {
            (needs_list(&needs))
            section #projects data-live aria-labelledby="projects-title" {
                h2 #projects-title { "Projects and sessions" }
                @if states.is_empty() {
                    p.empty { "Nothing has happened yet. " (bits::prose("`mainspring pulse 1` checks that the hooks work; `mainspring demo` shows what they do.")) }
                }
                @for (_, known, state) in &states { (project(known, home.as_deref(), state)) }
            }
            section #latest data-live aria-labelledby="latest-title" {
                h2 #latest-title { "Latest decisions" }
                (bits::rows(&latest(&journals, &projects)))
                p { a href="timeline" { "All decisions" } }
            }
        },
    }
}

fn latest<'a>(
    journals: &'a Journals,
    projects: &'a [KnownProject],
) -> Vec<(&'a str, String, &'a Row)> {
    let name = |key: &str| {
        let mut projects = projects.iter();
        let project = projects.find(|project| project.key == key);
        project.map(KnownProject::name).unwrap_or_default()
    };
    let rows = newest_first(journals).into_iter().take(LATEST);
    rows.map(|(key, row)| (key, name(key), row)).collect()
}

pub(super) fn needs_list(needs: &[(&KnownProject, &Need)]) -> Markup {
    html! {
        section #needs data-live aria-labelledby="needs-title" .some[!needs.is_empty()] {
            h2 #needs-title { (count(needs.len())) }
            @if !needs.is_empty() {
                ul.needs {
                    @for (known, need) in needs { li { (one_need(known, need)) } }
                }
            }
        }
    }
}

fn one_need(known: &KnownProject, need: &Need) -> Markup {
    html! {
        span.kind { (need.kind.word()) }
        div {
            p.what { (bits::prose(&need.what)) }
            p.remedy {
                (bits::project_link(&known.key, &known.name())) ": " (bits::prose(&need.remedy))
                @if let Some(seq) = need.seq {
                    " · "
                    a href=(to("decision", &[("project", &known.key), ("seq", &seq.to_string())])) { "why" }
                }
            }
        }
    }
}

fn project(known: &KnownProject, home: Option<&Path>, state: &ProjectState) -> Markup {
    html! {
        article.project {
            h3 { (bits::project_link(&known.key, &known.name())) " " span.path { (bits::text(&known.place(home))) } }
            (flags(state))
            (works(state))
            @if state.sessions.is_empty() { p.empty { "No session was heard of today." } }
            @else { ul.sessions { @for session in &state.sessions { li { (one_session(&known.key, session)) } } } }
        }
    }
}

/// What holds for the whole project.
pub(super) fn flags(state: &ProjectState) -> Markup {
    html! {
        @if !state.trusted || state.observing || state.stopped.is_some() {
            p.flags {
                @if !state.trusted { span.flag { "not trusted" } }
                @if state.observing { span.flag { "only observing" } }
                @if let Some(stopped) = &state.stopped { span.flag.braked { (stopped.to_string()) } }
            }
        }
    }
}

pub(super) fn one_session(key: &str, session: &SessionState) -> Markup {
    html! {
        p.head {
            (bits::session_link(&session.id))
            @match &session.live {
                Some(live) => { " " span.live { "live" } " in " (bits::text(&live.host)) (session.kind()) },
                None => { " " span.gone { "not live" } },
            }
            @match &session.last {
                Some(last) => { ": " (latest_of(last)) ", " (bits::time(last.at)) },
                None => ": nothing was decided for it yet",
            }
        }
        @if !session.machines.is_empty() {
            ul.machines { @for machine in &session.machines { li { (bits::machine(key, machine)) } } }
        }
    }
}

/// Who keeps the agent going, or what else was decided last.
fn latest_of(last: &Row) -> Markup {
    let holders: Vec<_> = last.steps.iter().filter(|step| step.spoke).collect();
    html! {
        @if last.is_held() {
            span.outcome.held { "kept going" }
            " by "
            @for (index, step) in holders.iter().enumerate() {
                @if index > 0 { ", " }
                b { (step.machine.as_str()) } " (" (bits::text(&step.rule)) ")"
            }
        } @else { (bits::what(last)) }
    }
}

fn works(state: &ProjectState) -> Markup {
    html! { @for work in &state.at_work { (bits::running(work)) } }
}

/// What runs now, as a section of its own.
pub(super) fn at_work(state: &ProjectState) -> Markup {
    html! {
        section #running data-live aria-labelledby="running-title" {
            h2 #running-title { "Running now" }
            @if state.at_work.is_empty() { p.empty { "No program runs for a machine here." } }
            (works(state))
        }
    }
}
