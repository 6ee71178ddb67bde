//! Claude Code's settings files, and our entries in them. Everything else in a file stays as it
//! is written.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mainspring_store::{Trouble, atomic};
use serde_json::{Map, Value};

use super::retouch;
use crate::env::{Environment, name};
use crate::error::CliError;
use crate::limits;
use crate::own_files::{self, Check, OwnFile};

/// What the plugin registers is what `install` registers: one list, in the plugin's own file.
const PLUGIN_HOOKS: &str = include_str!("../../../../../plugins/mainspring/hooks/hooks.json");

/// Variables that the host must have for the machines to work as they are meant to. A person's
/// own value is left alone.
pub(crate) const VARIABLES: [(&str, &str); 2] = [
    // The host ends a turn after eight blocks without tool use; we let go long before a
    // hundred by our own limits.
    (name::CLAUDE_BLOCK_CAP, "100"),
    (name::CLAUDE_TODO_TOOLS, "1"),
];

/// Which of the host's settings files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// ~/.claude/settings.json: every project
    User,
    /// .claude/settings.json: this project, for everybody who works on it
    Project,
    /// .claude/settings.local.json: this project, for you
    Local,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The file, for a project whose checkout is here.
    pub(crate) fn file(self, env: &Environment, here: &Path) -> Option<PathBuf> {
        Some(match self {
            Self::User => config_dir(env)?.join("settings.json"),
            Self::Project => here.join(".claude/settings.json"),
            Self::Local => here.join(".claude/settings.local.json"),
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        })
    }
}

/// The host's own folder.
pub(crate) fn config_dir(env: &Environment) -> Option<PathBuf> {
    let set = env.dir(name::CLAUDE_CONFIG);
    set.or_else(|| Some(env.home()?.join(".claude")))
}

/// A settings file as it is.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    /// `None`: there is no file yet.
    pub(crate) text: Option<String>,
    pub(crate) root: Map<String, Value>,
}

impl Settings {
    /// Reads the file. One that is a link, as people keep who have their dotfiles elsewhere,
    /// is read and later replaced where it really is.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let path = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(Trouble::io("find", path)(error).into()),
        };
        let text = atomic::read_text(&path, limits::CONFIG)?;
        let root = match text.as_deref().map(str::trim) {
            None | Some("") => Map::new(),
            Some(text) => match serde_json::from_str(text) {
                Ok(Value::Object(root)) => root,
                Ok(_) => {
                    return Err(CliError::new(format!(
                        "{} is not a JSON object",
                        path.display()
                    )));
                }
                Err(error) => return Err(unreadable(&path, text, &error)),
            },
        };
        Ok(Self { path, text, root })
    }

    /// As it is to be written: what is not changed as it was written before.
    pub(crate) fn render(&self) -> Result<String, CliError> {
        let written = self.text.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(text) = written.and_then(|text| retouch::retouch(text, &self.root)) {
            return Ok(text);
        }
        retouch::fresh(&self.root).ok_or_else(|| CliError::new("the settings cannot be written"))
    }

    /// Our handlers, each with its event.
    pub(crate) fn ours(&self) -> Vec<(&str, &Map<String, Value>)> {
        ours(&self.root)
    }

    /// Registers this program, once for each event, and sets the variables that are asked for
    /// and not set. What is as wanted already is not touched.
    pub(crate) fn register(&mut self, program: &Path, variables: &[&str]) -> Result<(), CliError> {
        let wanted = wanted(program)?;
        let mut have = Map::new();
        have.insert(
            "hooks".into(),
            self.root.get("hooks").cloned().unwrap_or_default(),
        );
        let same = {
            let mut want = Map::new();
            want.insert("hooks".into(), Value::Object(wanted.clone()));
            ours(&have) == ours(&want)
        };
        if !same {
            self.unregister();
            let hooks = self.section("hooks")?;
            for (event, groups) in wanted {
                let input = hooks
                    .entry(event.clone())
                    .or_insert_with(|| Value::Array(vec![]));
                let (Value::Array(input), Value::Array(groups)) = (input, groups) else {
                    return Err(CliError::new(format!("hooks.{event} is not a list")));
                };
                input.extend(groups);
            }
        }
        for (name, value) in VARIABLES {
            if variables.contains(&name) {
                self.section("env")?
                    .entry(name)
                    .or_insert_with(|| value.into());
            }
        }
        Ok(())
    }

    fn section(&mut self, name: &str) -> Result<&mut Map<String, Value>, CliError> {
        let place = self.path.display().to_string();
        let input = self
            .root
            .entry(name)
            .or_insert_with(|| Value::Object(Map::new()));
        input
            .as_object_mut()
            .ok_or_else(|| CliError::new(format!("{place}: {name} is not an object")))
    }

    /// Takes our handlers out, and the lists that they leave empty.
    pub(crate) fn unregister(&mut self) {
        let Some(Value::Object(hooks)) = self.root.get_mut("hooks") else {
            return;
        };
        let mut emptied = Vec::new();
        for (event, groups) in hooks.iter_mut() {
            let Value::Array(groups) = groups else {
                continue;
            };
            let before = groups.len();
            groups.retain_mut(|group| {
                let Some(Value::Array(handlers)) = group.get_mut("hooks") else {
                    return true;
                };
                let before = handlers.len();
                handlers.retain(|handler| !handler.as_object().is_some_and(is_ours));
                handlers.len() == before || !handlers.is_empty()
            });
            if groups.is_empty() && before > 0 {
                emptied.push(event.clone());
            }
        }
        for event in &emptied {
            hooks.shift_remove(event);
        }
        if hooks.is_empty() && !emptied.is_empty() {
            self.root.shift_remove("hooks");
        }
    }

    /// A variable that the host is given.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.root.get("env")?.get(name)?.as_str()
    }

    /// Takes a variable out, if it still has the value that we gave it.
    pub(crate) fn unset(&mut self, name: &str) {
        let given = VARIABLES.iter().find(|(known, _)| *known == name);
        if let (Some((_, value)), Some(Value::Object(env))) = (given, self.root.get_mut("env"))
            && env.get(name).and_then(Value::as_str) == Some(value)
        {
            env.shift_remove(name);
            if env.is_empty() {
                self.root.shift_remove("env");
            }
        }
    }
}

