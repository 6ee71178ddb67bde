//! `mainspring status`: every machine's state here, and what may happen next.

use std::time::Duration;

use mainspring_kernel::Name;
use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::machine::Arrow;
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_kernel::orders::{Mode, Until};
use serde::Serialize;

use super::{CommandContext, Result, session, timestamp};
use crate::event_context::EventContext;
use crate::machine;
use crate::output;
use crate::store::orders;

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

#[derive(Serialize)]
struct View {
    project: String,
    worktree: Option<String>,
    /// The agent's own session, or the most recent one here.
    session: Option<String>,
    /// When its latest event was.
    heard: Option<String>,
    trusted: bool,
    observing: bool,
    /// The brake on everything, in words.
    stopped: Option<String>,
    machines: Vec<Machine>,
}

#[derive(Serialize)]
struct Machine {
    name: &'static str,
    about: &'static str,
    /// What to type to start it.
    begin: &'static str,
    /// `None`: it has no state here.
    state: Option<&'static str>,
    summary: String,
    problem: Option<String>,
    /// The person's brake on it, in words.
    braked: Option<String>,
    next: Vec<Next>,
    details: Option<MachineInput>,
}

#[derive(Serialize)]
struct Next {
    on: &'static str,
    when: &'static str,
    to: &'static str,
    does: &'static str,
}

impl Next {
    /// Would it do more at the next stop than let the agent go?
    fn matters(&self) -> bool {
        self.on == "stop" && !self.does.starts_with("pass")
    }
}

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
    let latest = session::latest(&store);
    let heard = latest.as_ref().map(|(_, at)| *at);
    let context =
        EventContext::new(&cmd.env, &project, &store, None).about(latest.map(|(id, _)| id));
    let orders = orders::in_force(&project, &store)?;
    let brake = |name: Name| orders.suspension(name, cmd.env.later());
    let machines = Name::ALL.iter().map(|name| Machine {
        braked: brake(*name).map(words),
        ..machine(*name, &context)
    });
    let view = View {
        project: project.root.to_string_lossy().into_owned(),
        worktree: (project.worktree != project.root)
            .then(|| project.worktree.to_string_lossy().into_owned()),
        session: context.session().map(|id| id.to_string()),
        heard: heard.map(timestamp),
        trusted: context.is_trusted(),
        observing: orders.mode == Mode::Observe,
        stopped: orders
            .everything
            .filter(|until| until.holds(cmd.env.later()))
            .map(words),
        machines: machines.collect(),
    };
    if args.json {
        return super::json(&view);
    }
    if args.line {
        return Ok(line(&view));
    }
    Ok(render(cmd, &view))
}

fn words(until: Until) -> String {
    match until {
        Until::Resumed => "stopped".into(),
        Until::At(end) => format!("paused until {}", timestamp(end)),
        Until::FileGone => format!("switched off by {}", orders::OFF_FILE),
    }
}

/// How to end a brake, given its description.
fn go_on(stopped: &str, machine: &str) -> String {
    if stopped.ends_with(orders::OFF_FILE) {
        return "delete that file to go on".into();
    }
    format!("`mainspring resume{machine}` undoes this")
}

/// `loop active · review due (stopped) · observing`
fn line(view: &View) -> String {
    let alive = view.machines.iter().filter_map(|machine| {
        let state = match (&machine.problem, machine.state) {
            (Some(_), _) => "unreadable",
            (None, state) => state?,
        };
        let brake = match &machine.braked {
            Some(_) => " (stopped)",
            None => "",
        };
        Some(format!("{} {state}{brake}", machine.name))
    });
    let alive: Vec<String> = alive.collect();
    let stopped = view.stopped.as_ref().filter(|_| alive.is_empty());
    let stopped = stopped.map(|_| "stopped".to_owned());
    let observing = view.observing.then(|| "observing".to_owned());
    let parts: Vec<String> = alive.into_iter().chain(stopped).chain(observing).collect();
    if parts.is_empty() {
        return String::new();
    }
    parts.join(" · ") + "\n"
}

