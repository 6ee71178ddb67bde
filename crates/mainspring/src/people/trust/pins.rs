//! The files that checks pin: scripts whose content a person trusts together with the check.

use std::collections::BTreeMap;
use std::path::Path;

use mainspring_store::{Trouble, digest, no_symlink};

use super::record::Pin;
use crate::config::checks::CheckDefinition;
use crate::limits;

/// Longer files are compared, but not shown.
const MOST_SHOWN: usize = 64 << 10;

/// Every pinned file as it is now. One that is not there cannot be trusted.
pub(super) fn read(
    root: &Path,
    checks: &[CheckDefinition],
) -> Result<BTreeMap<String, Pin>, Trouble> {
    let mut pins = BTreeMap::new();
    for name in checks.iter().flat_map(|check| &check.pins) {
        let path = root.join(name);
        let Some(bytes) = no_symlink::read(&path, limits::STATE_FILE)? else {
            return Err(Trouble::corrupt(
                &path,
                "a check pins this file, and it is not there",
            ));
        };
        pins.insert(
            name.clone(),
            Pin {
                digest: digest::of(&[&bytes]),
                text: String::from_utf8(bytes)
                    .ok()
                    .filter(|text| text.len() <= MOST_SHOWN)
                    .unwrap_or_default(),
            },
        );
    }
    Ok(pins)
}
