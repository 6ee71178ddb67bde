//! The shell of `check`: it takes the keys of the checks that a person trusted, runs them, and
//! keeps their results.

pub(crate) mod commands;
pub(crate) mod key;
mod printed;
mod proving_place;
pub(crate) mod receipt;
pub(crate) mod run;
pub(crate) mod settings;
mod stored;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use mainspring_kernel::Millis;
use mainspring_kernel::effect::{Fence, Intent};
use mainspring_kernel::event::{Chain, Kind};
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::check::{
    Activity, Check, Defined, Effect, Facts, Looked, Outcome, Pass, Results, Run, State, messages,
};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_store::{Trouble, path_text};

use self::key::TakenKey;
pub(crate) use self::proving_place::ProvingTree;
use self::proving_place::sweep;
use self::receipt::CheckEntry;
pub(crate) use self::receipt::CheckReceipt;
use self::run::Runner;
pub(crate) use self::stored::Stored;
use super::{FoundFile, HandedOn, Loaded, MachineShell, json_state};
use crate::children::permit::Permit;
use crate::config::Config;
use crate::context::EventContext;
use crate::machines::effect_owner;
use crate::machines::tree::Tree;
use crate::people::trust::{ProjectSettings, TrustedChecks};
use crate::transcript::{Tail, ToolUse};

#[derive(Debug)]
pub(crate) struct Shell;

#[derive(Debug)]
pub(crate) struct Found {
    stored: Stored,
    file: FoundFile,
    /// The linked worktree that the checks run in, if it is not the root.
    worktree: Option<String>,
}

/// A deadline of this length means none: nothing that is left of a stop is longer.
const NO_HOST: Millis = Millis::seconds(24 * 60 * 60);
/// How often a run of another process is looked at.
const GLANCE: Duration = Duration::from_millis(100);

impl MachineShell for Shell {
    type Machine = Check;
    type Found = Found;

