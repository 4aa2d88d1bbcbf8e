//! Arrow columns built from the server's cells: each cell goes straight into its column's buffer.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType, UInt32Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, StringArray,
};
use arrow_buffer::{
    BooleanBufferBuilder, Buffer, IntervalMonthDayNano, NullBufferBuilder, OffsetBuffer, ScalarBuffer, i256,
};
use bytes::Bytes;
use transship_plugin_api::{Error, Result};

use super::numeric::{NotDecimal, Numeric};
use super::{EPOCH_DAYS, EPOCH_MICROS};
use crate::types::Kind;

/// Why a cell is not what its column promised.
pub(crate) type Cause = &'static str;

const NOT_FINITE: Cause = "NaN and infinity have no place in a decimal: read it as text, \"column\": [\"… ::text\"]";
const TOO_LONG: Cause = "it has more digits than the column's type";
const TOO_LATE: Cause = "it is beyond the range of 64-bit microseconds around 1970";
const TOO_LONG_A_TIME: Cause = "its hours are beyond the range of 64-bit nanoseconds";
const WRONG_SIZE: Cause = "the server sent it in an unknown form";

/// Bytes that a column may have room for from the start.
const USUAL_BYTES: usize = 4 << 20;

/// A column in the making.
#[derive(Debug)]
pub(crate) struct ColumnInTheMaking {
    kind: Kind,
    nulls: NullBufferBuilder,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Bool(BooleanBufferBuilder),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    UInt32(Vec<u32>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Decimal(Vec<i128>),
    LongDecimal(Vec<i256>),
    Interval(Vec<IntervalMonthDayNano>),
    Uuid(Vec<u8>),
    /// Where each value ends, and all of them one after the other.
    Bytes {
        offsets: Vec<i32>,
        bytes: Vec<u8>,
        /// All bytes there are, where they belong to the server's message.
        shared: Bytes,
    },
}

impl ColumnInTheMaking {
    pub(crate) fn new(kind: Kind, rows: usize) -> ColumnInTheMaking {
        ColumnInTheMaking { kind, nulls: NullBufferBuilder::new(rows), values: Values::new(kind, rows, 0) }
    }

    /// Adds a cell. If it does not fit, nothing is added.
    #[inline]
    pub(crate) fn push(&mut self, cell: Option<&[u8]>) -> Result<(), Cause> {
        let Some(cell) = cell else {
            self.push_null();
            return Ok(());
        };
        match &mut self.values {
            Values::Bool(values) => match cell {
                [truth] => values.append(*truth != 0),
                _ => return Err(WRONG_SIZE),
            },
            Values::Int16(values) => values.push(i16::from_be_bytes(fixed(cell)?)),
            Values::Int32(values) => {
                let number = i32::from_be_bytes(fixed(cell)?);
                values.push(if self.kind == Kind::Date { day(number) } else { number });
            }
            Values::Int64(values) => {
                let number = i64::from_be_bytes(fixed(cell)?);
                values.push(match self.kind {
                    Kind::Timestamp | Kind::Instant => moment(number)?,
                    _ => number,
                });
            }
            Values::UInt32(values) => values.push(u32::from_be_bytes(fixed(cell)?)),
            Values::Float32(values) => values.push(f32::from_be_bytes(fixed(cell)?)),
            Values::Float64(values) => values.push(f64::from_be_bytes(fixed(cell)?)),
            Values::Decimal(values) => {
                let Kind::Decimal { scale, .. } = self.kind else { return Err(WRONG_SIZE) };
                values.push(Numeric::parse(cell).ok_or(WRONG_SIZE)?.scaled(scale).map_err(not_decimal)?);
            }
            Values::LongDecimal(values) => {
                let Kind::LongDecimal { scale, .. } = self.kind else { return Err(WRONG_SIZE) };
                values.push(Numeric::parse(cell).ok_or(WRONG_SIZE)?.scaled_256(scale).map_err(not_decimal)?);
            }
            Values::Interval(values) => values.push(interval(fixed(cell)?)?),
            Values::Uuid(values) => values.extend_from_slice(&fixed::<16>(cell)?),
            Values::Bytes { offsets, bytes, shared } => {
                if !shared.is_empty() {
                    bytes.extend_from_slice(&std::mem::take(shared));
                }
                match self.kind {
                    Kind::Number | Kind::Money => Numeric::parse(cell).ok_or(WRONG_SIZE)?.write(bytes),
                    Kind::Jsonb => match cell {
                        [1, json @ ..] => bytes.extend_from_slice(json),
                        _ => return Err(WRONG_SIZE),
                    },
                    _ => bytes.extend_from_slice(cell),
                }
                // The batch is full long before this: a row is not larger than a message of the server, one gigabyte.
                offsets.push(i32::try_from(bytes.len()).map_err(|_| "the batch has more than 2 GiB of text")?);
            }
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds a cell of text or bytes that need not be copied, as far as nothing stands before it; else `false`.
    pub(crate) fn share(&mut self, cell: &Bytes) -> bool {
        let is_taken_as_it_is = matches!(self.kind, Kind::Text | Kind::Json | Kind::AsText | Kind::Bytes);
        match &mut self.values {
            Values::Bytes { offsets, bytes, shared } if is_taken_as_it_is && bytes.is_empty() && shared.is_empty() => {
                let Ok(end) = i32::try_from(cell.len()) else { return false };
                offsets.push(end);
                *shared = cell.clone();
                self.nulls.append_non_null();
                true
            }
            _ => false,
        }
    }

    fn push_null(&mut self) {
        match &mut self.values {
            Values::Bool(values) => values.append(false),
            Values::Int16(values) => values.push(0),
            Values::Int32(values) => values.push(0),
            Values::Int64(values) => values.push(0),
            Values::UInt32(values) => values.push(0),
            Values::Float32(values) => values.push(0.0),
            Values::Float64(values) => values.push(0.0),
            Values::Decimal(values) => values.push(0),
            Values::LongDecimal(values) => values.push(i256::ZERO),
            Values::Interval(values) => values.push(IntervalMonthDayNano::ZERO),
            Values::Uuid(values) => values.extend_from_slice(&[0; 16]),
            Values::Bytes { offsets, .. } => offsets.push(offsets.last().copied().unwrap_or(0)),
        }
        self.nulls.append_null();
    }

    /// Takes away what is behind the first so many rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if self.nulls.len() <= rows {
            return;
        }
        self.nulls.truncate(rows);
        match &mut self.values {
            Values::Bool(values) => values.truncate(rows),
            Values::Int16(values) => values.truncate(rows),
            Values::Int32(values) => values.truncate(rows),
            Values::Int64(values) => values.truncate(rows),
            Values::UInt32(values) => values.truncate(rows),
            Values::Float32(values) => values.truncate(rows),
            Values::Float64(values) => values.truncate(rows),
            Values::Decimal(values) => values.truncate(rows),
            Values::LongDecimal(values) => values.truncate(rows),
            Values::Interval(values) => values.truncate(rows),
            Values::Uuid(values) => values.truncate(rows * 16),
            Values::Bytes { offsets, bytes, shared } => {
                offsets.truncate(rows + 1);
                bytes.truncate(offsets[rows] as usize);
                shared.truncate(offsets[rows] as usize);
            }
        }
    }