/// Is our plugin installed, and enabled in one of these files?
pub(crate) fn plugin_is_on<'a>(
    env: &Environment,
    mut files: impl Iterator<Item = &'a Settings>,
) -> bool {
    let enabled = files.any(|file| {
        let plugins = file.root.get("enabledPlugins").and_then(Value::as_object);
        let mut plugins = plugins.into_iter().flatten();
        plugins.any(|(name, on)| name.starts_with("mainspring@") && on.as_bool() != Some(false))
    });
    let list = config_dir(env).map(|dir| dir.join("plugins/installed_plugins.json"));
    let installed = list
        .and_then(|path| own_files::read(env, &path, limits::STATE_FILE, Check::Links).ok())
        .is_some_and(|list| match list {
            OwnFile::Read(bytes) => String::from_utf8_lossy(&bytes).contains("\"mainspring@"),
            OwnFile::Absent | OwnFile::Ignored(_) => false,
        });
    enabled && installed
}

/// Where else we are registered than in this scope, and the command that ends it.
pub(crate) fn elsewhere(env: &Environment, here: &Path, scope: Scope) -> Vec<String> {
    let paths = Scope::ALL.map(|scope| (scope, scope.file(env, here)));
    let files: Vec<(Scope, Settings)> = paths
        .into_iter()
        .filter_map(|(scope, path)| Some((scope, Settings::read(&path?).ok()?)))
        .collect();
    let others = files
        .iter()
        .filter(|(other, file)| *other != scope && !file.ours().is_empty());
    let mut found: Vec<String> = others
        .map(|(other, _)| {
            format!("in the {other} settings; `mainspring uninstall --scope {other}`")
        })
        .collect();
    if plugin_is_on(env, files.iter().map(|(_, file)| file)) {
        found.push("by the plugin; `claude plugin uninstall mainspring@mainspring`".into());
    }
    found
}

/// What is registered, with this program.
pub(crate) fn wanted(program: &Path) -> Result<Map<String, Value>, CliError> {
    let mut plugin: Value = serde_json::from_str(PLUGIN_HOOKS).map_err(CliError::new)?;
    let mut hooks = match plugin.get_mut("hooks").map(Value::take) {
        Some(Value::Object(hooks)) => hooks,
        _ => Map::new(),
    };
    let program = program.to_string_lossy();
    for groups in hooks.values_mut().filter_map(Value::as_array_mut) {
        let handlers = groups
            .iter_mut()
            .filter_map(|group| group.get_mut("hooks")?.as_array_mut());
        for handler in handlers.flatten() {
            handler["command"] = Value::from(&*program);
        }
    }
    Ok(hooks)
}

