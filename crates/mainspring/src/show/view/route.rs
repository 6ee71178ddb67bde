//! What an address asks for. Values come from the query, and anybody may have written them.

use std::collections::BTreeMap;

use mainspring_kernel::Name;

use crate::people::orders;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Overview,
    Timeline(Filter),
    Decision { project: String, seq: u64 },
    Project { project: String },
    Machine { project: String, machine: Name },
    Plan { project: String, plan: String },
    Claim { project: String },
    Events,
    Asset(Asset),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asset {
    Style,
    Script,
    Icon,
}

/// Which decisions the timeline shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) project: Option<String>,
    pub(super) machine: Option<Name>,
    /// The beginning of a session's id.
    pub(super) session: Option<String>,
    pub(super) event: Option<String>,
    pub(super) outcome: Option<String>,
    /// A text that the row contains, in any case.
    pub(super) text: Option<String>,
    /// How many newer rows to skip.
    pub(super) skip: usize,
}

/// What a button asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Press {
    pub(super) project: String,
    pub(super) machine: Option<Name>,
    /// For `pause`: for how long.
    pub(super) span: String,
}

/// The values of a query or a form. Empty ones count as missing.
#[derive(Debug)]
struct Values(BTreeMap<String, String>);

impl Values {
    fn of(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text).into_owned();
        Self(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }

    fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// `Err` if the value is no machine's name.
    fn machine(&mut self) -> Result<Option<Name>, String> {
        let name = self.take("machine");
        name.map(|name| orders::machine(&name)).transpose()
    }
}

impl Route {
    /// `None` if there is no such page.
    pub(super) fn parse(path: &str, query: &str) -> Option<Self> {
        let mut values = Values::of(query.as_bytes());
        let project = values.take("project");
        Some(match path {
            "" => Self::Overview,
            "events" => Self::Events,
            "style.css" => Self::Asset(Asset::Style),
            "page.js" => Self::Asset(Asset::Script),
            "icon.svg" => Self::Asset(Asset::Icon),
            "timeline" => Self::Timeline(Filter {
                project,
                machine: values.machine().ok()?,
                session: values.take("session"),
                event: values.take("event"),
                outcome: values.take("outcome"),
                text: values.take("text"),
                skip: match values.take("skip") {
                    None => 0,
                    Some(skip) => skip.parse().ok()?,
                },
            }),
            "decision" => Self::Decision {
                project: project?,
                seq: values.take("seq")?.parse().ok()?,
            },
            "project" => Self::Project { project: project? },
            "machine" => Self::Machine {
                project: project?,
                machine: values.machine().ok()??,
            },
            "plan" => Self::Plan {
                project: project?,
                plan: values.take("plan")?,
            },
            "claim" => Self::Claim { project: project? },
            _ => return None,
        })
    }
}

impl Press {
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let mut values = Values::of(body);
        Some(Self {
            project: values.take("project")?,
            machine: values.machine().ok()?,
            span: values.take("span").unwrap_or_default(),
        })
    }
}

/// An address within the page: a name, and the values of its query.
pub(super) fn to(page: &str, values: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(values.iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        query if query.is_empty() => page.to_owned(),
        query => format!("{page}?{query}"),
    }
}

impl Filter {
    /// The address of the timeline with this filter.
    pub(super) fn address(&self) -> String {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let skip = match self.skip {
            0 => String::new(),
            skip => skip.to_string(),
        };
        to(
            "timeline",
            &[
                ("project", &text(&self.project)),
                ("machine", self.machine.map_or("", Name::as_str)),
                ("session", &text(&self.session)),
                ("event", &text(&self.event)),
                ("outcome", &text(&self.outcome)),
                ("text", &text(&self.text)),
                ("skip", &skip),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(address: &str) -> Option<Route> {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        Route::parse(path, query)
    }

    #[test]
    fn every_address_that_the_page_writes_is_read_back() {
        let filter = Filter {
            project: Some("0a".into()),
            machine: Some(Name::Loop),
            session: Some("a b&c=d".into()),
            event: Some("stop".into()),
            outcome: Some("held".into()),
            text: Some("<script>é%".into()),
            skip: 200,
        };
        assert_eq!(parse(&filter.address()), Some(Route::Timeline(filter)));
        let empty = Filter::default();
        assert_eq!(empty.address(), "timeline");
        let plan = to("plan", &[("project", "0a"), ("plan", "../x?y#z")]);
        let expected = Route::Plan {
            project: "0a".into(),
            plan: "../x?y#z".into(),
        };
        assert_eq!(parse(&plan), Some(expected));
    }

    #[test]
    fn an_address_that_makes_no_sense_is_no_page() {
        for address in [
            "nowhere",
            "decision?project=a",
            "decision?project=a&seq=x",
            "decision?seq=1",
            "machine?project=a&machine=toaster",
            "timeline?machine=toaster",
            "timeline?skip=-1",
            "plan?project=a",
            "project",
            "../style.css",
        ] {
            assert_eq!(parse(address), None, "{address}");
        }
    }
}
