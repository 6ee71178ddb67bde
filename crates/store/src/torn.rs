//! What a crash left of something, told apart from what was whole once and was changed since.

use crate::digest;

/// Did a power loss leave out some of it? Of a changed byte there is one; of what was not
/// written, a sector.
pub(crate) fn has_zeros(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| **byte == 0).nth(1).is_some()
}

/// Does it end in these words with a digest between them, but for one byte?
pub(crate) fn has_end(bytes: &[u8], before: &[u8], after: &[u8]) -> bool {
    let length = before.len() + digest::HEX + after.len();
    let Some(start) = bytes.len().checked_sub(length) else {
        return false;
    };
    let (found_before, rest) = bytes[start..].split_at(before.len());
    let (digits, found_after) = rest.split_at(digest::HEX);
    let differ = |found: &[u8], wanted: &[u8]| {
        let pairs = found.iter().zip(wanted);
        pairs.filter(|(found, wanted)| found != wanted).count()
    };
    let odd = digits.iter().filter(|byte| !byte.is_ascii_hexdigit());
    differ(found_before, before) + odd.count() + differ(found_after, after) <= 1
}
