//! `mainspring doctor`: what is wrong with this set-up, and the command that fixes it.

mod files;
mod locks;
mod programs;
mod registration;
mod state;

use std::collections::BTreeSet;

use mainspring_kernel::hidden::escape_name;
use serde::Serialize;

use super::install;
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::exit::Exit;
use crate::hosts::not_run::NOT_RUN;
use crate::output::Paint;

/// Check this set-up, and name the command that fixes each problem.
///
/// Exits with 0 if all is well, 3 if there are warnings, 1 if something does not work.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring doctor\n  mainspring doctor --fix                 fix what is safe to fix\n  mainspring doctor --json | jq '.findings[] | select(.level != \"fine\")'"
)]
pub(crate) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Fix what is safe to fix without asking
    #[arg(long)]
    fix: bool,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Fine,
    /// It works, but not as well as it could.
    Warning,
    /// It does not work.
    Error,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    about: &'static str,
    /// The coding agent that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'static str>,
    level: Level,
    what: String,
    /// What to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// It was fixed just now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fixed: bool,
}

/// May the doctor fix what is safe to fix?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repair {
    Look,
    Fix,
}

#[derive(Debug, Default)]
struct Findings {
    all: Vec<Finding>,
    /// The coding agent that is looked at.
    host: Option<&'static str>,
}

impl Findings {
    fn add(&mut self, about: &'static str, level: Level, what: impl Into<String>, fix: &str) {
        self.all.push(Finding {
            about,
            host: self.host,
            level,
            what: what.into(),
            fix: (!fix.is_empty()).then(|| fix.to_owned()),
            fixed: false,
        });
    }

    fn fine(&mut self, about: &'static str, what: impl Into<String>) {
        self.add(about, Level::Fine, what, "");
    }

    fn warn(&mut self, about: &'static str, what: impl Into<String>, fix: &str) {
        self.add(about, Level::Warning, what, fix);
    }

    fn error(&mut self, about: &'static str, what: impl Into<String>, fix: &str) {
        self.add(about, Level::Error, what, fix);
    }

    /// The last finding was fixed.
    fn mended(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.fixed = true;
            last.level = Level::Fine;
        }
    }
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let repair = if args.fix { Repair::Fix } else { Repair::Look };
    let mut findings = Findings::default();
    programs::examine(cmd, &mut findings);
    hosts(cmd, &mut findings);
    state::examine(cmd, repair, &mut findings);
    locks::examine(cmd, repair, &mut findings);
    let worst = findings.all.iter().map(|one| one.level).max();
    let text = if args.json {
        crate::command::json_list("findings", &findings.all)?
    } else {
        cmd.fitted(&render(cmd.paint, &findings.all))
    };
    match worst {
        None | Some(Level::Fine) => Ok(text),
        Some(Level::Warning) => Err(CliError::shown(text, Exit::Warned)),
        Some(Level::Error) => Err(CliError::shown(text, Exit::Failure)),
    }
}

/// Every host that is on this computer.
fn hosts(cmd: &CommandContext, findings: &mut Findings) {
    let Ok((project, _)) = cmd.project() else {
        // The state's part says why.
        return;
    };
    for host in install::hosts_here(cmd) {
        findings.host = Some(host.agent.name);
        programs::client(cmd, host, findings);
        registration::examine(cmd, host, &project, findings);
    }
    findings.host = None;
    for host in NOT_RUN.iter().filter(|host| host.is_here(&cmd.env)) {
        let what = format!(
            "{} is here, and Mainspring does nothing in it: {}",
            host.name, host.what
        );
        findings.fine("not run", what);
    }
}

fn render(paint: Paint, findings: &[Finding]) -> String {
    let mut out = String::new();
    let hosts: BTreeSet<&str> = findings.iter().filter_map(|one| one.host).collect();
    let mut host = None;
    for one in findings {
        if one.host != host && hosts.len() > 1 {
            host = one.host;
            out += &format!("{}\n", paint.bold(host.unwrap_or("Mainspring")));
        }
        let mark = match (one.level, one.fixed) {
            (_, true) => paint.good("fixed  "),
            (Level::Fine, false) => paint.good("ok     "),
            (Level::Warning, false) => paint.warn("warning"),
            (Level::Error, false) => paint.bold("ERROR  "),
        };
        out += &format!("{mark} {:<12} {}\n", one.about, escape_name(&one.what));
        if let Some(fix) = one.fix.as_ref().filter(|_| !one.fixed) {
            out += &format!(
                "{:21}{}\n",
                "",
                paint.dim(&format!("→ {}", escape_name(fix)))
            );
        }
    }
    out
}
