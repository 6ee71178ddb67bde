//! `mainspring uninstall`: take our entries out again, and bring back what was there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mainspring_kernel::Digest;
use mainspring_kernel::authority::Grounds;
use mainspring_store::{ShownPath as _, Trouble, atomic, digest, path_text};

use super::rewrite::{Becomes, PlannedFile, Rewrite};
use super::{Chosen, CommandContext, Result, chosen, file};
use crate::children::child_env::{self, PERSON};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::error::CliError;
use crate::hosts::install::{self, PluginState, Scope, Settings};
use crate::hosts::reviewer;
use crate::hosts::text::excerpt;
use crate::hosts::{self, HostSpec};
use crate::limits;
use crate::people::ask::{self, Enter};
use crate::people::trust::record;
use crate::store::StateDir;
use crate::store::installs::{self, InstallRecord, Installed};

/// Take our entries out again, and bring back what was there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring uninstall --dry-run          show what would change\n  mainspring uninstall --scope local\n  mainspring uninstall --host codex\n  mainspring uninstall --all              everywhere, the plugin included; asks about the state"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub(crate) struct UninstallArgs {
    /// Only this coding agent, by its program's name [default: all]
    #[arg(long, value_name = "NAME|all", value_parser = chosen)]
    host: Vec<Chosen>,
    /// Which settings file
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,
    /// Everywhere: every settings file that we were installed into, and the plugin
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    /// With --all: delete Mainspring's state of all projects, too
    #[arg(long, requires = "all")]
    state: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// One settings file that has us.
struct Removal {
    rewrite: Rewrite,
    place: InstallRecord,
    installed: Option<Installed>,
}

pub(crate) fn uninstall(args: &UninstallArgs, cmd: &CommandContext) -> Result {
    let removals = removals(args, cmd)?;
    let mut plugins = if args.all { plugins(cmd)? } else { Vec::new() };
    plugins.retain(|host| Chosen::covers(&args.host, host));
    if removals.is_empty() && plugins.is_empty() && !args.state {
        return Err(nothing(args, cmd)?);
    }
    let lines: String = removals.iter().map(|one| one.rewrite.lines(cmd)).collect();
    let mut summary = String::new();
    for one in &removals {
        summary += &one.rewrite.summary(cmd);
        summary += &one.trust(cmd)?;
    }
    for host in &plugins {
        let command = install::remove_plugin(host).unwrap_or_default();
        summary += &format!("and it runs `{command}`\n");
    }
    if args.dry_run {
        return Ok(format!("{summary}\n{lines}"));
    }
    cmd.may("uninstall", Grounds::Nothing)?;
    if !args.yes {
        let question = format!("{lines}\n{summary}Write this?");
        ask::confirm_or(&question, Enter::Yes, cmd.paint)?;
    }
    let mut said = String::new();
    for one in removals {
        said += &one.carry_out(cmd)?;
    }
    for host in plugins {
        said += &remove_plugin(cmd, host)?;
    }
    if args.all {
        said += &delete_state(args, cmd)?;
    }
    Ok(said)
}

fn nothing(args: &UninstallArgs, cmd: &CommandContext) -> Result<CliError> {
    if args.all {
        return Ok(CliError::not_found("mainspring is installed nowhere"));
    }
    let (project, _) = cmd.project()?;
    let mut meant = hosts::HOSTS.iter();
    let host = meant.find(|host| Chosen::covers(&args.host, host));
    let host = host.map_or(hosts::DEFAULT, |host| host);
    let here = file(args.scope, cmd, host, &project.worktree)?;
    let here = here.map_or_else(String::new, |path| path.shown());
    Ok(CliError::not_found(format!("{here} has no entry of ours"))
        .hint("`mainspring doctor` shows where we are registered; `--all` takes all of it out"))
}

