//! Tries a registration: one stop through the registered command, as the host would call it.
//!
//! The stop is in a project of its own with a state of its own, in which `pulse` holds the next
//! stop. So the answer shows that the host can start the program, that the program reads the
//! host's event, and that it can write its state and hold an agent; and nothing of the person's is
//! touched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use mainspring_platform::identity::random_id;
use mainspring_platform::permissions::create_owner_only_folder;

use crate::command::{CommandContext, TypedIn};
use crate::machines::pulse::commands;
use mainspring_store::ShownPath as _;

use crate::children::child_env::{self, PERSON};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::env::{Environment, name};
use crate::hosts::HostSpec;
use crate::hosts::install::{Calls, Handler};
use crate::hosts::text::excerpt;
use crate::output::Paint;

/// How long the hook may take. It takes a millisecond; a shell's start may take longer.
const LIMIT: Duration = Duration::from_secs(10);

/// Tries the handler for a stop among these, with the variables that the host's settings set.
/// The error says what happened instead.
pub(super) fn run(
    cmd: &CommandContext,
    permit: Permit,
    host: &HostSpec,
    handlers: &[Handler],
    variables: &BTreeMap<String, String>,
) -> Result<(), String> {
    let stop = host.stop_event();
    let answers = |one: &&Handler| {
        let calls = matches!(one.calls, Calls::Hook | Calls::SharedHook);
        one.event == stop && calls
    };
    let handler = handlers.iter().find(answers);
    let handler = handler.ok_or_else(|| format!("no command is registered for {stop}"))?;
    let place = Place::new()?;
    let env = place.env(cmd, variables);
    place.begin(cmd, &env)?;
    let job = match &handler.line {
        Some(line) => Job::new(permit, "sh", LIMIT).args(["-c", line]),
        None => Job::new(permit, &handler.program, LIMIT).args(&handler.args),
    };
    let done = job
        .env(env)
        .current_dir(&place.project)
        .stdin(host.trial_stop(&place.project).into_bytes())
        .like_a_host()
        .run()
        .map_err(|failure| failure.to_string())?;
    let said = String::from_utf8_lossy(&done.stdout);
    if done.code == Some(0) && (host.installation.trial.holds)(&said) {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&done.stderr);
    let words = match (said.trim(), stderr.trim()) {
        ("", "") => "said nothing".to_owned(),
        ("", error) => format!("said {}", excerpt(error)),
        (answer, _) => format!("said {}", excerpt(answer)),
    };
    Err(format!("it ended with {} and {words}", done.ending()))
}

/// A project that exists for the trial only.
struct Place {
    root: PathBuf,
    project: PathBuf,
}

impl Place {
    fn new() -> Result<Self, String> {
        let id = random_id().map_err(|error| error.to_string())?;
        let root = std::env::temp_dir().join(format!("mainspring-trial-{id}"));
        let project = root.join("project");
        // Projects are not looked for above a repository.
        let repository = project.join(".git");
        create_owner_only_folder(&repository)
            .map_err(|error| format!("cannot create {}: {error}", repository.shown()))?;
        Ok(Self { root, project })
    }

    /// The person's variables, then those of the host's settings; the state is the trial's own.
    fn env(
        &self,
        cmd: &CommandContext,
        variables: &BTreeMap<String, String>,
    ) -> BTreeMap<String, OsString> {
        let person = child_env::listed(&cmd.env, &[PERSON]).into_iter();
        let mut env: BTreeMap<String, OsString> = person
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let set = variables.iter();
        env.extend(set.map(|(name, value)| (name.clone(), value.into())));
        env.insert(name::STATE_HOME.into(), self.root.join("state").into());
        env
    }

    /// Lets `pulse` hold the next stop here.
    fn begin(&self, cmd: &CommandContext, env: &BTreeMap<String, OsString>) -> Result<(), String> {
        let inner = CommandContext {
            env: Environment::staged(env.clone(), cmd.env.now()),
            cwd: self.project.clone(),
            paint: Paint::Plain,
            width: None,
            typed_in: TypedIn::Client,
            typed: String::new(),
        };
        // The first of two beats starts no child process.
        commands::begin(2, &inner)
            .map(drop)
            .map_err(|error| error.cause)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is a few small files among other temporary ones.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
