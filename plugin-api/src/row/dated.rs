//! Dates, times and moments as text, by the formats of the job file.
//! Not here: all other values as text, and dates in ISO 8601 (`text`).

use super::clock::{Clock, nanos, tick};
use super::value::{Cell, Value};
use crate::dates::{ColumnFormats, Zone};

impl Value<'_> {
    /// Appends the value as the job file wants dates, times of day and moments to be written; `zone` is
    /// [that of its column](ColumnFormats::zone_of). `false`, and nothing is appended, if it is none of these.
    #[inline]
    pub fn write_dated(&self, formats: &ColumnFormats, zone: &Zone, out: &mut String) -> bool {
        match *self {
            Value::Date(days) => formats.write_date(out, days as i64),
            Value::Time(micros) => formats.write_time(out, micros as i128 * 1_000),
            Value::Timestamp(micros) => formats.write_local_micros(out, micros),
            Value::Instant(micros) => formats.write_instant_micros(out, micros, zone),
            Value::Other(Cell { array, row }) => match Clock::of(array.data_type()) {
                Some((Clock::Time, unit)) => formats.write_time(out, nanos(tick(array, row), unit)),
                Some((Clock::Timestamp, unit)) => formats.write_moment(out, nanos(tick(array, row), unit), false),
                Some((Clock::Instant, unit)) => formats.write_instant(out, nanos(tick(array, row), unit), zone),
                _ => return false,
            },
            _ => return false,
        }
        true
    }
}
