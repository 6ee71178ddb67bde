//! The client's list of installed plugins, in any of its three formats.
//!
//! 2: `{"version":2,"plugins":{"flow@market":[{"scope","projectPath"?,"installPath"}]}}`;
//! 1: one object per key and no scope; before that: an array of objects with a `name`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use mainspring_platform::path;

use mainspring_store::ShownPath as _;

use crate::env::Environment;
use crate::hosts::task_files::Roots;
use crate::path_contains::path_contains;
use crate::people::own_files::{self, Check, OwnFile};

/// Relative to the host's own folder.
pub(super) const FILE: &str = "plugins/installed_plugins.json";

/// The largest registry that is read.
const LIMIT: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// `plugin@marketplace`, or `plugin@version` in the oldest format.
    key: String,
    scope: InstalledFor,
    project: Option<PathBuf>,
    pub path: PathBuf,
}

/// The least specific comes first, so that the maximum wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InstalledFor {
    /// Managed, or a scope that we do not know.
    Other,
    User,
    Project,
    Local,
}

impl InstalledFor {
    fn of(entry: &Value) -> Self {
        match entry.get("scope").map(Value::as_str) {
            None | Some(Some("user")) => Self::User,
            Some(Some("project")) => Self::Project,
            Some(Some("local")) => Self::Local,
            Some(_) => Self::Other,
        }
    }
}

/// The skill and command folders of a plugin that applies here.
pub(super) fn folders(
    env: &Environment,
    roots: &Roots,
    plugin: &str,
) -> Result<Vec<PathBuf>, String> {
    let path = &roots.registry;
    let missing =
        |problem: String| format!("installed_plugins.json is missing or malformed{problem}");
    let bytes = match own_files::read(env, path, LIMIT, Check::Links) {
        Ok(OwnFile::Read(bytes)) => bytes,
        Ok(OwnFile::Absent) => return Err(missing(String::new())),
        Ok(OwnFile::Ignored(ignored)) => return Err(missing(format!(": {ignored}"))),
        Err(trouble) => return Err(missing(format!(": {trouble}"))),
    };
    let installs =
        parse(&bytes).map_err(|problem| missing(format!(": {}: {problem}", path.shown())))?;
    let held = applicable(&installs, plugin, &roots.cwd);
    let folders = held
        .iter()
        .flat_map(|install| ["skills", "commands"].map(|kind| install.path.join(kind)));
    Ok(folders.collect())
}

/// All entries; the error says what is wrong with the file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Install>, String> {
    // An editor may have put a byte order mark there.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let root: Value = mainspring_json::read(bytes).map_err(|error| error.to_string())?;
    match &root {
        Value::Array(entries) => Ok(entries
            .iter()
            .filter_map(|entry| install(entry.get("name")?.as_str()?, entry))
            .collect()),
        Value::Object(fields) => {
            let version = fields.get("version").and_then(Value::as_u64);
            if !matches!(version, Some(1 | 2)) {
                return Err("it has no version that is known (1 or 2)".into());
            }
            let plugins = fields.get("plugins").and_then(Value::as_object);
            let plugins = plugins.ok_or("it has no 'plugins' object")?;
            Ok(plugins
                .iter()
                .flat_map(|(key, value)| {
                    let entries = match value {
                        Value::Array(entries) => entries.as_slice(),
                        one => std::slice::from_ref(one),
                    };
                    entries.iter().filter_map(|entry| install(key, entry))
                })
                .collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err("it is neither an object nor an array".into())
        }
    }
}

fn install(key: &str, entry: &Value) -> Option<Install> {
    let path = |field: &str| Some(PathBuf::from(entry.get(field)?.as_str()?));
    Some(Install {
        key: key.into(),
        scope: InstalledFor::of(entry),
        project: path("projectPath"),
        path: path("installPath").filter(|path| !path.as_os_str().is_empty())?,
    })
}

/// The installations of a plugin that apply in `cwd`, of the most specific scope only. There
/// are several if more than one marketplace has a plugin of that name.
pub fn applicable<'a>(all: &'a [Install], plugin: &str, cwd: &Path) -> Vec<&'a Install> {
    let mut held: Vec<(&Install, InstalledFor, usize)> = all
        .iter()
        .filter(|install| install.is_of(plugin))
        .filter_map(|install| Some((install, install.scope, install.depth_around(cwd)?)))
        .collect();
    // The innermost project around the directory is the most specific.
    held.sort_by_key(|(_, scope, depth)| std::cmp::Reverse((*scope, *depth)));
    let best = held.first().map(|(_, scope, depth)| (*scope, *depth));
    held.into_iter()
        .filter(|(_, scope, depth)| Some((*scope, *depth)) == best)
        .map(|(install, ..)| install)
        .collect()
}

