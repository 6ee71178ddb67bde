//! The stop: which checks are due, what their keys say, what came of a run.

use alloc::string::String;
use alloc::vec::Vec;

use super::messages::{self, Verdicts};
use super::{
    Activity, Check, Defined, Effect, Facts, Looked, Memory, Occasion, Outcome, Pinned, Ran,
    Request, Run, Stage, State, Verdict,
};
use crate::effect::{EffectStatus, Fence};
use crate::event::{Background, Chain, Kind};
use crate::ids::Millis;
use crate::machine::{Input, OnStop, Step};

type Stop = Step<Check, OnStop>;
type In<'a> = Input<'a, Check>;

/// If less than this is left, nothing is waited for.
const TOO_LITTLE: Millis = Millis::seconds(30);
/// To take the keys of a large tree on a slow disk.
const LOOK_LIMIT: Millis = Millis::seconds(60);

pub(super) fn on_stop(state: &State, input: &In<'_>) -> Stop {
    let nobody = input.event.session.is_none() && input.facts.asked.is_none();
    if nobody || input.facts.checks.is_empty() {
        return Step::ignore(state, OnStop::Pass);
    }
    let (chain, background) = match &input.event.kind {
        Kind::Stop { chain, background } => (*chain, *background),
        _ => (Chain::First, Background::Quiet),
    };
    let state = State {
        memory: state.memory.opened(chain),
        ..state.clone()
    };
    let mut step = match input.effect_status {
        EffectStatus::Done(_, Outcome::Looked(looked)) => looked_at(state, looked, input),
        EffectStatus::Done(intent, Outcome::Ran(ran)) => match &intent.effect {
            Effect::Run(run) => judge(state, run, ran, input),
            Effect::Look { .. } => Step::ignore(&state, OnStop::Pass),
        },
        EffectStatus::Done(_, Outcome::Fault(cause)) => fault(state, cause, input.facts.max),
        _ if background == Background::Working => background_works(state),
        EffectStatus::Running(intent) => wait(state, intent.fence, input),
        EffectStatus::Clear | EffectStatus::Abandoned(_) => fresh(state, input),
    };
    // An effect starts, and the same stop comes back here.
    if chain == Chain::First && !matches!(step.rule, "look" | "wait" | "run") {
        step.notes.splice(0..0, input.facts.notes.iter().cloned());
    }
    step
}

/// The checks that must be green at this stop.
fn due<'a>(memory: &Memory, facts: &'a Facts) -> Vec<&'a Defined> {
    let worked = match facts.activity {
        Activity::Tools | Activity::Unknown => true,
        Activity::NoTools => memory.stage == Stage::Owed,
    };
    let is_now = |occasion: &Occasion| match occasion {
        Occasion::Stop => worked,
        other => facts.occasions.contains(other),
    };
    let is_due = |check: &&Defined| match &facts.asked {
        Some(asked) => asked.contains(&check.name),
        None => check.when.iter().any(is_now),
    };
    facts.checks.iter().filter(is_due).collect()
}

fn fresh(state: State, input: &In<'_>) -> Stop {
    let due = due(&state.memory, input.facts);
    if due.is_empty() {
        return match state.memory.stage {
            // No check is for this occasion.
            Stage::Owed => settle("green", state, Stage::Quiet, OnStop::Pass),
            Stage::Quiet | Stage::Red | Stage::GaveUp => Step::take("idle", state, OnStop::Pass),
        };
    }
    look("look", state, &due, (None, input))
}

/// Another process runs checks over this tree. What it finds counts for this stop, too.
fn wait(state: State, fence: Fence, input: &In<'_>) -> Stop {
    let due = due(&state.memory, input.facts);
    if due.is_empty() {
        return fresh(state, input);
    }
    if input.facts.left <= TOO_LITTLE {
        return Step::take("busy", state, OnStop::Hold(messages::busy()));
    }
    let mut step = look("wait", state, &due, (Some(fence), input));
    if let crate::machine::Verdict::Need { limit, .. } = &mut step.verdict {
        *limit = input.facts.left;
    }
    step
}

