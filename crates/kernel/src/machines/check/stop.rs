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
    match input.effect_status {
        EffectStatus::Done(_, Outcome::Looked(looked)) => looked_at(state, looked, input),
        EffectStatus::Done(intent, Outcome::Ran(ran)) => match &intent.effect {
            Effect::Run(run) => judge(state, run, ran, input),
            Effect::Look { .. } => Step::ignore(&state, OnStop::Pass),
        },
        EffectStatus::Done(_, Outcome::Fault(cause)) => fault(state, cause, input.facts),
        _ if background == Background::Working => background_works(state, input.facts),
        EffectStatus::Running(intent) => wait(state, intent.fence, input),
        EffectStatus::Clear | EffectStatus::Abandoned(_) => fresh(state, input),
    }
}

/// The checks that must be green at this stop: those that are for it, and where something is handed
/// over, those that were red here and have not passed since.
fn due<'a>(state: &State, facts: &'a Facts) -> Vec<&'a Defined> {
    let worked = match facts.activity {
        Activity::Tools | Activity::Unknown => true,
        Activity::NoTools => state.memory.stage == Stage::Owed,
    };
    let hands_over = !facts.occasions.is_empty();
    let is_now = |occasion: &Occasion| match occasion {
        Occasion::Stop => worked,
        other => facts.occasions.contains(other),
    };
    let is_unproved = |check: &Defined| state.results.is_unproved(&check.name, &facts.tree);
    let is_due = |check: &&Defined| match &facts.asked {
        Some(asked) => asked.contains(&check.name),
        None => check.when.iter().any(is_now) || (hands_over && is_unproved(check)),
    };
    facts.checks.iter().filter(is_due).collect()
}

fn fresh(state: State, input: &In<'_>) -> Stop {
    let due = due(&state, input.facts);
    if due.is_empty() {
        let step = match state.memory.stage {
            // No check is for this occasion.
            Stage::Owed => settle("green", state, Stage::Quiet, OnStop::Pass),
            Stage::Quiet | Stage::Red | Stage::GaveUp => Step::take("idle", state, OnStop::Pass),
        };
        return step.drop_abandoned();
    }
    look("look", state, &due, (None, input))
}

