//! A machine's state in a person's words: the one table of them.

use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::machines::check::results::EndedAs;
use mainspring_kernel::machines::check::{Stage, State as Check};
use mainspring_kernel::machines::claim::State as Claim;
use mainspring_kernel::machines::claim::memory::ClaimMemory;
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::pull::{Ci, PullState};
use mainspring_kernel::machines::gate::State as Gate;
use mainspring_kernel::machines::looping::State as Loop;
use mainspring_kernel::machines::pulse::State as Pulse;
use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::receipt::times;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// The state, beside the machine's name.
    pub(crate) state: &'static str,
    /// The state alone, as the status line has it; `None` if nothing is at work.
    pub(crate) line: Option<String>,
}

impl Words {
    /// A state that needs no more words on the status line.
    pub(crate) fn named(subject: &str, state: &'static str) -> Self {
        Self::with(state, format!("{subject}: {state}"))
    }

    fn with(state: &'static str, line: String) -> Self {
        Self {
            state,
            line: Some(line),
        }
    }

    pub(crate) fn of(input: &MachineInput) -> Self {
        let label = input.label();
        match input {
            MachineInput::Gate(input) => Self::named("gate", gate(input.state)),
            MachineInput::Loop(input) => match &input.state {
                Loop::Active(run) => {
                    let (iteration, most) = (run.top.iter, run.top.max);
                    Self::with(label, format!("loop: iteration {iteration} of {most}"))
                }
                Loop::Idle(_) | Loop::Aborted { .. } => Self {
                    state: label,
                    line: None,
                },
                Loop::Completing { .. } | Loop::Stuck(_) | Loop::Corrupt(_) => {
                    Self::named("loop", label)
                }
            },
            MachineInput::Check(input) => Self::named("checks", check(&input.state)),
            MachineInput::Review(_) => Self::named("review", label),
            MachineInput::Claim(input) => match &input.state {
                Claim::Unclaimed(_) => Self::named("claim", "none"),
                Claim::Newer { .. } => Self::named("claim", "from a newer version"),
                Claim::Claimed { claim, memory } => match claim.phase {
                    Phase::ChecksRunning => Self::with(ci(memory), ci(memory).into()),
                    _ => Self::named("claim", phase(&claim.phase)),
                },
            },
            MachineInput::Tasks(input) => {
                let tasks = &input.state.tasks;
                let done = tasks.iter().filter(|task| task.status == Status::Completed);
                let line = format!("tasks: {} of {} done", done.count(), tasks.len());
                Self::with(label, line)
            }
            MachineInput::Pulse(input) => match input.state {
                Pulse::Beating { beat, of, .. } => {
                    let line = format!("pulse: {beat} of {} given", times(of, "beat"));
                    Self::with(label, line)
                }
                Pulse::Still | Pulse::Spent { .. } => Self::named("pulse", label),
            },
        }
    }
}

const fn gate(state: Gate) -> &'static str {
    match state {
        Gate::Off | Gate::Ended => "off",
        Gate::Waiting { .. } | Gate::Kept => "waiting",
        Gate::Said { .. } => "done",
        Gate::GaveUp { .. } => "gave up",
    }
}

/// What the last stop left; if it left nothing, how the checks ended when they ran last.
fn check(state: &Check) -> &'static str {
    match state.memory.stage {
        Stage::Owed => "due",
        Stage::Red => "red",
        Stage::GaveUp => "gave up",
        Stage::Quiet => {
            let kept = state.results.0.values();
            let ended: Vec<EndedAs> = kept.map(|kept| kept.last.result).collect();
            if ended.is_empty() {
                "not run yet"
            } else if ended.contains(&EndedAs::Fail) {
                "red"
            } else if ended.iter().all(|ended| *ended == EndedAs::Pass) {
                "green"
            } else {
                "unsure"
            }
        }
    }
}

fn ci(memory: &ClaimMemory) -> &'static str {
    match (memory.told.state, memory.told.ci) {
        (Some(PullState::Closed), _) => "pull request closed",
        (_, Ci::NotStarted) => "CI not started",
        (_, Ci::Running) => "CI running",
        (_, Ci::Failed) => "CI failed",
        (_, Ci::Passed) => "CI green",
    }
}

const fn phase(phase: &Phase) -> &'static str {
    match phase {
        Phase::Coding => "coding",
        Phase::ReadyForPr => "ready for a pull request",
        Phase::PrCreated => "pull request open",
        Phase::ChecksRunning => "in CI",
        Phase::MergedDetected => "merged",
        Phase::Done => "done",
        Phase::Failed(_) => "failed",
    }
}
