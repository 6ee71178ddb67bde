//! What an installation does to one host.

use std::path::PathBuf;

use mainspring_store::{ShownPath as _, atomic, digest, path_text};

use super::rewrite::{Becomes, PlannedFile, Rewrite};
use super::uninstall::restored;
use super::{Args, CommandContext, Result};
use crate::error::CliError;
use crate::hosts::HostSpec;
use crate::hosts::call::Caller;
use crate::hosts::install::{
    self, Handler, Hooks, OurPart, PluginState, Purpose, Scope, Script, Settings, StatusLine, Wish,
};
use crate::limits;
use crate::project::Project;
use crate::store::StateDir;
use crate::store::installs::{InstallRecord, Installed};

/// What the person asks for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a part of the set-up by itself"
)]
pub(super) struct Request<'a> {
    pub(super) scope: Scope,
    pub(super) caller: &'a Caller,
    pub(super) compat: Option<Script>,
    pub(super) replace: bool,
    /// Does a setting need a hook before every tool?
    pub(super) guard: bool,
    pub(super) variables: &'a [&'static str],
    pub(super) status_line: bool,
    pub(super) commands: bool,
}

impl<'a> Request<'a> {
    pub(super) fn of(args: &Args, caller: &'a Caller, variables: &'a [&'static str]) -> Self {
        Self {
            scope: args.scope(),
            caller,
            compat: args.compat,
            replace: args.replace,
            guard: false,
            variables,
            // In a shared file it would take the place of everybody's own.
            status_line: args.wants(Purpose::StatusLine) && args.scope() != Scope::Project,
            // A project has no folder of commands that is a person's own.
            commands: args.wants(Purpose::Commands) && args.scope() == Scope::User,
        }
    }

    /// The text of a settings file with what is to be registered.
    pub(super) fn register(
        &self,
        host: &HostSpec,
        text: &str,
        hooks: Hooks,
    ) -> std::result::Result<String, String> {
        match (self.compat, host.installation.register_drop_in) {
            (Some(script), Some(register)) => register(text, self.caller, script),
            (Some(_) | None, _) => (host.installation.register)(
                host,
                text,
                &Wish {
                    caller: self.caller,
                    hooks,
                    guard: self.guard,
                    variables: self.variables,
                    status_line: self.status_line,
                    replace: self.replace,
                },
            ),
        }
    }
}

/// One host, as it is and as it is to be.
pub(super) struct Target {
    pub(super) host: &'static HostSpec,
    pub(super) rewrite: Rewrite,
    plugin: PluginState,
}

impl Target {
    pub(super) fn plan(
        cmd: &CommandContext,
        host: &'static HostSpec,
        before: Settings,
        request: &Request<'_>,
        project: &Project,
    ) -> Result<Self> {
        let here = &project.worktree;
        let files = install::files(host, &cmd.env, here);
        let read = files.iter().filter_map(|(_, file)| file.as_ref().ok());
        let plugin = install::plugin(host, &cmd.env, here, read);
        // Others who read a shared file may not have the plugin.
        let by_plugin = matches!(plugin, PluginState::Loads(_)) && request.scope != Scope::Project;
        let hooks = if by_plugin {
            Hooks::Plugin
        } else {
            Hooks::File
        };
        let after = before.changed(request.register(host, before.text(), hooks))?;
        let earlier = InstallRecord::of(&cmd.state()?, &before.path).load()?;
        let mut files = Vec::new();
        for (path, text) in (host.installation.own_files)(&cmd.env) {
            let wanted = request.commands.then_some(text).filter(|_| !by_plugin);
            files.extend(own_file(path, wanted, earlier.as_ref())?);
        }
        Ok(Self {
            host,
            rewrite: Rewrite::new(request.scope, before, Some(after), files),
            plugin,
        })
    }

    /// Does the plugin bring the hooks? Others who read a shared file may not have the plugin.
    pub(super) fn is_by_plugin(&self) -> bool {
        matches!(self.plugin, PluginState::Loads(_)) && self.rewrite.scope != Scope::Project
    }

    /// What was written, and how to undo it.
    pub(super) fn told(&self) -> String {
        let place = self.rewrite.before.path.shown();
        let mut out = if self.rewrite.is_any() {
            let undo = format!("mainspring uninstall --scope {}", self.rewrite.scope);
            format!("{place} is written; `{undo}` brings back what was there\n")
        } else {
            format!("{place} is as it should be\n")
        };
        if self.is_by_plugin() {
            out += "the plugin brings the hooks, the commands and the checklist\n";
        }
        if let PluginState::Fails(problem) = &self.plugin {
            out +=
                &format!("the plugin does not load, so these settings have the hooks: {problem}\n");
        }
        out
    }

