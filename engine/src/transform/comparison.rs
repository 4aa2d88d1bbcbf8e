//! `dx_filter`'s condition, made for a column of one type: it looks at a whole column at once.
//!
//! Whole numbers, decimals and dates all come down to one question: does a whole number lie within two bounds? Decimals are
//! counted in units of their last place, dates in their own unit since 1970.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::{DataType, Field, TimeUnit};
use transship_plugin_api::fields::is_number;
use transship_plugin_api::{ColumnFormats, Error, Host, Result};

use super::bounds::Bounds;
use super::cause::{Cause, DirtyRows, told_once};
use super::condition::{Condition, Operator};
use super::number::Number;
use super::pattern::Pattern;
use super::text::texts_of;

/// What a column is asked.
pub(super) enum Comparison<'a> {
    /// Do its whole numbers lie within bounds?
    Within(Bounds),
    /// How do its floats compare? For narrow floats, the number nearest to the value and the order of the two.
    Float(Operator, f64),
    NarrowFloat(Operator, f32, Option<Ordering>),
    /// How do its numbers compare, which are texts or have more than 38 digits?
    Number(Operator, &'a str),
    /// How do its texts compare?
    Text(Operator, &'a str),
    /// Is there a value at all? The same for each that there is.
    Constant(bool),
    /// Do its texts match?
    Like {
        pattern: &'a Pattern,
        not: bool,
    },
}

/// What a column answers: the rows that fulfil the condition (of a row that is NULL or dirty the bit means nothing), and the
/// rows that are dirty.
pub(super) struct Answer {
    pub matches: BooleanBuffer,
    pub dirty: DirtyRows,
}

impl Operator {
    /// Whether two values in this order fulfil it; `None`: one of them is not a number, which only differs from everything.
    #[inline]
    pub(super) fn accepts(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Operator::NotEqual, None) => true,
            (_, None) => false,
            (Operator::Greater, Some(order)) => order.is_gt(),
            (Operator::GreaterOrEqual, Some(order)) => order.is_ge(),
            (Operator::Less, Some(order)) => order.is_lt(),
            (Operator::LessOrEqual, Some(order)) => order.is_le(),
            (Operator::Equal, Some(order)) => order.is_eq(),
            (Operator::NotEqual, Some(order)) => order.is_ne(),
        }
    }
}

impl<'a> Comparison<'a> {
    /// What the condition means for a column.
    ///
    /// # Errors
    /// Where the value is no number, or no date, and the column holds these.
    pub(super) fn new(condition: &'a Condition, field: &Field, formats: &ColumnFormats) -> Result<Comparison<'a>> {
        let (operator, value) = match condition {
            Condition::Like { pattern, not } => return Ok(Comparison::Like { pattern, not: *not }),
            Condition::Compare(operator, value) => (*operator, value.as_str()),
        };
        if asks_for_null(operator, value) && !is_compared_as_text(field) {
            return Ok(Comparison::Constant(operator == Operator::NotEqual));
        }
        let number = || {
            let number = Number::parse(value.trim());
            number.ok_or_else(|| unfit(value, field, "a number", "numbers"))
        };
        let counted = |scale: i8| match number()? {
            Number::Finite(decimal) => Ok(Comparison::Within(Bounds::of_numbers(operator, decimal.floor(scale)))),
            _ => Err(unfit(value, field, "a number", "whole numbers or decimals")),
        };
        match field.data_type() {
            data_type if data_type.is_integer() => counted(0),
            DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale) => {
                counted(*scale)
            }
            DataType::Decimal256(..) => number().map(|_| Comparison::Number(operator, value.trim())),
            DataType::Float64 => Ok(Comparison::Float(operator, float(number()?, value))),
            DataType::Float16 | DataType::Float32 => {
                let wide = float(number()?, value);
                let narrow = wide as f32;
                // The number that a narrow float shows: 0.1, not 0.10000000149011612.
                let shown: f64 = narrow.to_string().parse().unwrap_or(f64::from(narrow));
                Ok(Comparison::NarrowFloat(operator, narrow, shown.partial_cmp(&wide)))
            }
            DataType::Utf8 if is_number(field) => number().map(|_| Comparison::Number(operator, value.trim())),
            data_type => match nanos_of_unit(data_type) {
                Some(unit) => {
                    let nanos = moment(value, data_type, formats).ok_or_else(|| {
                        unfit(value, field, "epoch milliseconds or a date like 2026-01-31 23:59:59", "dates")
                    })?;
                    Ok(Comparison::Within(Bounds::of_moments(operator, nanos, unit)))
                }
                None => Ok(Comparison::Text(operator, value)),
            },
        }
    }

