//! The hosts: what their hooks send, what they expect as an answer, and everything else in
//! which they differ. A host is an entry in [`HOSTS`]; no code outside this folder knows one.

pub(crate) mod agent;
mod answers;
pub(crate) mod call;
mod claude;
mod codex;
mod copilot;
mod decode;
mod droid;
mod encode;
mod files;
mod gemini;
mod grok;
mod hooks_file;
pub(crate) mod install;
mod jsonc;
pub(crate) mod not_run;
mod opencode;
mod pi;
mod plugin_file;
mod qwen;
mod reading;
pub(crate) mod reviewer;
pub(crate) mod task_files;
pub(crate) mod text;
pub(crate) mod vendor_answer;
mod wire;

use std::path::{Path, PathBuf};

use mainspring_kernel::block_ledger::Cap;
use mainspring_kernel::orders::TypedHere;
use mainspring_kernel::{Answer, Digest, Event, Millis, SessionId};
use mainspring_store::digest;

use self::agent::KnownAgent;
use self::answers::Answers;
pub(crate) use self::answers::OrdersBy;
pub(crate) use self::claude::plugins;
pub(crate) use self::claude::transcript::{Speaker, played_line, played_transcript};
pub(crate) use self::decode::decode;
pub(crate) use self::encode::handled;
use self::install::Installation;
use self::reading::Reading;
pub(crate) use self::reading::Subagents;
use self::task_files::{Roots, TaskFiles};
use self::wire::Wire;
use crate::env::Environment;
use crate::transcript::TranscriptFormat;

/// What Mainspring knows about one host.
#[derive(Debug)]
pub(crate) struct HostSpec {
    /// Its folder in a project, with a slash at its end.
    pub(crate) folder: &'static str,
    /// The name of the client's program.
    pub(crate) program: &'static str,
    /// The host's own folder, with what is a person's, in the home.
    pub(crate) in_home: &'static str,
    /// The variable that names another place for it, and the part of the path that it stands for.
    pub(crate) moved: Option<(&'static str, &'static str)>,
    /// Its name, and how to recognise its agents.
    pub(crate) agent: &'static KnownAgent,
    /// Is this a payload of its hooks? `None` for the host whose format is assumed if no other
    /// host recognises the payload.
    pub(crate) sent: Option<fn(&Environment, &Wire<'_>) -> bool>,
    pub(crate) reading: Reading,
    pub(crate) answers: Answers,
    /// How many holds in a row the host accepts before it overrides us.
    pub(crate) cap: fn(&Environment) -> Cap,
    pub(crate) variables: Variables,
    pub(crate) transcript: TranscriptFormat,
    pub(crate) task_files: TaskFiles,
    pub(crate) installation: Installation,
    pub(crate) doctor: Doctor,
}

/// The variables that a host sets for its hooks, if it does.
#[derive(Debug)]
pub(crate) struct Variables {
    /// The id of the session that an event is of. By it the sender is known for sure: another host
    /// with the same payloads may understand less.
    pub(crate) session: Option<&'static str>,
    /// The folder in which the session was started.
    pub(crate) project: Option<&'static str>,
    /// The id of the client's process.
    pub(crate) client: Option<&'static str>,
    /// `0` if no person attends the session.
    pub(crate) attended: Option<&'static str>,
    /// The folder of the plugin that a hook belongs to.
    pub(crate) plugin: Option<&'static str>,
}

impl Variables {
    const NONE: Self = Self {
        session: None,
        project: None,
        client: None,
        attended: None,
        plugin: None,
    };
}

/// What `doctor` asks the client and tells the person.
#[derive(Debug)]
pub(crate) struct Doctor {
    /// The command that installs the client.
    pub(crate) get: &'static str,
    /// The oldest version that was tried.
    pub(crate) oldest: &'static str,
    /// The command that resumes a session.
    pub(crate) resume: &'static str,
    /// What else there is to know about hooks that are registered in this file.
    pub(crate) also: fn(&Environment, &Path) -> Vec<Advice>,
}

/// What only one host needs to be told about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) about: &'static str,
    pub(crate) what: String,
    /// The command that changes it, if something is wrong.
    pub(crate) fix: Option<&'static str>,
}

/// For a host about which there is nothing else to know.
fn nothing_else(_: &Environment, _: &Path) -> Vec<Advice> {
    Vec::new()
}