fn machine(name: Name, context: &EventContext<'_>) -> Machine {
    let mut machine = Machine {
        name: name.as_str(),
        about: machine::spec(name).about,
        begin: begin(name),
        state: None,
        summary: String::new(),
        problem: None,
        braked: None,
        next: Vec::new(),
        details: None,
    };
    match machine::view(name, context) {
        Err(trouble) => machine.problem = Some(trouble.to_string()),
        Ok(None) if name == Name::Gate && context.session().is_none() => {
            match super::gate::everyone(context) {
                Err(error) => machine.problem = Some(error.cause),
                Ok((Switch::Off, _)) => {}
                Ok((Switch::On, by)) => {
                    machine.summary =
                        format!("every session here must say its done token (set by {by})");
                    machine.found("waiting", name);
                }
            }
        }
        Ok(None) => {}
        Ok(Some(input)) => {
            machine.summary = machine::summary(&input);
            machine.found(input.label(), name);
            machine.details = Some(input);
        }
    }
    machine
}

/// What to type to start it.
const fn begin(name: Name) -> &'static str {
    match name {
        Name::Gate => "`mainspring gate on --project`",
        Name::Loop => "`mainspring loop start`",
        Name::Review => "`/taskie:new-plan` in the client, or `mainspring plan init`",
        Name::Claim => "`mainspring claim ISSUE`",
        Name::Tasks => "",
        Name::Pulse => "`mainspring pulse 1`",
    }
}

impl Machine {
    /// Sets its state, and what may happen next.
    fn found(&mut self, label: &'static str, name: Name) {
        self.state = Some(label);
        let leaves = |arrow: &&Arrow| arrow.leaves(label);
        let table = name.table().iter().filter(leaves);
        let next = table.map(|arrow| Next {
            on: arrow.on,
            when: arrow.when,
            to: arrow.target(label),
            does: arrow.does,
        });
        self.next = next.collect();
    }
}

fn render(cmd: &CommandContext, view: &View) -> String {
    let paint = cmd.paint;
    let trusted = if view.trusted {
        paint.good("trusted")
    } else {
        "not trusted: nothing that the project brings counts until `mainspring trust`".into()
    };
    let mut out = format!("{}  {trusted}\n", paint.bold(&escape_name(&view.project)));
    if let Some(worktree) = &view.worktree {
        out += &format!("worktree {}\n", escape_name(worktree));
    }
    if let Some(session) = &view.session {
        let heard = view.heard.as_ref().map(|at| format!(", latest event {at}"));
        let heard = heard.unwrap_or_default();
        let session = escape_name(session);
        out += &paint.dim(&format!("session {session}{heard}\n"));
    }
    if view.observing {
        out += &paint
            .warn("only observing: nothing is held or started; `mainspring observe off` ends this");
        out.push('\n');
    }
    if let Some(stopped) = &view.stopped {
        out += &paint.warn(&format!("everything is {stopped}; {}", go_on(stopped, "")));
        out.push('\n');
    }
    out.push('\n');
    for machine in &view.machines {
        out += &machine_lines(cmd, view, machine);
    }
    out
}

/// One line with its state, and one for each way in which it may hold the next stop.
fn machine_lines(cmd: &CommandContext, view: &View, machine: &Machine) -> String {
    let paint = cmd.paint;
    let state = match (&machine.problem, machine.state) {
        (Some(_), _) => paint.warn("unreadable"),
        (None, Some(state)) => paint.good(state),
        (None, None) => paint.dim("-"),
    };
    let mut out = format!("{:<8} {state}", machine.name);
    if let Some(problem) = &machine.problem {
        out += &format!("  {}", escape_name(problem));
    } else if machine.state.is_none() {
        let begin = match machine.begin {
            begin if begin.is_empty() || machine.braked.is_some() => String::new(),
            begin => format!("; to start: {begin}"),
        };
        out += &format!("  {}", paint.dim(&format!("{}{begin}", machine.about)));
    } else {
        out += &format!("  {}", escape_name(&machine.summary));
    }
    let braked = machine.braked.as_ref();
    if let Some(braked) = braked.filter(|_| view.stopped.is_none()) {
        let one = format!(" {}", machine.name);
        out += &paint.warn(&format!("  {braked}; {}", go_on(braked, &one)));
    }
    out.push('\n');
    // Only what would hold the agent fits a screen; `graph` and `--json` show everything.
    let asked = machine.braked.is_none();
    for next in machine.next.iter().filter(|next| asked && next.matters()) {
        out += &paint.dim(&format!(
            "           next stop: {} → {}\n",
            next.when, next.does
        ));
    }
    out
}
