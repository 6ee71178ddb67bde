//! `mainspring plan route`: how to continue the plan.

use std::time::{Duration, Instant};

use mainspring_kernel::Name;
use mainspring_kernel::machines::review::route::{Artifacts, By, Route, route};
use mainspring_kernel::machines::review::table::{Document, Subtasks, Tasks};
use mainspring_kernel::machines::review::{Fields, verbs};
use mainspring_store::Trouble;
use serde::Serialize;

use super::{Which, remembered};
use crate::command::{CommandContext, Result, json};
use crate::context::EventContext;
use crate::git::Git;
use crate::machines::review as plans;
use crate::machines::review::Opened;

/// How long reading the history may take.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// Show how to continue the plan; an agent that runs this takes the plan over
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Which,
}

#[derive(Serialize)]
struct View {
    plan: String,
    #[serde(flatten)]
    route: Route,
    sentence: String,
    state: Option<Fields>,
    /// The latest commits that touched the plan, if they decide how to continue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<String>,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let opened = args.which.open(&context)?;
    adopt(cmd, &opened)?;
    let view = look(&context, opened)?;
    if args.json {
        return json(&view);
    }
    let mut out = format!("plan '{}': {}\n", view.plan, view.sentence);
    if !view.history.is_empty() {
        out += &format!(
            "latest commits of the plan:\n  {}\n",
            view.history.join("\n  ")
        );
    }
    Ok(cmd.fitted(&out))
}

/// Whoever continues a plan owns it.
fn adopt(cmd: &CommandContext, opened: &Opened) -> Result<()> {
    let session = cmd.env.agent_session();
    if session.is_none() || opened.memory().owner == session {
        return Ok(());
    }
    let which = Which {
        plan: Some(opened.dir.id.clone()),
    };
    cmd.commit(Name::Review, "plan route", |context| {
        let opened = which.open(context)?;
        let step = verbs::adopt(&opened.state, session.as_ref());
        let did = format!("plan '{}' is continued by this session", opened.dir.id);
        Ok((remembered(&opened.memories, &step.state)?, did))
    })?;
    Ok(())
}

fn look(context: &EventContext<'_>, opened: Opened) -> Result<View> {
    let route = of(context, &opened)?;
    let history = match route.by {
        By::State => Vec::new(),
        By::History => commits(context, &opened),
    };
    Ok(View {
        plan: opened.dir.id,
        sentence: route.sentence(),
        state: opened.state.plan().map(|plan| plan.fields.clone()),
        route,
        history,
    })
}

/// How to continue a plan.
pub(super) fn of(context: &EventContext<'_>, opened: &Opened) -> Result<Route> {
    let text = |name: &str| plans::text(&opened.dir, name);
    let tasks = text("tasks.md")?.as_deref().map(Tasks::parse);
    let tasks = tasks.unwrap_or_default();
    let plan = opened.state.plan();
    let current = match plan {
        Some(plan) => plan.fields.task(),
        None => tasks.next().map(|row| row.id.clone()),
    };
    let current = match current {
        Some(task) => text(&format!("task-{task}.md"))?,
        None => None,
    };
    let artifacts = Artifacts {
        plan: Document::of_plan(text("plan.md")?.as_deref()),
        current: current
            .as_deref()
            .map_or(Subtasks::Unknown, Subtasks::parse),
        tasks,
    };
    let still = match plan {
        Some(plan) => plans::standstill(context, plan)?,
        None => None,
    };
    Ok(route(&opened.state, &artifacts, still))
}

fn commits(context: &EventContext<'_>, opened: &Opened) -> Vec<String> {
    let until = Instant::now() + LOOK_LIMIT;
    let git = context
        .permit(Name::Review)
        .map_err(Trouble::from)
        .and_then(|permit| Git::of(context, permit, until));
    let Ok(git) = git else {
        return Vec::new();
    };
    let path = opened.dir.path.to_string_lossy();
    git.in_dir(context.root()).latest(&path)
}