    /// Asks a column.
    ///
    /// # Errors
    /// `Cancelled` once the engine wants to end the task.
    pub(super) fn ask(
        &self,
        field: &Field,
        column: &ArrayRef,
        formats: &ColumnFormats,
        host: &dyn Host,
    ) -> Result<Answer> {
        let clean = |matches| Answer { matches, dirty: Vec::new() };
        match self {
            Comparison::Constant(matches) => {
                let rows = column.len();
                Ok(clean(if *matches { BooleanBuffer::new_set(rows) } else { BooleanBuffer::new_unset(rows) }))
            }
            Comparison::Within(bounds) => within(column, bounds).map(clean).ok_or_else(|| changed(column)),
            Comparison::Float(operator, value) => {
                let floats = column.as_primitive_opt::<Float64Type>().ok_or_else(|| changed(column))?;
                Ok(clean(floats_of(floats.values(), *operator, *value)))
            }
            Comparison::NarrowFloat(operator, value, tie) => {
                let order = |float: f32| match float.partial_cmp(value) {
                    Some(Ordering::Equal) => *tie,
                    other => other,
                };
                if let Some(floats) = column.as_primitive_opt::<Float32Type>() {
                    return Ok(clean(mask(floats.values(), |float| operator.accepts(order(float)))));
                }
                let halves =
                    column.as_primitive_opt::<arrow_array::types::Float16Type>().ok_or_else(|| changed(column))?;
                Ok(clean(mask(halves.values(), |half| operator.accepts(order(half.to_f32())))))
            }
            Comparison::Number(operator, value) => {
                let value = Number::parse(value).unwrap_or(Number::NaN);
                each_text(field, column, formats, host, |text| {
                    let number = Number::parse(text.trim()).ok_or(Cause::NoNumber)?;
                    Ok(operator.accepts(number.order(&value)))
                })
            }
            Comparison::Text(Operator::Equal, value) => {
                each_text(field, column, formats, host, |text| Ok(text == *value))
            }
            Comparison::Text(Operator::NotEqual, value) => {
                each_text(field, column, formats, host, |text| Ok(text != *value))
            }
            Comparison::Text(operator, value) => {
                each_text(field, column, formats, host, |text| Ok(operator.accepts(Some(utf16_order(text, value)))))
            }
            Comparison::Like { pattern, not } => {
                each_text(field, column, formats, host, |text| Ok(pattern.matches(text)? != *not))
            }
        }
    }
}

/// Whether it is NULL that is asked for. In a column of texts the word is a text as well.
fn asks_for_null(operator: Operator, value: &str) -> bool {
    matches!(operator, Operator::Equal | Operator::NotEqual) && value.eq_ignore_ascii_case("null")
}

fn is_compared_as_text(field: &Field) -> bool {
    let data_type = field.data_type();
    !data_type.is_numeric() && nanos_of_unit(data_type).is_none() && !is_number(field)
}

fn unfit(value: &str, field: &Field, must_be: &str, holds: &str) -> Error {
    Error::config(format!(
        "parameter.paras[1] must be {must_be}, not \"{value}\": the column \"{}\" holds {holds} ({})",
        field.name(),
        field.data_type()
    ))
}

