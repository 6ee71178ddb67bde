//! Interprets a turn: does what the kernel asks for, and reports what came of it.

use mainspring_kernel::block_ledger::{BlockLedger, Mark, ToolUse};
use mainspring_kernel::deliberate::{Broken, Ruling, Trust};
use mainspring_kernel::effect::{EffectOwner, Fence, Life};
use mainspring_kernel::journal::{Entry, FileChange};
use mainspring_kernel::machines::{Name, Pending};
use mainspring_kernel::{Answer, Ask, Case, Millis, Note, Reply, Turn};
use mainspring_store::{Locked, Trouble, digest, json_change};

use crate::effect_owner;
use crate::event_context::EventContext;
use crate::host::Payload;
use crate::machine::{self, FoundFile, Loaded, MachineShell};
use crate::store::{orders, trust};
use crate::transcript;

/// The case as this event would find it, without the lock and without a trace.
pub(crate) fn look(
    context: &EventContext<'_>,
    payload: &Payload,
    rows: &[&'static MachineShell],
) -> Result<Case, Trouble> {
    Driver::new(context, payload, rows).load()
}

/// Runs the machines that apply on one event, to its answer.
pub(crate) fn drive(
    context: &EventContext<'_>,
    payload: &Payload,
    rows: &[&'static MachineShell],
) -> Answer {
    let mut driver = Driver::new(context, payload, rows);
    let (mut turn, mut ask) = Turn::begin(payload.event.kind.clone());
    let mut failed = None;
    loop {
        let reply = match ask {
            Ask::Answer(answer) => {
                let laying_out = rows.iter().any(|row| row.name == Name::Tasks);
                let answer = match &failed {
                    Some(trouble) if laying_out => machine::tasks::fail_closed(payload, trouble),
                    Some(_) | None => answer,
                };
                return driver.with_edits(answer);
            }
            Ask::Lock => driver.lock().map(|()| Reply::Done),
            Ask::Load => driver.load().map(|case| Reply::Loaded(Box::new(case))),
            Ask::Commit(entry) => driver.commit(*entry).map(|()| Reply::Done),
            Ask::Unlock => {
                driver.unlock();
                Ok(Reply::Done)
            }
            Ask::Run(pending) => driver.run(&pending),
        };
        ask = turn.next(reply.unwrap_or_else(|trouble| {
            let cause = trouble.to_string();
            failed = Some(trouble);
            Reply::Failed(cause)
        }));
    }
}

struct Driver<'a> {
    context: &'a EventContext<'a>,
    payload: &'a Payload,
    rows: &'a [&'static MachineShell],
    lock: Option<Locked<'a>>,
    /// What the current case was made from.
    found: Vec<Vec<FoundFile>>,
    intents: Vec<FoundIntent>,
    ledger: Option<FoundLedger>,
    edited: Vec<String>,
    /// What was committed and could not be told to others yet.
    late: Vec<String>,
    /// Read again after an effect: it may have taken minutes.
    now: Millis,
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
    fn new(
        context: &'a EventContext<'a>,
        payload: &'a Payload,
        rows: &'a [&'static MachineShell],
    ) -> Self {
        Self {
            context,
            payload,
            rows,
            lock: None,
            found: Vec::new(),
            intents: Vec::new(),
            ledger: None,
            edited: Vec::new(),
            late: Vec::new(),
            now: context.env.now(),
        }
    }

    fn lock(&mut self) -> Result<(), Trouble> {
        self.lock = Some(self.context.store.lock()?);
        Ok(())
    }

    fn unlock(&mut self) {
        // The host must not wait for it while an effect runs.
        self.context.release();
        if let Some(lock) = self.lock.take() {
            self.edited.extend_from_slice(lock.edited());
        }
    }

    fn load(&mut self) -> Result<Case, Trouble> {
        self.found.clear();
        self.intents.clear();
        let mut parts = Vec::new();
        let mut broken = Vec::new();
        for row in self.rows {
            match self.load_row(row) {
                Ok(Some(Loaded { part, found })) => {
                    parts.push(part);
                    self.found.push(found);
                }
                Ok(None) => {}
                Err(trouble) => broken.push(Broken {
                    machine: row.name,
                    cause: format!("{trouble}. It was left as it is, and the agent was let go"),
                }),
            }
        }
        let ledger = self.load_ledger()?;
        let (tools, transcript) = self.tools(&ledger);
        let trust = self.trust();
        Ok(Case {
            event: self.payload.event.clone(),
            now: self.now,
            delivery: self.delivery(),
            inputs: parts,
            broken,
            overtaken: None,
            cap: (self.payload.host.cap)(self.context.env),
            tools,
            transcript,
            trust,
            orders: orders::in_force(self.context.project, self.context.store)?,
            fence: self.lock.as_ref().map_or(Fence(0), Locked::fence),
            me: match trust {
                Trust::Trusted => effect_owner::me(),
                Trust::Untrusted => EffectOwner::default(),
            },
            ledger,
        })
    }

    fn load_row(&mut self, row: &MachineShell) -> Result<Option<Loaded>, Trouble> {
        let Some(mut loaded) = (row.load)(self.context)? else {
            return Ok(None);
        };
        if row.run.is_none() {
            return Ok(Some(loaded));
        }
        let intent = self
            .context
            .store
            .intent(row.name, self.context.scope(row.name))?;
        if let Some(pending) = intent.value {
            let in_time = pending.deadline() > self.now;
            let life = if in_time && effect_owner::is_alive(pending.owner()) {
                Life::Alive
            } else {
                Life::Gone
            };
            loaded.part.stand(pending, life);
        }
        self.intents.push(FoundIntent {
            machine: row.name,
            path: intent.path,
            bytes: intent.bytes,
        });
        Ok(Some(loaded))
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
        Ok(found.value.unwrap_or_default().at(self.now))
    }

    /// What the transcript shows at a stop. Where it does not go back far enough to tell,
    /// our holds count on: better to let go too early, and say so, than to be overridden.
    fn tools(&self, ledger: &BlockLedger) -> (ToolUse, Option<Mark>) {
        let Some(tail) = self.context.tail().filter(|_| self.context.at_stop()) else {
            return (ToolUse::NotSeen, None);
        };
        let tools = match tail.tool_used_since_last_block() {
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

    /// Not asked where no machine could start anything.
    fn trust(&self) -> Trust {
        if self.rows.iter().all(|row| row.run.is_none()) {
            return Trust::Untrusted;
        }
        if self.context.is_drop_in() {
            return Trust::Trusted;
        }
        trust::of(self.context.store.state(), self.context.root())
    }

    /// The same bytes at the same length of the transcript are the same delivery.
    /// What a drop-in or a command is asked, it is asked anew.
    fn delivery(&self) -> mainspring_kernel::Digest {
        let anew = self.context.is_drop_in() || self.context.is_by_command();
        if anew {
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

    fn commit(&mut self, entry: Entry) -> Result<(), Trouble> {
        let files = match &entry {
            Entry::Turn { case, ruling } => match &**ruling {
                Ruling::Repeated(_) => Vec::new(),
                Ruling::Intends(pending) => {
                    vec![self.intent_change(pending.name(), Some(pending))?]
                }
                Ruling::Settled(settlement) => self.settled_files(case, settlement)?,
            },
            Entry::Verb { .. } => Vec::new(),
        };
        let Some(lock) = &mut self.lock else {
            return Err(Trouble::Other("internal: a commit without the lock".into()));
        };
        let letter = machine::looping::jwz::outgoing_message(self.context, &files);
        lock.commit(self.now, entry, files)?;
        // The record is durable: what could not be posted is posted at the next load.
        if let Some(letter) = letter
            && let Err(trouble) = machine::looping::jwz::post(self.context, &letter)
        {
            self.late.push(trouble.to_string());
        }
        Ok(())
    }

    fn settled_files(
        &self,
        case: &Case,
        settlement: &mainspring_kernel::deliberate::Settlement,
    ) -> Result<Vec<FileChange>, Trouble> {
        let mut files = Vec::new();
        let moves = case
            .inputs
            .iter()
            .zip(&self.found)
            .zip(&settlement.transitions);
        for ((part, found), moved) in moves {
            if !part.changed_by(moved) {
                continue;
            }
            if let Some(row) = machine::row(part.name()) {
                files.extend((row.files)(self.context, part, found, moved)?);
            }
            let intent = moved.intent();
            if intent != part.recorded() {
                files.push(self.intent_change(part.name(), intent.as_ref())?);
            }
        }
        if let Some(found) = &self.ledger {
            let kept = settlement.kept(case);
            if kept != case.ledger {
                files.push(json_change(
                    &found.path,
                    found.bytes.as_deref(),
                    Some(&kept),
                )?);
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

    fn run(&mut self, pending: &Pending) -> Result<Reply, Trouble> {
        let finished = machine::row(pending.name())
            .and_then(|row| row.run)
            .and_then(|run| run(self.context, pending));
        self.now = self.context.env.later();
        finished
            .map(|finished| Reply::Ran(Box::new(finished)))
            .ok_or_else(|| {
                Trouble::Other(format!("internal: nobody runs {}'s effect", pending.name()))
            })
    }

    fn with_edits(self, mut answer: Answer) -> Answer {
        for path in self.edited {
            answer.notes.push(Note::ours(format!(
                "{path} was edited while it was being updated: the edit stays, our change does not"
            )));
        }
        answer.notes.extend(self.late.into_iter().map(Note::ours));
        answer
    }
}
