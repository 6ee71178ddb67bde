//! `mainspring install`: register with Claude Code, once, and show what changes.

use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_platform::{path, program, sync};
use mainspring_store::{ShownPath as _, Trouble, atomic, digest, no_symlink, path_text};

use super::ask::{self, Enter};
use super::{CommandContext, Result};
use crate::diff;
use crate::error::CliError;
use crate::host::call::{self, Caller};
use crate::host::install::{self, Installation, Purpose, Scope, Script, Settings, Variable};
use crate::host::{self, HostSpec};
use crate::output::Paint;
use crate::project::Project;
use crate::store::StateDir;
use crate::store::installs::{InstallRecord, Installed};
use crate::trust::{Proposal, record};
use crate::{limits, own_files};

/// Register with Claude Code: our hooks in its settings file, and two of its variables.
///
/// Only our own entries are touched; what was there is kept and brought back by `mainspring
/// uninstall`. Installing for one project trusts it; after a user-wide installation each
/// project is trusted by `mainspring trust`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring install --dry-run      show what would change\n  mainspring install                for every project, asking first\n  mainspring install --scope local --yes\n  mainspring install --compat taskmaster"
)]
pub(crate) struct Args {
    /// Which settings file [default: user; with --compat: local]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Register only the drop-in for this public script, and trust the project
    #[arg(long, value_name = "SCRIPT", value_enum)]
    compat: Option<Script>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Leave a variable of the host's as it is
    #[arg(long, value_enum, value_delimiter = ',')]
    without: Vec<Purpose>,
    /// Only print what belongs into a settings file
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    print: bool,
}

impl Args {
    fn scope(&self) -> Scope {
        self.scope.unwrap_or(match self.compat {
            Some(_) => Scope::Local,
            None => Scope::User,
        })
    }

    /// The text of a settings file with what is to be registered.
    fn register(
        &self,
        host: &Installation,
        text: &str,
        caller: &Caller,
        variables: &[&str],
    ) -> std::result::Result<String, String> {
        match self.compat {
            Some(script) => (host.register_drop_in)(text, caller, script),
            None => (host.register)(text, caller, variables),
        }
    }
}

/// The host to register with.
fn host(cmd: &CommandContext) -> &'static HostSpec {
    host::of_environment(&cmd.env)
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let host = &host(cmd).installation;
    let program = program(cmd)?;
    let caller = caller(args.scope(), &program)?;
    if args.print {
        let printed = args.register(host, "", &caller, &names(&variables(host, args)));
        return printed.map_err(CliError::new);
    }
    let (project, store) = cmd.project()?;
    let path = file(args.scope(), cmd, &project.worktree)?;
    let before = Settings::read(host, &path)?;
    refuse_twice(args, cmd, &project, &before)?;
    let mut variables = variables(host, args);
    if !args.dry_run {
        cmd.may("install", Grounds::Nothing)?;
    }
    if !args.yes && !args.dry_run {
        choose(&before, &mut variables)?;
    }
    let after = args.register(host, before.text(), &caller, &names(&variables));
    let after = before.changed(after)?;
    let changes = diff::lines(before.text(), &after);
    let shown = show(cmd, &before.path, &changes);
    if args.dry_run {
        return Ok(shown);
    }
    let proposal = match args.scope() {
        Scope::User if args.compat.is_none() => None,
        Scope::User | Scope::Project | Scope::Local => {
            Some(Proposal::of(&cmd.env, store.state(), &project.root)?)
        }
    };
    let trusts = proposal.as_ref().is_some_and(|new| !new.is_trusted());
    if !args.yes && !changes.is_empty() {
        ask::confirm(&format!("{shown}\nWrite this?"), cmd.paint)?;
    } else if !args.yes && trusts {
        // A clone may bring our entries along, and a person did not ask for those.
        ask::confirm(&format!("{shown}\nTrust this project?"), cmd.paint)?;
    }
    if let Some(proposal) = proposal {
        proposal.grant(store.state(), &project.root, cmd.env.now())?;
    }
    let trusted = trusts.then(|| path_text::to_text(&project.root));
    if !changes.is_empty() {
        second_name(&program)?;
        remember(cmd, store.state(), &before, &after, trusted.as_deref())?;
        write(args.scope(), &before.path, &after)?;
    }
    Ok(report(args, cmd, &project, &before, &changes))
}

/// A drop-in beside the hooks that cover its machine would count every stop twice.
fn refuse_twice(
    args: &Args,
    cmd: &CommandContext,
    project: &Project,
    here: &Settings,
) -> Result<()> {
    let host = &host(cmd).installation;
    let Some(script) = args.compat else {
        return Ok(());
    };
    let elsewhere = install::elsewhere(host, &cmd.env, &project.worktree, args.scope());
    let place = if here.found.handlers.is_empty() {
        elsewhere.into_iter().next()
    } else {
        let scope = args.scope();
        Some(format!(
            "in the {scope} settings; `mainspring uninstall --scope {scope}`"
        ))
    };
    place.map_or(Ok(()), |place| {
        Err(CliError::new(format!(
            "mainspring is registered already, and does what `{}` does; the drop-in would answer \
             every event a second time",
            script.name()
        ))
        .hint(format!("registered {place} ends that")))
    })
}

