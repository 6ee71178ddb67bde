//! Hooks that race, as a transition system around the kernel's own turn.
//!
//! A hook is a process that does what [`Turn`] asks for, one thing per step: takes the
//! lock, rolls an unfinished record forward, loads, commits, puts each file in place, lets
//! go of the lock, works on its effect, prints. Between any two steps it may die, another
//! may go on, a person may edit, time may pass. A [`Protocol`] adds what is around: the
//! server, the reviewer, the client, the person, and what must hold.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mainspring_kernel::decision::Answer;
use mainspring_kernel::deliberate::{Deliberation, Trust};
use mainspring_kernel::effect::{Fence, Life, Owner};
use mainspring_kernel::event::{Event, Kind, Speaker};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::ledger::{Cap, ToolUse};
use mainspring_kernel::machines::{Finished, Part, Pending};
use mainspring_kernel::{Ask, Case, Decision, Digest, Millis, Reply, SessionId, Turn};

use super::checker::Model;
use super::disk::{Change, Disk, Placed, is_braked};

/// What is taken away, to see that it was needed. It is always something that the shell
/// or the world does: the kernel is the same in every variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Without {
    Nothing,
    /// Two processes may be between load and commit.
    Lock,
    /// An effect is not recorded before it starts, and its result is always taken in.
    Intent,
    /// A result is taken in although another event has taken the work over.
    Fence,
    /// The answer is printed before its record is durable.
    CommitFirst,
    /// The last answer is not remembered.
    Redelivery,
    /// The blocks are not counted.
    Ledger,
    /// The server is not looked at before it is asked for something.
    Probe,
    /// The server takes a second pull request for the same branch.
    ServerKey,
    /// What a dead process left behind is not looked at.
    Adoption,
    /// A hook that was suspended does not look whether its work was taken over.
    Recheck,
    /// A layout takes none of the client's locks.
    ClientLocks,
    /// Numbers that the client has used and deleted are not known.
    HighWater,
    /// Files are replaced before their record is durable.
    RecordFirst,
    /// Files are replaced whatever is there.
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

/// How much may go wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Hooks that run at once.
    pub(super) hooks: usize,
    pub(super) crashes: u8,
    pub(super) jumps: u8,
    /// Replies that are lost.
    pub(super) losses: u8,
    /// Edits and orders of a person that are not part of the usual way.
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

/// What of it has gone wrong.
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
    /// What was to be seen in the last step, as bits; no part of the state.
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
    me: Owner,
    /// A process reads the clock when it begins, and again after an effect.
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

    /// What it decided from.
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

    /// Which of the common sights there are here, as bits.
    const COMMON: u64;
    /// Its own sights, from the bit [`OWN`] on.
    const SIGHTS: &'static [&'static str];

    fn without(&self) -> Without;
    fn bounds(&self) -> Bounds;
    fn cap(&self) -> Cap;
    fn initial(&self) -> World<Self::Env, Self::Work>;

    /// Does this hook load this machine?
    fn concerns(&self, _: &Hook<Self::Work>, _: &Part) -> bool {
        true
    }
    /// What this hook sees beside the machine's state.
    fn see(
        &self,
        world: &World<Self::Env, Self::Work>,
        hook: &Hook<Self::Work>,
        part: &mut Part,
    ) -> ToolUse;

    /// Can this hook roll a dead one's record forward now?
    fn may_roll(&self, _: &World<Self::Env, Self::Work>) -> bool {
        true
    }
    /// Can this hook load now? A machine may wait for locks of others.
    fn may_load(&self, _: &World<Self::Env, Self::Work>, _: &Hook<Self::Work>) -> bool {
        true
    }
    /// It has.
    fn loaded(&self, _: &mut World<Self::Env, Self::Work>, _: &Hook<Self::Work>) {}
    /// A file of the last record had its turn.
    fn placed(&self, _: &mut World<Self::Env, Self::Work>, _: &Change, _: Placed, _: Placing) {}
    /// The lock is about to be let go, and with it what the hook held of others.
    fn unlocking(&self, _: &mut World<Self::Env, Self::Work>, _: &Hook<Self::Work>) {}

    fn begin(&self, pending: &Pending) -> Self::Work;
    /// In how many ways the effect of this hook can go on now.
    fn choices(&self, world: &World<Self::Env, Self::Work>, at: usize) -> u8;
    /// Goes on with it; the result where that was the end of it.
    fn work(
        &self,
        world: &mut World<Self::Env, Self::Work>,
        at: usize,
        choice: u8,
    ) -> Option<Finished>;
    fn words_of_work(&self, world: &World<Self::Env, Self::Work>, at: usize, choice: u8) -> String;

    /// What else may happen: events, the server, people.
    fn acts(&self, world: &World<Self::Env, Self::Work>, acts: &mut Vec<Self::Act>);
    fn act(&self, world: &mut World<Self::Env, Self::Work>, act: &Self::Act);
    fn words_of_act(&self, world: &World<Self::Env, Self::Work>, act: &Self::Act) -> String;

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

