//! From a claimed issue to a closed one.

use std::time::{Duration, Instant};

use mainspring_platform::permissions::make_owner_only;
use mainspring_store::{Trouble, atomic};

use super::stage::Stage;
use crate::children::permit::Permit;
use crate::command::Result;
use crate::config::Config;
use crate::error::CliError;
use crate::git::Git;

const SCRIPTED_GH: &str = include_str!("gh.sh");
/// How long it may take to create two repositories.
const GIT_LIMIT: Duration = Duration::from_secs(10);
const ADDRESS: &str = "https://github.com/you/project.git";

pub(super) fn play(stage: &mut Stage) -> Result<()> {
    let github = set_up(stage)?;
    let pull = |says: &str| atomic::replace(&github.join("pull"), says.as_bytes());
    stage.narrate("This is a checkout of a project on GitHub, which a person trusts.");
    stage.person_runs("trust --yes")?;
    stage.person_says("/claim 42")?;
    stage.agent_runs("claim 42")?;
    stage.agent_stops("I have begun.")?;
    stage.narrate(
        "While the agent codes, Mainspring does not call GitHub. Then the agent hands over.",
    );
    stage.agent_runs("handoff --summary Fix-the-race")?;
    stage.agent_is_held("Handed over.")?;
    stage.expect("PR #107 created")?;
    stage.agent_stops("The pull request is open.")?;
    stage.narrate(
        "The agent waits. CI fails: the person gets a desktop notice, and the agent is told.",
    );
    pull("OPEN FAILURE\n")?;
    stage.agent_waits();
    stage.expect("checks failed: test")?;
    stage.person_says("Have a look at CI.")?;
    stage.expect("CI failed for PR #107")?;
    stage.agent_stops("I pushed a fix.")?;
    stage.narrate(
        "Somebody merges it. Now the agent must ask the person whether to close the issue.",
    );
    pull("MERGED SUCCESS\n")?;
    stage.agent_waits();
    stage.person_says("What is new?")?;
    stage.agent_is_refused("claim done")?;
    stage.agent_stops("The pull request is merged. Should I close issue #42?")?;
    stage.person_says("Yes, close it.")?;
    stage.agent_runs("claim done")?;
    stage.expect("Issue #42 closed.")?;
    stage.agent_stops("It is closed.")?;
    stage.person_runs("log")?;
    stage.expect("done → unclaimed (closed)")
}

/// Makes a repository whose server is a folder, and a `gh` that is a script. Returns the
/// script's folder.
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
