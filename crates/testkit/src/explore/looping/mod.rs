//! The loop's stack, the gate and the block ledger: stops are delivered twice, race and die,
//! while the agent says this or that and a person stops, aborts and prompts.
//!
//! An oracle counts by itself from the decisions, and is compared with the state.

mod acts;

use std::collections::BTreeMap;

use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::decision::Answer;
use mainspring_kernel::deliberate::{Outcome, Ruling};
use mainspring_kernel::event::{Background, Chain, Kind};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::gate::{self, RecentErrors, Token, Transcript};
use mainspring_kernel::machines::looping::{
    self, Ending, Frame, Loop, LoopOwner, Mode, OtherSessions, Run, State,
};
use mainspring_kernel::machines::{Finished, InputOf, MachineInput, Pending, Transition};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::verbs::VerbStep;
use mainspring_kernel::{Decision, Millis};

use super::Size;
use super::disk::Disk;
use super::world::{self, Bounds, Hook, OWN, Protocol, Racing, Without, World, session};

const SITUATIONS: &[&str] = &[
    "an event was delivered twice and answered alike",
    "let go at the host's cap",
    "an inner frame ended and the outer went on",
    "the loop ended at its maximum",
    "the loop was stale",
    "another session's stop passed",
    "a signal held while another machine kept the agent",
    "a stop passed while everything was suspended",
    "the loop was aborted",
];
const REPEATED: u64 = OWN;
const CAPPED: u64 = OWN << 1;
const POPPED: u64 = OWN << 2;
const MAXED: u64 = OWN << 3;
const STALE: u64 = OWN << 4;
const OTHERS: u64 = OWN << 5;
const KEPT: u64 = OWN << 6;
const SUSPENDED: u64 = OWN << 7;
const ABORTED: u64 = OWN << 8;

#[derive(Debug)]
pub(super) struct Loops {
    pub(super) without: Without,
    pub(super) bounds: Bounds,
    pub(super) stops: [u8; 2],
    /// Iterations of a frame.
    pub(super) max: u32,
    /// The host's limit.
    pub(super) cap: u32,
    /// The worst case: the agent stops again whenever it is held, and never uses a tool.
    pub(super) paced: bool,
}

#[derive(Debug, Clone, Hash)]
pub(super) struct Env {
    sessions: [Session; 2],
    /// What the agent said and did before each of its stops.
    spoken: BTreeMap<u8, Spoken>,
    suspended: bool,
    oracle: Oracle,
}

#[derive(Debug, Clone, Hash)]
struct Session {
    stops: u8,
    events: u8,
    chain: Chain,
    /// The last stop, which may be delivered again as long as no time has passed.
    again: Option<(Kind, Millis)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Spoken {
    signal: bool,
    token: bool,
    tools: bool,
}

/// What should be stored, counted from the decisions.
#[derive(Debug, Clone, Hash)]
struct Oracle {
    /// Holds in a row without tool use.
    blocks: u32,
    /// The iteration of every frame, the outermost first.
    stack: Vec<u32>,
    /// How often each delivery was counted as an iteration.
    iterated: BTreeMap<u8, u8>,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Stop(usize, Spoken),
    Redeliver(usize),
    Prompt,
    Push,
    Abort,
    Suspend,
    Release,
}

/// There are no effects here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Work {}

impl Loops {
    pub(super) fn racing(without: Without, size: Size) -> Racing<Self> {
        let (stops, crashes, jumps, edits) = match size {
            Size::Quick => ([2, 1], 1, 0, 0),
            Size::Wide => ([2, 1], 1, 1, 1),
            Size::Long => ([5, 1], 1, 0, 0),
        };
        let (max, cap) = match size {
            Size::Quick => (3, 3),
            Size::Wide => (2, 1),
            Size::Long => (3, 2),
        };
        Racing(Self {
            without,
            bounds: Bounds {
                hooks: 2,
                crashes,
                jumps,
                losses: 0,
                edits,
            },
            stops,
            max,
            cap,
            paced: false,
        })
    }

    pub(super) fn faultless() -> Racing<Self> {
        Racing(Self {
            without: Without::Nothing,
            bounds: Bounds::FAULTLESS,
            stops: [1, 1],
            max: 3,
            cap: 3,
            paced: true,
        })
    }

    fn frame(&self, id: &str) -> Frame {
        Frame {
            id: id.into(),
            mode: Mode::Loop,
            iter: 1,
            max: self.max,
        }
    }
}

fn stack(state: &State) -> Vec<u32> {
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => {
            let outer = run.outer.iter().map(|frame| frame.iter);
            outer.chain([run.top.iter]).collect()
        }
        State::Idle(_) | State::Aborted { .. } | State::Corrupt(_) => Vec::new(),
    }
}

