//! The program, the client, and the tools that effects need.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use mainspring_kernel::Name;
use mainspring_platform::path;
use mainspring_store::ShownPath as _;

use super::Findings;
use crate::child_env::{self, GH, NETWORK, PERSON};
use crate::config::Value;
use crate::host;
use crate::host::text::excerpt;
use crate::permit::Permit;
use crate::process::Job;
use crate::verb::CommandContext;

/// The clients that the tests run: one `name package version` per line.
const TESTED: &str = include_str!("../../../../../clients.pin");

/// How long another program may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

pub(super) fn examine(cmd: &CommandContext, findings: &mut Findings) {
    program(cmd, findings);
    client(cmd, findings);
    github(cmd, findings);
}

fn program(cmd: &CommandContext, findings: &mut Findings) {
    let version = env!("CARGO_PKG_VERSION");
    let Ok(me) = std::env::current_exe() else {
        findings.error(
            "program",
            "mainspring's own program file cannot be found",
            "install mainspring again",
        );
        return;
    };
    let age = std::fs::metadata(&me)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|age| u64::try_from(age.as_millis()).ok());
    let days = age.map(|made| cmd.env.now().0.saturating_sub(made) / 86_400_000);
    let days = days.map_or_else(String::new, |days| format!(", {days} days old"));
    findings.fine(
        "program",
        format!("mainspring {version}{days}, {}", me.shown()),
    );
    match cmd.env.program("mainspring") {
        None => findings.warn(
            "program",
            "mainspring is not on the PATH: agents and plugins call it by name",
            &format!("ln -s {} ~/.local/bin/mainspring", me.shown()),
        ),
        Some(found) if path::real(&found).is_ok_and(|real| real != me) => findings.warn(
            "program",
            format!(
                "the mainspring on the PATH is another one: {}",
                found.shown()
            ),
            &format!("{} --version", found.shown()),
        ),
        Some(_) => {}
    }
}

/// What a program prints when it is asked about itself.
fn ask(
    permit: Permit,
    program: &Path,
    args: &[&str],
    env: Vec<(OsString, OsString)>,
) -> Result<String, String> {
    match Job::new(permit, program, ANSWER_LIMIT)
        .args(args)
        .env(env)
        .run()
    {
        Err(failure) => Err(failure.to_string()),
        Ok(done) => {
            let said = [done.stdout, done.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            if done.code == Some(0) {
                Ok(said)
            } else {
                Err(said)
            }
        }
    }
}

fn tested(client: &str) -> Vec<&'static str> {
    let rows = TESTED
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.first() == Some(&client))
        .filter_map(|row| row.get(2).copied())
        .collect()
}

fn client(cmd: &CommandContext, findings: &mut Findings) {
    let host = host::of_environment(&cmd.env);
    let name = host.program;
    let Some(program) = cmd.env.program(name) else {
        findings.warn(
            name,
            format!("{name} is not on the PATH: reviews cannot be run"),
            host.doctor.get,
        );
        return;
    };
    let permit = match cmd.permit(Name::Review) {
        Ok(permit) => permit,
        Err(error) => return findings.fine(name, error.cause),
    };
    let known = tested(name);
    let env = child_env::listed(&cmd.env, &[PERSON]);
    match ask(permit, &program, host.doctor.version, env) {
        Err(cause) => {
            let again = format!("{name} {}", host.doctor.version.join(" "));
            findings.warn(name, excerpt(&cause), &again);
        }
        Ok(said) => {
            let version = said
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
            if known.contains(&version.as_str()) {
                findings.fine(name, format!("{version}, a version that the tests run"));
            } else {
                findings.fine(
                    name,
                    format!("{version}; the tests run {}", known.join(", ")),
                );
            }
        }
    }
}

/// Only claims need `gh`.
fn github(cmd: &CommandContext, findings: &mut Findings) {
    let Some(gh) = cmd.env.program("gh") else {
        findings.warn(
            "gh",
            "gh is not on the PATH: claims cannot open pull requests",
            "install gh from https://cli.github.com",
        );
        return;
    };
    let permit = match cmd.permit(Name::Claim) {
        Ok(permit) => permit,
        Err(error) => return findings.fine("gh", error.cause),
    };
    let env = child_env::listed(&cmd.env, &[PERSON, NETWORK, GH]);
    match ask(permit, &gh, &["auth", "status"], env) {
        Err(_) => findings.warn(
            "gh",
            "gh is not signed in: claims cannot open pull requests",
            "gh auth login",
        ),
        Ok(said) => {
            let scopes = said
                .lines()
                .find_map(|line| line.split_once("Token scopes:"));
            let scopes = scopes.map(|(_, scopes)| scopes.trim().replace(['\'', '"'], ""));
            let Some(scopes) = scopes else {
                return findings.fine("gh", "signed in");
            };
            let may = |wanted: &str| scopes.split(", ").any(|scope| scope == wanted);
            if !may("repo") {
                findings.warn(
                    "gh",
                    format!(
                        "gh's token lacks the scope `repo`; it has: {}",
                        excerpt(&scopes)
                    ),
                    "gh auth refresh --scopes repo",
                );
            } else if has_board(cmd) && !may("project") {
                findings.warn(
                    "gh",
                    "gh's token lacks the scope `project`: claims cannot move cards on the board",
                    "gh auth refresh --scopes project",
                );
            } else {
                findings.fine("gh", "signed in");
            }
        }
    }
}

/// Is a board configured here?
fn has_board(cmd: &CommandContext) -> bool {
    let config = cmd
        .project()
        .ok()
        .and_then(|(project, store)| cmd.config(&project, &store).ok());
    let number = config.and_then(|config| config.get("claim.project").and_then(Value::number));
    number.is_some_and(|number| number > 0)
}