/// What was written and trusted, and what to do next.
fn report(
    args: &Args,
    cmd: &CommandContext,
    project: &Project,
    before: &Settings,
    changes: &[String],
) -> String {
    let host = &host(cmd).installation;
    let place = before.path.shown();
    let mut out = if changes.is_empty() {
        format!("{place} is as it should be\n")
    } else {
        let scope = args.scope();
        format!(
            "{place} is written; `mainspring uninstall --scope {scope}` brings back what was there\n"
        )
    };
    out += &match args.scope() {
        Scope::User if args.compat.is_none() => "registered for every project. `mainspring trust` in a project lets what it brings count\n".to_owned(),
        Scope::User | Scope::Project | Scope::Local => {
            format!("registered for {}, which is trusted now\n", project.root.shown())
        }
    };
    for elsewhere in install::elsewhere(host, &cmd.env, &project.worktree, args.scope()) {
        out += &format!("{} {elsewhere}\n", cmd.paint.warn("also registered:"));
    }
    out += &format!(
        "restart {}; then `mainspring pulse 1` checks that Mainspring reaches the agent\n",
        self::host(cmd).program
    );
    out
}

/// Take our entries out again, and bring back what was there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring uninstall --dry-run          show what would change\n  mainspring uninstall --scope local"
)]
pub(crate) struct UninstallArgs {
    /// Which settings file
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn uninstall(args: &UninstallArgs, cmd: &CommandContext) -> Result {
    let host = &host(cmd).installation;
    let (project, store) = cmd.project()?;
    let path = file(args.scope, cmd, &project.worktree)?;
    let before = Settings::read(host, &path)?;
    let place = InstallRecord::of(store.state(), &before.path);
    let installed = place.load()?;
    let found = &before.found;
    if found.handlers.is_empty() && found.drop_ins.is_empty() && installed.is_none() {
        return Err(
            CliError::new(format!("{} has no entry of ours", before.path.shown()))
                .hint("`mainspring doctor` shows where we are registered"),
        );
    }
    let text = restored(host, &place, installed.as_ref(), &before)?;
    let changes = diff::lines(before.text(), text.as_deref().unwrap_or_default());
    let shown = show(cmd, &before.path, &changes);
    if args.dry_run {
        return Ok(shown);
    }
    cmd.may("uninstall", Grounds::Nothing)?;
    if !args.yes {
        ask::confirm(&format!("{shown}\nWrite this?"), cmd.paint)?;
    }
    match text {
        Some(text) => write(args.scope, &before.path, &text)?,
        None => no_symlink::remove(&before.path)?,
    }
    if let Some(project) = installed.and_then(|installed| installed.trusted) {
        record::revoke(&cmd.state()?, &path_text::from_text(&project))?;
    }
    place.forget()?;
    Ok(format!(
        "our entries are gone from {}\n",
        before.path.shown()
    ))
}

/// The file without us: the very bytes of before, if nobody has changed it since we wrote it;
/// no file, if we made it and nothing else is in it.
fn restored(
    host: &Installation,
    place: &InstallRecord,
    installed: Option<&Installed>,
    now: &Settings,
) -> Result<Option<String>> {
    let before = place.before()?;
    let written = installed.and_then(|installed| installed.written.as_ref());
    if written == Some(&digest::of(&[now.text().as_bytes()])) {
        return Ok(before);
    }
    let variables = installed.map_or(&[][..], |installed| &installed.variables);
    let text = now.changed((host.unregister)(now.text(), variables))?;
    let ours = installed.is_some() && before.is_none();
    let empty = (host.look)(&text).is_ok_and(|found| found.empty);
    Ok((!ours || !empty).then_some(text))
}

/// Your own file may be a link to where you keep it; a repository's may be none, and lie
/// behind none.
fn file(scope: Scope, cmd: &CommandContext, here: &Path) -> Result<PathBuf> {
    let path = (host(cmd).installation.file)(scope, &cmd.env, here)
        .ok_or_else(|| CliError::new("there is no home to install into").hint("set HOME"))?;
    match scope {
        Scope::User => Ok(own_files::real_path(&cmd.env, &path)?),
        Scope::Project | Scope::Local => {
            no_symlink::read(&path, limits::CONFIG)?;
            Ok(path)
        }
    }
}

fn variables(host: &Installation, args: &Args) -> Vec<&'static Variable> {
    // A drop-in takes its script's place and changes nothing else.
    let all = host.variables.iter().filter(|_| args.compat.is_none());
    all.filter(|variable| !args.without.contains(&variable.purpose))
        .collect()
}

