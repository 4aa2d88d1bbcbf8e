//! The cells of one column while a batch is being built: typed buffers that can give back their last value.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNanoType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, GenericByteArray, NullArray,
    OffsetSizeTrait, PrimitiveArray, types::ByteArrayType, types::GenericBinaryType, types::GenericStringType,
};
use arrow_buffer::{BooleanBuffer, Buffer, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{ArrowError, DataType, IntervalUnit, TimeUnit};

use super::clock::exact_ticks;
use super::value::Value;

/// Why a value can't go into a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The column holds values of another kind.
    WrongType,
    /// It is of the right kind, but too large, too small, too long, or has too many digits.
    DoesNotFit,
    /// It is NULL, and the column has no NULLs.
    Null,
    /// The column's text or bytes are more than a batch can hold.
    BatchFull,
}

#[derive(Debug)]
pub(super) enum Cells {
    Null(usize),
    /// A byte each, until the batch is finished.
    Bool(Vec<bool>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    /// With the first number that has too many digits, and the scale.
    Decimal128(Vec<i128>, u128, i8),
    Decimal256(Vec<i256>, u8, i8),
    Text(Pieces<i32>),
    LargeText(Pieces<i64>),
    Bytes(Pieces<i32>),
    LargeBytes(Pieces<i64>),
    FixedBytes(Vec<u8>, usize),
    Date(Vec<i32>),
    Time(Vec<i64>, TimeUnit),
    Timestamp(Vec<i64>, TimeUnit),
    Instant(Vec<i64>, TimeUnit),
    Duration(Vec<i64>, TimeUnit),
    Interval(Vec<IntervalMonthDayNano>),
}

/// Runs an expression for whatever plain vector a column holds.
macro_rules! each_vector {
    ($cells:expr, $values:ident => $plain:expr, $($other:tt)*) => {
        match $cells {
            Cells::Int8($values) => $plain,
            Cells::Int16($values) => $plain,
            Cells::Int32($values) | Cells::Date($values) => $plain,
            Cells::Int64($values) | Cells::Time($values, _) | Cells::Timestamp($values, _) => $plain,
            Cells::Instant($values, _) | Cells::Duration($values, _) => $plain,
            Cells::UInt8($values) => $plain,
            Cells::UInt16($values) => $plain,
            Cells::UInt32($values) => $plain,
            Cells::UInt64($values) => $plain,
            Cells::Float32($values) => $plain,
            Cells::Float64($values) => $plain,
            Cells::Bool($values) => $plain,
            Cells::Decimal128($values, ..) => $plain,
            Cells::Decimal256($values, ..) => $plain,
            Cells::Interval($values) => $plain,
            $($other)*
        }
    };
}

impl Cells {
    /// Cells for a column of this type with room for so many rows and so many bytes of text; `None` if a row builder can't
    /// make such columns.
    pub(super) fn new(data_type: &DataType, rows: usize, bytes: usize) -> Option<Cells> {
        Some(match data_type {
            DataType::Null => Cells::Null(0),
            DataType::Boolean => Cells::Bool(Vec::with_capacity(rows)),
            DataType::Int8 => Cells::Int8(Vec::with_capacity(rows)),
            DataType::Int16 => Cells::Int16(Vec::with_capacity(rows)),
            DataType::Int32 => Cells::Int32(Vec::with_capacity(rows)),
            DataType::Int64 => Cells::Int64(Vec::with_capacity(rows)),
            DataType::UInt8 => Cells::UInt8(Vec::with_capacity(rows)),
            DataType::UInt16 => Cells::UInt16(Vec::with_capacity(rows)),
            DataType::UInt32 => Cells::UInt32(Vec::with_capacity(rows)),
            DataType::UInt64 => Cells::UInt64(Vec::with_capacity(rows)),
            DataType::Float32 => Cells::Float32(Vec::with_capacity(rows)),
            DataType::Float64 => Cells::Float64(Vec::with_capacity(rows)),
            DataType::Decimal128(precision, scale) => {
                let limit = 10u128.checked_pow(*precision as u32).unwrap_or(u128::MAX);
                Cells::Decimal128(Vec::with_capacity(rows), limit, *scale)
            }
            DataType::Decimal256(precision, scale) => Cells::Decimal256(Vec::with_capacity(rows), *precision, *scale),
            DataType::Utf8 => Cells::Text(Pieces::new(rows, bytes)),
            DataType::LargeUtf8 => Cells::LargeText(Pieces::new(rows, bytes)),
            DataType::Binary => Cells::Bytes(Pieces::new(rows, bytes)),
            DataType::LargeBinary => Cells::LargeBytes(Pieces::new(rows, bytes)),
            DataType::FixedSizeBinary(width) => {
                let width = usize::try_from(*width).ok()?;
                Cells::FixedBytes(Vec::with_capacity(rows * width), width)
            }
            DataType::Date32 => Cells::Date(Vec::with_capacity(rows)),
            DataType::Time64(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)) => {
                Cells::Time(Vec::with_capacity(rows), *unit)
            }
            DataType::Timestamp(unit, None) => Cells::Timestamp(Vec::with_capacity(rows), *unit),
            DataType::Timestamp(unit, Some(_)) => Cells::Instant(Vec::with_capacity(rows), *unit),
            DataType::Duration(unit) => Cells::Duration(Vec::with_capacity(rows), *unit),
            DataType::Interval(IntervalUnit::MonthDayNano) => Cells::Interval(Vec::with_capacity(rows)),
            _ => return None,
        })
    }

