//! One random life: sessions, a person, a clock, a server, and what they do to each other.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use mainspring_kernel::event::{Author, Background, Chain, EndReason, Kind, StartSource};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::looping::{self, Frame, LoopOwner, Mode, State as Loop};
use mainspring_kernel::machines::{Name, gate};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Answer, Digest, Millis, SessionId};
use mainspring_store::Found;

use super::oracle::{Oracle, holds, stack};
use super::outside::{Folder, Server};
use super::people;
use super::process::{self, Delivery, End, Fate, Spoken, json};
use super::project::{Project, change, edit, in_words, read};
use super::random::Random;

/// The host's limit; small, so that it is reached.
pub(super) const CAP: u32 = 4;
const SESSIONS: u32 = 3;

#[derive(Debug)]
pub(super) struct Simulation {
    pub(super) random: Random,
    pub(super) now: Millis,
    pub(super) project: Rc<Project>,
    root: PathBuf,
    pub(super) sessions: Vec<Session>,
    pub(super) alive: BTreeSet<u32>,
    pid: u32,
    pub(super) server: Server,
    pub(super) folder: Folder,
    /// Has the agent answered the review that waits for it?
    pub(super) answered: bool,
    pub(super) oracle: Oracle,
    /// The history, if somebody wants to read it.
    pub(super) history: Option<Vec<String>>,
    depth: u32,
    pub(super) issue: u64,
    // Counts for the summary.
    pub(super) events: u64,
    pub(super) crashes: u64,
    pub(super) effects: u64,
    pub(super) records: u64,
    pub(super) torn: usize,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    chain: Chain,
    generation: u32,
    events: u32,
}

fn session_id(at: usize, generation: u32) -> SessionId {
    SessionId::parse(&format!("s{at}-{generation}")).expect("an id")
}

impl Simulation {
    pub(super) fn new(seed: u64, folder: &std::path::Path) -> Result<Self, String> {
        let root = folder.join("project");
        let project = Project::new(folder.join("store"), &root)?;
        let mut simulation = Self {
            random: Random::new(seed),
            now: Millis::seconds(1_700_000_000),
            project: Rc::new(project),
            root,
            sessions: Vec::new(),
            alive: BTreeSet::new(),
            pid: 0,
            server: Server::default(),
            folder: Folder::default(),
            answered: false,
            oracle: Oracle::default(),
            history: None,
            depth: 0,
            issue: 0,
            events: 0,
            crashes: 0,
            effects: 0,
            records: 0,
            torn: 0,
        };
        for at in 0..SESSIONS as usize {
            simulation.sessions.push(Session {
                id: session_id(at, 0),
                chain: Chain::First,
                generation: 0,
                events: 0,
            });
            if simulation.random.chance(50) {
                let waiting = json(&gate::State::Waiting { held: 0 })?;
                edit(&simulation.file(Name::Gate, at), &waiting)?;
            }
        }
        Ok(simulation)
    }

    /// The file of a machine's state.
    pub(super) fn file(&self, machine: Name, session: usize) -> PathBuf {
        match machine {
            Name::Gate => self.root.join(format!("gate-{session}.json")),
            Name::Claim => self.root.join("claim.json"),
            Name::Review => self.root.join("plan.json"),
            Name::Loop | Name::Check | Name::Tasks | Name::Pulse => {
                self.project.machine_file(machine)
            }
        }
    }

