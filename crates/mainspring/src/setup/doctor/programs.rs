//! Our program, the clients, and the tools that effects need.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use mainspring_kernel::Name;
use mainspring_platform::{path, program};
use mainspring_store::ShownPath as _;

use super::Findings;
use crate::children::child_env::{self, GH, NETWORK, PERSON};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::command::CommandContext;
use crate::config::Config;
use crate::env::name;
use crate::git;
use crate::hosts::text::excerpt;
use crate::hosts::{self, HostSpec, call};
use crate::show::notify;

/// The clients that the tests run: one `name package version` per line.
const TESTED: &str = include_str!("../../../clients.pin");

/// How long another program may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

pub(super) fn examine(cmd: &CommandContext, findings: &mut Findings) {
    program(cmd, findings);
    git(cmd, findings);
    github(cmd, findings);
    reviewer(cmd, findings);
    notices(cmd, findings);
    if cmd.env.is_set(name::DISABLE) {
        findings.warn(
            "switched off",
            format!(
                "{} is set here: mainspring ignores every event",
                name::DISABLE
            ),
            &format!("unset {}", name::DISABLE),
        );
    }
}

/// Both of our names, in a folder that should be on the PATH.
pub(super) fn on_path() -> String {
    let me = std::env::current_exe().unwrap_or_default();
    let hook = me.with_file_name(program::file_name(call::HOOK));
    let hook = if hook.exists() { hook } else { me.clone() };
    format!(
        "mkdir -p ~/.local/bin && ln -sf {} ~/.local/bin/{} && ln -sf {} ~/.local/bin/{}",
        me.shown(),
        call::PROGRAM,
        hook.shown(),
        call::HOOK,
    )
}

fn program(cmd: &CommandContext, findings: &mut Findings) {
    let version = env!("CARGO_PKG_VERSION");
    let Ok(me) = std::env::current_exe() else {
        findings.error(
            "program",
            "mainspring's own program file cannot be found",
            "cargo install --path crates/mainspring",
        );
        return;
    };
    let age = std::fs::metadata(&me)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|age| u64::try_from(age.as_millis()).ok());
    let days = age.map(|made| cmd.env.now().0.saturating_sub(made) / 86_400_000);
    let days = days.map_or_else(String::new, |days| match days {
        1 => ", 1 day old".into(),
        days => format!(", {days} days old"),
    });
    findings.fine(
        "program",
        format!("mainspring {version}{days}, {}", me.shown()),
    );
    let hook = me.with_file_name(program::file_name(call::HOOK));
    if hook.exists() && !program::is_link(&me, &hook) {
        let what = format!(
            "two versions are in use: agents call {}, which is another program than this one",
            hook.shown()
        );
        return findings.warn("program", what, "mainspring install");
    }
    for name in [call::PROGRAM, call::HOOK] {
        let ours = [me.clone(), hook.clone()];
        match cmd.env.program(name) {
            None => {
                let what = format!("{name} is not on the PATH: agents and plugins call it by name");
                return findings.warn("program", what, &on_path());
            }
            Some(found) if path::real(&found).is_ok_and(|real| !ours.contains(&real)) => {
                let what = format!(
                    "two versions are in use: the {name} on the PATH is another one: {}{}",
                    found.shown(),
                    self::version(cmd, &found)
                );
                return findings.warn("program", what, &on_path());
            }
            Some(_) => {}
        }
    }
}

/// The program that tells the person something.
fn notices(cmd: &CommandContext, findings: &mut Findings) {
    let config = Config::of_user(&cmd.env).ok();
    let missing = config.and_then(|config| notify::missing(&cmd.env, &config));
    if let Some((program, undo)) = missing {
        let what = format!("{program:?} does not exist: nobody is told");
        findings.warn("notify", what, undo);
    }
}

/// The version that another program of ours says it is, in brackets.
pub(super) fn version(cmd: &CommandContext, program: &Path) -> String {
    let Ok(permit) = cmd.permit(Name::Pulse) else {
        return String::new();
    };
    let env = child_env::listed(&cmd.env, &[PERSON]);
    let said = ask(permit, program, &["--version"], env).unwrap_or_default();
    let said = said
        .trim()
        .strip_prefix("mainspring ")
        .unwrap_or_default()
        .to_owned();
    if said.is_empty() {
        return String::new();
    }
    format!(" ({})", excerpt(&said))
}

