//! A mark over the boundary: a kind and a number.

use super::abi::{TS_MARK_EPOCH, TS_MARK_FLUSH, TS_MARK_WATERMARK, TsMark};
use crate::error::{Error, Result};
use crate::reader::Mark;

impl From<Mark> for TsMark {
    fn from(mark: Mark) -> TsMark {
        let (kind, value) = match mark {
            Mark::Watermark(micros) => (TS_MARK_WATERMARK, micros),
            Mark::Flush => (TS_MARK_FLUSH, 0),
            Mark::Epoch(number) => (TS_MARK_EPOCH, number as i64),
        };
        TsMark { kind, reserved: 0, value }
    }
}

impl TryFrom<TsMark> for Mark {
    type Error = Error;

    fn try_from(mark: TsMark) -> Result<Mark> {
        match mark.kind {
            TS_MARK_WATERMARK => Ok(Mark::Watermark(mark.value)),
            TS_MARK_FLUSH => Ok(Mark::Flush),
            TS_MARK_EPOCH => Ok(Mark::Epoch(mark.value as u64)),
            kind => Err(Error::internal(format!("there is no kind {kind} of marks"))),
        }
    }
}