    const ABOUT: &'static str =
        "holds every stop while a check that you trusted is red over this tree";

    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        let has_state = || {
            let file = context.store.machine_file(Name::Check);
            std::fs::symlink_metadata(file).is_ok()
        };
        let concerns = match context.payload().map(|payload| &payload.event.kind) {
            None => true,
            // What a person trusts is looked up at every stop of an agent in any case.
            Some(Kind::Stop { .. }) => !context.is_subagents(),
            Some(Kind::SessionEnd { .. }) => !context.is_vacant() && has_state(),
            Some(_) => false,
        };
        Ok(concerns && !context.is_vacant() && context.permission().may_have_checks())
    }

    fn load(context: &EventContext<'_>, _: Option<&str>) -> Result<Option<Loaded<Self>>, Trouble> {
        let checks = context.permission().checks(context.root())?;
        if checks.definitions.is_empty() {
            return Ok(None);
        }
        let (stored, file) = json_state::load::<Stored>(context, Name::Check)?;
        let stored = stored.unwrap_or_default();
        let state = State {
            results: stored.results.clone(),
            memory: stored.memory(context.session().as_ref()),
        };
        let facts = facts(context, &checks)?;
        Ok(Some(Loaded {
            input: InputOf::new(state, facts),
            found: Found {
                stored,
                file,
                worktree: scope(context),
            },
        }))
    }

    fn subject(found: &Found) -> Option<&str> {
        found.worktree.as_deref()
    }

    fn files(
        context: &EventContext<'_>,
        _: &InputOf<Check>,
        found: &Found,
        transition: &TransitionOf<Check>,
    ) -> Result<Vec<FileChange>, Trouble> {
        let mut stored = found.stored.clone();
        stored.results = transition.state.results.clone();
        stored.remember(context.session().as_ref(), &transition.state.memory);
        if stored == found.stored {
            return Ok(Vec::new());
        }
        Ok(vec![json_state::change(&found.file, Some(&stored))?])
    }

    fn run(
        context: &EventContext<'_>,
        permit: Permit,
        intent: &Intent<Check>,
        handed_on: &mut HandedOn,
    ) -> Outcome {
        let limit = intent.deadline.since(intent.since);
        let until = Instant::now() + Duration::from_millis(limit.0);
        let outcome = match &intent.effect {
            Effect::Look {
                checks,
                others,
                after,
            } => {
                if let Some(fence) = after {
                    wait_for(context, *fence, until);
                }
                let looked = look(context, &permit, (checks, others), handed_on);
                looked.map(Outcome::Looked)
            }
            Effect::Run(run) => {
                let limits = (intent.fence, until);
                start(context, &permit, run, limits, handed_on)
            }
        };
        outcome.unwrap_or_else(Outcome::Fault)
    }

    fn summary(input: &InputOf<Check>) -> String {
        let each = input.facts.checks.iter().map(|check| {
            let name = &check.name;
            match input.state.results.of(name) {
                None => format!("{name} has not run yet"),
                Some(kept) => {
                    let last = &kept.last;
                    let key = messages::short(&last.key);
                    format!("{name} {} at {key}", last.result.as_str())
                }
            }
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

fn facts(context: &EventContext<'_>, checks: &TrustedChecks) -> Result<Facts, Trouble> {
    let asked = context.is_by_command().then(|| context.subject());
    let config = config(context)?;
    Ok(Facts {
        checks: checks.definitions.iter().map(defined).collect(),
        occasions: if context.at_stop() {
            super::occasions(context)
        } else {
            Vec::new()
        },
        tree: path_text::to_text(&context.project.worktree),
        activity: activity(context),
        max: config.checks.max,
        // Less than the kernel compares it with: time goes by.
        left: Millis(
            context
                .time_left()
                .unwrap_or(NO_HOST)
                .0
                .saturating_sub(10_000),
        ),
        asked: asked.map(|name| match name {
            Some(name) => vec![name.to_owned()],
            None => checks
                .definitions
                .iter()
                .map(|one| one.name.clone())
                .collect(),
        }),
    })
}

pub(crate) fn defined(check: &crate::config::checks::CheckDefinition) -> Defined {
    Defined {
        name: check.name.clone(),
        when: check.when.clone(),
        timeout: check.timeout,
        retries: check.retries,
    }
}

/// Did this turn use a tool? At a later stop of the same turn it did, because something kept the
/// agent going. The end of the transcript may not be written yet; it is, if the agent's last words
/// are there. To wait for it takes less time than a check.
fn activity(context: &EventContext<'_>) -> Activity {
    let first = context.payload().is_some_and(|payload| {
        matches!(
            payload.event.kind,
            Kind::Stop {
                chain: Chain::First,
                ..
            }
        )
    });
    let names_transcript = context
        .payload()
        .is_some_and(|payload| payload.transcript.is_some());
    if !first || !names_transcript {
        return Activity::Unknown;
    }
    let shown = || context.read_tail().and_then(|tail| shown(&tail));
    context.look_again(shown).unwrap_or(Activity::Unknown)
}

/// What the transcript shows of the turn, if its end is written.
fn shown(tail: &Tail) -> Option<Activity> {
    match tail.turn {
        ToolUse::Yes => Some(Activity::Tools),
        ToolUse::No if !tail.final_texts.is_empty() => Some(Activity::NoTools),
        ToolUse::No | ToolUse::Unknown => None,
    }
}

/// The name of the linked worktree, for its own intent.
fn scope(context: &EventContext<'_>) -> Option<String> {
    let project = &context.project;
    (project.worktree != project.root).then(|| path_text::to_text(&project.worktree))
}

/// Takes the keys of these checks, also in the other trees, unless those are gone.
fn look(
    context: &EventContext<'_>,
    permit: &Permit,
    (names, others): (&[String], &[String]),
    handed_on: &mut HandedOn,
) -> Result<Vec<Looked>, String> {
    sweep(context, permit);
    let fault = |trouble: Trouble| trouble.to_string();
    let checks = context.permission().checks(context.root()).map_err(fault)?;
    let wanted: Vec<_> = checks
        .definitions
        .iter()
        .filter(|check| names.contains(&check.name))
        .collect();
    let tree = Tree::here(context, permit).map_err(fault)?;
    let taken = tree.keys(&checks, &wanted)?;
    let (stored, _) = json_state::load::<Stored>(context, Name::Check).map_err(fault)?;
    let results = stored.unwrap_or_default().results;
    let entries = wanted.iter().zip(&taken).map(|(check, taken)| {
        CheckEntry::looked(&check.name, taken, green(&results, &check.name, taken))
    });
    handed_on.checks = Some(CheckReceipt::of(entries.collect()));
    let mut looked = Vec::new();
    let mut add = |taken: Vec<TakenKey>, tree: Option<&String>| {
        looked.extend(wanted.iter().zip(taken).map(|(check, taken)| Looked {
            name: check.name.clone(),
            key: taken.key,
            pins: taken.pins,
            tree: tree.cloned(),
        }));
    };
    for tree in others {
        let dir = path_text::from_text(tree);
        if dir.is_dir() {
            let there = Tree::at(context, permit, dir.into_owned()).map_err(fault)?;
            add(there.keys(&checks, &wanted)?, Some(tree));
        }
    }
    add(taken, None);
    Ok(looked)
}

/// Runs what is asked for, without the lock.
fn start(
    context: &EventContext<'_>,
    permit: &Permit,
    run: &Run,
    (fence, until): (Fence, Instant),
    handed_on: &mut HandedOn,
) -> Result<Outcome, String> {
    let fault = |trouble: Trouble| trouble.to_string();
    let checks = context.permission().checks(context.root()).map_err(fault)?;
    let mut others = BTreeMap::new();
    for tree in run.checks.iter().filter_map(|one| one.tree.as_ref()) {
        let dir = path_text::from_text(tree).into_owned();
        let there = Tree::at(context, permit, dir).map_err(fault)?;
        others.insert(tree.clone(), there);
    }
    let runner = Runner {
        permit: permit.clone(),
        tree: Tree::here(context, permit).map_err(fault)?,
        others,
        checks: &checks,
        state: context.store.state(),
        folder: context.store.checks(),
        id: format!("{:06}", fence.0),
        deadline: until,
        parallel: parallel(context).map_err(fault)?,
    };
    let ran = runner.run(&run.checks);
    let now = context.env.later();
    if let Some(receipt) = &mut handed_on.checks {
        for (ran, taken) in ran.iter().filter(|(ran, _)| ran.tree.is_none()) {
            receipt.ran(ran, taken.as_ref(), now);
        }
    }
    Ok(Outcome::Ran(ran.into_iter().map(|(ran, _)| ran).collect()))
}

/// The settings, as the checks themselves are in force: with the newest version of the project's
/// file that a person trusted. So nobody can go back to one that asked for less.
fn config(context: &EventContext<'_>) -> Result<Config, Trouble> {
    let trusted = context.permission().newest().map(str::to_owned);
    let settings = ProjectSettings::Newer { trusted };
    Config::load(context.env, context.root(), &settings)
}

pub(crate) fn parallel(context: &EventContext<'_>) -> Result<usize, Trouble> {
    let parallel = config(context)?.checks.parallel;
    Ok(usize::try_from(parallel).unwrap_or(2).max(1))
}

/// Waits until the run of another process is over, or its process, or our time.
fn wait_for(context: &EventContext<'_>, fence: Fence, until: Instant) {
    let scope = scope(context).unwrap_or_default();
    let runs = || {
        let found = context.store.intent(Name::Check, &scope);
        let pending = found.ok().and_then(|found| found.value);
        pending.is_some_and(|pending| {
            let same = matches!(&pending, mainspring_kernel::machines::Pending::Check(intent) if intent.fence == fence);
            same && effect_owner::is_alive(pending.owner())
        })
    };
    while runs() && Instant::now() < until {
        std::thread::sleep(GLANCE);
    }
}

/// The keys as they are now, for a view or a command.
pub(crate) fn taken(
    context: &EventContext<'_>,
    permit: &Permit,
    checks: &TrustedChecks,
) -> Result<Vec<TakenKey>, String> {
    let wanted: Vec<_> = checks.definitions.iter().collect();
    let tree = Tree::here(context, permit).map_err(|trouble| trouble.to_string())?;
    tree.keys(checks, &wanted)
}

/// The results that are kept, by check.
pub(crate) fn results(context: &EventContext<'_>) -> Result<Results, Trouble> {
    let (stored, _) = json_state::load::<Stored>(context, Name::Check)?;
    Ok(stored.unwrap_or_default().results)
}

/// The run in which a check passed over this very tree, unless it was red there since.
pub(crate) fn green<'a>(results: &'a Results, check: &str, taken: &TakenKey) -> Option<&'a Pass> {
    results.green(check, &taken.key, &path_text::to_text(&taken.dir))
}

/// What an agent reads of what a failed check printed.
pub(crate) fn quoted_output(bytes: &[u8]) -> String {
    let text = printed::plain(bytes);
    if printed::ran_no_test(&text) {
        return "it ran no test".into();
    }
    printed::lines_that_matter(&text)
}

/// What a check printed, without sequences for a terminal.
pub(crate) fn log_text(path: &Path) -> String {
    printed::plain(&run::tail(path))
}
