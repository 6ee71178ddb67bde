//! Interprets a turn: does what the kernel asks for, and reports what came of it.

mod entry;

use std::time::Instant;

use mainspring_kernel::block_ledger::{BlockLedger, Cap, Mark, ToolUse};
use mainspring_kernel::deliberate::{Broken, Outcome, Ruling, Trust};
use mainspring_kernel::effect::{EffectOwner, Fence, Life};
use mainspring_kernel::journal::{Entry, FileChange};
use mainspring_kernel::machines::{MachineInput, Name, Pending};
use mainspring_kernel::orders::{Orders, Scope, Until};
use mainspring_kernel::{Answer, Ask, Case, Kind, Millis, Note, Reply, Turn, Uptime, deliberate};
use mainspring_store::{Locked, Trouble, digest, json_change};

use crate::children::permit::Denied;
use crate::context::EventContext;
use crate::hook::client_queue;
use crate::hosts::Payload;
use crate::machines::at_work;
use crate::machines::effect_owner;
use crate::machines::{self, Found, HandedOn, final_message};
use crate::transcript::{self, Shows};
use entry::{moves, rule};

/// The case as this event would find it. Takes no lock and records nothing.
pub(crate) fn look(
    context: &EventContext<'_>,
    payload: &Payload,
    machines: &[Name],
) -> Result<Case, Trouble> {
    Driver::new(context, payload, machines).load()
}

/// Runs these machines on one event and returns the answer.
pub(crate) fn drive(context: &EventContext<'_>, payload: &Payload, machines: &[Name]) -> Answer {
    Driver::new(context, payload, machines).drive().0
}

/// Runs one machine on a stop that a command makes. Returns the rule that it took, too; it is empty
/// if nothing was recorded.
pub(crate) fn drive_by_command(
    context: &EventContext<'_>,
    payload: &Payload,
    machine: Name,
) -> (Answer, String) {
    let (answer, entry) = Driver::new(context, payload, &[machine]).drive();
    (answer, entry.as_ref().map(rule).unwrap_or_default())
}

/// Runs one machine for its drop-in. Returns what was decided last, and from what, too.
pub(crate) fn drive_for_drop_in(
    context: &EventContext<'_>,
    payload: &Payload,
    machine: Name,
) -> (Answer, Option<Entry>) {
    Driver::new(context, payload, &[machine]).drive()
}

impl Driver<'_> {
    fn drive(mut self) -> (Answer, Option<Entry>) {
        let (mut turn, mut ask) = Turn::begin(self.payload.event.kind.clone());
        let mut failed = None;
        loop {
            let reply = match ask {
                Ask::Answer(answer) => {
                    let answer = failed
                        .and_then(|trouble| {
                            machines::fail_closed(
                                self.machines,
                                self.context.env,
                                self.payload,
                                &trouble,
                            )
                        })
                        .unwrap_or(answer);
                    let entry = self.entry.take();
                    return (self.with_notes(answer), entry);
                }
                Ask::Lock => self.lock().map(|()| Reply::Done),
                Ask::Load => self.load_anew().map(|case| Reply::Loaded(Box::new(case))),
                Ask::Commit(entry) => self.commit(*entry).map(|()| Reply::Done),
                Ask::Unlock => {
                    self.unlock();
                    Ok(Reply::Done)
                }
                Ask::Run(pending) => Ok(self.run(&pending)),
            };
            ask = turn.next(reply.unwrap_or_else(|trouble| {
                let cause = trouble.to_string();
                failed = Some(trouble);
                Reply::Failed(cause)
            }));
        }
    }
}

struct Driver<'a> {
    context: &'a EventContext<'a>,
    payload: &'a Payload,
    machines: &'a [Name],
    lock: Option<Locked<'a>>,
    /// What the current case was made from.
    found: Found,
    intents: Vec<FoundIntent>,
    ledger: Option<FoundLedger>,
    /// Which plan or claim a machine works on. The machine keeps to it, even if another one
    /// changes while an effect runs.
    subjects: Vec<(Name, String)>,
    /// Machines whose effect a person ended in this turn. They are not asked again in it, even
    /// if the order does not bind whoever began it, or is over.
    cancelled: Vec<Name>,
    edited: Vec<String>,
    /// What the person must be told besides the answer, such as a post that failed after the
    /// commit.
    notes: Vec<String>,
    /// Read again after an effect: it may have taken minutes.
    now: Millis,
    /// Read at each load, under the lock: so it is never older than what was recorded before.
    uptime: Uptime,
    /// An effect has run at this event.
    has_run: bool,
    /// What an effect of this event left for a later one.
    handed_on: HandedOn,
    /// What was decided last, for a command and a drop-in.
    entry: Option<Entry>,
}

