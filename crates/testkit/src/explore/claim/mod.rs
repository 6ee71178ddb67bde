//! From a claimed issue to a merged and closed one: two sessions stop, a server gets requests that
//! may be late, replies may be lost, a person merges, edits and suspends.

mod acts;
mod work;

use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::decision::{Answer, Decision};
use mainspring_kernel::event::{Chain, Kind};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::claim::claim_file::{ClaimFile, status};
use mainspring_kernel::machines::claim::memory::{ClaimMemory, Consent};
use mainspring_kernel::machines::claim::phase::Phase;
use mainspring_kernel::machines::claim::pull::PullState;
use mainspring_kernel::machines::claim::work::Effect;
use mainspring_kernel::machines::claim::{Facts, State};
use mainspring_kernel::machines::{Finished, InputOf, MachineInput, Pending};

use work::Work;

use super::Size;
use super::disk::Disk;
use super::world::{self, Bounds, Hook, OWN, Protocol, Racing, Without, World, session};

const SITUATIONS: &[&str] = &[
    "a request of a dead process arrived",
    "a reply was lost after its request was done",
    "the server refused a second pull request",
    "a pull request was found and not created",
    "the issue was closed",
    "a person suspended everything",
];
const LATE_REQUEST: u64 = OWN;
const REPLY_LOST: u64 = OWN << 1;
const REFUSED: u64 = OWN << 2;
const FOUND: u64 = OWN << 3;
const CLOSED: u64 = OWN << 4;
const SUSPENDED: u64 = OWN << 5;

#[derive(Debug)]
pub(super) struct Claim {
    pub(super) without: Without,
    pub(super) bounds: Bounds,
    pub(super) stops: Stops,
}

/// When the sessions stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// At any time, so often.
    AtMost([u8; 2]),
    /// Once at first, again when they were held, and whenever something is due that nobody works
    /// on.
    AsNeeded,
}

#[derive(Debug, Clone, Hash)]
pub(super) struct Env {
    server: Server,
    /// Requests on their way.
    flight: Vec<Request>,
    /// Replies on their way, by process.
    replies: Vec<(u32, Status)>,
    /// Who may change something on the server now.
    alone: Option<u32>,
    sessions: [Session; 2],
    /// How many requests were sent.
    creates: u8,
    closes: u8,
    suspended: bool,
}

#[derive(Debug, Clone, Default, Hash)]
struct Server {
    pulls: Vec<PullState>,
    comments: u8,
    /// How often the issue went from open to closed.
    closed: u8,
}