impl Oracle {
    /// What a decided stop of the owner does to the stack.
    fn decided(&mut self, rule: &str, outcome: Outcome, sent_on: bool) {
        match (rule, outcome) {
            ("iterate", Outcome::Held) => {
                if let Some(top) = self.stack.last_mut() {
                    *top += 1;
                }
            }
            ("signal" | "completing" | "max-inner", Outcome::Held) if sent_on => {
                self.stack.pop();
                if let Some(top) = self.stack.last_mut() {
                    *top += 1;
                }
            }
            ("signal" | "completing" | "max-inner", Outcome::Passed | Outcome::Capped) => {
                self.stack.pop();
            }
            ("max" | "stale", Outcome::Passed | Outcome::Held | Outcome::Told) => {
                self.stack.clear();
            }
            _ => {}
        }
    }
}

fn stop(world: &mut World<Env, Work>, at: usize, spoken: Spoken) {
    let now = world.now;
    let env = world.env();
    let session = &mut env.sessions[at];
    session.stops = session.stops.saturating_sub(1);
    session.events += 1;
    let number = session.events;
    let kind = Kind::Stop {
        chain: session.chain,
        background: Background::Quiet,
    };
    session.again = (at == 0).then(|| (kind.clone(), now));
    if at == 0 {
        env.spoken.insert(number, spoken);
    }
    world.start(at, kind, u32::from(number), 0);
}

/// A person types a command of the loop; its state changes if the command is accepted.
fn run_verb<E>(
    world: &mut World<Env, Work>,
    verb: impl FnOnce(&State) -> Result<VerbStep<Loop>, E>,
) {
    world.spent.edits += 1;
    let disk = world.disk();
    disk.seq += 1;
    let MachineInput::Loop(input) = &mut disk.inputs[1] else {
        return;
    };
    if let Ok(next) = verb(&input.state) {
        input.state = next.state;
    }
}

impl Protocol for Loops {
    type Env = Env;
    type Work = Work;
    type Act = Act;