/// A batch that is not as its schema has promised.
fn changed(column: &ArrayRef) -> Error {
    Error::internal(format!(
        "the column that is compared has become {}, which the schema did not say",
        column.data_type()
    ))
}

fn float(number: Number<'_>, text: &str) -> f64 {
    match number {
        Number::NaN => f64::NAN,
        Number::Infinite { negative: true } => f64::NEG_INFINITY,
        Number::Infinite { negative: false } => f64::INFINITY,
        Number::Finite(_) => text.trim().parse().unwrap_or(f64::NAN),
    }
}

/// How many nanoseconds one is in a column that counts time.
fn nanos_of_unit(data_type: &DataType) -> Option<i128> {
    const SECOND: i128 = 1_000_000_000;
    Some(match data_type {
        DataType::Date32 => 86_400 * SECOND,
        DataType::Date64 => SECOND / 1_000,
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Timestamp(unit, _) | DataType::Duration(unit) => {
            match unit {
                TimeUnit::Second => SECOND,
                TimeUnit::Millisecond => SECOND / 1_000,
                TimeUnit::Microsecond => SECOND / 1_000_000,
                TimeUnit::Nanosecond => 1,
            }
        }
        _ => return None,
    })
}

/// The first and the last nanosecond that a value names, counted as the column counts: a millisecond since 1970, or a date.
fn moment(value: &str, data_type: &DataType, formats: &ColumnFormats) -> Option<(i128, i128)> {
    let value = value.trim();
    let nanos = |micros: i64| i128::from(micros) * 1_000;
    let zone = match data_type {
        DataType::Timestamp(_, Some(zone)) => Some(formats.zone_of(zone)),
        _ => None,
    };
    if let Ok(millis) = value.parse::<i64>() {
        let micros = if zone.is_some() { millis.checked_mul(1_000)? } else { formats.local_of_millis(millis)? };
        return Some((nanos(micros), nanos(micros) + 999_999));
    }
    let local = formats.parse_moment(value.as_bytes()).ok()?;
    // The clock is the one by which such a column is shown as text.
    let micros = match zone {
        Some(zone) => zone.instant(local)?,
        None => local,
    };
    Some((nanos(micros), nanos(micros)))
}

fn floats_of(values: &[f64], operator: Operator, value: f64) -> BooleanBuffer {
    match operator {
        Operator::Greater => mask(values, |float| float > value),
        Operator::GreaterOrEqual => mask(values, |float| float >= value),
        Operator::Less => mask(values, |float| float < value),
        Operator::LessOrEqual => mask(values, |float| float <= value),
        Operator::Equal => mask(values, |float| float == value),
        Operator::NotEqual => mask(values, |float| float != value),
    }
}