impl HostSpec {
    /// What a person must do before an order that they type in the client reaches us, while the
    /// agent is held.
    pub(crate) fn typed_here(&self) -> TypedHere {
        match (self.answers.orders, self.transcript.queue) {
            (OrdersBy::Message, None) => TypedHere::AfterEsc,
            (OrdersBy::Command | OrdersBy::Message | OrdersBy::Nowhere, _) => TypedHere::AtOnce,
        }
    }

    /// Does it tell us before its agent uses a tool?
    pub(crate) fn tells_of_tools(&self) -> bool {
        !self.reading.name_of(reading::Means::BeforeTool).is_empty()
    }

    /// The host's own folder; `None` without a home.
    pub(crate) fn own_folder(&self, env: &Environment) -> Option<PathBuf> {
        let set = |(name, part)| Some((env.dir(name)?, part));
        match self.moved.and_then(set) {
            Some((mut folder, part)) => {
                folder.extend(Path::new(self.in_home).strip_prefix(part).ok()?);
                Some(folder)
            }
            None => Some(env.home()?.join(self.in_home)),
        }
    }

    /// The folders of skills and task lists.
    pub(crate) fn roots(&self, env: &Environment, cwd: Option<&Path>) -> Option<Roots> {
        (self.task_files.roots)(self, env, cwd)
    }

    /// Was this session's event sent by this very host, so that it understands everything?
    fn is_sender(&self, env: &Environment, session: Option<&SessionId>) -> bool {
        let named = self.variables.session.and_then(|name| env.var(name));
        let named = named.and_then(|id| SessionId::parse(&id));
        named.is_some() && named.as_ref() == session
    }

    /// How a hold is worded in this session, if the person did not choose.
    pub(crate) fn wording(&self, env: &Environment, session: Option<&SessionId>) -> Wording {
        if self.is_sender(env, session) {
            Wording::Context
        } else {
            Wording::Block
        }
    }

    /// Does the host wake its agent when a background hook says so? Elsewhere such a hook would
    /// run as any other, and hold the stop.
    pub(crate) fn rewakes(&self, env: &Environment, session: Option<&SessionId>) -> bool {
        self.is_sender(env, session)
    }

    /// The folder in which the session was started, if the host tells its hooks.
    pub(crate) fn project_dir(&self, env: &Environment) -> Option<PathBuf> {
        env.var_os(self.variables.project?).map(PathBuf::from)
    }

    /// The id of the client's process, if it is the session's alone and the client tells its hooks.
    pub(crate) fn client(&self, env: &Environment) -> Option<u32> {
        env.var(self.variables.client?)?.parse().ok()
    }

    /// Is a person there? In a headless run, the host would wait for a background hook.
    pub(crate) fn is_attended(&self, env: &Environment) -> bool {
        let told = self.variables.attended.and_then(|name| env.var(name));
        told.as_deref() != Some("0")
    }
}

pub(crate) const HOSTS: &[&HostSpec] = &[
    &claude::SPEC,
    &codex::SPEC,
    &gemini::SPEC,
    &qwen::SPEC,
    &copilot::SPEC,
    &droid::SPEC,
    &grok::SPEC,
    &opencode::SPEC,
    &pi::SPEC,
];

/// The host that is assumed if nothing tells which one it is.
pub(crate) const DEFAULT: &HostSpec = &claude::SPEC;

/// How many holds in a row without tool use we allow ourselves where the host has no limit, if
/// the person did not choose: as many as `install` allows us in Claude Code.
const OWN_CAP: u32 = 100;

/// The host that sent this payload.
fn sender(env: &Environment, wire: &Wire<'_>) -> &'static HostSpec {
    let sent = |host: &&&HostSpec| host.sent.is_some_and(|sent| sent(env, wire));
    HOSTS.iter().find(sent).map_or(DEFAULT, |host| host)
}

/// The host of this name: that of its program.
pub(crate) fn named(program: &str) -> Option<&'static HostSpec> {
    HOSTS.iter().find(|host| host.program == program).copied()
}

/// The host in whose agent's shell this runs.
pub(crate) fn of_environment(env: &Environment) -> &'static HostSpec {
    let here = |host: &&&HostSpec| {
        let agent = host.agent;
        let mut names = agent.session.iter().chain(agent.marks);
        names.any(|name| env.var_os(name).is_some())
    };
    HOSTS.iter().find(here).map_or(DEFAULT, |host| host)
}

