//! `mainspring install`: the whole set-up. It registers with every host that is here, shows what
//! changes, and tries what it wrote.

pub(crate) mod guard;
pub(super) mod report;
mod rewrite;
mod target;
mod uninstall;

use std::path::{Path, PathBuf};

use mainspring_kernel::authority::Grounds;
use mainspring_platform::{path, program};
use mainspring_store::{ShownPath as _, no_symlink, path_text};

use self::report::Trusted;
use self::target::{Request, Target};
pub(crate) use self::uninstall::{UninstallArgs, uninstall};
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::hosts::call::{self, Caller};
use crate::hosts::install::{self, Purpose, Scope, Script, Settings, Variable};
use crate::hosts::{self, HostSpec};
use crate::limits;
use crate::output::Paint;
use crate::people::ask::{self, Enter};
use crate::people::own_files;
use crate::people::trust::Proposal;
use crate::project::Project;
use crate::store::{ProjectStore, StateDir};

/// Set everything up: our hooks, commands and status line in the settings of every coding agent
/// that is on this computer, and the settings of theirs that the machines need.
///
/// Only our own entries are touched; what was there is kept and brought back by `mainspring
/// uninstall`. Asks whether this project is trusted, too: installing for one project trusts
/// it. Where our plugin is installed, only what a plugin cannot bring is added. At the end, a
/// stop is sent through what was registered.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring install --dry-run      show what would change\n  mainspring install                for every project, asking first\n  mainspring install --host codex   only Codex\n  mainspring install --host all --yes\n  mainspring install --scope local --yes\n  mainspring install --replace      take out the public scripts that Mainspring stands in for\n  mainspring install --compat taskmaster"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub(crate) struct Args {
    /// Only this coding agent, by its program's name; or `all` that are here, without a question
    /// about each [default: those that are here, with one]
    #[arg(long, value_name = "NAME|all", value_parser = chosen)]
    host: Vec<Chosen>,
    /// Which settings file [default: user; with --compat: local]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Register only the drop-in for this public script, and trust the project
    #[arg(long, value_name = "SCRIPT", value_enum)]
    compat: Option<Script>,
    /// Take the public scripts out of the settings: Mainspring does what they do
    #[arg(long, conflicts_with = "compat")]
    replace: bool,
    /// Trust this project, too, without asking
    #[arg(long)]
    trust: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Leave a part of the set-up out
    #[arg(long, value_enum, value_delimiter = ',')]
    without: Vec<Purpose>,
    /// Only print what belongs into a settings file
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    print: bool,
}

/// A host that a person named.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chosen {
    All,
    One(&'static HostSpec),
}

impl Chosen {
    /// Is this host meant? Nothing named means all.
    fn covers(these: &[Self], host: &HostSpec) -> bool {
        let is_meant = |one: &Self| match one {
            Self::All => true,
            Self::One(named) => named.program == host.program,
        };
        these.is_empty() || these.iter().any(is_meant)
    }
}

/// The host whose program has this name.
pub(super) fn chosen(name: &str) -> std::result::Result<Chosen, String> {
    if name == "all" {
        return Ok(Chosen::All);
    }
    let known = hosts::named(name).map(Chosen::One);
    known.ok_or_else(|| {
        let names: Vec<&str> = hosts::HOSTS.iter().map(|host| host.program).collect();
        format!("use `all`, or one of: {}", names.join(", "))
    })
}

impl Args {
    fn scope(&self) -> Scope {
        self.scope.unwrap_or(match self.compat {
            Some(_) => Scope::Local,
            None => Scope::User,
        })
    }

    fn wants(&self, part: Purpose) -> bool {
        // A drop-in takes its script's place and changes nothing else.
        self.compat.is_none() && !self.without.contains(&part)
    }

    /// The hosts to register with: those that are here, or the default host.
    fn hosts(&self, cmd: &CommandContext) -> Result<Vec<&'static HostSpec>> {
        let able = |host: &&HostSpec| {
            self.compat.is_none() || host.installation.register_drop_in.is_some()
        };
        let named = self.host.iter().map(|one| match one {
            Chosen::All => None,
            Chosen::One(host) => Some(*host),
        });
        let named: Option<Vec<&HostSpec>> = named.collect();
        let mut hosts = match named {
            Some(named) if !named.is_empty() => named,
            Some(_) | None => hosts_here(cmd),
        };
        hosts.retain(able);
        if hosts.is_empty() {
            return Err(
                CliError::usage("the public scripts are not for this coding agent")
                    .hint("leave `--compat` out: Mainspring does what they do"),
            );
        }
        Ok(hosts)
    }
}