fn look(
    rule: &'static str,
    state: State,
    due: &[&Defined],
    (after, input): (Option<Fence>, &In<'_>),
) -> Stop {
    let checks = due.iter().map(|check| check.name.clone()).collect();
    let red = state.memory.red_in.iter();
    let effect = Effect::Look {
        checks,
        others: red
            .filter(|tree| **tree != input.facts.tree)
            .cloned()
            .collect(),
        after,
    };
    Step::need(rule, state, effect, LOOK_LIMIT)
}

/// The keys are known: what has not passed under its key must run.
fn looked_at(state: State, looked: &[Looked], input: &In<'_>) -> Stop {
    let mut run = Run {
        checks: Vec::new(),
        pinned: Vec::new(),
    };
    for one in looked {
        let defined = input.facts.checks.iter().find(|it| it.name == one.name);
        // Somebody trusted other checks meanwhile.
        let Some(defined) = defined else { continue };
        if !one.pins.is_empty() {
            run.pinned.push(Pinned {
                name: one.name.clone(),
                files: one.pins.clone(),
                tree: one.tree.clone(),
            });
        } else if input.facts.asked.is_some() || state.results.pass(&one.name, &one.key).is_none() {
            run.checks.push(Request {
                name: one.name.clone(),
                key: one.key.clone(),
                timeout: defined.timeout,
                retries: defined.retries,
                last: state.results.last_took(&one.name),
                failed: state.results.last_failed(&one.name, &one.key),
                tree: one.tree.clone(),
            });
        }
    }
    if run.checks.is_empty() {
        return judge(state, &run, &[], input);
    }
    Step::need("run", state, Effect::Run(run), input.facts.left)
}

/// Everything is known.
fn judge(mut state: State, run: &Run, ran: &[Ran], input: &In<'_>) -> Stop {
    let is_defined = |name: &str| input.facts.checks.iter().any(|check| check.name == name);
    state.results.keep_only(is_defined);
    for one in ran {
        state.results.record(one, input.now);
    }
    state.memory.follow(ran);
    let verdicts = Verdicts {
        ran,
        pinned: &run.pinned,
    };
    let notes = messages::notes(&verdicts, &state.memory);
    let failed = ran
        .iter()
        .any(|one| matches!(one.verdict, Verdict::Fail(_)));
    let unsure = |one: &Ran| matches!(one.verdict, Verdict::Flaky | Verdict::CouldNotRun(_));
    let unstarted = |one: &Ran| one.verdict == Verdict::NotStarted;
    let mut step = if failed || !run.pinned.is_empty() {
        state.memory.red_in = red_trees(&verdicts, &input.facts.tree);
        red(state, failed, &verdicts, input.facts.max)
    } else if ran.iter().any(unstarted) {
        Step::take("later", state, OnStop::Hold(messages::later(ran)))
    } else if ran.iter().any(unsure) {
        settle("unsure", state, Stage::Quiet, OnStop::Pass)
    } else {
        settle("green", state, Stage::Quiet, OnStop::Pass)
    };
    step.notes.splice(0..0, notes);
    step
}

/// The trees in which something is red.
fn red_trees(verdicts: &Verdicts<'_>, own: &str) -> Vec<String> {
    let failed = verdicts
        .ran
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Fail(_) | Verdict::NotStarted));
    let pinned = verdicts.pinned.iter().map(|one| &one.tree);
    let trees = failed.map(|one| &one.tree).chain(pinned);
    let mut trees: Vec<String> = trees
        .map(|tree| tree.clone().unwrap_or_else(|| own.into()))
        .collect();
    trees.sort_unstable();
    trees.dedup();
    trees
}

/// Counts one more red stop; how many there were, if the agent is to be let go.
fn too_many(memory: &mut Memory, max: u32) -> Option<u32> {
    memory.reds = memory.reds.saturating_add(1);
    (max > 0 && memory.reds >= max).then_some(memory.reds)
}

fn red(mut state: State, failed: bool, verdicts: &Verdicts<'_>, max: u32) -> Stop {
    if let Some(reds) = too_many(&mut state.memory, max) {
        let note = messages::gave_up(verdicts, reds);
        return settle("gave-up", state, Stage::GaveUp, OnStop::PassAlone).note(note);
    }
    let text = messages::hold(verdicts, &state.memory);
    let rule = if failed { "red" } else { "pinned" };
    settle(rule, state, Stage::Red, OnStop::Hold(text))
}

/// A tree that was red stays due: otherwise it would be enough to break git.
fn fault(mut state: State, cause: &str, max: u32) -> Stop {
    if !state.memory.red_in.is_empty() {
        if let Some(reds) = too_many(&mut state.memory, max) {
            let note = messages::gave_up_blind(cause, reds);
            return settle("gave-up", state, Stage::GaveUp, OnStop::PassAlone).note(note);
        }
        let text = messages::blind(cause);
        return settle("blind", state, Stage::Red, OnStop::Hold(text));
    }
    let note = messages::fault(cause);
    settle("fault", state, Stage::Quiet, OnStop::Pass).note(note)
}

fn background_works(state: State) -> Stop {
    settle("background", state, Stage::Owed, OnStop::Pass)
}

fn settle(rule: &'static str, mut state: State, stage: Stage, say: OnStop) -> Stop {
    state.memory.stage = stage;
    if stage == Stage::Quiet {
        state.memory = Memory::default();
    }
    Step::take(rule, state, say)
}

/// The names, for a sentence.
pub(super) fn names(all: &[&Ran]) -> String {
    let names: Vec<&str> = all.iter().map(|ran| ran.name.as_str()).collect();
    crate::decision::listed(&names)
}
