//! Checks: two stops run a check over one tree, while the agent edits it and hooks die. A pass is
//! recorded only for a tree over which the command passes.

use std::sync::Arc;

use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::decision::Answer;
use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::event::{Background, Chain, Kind};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::check::{
    Activity, Defined, Effect, Facts, Failure, Looked, Occasion, Outcome, Ran, Request, State,
    Verdict,
};
use mainspring_kernel::machines::{Finished, InputOf, MachineInput, Pending, Returned};
use mainspring_kernel::{Ask, Digest, Millis};

use super::Size;
use super::disk::Disk;
use super::world::{self, Bounds, Hook, NAMES, OWN, Protocol, Racing, Without, World};

const SITUATIONS: &[&str] = &[
    "the tree moved while the check ran",
    "a stop waited for another one's run",
    "a check passed",
    "a check failed",
    "the agent was let go with a red check",
];
const MOVED: u64 = OWN;
const WAITED: u64 = OWN << 1;
const PASSED: u64 = OWN << 2;
const FAILED: u64 = OWN << 3;
const GAVE_UP: u64 = OWN << 4;

#[derive(Debug)]
pub(super) struct Checks {
    without: Without,
    bounds: Bounds,
    stops: u8,
    /// How often the agent may edit the tree.
    edits: u8,
    /// The agent stops again only if it was held, after it has repaired the tree.
    paced: bool,
}

#[derive(Debug, Clone, Hash)]
pub(super) struct Env {
    /// The version of the tree; the command fails over every other one, from the first.
    tree: u8,
    edits: u8,
    stops: u8,
    events: u8,
    chain: Chain,
}

/// The progress of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Work {
    Look,
    /// Takes the key before the run.
    Before {
        again: bool,
    },
    /// The command reads the tree.
    Read {
        again: bool,
        before: u8,
    },
    /// Takes the key after the run.
    After {
        again: bool,
        before: u8,
        read: u8,
    },
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Stop,
    Edit,
}

impl Checks {
    pub(super) fn racing(without: Without, size: Size) -> Racing<Self> {
        let (stops, crashes, edits) = match size {
            Size::Quick => (2, 1, 2),
            Size::Wide => (3, 1, 3),
            Size::Long => (4, 2, 2),
        };
        Racing(Self {
            without,
            bounds: Bounds {
                hooks: 2,
                crashes,
                jumps: 1,
                losses: 0,
                edits: 0,
            },
            stops,
            edits,
            paced: false,
        })
    }

    pub(super) fn faultless() -> Racing<Self> {
        Racing(Self {
            without: Without::Nothing,
            bounds: Bounds::FAULTLESS,
            stops: 0,
            edits: 3,
            paced: true,
        })
    }
}

fn is_good(tree: u8) -> bool {
    tree % 2 == 1
}

fn key(tree: u8) -> Digest {
    Digest(tree.to_string())
}

/// Is it the key of a tree over which the command passes?
fn is_good_key(key: &Digest) -> bool {
    key.0.parse().is_ok_and(is_good)
}

fn state(disk: &Disk) -> Option<&State> {
    match &disk.inputs[0] {
        MachineInput::Check(input) => Some(&input.state),
        _ => None,
    }
}

fn facts() -> Facts {
    Facts {
        checks: vec![Defined {
            name: "tests".into(),
            when: Occasion::ALL.into(),
            timeout: Millis::seconds(100),
            retries: 0,
        }],
        occasions: Vec::new(),
        activity: Activity::Tools,
        max: 3,
        left: Millis::seconds(500),
        asked: None,
        notes: Vec::new(),
    }
}

fn ended(request: &Request, tree: u8, verdict: Verdict) -> Outcome {
    Outcome::Ran(vec![Ran {
        name: request.name.clone(),
        key: key(tree),
        verdict,
        took: Millis(0),
        log: String::new(),
    }])
}

fn look(world: &World<Env, Work>, names: &[String]) -> Outcome {
    let each = names.iter().map(|name| Looked {
        name: name.clone(),
        key: key(world.env.tree),
        pins: Vec::new(),
    });
    Outcome::Looked(each.collect())
}

