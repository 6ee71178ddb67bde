//! Reviews: a hook starts a reviewer, and may die, be paused past its deadline or be overtaken
//! while the reviewer writes. Another hook takes over, and each review counts once.

mod acts;
mod effect;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::decision::Answer;
use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::effect::EffectStatus;
use mainspring_kernel::event::Chain;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::review::{
    AnswerFile, Asker, Facts, Failure, Fields, Finding, Kind as Review, Memory, OnFailure,
    OtherSessions, Outcome, Phase, Plan, Settings, State, Verdict,
};
use mainspring_kernel::machines::{Finished, InputOf, MachineInput, Pending, Returned};
use mainspring_kernel::{Ask, Millis};

use super::Size;
use super::disk::Disk;
use super::world::{self, Bounds, Hook, OWN, Protocol, Racing, Without, World, session};
use effect::killed;

const SITUATIONS: &[&str] = &[
    "a reviewer outlived its hook",
    "a finished review of a dead hook was taken over",
    "a reviewer was ended by the hook that took over",
    "a stop passed because a reviewer was at work",
    "a plan passed",
    "the limit of reviews was reached",
];
const ORPHAN: u64 = OWN;
const ADOPTED: u64 = OWN << 1;
const ENDED: u64 = OWN << 2;
const BUSY: u64 = OWN << 3;
const PASSED: u64 = OWN << 4;
const LIMIT: u64 = OWN << 5;

#[derive(Debug)]
pub(super) struct Reviews {
    pub(super) without: Without,
    pub(super) bounds: Bounds,
    pub(super) stops: u8,
    /// Events besides the stops.
    pub(super) asides: u8,
    pub(super) most: u32,
    /// The agent continues only if it was held.
    pub(super) paced: bool,
}

#[derive(Debug, Clone, Hash)]
pub(super) struct Env {
    stops: u8,
    asides: u8,
    events: u8,
    chain: Chain,
    /// The reviews in the plan's folder, and which attempt wrote each.
    written: BTreeMap<u32, u64>,
    answers: BTreeSet<u32>,
    /// What reviewers have printed, by attempt.
    said: BTreeMap<u64, Verdict>,
    reviewers: Vec<Reviewer>,
    /// How often reviewers were started for each review, and how often it was counted.
    started: BTreeMap<u32, u8>,
    counted: BTreeMap<u32, u8>,
}

/// A reviewer, which is a process of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Reviewer {
    attempt: u64,
    iteration: u32,
    /// The hook that waits for it.
    hook: u32,
    wrote: bool,
}

/// The progress of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Work {
    /// Looks at what dead processes left of this review.
    TakeOver,
    Start,
    Wait,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Stop,
    /// The person types a prompt.
    Prompt,
    /// The session ends, and may be resumed.
    End,
    /// Another session stops.
    OtherStop,
    /// The agent answers the review that waits for it.
    Answer(u32),
    /// A reviewer writes its file.
    Write(usize),
    /// It prints its verdict and ends.
    Say(usize, Verdict),
    /// A reviewer whose hook is gone ends.
    Follow(usize),
    /// The person ends the cycle, or starts it again.
    Turn,
}

impl Reviews {
    pub(super) fn racing(without: Without, size: Size) -> Racing<Self> {
        let (stops, asides, crashes, losses, edits, most) = match size {
            Size::Quick => (2, 1, 1, 0, 0, 2),
            Size::Wide => (3, 1, 1, 1, 1, 2),
            Size::Long => (4, 2, 1, 0, 0, 3),
        };
        Racing(Self {
            without,
            bounds: Bounds {
                hooks: 2,
                crashes,
                jumps: 1,
                losses,
                edits,
            },
            stops,
            asides,
            most,
            paced: false,
        })
    }

    pub(super) fn faultless() -> Racing<Self> {
        Racing(Self {
            without: Without::Nothing,
            bounds: Bounds::FAULTLESS,
            stops: 0,
            asides: 0,
            most: 3,
            paced: true,
        })
    }
}

fn fields(disk: &Disk) -> Option<&Fields> {
    match &disk.inputs[0] {
        MachineInput::Review(InputOf {
            state: State::Plan(plan),
            ..
        }) => Some(&plan.fields),
        _ => None,
    }
}