/// The command that installs this package here.
fn package(cmd: &CommandContext, name: &str, otherwise: &str) -> String {
    for (manager, install) in [
        ("apt-get", "sudo apt-get install -y"),
        ("dnf", "sudo dnf install -y"),
        ("pacman", "sudo pacman -S --noconfirm"),
        ("zypper", "sudo zypper install -y"),
        ("apk", "sudo apk add"),
        ("brew", "brew install"),
    ] {
        if cmd.env.program(manager).is_some() {
            return format!("{install} {name}");
        }
    }
    format!("install {name} from {otherwise}")
}

fn git(cmd: &CommandContext, findings: &mut Findings) {
    let config = cmd
        .project()
        .ok()
        .and_then(|(project, store)| cmd.config(&project, &store).ok());
    // Settings that cannot be read are reported with the state.
    if config.is_some_and(|config| !git::is_here(&cmd.env, &config)) {
        findings.warn(
            git::NAME,
            "git is not on the PATH: claims, checks and reviews of code cannot work",
            &package(cmd, git::NAME, "https://git-scm.com/downloads"),
        );
    }
}

/// The program that reviews, if it is not a host's own, which is looked for with the host.
fn reviewer(cmd: &CommandContext, findings: &mut Findings) {
    let config = cmd
        .project()
        .ok()
        .and_then(|(project, store)| cmd.config(&project, &store).ok());
    let command = config.map(|config| config.review.command.clone());
    let Some(command) = command.filter(|command| command != hosts::reviewer::DEFAULT.program)
    else {
        return;
    };
    let found = if Path::new(&*command).is_absolute() {
        Path::new(&*command).is_file()
    } else {
        cmd.env.program(&command).is_some()
    };
    if found {
        return findings.fine("reviewer", command);
    }
    findings.warn(
        "reviewer",
        format!("the reviewer's program {command:?} does not exist: no review can run"),
        "mainspring config unset review.command",
    );
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

/// The client of a host: is it there, and new enough?
pub(super) fn client(cmd: &CommandContext, host: &'static HostSpec, findings: &mut Findings) {
    let name = host.program;
    let Some(program) = cmd.env.program(name) else {
        findings.warn(
            name,
            format!("{name} is not on the PATH: its reviews cannot be run"),
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
    let said = match ask(permit, &program, &["--version"], env) {
        Err(cause) => return findings.warn(name, excerpt(&cause), host.doctor.get),
        Ok(said) => said,
    };
    // Some say their name first.
    let mut words = said.split_whitespace();
    let version = words
        .find(|word| !numbers(word).is_empty())
        .unwrap_or_default();
    if numbers(version) < numbers(host.doctor.oldest) {
        let what = format!(
            "{version} is older than {}, the oldest version that was tried: it may ignore our answers",
            host.doctor.oldest
        );
        return findings.warn(name, what, host.doctor.get);
    }
    if known.contains(&version) {
        findings.fine(name, format!("{version}, a version that the tests run"));
    } else {
        let known = known.join(", ");
        findings.fine(name, format!("{version}; the tests run {known}"));
    }
}

/// The numbers of a version, to compare it with another one. Empty if it is none.
fn numbers(version: &str) -> Vec<u64> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit());
    let plain = &version[..end.unwrap_or(version.len())];
    let parts = plain.split('.').map(str::parse);
    parts.collect::<Result<_, _>>().unwrap_or_default()
}

/// Only claims need `gh`.
fn github(cmd: &CommandContext, findings: &mut Findings) {
    let Some(gh) = cmd.env.program("gh") else {
        findings.warn(
            "gh",
            "gh is not on the PATH: claims cannot open pull requests",
            &package(cmd, "gh", "https://cli.github.com"),
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
    config.is_some_and(|config| config.claim.project > 0)
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("1.0.30") < numbers("2.1.197"));
        assert!(numbers("2.1.30") < numbers("2.1.197"));
        assert!(numbers("v2.1.325") > numbers("2.1.197"));
        assert_eq!(numbers("2.1.325-beta.1"), [2, 1, 325]);
        for none in ["", "claude", "(Claude", "v"] {
            assert!(numbers(none).is_empty(), "{none}");
        }
    }
}