/// The folders that hosts have in a project, each with a slash at its end.
pub(crate) fn folders() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|host| host.folder)
}

/// Names of the variables that hosts set or read, for whoever must not get them. One star stands
/// for any characters.
pub(crate) fn variables() -> Vec<&'static str> {
    let of_hosts = reviewer::PROFILES.iter().flat_map(|one| one.env.all());
    let of_agents = agent::variables();
    of_hosts.chain(of_agents).collect()
}

/// The folder in which the session was started in whose agent's shell a command runs. A command has
/// no sender, so every host is asked.
pub(crate) fn project_dir(env: &Environment) -> Option<PathBuf> {
    HOSTS.iter().find_map(|host| host.project_dir(env))
}

/// The process of the client in whose agent's shell a command runs.
pub(crate) fn client(env: &Environment) -> Option<u32> {
    HOSTS.iter().find_map(|host| host.client(env))
}

/// Does a person attend the session in whose agent's shell a command runs?
pub(crate) fn is_attended(env: &Environment) -> bool {
    HOSTS.iter().all(|host| host.is_attended(env))
}

/// One decoded event.
#[derive(Debug, Clone)]
pub struct Payload {
    pub(crate) host: &'static HostSpec,
    pub event: Event,
    /// The host's own name for the event, which the answer must repeat.
    pub wire_name: String,
    /// The agent's directory at the time of the event; `cd` changes it.
    pub cwd: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    /// The agent's last message, if the host sends it.
    pub last_message: Option<String>,
    /// The input of a tool that is about to run, as JSON.
    pub(crate) tool_input: Option<String>,
    /// A person's message that begins with our name.
    pub(crate) to_us: Option<String>,
    /// What was typed after a command.
    pub(crate) command_args: Option<String>,
    /// Where a typed command comes from: for example `projectSettings` or `plugin`.
    pub(crate) command_source: Option<String>,
    /// The team in which the agent works.
    pub(crate) team: Option<String>,
    /// The host's own time of the event, as it wrote it.
    pub(crate) stamp: Option<String>,
    /// The payload's bytes.
    bytes: Vec<u8>,
}

/// Which registration called a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalledBy {
    /// A person's own settings, or a plugin.
    Name,
    /// Settings that several people share.
    SharedSettings,
}

/// How a hold is worded for the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// `decision: block`, which every host of this family understands. The person sees it as
    /// "Stop hook error", and the agent gets it twice.
    Block,
    /// As context, which the person sees as "Stop hook feedback". Claude Code counts it like a
    /// block.
    Context,
}

/// What we know about an event in addition to its payload. A drop-in is registered for one kind
/// of event, and its payload need not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeAs {
    Named,
    Stop,
    StopUnlessNamed,
    /// A skill was invoked, by the agent or by the person.
    Skill,
    Idle,
    SessionStart,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error("the hook got no input")]
    Empty,
    #[error("the hook's input is not UTF-8 text")]
    NotText,
    #[error("the hook's input is not a JSON object: {0}")]
    NotJson(String),
}

impl Payload {
    /// An event that a command makes; no host sent it. Its time distinguishes it from the next
    /// one.
    pub(crate) fn played(event: Event, cwd: PathBuf, at: Millis) -> Self {
        Self {
            host: DEFAULT,
            event,
            wire_name: String::new(),
            cwd: Some(cwd),
            transcript: None,
            last_message: None,
            tool_input: None,
            to_us: None,
            command_args: None,
            command_source: None,
            team: None,
            stamp: None,
            bytes: at.0.to_le_bytes().into(),
        }
    }

    /// The line for the host that sent the event; `None` if there is nothing to say.
    pub(crate) fn encode(&self, answer: &Answer, wording: Wording) -> Option<String> {
        encode::encode(&self.host.answers, answer, &self.wire_name, wording)
    }

    pub(crate) fn digest(&self) -> Digest {
        digest::of(&[&self.bytes])
    }
}

/// The line for a failure of ours, where nobody knows which host it is for.
pub(crate) fn fault_line(answer: &Answer) -> Option<String> {
    encode::encode(&DEFAULT.answers, answer, "", Wording::Block)
}

#[cfg(test)]
mod tests;