    /// Rows with a text that is not UTF-8, as databases without an encoding may have.
    pub(crate) fn rows_without_text(&self) -> Vec<usize> {
        let Some((offsets, bytes)) = self.values.bytes() else { return Vec::new() };
        if self.kind == Kind::Bytes {
            return Vec::new();
        }
        let is_text = |ends: &[i32]| std::str::from_utf8(&bytes[ends[0] as usize..ends[1] as usize]).is_ok();
        // Of the whole, looked at together, most of the time is saved: but for letters cut in two, the parts are text as well.
        if std::str::from_utf8(bytes).is_ok_and(|text| offsets.iter().all(|end| text.is_char_boundary(*end as usize))) {
            return Vec::new();
        }
        offsets.windows(2).enumerate().filter(|(_, ends)| !is_text(ends)).map(|(row, _)| row).collect()
    }

    /// The bytes of a cell of text.
    pub(crate) fn bytes(&self, row: usize) -> &[u8] {
        match self.values.bytes() {
            Some((offsets, bytes)) => &bytes[offsets[row] as usize..offsets[row + 1] as usize],
            None => &[],
        }
    }

    /// Puts U+FFFD for what is not UTF-8, so that the column is one of text. The rows concerned are left out afterwards.
    pub(crate) fn replace_what_is_no_text(&mut self) {
        let Some((offsets, bytes)) = self.values.bytes() else { return };
        let (mut texts, mut ends) = (Vec::with_capacity(bytes.len()), vec![0]);
        for range in offsets.windows(2) {
            let text = String::from_utf8_lossy(&bytes[range[0] as usize..range[1] as usize]);
            texts.extend_from_slice(text.as_bytes());
            ends.push(texts.len() as i32);
        }
        self.values = Values::Bytes { offsets: ends, bytes: texts, shared: Bytes::new() };
    }

