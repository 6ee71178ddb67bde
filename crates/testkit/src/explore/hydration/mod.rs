//! Hydration: skills lay out their task lists, while the client works in the same folder under
//! its own locks and high-water mark.
//!
//! A hook waits for the client's locks when it reads, as the shell does, and keeps them until it
//! releases the project's lock. A killed hook leaves them behind until they are stale; then the
//! next event, whatever it is about, finishes what the record changes.

mod client;
mod oracle;

use mainspring_kernel::Millis;
use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::decision::Answer;
use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::event::{Background, Chain, Kind};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::tasks::check::{Item, List};
use mainspring_kernel::machines::tasks::draft::Status;
use mainspring_kernel::machines::tasks::task_list::{Reset, TaskList};
use mainspring_kernel::machines::tasks::{Facts, Guard, Invoked, Offer, TaskTools};
use mainspring_kernel::machines::{Finished, InputOf, MachineInput, Pending, Transition};

use self::client::{Client, Deed};
use self::oracle::Oracle;
pub(super) use self::oracle::PROPERTIES;
use super::Size;
use super::disk::{Change, Disk, Placed};
use super::world::{self, Bounds, Hook, NAMES, OWN, Placing, Protocol, Racing, Without, World};

const SITUATIONS: &[&str] = &[
    "an invocation was delivered twice and laid out once",
    "a list was replaced",
    "two skills' lists lay side by side",
    "a reference to a task that went was dropped",
    "a layout waited for the client",
    "a layout kept the client waiting",
    "a layout was refused because of a dead hook's lock",
    "a dead hook's locks were taken over",
    "the client took a number after a kill, and kept it",
    "the client's change of a task that was to go won",
    "a list was finished by an event about something else",
];
const REPEATED: u64 = OWN;
const REPLACED: u64 = OWN << 1;
const BESIDE: u64 = OWN << 2;
const DROPPED: u64 = OWN << 3;
const WAITED: u64 = OWN << 4;
const CLIENT_WAITED: u64 = OWN << 5;
const REFUSED: u64 = OWN << 6;
const STALE: u64 = OWN << 7;
const TAKEN: u64 = OWN << 8;
const CHANGE_WON: u64 = OWN << 9;
const FINISHED: u64 = OWN << 10;

#[derive(Debug)]
pub(super) struct Hydration {
    without: Without,
    bounds: Bounds,
    /// How often each session invokes its skill.
    invocations: [u8; 2],
    /// How often an event happens that concerns no skill.
    stops: u8,
    /// What the client does.
    deeds: u8,
    /// Does the second session's skill keep the first one's tasks?
    beside: bool,
}

#[derive(Debug, Clone, Hash)]
pub(super) struct Env {
    sessions: [Session; 2],
    /// Events that concern no skill.
    stops: u8,
    client: Client,
    /// The client's locks that hooks hold, or that dead hooks left behind.
    held: Vec<Held>,
    oracle: Oracle,
}

#[derive(Debug, Clone, Hash)]
struct Session {
    left: u8,
    events: u8,
    /// The last invocation, which may be delivered again as long as no time has passed.
    again: Option<(Kind, Millis)>,
}

/// The list's lock, and those of the tasks that a layout touches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Held {
    pid: u32,
    tasks: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Invoke(usize),
    Redeliver(usize),
    Stop,
    Client(Deed),
    Stale(u32),
}

/// There are no effects here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Work {}

impl Hydration {
    pub(super) fn racing(without: Without, size: Size) -> Racing<Self> {
        let (invocations, stops, deeds, crashes, beside) = match size {
            Size::Quick => ([1, 1], 0, 1, 1, false),
            Size::Wide => ([2, 1], 1, 2, 1, false),
            Size::Long => ([1, 1], 1, 2, 2, true),
        };
        Racing(Self {
            without,
            bounds: Bounds {
                crashes,
                ..Bounds::FAULTLESS
            },
            invocations,
            stops,
            deeds,
            beside,
        })
    }

    pub(super) fn faultless() -> Racing<Self> {
        Racing(Self {
            without: Without::Nothing,
            bounds: Bounds::FAULTLESS,
            invocations: [1, 1],
            stops: 0,
            deeds: 1,
            beside: true,
        })
    }