    pub(super) fn note(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth.saturating_sub(1) as usize);
        if let Some(history) = &mut self.history {
            history.push(format!("{indent}{text}"));
        }
    }

    /// A process starts.
    pub(super) fn begin(&mut self) -> u32 {
        self.pid += 1;
        self.alive.insert(self.pid);
        self.pid
    }

    /// Plays this many events, then lets everything come to rest.
    pub(super) fn live(&mut self, events: u32) -> Result<(), String> {
        for _ in 0..events {
            self.anything()?;
            self.check()?;
        }
        self.rest()?;
        self.look_back()
    }

    /// What others do while an effect runs.
    pub(super) fn meanwhile(&mut self) -> Result<(), End> {
        if self.depth < 3 && self.random.chance(30) {
            self.anything()?;
        }
        Ok(())
    }

    fn anything(&mut self) -> Result<(), String> {
        self.depth += 1;
        let done = self.one_thing();
        self.depth -= 1;
        done
    }

    fn one_thing(&mut self) -> Result<(), String> {
        self.events += 1;
        let at = self.random.below(SESSIONS) as usize;
        match self.random.below(100) {
            0..=54 => self.stop(at),
            55..=57 => self.event(at, Kind::Idle, Spoken::default()).map(|_| ()),
            58..=59 => self.event(at, Kind::Watch, Spoken::default()).map(|_| ()),
            60..=65 => {
                self.sessions[at].chain = Chain::First;
                let author = Author::Person;
                self.event(at, Kind::Prompt { author }, Spoken::default())
                    .map(|_| ())
            }
            66..=69 => self.clear(at),
            70..=75 => {
                self.jump();
                Ok(())
            }
            76..=79 => {
                self.note("late requests arrive");
                self.server.arrive();
                Ok(())
            }
            _ => people::does_something(self, at),
        }
    }

    fn jump(&mut self) {
        let seconds = match self.random.below(5) {
            0 => 1,
            1 => 130,
            2 => 700,
            3 => 5 * 60 * 60,
            _ => {
                // A clock that is set back.
                self.now = Millis(self.now.0.saturating_sub(60 * 60 * 1_000));
                self.note("the clock goes back an hour");
                return;
            }
        };
        self.now = self.now.plus(Millis::seconds(seconds));
        self.note(&format!("{seconds} seconds pass"));
    }

    fn stop(&mut self, at: usize) -> Result<(), String> {
        let spoken = Spoken {
            token: self.random.chance(30),
            signal: self.random.chance(25),
            tools: self.random.chance(20),
        };
        let kind = Kind::Stop {
            chain: self.sessions[at].chain,
            background: if self.random.chance(5) {
                Background::Working
            } else {
                Background::Quiet
            },
        };
        if self.random.chance(70) {
            self.answered = true;
        }
        let Some(delivery) = self.event(at, kind, spoken)? else {
            return Ok(());
        };
        if self.random.chance(15) {
            self.again(&delivery)?;
        }
        Ok(())
    }

    /// Delivers the same event again, at once: it must get the same answer and count once.
    fn again(&mut self, first: &(Delivery, Answer)) -> Result<(), String> {
        let (delivery, answer) = first;
        self.note(&format!("{} is delivered again", delivery.id.0));
        let second = self.deliver(delivery, Fate::IMMORTAL)?;
        match second {
            Some(second) if !answer.is_nothing() && !is_fault(answer) && second != *answer => Err(
                format!("delivered twice, answered {answer:?} and then {second:?}"),
            ),
            Some(_) | None => Ok(()),
        }
    }

    /// Delivers an event of the host. Returns the answer if the process lived.
    pub(super) fn event(
        &mut self,
        at: usize,
        kind: Kind,
        spoken: Spoken,
    ) -> Result<Option<(Delivery, Answer)>, String> {
        self.sessions[at].events += 1;
        let session = &self.sessions[at];
        let by = session.id.clone();
        let id = Digest(format!("{by}-{}", session.events));
        self.note(&format!("{} {} {spoken:?}", id.0, kind.name()));
        let delivery = Delivery {
            session: at,
            by,
            kind,
            id,
            spoken,
        };
        let fate = Fate(self.random.chance(15).then(|| self.random.below(14)));
        let before = self.sessions[at].id.clone();
        let answer = self.deliver(&delivery, fate)?;
        // The session may have been cleared while an effect ran.
        if self.sessions[at].id == before && matches!(delivery.kind, Kind::Stop { .. }) {
            self.sessions[at].chain = match &answer {
                Some(answer) if holds(answer) => Chain::Continued,
                Some(_) | None => Chain::First,
            };
        }
        Ok(answer.map(|answer| (delivery, answer)))
    }

    fn deliver(&mut self, delivery: &Delivery, fate: Fate) -> Result<Option<Answer>, String> {
        match process::run(self, delivery, fate) {
            Ok(answer) => {
                let word = if holds(&answer) { "held" } else { "passes" };
                self.note(&format!("  {} {word}", delivery.id.0));
                Ok(Some(answer))
            }
            Err(End::Died) => {
                self.crashes += 1;
                self.server.faults += 1;
                self.note(&format!("  the process of {} dies", delivery.id.0));
                Ok(None)
            }
            Err(End::Wrong(text)) => Err(text),
        }
    }

    /// `/clear`: the session goes on in the same client under a new id.
    fn clear(&mut self, at: usize) -> Result<(), String> {
        let reason = EndReason::Clear;
        self.event(at, Kind::SessionEnd { reason }, Spoken::default())?;
        let session = &mut self.sessions[at];
        session.generation += 1;
        session.events = 0;
        session.chain = Chain::First;
        session.id = session_id(at, session.generation);
        let source = StartSource::Clear;
        self.event(at, Kind::SessionStart { source }, Spoken::default())
            .map(|_| ())
    }

    /// A person's command: one record with one file. Its process may die like a hook's.
    pub(super) fn verb(
        &mut self,
        path: PathBuf,
        words: &str,
        now: Option<String>,
    ) -> Result<(), String> {
        let project = Rc::clone(&self.project);
        let mut lock = project.lock()?;
        let found: Found<serde_json::Value> = read(path)?;
        let entry = Entry::Verb {
            command: words.into(),
            machine: None,
            session: None,
            did: String::new(),
        };
        let files = vec![change(&found, now)];
        let durable = lock.record(self.now, entry, files).map_err(in_words)?;
        if self.random.chance(10) {
            self.crashes += 1;
            return Ok(());
        }
        for file in &durable.record.files {
            lock.place(file).map_err(in_words)?;
        }
        lock.finish(durable);
        Ok(())
    }

    pub(super) fn start_loop(&mut self, at: usize) -> Result<(), String> {
        let path = self.file(Name::Loop, at);
        // What a dead process left is rolled forward first.
        drop(self.project.lock()?);
        let found: Found<Loop> = read(path.clone())?;
        let before = found.value.unwrap_or(Loop::Idle(looping::Past::Blank));
        let frame = Frame {
            id: "f".into(),
            mode: Mode::Loop,
            iter: 1,
            max: 2 + self.random.below(4),
        };
        let owner = LoopOwner::Session {
            id: self.sessions[at].id.clone(),
            client: u32::try_from(at).ok().map(looping::Client),
        };
        let whose = (owner, &Actor::Agent(None));
        let started = looping::verbs::start(&before, "l".into(), frame.clone(), whose, self.now);
        let (words, step) = match started {
            Ok(started) => ("loop start", started),
            Err(_) if self.random.chance(50) => {
                match looping::verbs::push(&before, frame, self.now) {
                    Ok(pushed) => ("loop push", pushed),
                    Err(_) => return Ok(()),
                }
            }
            Err(_) => {
                match looping::verbs::abort(&before, &Actor::Person, looping::OwnerLife::Live, "") {
                    Ok(aborted) => ("loop abort", aborted),
                    Err(_) => return Ok(()),
                }
            }
        };
        let after = step.state;
        self.note(words);
        self.oracle.stack = stack(&after);
        self.verb(path, words, Some(json(&after)?))
    }

    /// What must hold after every event.
    fn check(&mut self) -> Result<(), String> {
        self.server.check()?;
        // Sometimes the next process finds what a dead one left.
        if self.random.chance(50) {
            return Ok(());
        }
        drop(self.project.lock()?);
        let found: Found<Loop> = read(self.file(Name::Loop, 0))?;
        let there = found.value.as_ref().map(stack).unwrap_or_default();
        if there != self.oracle.stack {
            return Err(format!(
                "the loop's file has {there:?} and should have {:?}",
                self.oracle.stack
            ));
        }
        for session in &self.sessions {
            let ledger = self.project.ledger(&session.id)?.value.unwrap_or_default();
            let should = self.oracle.blocks(&session.id);
            if ledger.blocks != should {
                return Err(format!(
                    "the ledger of {} has {} and should have {should}",
                    session.id, ledger.blocks
                ));
            }
        }
        Ok(())
    }

    /// Nothing fails any more, and the agents only stop: each of them may stop in the end.
    fn rest(&mut self) -> Result<(), String> {
        self.depth = 3;
        for at in 0..SESSIONS as usize {
            let mut chain = self.sessions[at].chain;
            let mut held = 0;
            loop {
                self.sessions[at].events += 1;
                let session = &self.sessions[at];
                let id = Digest(format!("{}-{}", session.id, session.events));
                let background = Background::Quiet;
                let delivery = Delivery {
                    session: at,
                    by: session.id.clone(),
                    kind: Kind::Stop { chain, background },
                    id,
                    spoken: Spoken::default(),
                };
                self.note(&format!("{} stops and says nothing", delivery.id.0));
                match self.deliver(&delivery, Fate::IMMORTAL)? {
                    Some(answer) if holds(&answer) => held += 1,
                    Some(_) | None => break,
                }
                if held > CAP {
                    return Err("an agent that only stops is held beyond the cap".into());
                }
                chain = Chain::Continued;
            }
        }
        Ok(())
    }

    /// The whole journal: every record replays, the numbers grow, and every answer is in it.
    fn look_back(&mut self) -> Result<(), String> {
        drop(self.project.lock()?);
        let (records, bad) = self.project.records()?;
        if bad > self.torn {
            return Err(format!(
                "{bad} lines are no records, {} were torn",
                self.torn
            ));
        }
        let mut said = BTreeSet::new();
        let mut last = 0;
        for record in &records {
            if record.seq <= last {
                return Err(format!("record {} comes after {last}", record.seq));
            }
            last = record.seq;
            if let Err(divergence) = record.replay() {
                return Err(format!("record {} replays otherwise", divergence.seq));
            }
            if let Entry::Turn { case, ruling } = &record.entry
                && let mainspring_kernel::deliberate::Ruling::Settled(settlement) = &**ruling
            {
                said.insert((case.delivery.clone(), json(&settlement.answer)?));
            }
        }
        for (delivery, answer) in &self.oracle.printed {
            let fault = !said.contains(&(delivery.clone(), json(answer)?));
            if fault && !is_fault(answer) {
                return Err(format!("{} was answered and no record has it", delivery.0));
            }
        }
        Ok(())
    }
}

/// Does the answer say that there were too many effects?
fn is_fault(answer: &Answer) -> bool {
    answer
        .notes
        .iter()
        .any(|note| note.text.starts_with("too many effects"))
}
