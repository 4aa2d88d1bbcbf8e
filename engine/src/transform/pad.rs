//! `dx_pad` brings every text to one length: padded on one side, or cut at its end.

use transship_plugin_api::Result;

use super::cause::Cause;
use super::paras::Paras;
use super::rewrite::Rewrite;
use super::units::{Place, end, place};

/// How many units of padding are made in advance, at least, where so many can be needed.
const PREPARED: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

pub(super) struct Pad {
    side: Side,
    length: usize,
    /// The pad text, as often as it takes for most values.
    padding: String,
    /// Its length in UTF-16 units.
    units: usize,
    ascii: bool,
}

impl Pad {
    pub(super) fn new(paras: &Paras) -> Result<Pad> {
        let side = paras.choice(0, &[("l", Side::Left), ("r", Side::Right)])?;
        let length = paras.whole(1)?;
        let text = paras.text(2);
        if text.is_empty() {
            return Err(paras.error(2, "is empty, but a text is needed to pad with"));
        }
        let units = text.encode_utf16().count();
        let times = length.min(PREPARED).div_ceil(units).max(1);
        Ok(Pad { side, length, padding: text.repeat(times), units: units * times, ascii: text.is_ascii() })
    }

    /// Appends so many units of padding; the last pad text is cut.
    #[inline]
    fn fill(&self, mut missing: usize, out: &mut String) -> Result<(), Cause> {
        while missing > self.units {
            out.push_str(&self.padding);
            missing -= self.units;
        }
        let behind = end(&self.padding, missing, self.ascii)?;
        out.push_str(&self.padding[..behind]);
        Ok(())
    }
}

impl Rewrite for Pad {
    const NULL_IS_EMPTY: bool = true;

    fn growth(&self) -> usize {
        // No unit of a text has more than three bytes in UTF-8.
        self.length.saturating_mul(if self.ascii { 1 } else { 3 })
    }

    fn room(&self, values: usize, _: usize) -> usize {
        values.saturating_mul(self.length)
    }

    #[inline]
    fn rewrite(&mut self, value: &str, ascii: bool, out: &mut String) -> Result<(), Cause> {
        let units = match place(value, self.length, ascii) {
            Place::At(byte) => {
                out.push_str(&value[..byte]);
                return Ok(());
            }
            Place::Inside(character) => return Err(Cause::Inside { position: self.length, character }),
            Place::Beyond(units) => units,
        };
        if self.side == Side::Right {
            out.push_str(value);
        }
        self.fill(self.length - units, out)?;
        if self.side == Side::Left {
            out.push_str(value);
        }
        Ok(())
    }
}