/// Sights that every protocol has; its own come after them.
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
/// Those that need no effect.
pub(super) const EFFECTLESS: u64 = DIED_BEFORE_FILES | ROLLED | RACING;
/// The one that needs somebody else who writes.
pub(super) const EDITED: u64 = EDIT_WON;
const DIED_BEFORE_FILES: u64 = 1;
const DIED_BEFORE_EFFECT: u64 = 1 << 1;
const DIED_IN_EFFECT: u64 = 1 << 2;
const ROLLED: u64 = 1 << 3;
const RACING: u64 = 1 << 4;
const FENCED: u64 = 1 << 5;
const TAKEN_OVER: u64 = 1 << 6;
const EDIT_WON: u64 = 1 << 7;
/// The bit of a protocol's own first sight.
pub(super) const OWN: u64 = 1 << COMMON.len();

/// Long enough for every deadline, back-off and memory of a delivery.
const JUMP: Millis = Millis::seconds(601);

#[derive(Debug, Clone)]
pub(super) enum Action<A> {
    /// The hook at this place does what its turn asks for.
    Step(usize),
    /// It goes on with its effect, in one of several ways.
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
            // Not at the beginning of time: an age must not be cut off there.
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

    /// The host starts a process for an event. The number tells deliveries and processes
    /// apart; the same number again is the same delivery.
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
            me: Owner {
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

    fn life(&self, pending: &Pending, now: Millis) -> Life {
        if pending.deadline() > now && self.is_running(pending.owner().pid) {
            Life::Alive
        } else {
            Life::Gone
        }
    }
}

/// A protocol as a model.
#[derive(Debug)]
pub(super) struct Racing<P>(pub(super) P);

impl<P: Protocol> Racing<P> {
    fn can_step(&self, world: &World<P::Env, P::Work>, at: usize) -> bool {
        let hook = &world.hooks[at];
        match &hook.ask {
            Ask::Lock => {
                let free = world.disk.lock.is_none_or(|pid| pid == hook.pid());
                let rolls = world.disk.unfinished.is_empty() || self.0.may_roll(world);
                (free || self.0.without() == Without::Lock) && rolls
            }
            Ask::Load => self.0.may_load(world, hook),
            Ask::Commit(_) | Ask::Unlock | Ask::Answer(_) => true,
            Ask::Run(_) => hook.work.is_none(),
        }
    }

    fn step(&self, world: &mut World<P::Env, P::Work>, at: usize) {
        let hook = Arc::clone(&world.hooks[at]);
        match &hook.ask {
            Ask::Lock => {
                world.disk().lock = Some(hook.pid());
                if world.disk.unfinished.is_empty() {
                    reply(world, at, Reply::Done);
                } else {
                    world.moment |= ROLLED;
                    self.place(world, Placing::Rolling);
                }
            }
            Ask::Load => self.load(world, at),
            Ask::Commit(entry) => self.commit(world, at, entry),
            Ask::Unlock => {
                self.0.unlocking(world, &hook);
                world.disk().lock = None;
                reply(world, at, Reply::Done);
            }
            Ask::Run(pending) => {
                let work = self.0.begin(pending);
                let hook = world.hook(at);
                hook.work = Some(work);
                hook.ran = Some((**pending).clone());
            }
            Ask::Answer(answer) => {
                if !hook.printed {
                    self.0.answered(world, &hook, answer);
                }
                world.hooks.remove(at);
            }
        }
    }

