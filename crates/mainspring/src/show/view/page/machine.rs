//! One machine in one project: its transition table, with its state marked.

use mainspring_kernel::Name;
use mainspring_kernel::machine::Arrow;
use maud::{Markup, PreEscaped, html};

use super::super::route::Filter;
use super::super::site::Site;
use super::{Made, Page, bits, gone, open};
use crate::show::graph::Graph;
use crate::show::model::project::Look;

pub(super) fn page(site: &Site, key: &str, name: Name) -> Made {
    let (known, open) = open(site, key)?;
    let journals = site.journals(&site.projects());
    let journal = journals.get(key).ok_or_else(gone)?;
    let state = open.look(journal, None, Look::Whole);
    let machine = state.machines.iter().find(|machine| machine.name == name);
    let here = machine.and_then(|machine| machine.state);
    let filter = Filter {
        project: Some(key.to_owned()),
        machine: Some(name),
        ..Filter::default()
    };
    Ok(Page::new(
        format!("{name} in {}", known.name()),
        html! {
            p.crumbs { (bits::project_link(key, &known.name())) " · " a href=(filter.address()) { "its decisions" } }
            section #state data-live aria-label="State" {
                @if let Some(machine) = machine {
                    p.sentence { (bits::machine(key, machine)) }
                    p.about { (machine.about) }
                }
            }
            section #graph data-live aria-labelledby="table-title" {
                h2 #table-title { "What it can do" }
                div.scroll.graph tabindex="0" role="region" aria-label="Graph" { (PreEscaped(Graph::of(name, here).svg())) }
                (table(name, here))
            }
        },
    ))
}

/// The arrows, by the state that they leave. What leaves the state at hand comes first.
fn table(name: Name, here: Option<&str>) -> Markup {
    let mut arrows: Vec<&Arrow> = name.table().iter().collect();
    arrows.sort_by_key(|arrow| !here.is_some_and(|here| arrow.leaves(here)));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Transition table" {
            table.arrows {
                thead { tr { th scope="col" { "from" } th scope="col" { "on" } th scope="col" { "when" } th scope="col" { "it does" } th scope="col" { "to" } th scope="col" { "rule" } } }
                tbody {
                    @for arrow in arrows {
                        @let now = here.is_some_and(|here| arrow.leaves(here));
                        tr.now[now] {
                            td {
                                @for (index, from) in arrow.from.iter().enumerate() {
                                    @if index > 0 { ", " }
                                    @if here == Some(*from) { mark { (from) } } @else { (from) }
                                }
                            }
                            td { (arrow.on) } td { (bits::prose(arrow.when)) } td { (bits::prose(arrow.does)) }
                            td { (arrow.to) } td.rule { (arrow.rule) }
                        }
                    }
                }
            }
        }
    }
}