/// The hosts that are on this computer. If there is none, the default one: it may be installed
/// later.
pub(super) fn hosts_here(cmd: &CommandContext) -> Vec<&'static HostSpec> {
    let all = hosts::HOSTS.iter().copied();
    let here: Vec<&HostSpec> = all
        .filter(|host| install::is_here(host, &cmd.env))
        .collect();
    if here.is_empty() {
        return vec![hosts::DEFAULT];
    }
    here
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let hosts = args.hosts(cmd)?;
    let program = program(cmd)?;
    let caller = caller(args.scope(), &program)?;
    if args.print {
        return print(args, &hosts, &caller);
    }
    let (project, store) = cmd.project()?;
    if !args.dry_run {
        cmd.may("install", Grounds::Nothing)?;
    }
    let hosts = offered(args, hosts)?;
    let mut targets = Vec::new();
    for host in hosts {
        refuse_twice(args, cmd, host, &project)?;
        targets.extend(plan(args, cmd, host, &caller, &project)?);
    }
    if targets.is_empty() {
        let scope = args.scope();
        return Err(
            CliError::not_found(format!("there are no {scope} settings to install into"))
                .hint("try `mainspring install` without `--scope`"),
        );
    }
    if args.dry_run {
        return Ok(report::preview(cmd, &targets));
    }
    let proposal = proposal(args, cmd, store.state(), &project)?;
    let was_trusted = proposal.as_ref().is_some_and(Proposal::is_trusted);
    let trusts = proposal.is_some() && !was_trusted;
    if !args.yes {
        confirm(args, cmd, &project, &targets, trusts)?;
    }
    let trusts = trusts && (args.trust || implies_trust(args) || asked(cmd, args, &project)?);
    if let Some(proposal) = proposal.filter(|_| trusts) {
        proposal.grant(store.state(), &project.root, cmd.env.now())?;
    }
    let trusted = trusts.then(|| path_text::to_text(&project.root));
    second_name(&program)?;
    for target in targets.iter().filter(|target| target.rewrite.is_any()) {
        target.write(cmd, store.state(), trusted.as_deref())?;
    }
    let trust = match (was_trusted, trusts) {
        (true, _) => Trusted::Before,
        (false, true) => Trusted::Now,
        (false, false) => Trusted::No,
    };
    report::report(args, cmd, &project, &targets, trust).map(|text| cmd.fitted(&text))
}

/// Shows what is to be written, and asks. Enter goes on, because the person typed `install`; it
/// trusts no project.
fn confirm(
    args: &Args,
    cmd: &CommandContext,
    project: &Project,
    targets: &[Target],
    trusts: bool,
) -> Result<()> {
    let root = project.root.shown();
    let trusts = trusts && implies_trust(args);
    let (question, enter) = match (targets.iter().any(|target| target.rewrite.is_any()), trusts) {
        (true, false) => ("Write this?".to_owned(), Enter::Yes),
        (true, true) => (format!("Write this, and trust {root}?"), Enter::No),
        // A clone may bring our entries along, and a person did not ask for those.
        (false, true) => (format!("Trust {root}?"), Enter::No),
        (false, false) => return Ok(()),
    };
    let shown = report::question(cmd, targets);
    ask::confirm_or(&format!("{shown}{question}"), enter, cmd.paint)
}