/// The settings files to take us out of.
fn removals(args: &UninstallArgs, cmd: &CommandContext) -> Result<Vec<Removal>> {
    let (project, store) = cmd.project()?;
    let scopes: &[Scope] = if args.all { &Scope::ALL } else { &[args.scope] };
    let mut found: Vec<Removal> = Vec::new();
    let meant = |host: &&&'static HostSpec| Chosen::covers(&args.host, host);
    for host in hosts::HOSTS.iter().filter(meant) {
        for scope in scopes {
            if let Some(path) = file(*scope, cmd, host, &project.worktree)? {
                found.extend(removal(host, *scope, &path, store.state())?);
            }
        }
    }
    // What was installed in other projects, as far as they are still there.
    for record in installs::all(store.state()).filter(|_| args.all) {
        let path = path_text::from_text(&record.path);
        let is_known = found.iter().any(|one| one.rewrite.before.path == path);
        let host = hosts::HOSTS
            .iter()
            .filter(meant)
            .find(|host| owns(host, cmd, &path));
        if let (false, true, Some(host)) = (is_known, path.exists(), host) {
            found.extend(removal(host, Scope::Local, &path, store.state())?);
        }
    }
    Ok(found)
}

/// Is this a settings file of the host's, in some project?
fn owns(host: &HostSpec, cmd: &CommandContext, path: &Path) -> bool {
    let scopes = [Scope::Project, Scope::Local];
    path.ancestors().skip(1).any(|folder| {
        let mut files = scopes
            .iter()
            .filter_map(|scope| host.settings_file(*scope, &cmd.env, folder));
        files.any(|file| file == path)
    })
}

fn removal(
    host: &HostSpec,
    scope: Scope,
    path: &Path,
    state: &StateDir,
) -> Result<Option<Removal>> {
    let now = Settings::read(host, path)?;
    let place = InstallRecord::of(state, &now.path);
    let installed = place.load()?;
    let found = &now.found;
    let is_ours = found.status_line == install::StatusLine::Ours || found.guard.is_some();
    if found.handlers.is_empty() && found.drop_ins.is_empty() && installed.is_none() && !is_ours {
        return Ok(None);
    }
    let text = restored(host, &place, installed.as_ref(), &now)?;
    let files = installed.iter().flat_map(|record| &record.files);
    let files = files.filter_map(|(name, written)| left(name, written).transpose());
    let files = files.collect::<Result<_>>()?;
    Ok(Some(Removal {
        rewrite: Rewrite::new(scope, now, text, files),
        place,
        installed,
    }))
}

impl Removal {
    /// What becomes of the trust: what the installation granted goes with it.
    fn trust(&self, cmd: &CommandContext) -> Result {
        let state = cmd.state()?;
        let trusted = record::all(&state)?;
        let granted = self.installed.as_ref().and_then(|one| one.trusted.as_ref());
        if let Some(project) = granted.filter(|project| trusted.contains_key(*project)) {
            let project = path_text::from_text(project).shown();
            return Ok(format!(
                "the trust of {project} ends: the installation granted it\n"
            ));
        }
        let here = cmd.project()?.0.root;
        if trusted.contains_key(&path_text::to_text(&here)) {
            return Ok(format!("the trust of {} stays\n", here.shown()));
        }
        Ok(String::new())
    }

    fn carry_out(self, cmd: &CommandContext) -> Result {
        let trust = self.trust(cmd)?;
        self.rewrite.carry_out()?;
        let path = self.rewrite.before.path.shown();
        let mut said = format!("our entries are gone from {path}\n");
        for file in &self.rewrite.files {
            if let Becomes::Kept(why) = file.becomes {
                said += &format!("{} {why}, and stays\n", file.path.shown());
            }
        }
        if let Some(project) = self.installed.and_then(|installed| installed.trusted) {
            record::revoke(&cmd.state()?, &path_text::from_text(&project))?;
        }
        self.place.forget()?;
        Ok(said + &trust)
    }
}

/// What becomes of a command of ours; `None` if it is gone already.
fn left(name: &str, written: &Digest) -> Result<Option<PlannedFile>> {
    let path = path_text::from_text(name);
    let becomes = match atomic::read(&path, limits::STATE_FILE)? {
        None => return Ok(None),
        Some(bytes) if digest::of(&[&bytes]) == *written => Becomes::Removed(""),
        Some(_) => Becomes::Kept("was changed since"),
    };
    Ok(Some(PlannedFile {
        path: path.into_owned(),
        becomes,
    }))
}

