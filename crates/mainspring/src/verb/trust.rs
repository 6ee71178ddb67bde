//! `mainspring trust`: a person allows a project to start children.

use mainspring_kernel::hidden::escape_name;
use mainspring_store::ShownPath as _;

use super::{CommandContext, Result};
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

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    if args.list {
        let trusted = trust::all(&cmd.state()?)?;
        if args.json {
            return super::json(&trusted);
        }
        let mut out = String::new();
        for (root, Since { since }) in &trusted.projects {
            out += &format!(
                "{}  since {}\n",
                escape_name(root),
                super::timestamp(*since)
            );
        }
        if out.is_empty() {
            out = "no project is trusted; `mainspring trust` in one allows its effects\n".into();
        }
        return Ok(out);
    }
    cmd.person_only("trust", "trust")?;
    let (project, _) = cmd.project()?;
    trust::grant(&cmd.state()?, &project.root, cmd.env.now())?;
    Ok(format!(
        "{} is trusted: machines may start programs there\n",
        project.root.shown()
    ))
}

/// Take the permission back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mainspring untrust         in the project's folder")]
pub(crate) struct UntrustArgs {}

pub(crate) fn untrust(_: &UntrustArgs, cmd: &CommandContext) -> Result {
    let (project, _) = cmd.project()?;
    let name = project.root.shown();
    if !trust::revoke(&cmd.state()?, &project.root)? {
        return Err(CliError::new(format!("{name} was not trusted"))
            .hint("`mainspring trust --list` shows what is"));
    }
    Ok(format!(
        "{name} is no longer trusted: nothing is started there\n"
    ))
}