impl Install {
    fn is_of(&self, plugin: &str) -> bool {
        let name = self
            .key
            .split_once('@')
            .map_or(self.key.as_str(), |(name, _)| name);
        name == plugin
    }

    /// The depth of the project that this installation is for; `None` if `cwd` is not in it.
    /// Paths are compared by components after resolving symlinks: `/a/b` does not contain
    /// `/a/bc`.
    fn depth_around(&self, cwd: &Path) -> Option<usize> {
        match self.scope {
            InstalledFor::User | InstalledFor::Other => Some(0),
            InstalledFor::Project | InstalledFor::Local => {
                let project = real(self.project.as_deref()?);
                path_contains(&real(cwd), &project).then(|| project.components().count())
            }
        }
    }
}

/// A path that does not exist cannot be resolved, and is compared as it is.
fn real(path: &Path) -> PathBuf {
    path::real(path).unwrap_or_else(|_| path.components().collect())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn paths(text: &str, plugin: &str, cwd: &str) -> Vec<String> {
        let all = parse(text.as_bytes()).unwrap();
        applicable(&all, plugin, Path::new(cwd))
            .into_iter()
            .map(|install| install.path.display().to_string())
            .collect()
    }

    #[test]
    fn all_three_formats_are_read() {
        for text in [
            r#"{"version":2,"plugins":{"flow@m":[{"scope":"user","installPath":"/i"}]}}"#,
            r#"{"version":1,"plugins":{"flow@m":{"installPath":"/i"}}}"#,
            r#"[{"name":"flow@1.0.0","scope":"user","installPath":"/i"}]"#,
            r#"[{"name":"flow","installPath":"/i"},{"name":"flow2@1","installPath":"/x"},{},7]"#,
        ] {
            assert_eq!(paths(text, "flow", "/anywhere"), ["/i"], "{text}");
            assert_eq!(paths(text, "flo", "/anywhere"), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_real_registry_is_read() {
        let text = include_str!("../../../tests/fixtures/installed_plugins.v2.json");
        let cache = "/home/dev/.claude/plugins/cache/test-mp/flow/0.1.0";
        assert_eq!(paths(text, "flow", "/home/dev/project/sub"), [cache]);
        assert_eq!(paths(text, "flow", "/elsewhere"), [cache]);
    }

    #[test]
    fn the_most_specific_scope_wins() {
        let text = r#"{"version":2,"plugins":{
            "p@one":[
                {"scope":"managed","installPath":"/managed"},
                {"scope":"user","installPath":"/user"},
                {"scope":"project","projectPath":"/code","installPath":"/project"},
                {"scope":"project","projectPath":"/code/deep","installPath":"/deep"},
                {"scope":"local","projectPath":"/code/mine","installPath":"/local"},
                {"scope":"local","installPath":"/nowhere"},
                {"scope":"local","projectPath":"/code/mine"}],
            "p@two":[{"scope":"user","installPath":"/other-market"}]}}"#;
        for (cwd, expected) in [
            ("/code/mine/src", &["/local"][..]),
            ("/code/mine", &["/local"]),
            ("/code/minefield", &["/project"]),
            ("/code/deep/er", &["/deep"]),
            ("/workshop", &["/user", "/other-market"]),
        ] {
            assert_eq!(paths(text, "p", cwd), expected, "{cwd}");
        }
    }

    #[test]
    fn links_are_resolved_before_paths_are_compared() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().join("real/sub");
        std::fs::create_dir_all(&real).unwrap();
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path().join("real"), &link).unwrap();
        let text = format!(
            r#"[{{"name":"p@1","scope":"local","projectPath":{link:?},"installPath":"/i"}}]"#
        );
        assert_eq!(paths(&text, "p", real.to_str().unwrap()), ["/i"]);
    }

    #[test]
    fn what_is_no_registry_is_said() {
        for (text, part) in [
            ("", "EOF"),
            ("{", "EOF"),
            ("7", "neither"),
            ("\"x\"", "neither"),
            ("{}", "version"),
            (r#"{"version":3,"plugins":{}}"#, "version"),
            (r#"{"version":2}"#, "'plugins'"),
            (r#"{"version":2,"plugins":[]}"#, "'plugins'"),
        ] {
            let problem = parse(text.as_bytes()).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