fn names(variables: &[&Variable]) -> Vec<&'static str> {
    variables.iter().map(|variable| variable.name).collect()
}

/// The program to register: by the name under which it is on the PATH, if that is us, because
/// that name stays when a package manager moves the file behind it.
fn program(cmd: &CommandContext) -> Result<PathBuf> {
    let me = std::env::current_exe()
        .map_err(|error| CliError::new(format!("our own program cannot be found: {error}")))?;
    Ok(cmd
        .env
        .program(call::PROGRAM)
        .filter(|found| path::real(found).is_ok_and(|real| real == me))
        .unwrap_or(me))
}

/// How this scope's settings call us.
fn caller(scope: Scope, program: &Path) -> Result<Caller> {
    if program.to_str().is_none() {
        let program = program.shown();
        return Err(CliError::new(format!(
            "{program} is not UTF-8 text, and a settings file can name nothing else"
        ))
        .hint("put mainspring into another folder"));
    }
    Ok(match scope {
        Scope::Project => Caller::Shared,
        Scope::User | Scope::Local => Caller::Own {
            program: program.to_owned(),
            hook: program.with_file_name(program::file_name(call::HOOK)),
        },
    })
}

/// Whoever copied only one of our two programs gets the other name as a link to it.
fn second_name(program: &Path) -> Result<()> {
    let hook = program.with_file_name(program::file_name(call::HOOK));
    if hook.exists() {
        return Ok(());
    }
    program::link(program, &hook).map_err(|error| {
        CliError::new(format!("cannot make {}: {error}", hook.shown())).hint(format!(
            "hosts call mainspring by this name: sudo ln -s {} {}",
            program.shown(),
            hook.shown()
        ))
    })
}

fn show(cmd: &CommandContext, path: &Path, changes: &[String]) -> String {
    if changes.is_empty() {
        return format!("{} is as it should be\n", path.shown());
    }
    let mut out = format!("{}\n", cmd.paint.bold(&path.shown()));
    for line in changes {
        out += &match line.as_bytes().first() {
            Some(b'+') => cmd.paint.good(line),
            Some(b'-') => cmd.paint.warn(line),
            _ => line.clone(),
        };
        out.push('\n');
    }
    out
}

/// What to switch on is asked only where it is not decided yet.
fn choose(before: &Settings, variables: &mut Vec<&'static Variable>) -> Result<()> {
    let mut wanted = Vec::new();
    for variable in variables.drain(..) {
        let decided = before.found.variables.contains_key(variable.name);
        if decided || ask::yes(variable.question, Enter::Yes, Paint::Plain)? {
            wanted.push(variable);
        }
    }
    *variables = wanted;
    Ok(())
}

/// Keeps what was there before the first of our installations, and what each of them set.
fn remember(
    cmd: &CommandContext,
    state: &StateDir,
    before: &Settings,
    after: &str,
    trusted: Option<&str>,
) -> Result<()> {
    let place = InstallRecord::of(state, &before.path);
    let found = &before.found;
    let there = !found.handlers.is_empty() || !found.drop_ins.is_empty();
    let earlier = place.load()?.filter(|_| there);
    let host = &host(cmd).installation;
    let found = (host.look)(after).map_err(CliError::new)?;
    let set = host.variables.iter().map(|variable| variable.name);
    let set = set.filter(|name| {
        !before.found.variables.contains_key(*name) && found.variables.contains_key(*name)
    });
    let mut variables: Vec<String> = set.map(str::to_owned).collect();
    let mut installed = Installed {
        path: before.path.to_string_lossy().into_owned(),
        at: cmd.env.now(),
        written: Some(digest::of(&[after.as_bytes()])),
        variables: Vec::new(),
        trusted: trusted.map(str::to_owned),
        stop_timeout: found.stop_timeout,
    };
    if let Some(earlier) = earlier {
        variables.extend(earlier.variables);
        installed.trusted = installed.trusted.or(earlier.trusted);
        installed.variables = variables;
        place.record(&installed)?;
    } else {
        installed.variables = variables;
        place.forget()?;
        place.save(state, before.text.as_deref(), &installed)?;
    }
    Ok(())
}

/// Whole or not at all, and on the disk before we say that it is done.
fn write(scope: Scope, path: &Path, text: &str) -> Result<()> {
    match scope {
        Scope::User => atomic::replace(path, text.as_bytes())?,
        Scope::Project | Scope::Local => {
            let found = std::fs::symlink_metadata(path).ok();
            let kept = found.map(|found| found.permissions());
            no_symlink::replace(path, text.as_bytes(), kept.as_ref())?;
        }
    }
    sync::file(path).map_err(Trouble::io("sync", path))?;
    Ok(())
}
