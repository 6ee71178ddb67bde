//! `mainspring plan status` and `list`: where a plan stands, and what its reviews cost.

use mainspring_kernel::Name;
use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::ids;
use mainspring_kernel::machines::review::findings::{Entry, How};
use mainspring_kernel::machines::review::messages::dollars;
use mainspring_kernel::machines::review::{Fields, Phase};
use serde::Serialize;

use super::{Which, route};
use crate::command::{CommandContext, Result, json, json_list, timestamp};
use crate::context::EventContext;
use crate::machines::at_work;
use crate::machines::review as plans;
use crate::machines::review::Opened;
use crate::machines::review::directory::{self, PLANS};
use crate::machines::review::history::{self, Past};
use crate::machines::review::memories::Memories;

/// Show where a plan stands, its next step, and every review with its cost
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Which,
}

/// List all plans, the most recently changed first
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
pub(crate) struct Status {
    pub(crate) plan: String,
    pub(crate) stage: &'static str,
    pub(crate) next_step: String,
    pub(crate) owner: Option<String>,
    pub(crate) state: Option<Fields>,
    /// The reviewer that runs now.
    pub(crate) at_work: Option<AtWork>,
    pub(crate) problems: Vec<String>,
    /// In millionths of a dollar.
    pub(crate) spent: u64,
    pub(crate) max_cost: Option<u64>,
    pub(crate) reviews: Vec<Past>,
    /// What reviewers found that is not settled.
    pub(crate) findings: Vec<Entry>,
}

pub(super) fn status(args: &StatusArgs, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let opened = args.which.open(&context)?;
    let status = look(&context, &opened)?;
    if args.json {
        return json(&status);
    }
    Ok(cmd.fitted(&render(cmd, &status)))
}

/// Where a plan stands.
pub(crate) fn look(context: &EventContext<'_>, opened: &Opened) -> Result<Status> {
    let memory = opened.memory();
    let state = opened.state.plan().map(|plan| plan.fields.clone());
    Ok(Status {
        stage: stage(state.as_ref()),
        next_step: route::of(context, opened)?.sentence(),
        owner: memory.owner.map(|owner| owner.to_string()),
        at_work: at_work::of(context.env, &context.store, Name::Review, &opened.dir.id)?,
        problems: opened.warnings.clone(),
        spent: memory.spent,
        max_cost: plans::max_cost(context)?,
        reviews: history::of(&context.store, &opened.dir.id)?,
        findings: memory
            .ledger
            .iter()
            .filter(|entry| entry.is_open())
            .cloned()
            .collect(),
        plan: opened.dir.id.clone(),
        state,
    })
}

fn stage(fields: Option<&Fields>) -> &'static str {
    fields.map_or("No state", |fields| {
        fields.phase.as_ref().map_or("Unknown", Phase::stage)
    })
}

fn render(cmd: &CommandContext, status: &Status) -> String {
    let paint = cmd.paint;
    let mut out = format!(
        "{}  {}\n",
        paint.bold(&status.plan),
        paint.good(status.stage)
    );
    if let Some(fields) = &status.state {
        let text = |phase: Option<&Phase>| {
            phase.map_or("-".into(), |phase| escape_name(phase.as_str()).into_owned())
        };
        out += &format!(
            "  phase        {}, next {}\n",
            text(fields.phase.as_ref()),
            text(fields.next_phase.as_ref())
        );
        if let Some(task) = &fields.current_task {
            out += &format!(
                "  task         {}{}\n",
                escape_name(task),
                if fields.tdd { ", tests first" } else { "" }
            );
        }
        out += &format!(
            "  reviews      {} of {}, {} clean in a row, {} is next\n",
            fields.phase_iteration.unwrap_or(0),
            fields.max_reviews,
            fields.consecutive_clean,
            escape_name(&fields.review_model)
        );
    }
    if let Some(work) = &status.at_work {
        let line = escape_name(&work.line_and_end()).into_owned();
        out += &format!("  at work      {}\n", paint.good(&line));
    }
    let owner = status.owner.as_deref().map_or("nobody", ids::short);
    out += &format!("  belongs to   {owner}\n");
    for problem in &status.problems {
        out += &format!("  {} {}\n", paint.warn("problem:"), escape_name(problem));
    }
    out += &format!("  next step    {}\n", status.next_step);
    out += &findings(cmd, status);
    if !status.reviews.is_empty() {
        out.push('\n');
    }
    for past in &status.reviews {
        out += &format!("  {}\n", line(past));
    }
    if !status.reviews.is_empty() || status.spent > 0 {
        let most = status
            .max_cost
            .map_or_else(String::new, |most| format!(" of {}", dollars(most)));
        out += &format!(
            "  {} reviews, {}{most} in all\n",
            status.reviews.len(),
            dollars(status.spent)
        );
    }
    out
}

/// What reviewers found that is not settled.
fn findings(cmd: &CommandContext, status: &Status) -> String {
    let mut out = String::new();
    for entry in &status.findings {
        let answer = entry.answer.as_ref();
        let answer = answer.map_or("", |(how, _)| match how {
            How::Fixed => " [answered: fixed]",
            How::Disputed => " [disputed]",
        });
        out += &format!(
            "  {}      {}{answer}\n",
            cmd.paint.warn("finding"),
            entry.line()
        );
    }
    out
}

/// One review, for a person.
fn line(past: &Past) -> String {
    format!(
        "{}  {:<24} {:<8} {:<13} {:>8}  {}",
        timestamp(past.at),
        past.file,
        past.model,
        history::verdict(&past.result),
        history::seconds(past.took),
        dollars(past.cost)
    )
}

#[derive(Serialize)]
struct Listed {
    plan: String,
    stage: &'static str,
    next_phase: Option<String>,
    owner: Option<String>,
    spent: u64,
}

pub(super) fn list(args: &ListArgs, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let memories = Memories::read(&context)?;
    let mut listed = Vec::new();
    for dir in directory::all(&context.project.file(PLANS))? {
        let fields = plans::read_fields(&dir)?.ok();
        let memory = memories.of(&dir.id);
        listed.push(Listed {
            stage: stage(fields.as_ref()),
            next_phase: fields.and_then(|fields| Some(fields.next_phase?.to_string())),
            owner: memory.owner.map(|owner| owner.to_string()),
            spent: memory.spent,
            plan: dir.id,
        });
    }
    if args.json {
        return json_list("plans", &listed);
    }
    if listed.is_empty() {
        return Ok("there is no plan here; `mainspring plan init NAME` records one\n".into());
    }
    let rows = listed.iter().map(|plan| {
        format!(
            "{:<24} {:<15} next {:<18} {}\n",
            plan.plan,
            plan.stage,
            plan.next_phase.as_deref().unwrap_or("-"),
            dollars(plan.spent)
        )
    });
    Ok(rows.collect())
}
