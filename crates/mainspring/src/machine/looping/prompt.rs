//! The prompt that a loop was started with, to be given again at each iteration.

use std::path::{Component, Path};

use super::doc::{self, Prompt};
use super::markdown;
use super::place::{Kept, Place};
use crate::inside::lies_in;
use crate::limits;
use crate::scene::Scene;
use crate::store::linkless;

/// A prompt is read again by the agent at every iteration: more is cut.
const MOST_CHARS: usize = 6_000;

/// `None` where there is none, or it cannot be read: the loop goes on without.
pub(super) fn text(scene: &Scene<'_>, kept: &Kept) -> Option<String> {
    let kept_text = kept.text()?;
    let text = match kept.place {
        Place::Markdown => markdown::prompt(kept_text)?,
        Place::Own | Place::Jwz => match doc::prompt(kept_text)? {
            Prompt::Text(text) => text,
            Prompt::File(path) => file(scene, Path::new(&path))?,
        },
    };
    Some(text.trim().chars().take(MOST_CHARS).collect())
}

/// A file that a document names must be one of the project: the document may come from
/// anywhere.
fn file(scene: &Scene<'_>, path: &Path) -> Option<String> {
    let path = scene.root().join(path);
    let inside =
        lies_in(&path, scene.root()) && !path.components().any(|part| part == Component::ParentDir);
    if !inside {
        return None;
    }
    let bytes = linkless::read(&path, limits::STATE_FILE).ok()??;
    String::from_utf8(bytes).ok()
}

/// Puts a prompt where the store keeps it.
pub(crate) fn put(place: Place, text: &str, prompt: &str) -> String {
    match place {
        Place::Markdown => markdown::with_prompt(text, prompt),
        Place::Own | Place::Jwz => doc::with_prompt(text, &Prompt::Text(prompt.into())),
    }
}

/// Names the prompt's file, where the store can.
pub(crate) fn put_file(place: Place, text: &str, path: &Path, contents: &str) -> String {
    match place {
        Place::Markdown => markdown::with_prompt(text, contents),
        Place::Own | Place::Jwz => {
            doc::with_prompt(text, &Prompt::File(path.to_string_lossy().into_owned()))
        }
    }
}
