//! A host's settings: is Mainspring registered, does each event reach it once, and does it
//! answer?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mainspring_kernel::Name;
use mainspring_platform::{path, program};
use mainspring_store::ShownPath as _;

use super::{Findings, programs};
use crate::command::CommandContext;
use crate::env::name;
use crate::hosts::HostSpec;
use crate::hosts::call::{self, Caller};
use crate::hosts::install::{self, Calls, Handler, PluginState, Purpose, Scope, Settings};
use crate::project::Project;
use crate::setup::install::{guard, report};
use crate::setup::trial;

/// What was found in the settings of one host.
struct Registered<'a> {
    cmd: &'a CommandContext,
    host: &'static HostSpec,
    files: Vec<(Scope, Settings)>,
    plugin: PluginState,
}

pub(super) fn examine(
    cmd: &CommandContext,
    host: &'static HostSpec,
    project: &Project,
    findings: &mut Findings,
) {
    let here = &project.worktree;
    let mut files = Vec::new();
    for (scope, file) in install::files(host, &cmd.env, here) {
        match file {
            Ok(file) => files.push((scope, file)),
            Err(error) => {
                let path = host
                    .settings_file(scope, &cmd.env, here)
                    .unwrap_or_default();
                findings.error("settings", error.cause, &edit(&path));
            }
        }
    }
    let plugin = install::plugin(host, &cmd.env, here, files.iter().map(|(_, file)| file));
    let registered = Registered {
        cmd,
        host,
        files,
        plugin,
    };
    registered.examine(findings);
}

/// The command that registers us anew.
fn again(scope: Scope) -> String {
    match scope {
        Scope::User => "mainspring install".to_owned(),
        Scope::Project | Scope::Local => format!("mainspring install --scope {scope}"),
    }
}

/// The command that opens a file for the person to change.
pub(super) fn edit(path: &Path) -> String {
    format!("${{EDITOR:-vi}} {}", path.shown())
}

