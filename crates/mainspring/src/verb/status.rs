//! `mainspring status`: every machine's state here, and what may happen next.

use mainspring_kernel::machines::Part;
use serde::Serialize;

use super::{Desk, Result};
use crate::machine::ROWS;
use crate::scene::Scene;
use crate::store::trust;

/// Show every machine's state in this project, and what may happen next.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct View {
    project: String,
    worktree: Option<String>,
    session: Option<String>,
    trusted: bool,
    machines: Vec<Machine>,
}

#[derive(Serialize)]
struct Machine {
    name: &'static str,
    about: &'static str,
    /// `None`: it has nothing here.
    state: Option<&'static str>,
    summary: String,
    problem: Option<String>,
    next: Vec<Next>,
    details: Option<Part>,
}

#[derive(Serialize)]
struct Next {
    on: &'static str,
    when: &'static str,
    to: &'static str,
    does: &'static str,
}

pub(crate) fn run(args: &Args, desk: &Desk) -> Result {
    let (site, store) = desk.site()?;
    let scene = Scene::new(&desk.world, &site, &store, None);
    let view = View {
        project: site.root.to_string_lossy().into_owned(),
        worktree: (site.here != site.root).then(|| site.here.to_string_lossy().into_owned()),
        session: scene.session().map(|id| id.to_string()),
        trusted: trust::of(store.state(), &site.root)
            == mainspring_kernel::deliberate::Trust::Trusted,
        machines: ROWS.iter().map(|row| machine(row, &scene)).collect(),
    };
    if args.json {
        return super::json(&view);
    }
    Ok(render(desk, &view))
}

fn machine(row: &crate::machine::Row, scene: &Scene<'_>) -> Machine {
    let mut machine = Machine {
        name: row.name.as_str(),
        about: row.about,
        state: None,
        summary: String::new(),
        problem: None,
        next: Vec::new(),
        details: None,
    };
    match (row.load)(scene) {
        Err(trouble) => machine.problem = Some(trouble.to_string()),
        Ok(None) => {}
        Ok(Some(loaded)) => {
            let label = loaded.part.label();
            machine.state = Some(label);
            machine.summary = (row.summary)(&loaded.part);
            let table = row.name.table().unwrap_or_default();
            machine.next = table
                .iter()
                .filter(|arrow| arrow.from == label || arrow.from == "any")
                .map(|arrow| Next {
                    on: arrow.on,
                    when: arrow.when,
                    to: arrow.to,
                    does: arrow.does,
                })
                .collect();
            machine.details = Some(loaded.part);
        }
    }
    machine
}

fn render(desk: &Desk, view: &View) -> String {
    let paint = desk.paint;
    let trusted = if view.trusted {
        paint.good("trusted")
    } else {
        "not trusted: effects wait for `mainspring trust`".into()
    };
    let mut out = format!("{}  {trusted}\n", paint.bold(&view.project));
    if let Some(worktree) = &view.worktree {
        out += &format!("worktree {worktree}\n");
    }
    for machine in &view.machines {
        let state = match (&machine.problem, machine.state) {
            (Some(_), _) => paint.warn("unreadable"),
            (None, Some(state)) => paint.good(state),
            (None, None) => paint.dim("-"),
        };
        out += &format!("\n{:<8} {state}", machine.name);
        if let Some(problem) = &machine.problem {
            out += &format!("  {problem}");
        } else if machine.state.is_none() {
            out += &format!("  {}", paint.dim(machine.about));
        } else {
            out += &format!("  {}", machine.summary);
        }
        out.push('\n');
        for next in &machine.next {
            out += &paint.dim(&format!(
                "           on {}, {}: {} (→ {})\n",
                next.on, next.when, next.does, next.to
            ));
        }
    }
    out
}
