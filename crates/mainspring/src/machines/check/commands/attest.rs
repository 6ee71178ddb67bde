//! An in-toto statement of the results, signed with the person's SSH key if there is one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_store::{ShownPath as _, atomic};

use super::permit;
use crate::children::child_env::{self, PERSON};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::command::{CommandContext, Result};
use crate::context::EventContext;
use crate::env::Environment;
use crate::error::CliError;
use crate::git::Git;
use crate::machines::check::{self, CheckReceipt};

const LIMIT: Duration = Duration::from_secs(60);
/// Keys that OpenSSH makes.
const KEYS: [&str; 3] = ["id_ed25519", "id_ecdsa", "id_rsa"];
const AGENT: &[&str] = &["SSH_AUTH_SOCK"];

pub(super) fn write(cmd: &CommandContext, context: &EventContext<'_>, file: &Path) -> Result {
    let permit = permit(context)?;
    let receipt = receipt(context, &permit)?;
    if receipt.checks.is_empty() {
        return Err(CliError::refused("no check is trusted here, so there is nothing to attest")
            .hint("`mainspring check init` proposes checks; `mainspring trust` trusts those of mainspring.toml"));
    }
    let unproved: Vec<&str> = receipt
        .checks
        .iter()
        .filter(|entry| entry.result != "pass")
        .map(|entry| entry.name.as_str())
        .collect();
    if !unproved.is_empty() {
        return Err(CliError::refused(format!(
            "{} did not pass over this tree, so there is nothing to attest",
            unproved.join(", ")
        ))
        .hint("`mainspring check run` runs the checks now"));
    }
    let name = context.root().file_name().unwrap_or_default();
    let statement = receipt.statement(&name.to_string_lossy());
    let path = cmd.cwd.join(file);
    atomic::replace(&path, crate::command::plain_json(&statement)?.as_bytes())?;
    let shown = path.shown();
    let git = Git::of(context, permit.clone(), Instant::now() + LIMIT)?;
    match signing_key(&cmd.env, &git) {
        None => Ok(format!(
            "{shown} is written, unsigned: there is no SSH key in ~/.ssh and none in git's user.signingKey\n"
        )),
        Some(key) => {
            sign(cmd, permit, &key, &path)?;
            Ok(format!("{shown} is written and signed: {shown}.sig\n"))
        }
    }
}

/// What is known about this tree.
fn receipt(context: &EventContext<'_>, permit: &Permit) -> Result<CheckReceipt> {
    let checks = context.permission().checks(context.root())?;
    let results = check::results(context)?;
    let taken = check::taken(context, permit, &checks).map_err(CliError::new)?;
    let mut receipt = check::receipt_of(&checks, &taken, &results);
    let git = Git::of(context, permit.clone(), Instant::now() + LIMIT)?;
    receipt.commit = git.resolve("HEAD");
    Ok(receipt)
}

/// The key that git signs with, if that is an SSH key; else the person's first.
fn signing_key(env: &Environment, git: &Git) -> Option<PathBuf> {
    let home = env.home()?;
    let ssh = git
        .setting("gpg.format")
        .is_some_and(|format| format == "ssh");
    let named = git.setting("user.signingkey").filter(|_| ssh);
    let named = named.map(|name| match name.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(name),
    });
    let own = KEYS.iter().map(|name| home.join(".ssh").join(name));
    let mut all = named.into_iter().chain(own);
    all.find(|path| path.is_absolute() && path.is_file())
}

fn sign(cmd: &CommandContext, permit: Permit, key: &Path, file: &Path) -> Result<()> {
    let Some(program) = cmd.env.program("ssh-keygen") else {
        return Err(CliError::new(
            "ssh-keygen is not installed, so nothing was signed",
        ));
    };
    let signature = file.with_extension(match file.extension() {
        Some(kind) => format!("{}.sig", kind.to_string_lossy()),
        None => "sig".into(),
    });
    let _ = std::fs::remove_file(&signature);
    let finished = Job::new(permit, program, LIMIT)
        .args(["-Y", "sign", "-q", "-n", "in-toto", "-f"])
        .args([key, file])
        .env(child_env::listed(&cmd.env, &[PERSON, AGENT]))
        .run()
        .map_err(CliError::new)?;
    crate::git::said(&finished)
        .map(drop)
        .map_err(|cause| CliError::new(format!("ssh-keygen did not sign it: {cause}")))
}