    fn place(&self, world: &mut World<P::Env, P::Work>, how: Placing) {
        let Some((change, placed)) = world.disk().place(self.0.without()) else {
            return;
        };
        if placed == Placed::Edited {
            world.moment |= EDIT_WON;
        }
        self.0.placed(world, &change, placed, how);
    }

    fn load(&self, world: &mut World<P::Env, P::Work>, at: usize) {
        let hook = Arc::clone(&world.hooks[at]);
        let disk = Arc::clone(&world.disk);
        let mut tools = ToolUse::NotSeen;
        let mut parts = Vec::new();
        let stored = disk.parts.iter().zip(&disk.intents);
        for (part, intent) in stored.filter(|(part, _)| self.0.concerns(&hook, part)) {
            let part = {
                parts.push(part.clone());
                parts.last_mut().expect("just pushed")
            };
            if self.0.see(world, &hook, part) == ToolUse::Seen {
                tools = ToolUse::Seen;
            }
            if let Some(pending) = intent {
                part.stand((**pending).clone(), world.life(pending, hook.now));
            }
            let blind = matches!(self.0.without(), Without::Intent | Without::Fence);
            if let Some(ran) = hook.ran.as_ref().filter(|_| blind) {
                part.stand(ran.clone(), Life::Alive);
            }
        }
        let mut ledger = disk.ledgers[hook.session].clone();
        match self.0.without() {
            Without::Ledger => ledger.blocks = 0,
            Without::Redelivery => ledger.last = None,
            _ => {}
        }
        let case = Case {
            event: hook.event.clone(),
            now: hook.now,
            delivery: hook.delivery.clone(),
            parts,
            broken: Vec::new(),
            overtaken: None,
            ledger,
            cap: self.0.cap(),
            tools,
            transcript: None,
            trust: Trust::Trusted,
            orders: disk.orders.clone(),
            fence: Fence(disk.seq),
            me: hook.me.clone(),
        };
        let braked = is_braked(&case);
        world.hook(at).found = Some(disk);
        world.hook(at).ran = None;
        reply(world, at, Reply::Loaded(Box::new(case)));
        self.0.loaded(world, &hook);
        let asks = match &world.hooks[at].ask {
            Ask::Commit(entry) => match &**entry {
                Entry::Turn { case, ruling } => {
                    if case.overtaken.is_some() {
                        world.moment |= FENCED;
                    }
                    match &**ruling {
                        Deliberation::Intends(pending) => {
                            let left = case.parts.iter().find_map(Part::recorded);
                            if left.is_some_and(|left| left.name() == pending.name()) {
                                world.moment |= TAKEN_OVER;
                            }
                            true
                        }
                        Deliberation::Settled(settlement) => holds(&settlement.answer),
                        Deliberation::Repeated(_) => false,
                    }
                }
                Entry::Verb { .. } => false,
            },
            Ask::Lock | Ask::Load | Ask::Unlock | Ask::Run(_) | Ask::Answer(_) => false,
        };
        if braked && asks {
            world.break_("a brake wins: a braked machine asks for nothing");
        }
    }

