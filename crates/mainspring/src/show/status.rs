//! `mainspring status`: every machine's state here, and what may happen next.

mod next;

use std::time::Duration;

use mainspring_kernel::Name;
use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::hidden::{escape_name, name};
use mainspring_kernel::ids;
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::claim::{State as Claim, rounds};
use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_kernel::machines::looping::State as Loop;
use mainspring_kernel::machines::pulse::State as Pulse;
use mainspring_kernel::orders::{Mode, Until};
use serde::Serialize;

use self::next::{Due, Next};
use crate::command::{CommandContext, Result, timestamp};
use crate::context::{Caller, EventContext};
use crate::machines;
use crate::machines::at_work;
use crate::machines::looping::{loop_store, running};
use crate::markers;
use crate::output;
use crate::people::orders;
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

#[derive(Serialize)]
struct View {
    project: String,
    worktree: Option<String>,
    /// The agent's own session, or the most recent one here.
    session: Option<String>,
    /// When its latest event was.
    heard: Option<String>,
    #[serde(skip)]
    heard_ago: Option<String>,
    trusted: bool,
    observing: bool,
    /// The order that suspends everything, in words.
    stopped: Option<String>,
    /// What runs now.
    at_work: Vec<AtWork>,
    machines: Vec<Machine>,
}

#[derive(Serialize)]
pub(super) struct Machine {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What to type to start it.
    pub(super) begin: &'static str,
    /// `None`: it has no state here.
    pub(super) state: Option<&'static str>,
    pub(super) summary: String,
    pub(super) problem: Option<String>,
    /// The order that suspends it, in words.
    pub(super) suspended: Option<String>,
    /// Its state is in the project's own files, and nobody trusts the project.
    pub(super) ignored: bool,
    /// What it does if the agent stops now.
    pub(super) next: Option<Next>,
    /// What time alone will change.
    pub(super) due: Vec<Due>,
    pub(super) details: Option<MachineInput>,
}

