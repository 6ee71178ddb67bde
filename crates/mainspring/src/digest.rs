//! Digests of bytes: 128 bits of SHA-256 in hex.

use mainspring_kernel::Digest;
use sha2::{Digest as _, Sha256};

pub(crate) const HEX: usize = 32;

/// The digest of these pieces, one after the other.
pub(crate) fn of(pieces: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece);
    }
    let mut text = String::with_capacity(HEX);
    for byte in hash.finalize().iter().take(HEX / 2) {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    Digest(text)
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sha_256_cut_to_half() {
        // `printf abc | sha256sum`
        assert_eq!(of(&[b"a", b"bc"]).0, "ba7816bf8f01cfea414140de5dae2223");
    }
}
