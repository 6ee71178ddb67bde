//! Our JSON files: what was read, and the change to a new value.

use std::path::{Path, PathBuf};

use mainspring_kernel::journal::FileChange;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Trouble, atomic, limits, seal};

/// One of our files as it was read, so that a change can say what it found.
#[derive(Debug, Clone)]
pub struct Found<T> {
    pub path: PathBuf,
    pub bytes: Option<Vec<u8>>,
    pub value: Option<T>,
}

/// Reads a JSON file. A file that cannot be understood is reported, and stays.
pub fn read_json<T: DeserializeOwned>(path: PathBuf) -> Result<Found<T>, Trouble> {
    let bytes = atomic::read(&path, limits::STATE_FILE)?;
    let value = match &bytes {
        None => None,
        Some(bytes) => {
            let object = seal::unseal(&path, bytes)?;
            // Serde accepts a list of a struct's values as that struct, and an empty list as a
            // struct of defaults, for example a switch that is off.
            if object.trim_ascii_start().starts_with(b"[") {
                return Err(Trouble::corrupt(&path, "it is a list, not an object"));
            }
            Some(mainspring_json::read(&object).map_err(|error| Trouble::corrupt(&path, error))?)
        }
    };
    Ok(Found { path, bytes, value })
}

/// The change of this file from what was read to this value; `None` deletes the file.
pub fn json_change<T: Serialize>(
    path: &Path,
    was: Option<&[u8]>,
    value: Option<&T>,
) -> Result<FileChange, Trouble> {
    let now = value.map(|value| json_text(path, value)).transpose()?;
    Ok(atomic::change(path, was, now))
}

/// The text of a file of ours with this value, sealed.
pub fn json_text<T: Serialize>(path: &Path, value: &T) -> Result<String, Trouble> {
    let text = mainspring_json::text(value).map_err(|error| Trouble::corrupt(path, error))?;
    seal::seal(path, &text)
}
