//! From a claimed issue to a closed one.

use std::time::{Duration, Instant};

use mainspring_platform::permissions::make_owner_only;
use mainspring_store::{Trouble, atomic};

use super::stage::Stage;
use crate::config::Config;
use crate::error::CliError;
use crate::git::Git;
use crate::permit::Permit;
use crate::verb::Result;

const SCRIPTED_GH: &str = include_str!("gh.sh");
/// What it may take to make two repositories.
const GIT_LIMIT: Duration = Duration::from_secs(10);
const ADDRESS: &str = "https://github.com/you/project.git";

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    let github = set_up(stage)?;
    let pull = |says: &str| atomic::replace(&github.join("pull"), says.as_bytes());
    stage.narrate("A checkout of a project on GitHub. A person has trusted it.");
    stage.person_runs("trust");
    stage.person_says("/claim 42");
    stage.agent_runs("claim 42");
    stage.agent_stops("I have begun.");
    stage.narrate("While the agent codes, nothing is asked of GitHub. Then it hands over.");
    stage.agent_runs("handoff --summary Fix-the-race");
    stage.agent_stops("Handed over.");
    stage.agent_stops("The pull request is open.");
    stage
        .narrate("The agent waits. CI fails; the person gets a desktop notice, the agent is told.");
    pull("OPEN FAILURE\n")?;
    stage.agent_waits();
    stage.person_says("Have a look at CI.");
    stage.agent_stops("I pushed a fix.");
    stage.narrate("Somebody merges. The question is asked once, and only a person answers it.");
    pull("MERGED SUCCESS\n")?;
    stage.agent_waits();
    stage.person_says("What is new?");
    stage.agent_runs("claim done");
    stage.agent_stops("The pull request is merged. Should I close issue #42?");
    stage.person_says("Yes, close it.");
    stage.agent_runs("claim done");
    stage.agent_stops("Closing it.");
    stage.person_runs("log");
    Ok(())
}

/// A repository whose server is a folder, and a `gh` with a script. Returns the folder of
/// the latter.
fn set_up(stage: &Stage) -> Result<std::path::PathBuf> {
    let github = stage.home().join("github");
    let server = stage.home().join("server.git");
    let gh = github.join("gh");
    atomic::replace(&gh, SCRIPTED_GH.as_bytes())?;
    make_owner_only(&gh).map_err(Trouble::io("change", &gh))?;
    atomic::replace(&github.join("pull"), b"OPEN SUCCESS\n")?;
    let config = stage.home().join(".config/mainspring/config.toml");
    atomic::replace(
        &config,
        format!("[claim]\ngh = '{}'\n", gh.display()).as_bytes(),
    )?;
    let rewrite = format!("url.{}.insteadOf", server.display());
    let env = stage.env();
    let git = Git::new(
        Permit::for_demo(),
        &env,
        &Config::of_user(&env)?,
        stage.project(),
        Instant::now() + GIT_LIMIT,
    )?;
    let made = git
        .init(None)
        .and_then(|_| git.init(Some(&server.to_string_lossy())))
        .and_then(|_| git.configure("remote.origin.url", ADDRESS))
        .and_then(|_| git.configure(&rewrite, ADDRESS));
    made.map_err(|cause| CliError::new(cause).hint("the scene `claim` needs git"))?;
    Ok(github)
}