struct FoundIntent {
    machine: Name,
    path: std::path::PathBuf,
    bytes: Option<Vec<u8>>,
}

struct FoundLedger {
    path: std::path::PathBuf,
    bytes: Option<Vec<u8>>,
}

impl<'a> Driver<'a> {
    fn new(context: &'a EventContext<'a>, payload: &'a Payload, machines: &'a [Name]) -> Self {
        Self {
            context,
            payload,
            machines,
            lock: None,
            found: Found::default(),
            intents: Vec::new(),
            ledger: None,
            subjects: Vec::new(),
            cancelled: Vec::new(),
            edited: Vec::new(),
            notes: Vec::new(),
            now: context.env.now(),
            uptime: Uptime::default(),
            has_run: false,
            handed_on: HandedOn::default(),
            entry: None,
        }
    }

    fn lock(&mut self) -> Result<(), Trouble> {
        let store = &self.context.store;
        self.lock = Some(match self.context.deadline_at_end() {
            Some(end) => store.lock_within(end.saturating_duration_since(Instant::now()))?,
            None => store.lock()?,
        });
        Ok(())
    }

    fn unlock(&mut self) {
        // Locks of other programs too: they must not wait while an effect runs.
        self.found = Found::default();
        if let Some(lock) = self.lock.take() {
            self.edited.extend_from_slice(lock.edited());
            self.notes.extend_from_slice(lock.news());
        }
    }

    /// The case, once every order is carried out that waits in the client's queue. They are looked
    /// for only where they change something.
    fn load_anew(&mut self) -> Result<Case, Trouble> {
        let mut case = self.load()?;
        if self.context.adapts().is_some() {
            self.entry = Some(Entry::Turn {
                ruling: Box::new(deliberate(&case)),
                case: Box::new(case.clone()),
            });
        }
        let at_stop = self.context.at_stop() && !self.context.is_subagents();
        if at_stop && (self.has_run || deliberate(&case).goes_on()) {
            client_queue::carry_out(self.context, self.lock.as_mut())?;
            case.orders = self.orders()?;
        }
        Ok(case)
    }

    fn load(&mut self) -> Result<Case, Trouble> {
        self.found = Found::default();
        self.intents.clear();
        self.uptime = self.context.env.uptime();
        let (cap, said) = (self.cap(), self.said());
        let mut ledger = self.load_ledger()?;
        let (mut tools, mut transcript) = self.tools(&ledger);
        let event = &self.payload.event;
        if tools == ToolUse::NotSeen && ledger.hinges_on_tools(event, cap, said.as_ref()) {
            self.context.wait_for_tail();
            (tools, transcript) = self.tools(&ledger);
        }
        let mut inputs = Vec::new();
        let mut broken = Vec::new();
        for name in self.machines {
            match self.load_machine(*name) {
                Ok(input) => inputs.extend(input),
                Err(trouble) => broken.push(Broken {
                    machine: *name,
                    cause: format!("{trouble}. It was left as it is, and the agent was let go"),
                }),
            }
        }
        if ledger.seeks_prompt(&self.payload.event, self.has_run) {
            ledger.prompted = self.context.prompted_at();
        }
        let trust = self.trust();
        Ok(Case {
            event: self.payload.event.clone(),
            now: self.now,
            uptime: self.uptime,
            delivery: self.delivery(),
            inputs,
            broken,
            overtaken: Vec::new(),
            by_command: self.context.is_by_command(),
            registration: self.registration(),
            said,
            cap,
            tools,
            transcript,
            trust,
            orders: self.orders()?,
            typed_here: self.payload.host.typed_here(),
            fence: self.lock.as_ref().map_or(Fence(0), Locked::fence),
            me: if self.may_start(trust) {
                effect_owner::me()
            } else {
                EffectOwner::default()
            },
            ledger,
            left: self
                .has_run
                .then(|| self.context.time_left_after_work())
                .flatten(),
        })
    }

    fn orders(&self) -> Result<Orders, Trouble> {
        let stopped = |orders: Orders, name: &Name| {
            let until = orders.suspension(*name, self.now);
            orders.stopped(Scope::Machine(*name), until.unwrap_or(Until::Resumed))
        };
        Ok(self.cancelled.iter().fold(self.context.orders()?, stopped))
    }

