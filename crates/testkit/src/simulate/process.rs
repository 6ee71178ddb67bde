//! One hook process: it does what its turn asks for, through the real store, until it is done or
//! dies. A process that dies does nothing more: its lock is released, its files stay as they are.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::rc::Rc;

use mainspring_kernel::block_ledger::{Cap, ToolUse};
use mainspring_kernel::deliberate::{Ruling, Trust};
use mainspring_kernel::effect::{EffectOwner, Fence, Life};
use mainspring_kernel::event::{Event, Kind, Speaker};
use mainspring_kernel::journal::{Entry, FileChange};
use mainspring_kernel::machines::claim::Facts as ClaimFacts;
use mainspring_kernel::machines::gate::{self, RecentErrors, Token, Transcript};
use mainspring_kernel::machines::looping::{self, Client, Ending, OtherSessions};
use mainspring_kernel::machines::review::{self, AnswerFile, OnFailure, Settings};
use mainspring_kernel::machines::{
    Finished, InputOf, MachineInput, Name, Pending, Returned, Transition,
};
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_kernel::{
    Answer, Ask, Case, Digest, Machine, Millis, Orders, Reply, SessionId, Turn, Uptime,
};
use mainspring_store::{Found, Locked, Trouble};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::life::{CAP, Simulation};
use super::outside;
use super::project::{change, read};

/// What the agent said and did before its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spoken {
    pub(super) token: bool,
    pub(super) signal: bool,
    pub(super) tools: bool,
}

impl Spoken {
    fn tool_use(self) -> ToolUse {
        if self.tools {
            ToolUse::Seen
        } else {
            ToolUse::NotSeen
        }
    }
}

/// One event on its way to a process.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    pub(super) session: usize,
    /// Its id at that time: the session may be cleared while the process runs.
    pub(super) by: SessionId,
    pub(super) kind: Kind,
    pub(super) id: Digest,
    pub(super) spoken: Spoken,
}

/// How many more steps a process may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fate(pub(super) Option<u32>);

impl Fate {
    pub(super) const IMMORTAL: Self = Self(None);

