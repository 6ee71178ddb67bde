//! `mainspring trust`: a person allows a project to start children.

use std::path::Path;

use super::{Desk, Result};
use crate::error::CliError;
use crate::store::trust::{self, Since};

/// Allow effects in this project: reviewers, pull requests, anything that starts a program.
///
/// A cloned repository cannot allow itself: this is recorded outside of it, and refused
/// inside an agent's shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring trust           in the project's folder\n  mainspring trust --list"
)]
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
    let trusted = trust::load(&state)?;
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
    person_only(desk, "trust")?;
    let (site, _) = desk.site()?;
    grant(desk, &site.root)?;
    Ok(format!(
        "{} is trusted: machines may start programs there\n",
        site.root.display()
    ))
}

/// Trusts a project; its name, if it was not trusted before.
pub(super) fn grant(desk: &Desk, root: &Path) -> Result<Option<String>> {
    let state = desk.state()?;
    let mut trusted = trust::load(&state)?;
    let name = root.to_string_lossy().into_owned();
    if trusted.projects.contains_key(&name) {
        return Ok(None);
    }
    let since = Since {
        since: desk.world.now(),
    };
    trusted.projects.insert(name.clone(), since);
    trust::save(&state, &trusted)?;
    Ok(Some(name))
}

/// Takes the permission back; was there one?
pub(super) fn revoke(desk: &Desk, root: &Path) -> Result<bool> {
    let state = desk.state()?;
    let mut trusted = trust::load(&state)?;
    let known = trusted.projects.remove(&*root.to_string_lossy()).is_some();
    if known {
        trust::save(&state, &trusted)?;
    }
    Ok(known)
}

/// Take the permission back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mainspring untrust         in the project's folder")]
pub(crate) struct UntrustArgs {}

pub(crate) fn untrust(_: &UntrustArgs, desk: &Desk) -> Result {
    let (site, _) = desk.site()?;
    let name = site.root.display();
    if !revoke(desk, &site.root)? {
        return Err(CliError::new(format!("{name} was not trusted"))
            .hint("`mainspring trust --list` shows what is"));
    }
    Ok(format!(
        "{name} is no longer trusted: nothing is started there\n"
    ))
}

/// Refuses where an agent types it.
pub(super) fn person_only(desk: &Desk, command: &str) -> Result<()> {
    if !desk.typed_by_a_person() {
        return Err(
            CliError::new(format!("an agent cannot {command}; a person must"))
                .hint(format!("run `mainspring {command}` in your own terminal")),
        );
    }
    Ok(())
}