    /// The bytes that every row takes, whatever is in it; booleans count as bits, elsewhere.
    pub(super) fn fixed_bytes(&self) -> usize {
        fn width<T>(_: &[T]) -> usize {
            size_of::<T>()
        }
        if matches!(self, Cells::Bool(_)) {
            return 0;
        }
        each_vector!(self, values => width(values),
            Cells::Null(_) => 0,
            Cells::Text(_) | Cells::Bytes(_) => size_of::<i32>(),
            Cells::LargeText(_) | Cells::LargeBytes(_) => size_of::<i64>(),
            Cells::FixedBytes(_, width) => *width,
        )
    }

    /// The bytes of text beyond those.
    pub(super) fn content_bytes(&self) -> usize {
        match self {
            Cells::Text(pieces) | Cells::Bytes(pieces) => pieces.bytes.len(),
            Cells::LargeText(pieces) | Cells::LargeBytes(pieces) => pieces.bytes.len(),
            _ => 0,
        }
    }

    /// Appends a value that is not NULL. How many bytes of content it has, beyond the fixed ones. A refused value leaves
    /// the cells as they were.
    #[inline]
    pub(super) fn push(&mut self, value: &Value<'_>) -> Result<usize, Refusal> {
        // By reference: a copy of the whole value would wait for its parts to be written.
        match (self, value) {
            (Cells::Int64(values), Value::Int(number)) => values.push(*number),
            (Cells::Float64(values), Value::Float64(number)) => values.push(*number),
            (Cells::Text(pieces), Value::Text(text)) => return pieces.push(text.as_bytes()),
            (Cells::Bool(values), Value::Bool(truth)) => values.push(*truth),
            (Cells::Timestamp(values, TimeUnit::Microsecond), Value::Timestamp(micros)) => values.push(*micros),
            (Cells::Date(values), Value::Date(days)) => values.push(*days),
            (Cells::Bytes(pieces), Value::Bytes(bytes)) => return pieces.push(bytes),
            (Cells::Decimal128(values, limit, scale), Value::Decimal { value, scale: given }) => {
                let value = if given == scale { Some(*value) } else { rescale(*value, *given, *scale) };
                values.push(value.filter(|value| value.unsigned_abs() < *limit).ok_or(Refusal::DoesNotFit)?);
            }
            (cells, value) => return cells.push_rare(value),
        }
        Ok(0)
    }

