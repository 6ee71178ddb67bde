//! All that a machine's loader may look at for one event or command.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::slice;
use std::time::Instant;

use mainspring_kernel::block_ledger::Mark;
use mainspring_kernel::deliberate::Trust;
use mainspring_kernel::event::{Chain, Event, Kind, Speaker};
use mainspring_kernel::machines::MachineInput;
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Millis, Name, Orders, SessionId};
use mainspring_platform::path;
use mainspring_store::Trouble;

use crate::children::permit::{Denied, Permit};
use crate::config::{self, Config};
use crate::env::Environment;
use crate::hosts::{self, HostSpec, Payload};
use crate::limits;
use crate::markers;
use crate::people::orders;
use crate::people::ownership::Ignored;
use crate::people::sessions::{self, Session};
use crate::people::trust::{Before, Permission, ProjectSettings, TrustNotice};
use crate::project::{Contents, Project};
use crate::store::{ProjectStore, installs};
use crate::transcript::{self, LastBlock, Shows, Tail, Transcript, expand_home};

/// How a drop-in translates what its machine gets.
pub(crate) type Adapt = fn(&Event, &mut MachineInput);

/// Who asks, and with which event.
#[derive(Debug, Clone)]
pub(crate) enum Caller<'a> {
    /// A host sent the event.
    Host(&'a Payload),
    /// The drop-in for this machine received it. Only this machine gets it, and whoever registered
    /// the drop-in switched the machine on.
    DropIn {
        machine: Name,
        payload: &'a Payload,
        /// How the drop-in translates what its machine gets, if it does.
        adapt: Option<Adapt>,
    },
    /// Somebody typed a command, which may make an event of its own.
    Command {
        event: Option<&'a Payload>,
        /// The plan or the check that the command named.
        subject: Option<&'a str>,
    },
    /// A view of what this session has here, whoever asks.
    View { session: Option<SessionId> },
    /// What would come of this event? Nothing may be changed, and no lock may be taken.
    Simulation(&'a Payload),
}

impl<'a> Caller<'a> {
    /// A command that makes no event.
    pub(crate) const COMMAND: Self = Self::Command {
        event: None,
        subject: None,
    };

    /// A drop-in that translates nothing that its machine gets.
    pub(crate) fn drop_in(machine: Name, payload: &'a Payload) -> Self {
        Self::DropIn {
            machine,
            payload,
            adapt: None,
        }
    }

    /// A command that makes this event.
    pub(crate) fn making(event: &'a Payload) -> Self {
        Self::Command {
            event: Some(event),
            subject: None,
        }
    }

    fn payload(&self) -> Option<&'a Payload> {
        match self {
            Self::Host(payload) | Self::DropIn { payload, .. } | Self::Simulation(payload) => {
                Some(payload)
            }
            Self::Command { event, .. } => *event,
            Self::View { .. } => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct EventContext<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) project: Project,
    pub(crate) store: ProjectStore,
    caller: Caller<'a>,
    /// When the work on the event began. Some hosts wait only a second.
    began: Instant,
    permission: OnceCell<Permission>,
    project_settings: OnceCell<ProjectSettings>,
    config: OnceCell<Config>,
    tail: OnceCell<Option<Tail>>,
    /// The same, once it was waited for.
    late_tail: OnceCell<Tail>,
    /// For a view, which looks once.
    live_here: OnceCell<Vec<Session>>,
    /// The lines before this stop are written, or were waited for.
    lines_arrived: Cell<bool>,
    /// A transcript was waited for in vain.
    waited: Cell<bool>,
    /// What the person must hear of how something was loaded.
    told: RefCell<Vec<String>>,
}

impl<'a> EventContext<'a> {
    pub(crate) fn new(
        env: &'a Environment,
        (project, store): (Project, ProjectStore),
        caller: Caller<'a>,
    ) -> Self {
        Self {
            env,
            project,
            store,
            caller,
            began: Instant::now(),
            permission: OnceCell::new(),
            project_settings: OnceCell::new(),
            config: OnceCell::new(),
            tail: OnceCell::new(),
            late_tail: OnceCell::new(),
            live_here: OnceCell::new(),
            lines_arrived: Cell::new(false),
            waited: Cell::new(false),
            told: RefCell::default(),
        }
    }

    /// The same place, as another caller finds it.
    pub(crate) fn seen_by<'b>(&self, caller: Caller<'b>) -> EventContext<'b>
    where
        'a: 'b,
    {
        let place = (self.project.clone(), self.store.clone());
        EventContext::new(self.env, place, caller)
    }

    /// The event; `None` for a view, and for a command that makes none.
    pub(crate) fn payload(&self) -> Option<&'a Payload> {
        self.caller.payload()
    }

    /// How a drop-in translates what its machine gets.
    pub(crate) const fn adapts(&self) -> Option<Adapt> {
        match self.caller {
            Caller::DropIn { adapt, .. } => adapt,
            _ => None,
        }
    }

    /// The machines that get the event.
    pub(crate) fn machines(&self) -> &[Name] {
        match &self.caller {
            Caller::DropIn { machine, .. } => slice::from_ref(machine),
            _ => Name::ALL,
        }
    }

    /// Did the drop-in for this machine receive the event?
    pub(crate) fn is_registered(&self, machine: Name) -> bool {
        matches!(self.caller, Caller::DropIn { machine: own, .. } if own == machine)
    }

    /// Did a drop-in receive this event?
    pub(crate) fn is_drop_in(&self) -> bool {
        matches!(self.caller, Caller::DropIn { .. })
    }

    /// Did a command make this event?
    pub(crate) fn is_by_command(&self) -> bool {
        matches!(self.caller, Caller::Command { event: Some(_), .. })
    }

    /// Is this only a look, after which everything is as before?
    pub(crate) fn is_looking(&self) -> bool {
        matches!(self.caller, Caller::View { .. } | Caller::Simulation(_))
    }

    /// The plan or the check that a command named.
    pub(crate) fn subject(&self) -> Option<&'a str> {
        match self.caller {
            Caller::Command { subject, .. } => subject,
            _ => None,
        }
    }

    /// Who asks here: a person who typed a command, or an agent, or a host on its behalf.
    fn actor(&self) -> Actor {
        match self.caller {
            Caller::Host(_) | Caller::DropIn { .. } | Caller::Simulation(_) => {
                Actor::Agent(self.session())
            }
            Caller::Command { .. } | Caller::View { .. } => self.env.actor(),
        }
    }

    /// The person's orders, as far as they bind whoever asks. They are read again each time,
    /// because an order may come while an effect runs.
    pub(crate) fn orders(&self) -> Result<Orders, Trouble> {
        let orders = orders::in_force(&self.project, &self.store)?;
        Ok(orders.binding(&self.actor()))
    }

    /// Permission to start a program that this machine needs.
    pub(crate) fn permit(&self, machine: Name) -> Result<Permit, Denied> {
        Permit::new(machine, self.env, &self.project, &self.store, &self.actor())
    }

    /// What a person has allowed here. Looked up once, when it is first needed.
    pub(crate) fn permission(&self) -> &Permission {
        self.permission
            .get_or_init(|| Permission::look(self.env, self.store.state(), self.root()))
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.permission().trust() == Trust::Trusted
    }

    /// May the repository's own files have an effect on this event? They may for a command,
    /// which somebody typed, and for a drop-in, which was registered to read them.
    pub(crate) fn heeds_repository(&self) -> bool {
        match self.caller {
            Caller::DropIn { .. } | Caller::Command { .. } | Caller::View { .. } => true,
            Caller::Host(_) | Caller::Simulation(_) => self.is_trusted(),
        }
    }

    /// The version of the project's settings that is in force.
    fn project_settings(&self) -> Result<&ProjectSettings, Trouble> {
        if let Some(settings) = self.project_settings.get() {
            return Ok(settings);
        }
        let settings = if self.is_vacant() {
            ProjectSettings::None
        } else {
            self.permission().settings(self.env, self.root())?
        };
        Ok(self.project_settings.get_or_init(|| settings))
    }

    /// What waits here for a person to trust it.
    pub(crate) fn trust_notice(&self) -> Result<Option<TrustNotice>, Trouble> {
        if self.is_vacant() {
            return Ok(None);
        }
        match self.permission() {
            Permission::Unreadable(trouble) => {
                let cause = trouble.to_string();
                return Ok(Some(TrustNotice::Unreadable { cause }));
            }
            Permission::Replaced => return Ok(Some(TrustNotice::Replaced)),
            Permission::BelowRoot {
                before: Before::Trusted,
            } => return Ok(Some(TrustNotice::ReplacedBelowRoot)),
            Permission::None | Permission::Trusted(_) | Permission::BelowRoot { .. } => {}
        }
        if !self.is_trusted() {
            let brought = markers::all().filter(|marker| self.project.has(marker));
            let files: Vec<_> = brought.collect();
            return Ok((!files.is_empty()).then_some(TrustNotice::Untrusted { files }));
        }
        let file = config::PROJECT_FILE;
        Ok(match self.project_settings()? {
            ProjectSettings::Newer { .. } => Some(TrustNotice::Newer { file }),
            ProjectSettings::Removed { .. } => Some(TrustNotice::Removed { file }),
            ProjectSettings::Current(text) => {
                let names = self.permission().waiting_checks(self.root(), text)?;
                (!names.is_empty()).then_some(TrustNotice::Checks { file, names })
            }
            ProjectSettings::None
            | ProjectSettings::Untrusted
            | ProjectSettings::Ignored { .. } => None,
        })
    }

    /// Read when it is first needed: most events need no setting.
    pub(crate) fn config(&self) -> Result<&Config, Trouble> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = Config::load(self.env, self.root(), self.project_settings()?)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// Files that were found above the project and ignored because of their owner.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = &Ignored> {
        let of_config = self.config.get().map(|config| &config.ignored);
        self.project
            .ignored
            .iter()
            .chain(of_config.into_iter().flatten())
    }

    /// Tells the person something beside the answer.
    pub(crate) fn tell(&self, text: String) {
        self.told.borrow_mut().push(text);
    }

    /// What was told since the last call.
    pub(crate) fn take_told(&self) -> Vec<String> {
        self.told.take()
    }

    pub(crate) fn at_stop(&self) -> bool {
        self.payload()
            .is_some_and(|payload| matches!(payload.event.kind, Kind::Stop { .. }))
    }

    /// How long the host still waits for the answer to a stop, less what we need to give it.
    pub(crate) fn time_left(&self) -> Option<Millis> {
        if !self.at_stop() || self.is_by_command() {
            return None;
        }
        let whole = installs::stop_timeout(self.store.state());
        let left = whole.saturating_sub(limits::STOP_MARGIN + self.began.elapsed());
        Some(Millis(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)))
    }

    /// The same, once so much of it is gone that the next stop would have more: only then is it
    /// worth to wait for that.
    pub(crate) fn time_left_after_work(&self) -> Option<Millis> {
        let spent = self.began.elapsed() > limits::STOP_MARGIN;
        spent.then(|| self.time_left()).flatten()
    }

    /// The deadline for the answer at a session's end; `None` at other events.
    pub(crate) fn deadline_at_end(&self) -> Option<Instant> {
        let kind = &self.payload()?.event.kind;
        matches!(kind, Kind::SessionEnd { .. }).then(|| self.began + limits::SESSION_END)
    }

    pub(crate) fn is_subagents(&self) -> bool {
        self.payload()
            .is_some_and(|payload| payload.event.speaker == Speaker::Subagent)
    }

    /// The session's transcript, if it can be opened.
    pub(crate) fn transcript(&self) -> Option<Transcript> {
        let path = self.payload()?.transcript.as_ref()?.to_str()?;
        let home = self.env.home().unwrap_or_default();
        let path = expand_home(path, &home);
        // A script reads what a symlink leads to. We do not otherwise: no host names one.
        let path = match self.is_drop_in().then(|| path::real(&path)) {
            Some(Ok(path)) => path,
            Some(Err(_)) | None => path,
        };
        self.wait_for_lines(&path);
        Transcript::open(&path).ok()
    }

    /// When the person wrote the last prompt, by the transcript.
    pub(crate) fn prompted_at(&self) -> Option<Millis> {
        let prompt = self.host().transcript.prompt;
        self.transcript()?.last_prompt(prompt).ok()??.at
    }

    /// Waits until the host has written the lines that come before this stop, if it always writes
    /// them late.
    fn wait_for_lines(&self, path: &Path) {
        let (Some(payload), Some(about_stop)) = (self.payload(), self.host().transcript.about_stop)
        else {
            return;
        };
        let Some(stamp) = payload.stamp.as_deref().filter(|_| self.at_stop()) else {
            return;
        };
        let arrived = || {
            let lines = Transcript::open(path).ok()?;
            let is_there = lines.has_line(|line| about_stop(line, stamp));
            is_there.then_some(())
        };
        if !self.lines_arrived.replace(true) {
            self.look_again(arrived);
        }
    }

    /// Looks into a transcript until it shows this. What did not come in time is not waited for a
    /// second time: an event that runs a check is looked at again when the check has ended.
    pub(crate) fn look_again<T>(&self, look: impl Fn() -> Option<T>) -> Option<T> {
        if self.waited.get() {
            return look();
        }
        let found = transcript::look_again(look);
        self.waited.set(found.is_none());
        found
    }

    /// The end of the transcript at a stop. Read once, when it is first needed.
    pub(crate) fn tail(&self) -> Option<&Tail> {
        let first = || self.tail.get_or_init(|| self.read_tail()).as_ref();
        self.late_tail.get().or_else(first)
    }

    /// Reads the end of the transcript again until it has what the agent said at this stop, if the
    /// host sends that.
    pub(crate) fn wait_for_tail(&self) {
        let shows = self.host().transcript.shows;
        let words = self
            .payload()
            .filter(|payload| payload.transcript.is_some())
            .and_then(|payload| payload.last_message.as_ref());
        let Some(words) = words.filter(|_| shows != Shows::Nothing && !self.is_looking()) else {
            return;
        };
        let is_whole = |tail: &Tail| tail.has_last_words(words, shows);
        if self.tail().is_some_and(is_whole) {
            return;
        }
        let whole = self.look_again(|| self.read_tail().filter(is_whole));
        if let Some(tail) = whole.or_else(|| self.read_tail()) {
            let _ = self.late_tail.set(tail);
        }
    }

    /// The end of the transcript as it is now.
    pub(crate) fn read_tail(&self) -> Option<Tail> {
        let transcript = self.transcript()?;
        let last_block = self
            .last_mark()
            .map_or(LastBlock::None, |mark| LastBlock::At {
                size: mark.size,
                unrecorded: mark.unrecorded,
            });
        let entry = self.host().transcript.entry;
        transcript.tail(entry, last_block).ok()
    }

    /// How far the transcript had come when we last held the agent in this turn.
    pub(crate) fn last_mark(&self) -> Option<Mark> {
        let event = &self.payload()?.event;
        let Kind::Stop {
            chain: Chain::Continued,
            ..
        } = event.kind
        else {
            return None;
        };
        let ledger = self.store.ledger(event.session.as_ref()?).ok()?;
        ledger.value?.mark
    }

    /// The host that sent the event, or in whose agent's shell the command was typed.
    pub(crate) fn host(&self) -> &'static HostSpec {
        match self.payload() {
            Some(payload) => payload.host,
            None => hosts::of_environment(self.env),
        }
    }

    /// The host that sent the event; `None` for a command, and for an event that a command makes.
    fn sender(&self) -> Option<&'static HostSpec> {
        let payload = self.payload().filter(|_| !self.is_by_command());
        payload.map(|payload| payload.host)
    }

    /// Does a person attend the session?
    pub(crate) fn is_attended(&self) -> bool {
        match self.sender() {
            Some(host) => host.is_attended(self.env),
            None => hosts::is_attended(self.env),
        }
    }

    /// The client's process, if its host tells.
    pub(crate) fn client(&self) -> Option<u32> {
        match self.sender() {
            Some(host) => host.client(self.env),
            None => hosts::client(self.env),
        }
    }

    /// The live sessions of this project. An event looks each time, because an effect of it may have
    /// taken minutes.
    pub(crate) fn live_here(&self) -> Cow<'_, [Session]> {
        let look = || sessions::live_in(self.env, self.store.state(), self.root());
        match self.payload() {
            Some(_) => look().into(),
            None => self.live_here.get_or_init(look).into(),
        }
    }

    /// The event comes from a place where no machine has a file and we have no state. A command
    /// may be about to change that.
    pub(crate) fn is_vacant(&self) -> bool {
        let comes = self.payload().is_some() && !self.is_by_command();
        comes && self.project.contents == Contents::Nothing
    }

    pub(crate) fn root(&self) -> &Path {
        &self.project.root
    }

    /// The session of the event, or the one that a view is about, or that of the agent whose shell
    /// runs the command.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match (self.payload(), &self.caller) {
            (Some(payload), _) => payload.event.session.clone(),
            (
                None,
                Caller::View {
                    session: Some(session),
                },
            ) => Some(session.clone()),
            (None, _) => self.env.agent_session(),
        }
    }
}
