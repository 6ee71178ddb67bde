//! `mainspring graph`: a machine's transition table, as a drawing.

mod svg;

use std::fmt::Write as _;
use std::slice;

use mainspring_kernel::machine::Arrow;
use mainspring_kernel::machines::Name;
use serde_json::{Value, json};

use crate::command::{CommandContext, Result};
use crate::context::{Caller, EventContext};
use crate::machines;
use crate::people::which_session;

/// Show a machine's transition table, with its current state marked.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring graph loop\n  mainspring graph review --format mermaid    for a page that draws Mermaid\n  mainspring graph claim --format svg > claim.svg"
)]
pub(crate) struct Args {
    /// Which machine; default: all of them
    #[arg(value_parser = crate::people::orders::machine)]
    machine: Option<Name>,
    /// How to draw it
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// As JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Text,
    Mermaid,
    Dot,
    Svg,
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let names = args.machine.as_ref().map_or(Name::ALL, slice::from_ref);
    let graphs = names
        .iter()
        .map(|name| Graph::of(*name, current(*name, cmd)));
    if args.json {
        let tables: Vec<Value> = graphs.map(|graph| graph.json()).collect();
        return crate::command::json_list("machines", &tables);
    }
    let drawn: Vec<String> = graphs.map(|graph| graph.drawn(args.format)).collect();
    Ok(drawn.join("\n"))
}

/// The machine's state in this project; `None` if it has none or it cannot be read.
fn current(name: Name, cmd: &CommandContext) -> Option<&'static str> {
    let (project, store) = cmd.project().ok()?;
    let latest = which_session::latest(&cmd.env, &store).map(|(id, _)| id);
    let latest = cmd.env.agent_session().or(latest);
    let context = EventContext::new(&cmd.env, (project, store), Caller::View { session: latest });
    let input = machines::view(name, &context).ok()??;
    Some(input.label())
}

/// A transition table as states and edges, for every way to draw it.
#[derive(Debug)]
pub(super) struct Graph {
    name: &'static str,
    /// In the order in which the table names them.
    states: Vec<&'static str>,
    edges: Vec<Edge>,
    /// The state that the machine is in.
    here: Option<&'static str>,
}

/// An arrow, once for every state that it leaves.
#[derive(Debug)]
struct Edge {
    from: &'static str,
    to: &'static str,
    arrow: &'static Arrow,
}

impl Graph {
    pub(super) fn of(name: Name, here: Option<&'static str>) -> Self {
        Self::walk(name.as_str(), name.table(), here)
    }

    fn walk(name: &'static str, table: &'static [Arrow], here: Option<&'static str>) -> Self {
        let (mut states, mut edges) = (Vec::new(), Vec::new());
        for (arrow, from) in table
            .iter()
            .flat_map(|one| one.from.iter().map(move |from| (one, *from)))
        {
            let to = arrow.target(from);
            for state in [from, to] {
                if !states.contains(&state) {
                    states.push(state);
                }
            }
            edges.push(Edge { from, to, arrow });
        }
        Self {
            name,
            states,
            edges,
            here,
        }
    }

    fn drawn(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Mermaid => self.mermaid(),
            Form::Dot => self.dot(),
            Form::Svg => self.svg(),
        }
    }

    fn json(&self) -> Value {
        let arrows = self.edges.iter().map(|Edge { from, to, arrow }| {
            json!({
                "rule": arrow.rule, "from": from, "on": arrow.on, "when": arrow.when,
                "to": to, "does": arrow.does, "remedy": arrow.remedy,
            })
        });
        json!({
            "machine": self.name,
            "state": self.here,
            "arrows": arrows.collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let mut out = format!("{}\n", self.name);
        for state in &self.states {
            let mark = if self.here == Some(*state) {
                "●"
            } else {
                "○"
            };
            let _ = writeln!(out, "{mark} {state}");
            for Edge { to, arrow, .. } in self.edges.iter().filter(|edge| edge.from == *state) {
                let _ = writeln!(
                    out,
                    "    ─ {}: {} ─▶ {to}  ({}; {})",
                    arrow.on, arrow.when, arrow.rule, arrow.does
                );
            }
        }
        out
    }

    fn mermaid(&self) -> String {
        let id = |state: &str| state.replace('-', "_");
        let mut out = String::from("stateDiagram-v2\n");
        for state in &self.states {
            let _ = writeln!(out, "    state \"{state}\" as {}", id(state));
        }
        for Edge { from, to, arrow } in &self.edges {
            // A colon or a semicolon would end the label.
            let label = format!("{}, {}", arrow.on, arrow.when).replace([':', ';', '#'], ",");
            let _ = writeln!(out, "    {} --> {} : {label}", id(from), id(to));
        }
        if let Some(here) = self.here {
            let _ = writeln!(
                out,
                "    classDef here stroke-width:4px\n    class {} here",
                id(here)
            );
        }
        out
    }

    fn dot(&self) -> String {
        let mut out = format!(
            "digraph {:?} {{\n    node [shape=box, style=rounded]\n",
            self.name
        );
        for state in &self.states {
            let mark = if self.here == Some(*state) {
                " [penwidth=4]"
            } else {
                ""
            };
            let _ = writeln!(out, "    {state:?}{mark}");
        }
        for Edge { from, to, arrow } in &self.edges {
            let label = format!("{}: {}", arrow.on, arrow.when);
            let _ = writeln!(out, "    {from:?} -> {to:?} [label={label:?}]");
        }
        out + "}\n"
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::machine::SAME;

    use super::*;

    const TABLE: &[Arrow] = &[
        Arrow {
            rule: "go",
            from: &["at-rest", "asleep"],
            on: "stop",
            when: "it's \"time\": now",
            to: "moving",
            does: "hold",
            remedy: "",
        },
        Arrow {
            rule: "on",
            from: &["moving"],
            on: "stop",
            when: "always",
            to: SAME,
            does: "pass",
            remedy: "",
        },
    ];

    #[test]
    fn every_arrow_is_drawn_and_the_state_here_is_marked() {
        let graph = |here| Graph::walk("pulse", TABLE, here);
        insta::assert_snapshot!(graph(Some("moving")).text(), @r#"
        pulse
        ○ at-rest
            ─ stop: it's "time": now ─▶ moving  (go; hold)
        ● moving
            ─ stop: always ─▶ moving  (on; pass)
        ○ asleep
            ─ stop: it's "time": now ─▶ moving  (go; hold)
        "#);
        insta::assert_snapshot!(graph(Some("at-rest")).mermaid(), @r#"
        stateDiagram-v2
            state "at-rest" as at_rest
            state "moving" as moving
            state "asleep" as asleep
            at_rest --> moving : stop, it's "time", now
            asleep --> moving : stop, it's "time", now
            moving --> moving : stop, always
            classDef here stroke-width:4px
            class at_rest here
        "#);
        insta::assert_snapshot!(graph(None).dot(), @r#"
        digraph "pulse" {
            node [shape=box, style=rounded]
            "at-rest"
            "moving"
            "asleep"
            "at-rest" -> "moving" [label="stop: it's \"time\": now"]
            "asleep" -> "moving" [label="stop: it's \"time\": now"]
            "moving" -> "moving" [label="stop: always"]
        }
        "#);
    }
}
