//! `mainspring graph`: a machine's transition table, as a drawing.

mod svg;

use std::fmt::Write as _;

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
    let names = match args.machine {
        Some(name) => vec![name],
        None => Name::ALL.to_vec(),
    };
    let mut drawn = Vec::new();
    let mut tables = Vec::new();
    for name in names {
        let table = name.table();
        let here = current(name, cmd);
        if args.json {
            tables.push(plain(name, table, here));
            continue;
        }
        drawn.push(match args.format {
            Form::Text => text(name, table, here),
            Form::Mermaid => mermaid(table, here),
            Form::Dot => dot(name, table, here),
            Form::Svg => drawing(name, here),
        });
    }
    if args.json {
        return crate::command::json_list("machines", &tables);
    }
    Ok(drawn.join("\n"))
}

/// The table as a picture.
pub(super) fn drawing(name: Name, here: Option<&str>) -> String {
    let table = name.table();
    let edges: Vec<_> = each(table)
        .map(|(from, arrow, to)| (from, arrow.rule, to))
        .collect();
    svg::draw(name.as_str(), &states(table), &edges, here)
}

fn plain(name: Name, table: &[Arrow], here: Option<&str>) -> Value {
    let arrows = each(table).map(|(from, arrow, to)| {
        json!({
            "rule": arrow.rule, "from": from, "on": arrow.on, "when": arrow.when,
            "to": to, "does": arrow.does, "remedy": arrow.remedy,
        })
    });
    json!({
        "machine": name.as_str(),
        "state": here,
        "arrows": arrows.collect::<Vec<_>>(),
    })
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

/// Each arrow once for every state that it leaves: from, arrow, to.
fn each(table: &[Arrow]) -> impl Iterator<Item = (&'static str, &Arrow, &'static str)> {
    let one = |arrow| move |from: &&'static str| (*from, arrow, Arrow::target(arrow, from));
    table
        .iter()
        .flat_map(move |arrow| arrow.from.iter().map(one(arrow)))
}

/// The states, in the order in which the table names them.
fn states(table: &[Arrow]) -> Vec<&'static str> {
    let mut states = Vec::new();
    for state in each(table).flat_map(|(from, _, to)| [from, to]) {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    states
}

fn text(name: Name, table: &[Arrow], here: Option<&str>) -> String {
    let mut out = format!("{name}\n");
    for state in states(table) {
        let mark = if here == Some(state) { "●" } else { "○" };
        let _ = writeln!(out, "{mark} {state}");
        for (_, arrow, to) in each(table).filter(|(from, ..)| *from == state) {
            let _ = writeln!(
                out,
                "    ─ {}: {} ─▶ {to}  ({}; {})",
                arrow.on, arrow.when, arrow.rule, arrow.does
            );
        }
    }
    out
}

fn mermaid(table: &[Arrow], here: Option<&str>) -> String {
    let id = |state: &str| state.replace('-', "_");
    let mut out = String::from("stateDiagram-v2\n");
    for state in states(table) {
        let _ = writeln!(out, "    state \"{state}\" as {}", id(state));
    }
    for (from, arrow, to) in each(table) {
        // A colon or a semicolon would end the label.
        let label = format!("{}, {}", arrow.on, arrow.when).replace([':', ';', '#'], ",");
        let _ = writeln!(out, "    {} --> {} : {label}", id(from), id(to));
    }
    if let Some(here) = here {
        out.push_str("    classDef here stroke-width:4px\n");
        let _ = writeln!(out, "    class {} here", id(here));
    }
    out
}

fn dot(name: Name, table: &[Arrow], here: Option<&str>) -> String {
    let quoted = |text: &str| format!("{text:?}");
    let mut out = format!(
        "digraph {} {{\n    node [shape=box, style=rounded]\n",
        quoted(name.as_str())
    );
    for state in states(table) {
        let mark = if here == Some(state) {
            " [penwidth=4]"
        } else {
            ""
        };
        let _ = writeln!(out, "    {}{mark}", quoted(state));
    }
    for (from, arrow, to) in each(table) {
        let label = quoted(&format!("{}: {}", arrow.on, arrow.when));
        let _ = writeln!(
            out,
            "    {} -> {} [label={label}]",
            quoted(from),
            quoted(to)
        );
    }
    out + "}\n"
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
        insta::assert_snapshot!(text(Name::Pulse, TABLE, Some("moving")), @r#"
        pulse
        ○ at-rest
            ─ stop: it's "time": now ─▶ moving  (go; hold)
        ● moving
            ─ stop: always ─▶ moving  (on; pass)
        ○ asleep
            ─ stop: it's "time": now ─▶ moving  (go; hold)
        "#);
        insta::assert_snapshot!(mermaid(TABLE, Some("at-rest")), @r#"
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
        insta::assert_snapshot!(dot(Name::Pulse, TABLE, None), @r#"
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