    fn commit(&self, world: &mut World<P::Env, P::Work>, at: usize, entry: &Entry) {
        let hook = Arc::clone(&world.hooks[at]);
        if hook.placing {
            self.place(world, Placing::Own);
        } else {
            if let (Without::CommitFirst, false, Some(answer)) =
                (self.0.without(), hook.printed, answer_of(entry))
            {
                self.0.answered(world, &hook, answer);
                world.hook(at).printed = true;
                return;
            }
            let found = hook.found.as_deref().expect("loaded before");
            let without = self.0.without();
            if !(intends(entry) && without == Without::Intent) {
                let changes = Disk::changes(found, hook.session, entry, without);
                world.disk().unfinished = changes;
            }
            if without == Without::RecordFirst {
                self.place(world, Placing::Own);
            } else {
                self.record(world, &hook, entry);
            }
            world.hook(at).placing = true;
        }
        if world.disk.unfinished.is_empty() {
            if self.0.without() == Without::RecordFirst {
                self.record(world, &hook, entry);
            }
            world.hook(at).placing = false;
            world.hook(at).found = None;
            reply(world, at, Reply::Done);
        }
    }

    fn record(&self, world: &mut World<P::Env, P::Work>, hook: &Hook<P::Work>, entry: &Entry) {
        if !(intends(entry) && self.0.without() == Without::Intent) {
            world.disk().seq += 1;
        }
        self.0.committed(world, hook, entry);
    }

    fn crash(&self, world: &mut World<P::Env, P::Work>, at: usize) {
        let hook = world.hooks.remove(at);
        world.spent.crashes += 1;
        if hook.printed && !hook.placing && matches!(hook.ask, Ask::Commit(_)) {
            world.break_("I2: an answer was printed and its record is nowhere");
        }
        world.moment |= match (&hook.ask, &hook.work) {
            (Ask::Commit(_), _) if hook.placing => DIED_BEFORE_FILES,
            (Ask::Run(_), None) => DIED_BEFORE_EFFECT,
            (Ask::Run(_), Some(_)) => DIED_IN_EFFECT,
            _ => 0,
        };
        if world.disk.lock == Some(hook.pid()) {
            let disk = world.disk();
            disk.lock = None;
            disk.abandon();
            // Of files without a record nobody knows.
            if self.0.without() == Without::RecordFirst {
                disk.unfinished.clear();
            }
        }
        self.0.crashed(world, &hook);
    }
}

fn reply<E: Clone, W: Clone>(world: &mut World<E, W>, at: usize, reply: Reply) {
    let hook = world.hook(at);
    hook.ask = hook.turn.next(reply);
}

fn intends(entry: &Entry) -> bool {
    matches!(entry, Entry::Turn { ruling, .. } if matches!(**ruling, Deliberation::Intends(_)))
}

fn answer_of(entry: &Entry) -> Option<&Answer> {
    match entry {
        Entry::Turn { ruling, .. } => match &**ruling {
            Deliberation::Settled(settlement) => Some(&settlement.answer),
            Deliberation::Repeated(_) | Deliberation::Intends(_) => None,
        },
        Entry::Verb { .. } => None,
    }
}

pub(super) fn holds(answer: &Answer) -> bool {
    matches!(&answer.decision, Decision::Stop { hold } if !hold.is_empty())
}

impl<P: Protocol> Model for Racing<P> {
    type State = World<P::Env, P::Work>;
    type Action = Action<P::Act>;

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn actions(&self, world: &Self::State, actions: &mut Vec<Self::Action>) {
        if world.broken.is_some() {
            return;
        }
        let bounds = self.0.bounds();
        for at in 0..world.hooks.len() {
            if self.can_step(world, at) {
                actions.push(Action::Step(at));
            } else if world.hooks[at].work.is_some() {
                let ways = self.0.choices(world, at);
                actions.extend((0..ways).map(|choice| Action::Work(at, choice)));
            }
            if world.spent.crashes < bounds.crashes {
                actions.push(Action::Crash(at));
            }
        }
        if world.spent.jumps < bounds.jumps && !world.hooks.is_empty() {
            actions.push(Action::Jump);
        }
        let mut acts = Vec::new();
        self.0.acts(world, &mut acts);
        actions.extend(acts.into_iter().map(Action::Around));
    }