#[derive(Debug, Clone, Hash)]
struct Session {
    stops: u8,
    /// The number of events so far; it numbers processes and deliveries.
    events: u8,
    chain: Chain,
    polls: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Request {
    from: u32,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Create,
    Close { comment: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Status {
    Created(u64),
    Exists,
    Closed,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Stop(usize),
    Idle(usize),
    /// The watcher of this session looks.
    Watch(usize),
    /// The server receives the request at this position.
    Arrive(usize),
    Merge,
    /// The person says that the issue may be closed.
    Consent,
    /// The person sets the phase back, and hands over again.
    Rework,
    Suspend,
    Release,
}

impl Claim {
    pub(super) fn racing(without: Without, size: Size) -> Racing<Self> {
        let (stops, crashes, losses, edits) = match size {
            Size::Quick => ([2, 1], 1, 0, 0),
            Size::Wide => ([2, 1], 1, 1, 1),
            Size::Long => ([3, 1], 2, 0, 0),
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
            stops: Stops::AtMost(stops),
        })
    }

    pub(super) fn faultless() -> Racing<Self> {
        Racing(Self {
            without: Without::Nothing,
            bounds: Bounds::FAULTLESS,
            stops: Stops::AsNeeded,
        })
    }
}

fn claim(disk: &Disk) -> Option<&ClaimFile> {
    match &disk.inputs[0] {
        MachineInput::Claim(InputOf {
            state: State::Claimed { claim, .. },
            ..
        }) => Some(claim),
        _ => None,
    }
}

fn edit(disk: &mut Disk, phase: Phase) {
    if let MachineInput::Claim(InputOf {
        state: State::Claimed { claim, .. },
        ..
    }) = &mut disk.inputs[0]
    {
        claim.phase = phase;
    }
}

/// The person says yes in a terminal.
fn consent(disk: &mut Disk) {
    if let MachineInput::Claim(InputOf {
        state: State::Claimed { memory, .. },
        ..
    }) = &mut disk.inputs[0]
    {
        memory.consent = Consent::Given;
    }
}

/// An event at which the pull request is read.
fn look(world: &mut World<Env, Work>, at: usize, kind: Kind) {
    let session = &mut world.env().sessions[at];
    session.polls -= 1;
    session.events += 1;
    let number = u32::from(session.events);
    world.start(at, kind, number, 0);
}

impl Server {
    fn open_pull(&self) -> Option<u64> {
        let at = self
            .pulls
            .iter()
            .position(|pull| *pull == PullState::Open)?;
        Some(at as u64 + 1)
    }

    /// The pull request of this work: an open one, or one with this commit.
    fn adoptable(&self) -> Option<u64> {
        let any = || (!self.pulls.is_empty()).then_some(1);
        self.open_pull().or_else(any)
    }

    fn take(&mut self, what: What, without: Without) -> Status {
        match what {
            What::Create if self.open_pull().is_some() && without != Without::ServerKey => {
                Status::Exists
            }
            What::Create => {
                self.pulls.push(PullState::Open);
                Status::Created(self.pulls.len() as u64)
            }
            What::Close { comment } => {
                if comment {
                    self.comments += 1;
                }
                // Closing a closed issue changes nothing.
                self.closed = self.closed.max(1);
                Status::Closed
            }
        }
    }
}

impl Protocol for Claim {
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
        let mut claim = ClaimFile::claimed(7, "fix-7".into(), "a".into(), String::new());
        claim.phase = Phase::ReadyForPr;
        claim.summary = "Fix it".into();
        claim.last_synced_status = Some(status::IN_PROGRESS.into());
        let memory = ClaimMemory {
            issue: Some(7),
            owner: Some(session(0)),
            ..ClaimMemory::default()
        };
        let state = State::Claimed { claim, memory };
        let facts = Facts::plain();
        let session = |stops| Session {
            stops,
            events: 0,
            chain: Chain::First,
            polls: 1,
        };
        let stops = match self.stops {
            Stops::AtMost(stops) => stops,
            Stops::AsNeeded => [0; 2],
        };
        let env = Env {
            server: Server::default(),
            flight: Vec::new(),
            replies: Vec::new(),
            alone: None,
            sessions: stops.map(session),
            creates: 0,
            closes: 0,
            suspended: false,
        };
        World::new(
            Disk::new(vec![MachineInput::Claim(InputOf::new(state, facts))], 2),
            env,
        )
    }

    fn see(&self, _: &World<Env, Work>, _: &Hook<Work>, _: &mut MachineInput) -> ToolUse {
        ToolUse::NotSeen
    }

    fn begin(&self, pending: &Pending) -> Work {
        match pending {
            Pending::Claim(intent)
                if matches!(
                    intent.effect,
                    Effect::Poll { .. } | Effect::CheckMerge { .. }
                ) =>
            {
                Work::Poll
            }
            _ => Work::Queue,
        }
    }

    fn choices(&self, world: &World<Env, Work>, at: usize) -> u8 {
        work::choices(self, world, at)
    }

    fn work(&self, world: &mut World<Env, Work>, at: usize, choice: u8) -> Option<Finished> {
        work::go_on(self, world, at, choice)
    }

    fn describe_work(&self, world: &World<Env, Work>, at: usize, choice: u8) -> String {
        work::words(world, at, choice)
    }

    fn acts(&self, world: &World<Env, Work>, acts: &mut Vec<Act>) {
        self.possible(world, acts);
    }

    fn act(&self, world: &mut World<Env, Work>, act: &Act) {
        self.happens(world, act);
    }

    fn describe_act(&self, world: &World<Env, Work>, act: &Act) -> String {
        act.describe(world)
    }

    fn committed(&self, _: &mut World<Env, Work>, _: &Hook<Work>, _: &Entry) {}

    fn answered(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, answer: &Answer) {
        if let Kind::Stop { .. } = hook.event.kind {
            let session = &mut world.env().sessions[hook.session];
            session.chain = if world::holds(answer) {
                Chain::Continued
            } else {
                Chain::First
            };
        }
        // An agent that was woken stops again, and is watched again.
        if let Decision::Watch { wake } = &answer.decision
            && !wake.is_empty()
        {
            world.env().sessions[hook.session].polls += 1;
        }
    }

    fn crashed(&self, world: &mut World<Env, Work>, hook: &Hook<Work>) {
        let pid = hook.pid();
        let env = world.env();
        env.sessions[hook.session].chain = Chain::First;
        env.replies.retain(|(to, _)| *to != pid);
        // The worst case: its `gh` died with it, and the request is still on its way.
        if env.alone == Some(pid) {
            env.alone = None;
        }
    }

    fn check(&self, world: &World<Env, Work>) -> Option<&'static str> {
        let env = &world.env;
        let open = env.server.pulls.iter();
        let open = open.filter(|pull| **pull == PullState::Open).count();
        let allowed = 1 + world.spent.faults() + world.spent.edits;
        if open > 1 {
            return Some("I9: at most one open pull request per claim");
        }
        if env.server.pulls.len() > 1 {
            return Some("I9: one pull request per claim, merged ones counted");
        }
        if env.creates > allowed || env.closes > allowed {
            return Some("I8: nothing is asked twice of the server without a fault between");
        }
        let faultless = world.spent.faults() == 0;
        if faultless && env.server.comments > 1 {
            return Some("I11: without a fault there is one comment");
        }
        None
    }

    fn unfinished(&self, world: &World<Env, Work>) -> Option<&'static str> {
        match claim(&world.disk) {
            None if world.env.server.closed == 1 => None,
            None => Some("the claim is over and the issue is open"),
            // With more stops it would have continued.
            Some(_) if self.stops != Stops::AsNeeded => None,
            Some(_) => Some("the claim does not come to its end"),
        }
    }
}
