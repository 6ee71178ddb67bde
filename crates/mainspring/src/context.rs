//! All that a machine's loader may look at for one event or command.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::time::Instant;

use mainspring_kernel::block_ledger::Mark;
use mainspring_kernel::deliberate::Trust;
use mainspring_kernel::event::{Chain, Kind, Speaker};
use mainspring_kernel::verbs::Actor;
use mainspring_kernel::{Millis, Name, Orders, SessionId};
use mainspring_platform::path;
use mainspring_store::Trouble;

use crate::children::permit::{Denied, Permit};
use crate::config::{self, Config};
use crate::env::Environment;
use crate::hosts::{self, HostSpec, Payload};
use crate::limits;
use crate::machines::HandedOn;
use crate::markers;
use crate::people::orders;
use crate::people::ownership::Ignored;
use crate::people::sessions::{self, Session};
use crate::people::trust::{Before, Permission, ProjectSettings, TrustNotice};
use crate::project::{Contents, Project};
use crate::store::{ProjectStore, installs};
use crate::transcript::{self, LastBlock, Shows, Tail, Transcript, expand_home};

#[derive(Debug)]
pub(crate) struct EventContext<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) project: &'a Project,
    pub(crate) store: &'a ProjectStore,
    /// When the work on the event began. Some hosts wait only a second.
    pub(crate) began: Instant,
    /// The event, as the host sent it; `None` for a command or a view.
    pub(crate) payload: Option<&'a Payload>,
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
    /// The only machine that gets this event, if a drop-in received it. Whoever registered the
    /// drop-in switched the machine on.
    registered: Option<Name>,
    /// A command made this event, not a host.
    by_command: bool,
    /// Nothing may be changed, and no lock may be taken.
    looking: bool,
    /// The session that a view is about.
    about: Option<SessionId>,
    /// The plan or the check that a command named.
    subject: Option<&'a str>,
    /// What a machine leaves for a later one at the same event.
    pub(crate) handed_on: HandedOn,
}

impl<'a> EventContext<'a> {
    pub(crate) fn new(
        env: &'a Environment,
        project: &'a Project,
        store: &'a ProjectStore,
        payload: Option<&'a Payload>,
    ) -> Self {
        Self {
            env,
            project,
            store,
            began: Instant::now(),
            payload,
            permission: OnceCell::new(),
            project_settings: OnceCell::new(),
            config: OnceCell::new(),
            tail: OnceCell::new(),
            late_tail: OnceCell::new(),
            live_here: OnceCell::new(),
            lines_arrived: Cell::new(false),
            waited: Cell::new(false),
            told: RefCell::default(),
            registered: None,
            by_command: false,
            looking: false,
            about: None,
            subject: None,
            handed_on: HandedOn::default(),
        }
    }

    /// For a drop-in, which has one machine.
    #[must_use]
    pub(crate) fn registered(mut self, machine: Name) -> Self {
        self.registered = Some(machine);
        self
    }

    pub(crate) fn is_registered(&self, machine: Name) -> bool {
        self.registered == Some(machine)
    }

    /// Did a drop-in receive this event?
    pub(crate) fn is_drop_in(&self) -> bool {
        self.registered.is_some()
    }

    /// For an event that a command makes.
    #[must_use]
    pub(crate) fn by_command(mut self) -> Self {
        self.by_command = true;
        self
    }

    pub(crate) fn is_by_command(&self) -> bool {
        self.by_command
    }

    /// For an event that no host sent, to see what would happen.
    #[must_use]
    pub(crate) fn looking(mut self) -> Self {
        self.looking = true;
        self
    }

    pub(crate) fn is_looking(&self) -> bool {
        self.looking
    }

    /// For a view about this session, whoever asks.
    #[must_use]
    pub(crate) fn about(mut self, session: Option<SessionId>) -> Self {
        self.about = session;
        self
    }

    /// The same for the next session of a view that is about several.
    pub(crate) fn turn_to(&mut self, session: SessionId) {
        self.about = Some(session);
    }

    /// For a command that names its plan.
    #[must_use]
    pub(crate) fn about_subject(mut self, subject: &'a str) -> Self {
        self.subject = Some(subject);
        self
    }

    pub(crate) fn subject(&self) -> Option<&str> {
        self.subject
    }

    /// Who asks here: a person who typed a command, or an agent, or a host on its behalf.
    fn actor(&self) -> Actor {
        match self.payload {
            Some(_) if !self.by_command => Actor::Agent(self.session()),
            Some(_) | None => self.env.actor(),
        }
    }

    /// The person's orders, as far as they bind whoever asks. They are read again each time,
    /// because an order may come while an effect runs.
    pub(crate) fn orders(&self) -> Result<Orders, Trouble> {
        let orders = orders::in_force(self.project, self.store)?;
        Ok(orders.binding(&self.actor()))
    }

    /// Permission to start a program that this machine needs.
    pub(crate) fn permit(&self, machine: Name) -> Result<Permit, Denied> {
        Permit::new(machine, self.env, self.project, self.store, &self.actor())
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
        self.payload.is_none() || self.by_command || self.is_drop_in() || self.is_trusted()
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
        self.payload
            .is_some_and(|payload| matches!(payload.event.kind, Kind::Stop { .. }))
    }

    /// How long the host still waits for the answer to a stop, less what we need to give it.
    pub(crate) fn time_left(&self) -> Option<Millis> {
        if !self.at_stop() || self.by_command {
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
        let kind = &self.payload?.event.kind;
        matches!(kind, Kind::SessionEnd { .. }).then(|| self.began + limits::SESSION_END)
    }

    pub(crate) fn is_subagents(&self) -> bool {
        self.payload
            .is_some_and(|payload| payload.event.speaker == Speaker::Subagent)
    }

    /// The session's transcript, if it can be opened.
    pub(crate) fn transcript(&self) -> Option<Transcript> {
        let path = self.payload?.transcript.as_ref()?.to_str()?;
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
        let (Some(payload), Some(about_stop)) = (self.payload, self.host().transcript.about_stop)
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
            .payload
            .filter(|payload| payload.transcript.is_some())
            .and_then(|payload| payload.last_message.as_ref());
        let Some(words) = words.filter(|_| shows != Shows::Nothing && !self.looking) else {
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
        let event = &self.payload?.event;
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
        match self.payload {
            Some(payload) => payload.host,
            None => hosts::of_environment(self.env),
        }
    }

    /// The host that sent the event; `None` for a command, and for an event that a command makes.
    fn sender(&self) -> Option<&'static HostSpec> {
        let payload = self.payload.filter(|_| !self.by_command);
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
        match self.payload {
            Some(_) => look().into(),
            None => self.live_here.get_or_init(look).into(),
        }
    }

    /// The event comes from a place where no machine has a file and we have no state. A command
    /// may be about to change that.
    pub(crate) fn is_vacant(&self) -> bool {
        self.project.contents == Contents::Nothing && self.payload.is_some() && !self.by_command
    }

    pub(crate) fn root(&self) -> &Path {
        &self.project.root
    }

    /// The session of the event, or the one that a view is about, or that of the agent whose shell
    /// runs the command.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match self.payload {
            Some(payload) => payload.event.session.clone(),
            None => self.about.clone().or_else(|| self.env.agent_session()),
        }
    }
}
