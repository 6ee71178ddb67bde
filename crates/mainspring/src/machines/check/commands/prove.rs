//! `mainspring check prove`: can the check go red at all?

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::check::{Ran, Request, Verdict, verbs};
use mainspring_kernel::{Digest, Name};

use super::permit;
use crate::children::permit::Permit;
use crate::command::{CommandContext, Result};
use crate::config::checks::CheckDefinition;
use crate::context::EventContext;
use crate::error::CliError;
use crate::machines::check::run::Runner;
use crate::machines::check::{self, ProvingTree};
use crate::machines::tree::Tree;
use crate::people::trust::TrustedChecks;

/// Prove that a check can go red: run it on the last commit, then with its canary applied
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The check
    name: String,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    cmd.may("check prove", Grounds::Nothing)?;
    cmd.permit(Name::Check)?;
    let context = cmd.context()?;
    let checks = super::trusted(&context)?;
    let defined: Vec<_> = checks.definitions.iter().map(check::defined).collect();
    verbs::wanted(&defined, Some(&args.name))?;
    let found = checks.definitions.iter().find(|one| one.name == args.name);
    let Some(definition) = found else {
        return Err(verbs::Refused::NoChecks.into());
    };
    let Some(patch) = &definition.canary else {
        return Err(CliError::not_found(format!("check `{}` has no canary", args.name)).hint(
            "write a patch that breaks what the check guards, and name it: canary = { patch = \"…\" }",
        ));
    };
    let permit = permit(&context)?;
    let tree = ProvingTree::of(&context, &permit, "HEAD")?;
    let clean = attempt(&context, &permit, (&checks, definition), &tree)?;
    if clean.verdict != Verdict::Pass {
        return Err(CliError::new(format!(
            "check `{}` does not pass on the last commit without the canary: {}",
            args.name,
            described(&clean.verdict)
        ))
        .hint(format!("its output: {}", clean.log)));
    }
    tree.apply(&context.project.worktree.join(patch))?;
    let broken = attempt(&context, &permit, (&checks, definition), &tree)?;
    match &broken.verdict {
        Verdict::Fail(failure) | Verdict::TimedOut(failure) => Ok(format!(
            "{} goes red with its canary ({}), and passes without it\n",
            args.name, failure.exit
        )),
        Verdict::Pass | Verdict::Flaky => Err(CliError::new(format!(
            "check `{}` passes although its canary is in: it cannot go red, so it proves nothing",
            args.name
        ))
        .hint(format!("does its command look at what {patch} changes?"))),
        other => Err(CliError::new(format!(
            "check `{}` with its canary: {}",
            args.name,
            described(other)
        ))
        .hint(format!("its output: {}", broken.log))),
    }
}

fn described(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Pass => "it passes".into(),
        Verdict::Fail(failure) | Verdict::TimedOut(failure) | Verdict::Unfinished(failure) => {
            failure.exit.clone()
        }
        Verdict::Flaky => "it is flaky".into(),
        Verdict::CouldNotRun(cause) => format!("it could not run: {cause}"),
        Verdict::NotStarted => "it was not started".into(),
    }
}

/// Runs the check in the temporary tree. Nothing of it is recorded.
fn attempt(
    context: &EventContext<'_>,
    permit: &Permit,
    (checks, definition): (&TrustedChecks, &CheckDefinition),
    tree: &ProvingTree,
) -> Result<Ran> {
    let runner = Runner {
        permit: permit.clone(),
        tree: Tree::at(context, permit, tree.dir.clone())?,
        others: BTreeMap::new(),
        checks,
        state: context.store.state(),
        folder: context.store.checks().join("proof"),
        id: "proof".into(),
        deadline: Instant::now() + Duration::from_millis(definition.timeout.0.saturating_mul(2)),
        parallel: 1,
    };
    let request = Request {
        name: definition.name.clone(),
        key: Digest(String::new()),
        timeout: definition.timeout,
        retries: 0,
        last: None,
        failed: false,
        tree: None,
    };
    let mut ran = runner.run(&[request]);
    ran.pop()
        .map(|(ran, _)| ran)
        .ok_or_else(|| CliError::new("it did not run"))
}
