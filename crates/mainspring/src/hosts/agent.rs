//! Decides whether a command was typed in an agent's shell or in a person's.
//!
//! A host marks its agent's shell with variables, or it is an ancestor of every process that
//! the agent runs. The table also has hosts that Mainspring does not support yet, because their
//! agents must not pass for people either.

use std::path::Path;

use mainspring_kernel::SessionId;
use mainspring_kernel::verbs::Actor;
use mainspring_platform::process::Ancestor;
use mainspring_platform::program;

use super::{claude, codex, copilot, droid, files, gemini, grok, opencode, pi, qwen};
use crate::env::{Environment, name};

/// How to recognise a host's agents.
#[derive(Debug)]
pub(crate) struct KnownAgent {
    pub(crate) name: &'static str,
    /// The variable in its agent's shell that holds the session's id.
    pub(crate) session: Option<&'static str>,
    /// Other variables that only an agent's shell has. A variable that a person's profile may
    /// set (`CODEX_HOME`), or that an editor sets in every terminal, is no sign.
    pub(crate) marks: &'static [&'static str],
    /// The names of its program, and of a script that is its program.
    pub(crate) programs: &'static [&'static str],
    /// Folders that are one below the other in that script's path.
    pub(crate) folders: &'static [&'static str],
}

const KNOWN: &[&KnownAgent] = &[
    &claude::AGENT,
    &codex::AGENT,
    &gemini::AGENT,
    &qwen::AGENT,
    &copilot::AGENT,
    &opencode::AGENT,
    &droid::AGENT,
    &grok::AGENT,
    &KnownAgent::silent(
        "Kimi Code",
        &["kimi"],
        &["node_modules/@moonshot-ai/kimi-code"],
    ),
    &KnownAgent::silent("Cline", &["cline"], &["node_modules/cline"]),
    &pi::AGENT,
    &KnownAgent::silent(
        "Kilo",
        &["kilo", "kilocode"],
        &["node_modules/@kilocode/cli"],
    ),
    &KnownAgent::silent(
        "Amp",
        &["amp"],
        &["node_modules/@ampcode/cli", "node_modules/@sourcegraph/amp"],
    ),
    &KnownAgent::silent("Auggie", &["auggie"], &["node_modules/@augmentcode/auggie"]),
    &KnownAgent::silent("Crush", &["crush"], &["node_modules/@charmland/crush"]),
    &KnownAgent {
        name: "Cursor",
        session: None,
        marks: &["CURSOR_AGENT"],
        programs: &["cursor-agent"],
        folders: &["cursor-agent"],
    },
    &KnownAgent::silent("Goose", &["goose"], &[]),
    &KnownAgent::silent("Kiro", &["kiro-cli", "kiro-cli-chat"], &[]),
    &KnownAgent::silent("Mistral Vibe", &["vibe"], &[]),
    // A process that we started is no person.
    &KnownAgent {
        name: "a child of Mainspring",
        session: None,
        marks: &[name::DEPTH],
        programs: &[],
        folders: &[],
    },
];

/// Programs whose script decides what they are.
const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno", "python", "python3"];

/// Options of these programs that take the next word as their value.
const WITH_VALUE: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "-C",
    "--conditions",
];

/// The agent in whose shell this runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    pub(crate) sign: Sign,
}

/// How the agent was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Variable(&'static str),
    Ancestor(u32),
}

impl Agent {
    /// The reason, for a person who was taken for an agent.
    pub(crate) fn reason(&self) -> String {
        let Self { name, sign } = self;
        match sign {
            Sign::Variable(variable) => {
                format!("{variable} is set here, as in a shell of {name}")
            }
            Sign::Ancestor(pid) => format!("process {pid}, which started this, is {name}"),
        }
    }
}

/// Every variable that marks an agent's shell.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().flat_map(|agent| agent.variables())
}

