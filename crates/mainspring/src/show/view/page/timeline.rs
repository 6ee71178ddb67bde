//! All decisions, newest first, with a filter.

use mainspring_kernel::{Kind, Name};
use maud::{Markup, html};

use super::super::route::Filter;
use super::super::site::{KnownProject, Site, newest_first};
use super::{Page, Part, bits};
use crate::show::model::journal::Row;
use crate::show::records::{COMMAND, Ending};

/// How many rows one page has.
const ROWS: usize = 100;

pub(super) fn page(site: &Site, filter: &Filter) -> Page {
    let projects = site.projects();
    let journals = site.journals(&projects);
    let named: Vec<(&str, String)> = projects
        .iter()
        .map(|project| (project.key.as_str(), project.name()))
        .collect();
    let name = |key: &str| {
        let found = named.iter().find(|(known, _)| *known == key);
        found.map_or("", |(_, name)| name.as_str())
    };
    let taken: Vec<(&str, &str, &Row)> = newest_first(&journals)
        .into_iter()
        .filter(|(key, row)| takes(filter, key, row))
        .map(|(key, row)| (key, name(key), row))
        .collect();
    let shown = taken.get(filter.skip..).unwrap_or_default();
    let shown = &shown[..shown.len().min(ROWS)];
    Page {
        title: "Timeline".into(),
        needs: 0,
        part: Part::Timeline,
        body: html! {
            (form(filter, &projects))
            section #rows data-live aria-label="Decisions" {
                p.count { (count(taken.len(), filter.skip, shown.len())) }
                (bits::rows(shown))
                (pages(filter, taken.len()))
            }
        },
    }
}

fn takes(filter: &Filter, key: &str, row: &Row) -> bool {
    let project = filter.project.as_deref().is_none_or(|wanted| wanted == key);
    let machine = filter.machine.is_none_or(|name| row.is_about(name));
    let session = filter.session.as_deref().is_none_or(|id| row.is_of(id));
    let event = filter
        .event
        .as_deref()
        .is_none_or(|event| event == row.event);
    let outcome = filter.outcome.as_deref();
    let outcome = outcome.is_none_or(|word| row.ending.is_some_and(|ending| ending.word() == word));
    project && machine && session && event && outcome && has_text(filter, row)
}

fn has_text(filter: &Filter, row: &Row) -> bool {
    let Some(wanted) = filter.text.as_deref().map(str::to_lowercase) else {
        return true;
    };
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    let in_step = row
        .steps
        .iter()
        .any(|step| has(&step.rule) || has(&step.from) || has(&step.to));
    in_step || row.notes.iter().any(|note| has(note))
}

fn count(all: usize, skip: usize, shown: usize) -> String {
    match (all, shown) {
        (0, _) => "no decision matches".into(),
        (1, _) => "1 decision".into(),
        (all, 0) => format!("{all} decisions, none so far back"),
        (all, shown) if shown < all => format!("{all} decisions: {} to {}", skip + 1, skip + shown),
        (all, _) => format!("{all} decisions"),
    }
}

fn pages(filter: &Filter, all: usize) -> Markup {
    let at = |skip: usize| {
        Filter {
            skip,
            ..filter.clone()
        }
        .address()
    };
    html! {
        nav.pages aria-label="More decisions" {
            @if filter.skip > 0 { a href=(at(filter.skip.saturating_sub(ROWS))) rel="prev" { "Newer" } }
            @if filter.skip + ROWS < all { a href=(at(filter.skip + ROWS)) rel="next" { "Older" } }
        }
    }
}

fn form(filter: &Filter, projects: &[KnownProject]) -> Markup {
    let machines = Name::ALL.iter().map(|name| (name.as_str(), name.as_str()));
    let names: Vec<(&str, String)> = projects
        .iter()
        .map(|project| (project.key.as_str(), project.name()))
        .collect();
    let names = names.iter().map(|(key, name)| (*key, name.as_str()));
    let events = Kind::NAMES
        .iter()
        .chain([&COMMAND])
        .map(|word| (*word, *word));
    let outcomes = Ending::COMMON
        .iter()
        .map(|ending| (ending.word(), ending.word()));
    html! {
        form.filter action="timeline" method="get" role="search" aria-label="Filter the decisions" {
            (select("project", "Project", filter.project.as_deref(), names))
            (select("machine", "Machine", filter.machine.map(Name::as_str), machines))
            (select("event", "Event", filter.event.as_deref(), events))
            (select("outcome", "Outcome", filter.outcome.as_deref(), outcomes))
            label { "Session" input name="session" type="search" value=[filter.session.as_deref()] placeholder="id, or its beginning"; }
            label { "Text" input name="text" type="search" value=[filter.text.as_deref()] placeholder="rule, state or note"; }
            button { "Filter" }
            a.clear href="timeline" { "Show all" }
        }
    }
}

fn select<'a>(
    name: &str,
    label: &str,
    chosen: Option<&str>,
    options: impl Iterator<Item = (&'a str, &'a str)>,
) -> Markup {
    html! {
        label { (label)
            select name=(name) {
                option value="" { "all" }
                @for (value, shown) in options {
                    option value=(value) selected[chosen == Some(value)] { (bits::text(shown)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::deliberate::Outcome;
    use mainspring_kernel::{Millis, SessionId};

    use super::super::super::route::Route;
    use super::*;
    use crate::show::model::journal::Step;

    fn row() -> Row {
        Row {
            seq: 7,
            at: Millis(0),
            session: SessionId::parse("abcdef"),
            event: "stop".into(),
            ending: Some(Ending::Settled(Outcome::Held)),
            steps: vec![Step {
                machine: Name::Loop,
                rule: "iterate".into(),
                from: "active".into(),
                to: "active".into(),
                spoke: true,
            }],
            notes: vec!["Told The Person".into()],
        }
    }

    #[test]
    fn each_part_of_the_filter_takes_and_refuses() {
        for (query, taken) in [
            ("", true),
            ("project=k", true),
            ("project=other", false),
            ("machine=loop", true),
            ("machine=gate", false),
            ("session=abc", true),
            ("session=bcd", false),
            ("event=stop", true),
            ("event=idle", false),
            ("outcome=held", true),
            ("outcome=passed", false),
            ("text=ITERATE", true),
            ("text=the+person", true),
            ("text=nothing", false),
            ("machine=loop&outcome=passed", false),
        ] {
            let Some(Route::Timeline(filter)) = Route::parse("timeline", query) else {
                panic!("{query} is a filter");
            };
            assert_eq!(takes(&filter, "k", &row()), taken, "{query}");
        }
    }
}