    /// Takes one more step, or dies.
    fn step(&mut self) -> Result<(), End> {
        match &mut self.0 {
            None => Ok(()),
            Some(0) => Err(End::Died),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

/// Why a process did not answer.
#[derive(Debug)]
pub(super) enum End {
    Died,
    /// A property does not hold.
    Wrong(String),
}

impl From<Trouble> for End {
    fn from(trouble: Trouble) -> Self {
        Self::Wrong(trouble.to_string())
    }
}

impl From<String> for End {
    fn from(text: String) -> Self {
        Self::Wrong(text)
    }
}

/// A machine's file as it was read, so that a change can say what it found.
struct File {
    machine: Name,
    state: Found<()>,
    intent: Found<Pending>,
}

struct Loaded {
    files: Vec<File>,
    ledger: Found<mainspring_kernel::block_ledger::BlockLedger>,
}

pub(super) fn run(
    simulation: &mut Simulation,
    delivery: &Delivery,
    mut fate: Fate,
) -> Result<Answer, End> {
    let pid = simulation.begin();
    let result = turn(simulation, delivery, pid, &mut fate);
    simulation.alive.remove(&pid);
    result
}

fn turn(
    simulation: &mut Simulation,
    delivery: &Delivery,
    pid: u32,
    fate: &mut Fate,
) -> Result<Answer, End> {
    let project = Rc::clone(&simulation.project);
    let (mut turn, mut ask) = Turn::begin(delivery.kind.clone());
    let mut lock: Option<Locked<'_>> = None;
    let mut loaded = None;
    // The clock is read when a process starts, and again after an effect.
    let mut now = simulation.now;
    loop {
        fate.step()?;
        let reply = match ask {
            Ask::Lock => {
                lock = Some(project.lock()?);
                Reply::Done
            }
            Ask::Load => {
                let fence = lock.as_ref().map_or(Fence(0), Locked::fence);
                let (case, found) = load(simulation, delivery, (pid, now), fence)?;
                loaded = Some(found);
                Reply::Loaded(Box::new(case))
            }
            Ask::Commit(entry) => {
                let (Some(lock), Some(loaded)) = (&mut lock, &loaded) else {
                    return Err(End::Wrong("a commit without the lock".into()));
                };
                commit(simulation, lock, loaded, *entry, fate)?;
                Reply::Done
            }
            Ask::Unlock => {
                lock = None;
                Reply::Done
            }
            Ask::Run(pending) => {
                let finished = effect(simulation, &pending)?;
                now = simulation.now;
                Reply::Ran(Box::new(finished))
            }
            Ask::Answer(answer) => {
                simulation.oracle.answered(&delivery.id, &answer);
                return Ok(answer);
            }
        };
        ask = turn.next(reply);
    }
}

/// Makes the record durable, then replaces its files one by one. The process may die in between.
fn commit(
    simulation: &mut Simulation,
    lock: &mut Locked<'_>,
    loaded: &Loaded,
    entry: Entry,
    fate: &mut Fate,
) -> Result<(), End> {
    let files = changes(loaded, &entry)?;
    if let Err(died) = fate.step() {
        tear(simulation);
        return Err(died);
    }
    let now = simulation.now;
    simulation.records += 1;
    simulation.oracle.recorded(&entry, CAP)?;
    let durable = lock.record(now, entry, files)?;
    for file in &durable.record.files {
        fate.step()?;
        lock.place(file)?;
    }
    fate.step()?;
    lock.finish(durable);
    Ok(())
}

/// A write that was cut short leaves a line that is not a record.
fn tear(simulation: &mut Simulation) {
    if simulation.random.chance(50) {
        let journal = OpenOptions::new()
            .append(true)
            .open(simulation.project.journal());
        if let Ok(mut journal) = journal {
            let torn: &[u8] = b"{\"v\":1,\"seq\":";
            if journal.write_all(torn).is_ok() {
                simulation.torn += 1;
            }
        }
    }
}

fn changes(loaded: &Loaded, entry: &Entry) -> Result<Vec<FileChange>, String> {
    let Entry::Turn { case, ruling } = entry else {
        return Ok(Vec::new());
    };
    let file = |name: Name| loaded.files.iter().find(|file| file.machine == name);
    match &**ruling {
        Ruling::Repeated(_) => Ok(Vec::new()),
        Ruling::Intends(pending) => {
            let found = file(pending.name()).ok_or("an effect of nobody")?;
            Ok(vec![change(&found.intent, Some(json(pending)?))])
        }
        Ruling::Settled(settlement) => {
            let mut changes = Vec::new();
            for (input, moved) in case.inputs.iter().zip(&settlement.transitions) {
                let found = file(input.name()).ok_or("a machine that was not loaded")?;
                if !input.changed_by(moved) {
                    continue;
                }
                changes.push(change(&found.state, Some(state(moved)?)));
                if moved.intent() != input.recorded() {
                    let intent = moved.intent().as_ref().map(json).transpose()?;
                    changes.push(change(&found.intent, intent));
                }
            }
            let stored_ledger = settlement.stored_ledger(case);
            if stored_ledger != case.ledger {
                changes.push(change(&loaded.ledger, Some(json(&stored_ledger)?)));
            }
            Ok(changes)
        }
    }
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn state(moved: &Transition) -> Result<String, String> {
    match moved {
        Transition::Gate(moved) => json(&moved.state),
        Transition::Loop(moved) => json(&moved.state),
        Transition::Review(moved) => json(&moved.state),
        Transition::Claim(moved) => json(&moved.state),
        Transition::Tasks(moved) => json(&moved.state),
        Transition::Check(moved) => json(&moved.state),
        Transition::Pulse(moved) => json(&moved.state),
    }
}

fn load(
    simulation: &Simulation,
    delivery: &Delivery,
    (pid, now): (u32, Millis),
    fence: Fence,
) -> Result<(Case, Loaded), String> {
    let mut inputs = Vec::new();
    let mut files = Vec::new();
    for machine in [Name::Gate, Name::Loop, Name::Review, Name::Claim] {
        let path = simulation.file(machine, delivery.session);
        let Some((mut input, state)) = input(simulation, machine, path, delivery)? else {
            continue;
        };
        let intent = simulation.project.intent(machine)?;
        if let Some(pending) = &intent.value {
            let alive = simulation.alive.contains(&pending.owner().pid);
            let life = if alive && pending.is_in_time(Uptime(now.0)) {
                Life::Alive
            } else {
                Life::Gone
            };
            input.set_intent(pending.clone(), life);
        }
        inputs.push(input);
        files.push(File {
            machine,
            state,
            intent,
        });
    }
    let ledger = simulation.project.ledger(&delivery.by)?;
    let orders: Found<Orders> = read(simulation.project.orders())?;
    let case = Case {
        left: None,
        event: Event {
            session: Some(delivery.by.clone()),
            speaker: Speaker::Main,
            kind: delivery.kind.clone(),
        },
        now,
        uptime: Uptime(now.0),
        delivery: delivery.id.clone(),
        inputs,
        broken: Vec::new(),
        overtaken: Vec::new(),
        by_command: false,
        registration: None,
        said: None,
        ledger: ledger.value.clone().unwrap_or_default(),
        cap: Cap::After(CAP),
        tools: delivery.spoken.tool_use(),
        transcript: None,
        trust: Trust::Trusted,
        orders: orders.value.unwrap_or_default(),
        typed_here: mainspring_kernel::orders::TypedHere::AtOnce,
        fence,
        me: EffectOwner {
            pid,
            started: 0,
            boot: String::new(),
        },
    };
    Ok((case, Loaded { files, ledger }))
}

/// A machine's input, made from its state file; none if there is no file.
fn input(
    simulation: &Simulation,
    machine: Name,
    path: PathBuf,
    delivery: &Delivery,
) -> Result<Option<(MachineInput, Found<()>)>, String> {
    fn of<M: Machine<State: DeserializeOwned>>(
        wrap: fn(InputOf<M>) -> MachineInput,
        path: PathBuf,
        facts: M::Facts,
    ) -> Result<Option<(MachineInput, Found<()>)>, String> {
        let found: Found<M::State> = read(path)?;
        let file = Found {
            path: found.path,
            bytes: found.bytes,
            value: None,
        };
        let input = |state| wrap(InputOf::new(state, facts));
        Ok(found.value.map(|state| (input(state), file)))
    }
    match machine {
        Name::Gate => of(MachineInput::Gate, path, gate_facts(delivery.spoken)),
        Name::Loop => of(MachineInput::Loop, path, loop_facts(delivery)),
        Name::Review => of(MachineInput::Review, path, review_facts(simulation)),
        Name::Claim => of(MachineInput::Claim, path, ClaimFacts::plain()),
        Name::Check | Name::Tasks | Name::Pulse => Ok(None),
    }
}

fn gate_facts(spoken: Spoken) -> gate::Facts {
    let heard = if spoken.token {
        SpokenSignal::Said(Token)
    } else {
        SpokenSignal::Nothing
    };
    gate::Facts {
        by: gate::SwitchedOnBy::Switch,
        token: "T".into(),
        heard,
        errors: RecentErrors::NotSeen,
        max: 0,
        transcript: Transcript::Long,
        checklist: gate::Checklist::Skill,
        open_tasks: gate::OpenTasks::default(),
        talk: gate::Talk::Held,
    }
}

fn loop_facts(delivery: &Delivery) -> looping::Facts {
    let heard = if delivery.spoken.signal {
        SpokenSignal::Said(Ending::Complete)
    } else {
        SpokenSignal::Nothing
    };
    let client = u32::try_from(delivery.session).unwrap_or(0);
    looping::Facts {
        heard,
        ttl: Millis::seconds(4 * 60 * 60),
        company: OtherSessions::Several,
        client: Some(Client(client)),
        prompt: None,
        outer_prompt: None,
        outer: looping::OuterGoesOn::AtOnce,
        owner: looping::OwnerLife::Live,
        waits: false,
        rules: looping::LoopRules::default(),
        worktree: None,
    }
}

fn review_facts(simulation: &Simulation) -> review::Facts {
    let answer = if simulation.answered {
        AnswerFile::Written
    } else {
        AnswerFile::Missing
    };
    review::Facts {
        asker: review::Asker::Session(OtherSessions::Several),
        unrecorded: false,
        replies: Vec::new(),
        violations: Vec::new(),
        warnings: Vec::new(),
        tasks: review::table::Tasks::default(),
        written: simulation.folder.written(),
        answer,
        settings: Settings {
            models: vec!["opus".into(), "sonnet".into()],
            on_failure: OnFailure::Retry,
            max_cost: None,
            deadline: Millis::seconds(600),
            findings: true,
        },
    }
}

/// Runs an effect without the lock. Meanwhile others act.
fn effect(simulation: &mut Simulation, pending: &Pending) -> Result<Finished, End> {
    simulation.effects += 1;
    simulation.meanwhile()?;
    match pending {
        Pending::Claim(intent) => {
            simulation.note("  asks the server");
            let (life, outcome) = simulation
                .server
                .run(&intent.effect, &mut simulation.random);
            survived(life)?;
            simulation.meanwhile()?;
            let intent = intent.clone();
            Ok(Finished::Claim(Returned { intent, outcome }))
        }
        Pending::Review(intent) => {
            let asked = &intent.effect;
            let taken = simulation.folder.taken_over(asked);
            let outcome = match taken {
                Some(outcome) => outcome,
                // A hook whose work was taken over meanwhile leaves the review alone.
                None if !is_current(simulation, intent.fence)? => outside::given_up(),
                None => {
                    simulation.note("  starts a reviewer");
                    let random = &mut simulation.random;
                    let reviewed = simulation.folder.review(asked, intent.fence.0, random)?;
                    survived(reviewed.0)?;
                    reviewed.1
                }
            };
            simulation.meanwhile()?;
            let intent = intent.clone();
            Ok(Finished::Review(Returned { intent, outcome }))
        }
        Pending::Gate(_)
        | Pending::Loop(_)
        | Pending::Check(_)
        | Pending::Tasks(_)
        | Pending::Pulse(_) => Err(End::Wrong("an effect of a machine that has none".into())),
    }
}

fn is_current(simulation: &Simulation, fence: Fence) -> Result<bool, String> {
    let recorded = simulation.project.intent(Name::Review)?.value;
    Ok(matches!(recorded, Some(Pending::Review(intent)) if intent.fence == fence))
}

fn survived(life: outside::Life) -> Result<(), End> {
    match life {
        outside::Life::Lives => Ok(()),
        outside::Life::Dies => Err(End::Died),
    }
}
