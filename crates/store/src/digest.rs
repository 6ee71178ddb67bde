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

/// The digest of everything that can be read, as bytes.
pub fn of_reader(mut from: impl std::io::Read) -> std::io::Result<[u8; 16]> {
    let mut hash = Blake2b::<U16>::new();
    let mut chunk = [0; 16 << 10];
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(&chunk[..read]),
        }
    }
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
