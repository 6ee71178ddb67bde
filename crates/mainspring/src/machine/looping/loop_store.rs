//! Where a loop's state is kept: in a file of ours, in a topic of `jwz`, or in the seed's
//! Markdown file. A loop is written back to the store that it was read from.

use std::path::Path;
use std::time::UNIX_EPOCH;

use mainspring_kernel::Millis;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::Name;
use mainspring_kernel::machines::looping::{Past, State};
use mainspring_store::{CHECKSUM, ShownPath as _, Trouble, atomic, no_symlink, seal};

use super::jwz::{self, Jwz};
use super::{doc, markdown};
use crate::event_context::EventContext;
use crate::limits;
use crate::machine::FoundFile;
use crate::markers::LOOP_PAGE;
use crate::store::aside_path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopStore {
    Own,
    Jwz,
    Markdown,
}

/// A loop, and what it was read from.
#[derive(Debug)]
pub(crate) struct StoredLoop {
    pub(crate) place: LoopStore,
    pub(crate) state: State,
    /// The file to replace: the store itself, or the outbox of `jwz`.
    pub(crate) file: FoundFile,
    /// The document that the store holds: the newest message of `jwz`, or what is in a file
    /// of ours without its seal.
    document: Option<String>,
}

/// Can there be a loop? Checks only which files exist.
pub(crate) fn any(context: &EventContext<'_>) -> bool {
    // Nor is it trusted, which a store of `jwz` would have to be.
    if context.is_vacant() && !context.is_drop_in() {
        return false;
    }
    let exists = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    (exists(&context.store.machine_file(Name::Loop)) && !context.is_drop_in())
        || (context.project.has(LOOP_PAGE) && context.heeds_repository())
        || Jwz::find(context).is_some()
}

/// The loop that runs here: from the first store that has a running one, else from the first
/// store. The document of the drop-in knows only the topic and the Markdown file.
pub(crate) fn find(context: &EventContext<'_>) -> Result<StoredLoop, Trouble> {
    let mut first = None;
    for place in [LoopStore::Own, LoopStore::Jwz, LoopStore::Markdown] {
        let is_there = match place {
            LoopStore::Own => !context.is_drop_in(),
            LoopStore::Jwz => Jwz::find(context).is_some(),
            LoopStore::Markdown => context.heeds_repository(),
        };
        if !is_there {
            continue;
        }
        let kept = read(context, place)?;
        if !matches!(kept.state, State::Idle(_)) {
            return Ok(kept);
        }
        first.get_or_insert(kept);
    }
    first.map_or_else(|| read(context, LoopStore::Own), Ok)
}

/// The store for a new loop, unless the person names one.
pub(crate) fn preferred(context: &EventContext<'_>) -> LoopStore {
    if Jwz::find(context).is_some() {
        LoopStore::Jwz
    } else if context.project.file(LOOP_PAGE).is_file() {
        LoopStore::Markdown
    } else {
        LoopStore::Own
    }
}

pub(crate) fn read(context: &EventContext<'_>, place: LoopStore) -> Result<StoredLoop, Trouble> {
    match place {
        LoopStore::Own => {
            let path = context.store.machine_file(Name::Loop);
            let bytes = atomic::read(&path, limits::STATE_FILE)?;
            let (state, document) = match text(&path, bytes.as_deref())? {
                None => (State::Idle(Past::Blank), None),
                Some(text) => own(&path, text)?,
            };
            Ok(StoredLoop {
                place,
                state,
                file: FoundFile { path, bytes },
                document,
            })
        }
        LoopStore::Jwz => {
            let Some(jwz) = Jwz::find(context) else {
                return Err(Trouble::Other(
                    "`jwz` is not on the path, or has no store in this project".into(),
                ));
            };
            let (outgoing, file) = jwz::outbox(context)?;
            let document = jwz.read(outgoing)?;
            let state = document
                .as_deref()
                .map_or(State::Idle(Past::Blank), doc::read);
            Ok(StoredLoop {
                place,
                state,
                file,
                document,
            })
        }
        LoopStore::Markdown => {
            let path = context.project.file(LOOP_PAGE);
            let bytes = no_symlink::read(&path, limits::STATE_FILE)?;
            let state = match text(&path, bytes.as_deref())? {
                None => State::Idle(Past::Blank),
                Some(text) => named(markdown::read(text, modified(&path)), &path),
            };
            Ok(StoredLoop {
                place,
                state,
                file: FoundFile { path, bytes },
                document: None,
            })
        }
    }
}

