//! What an installation shows before it writes, and what it says afterwards.

use mainspring_store::ShownPath as _;

use super::target::Target;
use super::{Args, CommandContext, Result, implies_trust};
use crate::children::permit::Permit;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hosts::install::{self, Scope};
use crate::project::Project;
use crate::setup::trial;

/// Is the project trusted?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trusted {
    No,
    Before,
    /// By this installation.
    Now,
}

/// What would change: first which files, then each line.
pub(super) fn preview(cmd: &CommandContext, targets: &[Target]) -> String {
    format!("{}\n{}", summary(cmd, targets), lines(cmd, targets))
}

/// The same for a question: which files change stands beside it.
pub(super) fn question(cmd: &CommandContext, targets: &[Target]) -> String {
    format!("{}\n{}", lines(cmd, targets), summary(cmd, targets))
}

fn summary(cmd: &CommandContext, targets: &[Target]) -> String {
    targets
        .iter()
        .map(|target| target.rewrite.summary(cmd))
        .collect()
}

fn lines(cmd: &CommandContext, targets: &[Target]) -> String {
    targets
        .iter()
        .map(|target| target.rewrite.lines(cmd))
        .collect()
}

/// Two settings files of a person's that have our hooks: what that means, and the command that
/// leaves the wider one.
pub(crate) fn twice(scopes: &[Scope]) -> Option<(String, String)> {
    let mut own = scopes.iter().filter(|scope| **scope != Scope::Project);
    let (first, second) = (own.next()?, own.next()?);
    Some((
        format!(
            "registered in the {first} settings and in the {second} settings: two hooks run at \
             every event, and one of them answers. The {first} settings are enough"
        ),
        format!("mainspring uninstall --scope {second}"),
    ))
}

/// What was written and trusted, whether it works, and what to do next.
pub(super) fn report(
    args: &Args,
    cmd: &CommandContext,
    project: &Project,
    targets: &[Target],
    trusted: Trusted,
) -> Result {
    let mut out: String = targets.iter().map(Target::told).collect();
    let root = project.root.shown();
    out += &match (implies_trust(args), trusted) {
        (true, Trusted::Before) => format!("registered for {root}, which is trusted\n"),
        (true, Trusted::Now | Trusted::No) => {
            format!("registered for {root}, which is trusted now\n")
        }
        (false, Trusted::Before | Trusted::Now) => {
            format!("registered for every project; {root} is trusted\n")
        }
        (false, Trusted::No) => "registered for every project. `mainspring trust` in a project lets what it brings count\n".to_owned(),
    };
    let beside = targets.iter().filter(|target| !target.is_by_plugin());
    for target in beside {
        out += &beside_others(cmd, project, target);
    }
    let mut failed = false;
    for target in targets.iter().filter(|_| args.compat.is_none()) {
        let name = target.host.agent.name;
        let handlers = target.handlers()?;
        let variables = target.after_found()?.variables;
        match trial::run(cmd, Permit::for_trial(), target.host, &handlers, &variables) {
            Ok(()) => {
                let proved = cmd.paint.good("proved:");
                out += &format!("{proved} a stop, sent as {name} sends it, was held\n");
            }
            Err(problem) => {
                failed = true;
                let problem = format!("a stop, sent as {name} sends it, was not held: {problem}");
                out += &format!("{} {problem}\n", cmd.paint.bold("it does not work yet:"));
            }
        }
    }
    if failed {
        out += "`mainspring doctor` says what is wrong\n";
        return Err(CliError::shown(out, Exit::Failure));
    }
    let changed = targets.iter().filter(|target| target.rewrite.is_any());
    let names: Vec<&str> = changed.map(|target| target.host.program).collect();
    if !names.is_empty() {
        out += &format!(
            "restart {}; then `mainspring pulse 1` and a word to the agent show it there\n",
            names.join(", ")
        );
    }
    Ok(out)
}

/// That a second settings file of the person's calls us, in the words of `doctor`.
fn beside_others(cmd: &CommandContext, project: &Project, target: &Target) -> String {
    let files = install::files(target.host, &cmd.env, &project.worktree);
    let ours = files.into_iter().filter(|(_, file)| {
        let read = file.as_ref().ok();
        read.is_some_and(|file| !file.found.handlers.is_empty())
    });
    let scopes: Vec<Scope> = ours.map(|(scope, _)| scope).collect();
    twice(&scopes).map_or_else(String::new, |(what, fix)| {
        format!("{} {what}: `{fix}`\n", cmd.paint.warn("warning:"))
    })
}
