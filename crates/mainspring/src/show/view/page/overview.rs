//! The first page: what needs the person, and what runs.

use maud::{Markup, html};

use super::super::history::{History, Row};
use super::super::needs::{self, Need};
use super::super::project_state::{OpenProject, ProjectState, SessionState};
use super::super::route::to;
use super::super::site::{KnownProject, Site};
use super::{Page, Part, bits};
use crate::people::sessions::Attendance;

/// How many of the latest decisions it shows.
const LATEST: usize = 12;

pub(super) fn page(site: &Site) -> Page {
    let projects = site.projects();
    let history = site.history(&projects);
    let mut states = Vec::new();
    let mut needs = Vec::new();
    for known in &projects {
        let Ok(open) = OpenProject::new(site, known.clone()) else {
            continue;
        };
        let journal = history.of(&known.key);
        let state = open.look(journal);
        needs.extend(needs::of(&state, journal));
        states.push(state);
    }
    needs.sort_by_key(|need| need.kind);
    // Where something happened last comes first.
    states.sort_by_key(|state| {
        let rows = history.of(&state.known.key).map(|journal| &journal.rows);
        std::cmp::Reverse(rows.and_then(|rows| rows.last()).map(|row| row.at))
    });
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
                @for state in &states { (project(state)) }
            }
            section #latest data-live aria-labelledby="latest-title" {
                h2 #latest-title { "Latest decisions" }
                (bits::rows(&latest(&history, &projects)))
                p { a href="timeline" { "All decisions" } }
            }
        },
    }
}

fn latest<'a>(
    history: &'a History,
    projects: &'a [KnownProject],
) -> Vec<(&'a str, String, &'a Row)> {
    let name = |key: &str| {
        let mut projects = projects.iter();
        let project = projects.find(|project| project.key == key);
        project.map(KnownProject::name).unwrap_or_default()
    };
    let rows = history.newest_first().into_iter().take(LATEST);
    rows.map(|(key, row)| (key, name(key), row)).collect()
}

pub(super) fn needs_list(needs: &[Need]) -> Markup {
    html! {
        section #needs data-live aria-labelledby="needs-title" .some[!needs.is_empty()] {
            h2 #needs-title {
                @match needs.len() {
                    0 => "Nothing needs you",
                    1 => "1 thing needs you",
                    count => { (count) " things need you" }
                }
            }
            @if !needs.is_empty() {
                ul.needs {
                    @for need in needs { li { (one_need(need)) } }
                }
            }
        }
    }
}

fn one_need(need: &Need) -> Markup {
    html! {
        span.kind { (need.kind.word()) }
        div {
            p.what { (bits::prose(&need.what)) }
            p.remedy {
                (bits::project_link(&need.key, &need.project)) ": " (bits::prose(&need.remedy))
                @if let Some(seq) = need.seq {
                    " · "
                    a href=(to("decision", &[("project", &need.key), ("seq", &seq.to_string())])) { "why" }
                }
            }
        }
    }
}

fn project(state: &ProjectState) -> Markup {
    let known = &state.known;
    html! {
        article.project {
            h3 { (bits::project_link(&known.key, &known.name())) " " span.path { (bits::text(&state.place)) } }
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
                @if let Some(stopped) = &state.stopped { span.flag.braked { (bits::text(stopped)) } }
            }
        }
    }
}

pub(super) fn one_session(key: &str, session: &SessionState) -> Markup {
    html! {
        p.head {
            (bits::session_link(&session.id))
            @match &session.live {
                Some(live) => { " " span.live { "live" } " in " (bits::text(&live.host)) (attended(live.attendance)) },
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

const fn attended(attendance: Attendance) -> &'static str {
    match attendance {
        Attendance::Attended => "",
        Attendance::Headless => ", headless",
        Attendance::Helper => ", started by an agent",
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
    html! { @for work in &state.running { (bits::running(work)) } }
}

/// What runs now, as a section of its own.
pub(super) fn at_work(state: &ProjectState) -> Markup {
    html! {
        section #running data-live aria-labelledby="running-title" {
            h2 #running-title { "Running now" }
            @if state.running.is_empty() { p.empty { "No program runs for a machine here." } }
            (works(state))
        }
    }
}