/// Of several hosts that are here, those that the person wants. Nobody is asked about a host
/// that was named.
fn offered(args: &Args, hosts: Vec<&'static HostSpec>) -> Result<Vec<&'static HostSpec>> {
    if args.yes || args.dry_run || !args.host.is_empty() || hosts.len() < 2 {
        return Ok(hosts);
    }
    let mut wanted = Vec::new();
    for host in hosts {
        let question = format!("{} is here. Set it up?", host.agent.name);
        if ask::yes(&question, Enter::Yes, Paint::Plain)? {
            wanted.push(host);
        }
    }
    if wanted.is_empty() {
        return Err(
            CliError::refused("no coding agent was chosen: nothing was written")
                .hint("`mainspring install --host NAME` sets one of them up"),
        );
    }
    Ok(wanted)
}

fn print(args: &Args, hosts: &[&'static HostSpec], caller: &Caller) -> Result {
    let host = hosts.first().map_or(hosts::DEFAULT, |host| host);
    let names = names(&variables(host, args));
    let request = Request::of(args, caller, &names);
    let printed = request.register(host, "", install::Hooks::File);
    printed.map_err(CliError::new)
}

/// What to do to one host; `None` if it has no settings for this scope.
fn plan(
    args: &Args,
    cmd: &CommandContext,
    host: &'static HostSpec,
    caller: &Caller,
    project: &Project,
) -> Result<Option<Target>> {
    let Some(path) = file(args.scope(), cmd, host, &project.worktree)? else {
        return Ok(None);
    };
    let before = Settings::read(host, &path)?;
    let mut variables = variables(host, args);
    let names = names(&variables);
    let mut request = Request::of(args, caller, &names);
    request.status_line &= host.installation.has_status_line;
    for file in wider(args.scope(), cmd, host, project) {
        variables.retain(|variable| !file.found.variables.contains_key(variable.name));
        request.status_line &= file.found.status_line == install::StatusLine::None;
    }
    let store = ProjectStore::new(cmd.state()?, &project.root);
    let trusts = args.trust || implies_trust(args);
    request.guard = args.compat.is_none() && guard::is_needed(cmd, project, &store, trusts);
    if !args.yes && !args.dry_run {
        choose(host, &before, &mut variables, &mut request.status_line)?;
    }
    let names = self::names(&variables);
    request.variables = &names;
    Target::plan(cmd, host, before, &request, project).map(Some)
}

/// The settings that count in a person's local ones, too: what they decide is not asked again and
/// not written twice. Others who read a shared file may not have the person's own.
fn wider(scope: Scope, cmd: &CommandContext, host: &HostSpec, project: &Project) -> Vec<Settings> {
    let files = install::files(host, &cmd.env, &project.worktree);
    let counts = |at: Scope| scope == Scope::Local && at != Scope::Local;
    let wider = files.into_iter().filter(|(at, _)| counts(*at));
    wider.filter_map(|(_, file)| file.ok()).collect()
}

/// Installing for one project trusts it. Registering a drop-in means to use it here.
fn implies_trust(args: &Args) -> bool {
    args.compat.is_some() || args.scope() != Scope::User
}

/// What trusting this project would change; `None` where there is no project to trust.
fn proposal(
    args: &Args,
    cmd: &CommandContext,
    state: &StateDir,
    project: &Project,
) -> Result<Option<Proposal>> {
    let is_home = cmd.env.home().is_some_and(|home| home == project.root);
    let is_top = project.root.parent().is_none();
    if !implies_trust(args) && !args.trust && (is_home || is_top) {
        return Ok(None);
    }
    Ok(Some(Proposal::of(&cmd.env, state, &project.root)?))
}

/// Does the person trust this project, too?
fn asked(cmd: &CommandContext, args: &Args, project: &Project) -> Result<bool> {
    if args.yes {
        return Ok(false);
    }
    let question = format!(
        "May what {} brings count here: hold the agent, and start programs (reviewers, checks, \
         `git`, `gh`)? `mainspring trust` asks again later.",
        project.root.shown()
    );
    ask::yes(&question, Enter::No, cmd.paint)
}

/// A drop-in beside the hooks that cover its machine would count every stop twice.
fn refuse_twice(
    args: &Args,
    cmd: &CommandContext,
    host: &HostSpec,
    project: &Project,
) -> Result<()> {
    let Some(script) = args.compat else {
        return Ok(());
    };
    let here = &project.worktree;
    let scope = args.scope();
    let own = host
        .settings_file(scope, &cmd.env, here)
        .and_then(|path| Settings::read(host, &path).ok())
        .filter(|file| !file.found.handlers.is_empty());
    let place = match own {
        None => install::elsewhere(host, &cmd.env, here, scope)
            .into_iter()
            .next(),
        Some(_) => Some(format!(
            "in the {scope} settings; `mainspring uninstall --scope {scope}`"
        )),
    };
    place.map_or(Ok(()), |place| {
        Err(CliError::refused(format!(
            "mainspring is registered already, and does what `{}` does; the drop-in would answer \
             every event a second time",
            script.name()
        ))
        .hint(format!("registered {place} ends that")))
    })
}

/// Your own file may be a link to where you keep it; a repository's may be none, and lie
/// behind none. `None` if the host has no such file.
fn file(
    scope: Scope,
    cmd: &CommandContext,
    host: &HostSpec,
    here: &Path,
) -> Result<Option<PathBuf>> {
    let path = host.settings_file(scope, &cmd.env, here);
    let Some(path) = path else {
        if cmd.env.home().is_none() {
            return Err(CliError::not_found("there is no home to install into").hint("set HOME"));
        }
        return Ok(None);
    };
    Ok(Some(match scope {
        Scope::User => own_files::real_path(&cmd.env, &path)?,
        Scope::Project | Scope::Local => {
            no_symlink::read(&path, limits::CONFIG)?;
            path
        }
    }))
}

fn variables(host: &HostSpec, args: &Args) -> Vec<&'static Variable> {
    let all = host.installation.variables.iter();
    all.filter(|variable| args.wants(variable.purpose))
        .collect()
}

fn names(variables: &[&Variable]) -> Vec<&'static str> {
    variables.iter().map(|variable| variable.name).collect()
}

/// The program to register: by the name under which it is on the PATH, if that is us, because
/// that name stays when a package manager moves the file behind it.
pub(crate) fn program(cmd: &CommandContext) -> Result<PathBuf> {
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

/// Whoever copied only one of our two programs gets the other name as a link to it; so does
/// whoever upgraded only one.
fn second_name(program: &Path) -> Result<()> {
    let hook = program.with_file_name(program::file_name(call::HOOK));
    if program::is_link(program, &hook) {
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

/// What to switch on is asked only where it is not decided yet.
fn choose(
    host: &HostSpec,
    before: &Settings,
    variables: &mut Vec<&'static Variable>,
    status_line: &mut bool,
) -> Result<()> {
    let mut wanted = Vec::new();
    for variable in variables.drain(..) {
        let decided = before.found.variables.contains_key(variable.name);
        if decided || ask::yes(variable.question, Enter::Yes, Paint::Plain)? {
            wanted.push(variable);
        }
    }
    *variables = wanted;
    if *status_line && before.found.status_line == install::StatusLine::None {
        let name = host.agent.name;
        let question = format!("Show what Mainspring is doing in {name}'s status line?");
        *status_line = ask::yes(&question, Enter::Yes, Paint::Plain)?;
    }
    Ok(())
}