impl Checks {
    /// The next step of a run, or its end.
    fn run(&self, world: &mut World<Env, Work>, at: usize, request: &Request) -> Option<Outcome> {
        let tree = world.env.tree;
        let (next, outcome) = match world.hooks[at].work? {
            Work::Look => return None,
            Work::Before { again } => (
                Some(Work::Read {
                    again,
                    before: tree,
                }),
                None,
            ),
            Work::Read { again, before } => (
                Some(Work::After {
                    again,
                    before,
                    read: tree,
                }),
                None,
            ),
            Work::After { again, before, .. }
                if before != tree && self.without != Without::KeyAfter =>
            {
                world.moment |= MOVED;
                let moved = Verdict::CouldNotRun("its inputs changed while it ran, twice".into());
                if again {
                    (None, Some(ended(request, before, moved)))
                } else {
                    (Some(Work::Before { again: true }), None)
                }
            }
            Work::After { before, read, .. } => {
                let verdict = match (is_good(read), request.failed && request.key == key(before)) {
                    (true, false) => Verdict::Pass,
                    (true, true) => Verdict::Flaky,
                    (false, _) => Verdict::Fail(Failure {
                        exit: "exit code 1".into(),
                        said: String::new(),
                        reason: Digest("r".into()),
                        changed: Vec::new(),
                    }),
                };
                (None, Some(ended(request, before, verdict)))
            }
        };
        world.hook(at).work = next;
        outcome
    }

    /// How many hooks are in the middle of a run.
    fn runs(world: &World<Env, Work>) -> usize {
        let at_work = |hook: &&Arc<Hook<Work>>| {
            matches!(hook.work, Some(Work::Read { .. } | Work::After { .. }))
        };
        world.hooks.iter().filter(at_work).count()
    }
}

impl Protocol for Checks {
    type Env = Env;
    type Work = Work;
    type Act = Act;