/// The file without us: the very bytes of before, if nobody has changed it since we wrote it;
/// no file, if we made it and nothing else is in it. If the bytes of before were damaged, only our
/// entries go.
pub(super) fn restored(
    host: &HostSpec,
    place: &InstallRecord,
    installed: Option<&Installed>,
    now: &Settings,
) -> Result<Option<String>> {
    let before = place.before()?;
    let is_whole = installed
        .and_then(|installed| installed.before.as_ref())
        .is_none_or(|kept| {
            let text = before.as_deref();
            text.is_some_and(|text| digest::of(&[text.as_bytes()]) == *kept)
        });
    let written = installed.and_then(|installed| installed.written.as_ref());
    if is_whole && written == Some(&digest::of(&[now.text().as_bytes()])) {
        return Ok(before);
    }
    let variables = installed.map_or(&[][..], |installed| &installed.variables);
    let text = now.changed((host.installation.unregister)(host, now.text(), variables))?;
    let is_empty = |text: &str| host.look(text).is_ok_and(|found| found.empty);
    if installed.is_none() || !is_whole || !is_empty(&text) {
        return Ok(Some(text));
    }
    // It had nothing before, and has nothing now.
    Ok(before.map(|before| {
        let was_empty = before.trim().is_empty() || is_empty(&before);
        if was_empty { before } else { text }
    }))
}

/// The hosts that have our plugin, loaded or not.
fn plugins(cmd: &CommandContext) -> Result<Vec<&'static HostSpec>> {
    let (project, _) = cmd.project()?;
    let here = &project.worktree;
    let has_plugin = |host: &&&'static HostSpec| {
        let files = install::files(host, &cmd.env, here);
        let read = files.iter().filter_map(|(_, file)| file.as_ref().ok());
        install::plugin(host, &cmd.env, here, read) != PluginState::Absent
    };
    Ok(hosts::HOSTS.iter().filter(has_plugin).copied().collect())
}

/// How long the client may take.
const CLIENT_LIMIT: Duration = Duration::from_secs(60);

/// The client removes its plugin itself.
fn remove_plugin(cmd: &CommandContext, host: &HostSpec) -> Result {
    let (Some(plugin), Some(command)) = (&host.installation.plugin, install::remove_plugin(host))
    else {
        return Ok(String::new());
    };
    let by_hand = format!("run `{command}` yourself");
    let Some(program) = cmd.env.program(host.program) else {
        let what = format!("the plugin stays: {} is not on the PATH", host.program);
        return Err(CliError::new(what).hint(by_hand));
    };
    let lists = [
        &[PERSON][..],
        &reviewer::named(host.program).0.env.lists(&cmd.env),
    ]
    .concat();
    let done = Job::new(Permit::for_trial(), program, CLIENT_LIMIT)
        .args(plugin.remove)
        .env(child_env::listed(&cmd.env, &lists))
        .run();
    match done {
        Ok(done) if done.code == Some(0) => Ok("the plugin is gone\n".into()),
        Ok(done) => {
            let said = [done.stdout, done.stderr].concat();
            let said = excerpt(&String::from_utf8_lossy(&said));
            Err(CliError::new(format!("the plugin stays: {said}")).hint(by_hand))
        }
        Err(failure) => Err(CliError::new(format!("the plugin stays: {failure}")).hint(by_hand)),
    }
}

/// Deletes the state of all projects, if the person wants that.
fn delete_state(args: &UninstallArgs, cmd: &CommandContext) -> Result {
    let state = cmd.state()?;
    let root: PathBuf = state.root().to_owned();
    if !root.exists() {
        return Ok(String::new());
    }
    let place = root.shown();
    let question = format!(
        "Delete the state of all projects, too: journals, loops, what is trusted ({place})?"
    );
    if !args.state && (args.yes || !ask::yes(&question, Enter::No, cmd.paint)?) {
        return Ok(format!("the state stays: `rm -r {place}` deletes it\n"));
    }
    std::fs::remove_dir_all(&root).map_err(Trouble::io("delete", &root))?;
    Ok(format!("{place} is deleted\n"))
}