    /// The other kinds, out of line so that the common ones stay quick.
    #[inline(never)]
    fn push_rare(&mut self, value: &Value<'_>) -> Result<usize, Refusal> {
        match (self, *value) {
            (Cells::Int8(values), number) => values.push(whole(number)?),
            (Cells::Int16(values), number) => values.push(whole(number)?),
            (Cells::Int32(values), number) => values.push(whole(number)?),
            (Cells::Int64(values), number) => values.push(whole(number)?),
            (Cells::UInt8(values), number) => values.push(whole(number)?),
            (Cells::UInt16(values), number) => values.push(whole(number)?),
            (Cells::UInt32(values), number) => values.push(whole(number)?),
            (Cells::UInt64(values), number) => values.push(whole(number)?),
            (Cells::Float32(values), Value::Float32(number)) => values.push(number),
            (Cells::Decimal256(values, precision, scale), decimal) => {
                let (value, given) = match decimal {
                    Value::Decimal { value, scale } => (i256::from_i128(value), scale),
                    Value::Decimal256 { value, scale } => (*value, scale),
                    _ => return Err(Refusal::WrongType),
                };
                let value = rescale_256(value, given, *scale).ok_or(Refusal::DoesNotFit)?;
                let fits = Decimal256Type::is_valid_decimal_precision(value, *precision);
                fits.then_some(()).ok_or(Refusal::DoesNotFit)?;
                values.push(value);
            }
            (Cells::LargeText(pieces), Value::Text(text)) => return pieces.push(text.as_bytes()),
            (Cells::LargeBytes(pieces), Value::Bytes(bytes)) => return pieces.push(bytes),
            (Cells::FixedBytes(values, width), Value::Bytes(bytes)) => {
                if bytes.len() != *width {
                    return Err(Refusal::DoesNotFit);
                }
                values.extend_from_slice(bytes);
            }
            (Cells::Time(values, unit), Value::Time(micros))
            | (Cells::Timestamp(values, unit), Value::Timestamp(micros))
            | (Cells::Instant(values, unit), Value::Instant(micros))
            | (Cells::Duration(values, unit), Value::Duration(micros)) => {
                values.push(exact_ticks(micros, *unit).ok_or(Refusal::DoesNotFit)?);
            }
            (Cells::Interval(values), Value::Interval { months, days, nanos }) => {
                values.push(IntervalMonthDayNano::new(months, days, nanos));
            }
            _ => return Err(Refusal::WrongType),
        }
        Ok(0)
    }

    /// Appends something that a null bit will hide.
    pub(super) fn push_blank(&mut self) {
        each_vector!(self, values => values.push(Default::default()),
            Cells::Null(rows) => *rows += 1,
            Cells::Text(pieces) | Cells::Bytes(pieces) => pieces.push_empty(),
            Cells::LargeText(pieces) | Cells::LargeBytes(pieces) => pieces.push_empty(),
            Cells::FixedBytes(values, width) => values.resize(values.len() + *width, 0),
        )
    }

    /// Keeps only so many rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        each_vector!(self, values => values.truncate(rows),
            Cells::Null(count) => *count = rows,
            Cells::Text(pieces) | Cells::Bytes(pieces) => pieces.truncate(rows),
            Cells::LargeText(pieces) | Cells::LargeBytes(pieces) => pieces.truncate(rows),
            Cells::FixedBytes(values, width) => values.truncate(rows * *width),
        )
    }

    /// Makes the array, of the type that the cells were made for.
    pub(super) fn finish(self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Cells::Null(rows) => Arc::new(NullArray::new(rows)),
            Cells::Bool(values) => Arc::new(BooleanArray::new(BooleanBuffer::from(values), nulls)),
            Cells::Int8(values) => primitive::<Int8Type>(values, nulls, data_type)?,
            Cells::Int16(values) => primitive::<Int16Type>(values, nulls, data_type)?,
            Cells::Int32(values) => primitive::<Int32Type>(values, nulls, data_type)?,
            Cells::Int64(values) => primitive::<Int64Type>(values, nulls, data_type)?,
            Cells::UInt8(values) => primitive::<UInt8Type>(values, nulls, data_type)?,
            Cells::UInt16(values) => primitive::<UInt16Type>(values, nulls, data_type)?,
            Cells::UInt32(values) => primitive::<UInt32Type>(values, nulls, data_type)?,
            Cells::UInt64(values) => primitive::<UInt64Type>(values, nulls, data_type)?,
            Cells::Float32(values) => primitive::<Float32Type>(values, nulls, data_type)?,
            Cells::Float64(values) => primitive::<Float64Type>(values, nulls, data_type)?,
            Cells::Decimal128(values, ..) => primitive::<Decimal128Type>(values, nulls, data_type)?,
            Cells::Decimal256(values, ..) => primitive::<Decimal256Type>(values, nulls, data_type)?,
            Cells::Text(pieces) => pieces.finish::<GenericStringType<i32>>(nulls)?,
            Cells::LargeText(pieces) => pieces.finish::<GenericStringType<i64>>(nulls)?,
            Cells::Bytes(pieces) => pieces.finish::<GenericBinaryType<i32>>(nulls)?,
            Cells::LargeBytes(pieces) => pieces.finish::<GenericBinaryType<i64>>(nulls)?,
            Cells::FixedBytes(values, width) => {
                Arc::new(FixedSizeBinaryArray::try_new(width as i32, Buffer::from_vec(values), nulls)?)
            }
            Cells::Date(values) => primitive::<Date32Type>(values, nulls, data_type)?,
            Cells::Time(values, TimeUnit::Nanosecond) => primitive::<Time64NanosecondType>(values, nulls, data_type)?,
            Cells::Time(values, _) => primitive::<Time64MicrosecondType>(values, nulls, data_type)?,
            Cells::Timestamp(values, unit) | Cells::Instant(values, unit) => match unit {
                TimeUnit::Second => primitive::<TimestampSecondType>(values, nulls, data_type)?,
                TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(values, nulls, data_type)?,
                TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(values, nulls, data_type)?,
                TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(values, nulls, data_type)?,
            },
            Cells::Duration(values, unit) => match unit {
                TimeUnit::Second => primitive::<DurationSecondType>(values, nulls, data_type)?,
                TimeUnit::Millisecond => primitive::<DurationMillisecondType>(values, nulls, data_type)?,
                TimeUnit::Microsecond => primitive::<DurationMicrosecondType>(values, nulls, data_type)?,
                TimeUnit::Nanosecond => primitive::<DurationNanosecondType>(values, nulls, data_type)?,
            },
            Cells::Interval(values) => primitive::<IntervalMonthDayNanoType>(values, nulls, data_type)?,
        })
    }
}

