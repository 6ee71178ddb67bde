//! A protocol's hooks as a model: which steps there are, what each does, and its description.

use std::sync::Arc;

use mainspring_kernel::block_ledger::ToolUse;
use mainspring_kernel::decision::Answer;
use mainspring_kernel::deliberate::{Ruling, Trust};
use mainspring_kernel::effect::{Fence, Life};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::{Ask, Case, Decision, Reply, Uptime};

use super::super::checker::Model;
use super::super::disk::{Disk, Placed, is_suspended};
use super::{
    Action, COMMON, DIED_BEFORE_EFFECT, DIED_BEFORE_FILES, DIED_IN_EFFECT, EDIT_WON, FENCED, Hook,
    JUMP, NAMES, OWN, Placing, Protocol, ROLLED, TAKEN_OVER, Without, World,
};

/// A protocol as a model.
#[derive(Debug)]
pub(in super::super) struct Racing<P>(pub(in super::super) P);

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
        let (inputs, tools) = self.inputs(world, &hook);
        let mut ledger = disk.ledgers[hook.session].clone();
        match self.0.without() {
            Without::Ledger => ledger.blocks = 0,
            Without::Redelivery => ledger.last = None,
            _ => {}
        }
        let case = Case {
            left: None,
            event: hook.event.clone(),
            now: hook.now,
            uptime: Uptime(world.now.0),
            delivery: hook.delivery.clone(),
            inputs,
            broken: Vec::new(),
            overtaken: Vec::new(),
            by_command: false,
            registration: None,
            said: None,
            ledger,
            cap: self.0.cap(),
            tools,
            transcript: None,
            trust: Trust::Trusted,
            orders: disk.orders.clone(),
            typed_here: mainspring_kernel::orders::TypedHere::AtOnce,
            fence: Fence(disk.seq),
            me: hook.me.clone(),
        };
        let suspended = is_suspended(&case);
        world.hook(at).found = Some(disk);
        world.hook(at).ran = None;
        reply(world, at, Reply::Loaded(Box::new(case)));
        self.0.loaded(world, &hook);
        let now = Arc::clone(&world.hooks[at]);
        if let Ask::Commit(entry) = &now.ask
            && let Entry::Turn { case, ruling } = &**entry
        {
            if !case.overtaken.is_empty() {
                world.moment |= FENCED;
            }
            if takes_over(case, ruling) {
                world.moment |= TAKEN_OVER;
            }
            if suspended && asks_for_something(ruling) {
                world.break_("a suspended machine asks for nothing");
            }
        }
    }

    /// What the machines get, and whether one of them saw the agent use a tool.
    fn inputs(
        &self,
        world: &World<P::Env, P::Work>,
        hook: &Hook<P::Work>,
    ) -> (Vec<MachineInput>, ToolUse) {
        let mut tools = ToolUse::NotSeen;
        let mut inputs = Vec::new();
        let stored = world.disk.inputs.iter().zip(&world.disk.intents);
        for (input, intent) in stored.filter(|(input, _)| self.0.concerns(hook, input)) {
            let mut input = input.clone();
            if self.0.see(world, hook, &mut input) == ToolUse::Seen {
                tools = ToolUse::Seen;
            }
            if let Some(pending) = intent {
                input.set_intent((**pending).clone(), world.life(pending));
            }
            let blind = matches!(self.0.without(), Without::Intent | Without::Fence);
            if let Some(ran) = hook.ran.as_ref().filter(|_| blind) {
                input.set_intent(ran.clone(), Life::Alive);
            }
            inputs.push(input);
        }
        (inputs, tools)
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
            // Nobody knows of files without a record.
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

/// Does the ruling start the work of an intent that was found?
fn takes_over(case: &Case, ruling: &Ruling) -> bool {
    let Ruling::Intends(pending) = ruling else {
        return false;
    };
    let found = case.inputs.iter().find_map(MachineInput::recorded);
    found.is_some_and(|found| found.name() == pending.name())
}

fn asks_for_something(ruling: &Ruling) -> bool {
    match ruling {
        Ruling::Intends(_) => true,
        Ruling::Settled(settlement) => !settlement.answer.decision.is_nothing(),
        Ruling::Repeated(_) => false,
    }
}

fn intends(entry: &Entry) -> bool {
    matches!(entry, Entry::Turn { ruling, .. } if matches!(**ruling, Ruling::Intends(_)))
}

fn answer_of(entry: &Entry) -> Option<&Answer> {
    match entry {
        Entry::Turn { ruling, .. } => match &**ruling {
            Ruling::Settled(settlement) => Some(&settlement.answer),
            Ruling::Repeated(_) | Ruling::Intends(_) => None,
        },
        Entry::Verb { .. } => None,
    }
}

pub(in super::super) fn holds(answer: &Answer) -> bool {
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
                format!("{} {}", who(*at), self.0.describe_work(world, *at, *choice))
            }
            Action::Crash(at) => format!("{} is killed", who(*at)),
            Action::Jump => "ten minutes pass".into(),
            Action::Around(act) => self.0.describe_act(world, act),
        }
    }

    fn broken(&self, world: &Self::State) -> Option<&'static str> {
        world.broken
    }

    fn situations(&self) -> Vec<(u64, &'static str)> {
        let common = (0..).map(|at| 1_u64 << at).zip(COMMON);
        let own = (0..).map(|at| OWN << at).zip(P::SITUATIONS.iter().copied());
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

/// What a hook does next, as text.
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
                Ruling::Intends(pending) => {
                    format!("records its intent: {}", pending.name())
                }
                Ruling::Repeated(_) | Ruling::Settled(_) => "records it".into(),
            },
            (_, Some(answer)) if is_wordless(answer) => "records what it changes".into(),
            (_, Some(answer)) => format!("records: {}", said(answer)),
            (Entry::Verb { .. }, None) => "records it".into(),
        },
        Ask::Unlock => "releases the lock".into(),
        Ask::Run(_) => "begins its effect".into(),
        Ask::Answer(answer) if is_wordless(answer) => "ends without an answer".into(),
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
        | Decision::Watch { .. }
        | Decision::Silent => "its text".into(),
    }
}
