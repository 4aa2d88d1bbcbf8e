//! One value of a row, borrowed from where it lies.

use std::fmt;

use arrow_array::Array;
use arrow_buffer::i256;

/// A value. It is small and `Copy`; text and bytes are borrowed.
///
/// Match on the variants that the target can take and treat all others as dirty: there may be more of them one day.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number, of a signed column.
    Int(i64),
    /// A whole number, of an unsigned column.
    UInt(u64),
    /// A float of 32 bits. It is no `Float64`: widened, 0.1 would become 0.10000000149011612.
    Float32(f32),
    /// A float of 64 bits.
    Float64(f64),
    /// A decimal number: `value` divided by ten to the power of `scale`.
    Decimal {
        /// Its digits.
        value: i128,
        /// How many of them are behind the point; negative: how many zeros follow them.
        scale: i8,
    },
    /// A decimal number of more than 38 digits.
    Decimal256 {
        /// Its digits.
        value: &'a i256,
        /// How many of them are behind the point; negative: how many zeros follow them.
        scale: i8,
    },
    /// A text. Of a `transship.number` column, a number as written; of an `arrow.json` column, JSON.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A day, counted from 1970-01-01.
    Date(i32),
    /// A time of day, in microseconds since midnight.
    Time(i64),
    /// A date and time without a zone, in microseconds since 1970-01-01 00:00:00.
    Timestamp(i64),
    /// A moment on the time line, of a column with a zone, in microseconds since 1970-01-01 00:00:00 UTC.
    Instant(i64),
    /// A length of time, in microseconds.
    Duration(i64),
    /// A length of time by the calendar.
    Interval {
        /// Months.
        months: i32,
        /// Days.
        days: i32,
        /// Nanoseconds.
        nanos: i64,
    },
    /// What none of the above holds exactly: a list, a struct, a moment that is finer than a microsecond.
    Other(Cell<'a>),
}

/// A cell of an Arrow array, for values that have no variant of their own in [`Value`].
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// The column.
    pub array: &'a dyn Array,
    /// The row in it.
    pub row: usize,
}

impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        Value::Other(*self).write_text(&mut text);
        write!(f, "{}: {text}", self.array.data_type())
    }
}

impl PartialEq for Cell<'_> {
    fn eq(&self, other: &Self) -> bool {
        *self.array.slice(self.row, 1) == *other.array.slice(other.row, 1)
    }
}

impl Value<'_> {
    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// What it is, in words, for messages; a long text is cut.
    pub(super) fn describe(&self) -> String {
        const SHOWN: usize = 40;
        let kind = match self {
            Value::Null => return "NULL".into(),
            Value::Text(text) if text.chars().count() > SHOWN => {
                return format!("the text \"{}…\"", text.chars().take(SHOWN).collect::<String>());
            }
            Value::Text(text) => return format!("the text \"{text}\""),
            Value::Bytes(bytes) => return format!("{} bytes", bytes.len()),
            Value::Bool(_) => "the boolean",
            Value::Int(_) | Value::UInt(_) => "the whole number",
            Value::Float32(_) | Value::Float64(_) => "the float",
            Value::Decimal { .. } | Value::Decimal256 { .. } => "the decimal",
            Value::Date(_) => "the date",
            Value::Time(_) => "the time of day",
            Value::Timestamp(_) => "the timestamp without zone",
            Value::Instant(_) => "the timestamp with zone",
            Value::Duration(_) => "the duration",
            Value::Interval { .. } => "the interval",
            Value::Other(_) => "the value",
        };
        let mut text = String::from(kind);
        text.push(' ');
        self.write_text(&mut text);
        text
    }
}

macro_rules! from {
    ($($source:ty => $variant:ident as $target:ty),*) => {
        $(impl<'a> From<$source> for Value<'a> {
            fn from(value: $source) -> Value<'a> {
                Value::$variant(value as $target)
            }
        })*
    };
}

from!(bool => Bool as bool, i8 => Int as i64, i16 => Int as i64, i32 => Int as i64, i64 => Int as i64,
      u8 => UInt as u64, u16 => UInt as u64, u32 => UInt as u64, u64 => UInt as u64,
      f32 => Float32 as f32, f64 => Float64 as f64, &'a str => Text as &'a str, &'a [u8] => Bytes as &'a [u8]);

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Value<'a> {
        value.map_or(Value::Null, Into::into)
    }
}
