//! The prompt that a loop was started with; the agent can get it again at each iteration.

use std::path::{Component, Path};

use mainspring_store::no_symlink;

use super::doc::{self, Prompt};
use super::loop_store::{LoopStore, StoredLoop};
use super::markdown;
use crate::context::EventContext;
use crate::limits;
use crate::path_contains::path_contains;

/// A longer prompt is cut, because the agent reads it at every iteration.
const MOST_CHARS: usize = 6_000;

/// The text of a frame's prompt; `None` if there is none or it cannot be read. The loop then goes
/// on without it. `depth` is 0 for the top frame, 1 for the one around it.
pub(super) fn text(context: &EventContext<'_>, kept: &StoredLoop, depth: usize) -> Option<String> {
    let kept_text = kept.text()?;
    let text = match kept.place {
        LoopStore::Markdown => markdown::prompt(kept_text)?,
        LoopStore::Own | LoopStore::Jwz => match doc::prompt(kept_text, depth)? {
            Prompt::Text(text) => text,
            Prompt::File(path) => file(context, Path::new(&path))?,
        },
    };
    Some(text.trim().chars().take(MOST_CHARS).collect())
}

/// Reads the prompt's file. It must be in the project, because anybody may have written the
/// document that names it.
fn file(context: &EventContext<'_>, path: &Path) -> Option<String> {
    let path = context.root().join(path);
    let inside = path_contains(&path, context.root())
        && !path.components().any(|part| part == Component::ParentDir);
    if !inside {
        return None;
    }
    let bytes = no_symlink::read(&path, limits::STATE_FILE).ok()??;
    String::from_utf8(bytes).ok()
}

/// Puts a prompt into the store's text.
pub(crate) fn put(place: LoopStore, text: &str, prompt: &str) -> String {
    match place {
        LoopStore::Markdown => markdown::with_prompt(text, prompt),
        LoopStore::Own | LoopStore::Jwz => doc::with_prompt(text, &Prompt::Text(prompt.into())),
    }
}

/// Puts the path of the prompt's file into the store's text, if the store can hold it.
pub(crate) fn put_file(place: LoopStore, text: &str, path: &Path, contents: &str) -> String {
    match place {
        LoopStore::Markdown => markdown::with_prompt(text, contents),
        LoopStore::Own | LoopStore::Jwz => {
            // JSON text cannot hold a path that is not UTF-8.
            let prompt = match path.to_str() {
                Some(path) => Prompt::File(path.to_owned()),
                None => Prompt::Text(contents.to_owned()),
            };
            doc::with_prompt(text, &prompt)
        }
    }
}
