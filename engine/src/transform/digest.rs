//! `dx_digest` replaces a text by the MD5 or SHA-1 of its UTF-8 bytes.

use md5::{Digest as _, Md5};
use sha1::Sha1;
use transship_plugin_api::Result;

use super::cause::Cause;
use super::paras::Paras;
use super::rewrite::Rewrite;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha1,
}

/// The length of the longest digest: that of SHA-1.
const MOST_BYTES: usize = 20;

pub(super) struct Digest {
    hash: Hash,
    digits: &'static [u8; 16],
}

impl Digest {
    /// The words are taken in any case. DataX takes them too, but then does something else: its "MD5" is SHA-1.
    pub(super) fn new(paras: &Paras) -> Result<Digest> {
        let hash = paras.choice(0, &[("md5", Hash::Md5), ("sha1", Hash::Sha1)])?;
        let cases = [("toUpperCase", b"0123456789ABCDEF"), ("toLowerCase", b"0123456789abcdef")];
        Ok(Digest { hash, digits: paras.choice(1, &cases)? })
    }

    fn write(&self, bytes: &[u8], out: &mut String) {
        let mut text = [0; 2 * MOST_BYTES];
        let text = &mut text[..2 * bytes.len()];
        for (byte, digits) in bytes.iter().zip(text.chunks_exact_mut(2)) {
            digits[0] = self.digits[usize::from(byte >> 4)];
            digits[1] = self.digits[usize::from(byte & 15)];
        }
        out.push_str(std::str::from_utf8(text).expect("digits are ASCII"));
    }
}

impl Rewrite for Digest {
    const NULL_IS_EMPTY: bool = true;

    fn growth(&self) -> usize {
        if self.hash == Hash::Md5 { 32 } else { 40 }
    }

    fn room(&self, values: usize, _: usize) -> usize {
        values.saturating_mul(self.growth())
    }

    fn rewrite(&mut self, value: &str, _: bool, out: &mut String) -> Result<(), Cause> {
        match self.hash {
            Hash::Md5 => self.write(&Md5::digest(value), out),
            Hash::Sha1 => self.write(&Sha1::digest(value), out),
        }
        Ok(())
    }
}