impl View {
    fn at_work_of(&self, machine: &str) -> impl Iterator<Item = &AtWork> {
        let running = self.at_work.iter();
        running.filter(move |work| work.machine.as_str() == machine)
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
    let context = cmd.context()?;
    let (project, store) = (&context.project, &context.store);
    let latest = which_session::latest(&cmd.env, store);
    let heard = latest.as_ref().map(|(_, at)| *at);
    let own = cmd.env.agent_session();
    let session = own.or_else(|| latest.map(|(id, _)| id));
    let context = context.seen_by(Caller::View { session });
    let orders = orders::in_force(project, store)?;
    let order = |name: Name| orders.suspension(name, cmd.env.later());
    // The host's status line is drawn again and again.
    let look: fn(Name, &EventContext<'_>) -> Machine = if args.line { machine } else { foreseen };
    let machines = Name::ALL.iter().map(|name| Machine {
        suspended: order(*name).map(words),
        ..look(*name, &context)
    });
    let view = View {
        project: project.root.to_string_lossy().into_owned(),
        worktree: (project.worktree != project.root)
            .then(|| project.worktree.to_string_lossy().into_owned()),
        session: context.session().map(|id| id.to_string()),
        heard: heard.map(timestamp),
        heard_ago: heard.map(|at| which_session::ago(cmd.env.now(), at)),
        trusted: context.is_trusted(),
        observing: orders.mode == Mode::Observe,
        stopped: orders
            .everything
            .filter(|until| until.holds(cmd.env.later()))
            .map(words),
        at_work: at_work::all(&cmd.env, store)?,
        machines: machines.collect(),
    };
    if args.json {
        return crate::command::json(&view);
    }
    if args.line {
        return Ok(line(&view));
    }
    Ok(cmd.fitted(&render(cmd, &view)))
}

pub(super) fn words(until: Until) -> String {
    match until {
        Until::Resumed => "stopped".into(),
        Until::At(end) => format!("paused until {}", timestamp(end)),
        Until::FileGone => format!("switched off by {}", orders::OFF_FILE),
    }
}

/// How to end an order, given its description.
fn go_on(stopped: &str, machine: &str) -> String {
    if stopped.ends_with(orders::OFF_FILE) {
        return "delete that file to go on".into();
    }
    format!("`mainspring resume{machine}` undoes this")
}

/// Is this a loop or a pulse of another session than the view is about?
fn is_anothers(view: &View, machine: &Machine) -> bool {
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
    let session = view.session.as_deref();
    owner.is_some_and(|owner| session.is_some_and(|session| session != owner.as_str()))
}

/// `loop 3/5 · review 2/8 sonnet 3m · observing`. What runs says more than the machine's state.
fn line(view: &View) -> String {
    let machines = view.machines.iter();
    let counts = machines.filter(|machine| !machine.ignored && !is_anothers(view, machine));
    let alive = counts.filter_map(|machine| {
        let mut running = view.at_work_of(machine.name).map(AtWork::brief).peekable();
        if running.peek().is_some() {
            return Some(running.collect::<Vec<_>>().join(" · "));
        }
        let state = match (&machine.problem, machine.state) {
            (Some(_), _) => "unreadable",
            (None, state) => state?,
        };
        let order = match &machine.suspended {
            Some(_) => " (stopped)",
            None => "",
        };
        let state = match &machine.details {
            Some(MachineInput::Loop(input)) => match &input.state {
                Loop::Active(run) => format!("{}/{}", run.top.iter, run.top.max),
                Loop::Idle(_) | Loop::Aborted { .. } => return None,
                _ => state.to_owned(),
            },
            Some(_) | None => state.to_owned(),
        };
        Some(format!("{} {state}{order}", machine.name))
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

pub(super) fn machine(name: Name, context: &EventContext<'_>) -> Machine {
    let mut machine = Machine {
        name: name.as_str(),
        about: machines::about(name),
        begin: begin(name),
        state: None,
        summary: String::new(),
        problem: None,
        suspended: None,
        ignored: is_ignored(name, context),
        next: None,
        due: Vec::new(),
        details: None,
    };
    match machines::view(name, context) {
        Err(trouble) => machine.problem = Some(trouble.to_string()),
        Ok(None) if name == Name::Gate && context.session().is_none() => {
            match crate::machines::gate::commands::everyone(context) {
                Err(error) => machine.problem = Some(error.cause),
                Ok((Switch::Off, _)) => {}
                Ok((Switch::On, by)) => {
                    machine.summary =
                        format!("every session here must say its done token (set by {by})");
                    machine.state = Some("waiting");
                }
            }
        }
        Ok(None) => {}
        Ok(Some(input)) => {
            machine.summary = machines::summary_here(context, &input);
            machine.due = next::by_time(&input, context.env.now());
            machine.state = Some(input.label());
            machine.details = Some(input);
        }
    }
    machine
}

/// Is what it shows only in files that the project brings, while nobody trusts the project? A loop
/// of our own is outside the project, and counts.
fn is_ignored(name: Name, context: &EventContext<'_>) -> bool {
    let brings = |marker: &&str| context.project.has(marker);
    let own_loop = || name == Name::Loop && loop_store::has_own(context);
    markers::of(name).iter().any(brings) && !context.is_trusted() && !own_loop()
}

/// What to type to start it.
const fn begin(name: Name) -> &'static str {
    match name {
        Name::Gate => "`mainspring gate on --project`",
        Name::Loop => "`mainspring loop start`",
        Name::Review => "`/taskie:new-plan` in the client, or `mainspring plan init`",
        Name::Check => "`mainspring check init`",
        Name::Claim => "`mainspring claim ISSUE`",
        Name::Tasks => "",
        Name::Pulse => "`mainspring pulse 1`",
    }
}

/// The same, with what it does if the agent stops now.
pub(super) fn foreseen(name: Name, context: &EventContext<'_>) -> Machine {
    let mut machine = machine(name, context);
    if machine.state.is_some() {
        machine.next = next::at_a_stop(name, context);
        // Of the gate's two switches, the one that is on.
        if let Some(next) = machine.next.as_mut().filter(|_| name == Name::Gate) {
            let off = crate::machines::gate::commands::off_command(context);
            next.otherwise = next.otherwise.replace("`mainspring gate off`", &off);
        }
    }
    machine
}

fn render(cmd: &CommandContext, view: &View) -> String {
    let paint = cmd.paint;
    let trusted = if view.trusted {
        paint.good("trusted")
    } else {
        "not trusted: nothing that the project brings counts until `mainspring trust`".into()
    };
    let mut out = format!("{}  {trusted}\n", paint.bold(&name(&view.project)));
    if let Some(worktree) = &view.worktree {
        out += &format!("worktree {}\n", name(worktree));
    }
    if let Some(session) = &view.session {
        let heard = view.heard_ago.as_ref();
        let heard = heard.map_or_else(String::new, |ago| format!(", latest event {ago}"));
        let session = escape_name(ids::short(session));
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
    for waits in view.machines.iter().filter_map(waits_for_person) {
        out += &paint.warn(&format!("needs you: {waits}"));
        out.push('\n');
    }
    out.push('\n');
    for machine in &view.machines {
        out += &machine_lines(cmd, view, machine);
    }
    out
}

/// What goes on only after the person wrote to the agent.
fn waits_for_person(machine: &Machine) -> Option<String> {
    match machine.details.as_ref()? {
        MachineInput::Claim(input) => match &input.state {
            Claim::Claimed { claim, memory } => {
                rounds::waiting(claim, memory, input.facts.max_ci_rounds)
            }
            Claim::Unclaimed(_) | Claim::Newer { .. } => None,
        },
        _ => None,
    }
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
            begin if begin.is_empty() || machine.suspended.is_some() => String::new(),
            begin => format!("; to start: {begin}"),
        };
        out += &format!("  {}", paint.dim(&format!("{}{begin}", machine.about)));
    } else {
        out += &format!("  {}", escape_name(&machine.summary));
    }
    let suspended = machine.suspended.as_ref();
    if let Some(suspended) = suspended.filter(|_| view.stopped.is_none()) {
        let one = format!(" {}", machine.name);
        out += &paint.warn(&format!("  {suspended}; {}", go_on(suspended, &one)));
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
    if let Some(next) = machine.next.as_ref().filter(|next| next.matters()) {
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