/// Another process runs checks over this tree. What it finds counts for this stop, too.
fn wait(state: State, fence: Fence, input: &In<'_>) -> Stop {
    let due = due(&state, input.facts);
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
    let is_green = |one: &Looked| {
        let tree = one.tree.as_ref().unwrap_or(&input.facts.tree);
        state.results.green(&one.name, &one.key, tree).is_some()
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
        } else if input.facts.asked.is_some() || !is_green(one) {
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
    let facts = input.facts;
    let (judged, told) = recorded(&mut state, ran, input);
    state.memory.follow(&judged);
    let verdicts = Verdicts {
        ran: &judged,
        pinned: &run.pinned,
    };
    let mut notes = messages::notes(&verdicts, &state.memory);
    notes.extend(told);
    let failed = judged.iter().any(|one| one.verdict.failure().is_some());
    let unsure = |one: &Ran| matches!(one.verdict, Verdict::Flaky | Verdict::CouldNotRun(_));
    let unstarted = |one: &Ran| one.verdict == Verdict::NotStarted;
    let mut step = if failed || !run.pinned.is_empty() {
        state.memory.red_in = red_trees(&verdicts, &facts.tree);
        red(state, failed, &verdicts, facts.max)
    } else if judged.iter().any(unstarted) {
        Step::take("later", state, OnStop::Hold(messages::later(&judged)))
    } else if judged.iter().any(unsure) {
        let is_red = |one: &&Ran| state.results.is_red(&one.name, tree_of(one, facts));
        let trees = judged.iter().filter(is_red).map(|one| tree_of(one, facts));
        state.memory.red_in = each_once(trees.map(Into::into).collect());
        let is_unproved = |one: &&Ran| state.results.is_unproved(&one.name, tree_of(one, facts));
        let unproved = judged.iter().filter(is_unproved);
        let unproved: Vec<&str> = unproved.map(|one| one.name.as_str()).collect();
        let_go("unsure", state, &unproved, facts)
    } else {
        state.memory.red_in = Vec::new();
        settle("green", state, Stage::Quiet, OnStop::Pass)
    };
    step.notes.splice(0..0, notes);
    step.drop_abandoned()
}

/// Keeps what came of the runs: what each means here, and what the person is told of it once.
fn recorded(state: &mut State, ran: &[Ran], input: &In<'_>) -> (Vec<Ran>, Vec<String>) {
    let is_defined = |name: &str| input.facts.checks.iter().any(|check| check.name == name);
    state.results.keep_only(is_defined);
    let mut told = Vec::new();
    let mut judged = Vec::new();
    for one in ran {
        let tree = tree_of(one, input.facts);
        let verdict = state.results.judged(one, tree);
        let one = Ran {
            verdict,
            ..one.clone()
        };
        let news = state.results.new_rewrites(&one);
        told.extend(news.map(|files| messages::rewrites(&one.name, files)));
        state
            .results
            .record(&one, tree_of(&one, input.facts), input.now);
        judged.push(one);
    }
    (judged, told)
}

fn tree_of<'a>(ran: &'a Ran, facts: &'a Facts) -> &'a str {
    ran.tree.as_deref().unwrap_or(&facts.tree)
}

/// Nothing is red, and not everything is green. What was red and has not passed since is handed to
/// nobody.
fn let_go(rule: &'static str, state: State, unproved: &[&str], facts: &Facts) -> Stop {
    if unproved.is_empty() || facts.occasions.is_empty() {
        return settle(rule, state, Stage::Quiet, OnStop::Pass);
    }
    let note = messages::unproved(unproved);
    settle("unproved", state, Stage::Quiet, OnStop::PassAlone).note(note)
}

/// The trees in which something is red.
fn red_trees(verdicts: &Verdicts<'_>, own: &str) -> Vec<String> {
    let is_red = |one: &&Ran| one.verdict.failure().is_some() || one.verdict == Verdict::NotStarted;
    let failed = verdicts.ran.iter().filter(is_red);
    let pinned = verdicts.pinned.iter().map(|one| &one.tree);
    let trees = failed.map(|one| &one.tree).chain(pinned);
    each_once(
        trees
            .map(|tree| tree.clone().unwrap_or_else(|| own.into()))
            .collect(),
    )
}

fn each_once(mut trees: Vec<String>) -> Vec<String> {
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
fn fault(mut state: State, cause: &str, facts: &Facts) -> Stop {
    let due = due(&state, facts);
    let is_red = |check: &&Defined| state.results.is_red(&check.name, &facts.tree);
    if !state.memory.red_in.is_empty() || due.iter().any(is_red) {
        if let Some(reds) = too_many(&mut state.memory, facts.max) {
            let note = messages::gave_up_blind(cause, reds);
            return settle("gave-up", state, Stage::GaveUp, OnStop::PassAlone).note(note);
        }
        let text = messages::blind(cause);
        return settle("blind", state, Stage::Red, OnStop::Hold(text));
    }
    let is_unproved = |check: &&Defined| state.results.is_unproved(&check.name, &facts.tree);
    let unproved = due.iter().copied().filter(is_unproved);
    let unproved: Vec<&str> = unproved.map(|check| check.name.as_str()).collect();
    let mut step = let_go("fault", state, &unproved, facts);
    step.notes.insert(0, messages::fault(cause));
    step
}

/// Nobody looks now, so nothing is handed over either.
fn background_works(state: State, facts: &Facts) -> Stop {
    let waits = !facts.occasions.is_empty() && !due(&state, facts).is_empty();
    let say = if waits {
        OnStop::PassAlone
    } else {
        OnStop::Pass
    };
    settle("background", state, Stage::Owed, say)
}

fn settle(rule: &'static str, mut state: State, stage: Stage, say: OnStop) -> Stop {
    state.memory.stage = stage;
    if stage == Stage::Quiet {
        state.memory = Memory {
            red_in: state.memory.red_in,
            ..Memory::default()
        };
    }
    Step::take(rule, state, say)
}

/// The names, for a sentence.
pub(super) fn names(all: &[&Ran]) -> String {
    let names: Vec<&str> = all.iter().map(|ran| ran.name.as_str()).collect();
    crate::decision::listed(&names)
}
