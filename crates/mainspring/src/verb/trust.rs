//! `mainspring trust`: a person allows a project to start children.

use std::path::PathBuf;

use super::{Desk, Result};
use crate::error::CliError;
use crate::store::trust::{self, Since};

/// Allow effects in this project: reviewers, pull requests, anything that starts a program.
///
/// A cloned repository cannot allow itself: this is recorded outside of it, and refused
/// inside an agent's shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List the trusted projects
    #[arg(long)]
    list: bool,
    /// As JSON
    #[arg(long, requires = "list")]
    json: bool,
}

pub(crate) fn run(args: &Args, desk: &Desk) -> Result {
    let state = desk.state()?;
    let mut trusted = trust::load(&state)?;
    if args.list {
        if args.json {
            return super::json(&trusted);
        }
        let mut out = String::new();
        for (root, Since { since }) in &trusted.projects {
            out += &format!("{root}  since {}\n", super::timestamp(*since));
        }
        if out.is_empty() {
            out = "no project is trusted; `mainspring trust` in one allows its effects\n".into();
        }
        return Ok(out);
    }
    let root = asked_by_a_person(desk)?;
    let since = Since {
        since: desk.world.now(),
    };
    let name = root.to_string_lossy().into_owned();
    trusted.projects.insert(name.clone(), since);
    trust::save(&state, &trusted)?;
    Ok(format!(
        "{name} is trusted: machines may start programs there\n"
    ))
}

/// Take the permission back.
#[derive(Debug, clap::Args)]
pub(crate) struct UntrustArgs {}

pub(crate) fn untrust(_: &UntrustArgs, desk: &Desk) -> Result {
    let state = desk.state()?;
    let (site, _) = desk.site()?;
    let name = site.root.to_string_lossy().into_owned();
    let mut trusted = trust::load(&state)?;
    if trusted.projects.remove(&name).is_none() {
        return Err(CliError::new(format!("{name} was not trusted"))
            .hint("`mainspring trust --list` shows what is"));
    }
    trust::save(&state, &trusted)?;
    Ok(format!(
        "{name} is no longer trusted: nothing is started there\n"
    ))
}

fn asked_by_a_person(desk: &Desk) -> Result<PathBuf> {
    if desk.world.agent_session().is_some() || desk.world.silenced() {
        return Err(
            CliError::new("an agent cannot trust a project; a person must")
                .hint("run `mainspring trust` in your own terminal"),
        );
    }
    Ok(desk.site()?.0.root)
}