impl Registered<'_> {
    /// The files that have our hooks.
    fn with_hooks(&self) -> Vec<&(Scope, Settings)> {
        let files = self.files.iter();
        files
            .filter(|(_, file)| !file.found.handlers.is_empty())
            .collect()
    }

    fn examine(&self, findings: &mut Findings) {
        let works = self.switches(findings) & self.registration(findings);
        self.guard(findings);
        self.beside(findings);
        self.variables(findings);
        if works {
            self.trial(findings);
        }
        for (_, file) in self.with_hooks() {
            for advice in (self.host.doctor.also)(&self.cmd.env, &file.path) {
                match advice.fix {
                    Some(fix) => findings.warn(advice.about, advice.what, fix),
                    None => findings.fine(advice.about, advice.what),
                }
            }
        }
    }

    /// Where we are registered. Returns whether each registration is as it should be.
    fn registration(&self, findings: &mut Findings) -> bool {
        let registered = self.with_hooks();
        if let PluginState::Fails(problem) = &self.plugin {
            let what = format!("the plugin does not load: {problem}");
            if registered.is_empty() {
                findings.error("plugin", what, "mainspring install");
                return false;
            }
            findings.fine("plugin", format!("{what}; the settings have the hooks"));
        }
        if !self.places(&registered, findings) {
            return false;
        }
        let scopes: Vec<Scope> = registered.iter().map(|(scope, _)| *scope).collect();
        if let Some((what, fix)) = report::twice(&scopes) {
            findings.warn("hooks", what, &fix);
        }
        if let PluginState::Loads(handlers) = &self.plugin
            && registered.is_empty()
        {
            return self.handlers(handlers, "mainspring install", findings);
        }
        let all = registered
            .iter()
            .map(|(scope, file)| self.handlers(&file.found.handlers, &again(*scope), findings));
        // Each is looked at.
        let all: Vec<bool> = all.collect();
        all.into_iter().all(|good| good)
    }

    /// Says where our hooks are. Returns whether they are anywhere.
    fn places(&self, registered: &[&(Scope, Settings)], findings: &mut Findings) -> bool {
        let is_plugin = matches!(self.plugin, PluginState::Loads(_));
        let files = self.files.iter();
        let drop_ins = files.flat_map(|(_, file)| &file.found.drop_ins);
        let mut drop_ins: Vec<&str> = drop_ins
            .filter_map(|one| one.args.get(1).map(String::as_str))
            .collect();
        drop_ins.dedup();
        if registered.is_empty() && !is_plugin {
            if drop_ins.is_empty() {
                let what = "mainspring's hooks are not registered";
                findings.error("hooks", what, "mainspring install");
            } else {
                findings.fine("hooks", format!("only drop-ins: {}", drop_ins.join(", ")));
            }
            return false;
        }
        if registered.is_empty() {
            findings.fine("hooks", "registered by the plugin");
            return true;
        }
        let places = registered.iter().map(|(scope, file)| {
            let path = file.path.shown();
            format!("{path} ({scope})")
        });
        let mut places: Vec<String> = places.collect();
        places.extend(is_plugin.then(|| "the plugin, which stays silent".to_owned()));
        findings.fine("hooks", format!("registered in {}", places.join(" and ")));
        true
    }

    /// Is each of these handlers what `install` would write today? One finding is enough,
    /// because the same command fixes all of them.
    fn handlers(&self, ours: &[Handler], again: &str, findings: &mut Findings) -> bool {
        for handler in ours {
            match self.wrong(handler) {
                None => {}
                Some(Wrong::Gone(what)) => {
                    findings.error("hooks", what, again);
                    return false;
                }
                Some(Wrong::Other(what)) => {
                    findings.warn("hooks", what, again);
                    return false;
                }
            }
        }
        let is_there = |wanted: &Handler| {
            let is_watch = |one: &Handler| one.calls == Calls::Watch;
            let mut ours = ours.iter();
            ours.any(|one| one.event == wanted.event && is_watch(one) == is_watch(wanted))
        };
        let mut missing: Vec<String> = self
            .host
            .wanted(&Caller::by_name())
            .into_iter()
            .filter(|wanted| !is_there(wanted))
            .map(|handler| handler.event)
            .collect();
        missing.dedup();
        if missing.is_empty() {
            return true;
        }
        let what = format!("not registered for {}", missing.join(", "));
        findings.warn("hooks", what, again);
        false
    }

    fn wrong(&self, handler: &Handler) -> Option<Wrong> {
        let Handler { event, program, .. } = handler;
        if program.is_absolute() && !program.is_file() {
            let what = format!("{event} calls {}, which does not exist", program.shown());
            return Some(Wrong::Gone(what));
        }
        if let Some(me) = stranger(program) {
            let theirs = programs::version(self.cmd, program);
            let what = format!(
                "two versions are in use: {event} calls {}{theirs}, but this program is {} ({})",
                program.shown(),
                me.shown(),
                env!("CARGO_PKG_VERSION"),
            );
            return Some(Wrong::Other(what));
        }
        if handler.needs_list {
            return Some(Wrong::Other(format!(
                "{event} gives mainspring its arguments in a list, which other agents that read this \
                 file drop"
            )));
        }
        let wanted = self.host.wanted(&Caller::by_name());
        let is_watch = handler.calls == Calls::Watch;
        let same = |one: &&Handler| one.event == *event && (one.calls == Calls::Watch) == is_watch;
        let least = wanted.iter().find(same)?.timeout?;
        match handler.timeout {
            Some(has) if has >= least => None,
            Some(has) => Some(Wrong::Other(format!(
                "{event} has a timeout of {has} s, too short for what it may start"
            ))),
            None => Some(Wrong::Other(format!(
                "{event} has no timeout, and the host's default may be too short"
            ))),
        }
    }

    /// The hook before every tool, if a setting needs it.
    fn guard(&self, findings: &mut Findings) {
        let Ok((project, store)) = self.cmd.project() else {
            return;
        };
        if guard::is_missing(self.cmd, self.host, &project, &store) {
            let setting = guard::SETTING;
            let what = format!("{setting} is on, but the event before a tool is not registered");
            let scope = self.with_hooks().first().map(|(scope, _)| *scope);
            findings.warn("hooks", what, &again(scope.unwrap_or(Scope::User)));
        }
        // Beside other hooks of ours it is as wrong as they are.
        let alone = self
            .files
            .iter()
            .filter(|(_, file)| file.found.handlers.is_empty());
        let guards = alone.filter_map(|(_, file)| file.found.guard.as_ref());
        for wrong in guards.filter_map(|guard| self.wrong(guard)) {
            match wrong {
                Wrong::Gone(what) => findings.error("hooks", what, "mainspring install"),
                Wrong::Other(what) => findings.warn("hooks", what, "mainspring install"),
            }
        }
    }

    /// Public scripts, and drop-ins for them, that would answer beside us.
    fn beside(&self, findings: &mut Findings) {
        let covered = !self.with_hooks().is_empty() || matches!(self.plugin, PluginState::Loads(_));
        for (scope, file) in &self.files {
            let scripts = file.found.scripts.iter().map(|script| script.name());
            let drop_ins = file.found.drop_ins.iter().filter(|_| covered);
            let drop_ins = drop_ins.filter_map(|one| one.args.get(1).map(String::as_str));
            let mut names: Vec<&str> = scripts.chain(drop_ins).collect();
            names.dedup();
            if names.is_empty() {
                continue;
            }
            let what = format!(
                "{} in the {scope} settings answers every event beside Mainspring",
                names.join(", ")
            );
            let fix = format!("mainspring install --replace --scope {scope}");
            findings.warn("scripts", what, &fix);
        }
    }

    /// Returns whether hooks run at all.
    fn switches(&self, findings: &mut Findings) -> bool {
        let mut on = true;
        for (scope, file) in &self.files {
            let disabled = file.found.variables.get(name::DISABLE);
            let disabled = disabled.is_some_and(|value| !value.is_empty() && value != "0");
            let switch = file.found.hooks_off.or(disabled.then_some(name::DISABLE));
            if let Some(switch) = switch {
                on = false;
                findings.error(
                    "switched off",
                    format!("{switch} is set in the {scope} settings: take it out"),
                    &edit(&file.path),
                );
            }
        }
        on
    }

    /// The value that the host gets, and the file that sets it. The narrowest file wins.
    fn variable(&self, name: &str) -> Option<(String, Option<&Path>)> {
        let set = self.files.iter().rev().find_map(|(_, file)| {
            let value = file.found.variables.get(name)?;
            Some((value.clone(), Some(file.path.as_path())))
        });
        set.or_else(|| Some((self.cmd.env.var(name)?, None)))
    }

    fn variables(&self, findings: &mut Findings) {
        for variable in self.host.installation.variables {
            let found = self.variable(variable.name);
            let file = found.as_ref().and_then(|(_, file)| *file);
            let fix = match (&found, file) {
                (Some(_), Some(file)) => edit(file),
                (Some(_), None) => format!("unset {}", variable.name),
                (None, _) => "mainspring install".to_owned(),
            };
            let value = found.as_ref().map(|(value, _)| value.as_str());
            match variable.purpose {
                Purpose::Cap => cap(variable.name, value, &fix, findings),
                Purpose::TaskTools => task_tools(variable.name, value, &fix, findings),
                Purpose::StatusLine | Purpose::Commands => {}
            }
        }
    }

    /// Sends a stop through what is registered.
    fn trial(&self, findings: &mut Findings) {
        let permit = match self.cmd.permit(Name::Pulse) {
            Ok(permit) => permit,
            Err(error) => return findings.fine("trial", error.cause),
        };
        let mut variables = BTreeMap::new();
        for (_, file) in &self.files {
            variables.extend(file.found.variables.clone());
        }
        let registered = self.with_hooks();
        let own = registered.iter().map(|(_, file)| &file.found.handlers);
        let plugin = match &self.plugin {
            PluginState::Loads(handlers) if registered.is_empty() => Some(handlers),
            PluginState::Loads(_) | PluginState::Absent | PluginState::Fails(_) => None,
        };
        for handlers in own.chain(plugin) {
            let tried = trial::run(self.cmd, permit.clone(), self.host, handlers, &variables);
            if let Err(problem) = tried {
                let what = format!("a stop through the registered command was not held: {problem}");
                return findings.error("trial", what, &programs::on_path());
            }
        }
        findings.fine("trial", "a stop through the registered command was held");
    }
}