    pub(super) fn after_found(&self) -> Result<OurPart> {
        let after = self.rewrite.after.as_deref().unwrap_or_default();
        self.host.look(after).map_err(CliError::new)
    }

    /// The handlers that answer now.
    pub(super) fn handlers(&self) -> Result<Vec<Handler>> {
        let own = self.after_found()?.handlers;
        Ok(match &self.plugin {
            PluginState::Loads(handlers) if own.is_empty() => handlers.clone(),
            PluginState::Loads(_) | PluginState::Absent | PluginState::Fails(_) => own,
        })
    }

    /// Keeps what was there, then writes.
    pub(super) fn write(
        &self,
        cmd: &CommandContext,
        state: &StateDir,
        trusted: Option<&str>,
    ) -> Result<()> {
        self.remember(cmd, state, trusted)?;
        self.rewrite.carry_out()
    }

    /// Keeps what was there before our installations, and what they set. What somebody changed
    /// since the last of them belongs to what was there.
    fn remember(
        &self,
        cmd: &CommandContext,
        state: &StateDir,
        trusted: Option<&str>,
    ) -> Result<()> {
        let before = &self.rewrite.before;
        let place = InstallRecord::of(state, &before.path);
        let found = self.after_found()?;
        let all = self.host.installation.variables.iter();
        let set = all.map(|variable| variable.name).filter(|name| {
            !before.found.variables.contains_key(*name) && found.variables.contains_key(*name)
        });
        let mut installed = Installed {
            path: path_text::to_text(&before.path),
            at: cmd.env.now(),
            written: self
                .rewrite
                .after
                .as_ref()
                .map(|text| digest::of(&[text.as_bytes()])),
            before: None,
            variables: set.map(str::to_owned).collect(),
            files: self.rewrite.own_files(),
            trusted: trusted.map(str::to_owned),
            stop_timeout: found.stop_timeout,
        };
        let earlier = place.load()?.filter(|earlier| has_us(earlier, before));
        let kept = match &earlier {
            None => before.text.clone(),
            Some(earlier) => restored(self.host, &place, Some(earlier), before)?,
        };
        if let Some(earlier) = earlier {
            installed.variables.extend(earlier.variables);
            installed.trusted = installed.trusted.or(earlier.trusted);
        }
        installed.before = kept.as_ref().map(|text| digest::of(&[text.as_bytes()]));
        place.forget()?;
        place.save(state, kept.as_deref(), &installed)?;
        Ok(())
    }
}

/// Does the file still have something that the installation wrote? If somebody put the old file
/// back, there is nothing to undo.
fn has_us(record: &Installed, now: &Settings) -> bool {
    let found = &now.found;
    let is_set = |name: &String| found.variables.contains_key(name);
    !found.handlers.is_empty()
        || found.guard.is_some()
        || !found.drop_ins.is_empty()
        || found.status_line == StatusLine::Ours
        || record.variables.iter().any(is_set)
}

/// What becomes of one of our files; `None` if it is not there, and nobody wants it.
fn own_file(
    path: PathBuf,
    wanted: Option<&'static str>,
    earlier: Option<&Installed>,
) -> Result<Option<PlannedFile>> {
    let there = atomic::read(&path, limits::STATE_FILE)?;
    let ours = |bytes: &[u8]| {
        let digest = digest::of(&[bytes]);
        let recorded = earlier.and_then(|record| record.files.get(&path_text::to_text(&path)));
        recorded == Some(&digest)
    };
    let becomes = match (there, wanted) {
        (None, Some(text)) => Becomes::Written(text),
        (Some(bytes), Some(text)) if bytes == text.as_bytes() => Becomes::Same(text),
        (Some(bytes), Some(text)) if ours(&bytes) => Becomes::Written(text),
        (Some(bytes), None) if ours(&bytes) => Becomes::Removed(": the plugin brings it"),
        (Some(_), Some(_)) => Becomes::Kept("is not ours"),
        (None | Some(_), None) => return Ok(None),
    };
    Ok(Some(PlannedFile { path, becomes }))
}