/// The agent, recognised by the variables of this process and by its ancestors; `None` if it is
/// a person.
fn recognise(is_set: impl Fn(&'static str) -> bool, ancestors: &[Ancestor]) -> Option<Agent> {
    let by_variable = KNOWN.iter().find_map(|agent| {
        let variable = agent.variables().find(|variable| is_set(variable))?;
        Some(Agent {
            name: agent.name,
            sign: Sign::Variable(variable),
        })
    });
    by_variable.or_else(|| {
        ancestors.iter().find_map(|process| {
            let agent = known(process)?;
            Some(Agent {
                name: agent.name,
                sign: Sign::Ancestor(process.pid),
            })
        })
    })
}

/// Did an agent start the client that is nearest above? Many clients are two processes: npm's
/// script that starts the program, or a program that starts itself again with other options. So
/// one right below another of its host is the same client.
fn is_nested(ancestors: &[Ancestor]) -> bool {
    let ancestors = ancestors.iter().enumerate();
    let clients: Vec<_> = ancestors
        .filter_map(|(at, ancestor)| Some((at, known(ancestor)?.name)))
        .collect();
    let is_one = |pair: &[(usize, &str)]| match pair {
        [(at, host), (above, launcher)] => at + 1 == *above && host == launcher,
        _ => false,
    };
    !clients.windows(2).all(is_one)
}

fn known(process: &Ancestor) -> Option<&'static KnownAgent> {
    let mut all = KNOWN.iter().copied();
    all.find(|agent| agent.runs_as(process))
}

/// The session of the agent in whose shell this runs, if the host tells it.
fn session(variable: impl Fn(&str) -> Option<String>) -> Option<SessionId> {
    KNOWN
        .iter()
        .filter_map(|agent| agent.session)
        .find_map(|name| SessionId::parse(&variable(name)?))
}

impl KnownAgent {
    /// Of a host whose agent's shell has no variable of its own.
    const fn silent(
        name: &'static str,
        programs: &'static [&'static str],
        folders: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            session: None,
            marks: &[],
            programs,
            folders,
        }
    }

    /// The variables that mark its agent's shell.
    fn variables(&self) -> impl Iterator<Item = &'static str> {
        self.session.into_iter().chain(self.marks.iter().copied())
    }

    fn runs_as(&self, process: &Ancestor) -> bool {
        // A client that sets its process title overwrites its first argument.
        let title = process.args.first().map_or("", String::as_str);
        let title = title.split_whitespace().next().unwrap_or_default();
        let names = [file_name(&process.program), file_name(title)];
        if names.iter().any(|name| self.programs.contains(name)) {
            return true;
        }
        let interprets =
            |name: &&str| INTERPRETERS.contains(name) || name.strip_prefix("python3.").is_some();
        let script = names.iter().any(interprets).then(|| script(&process.args));
        script.flatten().is_some_and(|script| {
            let in_folder = |folders: &&str| files::leads_through(script, folders);
            self.programs.contains(&file_name(script)) || self.folders.iter().any(in_folder)
        })
    }
}

/// The first argument that is not an option, nor the word with which `bun` and `deno` run a script.
fn script(args: &[String]) -> Option<&str> {
    let mut words = args.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') && word != "run" {
            return Some(word);
        }
    }
    None
}

/// Linux adds this to the path of a running program whose file was replaced or deleted.
const DELETED: &str = " (deleted)";

fn file_name(path: &str) -> &str {
    let path = path.strip_suffix(DELETED).unwrap_or(path);
    program::name(Path::new(path)).unwrap_or_default()
}

impl Environment {
    /// The session of the agent in whose shell this runs, if the host tells it.
    pub(crate) fn agent_session(&self) -> Option<SessionId> {
        session(|name| self.var(name))
    }

    /// Who typed the command.
    pub(crate) fn actor(&self) -> Actor {
        match self.agent() {
            Some(_) => Actor::Agent(self.agent_session()),
            None => Actor::Person,
        }
    }

    /// The agent that runs this process; `None` if a person does.
    pub(crate) fn agent(&self) -> Option<Agent> {
        recognise(|name| self.is_set(name), &self.ancestors())
    }

    /// Did an agent start the client that runs this process?
    pub(crate) fn is_nested(&self) -> bool {
        is_nested(&self.ancestors())
    }
}

#[cfg(test)]
mod tests;
