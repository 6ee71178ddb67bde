//! The hosts: what their hooks send, how they want to be answered, and all else that differs
//! between them. A host is an entry in [`HOSTS`]; nothing outside this folder knows one.

pub(crate) mod agent;
mod claude;
pub(crate) mod install;
mod jsonc;
pub(crate) mod reviewer;
pub(crate) mod task_files;
pub(crate) mod text;

use std::path::PathBuf;

use mainspring_kernel::block_ledger::Cap;
use mainspring_kernel::{Answer, Digest, Event, Millis, SessionId};
use mainspring_store::digest;

use self::agent::KnownAgent;
pub(crate) use self::claude::plugins;
use self::install::Installation;
use self::reviewer::Reviewer;
use self::task_files::TaskFiles;
use crate::env::Environment;
use crate::transcript::TranscriptFormat;

/// What Mainspring knows of one host.
#[derive(Debug)]
pub(crate) struct HostSpec {
    /// The client's program.
    pub(crate) program: &'static str,
    /// Its name, and how its agents are told from people.
    pub(crate) agent: &'static KnownAgent,
    /// Is this a payload of its hooks? `None` for the one host whose format is assumed where
    /// no other recognises its own.
    pub(crate) sent: Option<fn(&Environment, &[u8]) -> bool>,
    pub(crate) decode: fn(Vec<u8>, DecodeAs) -> Result<Payload, DecodeError>,
    /// One line for the host, about the event of this name; `None` where there is nothing to
    /// say.
    pub(crate) encode: fn(&Answer, &str, Wording) -> Option<String>,
    /// How a hold is worded to this session, where the person did not choose.
    pub(crate) wording: fn(&Environment, Option<&SessionId>) -> Wording,
    /// How many holds in a row it bears before it overrides us.
    pub(crate) cap: fn(&Environment) -> Cap,
    pub(crate) variables: Variables,
    pub(crate) transcript: TranscriptFormat,
    pub(crate) task_files: TaskFiles,
    pub(crate) reviewer: Reviewer,
    pub(crate) installation: Installation,
    pub(crate) doctor: Doctor,
}

/// Variables that a host sets for its hooks, where it does.
#[derive(Debug)]
pub(crate) struct Variables {
    /// Where the session was started.
    pub(crate) project: Option<&'static str>,
    /// The client's process.
    pub(crate) client: Option<&'static str>,
    /// `0` where nobody attends.
    pub(crate) attended: Option<&'static str>,
}

/// What `doctor` asks the client, and tells the person.
#[derive(Debug)]
pub(crate) struct Doctor {
    /// The command that installs the client.
    pub(crate) get: &'static str,
    /// What it is asked for its version with.
    pub(crate) version: &'static [&'static str],
    /// The command that goes on with a session.
    pub(crate) resume: &'static str,
}

pub(crate) const HOSTS: &[&HostSpec] = &[&claude::SPEC];

/// Whose format is assumed where nothing tells.
pub(crate) const DEFAULT: &HostSpec = &claude::SPEC;

/// The program of the default host.
pub(crate) const PROGRAM: &str = claude::PROGRAM;

/// The host that sent this payload.
pub(crate) fn of_payload(env: &Environment, bytes: &[u8]) -> &'static HostSpec {
    let sent = |host: &&&HostSpec| host.sent.is_some_and(|sent| sent(env, bytes));
    HOSTS.iter().find(sent).map_or(DEFAULT, |host| host)
}

/// The host in whose agent's shell this is.
pub(crate) fn of_environment(env: &Environment) -> &'static HostSpec {
    let here = |host: &&&HostSpec| {
        let session = host.agent.session;
        session.is_some_and(|name| env.var_os(name).is_some())
    };
    HOSTS.iter().find(here).map_or(DEFAULT, |host| host)
}

/// Where the session was started, as its host tells its hooks.
pub(crate) fn project_dir(env: &Environment) -> Option<PathBuf> {
    let set = HOSTS
        .iter()
        .find_map(|host| env.var_os(host.variables.project?));
    set.map(PathBuf::from)
}

/// The client's process, as it tells its hooks.
pub(crate) fn client(env: &Environment) -> Option<u32> {
    let pid = |host: &&HostSpec| env.var(host.variables.client?)?.parse().ok();
    HOSTS.iter().find_map(pid)
}

/// Is somebody there to be woken? A headless run would wait for a hook in the background.
pub(crate) fn is_attended(env: &Environment) -> bool {
    let alone = |host: &&HostSpec| {
        let variable = host.variables.attended;
        variable.is_some_and(|name| env.var(name).as_deref() == Some("0"))
    };
    !HOSTS.iter().any(alone)
}

/// One event as a host sent it, decoded.
#[derive(Debug, Clone)]
pub struct Payload {
    pub(crate) host: &'static HostSpec,
    pub event: Event,
    /// The host's own name for the event: it wants it back in the answer.
    pub wire_name: String,
    /// The agent's directory at that moment; it moves when the agent runs `cd`.
    pub cwd: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    /// The agent's last words, where the host gives them.
    pub last_message: Option<String>,
    /// What a tool is about to be given, as JSON; only before it runs.
    pub(crate) tool_input: Option<String>,
    /// Where a typed command comes from: `projectSettings`, `plugin`.
    pub(crate) command_source: Option<String>,
    /// The team that the agent works in.
    pub(crate) team: Option<String>,
    /// All of it, as it was sent.
    bytes: Vec<u8>,
}

/// How the agent is told to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// `decision: block`, which every client and every host of this family understands. The
    /// person reads it as "Stop hook error", and the agent reads it twice.
    Block,
    /// As context, which the person reads as "Stop hook feedback". The client counts it as it
    /// counts a block.
    Context,
}

/// What is known of an event beside what its payload says. A drop-in is registered for one
/// kind, and what its script is given need not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeAs {
    Named,
    Stop,
    StopUnlessNamed,
    /// A skill was invoked, by the agent or typed.
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
    /// An event that a command plays: no host sent it. Its time tells it from the next one.
    pub(crate) fn played(event: Event, cwd: PathBuf, at: Millis) -> Self {
        Self {
            host: DEFAULT,
            event,
            wire_name: String::new(),
            cwd: Some(cwd),
            transcript: None,
            last_message: None,
            tool_input: None,
            command_source: None,
            team: None,
            bytes: at.0.to_le_bytes().into(),
        }
    }

    /// The line for the host that sent it; `None` where there is nothing to say.
    pub(crate) fn encode(&self, answer: &Answer, wording: Wording) -> Option<String> {
        (self.host.encode)(answer, &self.wire_name, wording)
    }

    pub(crate) fn digest(&self) -> Digest {
        digest::of(&[&self.bytes])
    }
}

/// The event that a host sent.
pub(crate) fn decode(
    env: &Environment,
    bytes: Vec<u8>,
    known: DecodeAs,
) -> Result<Payload, DecodeError> {
    let host = of_payload(env, &bytes);
    (host.decode)(bytes, known)
}

#[cfg(test)]
mod tests;