impl StoredLoop {
    /// The text that was read.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.place {
            LoopStore::Markdown => std::str::from_utf8(self.file.bytes.as_deref()?).ok(),
            LoopStore::Own | LoopStore::Jwz => self.document.as_deref(),
        }
    }

    /// The store's text with this state.
    pub(crate) fn written(&self, state: &State, now: Millis) -> String {
        match self.place {
            // Of a file that was damaged nothing is kept in the new one.
            LoopStore::Own if matches!(self.state, State::Corrupt(_)) => {
                doc::write(None, state, now)
            }
            LoopStore::Own | LoopStore::Jwz => doc::write(self.text(), state, now),
            LoopStore::Markdown => markdown::write(self.text(), state),
        }
    }

    /// The changes that put this state into the store.
    pub(crate) fn changes(&self, state: &State, now: Millis) -> Result<Vec<FileChange>, Trouble> {
        // A loop that is over leaves no file of ours, so that the next event finds nothing.
        let text = match (self.place, state) {
            (LoopStore::Own, State::Idle(_)) => None,
            _ => Some(self.written(state, now)),
        };
        let mut changes = vec![self.change_to(text)?];
        // `jwz` keeps its earlier messages itself.
        let before = self.file.bytes.as_deref().map(std::str::from_utf8);
        if let (Aside::Keep, Some(Ok(before))) = (aside(&self.state, state), before)
            && self.place != LoopStore::Jwz
        {
            let path = aside_path(&self.file.path, before.as_bytes());
            changes.push(atomic::change(&path, None, Some(before.into())));
        }
        Ok(changes)
    }

    /// The change that puts this text into the store.
    pub(crate) fn change_to(&self, text: Option<String>) -> Result<FileChange, Trouble> {
        let (path, was) = (&self.file.path, self.file.bytes.as_deref());
        match self.place {
            LoopStore::Own => {
                let text = text.map(|text| seal::seal(path, &text)).transpose()?;
                Ok(atomic::change(path, was, text))
            }
            LoopStore::Markdown => Ok(atomic::change(path, was, text)),
            LoopStore::Jwz => {
                let after = self.document.as_deref().map(str::as_bytes);
                jwz::change(&self.file, after, text.unwrap_or_default())
            }
        }
    }
}

/// Whether the old content is kept next to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aside {
    Keep,
    Drop,
}

/// A loop that did not end by its own signal may still be needed.
fn aside(before: &State, after: &State) -> Aside {
    use mainspring_kernel::machines::looping::Ending;
    match (before, after) {
        (State::Corrupt(_), _) => Aside::Keep,
        (State::Active(_), State::Idle(Past::Done(Ending::Stuck | Ending::MaxIterations))) => {
            Aside::Keep
        }
        (
            State::Idle(_)
            | State::Active(_)
            | State::Completing { .. }
            | State::Stuck { .. }
            | State::Aborted { .. },
            _,
        ) => Aside::Drop,
    }
}

/// What a file of ours says, and its document. A file that was damaged is a corrupt loop: it
/// ends, loudly, and the file is kept.
fn own(path: &Path, text: &str) -> Result<(State, Option<String>), Trouble> {
    let corrupt = |problem: String| {
        let state = named(State::Corrupt(problem), path);
        Ok((state, Some(text.to_owned())))
    };
    let document = match seal::unseal(path, text.as_bytes()) {
        Ok(document) => String::from_utf8_lossy(&document).into_owned(),
        Err(Trouble::Damaged { .. }) => return corrupt(CHECKSUM.into()),
        Err(trouble) => return Err(trouble),
    };
    // On `jwz`, others may post messages that are no loop's state; this file is written only
    // by us.
    if document.trim_start().starts_with(['[', '"']) {
        return corrupt("it is not an object".into());
    }
    Ok((named(doc::read(&document), path), Some(document)))
}

/// Adds the file's path to the problem, and where the file will be kept.
fn named(state: State, path: &Path) -> State {
    match state {
        State::Corrupt(problem) => State::Corrupt(format!(
            "{}: {problem}. The file is kept next to it, as *.aside-*",
            path.shown()
        )),
        state => state,
    }
}

fn text<'a>(path: &Path, bytes: Option<&'a [u8]>) -> Result<Option<&'a str>, Trouble> {
    bytes
        .map(std::str::from_utf8)
        .transpose()
        .map_err(|_| Trouble::corrupt(path, "it is not UTF-8 text"))
}

fn modified(path: &Path) -> Millis {
    let modified = std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
    let since_epoch = modified.map(|at| at.duration_since(UNIX_EPOCH).unwrap_or_default());
    Millis::seconds(since_epoch.map_or(0, |span| span.as_secs()))
}
