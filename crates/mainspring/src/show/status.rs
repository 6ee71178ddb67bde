//! `mainspring status`: every machine's state here, and what may happen next.

use std::time::Duration;

use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::hidden::{escape_name, name};
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::pulse::State as Pulse;

use super::model::journal::Journal;
use super::model::machine::MachineState;
use super::model::needs;
use super::model::project::{Look, OpenProject, ProjectState};
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::looping::running;
use crate::output;
use crate::people::which_session;

/// Show every machine's state in this project, and what may happen next.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring status\n  mainspring status --watch               in a second terminal\n  mainspring status --line                for the host's status line"
)]
pub(crate) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Print one line for the host's status line, or nothing if no machine has work
    #[arg(long, conflicts_with = "json")]
    line: bool,
    /// Keep showing it until Ctrl-C
    #[arg(long, short)]
    watch: bool,
}

/// How often a watched view is drawn again.
const GLANCE: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if !args.watch {
        return show(args, cmd);
    }
    let mut shown = String::new();
    loop {
        let text = show(args, cmd)?;
        if text != shown {
            if output::screen(&text, cmd.paint).is_err() {
                return Ok(String::new());
            }
            shown = text;
        }
        std::thread::sleep(GLANCE);
    }
}

fn show(args: &Args, cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let journal = Journal::of(store.dir());
    let open = OpenProject {
        env: cmd.env.clone(),
        project,
        store,
    };
    let look = if args.line { Look::Glance } else { Look::Whole };
    let view = open.look(&journal, cmd.env.agent_session(), look);
    if args.line {
        return Ok(line(&view));
    }
    if !args.json {
        return Ok(cmd.fitted(&render(cmd, &view)));
    }
    match view.problems.first() {
        None => crate::command::json(&view),
        Some(problem) => Err(CliError::damaged(problem)),
    }
}

/// Is this a loop or a pulse of another session than the view is about?
fn is_anothers(view: &ProjectState, machine: &MachineState) -> bool {
    let owner = match &machine.details {
        Some(MachineInput::Loop(input)) => {
            running(&input.state).and_then(|run| run.owner.session())
        }
        Some(MachineInput::Pulse(input)) => match &input.state {
            Pulse::Beating { session, .. } => session.as_ref(),
            Pulse::Spent { session, .. } => Some(session),
            Pulse::Still => None,
        },
        Some(_) | None => None,
    };
    let session = view.session.as_ref();
    owner.is_some_and(|owner| session.is_some_and(|session| session != owner))
}

/// `gate: done · plan review 2 of 8, sonnet, 3m · CI failed · 1 thing needs you`. What runs says
/// more than the machine's state. A project that nobody trusts needs nobody here.
fn line(view: &ProjectState) -> String {
    let mut parts = Vec::new();
    for machine in &view.machines {
        if machine.ignored || is_anothers(view, machine) {
            continue;
        }
        let before = parts.len();
        parts.extend(view.at_work_of(machine.name).map(AtWork::brief));
        if parts.len() == before {
            parts.extend(machine.line());
        }
    }
    if parts.is_empty() {
        parts.extend(view.stopped.map(|order| order.word().to_owned()));
    }
    if view.observing {
        parts.push("observing".into());
    }
    if view.trusted && !view.needs.is_empty() {
        parts.push(needs::count(view.needs.len()));
    }
    if parts.is_empty() {
        return String::new();
    }
    parts.join(" · ") + "\n"
}

fn render(cmd: &CommandContext, view: &ProjectState) -> String {
    let paint = cmd.paint;
    let trusted = if view.trusted {
        paint.good("trusted")
    } else {
        "not trusted: this project's files are ignored until you run `mainspring trust`".into()
    };
    let mut out = format!("{}  {trusted}\n", paint.bold(&name(&view.project)));
    if let Some(worktree) = &view.worktree {
        out += &format!("worktree {}\n", name(worktree));
    }
    if let Some(session) = &view.session {
        let heard = view.heard_at.map_or_else(String::new, |at| {
            format!(", latest event {}", which_session::ago(cmd.env.now(), at))
        });
        let session = escape_name(session.short());
        out += &paint.dim(&format!("session {session}{heard}\n"));
    }
    let mut warn = |words: &str| {
        out += &paint.warn(words);
        out.push('\n');
    };
    if view.observing {
        warn("only observing: nothing is held or started; `mainspring observe off` ends this");
    }
    if let Some(order) = view.stopped {
        warn(&format!("everything is {order}; {}", order.go_on(None)));
    }
    for need in &view.needs {
        warn(&format!("needs you: {}; {}", need.what, need.remedy));
    }
    out.push('\n');
    for machine in &view.machines {
        out += &machine_lines(cmd, view, machine);
    }
    out
}

/// One line with its state, and one for each way in which it may hold the next stop.
fn machine_lines(cmd: &CommandContext, view: &ProjectState, machine: &MachineState) -> String {
    let paint = cmd.paint;
    let (state, more) = match (&machine.problem, machine.state) {
        (Some(problem), _) => (
            paint.warn(machine.state()),
            escape_name(problem).into_owned(),
        ),
        (None, Some(_)) => (
            paint.good(machine.state()),
            escape_name(&machine.summary).into_owned(),
        ),
        (None, None) => {
            let begin = match machine.begin {
                begin if begin.is_empty() || machine.suspended.is_some() => String::new(),
                begin => format!("; to start: {begin}"),
            };
            let about = paint.dim(&format!("{}{begin}", machine.about));
            (paint.dim(machine.state()), about)
        }
    };
    let mut out = format!("{:<8} {state}  {more}", machine.name);
    if let Some(order) = machine.suspended.filter(|_| view.stopped.is_none()) {
        let go_on = order.go_on(Some(machine.name));
        out += &paint.warn(&format!("  {order}; {go_on}"));
    }
    if machine.ignored {
        out += &paint.warn("  ignored until `mainspring trust`");
    }
    out.push('\n');
    for work in view.at_work_of(machine.name) {
        out += &format!("           now: {}\n", escape_name(&work.line_and_end()));
    }
    if machine.suspended.is_some() || machine.ignored {
        return out;
    }
    if let Some(next) = machine.next() {
        let otherwise = match next.otherwise.as_str() {
            "" => String::new(),
            otherwise => format!("; to change that: {otherwise}"),
        };
        out += &paint.dim(&format!(
            "           at a stop now:  {} → {}{otherwise}\n",
            next.when, next.does
        ));
    }
    for due in &machine.due {
        let when = match due.within.0 {
            0 => "now".to_owned(),
            _ => format!("in {}", due.within.in_words()),
        };
        out += &paint.dim(&format!("           {when}:  {}\n", due.what));
    }
    out
}
