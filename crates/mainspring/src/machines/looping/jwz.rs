//! The `jwz` message tool as a store: the newest message of a topic is the state.
//!
//! A message cannot be part of our transaction. So a message to be posted goes into a file of
//! ours, the outbox, together with the digest of the message that it follows. It is posted
//! after the record is durable. If a crash prevents that, the next load posts it, but only if
//! the newest message still is the one that it follows.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Digest;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::Name;
use mainspring_store::{Trouble, digest, json_change, read_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::children::child_env::{self, PERSON};
use crate::children::process::{Finished, Job};
use crate::context::EventContext;
use crate::env::name;
use crate::machines::FoundFile;

const TOPIC: &str = "loop:current";
/// `jwz` is a local tool that reads and appends to a file, so this is ample.
const LIMIT: Duration = Duration::from_secs(3);
/// The folder names of the store, new and old.
pub(crate) const STORES: [&str; 2] = [".jwz", ".zawinski"];

#[derive(Debug)]
pub(crate) struct Jwz<'a> {
    context: &'a EventContext<'a>,
    program: PathBuf,
    /// The folder that holds the store.
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    until: Option<Instant>,
}

enum Newest {
    Message(String),
    Empty,
    /// The tool failed with this message.
    Failed(String),
}

/// A message to be posted after another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outgoing {
    after: Option<Digest>,
    body: String,
}

impl<'a> Jwz<'a> {
    /// The tool, if it is on the PATH and its store is in this project. It is not started yet.
    pub(crate) fn find(context: &'a EventContext<'a>) -> Option<Self> {
        let dir = store_dir(context)?;
        // It is a child: a clone that brings a store does not start it.
        if !context.is_trusted() {
            return None;
        }
        let program = context.env.program("jwz")?;
        Some(Self {
            context,
            program,
            dir,
            env: child_env::listed(context.env, &[PERSON, &[name::JWZ_STORE]]),
            until: context.deadline_at_end(),
        })
    }

    /// The newest message; `None` if the topic has none or does not exist yet. A message that a
    /// crash left in the outbox is posted first.
    pub(crate) fn read(&self, outgoing: Option<Outgoing>) -> Result<Option<String>, Trouble> {
        let newest = match (self.newest()?, &outgoing) {
            (Newest::Message(body), _) => Some(body),
            // The topic need not exist before our first message.
            (Newest::Empty, _) => None,
            (Newest::Failed(words), None) => {
                self.tell_failure(&words);
                None
            }
            (Newest::Failed(words), Some(_)) => {
                return Err(Trouble::Other(format!("`jwz read` failed: {words}")));
            }
        };
        let Some(outgoing) = outgoing else {
            return Ok(newest);
        };
        let follows = newest.as_ref().map(|body| digest::of(&[body.as_bytes()]));
        if outgoing.after != follows || newest.as_deref() == Some(outgoing.body.as_str()) {
            return Ok(newest);
        }
        self.post(&outgoing.body)?;
        Ok(Some(outgoing.body))
    }

    /// A topic that does not exist yet is no failure. After any other the drop-in goes on to the
    /// Markdown file, as its document says, and tells the person.
    fn tell_failure(&self, words: &str) {
        if self.context.is_drop_in() && !words.to_lowercase().contains("topic") {
            let why = if words.is_empty() {
                "it printed no error"
            } else {
                words
            };
            self.context.tell(format!(
                "`jwz read` failed, so the loop that it may hold is not seen: {why}"
            ));
        }
    }

    fn newest(&self) -> Result<Newest, Trouble> {
        let finished = self.run(&["read", TOPIC, "--json", "--limit", "1"])?;
        if finished.code != Some(0) {
            let words = String::from_utf8_lossy(&finished.stderr);
            return Ok(Newest::Failed(crate::hosts::text::excerpt(&words)));
        }
        let text = String::from_utf8_lossy(&finished.stdout);
        if text.trim().is_empty() {
            return Ok(Newest::Empty);
        }
        let messages: Value = serde_json::from_str(text.trim())
            .map_err(|error| Trouble::Other(format!("`jwz read` printed no JSON: {error}")))?;
        let Some(newest) = messages.get(0) else {
            return Ok(Newest::Empty);
        };
        let body = newest.get("body").and_then(Value::as_str);
        body.map(|body| Newest::Message(body.to_owned()))
            .ok_or_else(|| Trouble::Other("`jwz read` printed a message without a body".into()))
    }

    fn post(&self, body: &str) -> Result<(), Trouble> {
        let post = ["post", TOPIC, "-m", body];
        if self.run(&post)?.code == Some(0) {
            return Ok(());
        }
        self.run(&["topic", "new", TOPIC])?;
        let second = self.run(&post)?;
        if second.code == Some(0) {
            return Ok(());
        }
        Err(Trouble::Other(format!(
            "`jwz post` failed: {}",
            crate::hosts::text::excerpt(&String::from_utf8_lossy(&second.stderr))
        )))
    }

    fn run(&self, args: &[&str]) -> Result<Finished, Trouble> {
        let permit = self.context.permit(Name::Loop)?;
        let left = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Err(Trouble::Other(
                "the session is ending, so no time is left for `jwz`".into(),
            ));
        }
        Job::new(permit, &self.program, left.unwrap_or(LIMIT).min(LIMIT))
            .args(args)
            .env(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .run()
            .map_err(|failure| Trouble::Other(failure.to_string()))
    }
}

/// The folder with a `jwz` store. Checks only that it exists.
pub(crate) fn store_dir(context: &EventContext<'_>) -> Option<PathBuf> {
    let named = context.env.var_os(name::JWZ_STORE).map(PathBuf::from);
    if let Some(store) = named {
        let store = context.root().join(store);
        return store
            .is_dir()
            .then(|| store.parent().unwrap_or(&store).to_owned());
    }
    let holds = |folder: &&Path| STORES.iter().any(|store| folder.join(store).is_dir());
    let here = context.project.worktree.as_path();
    let root = Some(context.root()).filter(|root| *root != here);
    [here]
        .into_iter()
        .chain(root)
        .find(holds)
        .map(Path::to_owned)
}

/// Are the tool and its store here, in a project that nobody trusted?
pub(super) fn is_left_alone(context: &EventContext<'_>) -> bool {
    !context.is_trusted() && store_dir(context).is_some() && context.env.program("jwz").is_some()
}

/// The message that is to be posted, and the file that it is in.
pub(crate) fn outbox(context: &EventContext<'_>) -> Result<(Option<Outgoing>, FoundFile), Trouble> {
    let found = read_json(context.store.dir().join("loop-outbox.json"))?;
    let file = FoundFile {
        path: found.path,
        bytes: found.bytes,
    };
    Ok((found.value, file))
}

/// The change that puts a message into the outbox.
pub(crate) fn change(
    outbox: &FoundFile,
    after: Option<&[u8]>,
    body: String,
) -> Result<FileChange, Trouble> {
    let outgoing = Outgoing {
        after: after.map(|bytes| digest::of(&[bytes])),
        body,
    };
    json_change(&outbox.path, outbox.bytes.as_deref(), Some(&outgoing))
}

/// Posts the message that a commit has put into the outbox.
pub(crate) fn post(context: &EventContext<'_>, message: &str) -> Result<(), Trouble> {
    match Jwz::find(context) {
        Some(jwz) => jwz.post(message),
        None => Err(Trouble::Other("`jwz` is no longer installed".into())),
    }
}