    fn apply(&self, world: &Self::State, action: &Self::Action) -> Self::State {
        let mut next = world.clone();
        next.moment = 0;
        match action {
            Action::Step(at) => self.step(&mut next, *at),
            Action::Work(at, choice) => {
                if let Some(finished) = self.0.work(&mut next, *at, *choice) {
                    let now = next.now;
                    let hook = next.hook(*at);
                    (hook.work, hook.now) = (None, now);
                    reply(&mut next, *at, Reply::Ran(Box::new(finished)));
                }
            }
            Action::Crash(at) => self.crash(&mut next, *at),
            Action::Jump => {
                next.now = next.now.plus(JUMP);
                next.spent.jumps += 1;
            }
            Action::Around(act) => self.0.act(&mut next, act),
        }
        if let Some(property) = self.0.check(&next) {
            next.break_(property);
        }
        next
    }

    fn describe(&self, world: &Self::State, action: &Self::Action) -> String {
        let who = |at: usize| format!("hook {}", NAMES[world.hooks[at].session]);
        match action {
            Action::Step(at) => {
                format!("{} {}", who(*at), words(world, *at, self.0.without()))
            }
            Action::Work(at, choice) => {
                format!("{} {}", who(*at), self.0.words_of_work(world, *at, *choice))
            }
            Action::Crash(at) => format!("{} is killed", who(*at)),
            Action::Jump => "ten minutes pass".into(),
            Action::Around(act) => self.0.words_of_act(world, act),
        }
    }

    fn broken(&self, world: &Self::State) -> Option<&'static str> {
        world.broken
    }

    fn sights(&self) -> Vec<(u64, &'static str)> {
        let common = (0..).map(|at| 1_u64 << at).zip(COMMON);
        let own = (0..).map(|at| OWN << at).zip(P::SIGHTS.iter().copied());
        let common = common.filter(|(bit, _)| P::COMMON & bit != 0);
        common.chain(own).collect()
    }

    fn seen(&self, world: &Self::State) -> u64 {
        world.moment
    }

    fn unfinished(&self, world: &Self::State) -> Option<&'static str> {
        if world.broken.is_some() {
            return None;
        }
        if world.hooks.is_empty() {
            return self.0.unfinished(world);
        }
        Some("a hook waits for ever")
    }
}

/// What a hook does next, in words.
fn words<E, W>(world: &World<E, W>, at: usize, without: Without) -> String {
    let hook = &world.hooks[at];
    match &hook.ask {
        Ask::Lock if world.disk.unfinished.is_empty() => "takes the lock".into(),
        Ask::Lock => "takes the lock and rolls a file forward".into(),
        Ask::Load => "reads the state and decides".into(),
        Ask::Commit(_) if hook.placing || without == Without::RecordFirst => {
            "replaces a file".into()
        }
        Ask::Commit(entry) => match (&**entry, answer_of(entry)) {
            (Entry::Turn { ruling, .. }, None) => match &**ruling {
                Deliberation::Intends(pending) => {
                    format!("records its intent: {}", pending.name())
                }
                Deliberation::Repeated(_) | Deliberation::Settled(_) => "records it".into(),
            },
            (_, Some(answer)) if is_wordless(answer) => "records what it changes".into(),
            (_, Some(answer)) => format!("records: {}", said(answer)),
            (Entry::Verb { .. }, None) => "records it".into(),
        },
        Ask::Unlock => "lets go of the lock".into(),
        Ask::Run(_) => "begins its effect".into(),
        Ask::Answer(answer) if is_wordless(answer) => "ends without a word".into(),
        Ask::Answer(answer) => format!("prints: {}", said(answer)),
    }
}

fn is_wordless(answer: &Answer) -> bool {
    answer.is_nothing() && !matches!(answer.decision, Decision::Stop { .. })
}

fn said(answer: &Answer) -> String {
    match &answer.decision {
        Decision::Stop { hold } if hold.is_empty() => "the agent may stop".into(),
        Decision::Stop { hold } => {
            let names: Vec<&str> = hold.iter().map(|reason| reason.by.as_str()).collect();
            format!("the agent goes on ({})", names.join(", "))
        }
        Decision::Context { .. }
        | Decision::AfterTool { .. }
        | Decision::BeforeTool { .. }
        | Decision::Idle { .. }
        | Decision::Silent => "its word".into(),
    }
}