    /// The column; a new one begins.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef> {
        let rows = self.nulls.len();
        let size = match &self.values {
            // A large value more often than not stands alone.
            Values::Bytes { bytes, .. } => bytes.len().min(USUAL_BYTES),
            _ => 0,
        };
        let values = std::mem::replace(&mut self.values, Values::new(self.kind, rows, size));
        let nulls = self.nulls.finish();
        Ok(match values {
            Values::Bool(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Int16(values) => primitive::<Int16Type>(values, nulls),
            Values::Int32(values) if self.kind == Kind::Date => primitive::<Date32Type>(values, nulls),
            Values::Int32(values) => primitive::<Int32Type>(values, nulls),
            Values::Int64(values) => match self.kind {
                Kind::Time => primitive::<Time64MicrosecondType>(values, nulls),
                Kind::Timestamp => primitive::<TimestampMicrosecondType>(values, nulls),
                Kind::Instant => {
                    let array = PrimitiveArray::<TimestampMicrosecondType>::new(values.into(), nulls);
                    Arc::new(array.with_timezone("UTC"))
                }
                _ => primitive::<Int64Type>(values, nulls),
            },
            Values::UInt32(values) => primitive::<UInt32Type>(values, nulls),
            Values::Float32(values) => primitive::<Float32Type>(values, nulls),
            Values::Float64(values) => primitive::<Float64Type>(values, nulls),
            Values::Interval(values) => primitive::<IntervalMonthDayNanoType>(values, nulls),
            Values::Decimal(values) => {
                let Kind::Decimal { precision, scale } = self.kind else { return Err(mixed_up()) };
                let array = PrimitiveArray::<Decimal128Type>::new(values.into(), nulls);
                Arc::new(array.with_precision_and_scale(precision, scale)?)
            }
            Values::LongDecimal(values) => {
                let Kind::LongDecimal { precision, scale } = self.kind else { return Err(mixed_up()) };
                let array = PrimitiveArray::<Decimal256Type>::new(values.into(), nulls);
                Arc::new(array.with_precision_and_scale(precision, scale)?)
            }
            Values::Uuid(values) => Arc::new(FixedSizeBinaryArray::try_new(16, values.into(), nulls)?),
            Values::Bytes { offsets, bytes, shared } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let bytes = if shared.is_empty() { Buffer::from_vec(bytes) } else { Buffer::from(shared) };
                match self.kind {
                    Kind::Bytes => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
                    _ => Arc::new(StringArray::try_new(offsets, bytes, nulls)?),
                }
            }
        })
    }
}

impl Values {
    fn new(kind: Kind, rows: usize, bytes: usize) -> Values {
        match kind {
            Kind::Bool => Values::Bool(BooleanBufferBuilder::new(rows)),
            Kind::Int16 => Values::Int16(Vec::with_capacity(rows)),
            Kind::Int32 | Kind::Date => Values::Int32(Vec::with_capacity(rows)),
            Kind::Int64 | Kind::Time | Kind::Timestamp | Kind::Instant => Values::Int64(Vec::with_capacity(rows)),
            Kind::UInt32 => Values::UInt32(Vec::with_capacity(rows)),
            Kind::Float32 => Values::Float32(Vec::with_capacity(rows)),
            Kind::Float64 => Values::Float64(Vec::with_capacity(rows)),
            Kind::Decimal { .. } => Values::Decimal(Vec::with_capacity(rows)),
            Kind::LongDecimal { .. } => Values::LongDecimal(Vec::with_capacity(rows)),
            Kind::Interval => Values::Interval(Vec::with_capacity(rows)),
            Kind::Uuid => Values::Uuid(Vec::with_capacity(rows * 16)),
            Kind::Number | Kind::Money | Kind::Text | Kind::Json | Kind::Jsonb | Kind::Bytes | Kind::AsText => {
                let mut offsets = Vec::with_capacity(rows + 1);
                offsets.push(0);
                Values::Bytes { offsets, bytes: Vec::with_capacity(bytes), shared: Bytes::new() }
            }
        }
    }

    /// Where each text or value of bytes ends, and all of them.
    fn bytes(&self) -> Option<(&[i32], &[u8])> {
        match self {
            Values::Bytes { offsets, shared, .. } if !shared.is_empty() => Some((offsets, shared)),
            Values::Bytes { offsets, bytes, .. } => Some((offsets, bytes)),
            _ => None,
        }
    }
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<arrow_buffer::NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
}

#[inline]
fn fixed<const SIZE: usize>(cell: &[u8]) -> Result<[u8; SIZE], Cause> {
    cell.try_into().map_err(|_| WRONG_SIZE)
}

/// Days since 1970. The extreme values are the infinite dates, on both sides.
fn day(number: i32) -> i32 {
    match number {
        i32::MIN | i32::MAX => number,
        // The server's dates end long before.
        _ => number.saturating_add(EPOCH_DAYS),
    }
}

/// Microseconds since 1970, likewise.
#[inline]
fn moment(number: i64) -> Result<i64, Cause> {
    match number {
        i64::MIN | i64::MAX => Ok(number),
        _ => number.checked_add(EPOCH_MICROS).filter(|sum| *sum != i64::MAX).ok_or(TOO_LATE),
    }
}

fn interval(cell: [u8; 16]) -> Result<IntervalMonthDayNano, Cause> {
    let number = u128::from_be_bytes(cell);
    let micros = (number >> 64) as i64;
    let nanos = micros.checked_mul(1_000).ok_or(TOO_LONG_A_TIME)?;
    Ok(IntervalMonthDayNano::new(number as i32, (number >> 32) as i32, nanos))
}

fn not_decimal(problem: NotDecimal) -> Cause {
    match problem {
        NotDecimal::NotFinite => NOT_FINITE,
        NotDecimal::TooLong => TOO_LONG,
    }
}

fn mixed_up() -> Error {
    Error::internal("a column in the making has values of another kind")
}
