//! Hooks that race, as a transition system around the kernel's own turn.
//!
//! A hook is a process that does what [`Turn`] asks for, one thing per step: it takes the lock,
//! rolls an unfinished record forward, loads, commits, replaces each file, releases the lock, works
//! on its effect, prints. Between any two steps it may die, another hook may act, a person may
//! edit, time may pass. A [`Protocol`] adds what is around: the server, the reviewer, the client,
//! the person, and the properties.

mod racing;

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::decision::Answer;
use mainspring_kernel::effect::{EffectOwner, Life};
use mainspring_kernel::event::{Event, Kind, Speaker};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::{Finished, MachineInput, Pending};
use mainspring_kernel::{Ask, Digest, Millis, SessionId, Turn, Uptime};

use super::disk::{Change, Disk, Placed};
pub(super) use racing::{Racing, holds};

/// What is removed, to see that it was needed. It is always something that the shell or the world
/// does: the kernel is the same in every variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Without {
    Nothing,
    /// Two processes may be between load and commit.
    Lock,
    /// An effect is not recorded before it starts, and its result is always taken in.
    Intent,
    /// A result is taken in although another event has taken over the work.
    Fence,
    /// The answer is printed before its record is durable.
    CommitFirst,
    /// The last answer is not remembered.
    Redelivery,
    /// The blocks are not counted.
    Ledger,
    /// The server is not examined before it is asked for something.
    Probe,
    /// The server accepts a second pull request for the same branch.
    ServerKey,
    /// What a dead process left behind is not examined.
    Adoption,
    /// What a dead process had begun is forgotten by any event that its machine hears of.
    KeptIntent,
    /// A hook that was paused does not check whether its work was taken over.
    Recheck,
    /// A layout takes none of the client's locks.
    ClientLocks,
    /// Numbers that the client has used and deleted are not known.
    HighWater,
    /// Files are replaced before their record is durable.
    RecordFirst,
    /// Files are replaced whatever they contain.
    Ownership,
    /// New tasks appear with the lowest number first.
    HighestFirst,
    /// A record is rolled forward while the client is in the middle of something.
    IdleClient,
}

impl Without {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Lock => "the lock",
            Self::Intent => "a recorded intent",
            Self::Fence => "the fence",
            Self::CommitFirst => "commit before print",
            Self::Redelivery => "the memory of the last delivery",
            Self::Ledger => "the ledger's count",
            Self::Probe => "a look before the request",
            Self::ServerKey => "the server's key",
            Self::Adoption => "a look at what a dead process left",
            Self::KeptIntent => "the memory of what a dead process had begun",
            Self::Recheck => "the look at its intent before it acts",
            Self::ClientLocks => "the client's locks",
            Self::HighWater => "the client's high-water mark",
            Self::RecordFirst => "a record before the files",
            Self::Ownership => "the look whether a file is what was found",
            Self::HighestFirst => "the highest number first",
            Self::IdleClient => "a client that is idle while a record is rolled forward",
        }
    }
}

/// How much may fail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Hooks that run at once.
    pub(super) hooks: usize,
    pub(super) crashes: u8,
    pub(super) jumps: u8,
    /// Replies that are lost.
    pub(super) losses: u8,
    /// Edits and orders of a person beyond the usual course.
    pub(super) edits: u8,
}

impl Bounds {
    pub(super) const FAULTLESS: Self = Self {
        hooks: 2,
        crashes: 0,
        jumps: 0,
        losses: 0,
        edits: 0,
    };
}

/// How much of it has failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Spent {
    pub(super) crashes: u8,
    pub(super) jumps: u8,
    pub(super) losses: u8,
    pub(super) edits: u8,
}

impl Spent {
    pub(super) fn faults(self) -> u8 {
        self.crashes + self.jumps + self.losses
    }
}

#[derive(Debug, Clone)]
pub(super) struct World<E, W> {
    pub(super) now: Millis,
    pub(super) disk: Arc<Disk>,
    /// In the order of their sessions.
    pub(super) hooks: Vec<Arc<Hook<W>>>,
    pub(super) env: Arc<E>,
    pub(super) spent: Spent,
    /// The property that the last step broke.
    pub(super) broken: Option<&'static str>,
    /// What occurred in the last step, as bits; not part of the state.
    pub(super) moment: u64,
}

impl<E: Hash, W: Hash> Hash for World<E, W> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.now.hash(state);
        self.disk.hash(state);
        self.hooks.hash(state);
        self.env.hash(state);
        self.spent.hash(state);
        self.broken.hash(state);
    }
}

