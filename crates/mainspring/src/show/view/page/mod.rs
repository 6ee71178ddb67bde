//! How the page looks: HTML made here, one style sheet and one short script beside it. Every text
//! is escaped by `maud`, and characters that hide or reorder are made visible.

mod bits;
mod chart;
mod claim;
mod decision;
mod machine;
mod overview;
mod plan;
mod project;
mod timeline;

use mainspring_store::Trouble;
use maud::{DOCTYPE, Markup, html};

use super::http::Status;
use super::live;
use super::route::Route;
use super::site::{KnownProject, Site};
use crate::error::CliError;
use crate::show::model::project::OpenProject;

/// One page, before the frame around it.
struct Page {
    /// The window's title, and the page's heading.
    title: String,
    /// How many things need the person, if the page counts them.
    needs: usize,
    /// Which part of the page's navigation it belongs to.
    part: Part,
    body: Markup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Overview,
    Timeline,
    Other,
}

/// Why a page cannot be shown.
#[derive(Debug)]
struct Missing(String);

type Made = Result<Page, Missing>;

impl From<Trouble> for Missing {
    fn from(trouble: Trouble) -> Self {
        Self(trouble.to_string())
    }
}

impl From<CliError> for Missing {
    fn from(error: CliError) -> Self {
        Self(error.cause)
    }
}

impl Page {
    /// A page that counts nothing and is in no part of the navigation.
    fn new(title: impl Into<String>, body: Markup) -> Self {
        Self {
            title: title.into(),
            needs: 0,
            part: Part::Other,
            body,
        }
    }
}

/// The page of a route, as HTML.
pub(super) fn render(site: &Site, route: &Route) -> (Status, String) {
    // Taken before anything is read, so that a change in between shows at once.
    let version = live::version(site);
    let made = match route {
        Route::Overview | Route::Events | Route::Asset(_) => Ok(overview::page(site)),
        Route::Timeline(filter) => Ok(timeline::page(site, filter)),
        Route::Decision { project, seq } => decision::page(site, project, *seq),
        Route::Project { project } => project::page(site, project),
        Route::Machine { project, machine } => machine::page(site, project, *machine),
        Route::Plan { project, plan } => plan::page(site, project, plan),
        Route::Claim { project } => claim::page(site, project),
    };
    match made {
        Ok(page) => (Status::Ok, frame(&page, &version)),
        Err(Missing(why)) => {
            let body =
                html! { p { (bits::text(&why)) } p { a href="./" { "Back to the overview" } } };
            let page = Page::new("Nothing here", body);
            (Status::NotFound, frame(&page, &version))
        }
    }
}

fn frame(page: &Page, version: &str) -> String {
    let count = match page.needs {
        0 => String::new(),
        needs => format!("({needs}) "),
    };
    let current = |part: Part| (page.part == part).then_some("page");
    let markup = html! {
        (DOCTYPE)
        html lang="en" data-version=(version) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (count) (bits::text(&page.title)) " · Mainspring" }
                link rel="stylesheet" href="style.css";
                link rel="icon" href="icon.svg" type="image/svg+xml";
                script src="page.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    a.home href="./" { "Mainspring" }
                    nav aria-label="Pages" {
                        a href="./" aria-current=[current(Part::Overview)] { "Overview" }
                        a href="timeline" aria-current=[current(Part::Timeline)] { "Timeline" }
                    }
                    p #live role="status" { "not live" }
                }
                main #main tabindex="-1" {
                    h1 { (bits::text(&page.title)) }
                    (page.body)
                }
                p #said role="status" {}
            }
        }
    };
    markup.into_string()
}

/// The project of this key.
fn find(site: &Site, key: &str) -> Result<KnownProject, Missing> {
    let mut projects = site.projects().into_iter();
    let project = projects.find(|project| project.key == key);
    project.ok_or_else(gone)
}

fn gone() -> Missing {
    Missing("There is no such project: its folder or its state is gone.".into())
}

/// The project of this key, to look at.
fn open(site: &Site, key: &str) -> Result<(KnownProject, OpenProject), Missing> {
    let known = find(site, key)?;
    let open = site.open(&known)?;
    Ok((known, open))
}
