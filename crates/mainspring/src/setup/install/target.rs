//! What an installation does to one host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mainspring_kernel::Digest;
use mainspring_store::{ShownPath as _, Trouble, atomic, digest, path_text};

use super::uninstall::restored;
use super::{Args, CommandContext, Result, write};
use crate::diff;
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
    before: Settings,
    after: String,
    changes: Vec<String>,
    plugin: PluginState,
    files: Vec<FileChange>,
}

/// A file beside the settings: a command of ours.
struct FileChange {
    path: PathBuf,
    becomes: Becomes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Becomes {
    /// It is as it should be.
    Same(&'static str),
    Written(&'static str),
    /// The plugin brings it.
    Removed,
    /// Somebody else's file is in its place.
    Kept,
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
            files.extend(file_change(path, wanted, earlier.as_ref())?);
        }
        Ok(Self {
            host,
            changes: diff::lines(before.text(), &after),
            before,
            after,
            plugin,
            files,
        })
    }

    /// Is there anything to write?
    pub(super) fn changes(&self) -> bool {
        let moves =
            |file: &FileChange| matches!(file.becomes, Becomes::Written(_) | Becomes::Removed);
        !self.changes.is_empty() || self.files.iter().any(moves)
    }

    /// The files that change, one per line.
    pub(super) fn summary(&self, cmd: &CommandContext) -> String {
        let mut out = counted(cmd, &self.before.path, &self.changes);
        for file in &self.files {
            let path = file.path.shown();
            out += &match file.becomes {
                Becomes::Same(_) => continue,
                Becomes::Written(_) => cmd.paint.good(&format!("+ {path}\n")),
                Becomes::Removed => cmd.paint.warn(&format!("- {path}: the plugin brings it\n")),
                Becomes::Kept => format!("  {path} is not ours, and stays\n"),
            };
        }
        out
    }

    /// The lines of the settings that change.
    pub(super) fn lines(&self, cmd: &CommandContext) -> String {
        diffed(cmd, &self.before.path, &self.changes)
    }

    /// Does the plugin bring the hooks? Others who read a shared file may not have the plugin.
    pub(super) fn is_by_plugin(&self, scope: Scope) -> bool {
        matches!(self.plugin, PluginState::Loads(_)) && scope != Scope::Project
    }

    /// What was written, and how to undo it.
    pub(super) fn told(&self, scope: Scope) -> String {
        let place = self.before.path.shown();
        let mut out = if self.changes() {
            format!(
                "{place} is written; `mainspring uninstall --scope {scope}` brings back what was there\n"
            )
        } else {
            format!("{place} is as it should be\n")
        };
        if self.is_by_plugin(scope) {
            out += "the plugin brings the hooks, the commands and the checklist\n";
        }
        if let PluginState::Fails(problem) = &self.plugin {
            out +=
                &format!("the plugin does not load, so these settings have the hooks: {problem}\n");
        }
        out
    }

    pub(super) fn after_found(&self) -> Result<OurPart> {
        self.host.look(&self.after).map_err(CliError::new)
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
        scope: Scope,
        trusted: Option<&str>,
    ) -> Result<()> {
        self.remember(cmd, state, trusted)?;
        write(scope, &self.before.path, &self.after)?;
        for file in &self.files {
            match file.becomes {
                Becomes::Same(_) | Becomes::Kept => {}
                Becomes::Written(text) => {
                    if let Some(folder) = file.path.parent() {
                        std::fs::create_dir_all(folder).map_err(Trouble::io("create", folder))?;
                    }
                    atomic::replace(&file.path, text.as_bytes())?;
                }
                Becomes::Removed => remove(&file.path)?,
            }
        }
        Ok(())
    }

    /// Keeps what was there before our installations, and what they set. What somebody changed
    /// since the last of them belongs to what was there.
    fn remember(
        &self,
        cmd: &CommandContext,
        state: &StateDir,
        trusted: Option<&str>,
    ) -> Result<()> {
        let before = &self.before;
        let place = InstallRecord::of(state, &before.path);
        let found = self.after_found()?;
        let all = self.host.installation.variables.iter();
        let set = all.map(|variable| variable.name).filter(|name| {
            !before.found.variables.contains_key(*name) && found.variables.contains_key(*name)
        });
        let mut installed = Installed {
            path: path_text::to_text(&before.path),
            at: cmd.env.now(),
            written: Some(digest::of(&[self.after.as_bytes()])),
            before: None,
            variables: set.map(str::to_owned).collect(),
            files: self.own_files(),
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

    /// The files that are ours afterwards.
    fn own_files(&self) -> BTreeMap<String, Digest> {
        let ours = self.files.iter().filter_map(|file| match file.becomes {
            Becomes::Same(text) | Becomes::Written(text) => Some((
                path_text::to_text(&file.path),
                digest::of(&[text.as_bytes()]),
            )),
            Becomes::Removed | Becomes::Kept => None,
        });
        ours.collect()
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
fn file_change(
    path: PathBuf,
    wanted: Option<&'static str>,
    earlier: Option<&Installed>,
) -> Result<Option<FileChange>> {
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
        (Some(bytes), None) if ours(&bytes) => Becomes::Removed,
        (Some(_), Some(_)) => Becomes::Kept,
        (None | Some(_), None) => return Ok(None),
    };
    Ok(Some(FileChange { path, becomes }))
}

/// Removes a file of ours, and its folder if that becomes empty.
pub(super) fn remove(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(Trouble::io("delete", path))?;
    if let Some(folder) = path.parent() {
        // It may have other files.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// How much of a settings file changes.
pub(super) fn counted(cmd: &CommandContext, path: &Path, changes: &[String]) -> String {
    let path = path.shown();
    if changes.is_empty() {
        return format!("{path} is as it should be\n");
    }
    let count = |sign: char| changes.iter().filter(|line| line.starts_with(sign)).count();
    let (added, removed) = (count('+'), count('-'));
    let lines = |count: usize| if count == 1 { "line" } else { "lines" };
    let counts = match (added, removed) {
        (added, 0) => format!("{added} {} added", lines(added)),
        (0, removed) => format!("{removed} {} taken out", lines(removed)),
        (added, removed) => format!("{added} {} added, {removed} taken out", lines(added)),
    };
    format!("{}: {counts}\n", cmd.paint.bold(&path))
}

/// The lines of a settings file that change.
pub(super) fn diffed(cmd: &CommandContext, path: &Path, changes: &[String]) -> String {
    if changes.is_empty() {
        return String::new();
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