/// One process.
#[derive(Debug, Clone, Hash)]
pub(super) struct Hook<W> {
    pub(super) session: usize,
    pub(super) event: Event,
    delivery: Digest,
    me: EffectOwner,
    /// A process reads the clock when it starts, and again after an effect.
    now: Millis,
    turn: Turn,
    pub(super) ask: Ask,
    /// What the case was made from.
    found: Option<Arc<Disk>>,
    /// The record of the current ask is durable, and its files are being replaced.
    placing: bool,
    printed: bool,
    /// The effect that was run, and how far it is.
    ran: Option<Pending>,
    pub(super) work: Option<W>,
}

impl<W> Hook<W> {
    pub(super) fn pid(&self) -> u32 {
        self.me.pid
    }

    /// The state that it decided from.
    pub(super) fn found(&self) -> Option<&Disk> {
        self.found.as_deref()
    }

    /// The number of its event in its session.
    pub(super) fn number(&self) -> u8 {
        u8::try_from(self.pid() % 1_000 / 10).unwrap_or(u8::MAX)
    }

    /// The same event, delivered once more.
    pub(super) fn is_copy(&self) -> bool {
        !self.pid().is_multiple_of(10)
    }
}

pub(super) trait Protocol: Sync + Sized {
    type Env: Clone + Debug + Hash + Send + Sync;
    type Work: Clone + Debug + Hash + Send + Sync;
    type Act: Clone + Send;

    /// Which of the common situations can occur here, as bits.
    const COMMON: u64;
    /// Its own situations, from the bit [`OWN`] on.
    const SITUATIONS: &'static [&'static str];

    fn without(&self) -> Without;
    fn bounds(&self) -> Bounds;
    fn cap(&self) -> Cap;
    fn initial(&self) -> World<Self::Env, Self::Work>;

    /// Does this hook load this machine?
    fn concerns(&self, _: &Hook<Self::Work>, _: &MachineInput) -> bool {
        true
    }
    /// What this hook observes besides the machine's state.
    fn see(
        &self,
        world: &World<Self::Env, Self::Work>,
        hook: &Hook<Self::Work>,
        input: &mut MachineInput,
    ) -> ToolUse;

    /// Can this hook roll forward a dead hook's record now?
    fn may_roll(&self, _: &World<Self::Env, Self::Work>) -> bool {
        true
    }
    /// Can this hook load now? A machine may wait for other programs' locks.
    fn may_load(&self, _: &World<Self::Env, Self::Work>, _: &Hook<Self::Work>) -> bool {
        true
    }
    /// The hook has loaded.
    fn loaded(&self, _: &mut World<Self::Env, Self::Work>, _: &Hook<Self::Work>) {}
    /// A file of the last record was replaced or skipped.
    fn placed(&self, _: &mut World<Self::Env, Self::Work>, _: &Change, _: Placed, _: Placing) {}
    /// The hook is about to release the lock, and with it other programs' locks.
    fn unlocking(&self, _: &mut World<Self::Env, Self::Work>, _: &Hook<Self::Work>) {}

    fn begin(&self, pending: &Pending) -> Self::Work;
    /// In how many ways this hook's effect can continue now.
    fn choices(&self, world: &World<Self::Env, Self::Work>, at: usize) -> u8;
    /// Continues it; returns the result when it has ended.
    fn work(
        &self,
        world: &mut World<Self::Env, Self::Work>,
        at: usize,
        choice: u8,
    ) -> Option<Finished>;
    fn describe_work(&self, world: &World<Self::Env, Self::Work>, at: usize, choice: u8) -> String;

    /// What else may happen: events, the server, people.
    fn acts(&self, world: &World<Self::Env, Self::Work>, acts: &mut Vec<Self::Act>);
    fn act(&self, world: &mut World<Self::Env, Self::Work>, act: &Self::Act);
    fn describe_act(&self, world: &World<Self::Env, Self::Work>, act: &Self::Act) -> String;

    /// A record is durable.
    fn committed(
        &self,
        world: &mut World<Self::Env, Self::Work>,
        hook: &Hook<Self::Work>,
        entry: &Entry,
    );
    fn answered(
        &self,
        world: &mut World<Self::Env, Self::Work>,
        hook: &Hook<Self::Work>,
        answer: &Answer,
    );
    fn crashed(&self, world: &mut World<Self::Env, Self::Work>, hook: &Hook<Self::Work>);

    fn check(&self, world: &World<Self::Env, Self::Work>) -> Option<&'static str>;
    fn unfinished(&self, world: &World<Self::Env, Self::Work>) -> Option<&'static str>;
}