    fn kind(session: usize) -> Kind {
        match session {
            0 => Kind::AfterTool {
                tool: "Skill".into(),
                skill: Some(SKILLS[0].into()),
            },
            _ => Kind::Expansion {
                command: SKILLS[1].into(),
            },
        }
    }

    fn reset(&self, session: usize) -> Reset {
        if self.beside && session == 1 {
            Reset::Skill
        } else {
            Reset::All
        }
    }

    /// The tasks that a layout by this session would change or remove now.
    fn touched(&self, world: &World<Env, Work>, session: usize) -> Vec<u64> {
        let before = world.disk.list.task_list(self.without);
        let after = before.lay_out(&list(), SKILLS[session], self.reset(session));
        after.map_or_else(|_| Vec::new(), |after| before.touched(&after))
    }

    /// Did a hook die with the list's lock?
    fn left_locked(&self, world: &World<Env, Work>) -> bool {
        let gone = |held: &Held| !world.is_running(held.pid);
        self.without != Without::ClientLocks && world.env.held.iter().any(gone)
    }
}

const SKILLS: [&str; 2] = ["ship", "test"];

/// Two tasks, of which the second waits for the first.
fn list() -> List {
    let item = |local, blocked_by| Item {
        local,
        subject: "s".into(),
        status: Status::Pending,
        blocked_by,
        blocks: Vec::new(),
    };
    List {
        items: vec![item(1, vec![]), item(2, vec![1])],
    }
}

fn invokes(hook: &Hook<Work>) -> bool {
    matches!(
        hook.event.kind,
        Kind::AfterTool { .. } | Kind::Expansion { .. }
    )
}

impl Protocol for Hydration {
    type Env = Env;
    type Work = Work;
    type Act = Act;