/// What is wrong with a handler.
enum Wrong {
    /// It cannot run at all.
    Gone(String),
    Other(String),
}

/// This program, if the registered one is another. Our two names are in one folder.
fn stranger(registered: &Path) -> Option<PathBuf> {
    let me = std::env::current_exe()
        .and_then(|me| path::real(&me))
        .ok()?;
    let other = path::real(registered).ok()?;
    let is_ours = other == me || other == me.with_file_name(program::file_name(call::HOOK));
    (registered.is_absolute() && !is_ours).then_some(me)
}

fn cap(name: &str, value: Option<&str>, fix: &str, findings: &mut Findings) {
    match value.map(str::parse::<u32>) {
        Some(Ok(0)) => findings.fine("block cap", "off"),
        Some(Ok(cap)) if cap >= 50 => findings.fine("block cap", cap.to_string()),
        Some(Ok(cap)) => {
            let what = format!(
                "the host ends a turn after {cap} blocks without tool use: set {name} to 100"
            );
            findings.warn("block cap", what, fix);
        }
        Some(Err(_)) => {
            findings.warn(
                "block cap",
                format!("{name} is not a number: set it to 100"),
                fix,
            );
        }
        None => {
            let what = "the host ends a turn after 8 blocks without tool use";
            findings.warn("block cap", what, fix);
        }
    }
}

fn task_tools(name: &str, value: Option<&str>, fix: &str, findings: &mut Findings) {
    let off = "the host's task tools may be off: the agent then gets the task list only as text";
    match value {
        None => findings.warn("task tools", off, fix),
        Some("0") => findings.warn("task tools", format!("{off}; set {name} to 1"), fix),
        Some(_) => findings.fine("task tools", "on"),
    }
}
