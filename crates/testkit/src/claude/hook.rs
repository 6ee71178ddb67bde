//! A hook in the client's settings.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::bins;

/// One handler. In exec form unless it was made by [`Hook::shell`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Hook {
    program: PathBuf,
    args: Vec<String>,
    fields: Map<String, Value>,
}

impl Hook {
    /// Started directly, without a shell: what `mainspring install` registers.
    pub fn exec<Arg: Into<String>>(
        program: impl AsRef<Path>,
        args: impl IntoIterator<Item = Arg>,
    ) -> Self {
        Self {
            program: program.as_ref().to_path_buf(),
            args: args.into_iter().map(Into::into).collect(),
            fields: Map::new(),
        }
        .timeout(30)
    }

    /// A line of shell, for tests of the kit and of other people's hooks.
    pub fn shell(line: impl Into<String>) -> Self {
        Self::exec("/bin/sh", ["-c".to_owned(), line.into()])
    }

    /// In seconds.
    pub fn timeout(self, seconds: u32) -> Self {
        self.with("timeout", json!(seconds))
    }

    /// Any other field, such as `asyncRewake`.
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.fields.insert(field.to_owned(), value);
        self
    }

    /// The same behind a recorder that writes to `log`.
    pub(super) fn recorded(&self, log: &Path) -> Self {
        let hook = [log, &self.program].map(|path| path.to_string_lossy().into_owned());
        Self {
            program: bins::hook_tee(),
            args: hook.into_iter().chain(self.args.clone()).collect(),
            fields: self.fields.clone(),
        }
    }

    pub(super) fn to_settings(&self) -> Value {
        let mut handler = json!({"type": "command", "command": self.program, "args": self.args});
        if let Value::Object(handler) = &mut handler {
            handler.extend(self.fields.clone());
        }
        handler
    }
}
