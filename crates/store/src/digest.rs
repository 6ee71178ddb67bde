//! Digests of bytes: `BLAKE2b` of 128 bits, in hex.

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest as _};
use mainspring_kernel::Digest;
use mainspring_kernel::reduce::Reducer;

pub const HEX: usize = 32;

/// Reduces texts to these digests.
pub const REDUCER: Reducer = Reducer::new(of);

/// The digest of these pieces in sequence.
pub fn of(pieces: &[&[u8]]) -> Digest {
    let mut hash = Blake2b::<U16>::new();
    for piece in pieces {
        hash.update(piece);
    }
    let mut text = Vec::with_capacity(HEX);
    for byte in hash.finalize() {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    // Hex digits are text; to check that costs less than to convert each to a character.
    Digest(String::from_utf8(text).unwrap_or_default())
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_blake2b_of_128_bits() {
        // `printf abc | b2sum --length=128`
        assert_eq!(of(&[b"a", b"bc"]).0, "cf4ab791c62b8d2b2109c90275287816");
    }
}