fn memory(disk: &Disk) -> Option<&Memory> {
    match &disk.inputs[0] {
        MachineInput::Review(InputOf {
            state: State::Plan(plan),
            ..
        }) => Some(&plan.memory),
        _ => None,
    }
}

/// The number of the last review's file.
fn number(disk: &Disk) -> Option<u32> {
    Some(memory(disk)?.number(fields(disk)?))
}

fn facts() -> Facts {
    Facts {
        asker: Asker::Session(OtherSessions::Alone),
        unrecorded: false,
        replies: Vec::new(),
        violations: Vec::new(),
        warnings: Vec::new(),
        tasks: mainspring_kernel::machines::review::table::Tasks::default(),
        written: Vec::new(),
        answer: AnswerFile::Missing,
        settings: Settings {
            models: vec!["opus".into(), "sonnet".into()],
            on_failure: OnFailure::Approve,
            max_cost: None,
            deadline: Millis::seconds(600),
            findings: true,
        },
    }
}

impl Protocol for Reviews {
    type Env = Env;
    type Work = Work;
    type Act = Act;

    const COMMON: u64 = world::ALL;
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
        let plan = Plan {
            id: "p".into(),
            fields: Fields {
                max_reviews: self.most,
                phase: Some(Phase::NewPlan),
                phase_iteration: Some(0),
                next_phase: Some(Phase::Review(Review::Plan)),
                ..Fields::default()
            },
            memory: Memory {
                owner: Some(session(0)),
                ..Memory::default()
            },
            passing: None,
        };
        let input = MachineInput::Review(InputOf::new(State::Plan(Box::new(plan)), facts()));
        let env = Env {
            stops: self.stops,
            asides: self.asides,
            events: 0,
            chain: Chain::First,
            written: BTreeMap::new(),
            answers: BTreeSet::new(),
            said: BTreeMap::new(),
            reviewers: Vec::new(),
            started: BTreeMap::new(),
            counted: BTreeMap::new(),
        };
        World::new(Disk::new(vec![input], 2), env)
    }

    fn see(&self, world: &World<Env, Work>, _: &Hook<Work>, input: &mut MachineInput) -> ToolUse {
        if let MachineInput::Review(input) = input {
            input.facts.written = world.env.written.keys().copied().collect();
            let answered =
                number(&world.disk).is_some_and(|number| world.env.answers.contains(&number));
            if answered {
                input.facts.answer = AnswerFile::Written;
            }
        }
        ToolUse::NotSeen
    }

    fn begin(&self, _: &Pending) -> Work {
        Work::TakeOver
    }

    fn choices(&self, world: &World<Env, Work>, at: usize) -> u8 {
        let hook = &world.hooks[at];
        match hook.work {
            Some(Work::TakeOver) => 1,
            Some(Work::Start) => {
                // It may fail at once, if the bounds allow another fault.
                1 + u8::from(world.spent.losses < self.bounds.losses)
            }
            Some(Work::Wait) => {
                let pid = hook.pid();
                u8::from(!world.env.reviewers.iter().any(|one| one.hook == pid))
            }
            None => 0,
        }
    }

    fn work(&self, world: &mut World<Env, Work>, at: usize, choice: u8) -> Option<Finished> {
        let hook = Arc::clone(&world.hooks[at]);
        let Ask::Run(pending) = &hook.ask else {
            return None;
        };
        let Pending::Review(intent) = &**pending else {
            return None;
        };
        let asked = &intent.effect;
        let attempt = intent.fence.0;
        let result = match hook.work? {
            Work::TakeOver => self.take_over(world, at, asked),
            Work::Start if choice == 1 => {
                world.spent.losses += 1;
                Some(Finding::NotDone(Failure::Exit {
                    status: "1".into(),
                    said: String::new(),
                }))
            }
            // Another hook has taken over the review. This one was paused, and leaves it alone.
            Work::Start if self.heeds(world, attempt) => Some(killed()),
            Work::Start => self.start_reviewer(world, at, attempt, asked.iteration),
            Work::Wait => Some(self.ended(world, attempt, asked.iteration)),
        };
        let outcome = Outcome::new(result?, Millis(0), 0);
        let intent = intent.clone();
        Some(Finished::Review(Returned { intent, outcome }))
    }

    fn describe_work(&self, world: &World<Env, Work>, at: usize, choice: u8) -> String {
        match world.hooks[at].work {
            Some(Work::TakeOver) => "looks at what was left of this review".into(),
            Some(Work::Start) if choice == 1 => "cannot get a review".into(),
            Some(Work::Start) => "starts a reviewer".into(),
            Some(Work::Wait) => "sees that its reviewer has ended".into(),
            None => String::new(),
        }
    }

    fn acts(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        self.possible(world, acts);
    }

    fn act(&self, world: &mut World<Env, Work>, act: &Act) {
        Self::happens(world, act);
    }

    fn describe_act(&self, world: &World<Env, Work>, act: &Act) -> String {
        act.describe(world)
    }

    fn committed(&self, world: &mut World<Env, Work>, _: &Hook<Work>, entry: &Entry) {
        let Entry::Turn { case, ruling } = entry else {
            return;
        };
        let (Some(MachineInput::Review(input)), Ruling::Settled(settlement)) =
            (case.inputs.first(), &**ruling)
        else {
            return;
        };
        let rule = settlement
            .transitions
            .first()
            .map_or("", |moved| moved.rule());
        match rule {
            "busy" => world.moment |= BUSY,
            "passed" => world.moment |= PASSED,
            "limit" => world.moment |= LIMIT,
            _ => {}
        }
        let counts = matches!(rule, "issues" | "clean" | "passed");
        if let (true, EffectStatus::Done(intent, _)) = (counts, &input.effect_status) {
            let iteration = intent.effect.iteration;
            let times = world.env().counted.entry(iteration).or_default();
            *times += 1;
            if *times > 1 {
                world.break_("one review counts once");
            }
        }
    }

    fn answered(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, answer: &Answer) {
        // A host ignores the answer of a hook that was interrupted.
        if hook.session != 0 || hook.number() != world.env.events {
            return;
        }
        world.env().chain = if world::holds(answer) {
            Chain::Continued
        } else {
            Chain::First
        };
    }

    fn crashed(&self, world: &mut World<Env, Work>, hook: &Hook<Work>) {
        if hook.session == 0 {
            world.env().chain = Chain::First;
        }
    }

    fn check(&self, world: &World<Env, Work>) -> Option<&'static str> {
        let env = &world.env;
        let fields = fields(&world.disk)?;
        let allowed = 1 + world.spent.faults() + world.spent.edits;
        if env.started.values().any(|times| *times > allowed) {
            return Some("one reviewer per need: no second one without a fault between");
        }
        let cycle = memory(&world.disk).and_then(|memory| memory.cycle.as_ref());
        let done = cycle.map_or(0, |cycle| cycle.done);
        if fields.phase_iteration.unwrap_or(0) > self.most || done > self.most {
            return Some("no more reviews than max_reviews");
        }
        // A cycle that the person's edit began counts from zero.
        let counted = u32::try_from(env.counted.len()).unwrap_or(u32::MAX);
        if cycle.is_some_and(|cycle| cycle.streak > cycle.done || cycle.done > counted) {
            return Some("clean reviews in a row are as many reviews of the cycle");
        }
        if fields.awaited().is_none() && fields.phase_iteration.is_some() && world.spent.edits == 0
        {
            return Some("no count outside a cycle");
        }
        None
    }

    fn unfinished(&self, world: &World<Env, Work>) -> Option<&'static str> {
        if !self.paced {
            return None;
        }
        let held = world.env.chain == Chain::Continued;
        let passed =
            fields(&world.disk).is_some_and(|fields| fields.next_phase == Some(Phase::CreateTasks));
        let spent = world.env.counted.len() == self.most as usize;
        match (held, passed || spent) {
            (true, _) => Some("the agent is held and nothing more can happen"),
            (false, false) => Some("the cycle stops before its end"),
            (false, true) => None,
        }
    }
}