/// Pieces of text or bytes, end to end, and where each ends.
#[derive(Debug)]
pub(super) struct Pieces<O> {
    ends: Vec<O>,
    bytes: Vec<u8>,
}

impl<O: OffsetSizeTrait> Pieces<O> {
    fn new(rows: usize, bytes: usize) -> Pieces<O> {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(O::default());
        Pieces { ends, bytes: Vec::with_capacity(bytes) }
    }

    #[inline]
    fn push(&mut self, piece: &[u8]) -> Result<usize, Refusal> {
        let end = O::from_usize(self.bytes.len() + piece.len()).ok_or(Refusal::BatchFull)?;
        self.bytes.extend_from_slice(piece);
        self.ends.push(end);
        Ok(piece.len())
    }

    fn push_empty(&mut self) {
        self.ends.push(O::usize_as(self.bytes.len()));
    }

    fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows + 1);
        self.bytes.truncate(self.ends.last().map_or(0, |end| end.as_usize()));
    }

    fn finish<T: ByteArrayType<Offset = O>>(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(close_fitting(self.ends)));
        let bytes = Buffer::from_vec(close_fitting(self.bytes));
        Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, bytes, nulls)?))
    }
}

fn primitive<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef, ArrowError> {
    let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(close_fitting(values)), nulls)?;
    Ok(Arc::new(array.with_data_type(data_type.clone())))
}

/// Gives back the room of a batch that became far smaller than expected, so that it doesn't travel with it.
fn close_fitting<T>(mut values: Vec<T>) -> Vec<T> {
    if values.len() < values.capacity() / 2 {
        values.shrink_to_fit();
    }
    values
}

/// A whole number of any width, if it is within the range of this one.
fn whole<T: TryFrom<i64> + TryFrom<u64>>(value: Value<'_>) -> Result<T, Refusal> {
    match value {
        Value::Int(number) => T::try_from(number).map_err(|_| Refusal::DoesNotFit),
        Value::UInt(number) => T::try_from(number).map_err(|_| Refusal::DoesNotFit),
        _ => Err(Refusal::WrongType),
    }
}

/// The same number at another scale; `None` if that takes digits away, or there are too many.
#[inline(never)]
fn rescale(value: i128, from: i8, to: i8) -> Option<i128> {
    let factor = 10i128.checked_pow((to as i32 - from as i32).unsigned_abs());
    match factor {
        _ if value == 0 => Some(0),
        Some(factor) if to > from => value.checked_mul(factor),
        Some(factor) if value % factor == 0 => Some(value / factor),
        _ => None,
    }
}

fn rescale_256(value: i256, from: i8, to: i8) -> Option<i256> {
    if from == to {
        return Some(value);
    }
    let factor = i256::from_i128(10).pow_checked((to as i32 - from as i32).unsigned_abs()).ok();
    match factor {
        _ if value == i256::ZERO => Some(value),
        Some(factor) if to > from => value.checked_mul(factor),
        Some(factor) if value.checked_rem(factor)? == i256::ZERO => value.checked_div(factor),
        _ => None,
    }
}
