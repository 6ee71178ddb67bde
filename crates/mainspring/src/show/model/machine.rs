//! A machine in a project: its state, what it does if the agent stops now, and what time alone will
//! change.

use std::fmt;

use mainspring_kernel::deliberate::{Ruling, deliberate};
use mainspring_kernel::event::Chain;
use mainspring_kernel::machines::claim::State as Claimed;
use mainspring_kernel::machines::claim::claim_file::poll_due;
use mainspring_kernel::machines::claim::phase::{Next as Retry, Phase};
use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_kernel::machines::looping::State as Loop;
use mainspring_kernel::machines::{MachineInput, Name};
use mainspring_kernel::orders::Until;
use mainspring_kernel::{Event, Millis, SessionId};
use serde::{Serialize, Serializer};

use super::words::Words;
use crate::command::timestamp;
use crate::context::{Caller, EventContext};
use crate::hook::drive;
use crate::hosts::Payload;
use crate::machines::gate::commands as gate;
use crate::machines::looping::loop_store;
use crate::people::orders;
use crate::show::records;
use crate::{machines, markers};

#[derive(Serialize)]
pub(crate) struct MachineState {
    pub(crate) name: Name,
    pub(crate) about: &'static str,
    /// What to type to start it.
    pub(crate) begin: &'static str,
    /// As the transition table has it. `None`: it has no state here.
    pub(crate) state: Option<&'static str>,
    /// The same, for a person.
    #[serde(skip)]
    pub(crate) words: Option<Words>,
    pub(crate) summary: String,
    pub(crate) problem: Option<String>,
    /// The order that suspends it.
    pub(crate) suspended: Option<Suspension>,
    /// Its state is in the project's own files, and nobody trusts the project.
    pub(crate) ignored: bool,
    /// What it does if the agent stops now.
    pub(crate) next: Option<Next>,
    /// What time alone will change.
    pub(crate) due: Vec<Due>,
    pub(crate) details: Option<MachineInput>,
}

/// A person's order to a machine, or to all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Suspension(pub(crate) Until);

/// What the machine does if the agent stops now.
#[derive(Debug, Serialize)]
pub(crate) struct Next {
    pub(crate) on: &'static str,
    pub(crate) when: String,
    pub(crate) to: String,
    pub(crate) does: String,
    /// What would change it.
    pub(crate) otherwise: String,
    /// Does it more than let the agent go?
    #[serde(skip)]
    acts: bool,
}

/// What happens at a time, if nothing happens before.
#[derive(Debug, Serialize)]
pub(crate) struct Due {
    pub(crate) at: String,
    /// From now; nothing if it is due.
    pub(crate) within: Millis,
    pub(crate) what: &'static str,
}

impl MachineState {
    pub(crate) fn of(name: Name, context: &EventContext<'_>) -> Self {
        let mut machine = Self {
            name,
            about: machines::about(name),
            begin: begin(name),
            state: None,
            words: None,
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
                match gate::everyone(context) {
                    Err(error) => machine.problem = Some(error.cause),
                    Ok((Switch::Off, _)) => {}
                    Ok((Switch::On, by)) => {
                        machine.summary =
                            format!("every session here must say its done token (set by {by})");
                        machine.state = Some("waiting");
                        machine.words = Some(Words::named("gate", "waiting"));
                    }
                }
            }
            Ok(None) => {}
            Ok(Some(input)) => {
                machine.summary = machines::summary_here(context, &input);
                machine.due = by_time(&input, context.env.now());
                machine.state = Some(input.label());
                machine.words = Some(Words::of(&input));
                machine.details = Some(input);
            }
        }
        machine
    }

    /// With what it does if the agent stops now.
    pub(super) fn foreseen(mut self, context: &EventContext<'_>) -> Self {
        if self.state.is_some() {
            self.next = at_a_stop(self.name, context);
            // Of the gate's two switches, the one that is on.
            if let Some(next) = self.next.as_mut().filter(|_| self.name == Name::Gate) {
                let off = gate::off_command(context);
                next.otherwise = next.otherwise.replace("`mainspring gate off`", &off);
            }
        }
        self
    }

    /// What it does at the next stop, if that is more than to let the agent go.
    pub(crate) fn next(&self) -> Option<&Next> {
        let asked = self.suspended.is_none() && !self.ignored;
        self.next.as_ref().filter(|next| asked && next.acts)
    }

    pub(crate) fn works_for(&self, session: &SessionId) -> bool {
        let input = self.details.as_ref();
        input.is_some_and(|input| machines::works_for(input, session))
    }

    /// Its state, for a person.
    pub(crate) fn state(&self) -> &'static str {
        match (&self.problem, &self.words) {
            (Some(_), _) => "unreadable",
            (None, Some(words)) => words.state,
            (None, None) => "-",
        }
    }

    /// What the status line says of it; `None` if it is not at work.
    pub(crate) fn line(&self) -> Option<String> {
        let line = match (&self.problem, &self.words) {
            (Some(_), _) => format!("{}: unreadable", self.name),
            (None, words) => words.as_ref()?.line.clone()?,
        };
        Some(match self.suspended {
            Some(order) => format!("{line} ({})", order.word()),
            None => line,
        })
    }
}