/// Whose record it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placing {
    Own,
    /// A dead hook's.
    Rolling,
}

/// Situations of every protocol; its own come after them.
const COMMON: [&str; 8] = [
    "died between commit and files",
    "died between commit and effect",
    "died during an effect",
    "rolled forward",
    "two hooks at once",
    "a result was fenced off",
    "an abandoned intent was taken over",
    "somebody's edit won",
];
/// All of them.
pub(super) const ALL: u64 = OWN - 1;
/// Those that occur without an effect.
pub(super) const EFFECTLESS: u64 = DIED_BEFORE_FILES | ROLLED | RACING;
/// The one that needs another program that writes.
pub(super) const EDITED: u64 = EDIT_WON;
const DIED_BEFORE_FILES: u64 = 1;
const DIED_BEFORE_EFFECT: u64 = 1 << 1;
const DIED_IN_EFFECT: u64 = 1 << 2;
const ROLLED: u64 = 1 << 3;
const RACING: u64 = 1 << 4;
const FENCED: u64 = 1 << 5;
const TAKEN_OVER: u64 = 1 << 6;
const EDIT_WON: u64 = 1 << 7;
/// The bit of a protocol's first own situation.
pub(super) const OWN: u64 = 1 << COMMON.len();

/// Longer than every deadline, back-off and memory of a delivery.
const JUMP: Millis = Millis::seconds(601);

#[derive(Debug, Clone)]
pub(super) enum Action<A> {
    /// This hook does what its turn asks for.
    Step(usize),
    /// It continues its effect, in one of several ways.
    Work(usize, u8),
    Crash(usize),
    /// Time passes.
    Jump,
    Around(A),
}

pub(super) const NAMES: [&str; 3] = ["A", "B", "C"];

pub(super) fn session(at: usize) -> SessionId {
    SessionId::parse(NAMES[at]).expect("a name")
}

impl<E: Clone, W: Clone> World<E, W> {
    pub(super) fn new(disk: Disk, env: E) -> Self {
        Self {
            // Not at time zero, so that no age is cut off.
            now: Millis::seconds(1_000_000),
            disk: Arc::new(disk),
            hooks: Vec::new(),
            env: Arc::new(env),
            spent: Spent::default(),
            broken: None,
            moment: 0,
        }
    }

    pub(super) fn disk(&mut self) -> &mut Disk {
        Arc::make_mut(&mut self.disk)
    }

    pub(super) fn env(&mut self) -> &mut E {
        Arc::make_mut(&mut self.env)
    }

    pub(super) fn hook(&mut self, at: usize) -> &mut Hook<W> {
        Arc::make_mut(&mut self.hooks[at])
    }

    pub(super) fn break_(&mut self, property: &'static str) {
        self.broken = self.broken.or(Some(property));
    }

    /// The host starts a process for an event. The number identifies deliveries and processes; the
    /// same number again is the same delivery.
    pub(super) fn start(&mut self, session_at: usize, kind: Kind, number: u32, copy: u32) {
        let (turn, ask) = Turn::begin(kind.clone());
        let hook = Hook {
            session: session_at,
            event: Event {
                session: Some(session(session_at)),
                speaker: Speaker::Main,
                kind,
            },
            delivery: Digest(format!("{}{number}", NAMES[session_at])),
            me: EffectOwner {
                pid: u32::try_from(session_at).unwrap_or(0) * 1_000 + number * 10 + copy,
                started: 0,
                boot: String::new(),
            },
            now: self.now,
            turn,
            ask,
            found: None,
            placing: false,
            printed: false,
            ran: None,
            work: None,
        };
        let at = self.hooks.partition_point(|other| other.pid() < hook.pid());
        self.hooks.insert(at, Arc::new(hook));
        if self.hooks.len() > 1 {
            self.moment |= RACING;
        }
    }

    pub(super) fn is_running(&self, pid: u32) -> bool {
        self.hooks.iter().any(|hook| hook.pid() == pid)
    }

    fn life(&self, pending: &Pending) -> Life {
        if pending.is_in_time(Uptime(self.now.0)) && self.is_running(pending.owner().pid) {
            Life::Alive
        } else {
            Life::Gone
        }
    }
}
