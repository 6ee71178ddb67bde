//! Our own plugin for Claude Code, as the client has it installed, and its texts, which `install`
//! writes where there is no plugin.

use std::path::{Path, PathBuf};

use mainspring_plugins::COMMANDS;

use super::{SPEC, plugins};
use mainspring_store::ShownPath as _;

use crate::env::Environment;
use crate::hosts::install::{Handler, PluginState};
use crate::limits;
use crate::people::own_files::{self, Check, OwnFile};

const NAME: &str = "mainspring";

/// Relative to the plugin's folder.
const HOOKS: &str = "hooks/hooks.json";

/// The plugin's commands and its skill. In this folder of commands they have the same names as
/// the plugin's, so that the client shows each once if it has both.
pub(super) fn files(env: &Environment) -> Vec<(PathBuf, &'static str)> {
    let Some(folder) = SPEC.own_folder(env) else {
        return Vec::new();
    };
    let folder = folder.join("commands").join(NAME);
    COMMANDS
        .map(|(name, text)| (folder.join(name), text))
        .into()
}

/// Does the client load it? It must be in the client's list, and its folder must have our
/// hooks.
pub(super) fn state(env: &Environment, here: &Path) -> PluginState {
    match hooks(env, here) {
        Ok(handlers) if handlers.is_empty() => {
            PluginState::Fails(format!("{HOOKS} of the plugin does not call us"))
        }
        Ok(handlers) => PluginState::Loads(handlers),
        Err(problem) => PluginState::Fails(problem),
    }
}

fn hooks(env: &Environment, here: &Path) -> Result<Vec<Handler>, String> {
    let list = SPEC.own_folder(env).map(|dir| dir.join(plugins::FILE));
    let list = list.ok_or("there is no home")?;
    let installed = plugins::parse(&read(env, &list)?)
        .map_err(|problem| format!("{}: {problem}", list.shown()))?;
    let ours = plugins::applicable(&installed, NAME, here);
    let ours = ours.first().ok_or("it is enabled, but not installed")?;
    let file = ours.path.join(HOOKS);
    let text = String::from_utf8(read(env, &file)?);
    let text = text.map_err(|_| format!("{} is not UTF-8 text", file.shown()))?;
    let found = SPEC
        .look(&text)
        .map_err(|problem| format!("{}: {problem}", file.shown()))?;
    Ok(found.handlers)
}

fn read(env: &Environment, path: &Path) -> Result<Vec<u8>, String> {
    match own_files::read(env, path, limits::STATE_FILE, Check::Links) {
        Ok(OwnFile::Read(bytes)) => Ok(bytes),
        Ok(OwnFile::Absent) => Err(format!("{} does not exist", path.shown())),
        Ok(OwnFile::Ignored(ignored)) => Err(ignored.to_string()),
        Err(trouble) => Err(trouble.to_string()),
    }
}