    fn load_machine(&mut self, name: Name) -> Result<Option<MachineInput>, Trouble> {
        let known = self.subjects.iter().find(|(of, _)| *of == name);
        let subject = known.map(|(_, subject)| subject.as_str());
        let subject = subject.or(self.context.subject());
        let Some(mut input) = self.found.load(name, self.context, subject)? else {
            return Ok(None);
        };
        if let Some(adapt) = self.context.adapts() {
            adapt(&self.payload.event, &mut input);
        }
        let subject = self.found.subject(name);
        if name.has_effects() {
            let intent = self
                .context
                .store
                .intent(name, subject.unwrap_or_default())?;
            if let Some(pending) = intent.value {
                // We run nothing while we load, so what is recorded as ours has ended.
                let ours = *pending.owner() == effect_owner::me();
                let life = if !ours && at_work::runs(&pending, self.uptime) {
                    Life::Alive
                } else {
                    Life::Gone
                };
                input.set_intent(pending, life);
            }
            self.intents.push(FoundIntent {
                machine: name,
                path: intent.path,
                bytes: intent.bytes,
            });
        }
        if let (None, Some(subject)) = (known, subject) {
            self.subjects.push((name, subject.to_owned()));
        }
        Ok(Some(input))
    }

    fn load_ledger(&mut self) -> Result<BlockLedger, Trouble> {
        let Some(session) = &self.payload.event.session else {
            return Ok(BlockLedger::default());
        };
        let found = self.context.store.ledger(session)?;
        self.ledger = Some(FoundLedger {
            path: found.path,
            bytes: found.bytes,
        });
        Ok(found.value.unwrap_or_default().at(self.uptime))
    }

    /// The host's limit on holds in a row; where it has none, the person's or our own.
    fn cap(&self) -> Cap {
        let cap = (self.payload.host.cap)(self.context.env);
        let Cap::Ours(usual) = cap else { return cap };
        let config = self.context.config().ok();
        match config.map(|config| config.host.cap) {
            Some(0) => Cap::Never,
            Some(limit) => Cap::Ours(limit),
            None => Cap::Ours(usual),
        }
    }

    /// What the transcript shows at a stop. If it does not go back far enough to tell, our holds
    /// keep counting: it is better to let go too early, and say so, than to be overridden.
    fn tools(&self, ledger: &BlockLedger) -> (ToolUse, Option<Mark>) {
        let Some(tail) = self.context.tail().filter(|_| self.context.at_stop()) else {
            return (ToolUse::NotSeen, None);
        };
        // A host that does not send the agent's message may not record our blocks.
        let proves = self.payload.host.transcript.shows == Shows::Holds
            && self.payload.last_message.is_some();
        let unproved = tail.tool_since_block && !proves;
        let tools = match tail.tool_used_since_last_block() {
            _ if unproved => ToolUse::Seen,
            transcript::ToolUse::Yes if ledger.blocks > 0 => ToolUse::Seen,
            transcript::ToolUse::Yes | transcript::ToolUse::No | transcript::ToolUse::Unknown => {
                ToolUse::NotSeen
            }
        };
        let mark = Mark {
            size: tail.size,
            unrecorded: tail.unrecorded,
        };
        (tools, Some(mark))
    }

    /// Can a machine here start something?
    fn may_start(&self, trust: Trust) -> bool {
        let mut machines = self.machines.iter().filter(|name| name.has_effects());
        machines.any(|name| trust == Trust::Trusted || !name.needs_trust())
    }

    /// Looked up only if a machine can start something.
    fn trust(&self) -> Trust {
        if !self.machines.iter().any(|name| name.has_effects()) {
            return Trust::Untrusted;
        }
        self.context.permission().trust()
    }

    /// The same bytes at the same length of the transcript are the same delivery. An event of a
    /// drop-in, a command or the watcher is always a new one.
    fn delivery(&self) -> mainspring_kernel::Digest {
        let watches = self.payload.event.kind == Kind::Watch;
        if watches || self.context.is_drop_in() || self.context.is_by_command() {
            let now = self.context.env.later().0.to_le_bytes();
            return digest::of(&[&now, &std::process::id().to_le_bytes()]);
        }
        let asked = || {
            let path = self.payload.transcript.as_ref()?;
            std::fs::metadata(path).ok().map(|meta| meta.len())
        };
        let tail = self.context.tail().filter(|_| self.context.at_stop());
        let length = tail.map(|tail| tail.length).or_else(asked).unwrap_or(0);
        digest::of(&[self.payload.digest().0.as_bytes(), &length.to_le_bytes()])
    }

