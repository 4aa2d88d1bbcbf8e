//! Columns that count units of time: what they count, in which unit, and their values in another.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};

use super::value::Value;

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Time,
    Timestamp,
    Instant,
    Duration,
}

impl Clock {
    /// What a column of this type counts, and in which unit; `None` if it counts no time.
    pub(super) fn of(data_type: &DataType) -> Option<(Clock, TimeUnit)> {
        Some(match data_type {
            DataType::Date64 => (Clock::Timestamp, TimeUnit::Millisecond),
            DataType::Time32(unit) | DataType::Time64(unit) => (Clock::Time, *unit),
            DataType::Timestamp(unit, None) => (Clock::Timestamp, *unit),
            DataType::Timestamp(unit, Some(_)) => (Clock::Instant, *unit),
            DataType::Duration(unit) => (Clock::Duration, *unit),
            _ => return None,
        })
    }

    pub(super) fn value<'a>(self, micros: i64) -> Value<'a> {
        match self {
            Clock::Time => Value::Time(micros),
            Clock::Timestamp => Value::Timestamp(micros),
            Clock::Instant => Value::Instant(micros),
            Clock::Duration => Value::Duration(micros),
        }
    }
}

/// A number of units in microseconds; `None` where that is no whole number, or too large a one.
pub(super) fn exact_micros(ticks: i64, unit: TimeUnit) -> Option<i64> {
    match unit {
        TimeUnit::Second => ticks.checked_mul(1_000_000),
        TimeUnit::Millisecond => ticks.checked_mul(1_000),
        TimeUnit::Microsecond => Some(ticks),
        TimeUnit::Nanosecond => (ticks % 1_000 == 0).then_some(ticks / 1_000),
    }
}

/// Microseconds in a number of units; `None` where that is no whole number, or too large a one.
pub(super) fn exact_ticks(micros: i64, unit: TimeUnit) -> Option<i64> {
    match unit {
        TimeUnit::Second => (micros % 1_000_000 == 0).then_some(micros / 1_000_000),
        TimeUnit::Millisecond => (micros % 1_000 == 0).then_some(micros / 1_000),
        TimeUnit::Microsecond => Some(micros),
        TimeUnit::Nanosecond => micros.checked_mul(1_000),
    }
}

pub(super) fn nanos(ticks: i64, unit: TimeUnit) -> i128 {
    ticks as i128
        * match unit {
            TimeUnit::Second => 1_000_000_000,
            TimeUnit::Millisecond => 1_000_000,
            TimeUnit::Microsecond => 1_000,
            TimeUnit::Nanosecond => 1,
        }
}

/// The number of units in a row of a column that counts time.
pub(super) fn tick(array: &dyn Array, row: usize) -> i64 {
    fn wide<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, row: usize) -> i64 {
        array.as_primitive::<T>().value(row)
    }
    fn narrow<T: ArrowPrimitiveType<Native = i32>>(array: &dyn Array, row: usize) -> i64 {
        array.as_primitive::<T>().value(row) as i64
    }
    let tick = match array.data_type() {
        DataType::Date64 => wide::<Date64Type>,
        DataType::Time32(TimeUnit::Second) => narrow::<Time32SecondType>,
        DataType::Time32(_) => narrow::<Time32MillisecondType>,
        DataType::Time64(TimeUnit::Microsecond) => wide::<Time64MicrosecondType>,
        DataType::Time64(_) => wide::<Time64NanosecondType>,
        DataType::Timestamp(TimeUnit::Second, _) => wide::<TimestampSecondType>,
        DataType::Timestamp(TimeUnit::Millisecond, _) => wide::<TimestampMillisecondType>,
        DataType::Timestamp(TimeUnit::Microsecond, _) => wide::<TimestampMicrosecondType>,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => wide::<TimestampNanosecondType>,
        DataType::Duration(TimeUnit::Second) => wide::<DurationSecondType>,
        DataType::Duration(TimeUnit::Millisecond) => wide::<DurationMillisecondType>,
        DataType::Duration(TimeUnit::Microsecond) => wide::<DurationMicrosecondType>,
        _ => wide::<DurationNanosecondType>,
    };
    tick(array, row)
}