    const COMMON: u64 = world::EFFECTLESS | world::EDITED;
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
        let input = MachineInput::Tasks(InputOf::new(TaskList::default(), Facts::Nothing));
        let mut disk = Disk::new(vec![input], 2);
        disk.list = client::first_list();
        let session = |left| Session {
            left,
            events: 0,
            again: None,
        };
        let env = Env {
            sessions: self.invocations.map(session),
            stops: self.stops,
            client: Client::new(self.deeds),
            held: Vec::new(),
            oracle: Oracle::new(&disk.list),
        };
        World::new(disk, env)
    }

    fn concerns(&self, hook: &Hook<Work>, _: &MachineInput) -> bool {
        invokes(hook)
    }

    fn see(
        &self,
        world: &World<Env, Work>,
        hook: &Hook<Work>,
        input: &mut MachineInput,
    ) -> ToolUse {
        let MachineInput::Tasks(input) = input else {
            return ToolUse::NotSeen;
        };
        let locked = self.left_locked(world);
        if !locked {
            input.state = world.disk.list.task_list(self.without);
        }
        input.facts = Facts::Invoked(Invoked {
            skill: SKILLS[hook.session].into(),
            offer: if locked {
                Offer::Unavailable("locked".into())
            } else {
                Offer::List(list())
            },
            reset: self.reset(hook.session),
            guard: Guard::Off,
            tools: TaskTools::Shown,
            strangers: Vec::new(),
        });
        ToolUse::NotSeen
    }

    fn may_roll(&self, world: &World<Env, Work>) -> bool {
        world.env.client.is_idle() || self.without == Without::IdleClient
    }

    fn may_load(&self, world: &World<Env, Work>, hook: &Hook<Work>) -> bool {
        if self.without == Without::ClientLocks || !invokes(hook) {
            return true;
        }
        let touched = self.touched(world, hook.session);
        !world.env.client.holds(&touched)
    }

    fn loaded(&self, world: &mut World<Env, Work>, hook: &Hook<Work>) {
        if !invokes(hook) || self.without == Without::ClientLocks {
            return;
        }
        if self.left_locked(world) {
            world.moment |= REFUSED;
            return;
        }
        let held = Held {
            pid: hook.pid(),
            tasks: self.touched(world, hook.session),
        };
        world.env().held.push(held);
    }

    fn placed(&self, world: &mut World<Env, Work>, change: &Change, placed: Placed, how: Placing) {
        oracle::placed(world, change, placed, how);
    }

    fn unlocking(&self, world: &mut World<Env, Work>, hook: &Hook<Work>) {
        let env = world.env();
        let before = env.held.len();
        env.held.retain(|held| held.pid != hook.pid());
        if env.held.len() < before && env.client.is_eager() {
            world.moment |= CLIENT_WAITED;
        }
    }

    fn begin(&self, _: &Pending) -> Work {
        unreachable!("it has no effect")
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
        let env = &world.env;
        let room = world.hooks.len() < self.bounds.hooks;
        for (at, session) in env.sessions.iter().enumerate() {
            let busy = world.hooks.iter().any(|hook| hook.session == at);
            if room && session.left > 0 && !busy {
                acts.push(Act::Invoke(at));
            }
            let fresh = session.again.as_ref();
            if room && fresh.is_some_and(|(_, at)| *at == world.now) {
                acts.push(Act::Redeliver(at));
            }
        }
        if room && env.stops > 0 && world.hooks.is_empty() {
            acts.push(Act::Stop);
        }
        acts.extend(client::deeds(world).into_iter().map(Act::Client));
        let gone = env.held.iter().filter(|held| !world.is_running(held.pid));
        acts.extend(gone.map(|held| Act::Stale(held.pid)));
    }

    fn act(&self, world: &mut World<Env, Work>, act: &Act) {
        let now = world.now;
        match act {
            Act::Invoke(at) => {
                let session = &mut world.env().sessions[*at];
                session.left -= 1;
                session.events += 1;
                let number = u32::from(session.events);
                let kind = Self::kind(*at);
                session.again = (*at == 0).then(|| (kind.clone(), now));
                world.start(*at, kind, number, 0);
            }
            Act::Redeliver(at) => {
                let session = &mut world.env().sessions[*at];
                let number = u32::from(session.events);
                if let Some((kind, _)) = session.again.take() {
                    world.start(*at, kind, number, 1);
                }
            }
            Act::Stop => {
                let env = world.env();
                env.stops -= 1;
                env.sessions[1].events += 1;
                let number = u32::from(env.sessions[1].events);
                if !world.disk.unfinished.is_empty() {
                    world.moment |= FINISHED;
                }
                let kind = Kind::Stop {
                    chain: Chain::First,
                    background: Background::Quiet,
                };
                world.start(1, kind, number, 0);
            }
            Act::Client(deed) => client::act(world, *deed),
            Act::Stale(pid) => {
                world.moment |= STALE;
                world.env().held.retain(|held| held.pid != *pid);
            }
        }
    }

    fn describe_act(&self, _: &World<Env, Work>, act: &Act) -> String {
        match act {
            Act::Invoke(at) => format!("session {} invokes /{}", NAMES[*at], SKILLS[*at]),
            Act::Redeliver(at) => format!("the same invocation of session {} again", NAMES[*at]),
            Act::Stop => format!("session {} stops", NAMES[1]),
            Act::Client(deed) => deed.words(),
            Act::Stale(_) => "the dead hook's locks are stale".into(),
        }
    }

    fn committed(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, entry: &Entry) {
        let Entry::Turn { case, ruling } = entry else {
            return;
        };
        let (Some(MachineInput::Tasks(input)), Ruling::Settled(settlement)) =
            (case.inputs.first(), &**ruling)
        else {
            return;
        };
        let Some(Transition::Tasks(moved)) = settlement.transitions.first() else {
            return;
        };
        match moved.rule.as_str() {
            "reset" => world.moment |= REPLACED,
            "lay-out" => {}
            _ => return,
        }
        let delivery = (hook.session, hook.number());
        if let Some(found) = hook.found() {
            oracle::laid_out(world, delivery, &found.list, &input.state, &moved.state);
        }
    }

    fn answered(&self, world: &mut World<Env, Work>, hook: &Hook<Work>, _: &Answer) {
        if hook.is_copy() {
            world.moment |= REPEATED;
        }
    }

    fn crashed(&self, _: &mut World<Env, Work>, _: &Hook<Work>) {}

    fn check(&self, world: &World<Env, Work>) -> Option<&'static str> {
        oracle::check(world)
    }

    fn unfinished(&self, world: &World<Env, Work>) -> Option<&'static str> {
        if !world.env.client.is_idle() {
            return Some("the client waits for ever");
        }
        // Without a fault, every list that was asked for is there.
        let laid_out = world.env.oracle.layouts();
        let asked = usize::from(self.invocations[0] + self.invocations[1]);
        (self.bounds.crashes == 0 && laid_out != asked).then_some("an invocation was lost")
    }
}