fn ours(root: &Map<String, Value>) -> Vec<(&str, &Map<String, Value>)> {
    let events = root
        .get("hooks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    events
        .flat_map(|(event, groups)| {
            let groups = groups.as_array().into_iter().flatten();
            let handlers = groups
                .filter_map(|group| group.get("hooks")?.as_array())
                .flatten();
            let ours = handlers
                .filter_map(Value::as_object)
                .filter(|one| is_ours(one));
            ours.map(|handler| (event.as_str(), handler))
        })
        .collect()
}

/// Is it our program, asked for what hosts ask of it? In exec form, or as a shell's words.
fn is_ours(handler: &Map<String, Value>) -> bool {
    let Some(command) = handler.get("command").and_then(Value::as_str) else {
        return false;
    };
    let args = handler.get("args").and_then(Value::as_array);
    let (program, rest): (&str, Vec<&str>) = if let Some(args) = args {
        (command, args.iter().filter_map(Value::as_str).collect())
    } else {
        let words = command.split_whitespace();
        let mut words = words.map(|word| word.trim_matches(['"', '\'']));
        (words.next().unwrap_or_default(), words.collect())
    };
    let named = Path::new(program)
        .file_name()
        .is_some_and(|name| name == "mainspring");
    named && matches!(rest.as_slice(), ["hook"] | ["claim", "watch"])
}

fn unreadable(path: &Path, text: &str, error: &serde_json::Error) -> CliError {
    let commented = text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("//") || line.starts_with("/*") || line.contains(" //")
    });
    let what = if commented {
        "it has comments, which would be lost, so it was left alone"
    } else {
        "it was left alone"
    };
    CliError::new(format!(
        "{} cannot be read as JSON: {error}; {what}",
        path.display()
    ))
    .hint("put it right, or add by hand what `mainspring install --print` shows")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn settings(root: Value) -> Settings {
        let Value::Object(root) = root else {
            panic!("an object")
        };
        Settings {
            path: "/s.json".into(),
            text: None,
            root,
        }
    }

    fn both() -> Vec<&'static str> {
        VARIABLES.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn every_event_is_registered_once_with_a_time_limit_longer_than_our_own() {
        let mut one = settings(json!({}));
        one.register(Path::new("/bin/mainspring"), &both()).unwrap();
        let ours = one.ours();
        let events: Vec<&str> = ours.iter().map(|(event, _)| *event).collect();
        for event in [
            "SessionStart",
            "UserPromptSubmit",
            "UserPromptExpansion",
            "PostToolUse",
            "Notification",
            "SessionEnd",
        ] {
            assert_eq!(
                events.iter().filter(|one| **one == event).count(),
                1,
                "{event}"
            );
        }
        assert_eq!(events.iter().filter(|one| **one == "Stop").count(), 2);
        for (event, handler) in ours {
            assert_eq!(handler["command"], "/bin/mainspring", "{event}");
            assert!(handler["timeout"].as_u64().unwrap() > 0, "{event}");
        }
    }

    #[test]
    fn twice_is_once_and_another_program_of_ours_is_replaced() {
        let mut one = settings(json!({"model": "opus", "hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "/old/mainspring hook"},
            {"type": "command", "command": "say", "args": ["mainspring", "hook"]},
        ]}]}}));
        one.register(Path::new("/bin/mainspring"), &both()).unwrap();
        let once = one.clone();
        one.register(Path::new("/bin/mainspring"), &both()).unwrap();
        assert_eq!(one.root, once.root);
        let keys: Vec<&String> = one.root.keys().collect();
        assert_eq!(keys, ["model", "hooks", "env"]);
        assert_eq!(
            one.root["hooks"]["Stop"][0]["hooks"]
                .as_array()
                .unwrap()
                .len(),
            1,
            "theirs"
        );
        assert!(
            one.ours()
                .iter()
                .all(|(_, handler)| handler["command"] == "/bin/mainspring")
        );
    }

    #[test]
    fn a_persons_own_value_of_a_variable_stays() {
        let mut one = settings(json!({"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "20"}}));
        one.register(Path::new("/bin/mainspring"), &both()).unwrap();
        assert_eq!(one.variable(name::CLAUDE_BLOCK_CAP), Some("20"));
        one.unset(name::CLAUDE_BLOCK_CAP);
        assert_eq!(one.variable(name::CLAUDE_BLOCK_CAP), Some("20"));
        one.unset(name::CLAUDE_TODO_TOOLS);
        assert_eq!(one.variable(name::CLAUDE_TODO_TOOLS), None);
    }

    fn hooks() -> impl Strategy<Value = Value> {
        let theirs = prop_oneof![
            Just(json!({"type": "command", "command": "lint"})),
            Just(json!({"type": "prompt", "prompt": "mainspring hook"})),
        ];
        let group = proptest::collection::vec(theirs, 0..3)
            .prop_map(|handlers| json!({"matcher": "x", "hooks": handlers}));
        let groups = proptest::collection::vec(group, 0..3);
        proptest::collection::vec(groups, 0..4).prop_map(|lists| {
            let events = ["Stop", "PreToolUse", "SessionEnd", "Custom"];
            let hooks: Map<String, Value> = events
                .iter()
                .zip(lists)
                .map(|(event, groups)| ((*event).to_owned(), groups.into()))
                .collect();
            json!({"a": 1, "hooks": hooks, "z": [true]})
        })
    }

    proptest! {
        #[test]
        fn taking_out_is_the_inverse_of_putting_in(root in hooks()) {
            let mut one = settings(root);
            let before = one.root.clone();
            one.register(Path::new("/bin/mainspring"), &[]).unwrap();
            one.unregister();
            // Lists that were empty before may be gone; nothing else is.
            let thin = |mut root: Map<String, Value>| {
                if let Some(Value::Object(hooks)) = root.get_mut("hooks") {
                    hooks.retain(|_, groups| groups.as_array().is_none_or(|list| !list.is_empty()));
                }
                root.retain(|key, value| key != "hooks" || value != &json!({}));
                root
            };
            prop_assert_eq!(thin(one.root), thin(before));
        }
    }
}