/// Asks whether each number lies within the bounds; `None` where the column holds no such numbers.
fn within(column: &ArrayRef, bounds: &Bounds) -> Option<BooleanBuffer> {
    macro_rules! numbers {
        ($kind:ty, $native:ty) => {{
            let values = column.as_primitive_opt::<$kind>()?.values();
            let inside = bounds.inside;
            match bounds.clip(<$native>::MIN.into(), <$native>::MAX.into()) {
                None if inside => BooleanBuffer::new_unset(values.len()),
                None => BooleanBuffer::new_set(values.len()),
                Some((low, high)) => {
                    let (low, high) = (low as $native, high as $native);
                    mask(values, |value| ((low <= value) & (value <= high)) == inside)
                }
            }
        }};
    }
    Some(match column.data_type() {
        DataType::Int8 => numbers!(Int8Type, i8),
        DataType::Int16 => numbers!(Int16Type, i16),
        DataType::Int32 => numbers!(Int32Type, i32),
        DataType::Int64 => numbers!(Int64Type, i64),
        DataType::UInt8 => numbers!(UInt8Type, u8),
        DataType::UInt16 => numbers!(UInt16Type, u16),
        DataType::UInt32 => numbers!(UInt32Type, u32),
        DataType::UInt64 => numbers!(UInt64Type, u64),
        DataType::Decimal32(..) => numbers!(Decimal32Type, i32),
        DataType::Decimal64(..) => numbers!(Decimal64Type, i64),
        DataType::Decimal128(..) => numbers!(Decimal128Type, i128),
        DataType::Date32 => numbers!(Date32Type, i32),
        DataType::Date64 => numbers!(Date64Type, i64),
        DataType::Time32(TimeUnit::Second) => numbers!(Time32SecondType, i32),
        DataType::Time32(_) => numbers!(Time32MillisecondType, i32),
        DataType::Time64(TimeUnit::Microsecond) => numbers!(Time64MicrosecondType, i64),
        DataType::Time64(_) => numbers!(Time64NanosecondType, i64),
        DataType::Timestamp(TimeUnit::Second, _) => numbers!(TimestampSecondType, i64),
        DataType::Timestamp(TimeUnit::Millisecond, _) => numbers!(TimestampMillisecondType, i64),
        DataType::Timestamp(TimeUnit::Microsecond, _) => numbers!(TimestampMicrosecondType, i64),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => numbers!(TimestampNanosecondType, i64),
        DataType::Duration(TimeUnit::Second) => numbers!(DurationSecondType, i64),
        DataType::Duration(TimeUnit::Millisecond) => numbers!(DurationMillisecondType, i64),
        DataType::Duration(TimeUnit::Microsecond) => numbers!(DurationMicrosecondType, i64),
        DataType::Duration(TimeUnit::Nanosecond) => numbers!(DurationNanosecondType, i64),
        _ => return None,
    })
}

/// A bit for each value.
#[inline]
fn mask<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> BooleanBuffer {
    let word = |values: &[T]| {
        values.iter().enumerate().fold(0u64, |word, (place, value)| word | u64::from(test(*value)) << place)
    };
    let words: Vec<u64> = values.chunks(64).map(word).collect();
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

/// Asks each text of a column that is not NULL.
fn each_text(
    field: &Field,
    column: &ArrayRef,
    formats: &ColumnFormats,
    host: &dyn Host,
    mut test: impl FnMut(&str) -> Result<bool, Cause>,
) -> Result<Answer> {
    // A pattern can take milliseconds for one value.
    const PATIENCE: usize = 256;
    let (texts, mut dirty) = texts_of(field, column, formats)?;
    let already_dirty = dirty.len();
    let nulls = texts.nulls().filter(|nulls| nulls.null_count() > 0);
    let mut words = vec![0u64; texts.len().div_ceil(64)];
    for row in 0..texts.len() {
        if row % PATIENCE == 0 && host.is_cancelled() {
            return Err(Error::cancelled());
        }
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            continue;
        }
        match test(texts.value(row)) {
            Ok(matches) => words[row / 64] |= u64::from(matches) << (row % 64),
            Err(cause) => {
                dirty.push((row, cause));
                if host.is_cancelled() {
                    return Err(Error::cancelled());
                }
            }
        }
    }
    if already_dirty > 0 {
        told_once(&mut dirty);
    }
    Ok(Answer { matches: BooleanBuffer::new(Buffer::from_vec(words), 0, texts.len()), dirty })
}

/// The order of two texts by UTF-16 units, as Java's `compareTo` has it: characters beyond U+FFFF come before U+E000.
fn utf16_order(one: &str, other: &str) -> Ordering {
    let weight = |byte: u8| if matches!(byte, 0xee | 0xef) { byte + 0x10 } else { byte };
    let (one, other) = (one.as_bytes(), other.as_bytes());
    match one.iter().zip(other).find(|(a, b)| a != b) {
        Some((a, b)) => weight(*a).cmp(&weight(*b)),
        None => one.len().cmp(&other.len()),
    }
}