    /// Which registration of ours the host called at a stop. Two of them get the same payload; one
    /// gets it again only if the agent said the same again.
    fn registration(&self) -> Option<mainspring_kernel::Digest> {
        let plugin = self.payload.host.variables.plugin;
        let plugin = plugin.and_then(|name| self.context.env.var_os(name));
        let mut words = self.context.env.command_line();
        words.extend(plugin);
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_encoded_bytes()).collect();
        self.context.at_stop().then(|| digest::of(&words))
    }

    /// What the agent said at a stop. The documents of the drop-ins know no such rule.
    fn said(&self) -> Option<mainspring_kernel::Digest> {
        let asked = self.context.at_stop() && !self.context.is_drop_in();
        asked
            .then(|| final_message::digest_of(self.context))
            .flatten()
    }

    fn commit(&mut self, entry: Entry) -> Result<(), Trouble> {
        let files = self.files(&entry)?;
        let Some(lock) = &mut self.lock else {
            return Err(Trouble::Other("internal: a commit without the lock".into()));
        };
        let (kept, whole) = entry.reduced(digest::REDUCER);
        let record = lock.commit(self.now, kept, files)?;
        let entry = whole.unwrap_or(record.entry);
        for moved in moves(&entry)? {
            if let Err(trouble) = self.found.after_commit(self.context, moved) {
                self.notes.push(trouble.to_string());
            }
        }
        self.entry = Some(entry);
        Ok(())
    }

    /// Every file that an entry changes.
    fn files(&self, entry: &Entry) -> Result<Vec<FileChange>, Trouble> {
        let Entry::Turn { case, ruling } = entry else {
            return Err(Trouble::Other("internal: a turn is no command".into()));
        };
        let settlement = match &**ruling {
            Ruling::Repeated(_) => return Ok(Vec::new()),
            Ruling::Intends(pending) => {
                return Ok(vec![self.intent_change(pending.name(), Some(pending))?]);
            }
            Ruling::Settled(settlement) => settlement,
        };
        let mut files = Vec::new();
        for moved in moves(entry)? {
            files.extend(self.found.files(self.context, moved)?);
            if moved.changes_intent() {
                files.push(self.intent_change(moved.name(), moved.intent().as_ref())?);
            }
        }
        if settlement.outcome == Outcome::Capped {
            files.extend(self.found.files_at_cap(self.context));
        }
        if let Some(found) = &self.ledger {
            let kept = settlement.stored_ledger(case);
            if kept != case.ledger {
                let was = found.bytes.as_deref();
                files.push(json_change(&found.path, was, Some(&kept))?);
            }
        }
        Ok(files)
    }

    fn intent_change(
        &self,
        machine: Name,
        intent: Option<&Pending>,
    ) -> Result<FileChange, Trouble> {
        let found = self.intents.iter().find(|found| found.machine == machine);
        let Some(found) = found else {
            return Err(Trouble::Other(format!(
                "internal: {machine} was not loaded"
            )));
        };
        json_change(&found.path, found.bytes.as_deref(), intent)
    }

    fn run(&mut self, pending: &Pending) -> Reply {
        let reply = match self.context.permit(pending.name()) {
            Ok(permit) => {
                let finished =
                    machines::run(self.context, permit.clone(), pending, &mut self.handed_on);
                if permit.was_revoked() {
                    self.notes.push(cancelled(pending));
                    self.cancelled.push(pending.name());
                    Reply::Withheld
                } else {
                    Reply::Ran(Box::new(finished))
                }
            }
            Err(Denied::Ordered(_)) => Reply::Withheld,
            Err(Denied::Trouble(trouble)) => Reply::Failed(trouble.to_string()),
        };
        self.has_run = true;
        self.now = self.context.env.later();
        reply
    }

    fn with_notes(self, mut answer: Answer) -> Answer {
        for path in self.edited {
            answer.notes.push(Note::ours(format!(
                "{path} was edited while it was being updated: the edit stays, our change does not"
            )));
        }
        let told = self.context.take_told();
        answer
            .notes
            .extend(self.notes.into_iter().chain(told).map(Note::ours));
        answer
    }
}

fn cancelled(pending: &Pending) -> String {
    format!(
        "you stopped or paused {}, so this was cancelled and counts for nothing: {}",
        pending.name(),
        pending.at_work(Uptime::default()).work.name()
    )
}