    const COMMON: u64 = world::ALL & !world::EDITED;
    const SITUATIONS: &'static [&'static str] = SITUATIONS;

    fn without(&self) -> Without {
        self.without
    }

    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn cap(&self) -> Cap {
        Cap::After(8)
    }

    fn initial(&self) -> World<Env, Work> {
        let input = MachineInput::Check(InputOf::new(State::default(), facts()));
        let env = Env {
            tree: 0,
            edits: self.edits,
            stops: self.stops,
            events: 0,
            chain: Chain::First,
        };
        World::new(Disk::new(vec![input], 1), env)
    }

    fn see(&self, _: &World<Env, Work>, _: &Hook<Work>, _: &mut MachineInput) -> ToolUse {
        ToolUse::NotSeen
    }

    fn begin(&self, pending: &Pending) -> Work {
        match pending {
            Pending::Check(intent) if matches!(intent.effect, Effect::Look { .. }) => Work::Look,
            _ => Work::Before { again: false },
        }
    }

    fn choices(&self, world: &World<Env, Work>, at: usize) -> u8 {
        let hook = &world.hooks[at];
        let after = match &hook.ask {
            Ask::Run(pending) => match &**pending {
                Pending::Check(intent) => match &intent.effect {
                    Effect::Look { after, .. } => *after,
                    Effect::Run(_) => None,
                },
                _ => None,
            },
            _ => None,
        };
        let waits = match world.disk.intents[0].as_deref() {
            Some(Pending::Check(intent)) => {
                Some(intent.fence) == after && world.is_running(intent.owner.pid)
            }
            _ => false,
        };
        u8::from(hook.work.is_some() && !waits)
    }

    fn work(&self, world: &mut World<Env, Work>, at: usize, _: u8) -> Option<Finished> {
        let hook = Arc::clone(&world.hooks[at]);
        let Ask::Run(pending) = &hook.ask else {
            return None;
        };
        let Pending::Check(intent) = &**pending else {
            return None;
        };
        let outcome = match &intent.effect {
            Effect::Look { checks, after } => {
                if after.is_some() {
                    world.moment |= WAITED;
                }
                Some(look(world, checks))
            }
            Effect::Run(run) => self.run(world, at, run.checks.first()?),
        };
        let intent = intent.clone();
        Some(Finished::Check(Returned {
            intent,
            outcome: outcome?,
        }))
    }

    fn describe_work(&self, world: &World<Env, Work>, at: usize, _: u8) -> String {
        match world.hooks[at].work {
            Some(Work::Look) => "takes the key".into(),
            Some(Work::Before { .. }) => "takes the key before the run".into(),
            Some(Work::Read { .. }) => "the check reads the tree".into(),
            Some(Work::After { .. }) => "takes the key after the run".into(),
            None => String::new(),
        }
    }

    fn acts(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        let env = &world.env;
        let held = env.chain == Chain::Continued;
        let room = world.hooks.len() < self.bounds.hooks;
        let stops = if self.paced {
            env.events == 0 || (held && is_good(env.tree))
        } else {
            env.stops > 0
        };
        if room && stops {
            acts.push(Act::Stop);
        }
        let edits = !self.paced || (held && !is_good(env.tree));
        if env.edits > 0 && edits {
            acts.push(Act::Edit);
        }
    }

    fn act(&self, world: &mut World<Env, Work>, act: &Act) {
        match act {
            Act::Stop => {
                let env = world.env();
                env.stops = env.stops.saturating_sub(1);
                env.events += 1;
                let number = u32::from(env.events);
                let chain = std::mem::replace(&mut env.chain, Chain::First);
                let kind = Kind::Stop {
                    chain,
                    background: Background::Quiet,
                };
                world.start(0, kind, number, 0);
            }
            Act::Edit => {
                let env = world.env();
                env.edits -= 1;
                env.tree += 1;
            }
        }
    }

    fn describe_act(&self, world: &World<Env, Work>, act: &Act) -> String {
        match act {
            Act::Stop => format!("session {} stops", NAMES[0]),
            Act::Edit if is_good(world.env.tree) => "somebody breaks the tree".into(),
            Act::Edit => "somebody repairs the tree".into(),
        }
    }

    fn committed(&self, world: &mut World<Env, Work>, _: &Hook<Work>, entry: &Entry) {
        let Entry::Turn { ruling, .. } = entry else {
            return;
        };
        let Ruling::Settled(settlement) = &**ruling else {
            return;
        };
        let rule = settlement.transitions.first();
        match rule.map_or("", |moved| moved.rule()) {
            "green" => world.moment |= PASSED,
            "red" => world.moment |= FAILED,
            "gave-up" => world.moment |= GAVE_UP,
            _ => {}
        }
    }

    fn answered(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, answer: &Answer) {
        // A host ignores the answer of a hook that was interrupted.
        if hook.number() != world.env.events {
            return;
        }
        world.env().chain = if world::holds(answer) {
            Chain::Continued
        } else {
            Chain::First
        };
    }

    fn crashed(&self, world: &mut World<Env, Work>, _: &Hook<Work>) {
        world.env().chain = Chain::First;
    }

    fn check(&self, world: &World<Env, Work>) -> Option<&'static str> {
        let results = &state(&world.disk)?.results;
        let passes = results.0.values().flat_map(|kept| &kept.passes);
        if passes.into_iter().any(|pass| !is_good_key(&pass.key)) {
            return Some("a pass is recorded only for a tree over which the command passes");
        }
        if Self::runs(world) > 1 + usize::from(world.spent.faults()) {
            return Some("one run at a time: no second one without a fault between");
        }
        None
    }

    fn unfinished(&self, world: &World<Env, Work>) -> Option<&'static str> {
        if !self.paced {
            return None;
        }
        let known = state(&world.disk)?
            .results
            .pass("tests", &key(world.env.tree));
        match (world.env.chain == Chain::Continued, known) {
            (true, _) => Some("the agent is held and nothing more can happen"),
            (false, None) => Some("the agent was let go without a pass"),
            (false, Some(_)) => None,
        }
    }
}
