//! Files that a test prepares.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Writes a file and the folders it is in.
#[track_caller]
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let path = path.as_ref();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .unwrap_or_else(|error| panic!("{} cannot be made: {error}", folder.display()));
    }
    fs::write(path, content)
        .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}

/// The text of a state file of Mainspring's with these fields, sealed as Mainspring does it.
#[track_caller]
pub fn sealed(mut state: Value) -> String {
    if let Value::Object(fields) = &mut state {
        fields.remove("v");
        fields.remove("checksum");
    }
    mainspring_store::seal::seal(Path::new("state"), &state.to_string())
        .unwrap_or_else(|error| panic!("{state}: {error}"))
}
