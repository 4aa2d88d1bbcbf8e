//! `dx_substr` keeps a piece of a text, `dx_replace` puts another in its place.

use transship_plugin_api::Result;

use super::cause::Cause;
use super::paras::Paras;
use super::rewrite::Rewrite;
use super::units::{end, start};

/// A piece of a text, in UTF-16 units.
struct Piece {
    start: usize,
    length: usize,
}

impl Piece {
    fn new(paras: &Paras) -> Result<Piece> {
        Ok(Piece { start: paras.whole(0)?, length: paras.whole(1)? })
    }

    /// Its first byte and the one behind it. It must begin within the text; what is behind the end is left out.
    #[inline]
    fn bytes(&self, text: &str, ascii: bool) -> Result<(usize, usize), Cause> {
        let first = start(text, self.start, ascii)?;
        let behind = end(text, self.start.saturating_add(self.length), ascii)?;
        Ok((first, behind))
    }
}

pub(super) struct Substr(Piece);

impl Substr {
    pub(super) fn new(paras: &Paras) -> Result<Substr> {
        Piece::new(paras).map(Substr)
    }
}

impl Rewrite for Substr {
    const NULL_IS_EMPTY: bool = false;

    fn growth(&self) -> usize {
        0
    }

    fn room(&self, values: usize, bytes: usize) -> usize {
        bytes.min(values.saturating_mul(self.0.length).saturating_mul(3))
    }

    #[inline]
    fn rewrite(&mut self, value: &str, ascii: bool, out: &mut String) -> Result<(), Cause> {
        match self.0.bytes(value, ascii) {
            Ok((first, behind)) => out.push_str(&value[first..behind]),
            // Nothing is a text, wherever it was taken from.
            Err(Cause::Inside { .. }) if self.0.length == 0 => {}
            Err(cause) => return Err(cause),
        }
        Ok(())
    }
}

pub(super) struct Replace {
    piece: Piece,
    replacement: String,
}

impl Replace {
    pub(super) fn new(paras: &Paras) -> Result<Replace> {
        Ok(Replace { piece: Piece::new(paras)?, replacement: paras.text(2).to_string() })
    }
}

impl Rewrite for Replace {
    const NULL_IS_EMPTY: bool = false;

    fn growth(&self) -> usize {
        self.replacement.len()
    }

    fn room(&self, values: usize, bytes: usize) -> usize {
        bytes.saturating_add(values.saturating_mul(self.replacement.len()))
    }

    #[inline]
    fn rewrite(&mut self, value: &str, ascii: bool, out: &mut String) -> Result<(), Cause> {
        let (first, behind) = self.piece.bytes(value, ascii)?;
        out.push_str(&value[..first]);
        out.push_str(&self.replacement);
        out.push_str(&value[behind..]);
        Ok(())
    }
}
