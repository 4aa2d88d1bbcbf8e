//! A column of a batch on its way into a column of the table. Where nothing has to be converted, values go straight from the
//! column's buffer into the cells; this is what most records are made of. Not here: all other pairs of types (`binary::cells`).

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, BinaryArray, BooleanArray, StringArray};
use arrow_buffer::{Buffer, NullBuffer, i256};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use transship_plugin_api::row::Column;

use crate::binary::cells::{self, Refusal};
use crate::binary::numeric::{put_i128, put_i256};
use crate::place::{Place, Target};

/// Digits of a second that the server keeps.
const MICROS: u32 = 6;

/// Bytes of a cell that is sent from where it is.
const LARGE: usize = 256 << 10;

/// A part of a column's buffer.
struct Shared(Buffer);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A column and where its values go.
pub(super) struct Lane<'a> {
    place: &'a Place,
    /// Which values are NULL, where any is.
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
    /// The values one by one, for all conversions.
    column: Column<'a>,
}

enum Values<'a> {
    Bool(&'a BooleanArray),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    /// With its scale; the column takes all digits.
    Decimal(&'a [i128], i8),
    LongDecimal(&'a [i256], i8),
    /// Texts without a NUL character, as long as they like.
    Text(&'a StringArray),
    /// Texts that have to be looked at one by one.
    LookedAt(&'a StringArray),
    Bytes(&'a BinaryArray),
    Date(&'a [i32]),
    Micros(&'a [i64]),
    /// What has to be converted, or looked at.
    Any,
}

impl<'a> Lane<'a> {
    pub(super) fn new(array: &'a dyn Array, place: &'a Place) -> Lane<'a> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        Lane { place, nulls, values: Values::of(array, place.target), column: Column::new(array) }
    }

    /// Appends the cell of a row in binary form.
    #[inline]
    pub(super) fn put(&self, row: usize, out: &mut Vec<u8>, scratch: &mut String) -> Result<(), Refusal> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return cells::put_null(self.place, out);
        }
        match &self.values {
            Values::Bool(values) => cells::put_fixed(out, [values.value(row) as u8]),
            Values::Int16(values) => cells::put_fixed(out, values[row].to_be_bytes()),
            Values::Int32(values) => cells::put_fixed(out, values[row].to_be_bytes()),
            Values::Int64(values) => cells::put_fixed(out, values[row].to_be_bytes()),
            Values::Float32(values) => cells::put_fixed(out, values[row].to_be_bytes()),
            Values::Float64(values) => cells::put_fixed(out, values[row].to_be_bytes()),
            Values::Decimal(values, scale) => {
                put_i128(out, values[row], *scale);
                Ok(())
            }
            Values::LongDecimal(values, scale) => {
                put_i256(out, values[row], *scale);
                Ok(())
            }
            Values::Text(values) => cells::put_bytes(out, values.value(row).as_bytes()),
            Values::LookedAt(values) => cells::put_limited_text(self.place, values.value(row), out),
            Values::Bytes(values) => cells::put_bytes(out, values.value(row)),
            Values::Date(values) => cells::put_date(self.place, values[row], out),
            Values::Micros(values) => cells::put_micros(self.place, values[row], out),
            Values::Any => cells::put(self.place, self.column.get(row), out, scratch),
        }
    }

    /// The bytes of a cell that is so large that it should not be copied, in binary form, without its length.
    #[inline]
    pub(super) fn large(&self, row: usize) -> Option<Bytes> {
        let (offsets, values) = match &self.values {
            Values::Text(texts) => (texts.value_offsets(), texts.values()),
            Values::Bytes(bytes) => (bytes.value_offsets(), bytes.values()),
            _ => return None,
        };
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        let is_large = end - start >= LARGE && self.nulls.is_none_or(|nulls| nulls.is_valid(row));
        is_large.then(|| Bytes::from_owner(Shared(values.slice_with_length(start, end - start))))
    }

    /// Appends the cell of a row as text.
    pub(super) fn put_text(&self, row: usize, out: &mut Vec<u8>, scratch: &mut String) -> Result<(), Refusal> {
        crate::text::put(self.place, self.column.get(row), out, scratch)
    }
}

impl<'a> Values<'a> {
    fn of(array: &'a dyn Array, target: Target) -> Values<'a> {
        match (array.data_type(), target) {
            (DataType::Boolean, Target::Bool) => Values::Bool(array.as_boolean()),
            (DataType::Int16, Target::Int2) => Values::Int16(array.as_primitive::<Int16Type>().values()),
            (DataType::Int32, Target::Int4) => Values::Int32(array.as_primitive::<Int32Type>().values()),
            (DataType::Int64, Target::Int8) => Values::Int64(array.as_primitive::<Int64Type>().values()),
            (DataType::Float32, Target::Float4) => Values::Float32(array.as_primitive::<Float32Type>().values()),
            (DataType::Float64, Target::Float8) => Values::Float64(array.as_primitive::<Float64Type>().values()),
            (DataType::Decimal128(precision, scale), Target::Numeric { limit })
                if has_room(limit, *precision, *scale) =>
            {
                Values::Decimal(array.as_primitive::<Decimal128Type>().values(), *scale)
            }
            (DataType::Decimal256(precision, scale), Target::Numeric { limit })
                if has_room(limit, *precision, *scale) =>
            {
                Values::LongDecimal(array.as_primitive::<Decimal256Type>().values(), *scale)
            }
            (DataType::Utf8, Target::Text { most }) => Values::of_texts(array.as_string(), most),
            (DataType::Binary, Target::Bytes) => Values::Bytes(array.as_binary()),
            (DataType::Date32, Target::Date) => Values::Date(array.as_primitive::<Date32Type>().values()),
            (DataType::Timestamp(TimeUnit::Microsecond, None), Target::Timestamp { digits: MICROS })
            | (DataType::Timestamp(TimeUnit::Microsecond, Some(_)), Target::Instant { digits: MICROS }) => {
                Values::Micros(array.as_primitive::<TimestampMicrosecondType>().values())
            }
            _ => Values::Any,
        }
    }

    /// All texts of a batch are looked at together, which is soon done.
    fn of_texts(texts: &'a StringArray, most: Option<u32>) -> Values<'a> {
        let are_short = || texts.offsets().lengths().all(|length| most.is_none_or(|most| length <= most as usize));
        match memchr::memchr(0, texts.value_data()).is_none() && are_short() {
            true => Values::Text(texts),
            false => Values::LookedAt(texts),
        }
    }
}

/// Whether a column with this precision and scale, if it has any, takes all decimals of another one.
fn has_room(limit: Option<(i32, i32)>, precision: u8, scale: i8) -> bool {
    let (precision, scale) = (precision as i32, scale as i32);
    limit.is_none_or(|(most, behind)| precision - scale <= most - behind && scale <= behind)
}