    const COMMON: u64 = world::EFFECTLESS;
    const SITUATIONS: &'static [&'static str] = SITUATIONS;

    fn without(&self) -> Without {
        self.without
    }

    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn cap(&self) -> Cap {
        Cap::After(self.cap)
    }

    fn initial(&self) -> World<Env, Work> {
        let run = Run {
            id: "l".into(),
            updated: Millis::seconds(1_000_000),
            owner: LoopOwner::Session {
                id: session(0),
                client: None,
            },
            outer: vec![self.frame("outer")],
            top: self.frame("inner"),
            adopted: false,
        };
        let gate = MachineInput::Gate(InputOf::new(
            gate::State::Waiting { held: 0 },
            gate::Facts {
                by: gate::SwitchedOnBy::Switch,
                token: "T".into(),
                heard: SpokenSignal::Nothing,
                errors: RecentErrors::NotSeen,
                max: 0,
                transcript: Transcript::Long,
                checklist: gate::Checklist::Skill,
                open_tasks: gate::OpenTasks::default(),
                talk: gate::Talk::Held,
            },
        ));
        let looping = MachineInput::Loop(InputOf::new(
            State::Active(run),
            looping::Facts {
                heard: SpokenSignal::Nothing,
                ttl: Millis::seconds(600),
                company: OtherSessions::Several,
                client: None,
                prompt: None,
                outer_prompt: None,
                outer: looping::OuterGoesOn::AtOnce,
                owner: looping::OwnerLife::Live,
                waits: false,
                rules: looping::LoopRules::default(),
                worktree: None,
            },
        ));
        let session = |stops| Session {
            stops,
            events: 0,
            chain: Chain::First,
            again: None,
        };
        let env = Env {
            sessions: self.stops.map(session),
            spoken: BTreeMap::new(),
            suspended: false,
            oracle: Oracle {
                blocks: 0,
                stack: vec![1, 1],
                iterated: BTreeMap::new(),
            },
        };
        World::new(Disk::new(vec![gate, looping], 2), env)
    }

    /// The gate belongs to one session.
    fn concerns(&self, hook: &Hook<Work>, input: &MachineInput) -> bool {
        hook.session == 0 || !matches!(input, MachineInput::Gate(_))
    }

    fn see(
        &self,
        world: &World<Env, Work>,
        hook: &Hook<Work>,
        input: &mut MachineInput,
    ) -> ToolUse {
        let spoken = world.env.spoken.get(&hook.number());
        let Some(spoken) = spoken.filter(|_| hook.session == 0) else {
            return ToolUse::NotSeen;
        };
        match input {
            MachineInput::Gate(input) if spoken.token => {
                input.facts.heard = SpokenSignal::Said(Token);
            }
            MachineInput::Loop(input) if spoken.signal => {
                input.facts.heard = SpokenSignal::Said(Ending::Complete);
            }
            _ => {}
        }
        if spoken.tools {
            ToolUse::Seen
        } else {
            ToolUse::NotSeen
        }
    }

    fn begin(&self, _: &Pending) -> Work {
        unreachable!("neither machine has an effect")
    }

    fn choices(&self, _: &World<Env, Work>, _: usize) -> u8 {
        0
    }

    fn work(&self, _: &mut World<Env, Work>, _: usize, _: u8) -> Option<Finished> {
        None
    }

    fn describe_work(&self, _: &World<Env, Work>, _: usize, _: u8) -> String {
        String::new()
    }

    fn acts(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        self.possible(world, acts);
    }

    fn act(&self, world: &mut World<Env, Work>, act: &Act) {
        self.happens(world, act);
    }

    fn describe_act(&self, _: &World<Env, Work>, act: &Act) -> String {
        act.describe()
    }

    fn committed(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, entry: &Entry) {
        let Entry::Turn { case, ruling } = entry else {
            return;
        };
        let Ruling::Settled(settlement) = &**ruling else {
            return;
        };
        let looped = settlement.transitions.iter().find_map(|moved| match moved {
            Transition::Loop(moved) => Some(moved),
            _ => None,
        });
        let Some(looped) = looped else { return };
        let held = settlement.outcome == Outcome::Held;
        if hook.session != 0 {
            return;
        }
        let rule = looped.rule.as_str();
        let sent_on = !looped.said.is_nothing();
        world.moment |= match (rule, settlement.outcome) {
            (_, Outcome::Capped) => CAPPED,
            ("max", Outcome::Passed) => MAXED,
            ("stale", _) => STALE,
            ("suspended", _) => SUSPENDED,
            ("signal" | "completing" | "max-inner", Outcome::Held) if sent_on => POPPED,
            ("signal" | "completing" | "max-inner", Outcome::Held) => KEPT,
            _ => 0,
        };
        let number = hook.number();
        let tools = case.tools == ToolUse::Seen;
        let oracle = &mut world.env().oracle;
        let afresh = match &case.event.kind {
            Kind::Stop { chain, .. } => *chain == Chain::First || tools,
            _ => true,
        };
        if afresh {
            oracle.blocks = 0;
        }
        oracle.blocks += u32::from(held);
        oracle.decided(rule, settlement.outcome, sent_on);
        let (blocks, should) = (oracle.blocks, oracle.stack.clone());
        let mut times = 0;
        if rule == "iterate" && held {
            let count = oracle.iterated.entry(number).or_default();
            *count += 1;
            times = *count;
        }
        if times > 1 {
            world.break_("I3: an event that is delivered twice counts once");
        } else if blocks > self.cap {
            world.break_("no stop is held beyond the host's cap");
        } else if settlement.ledger.blocks != blocks {
            world.break_("I5: the ledger counts every hold");
        } else if stack(&looped.state) != should {
            world.break_("I4: no iteration and no frame is lost or counted twice");
        }
    }

    fn answered(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, answer: &Answer) {
        let Decision::Stop { .. } = answer.decision else {
            return;
        };
        if hook.session != 0 {
            world.moment |= OTHERS;
            if world::holds(answer) {
                world.break_("another session's loop never holds a stop");
            }
        }
        if hook.is_copy() {
            world.moment |= REPEATED;
            return;
        }
        world.env().sessions[hook.session].chain = if world::holds(answer) {
            Chain::Continued
        } else {
            Chain::First
        };
    }

    fn crashed(&self, world: &mut World<Env, Work>, hook: &Hook<Work>) {
        if !hook.is_copy() {
            world.env().sessions[hook.session].chain = Chain::First;
        }
    }

    fn check(&self, _: &World<Env, Work>) -> Option<&'static str> {
        None
    }

    fn unfinished(&self, world: &World<Env, Work>) -> Option<&'static str> {
        let held = world.env.sessions[0].chain == Chain::Continued;
        (self.paced && held).then_some("the agent is held and nothing more can happen")
    }
}
