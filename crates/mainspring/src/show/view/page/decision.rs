//! One decision, and why it was made.

use mainspring_kernel::journal::Record;
use maud::{Markup, html};

use super::super::route::to;
use super::super::site::Site;
use super::{Made, Missing, Page, Part, bits, find};
use crate::show::model::decision::{Because, Explained, Explanation, explain};
use crate::show::records;

pub(super) fn page(site: &Site, key: &str, seq: u64) -> Made {
    let project = find(site, key)?;
    let record = records::numbered(&project.dir, seq)?.ok_or_else(|| {
        Missing(format!(
            "The journal has no record #{seq}. Old records are deleted in time."
        ))
    })?;
    let name = project.name();
    Ok(Page {
        title: format!("{name} #{seq}"),
        needs: 0,
        part: Part::Timeline,
        body: html! {
            p.crumbs {
                (bits::project_link(key, &name)) " · " (bits::time(record.at))
                @if let Some(session) = record.session() { " · session " (bits::session_link(session)) }
            }
            (explained(key, &record))
            nav.pages aria-label="Neighbours" {
                @if seq > 1 { a rel="prev" href=(at(key, seq - 1)) { "Before" } }
                a rel="next" href=(at(key, seq + 1)) { "After" }
            }
        },
    })
}

fn at(key: &str, seq: u64) -> String {
    to("decision", &[("project", key), ("seq", &seq.to_string())])
}

fn explained(key: &str, record: &Record) -> Markup {
    match explain(record) {
        Explained::Decision(why) => why_page(key, &why),
        Explained::Command(command, did) => html! {
            p.sentence { "Somebody ran " code { (bits::text(&command)) } "." }
            p { (bits::prose(&did)) }
        },
    }
}

fn why_page(key: &str, why: &Explanation) -> Markup {
    html! {
        p.sentence {
            span.event { (bits::text(&why.event)) } " "
            span.outcome.(why.outcome.word()) { (why.outcome.word()) } " "
            (bits::prose(&why.sentence))
        }
        @for because in &why.machines { (because_of(key, because)) }
        @if !why.notes.is_empty() {
            section aria-labelledby="told-title" {
                h2 #told-title { "What you were told" }
                ul { @for note in &why.notes { li { (bits::prose(note)) } } }
            }
        }
    }
}

fn because_of(key: &str, because: &Because) -> Markup {
    let address = to("machine", &[("project", key), ("machine", because.machine)]);
    html! {
        section.because aria-label=(because.machine) {
            h2 { a href=(address) { (because.machine) } " " (bits::text(&because.from)) " → " (bits::text(&because.to)) " " span.rule { "rule " (bits::text(&because.rule)) } }
            dl {
                @for (label, words) in because.parts() {
                    dt { (label) } dd { (bits::prose(words)) }
                }
            }
        }
    }
}