impl Suspension {
    pub(crate) const fn word(self) -> &'static str {
        match self.0 {
            Until::Resumed | Until::FileGone => "stopped",
            Until::At(_) => "paused",
        }
    }

    /// How to end it; `machine` is the one that it is about, if not all.
    pub(crate) fn go_on(self, machine: Option<Name>) -> String {
        match (self.0, machine) {
            (Until::FileGone, _) => "delete that file to go on".into(),
            (_, Some(name)) => format!("`mainspring resume {name}` undoes this"),
            (_, None) => "`mainspring resume` undoes this".into(),
        }
    }
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Until::Resumed => f.write_str("stopped"),
            Until::At(end) => write!(f, "paused until {}", timestamp(end)),
            Until::FileGone => write!(f, "switched off by {}", orders::OFF_FILE),
        }
    }
}

impl Serialize for Suspension {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
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

/// What this machine alone would do at a stop. `None` if it would not be asked, or if that cannot
/// be told without doing it.
fn at_a_stop(name: Name, context: &EventContext<'_>) -> Option<Next> {
    let session = context.session();
    let session = session.or_else(|| SessionId::parse("the-next-session"));
    let event = Event::stop(session, Chain::First);
    let here = context.project.worktree.clone();
    let payload = Payload::played(event, here, context.env.now());
    let context = context.seen_by(Caller::Simulation(&payload));
    let case = drive::look(&context, &payload, &[name]).ok()?;
    match deliberate(&case) {
        Ruling::Repeated(_) => None,
        Ruling::Intends(pending) => Some(Next {
            on: "stop",
            when: "it is due".into(),
            to: String::new(),
            does: format!("start {}", records::effect(pending.name())),
            otherwise: String::new(),
            acts: true,
        }),
        Ruling::Settled(settlement) => {
            let moved = settlement.transitions.first()?;
            let arrow = records::arrow(name, moved.rule(), moved.from())?;
            Some(Next {
                on: arrow.on,
                when: arrow.when.into(),
                to: moved.to().into(),
                does: arrow.does.into(),
                otherwise: arrow.remedy.into(),
                acts: !moved.said().is_nothing() || moved.from() != moved.to(),
            })
        }
    }
}

/// What time alone will change.
fn by_time(input: &MachineInput, now: Millis) -> Vec<Due> {
    let due = |at: Millis, what: &'static str| Due {
        at: timestamp(at),
        within: at.since(now),
        what,
    };
    match input {
        MachineInput::Loop(input) => match &input.state {
            Loop::Active(run) => {
                let end = run.updated.plus(input.facts.ttl);
                vec![due(end, "without progress it does not go on")]
            }
            Loop::Idle(_)
            | Loop::Completing { .. }
            | Loop::Stuck(_)
            | Loop::Aborted { .. }
            | Loop::Corrupt(_) => Vec::new(),
        },
        MachineInput::Claim(input) => match &input.state {
            Claimed::Claimed { claim, memory } => {
                let wait = memory.not_before.filter(|at| *at > now);
                if let Phase::Failed(failure) = &claim.phase {
                    return match failure.next {
                        Retry::At(at) => vec![due(at, "what failed is tried again")],
                        Retry::Never => Vec::new(),
                    };
                }
                let look = poll_due(claim).filter(|_| claim.pr_number.is_some());
                let wait = wait.map(|at| due(at, "GitHub may be asked again"));
                let look = look.map(|at| due(at, "the pull request may be looked at again"));
                wait.or(look).into_iter().collect()
            }
            Claimed::Unclaimed(_) | Claimed::Newer { .. } => Vec::new(),
        },
        MachineInput::Gate(_)
        | MachineInput::Check(_)
        | MachineInput::Review(_)
        | MachineInput::Tasks(_)
        | MachineInput::Pulse(_) => Vec::new(),
    }
}
