//! A value of a record as SQLite stores it in a column, so that it is the same value there, or not at all.

mod dates;

use arrow_schema::DataType;
use rusqlite::types::ValueRef;
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::row::{Meaning, Value};

use crate::number::{self, NotStorable, Number};
use crate::types::{Kind, Target};
use dates::DateText;
pub(crate) use dates::Dates;

/// A column of the table, as far as it matters for what can be stored in it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) declared: String,
    pub(crate) target: Target,
    /// What the field that comes says of its values beyond their type.
    pub(crate) meaning: Meaning,
    /// Whether the texts that come are numbers.
    pub(crate) numbers: bool,
    /// Whether an empty text for a number is NULL.
    pub(crate) empty_as_null: bool,
    /// How the job has dates and times written here; `None`: as SQLite's own functions do.
    pub(crate) dates: Option<Dates>,
    /// The forms of dates that texts may have.
    pub(crate) formats: ColumnFormats,
}

const NO_NAN: &str = "SQLite has no NaN and would store NULL";

/// Why a value cannot be stored.
pub(crate) type Cause = String;

/// What is stored for a value. `scratch` is where text is written that the record does not have as such.
#[inline]
pub(crate) fn stored<'a>(place: &Place, value: Value<'a>, scratch: &'a mut String) -> Result<ValueRef<'a>, Cause> {
    match (value, place.target) {
        (Value::Null, _) => Ok(ValueRef::Null),
        (Value::Text(text), Target::Text) => Ok(ValueRef::Text(text.as_bytes())),
        (Value::Int(number), Target::Number | Target::Any | Target::Date(_) | Target::Loose) => {
            Ok(ValueRef::Integer(number))
        }
        // A UUID is text wherever SQLite would show it, and bytes in a column of bytes.
        (Value::Bytes(_), Target::Text | Target::Loose) if place.meaning.is_uuid() => {
            scratch.clear();
            place.meaning.write(&value, scratch);
            Ok(ValueRef::Text(scratch.as_bytes()))
        }
        (Value::Bytes(bytes), Target::Text | Target::Any | Target::Loose) => Ok(ValueRef::Blob(bytes)),
        (Value::Text(text), Target::Date(kind)) if !place.numbers => place.date(text, kind, scratch),
        (Value::Text(text), _) => place.text(text),
        (value, Target::Date(_)) if !is_date_or_number(value) => {
            Err(place.misfit(&format!("{} is no date", name(value))))
        }
        (Value::Bool(truth), Target::Text) => Ok(ValueRef::Text(if truth { b"true" } else { b"false" })),
        (Value::Bool(truth), _) => Ok(ValueRef::Integer(truth as i64)),
        (Value::Int(number), Target::Boolean) if !(0..=1).contains(&number) => {
            Err(place.misfit("the number is not 0 or 1"))
        }
        (Value::Int(number), Target::Boolean) => Ok(ValueRef::Integer(number)),
        (Value::Int(number), Target::Real) => number::exact_real(number)
            .map(ValueRef::Real)
            .ok_or_else(|| place.misfit("a real cannot keep all its digits")),
        (Value::UInt(number), target) if target != Target::Text => match i64::try_from(number) {
            Ok(number) => stored(place, Value::Int(number), scratch),
            Err(_) => Err(place.misfit("it is larger than a 64-bit integer of SQLite")),
        },
        // What is left has no storage class of its own.
        (Value::Float32(real), target) if target != Target::Text => place.real(real as f64),
        (Value::Float64(real), target) if target != Target::Text => place.real(real),
        (Value::Decimal { .. } | Value::Decimal256 { .. }, _) => {
            write(value, scratch);
            match place.target {
                Target::Text => Ok(ValueRef::Text(scratch.as_bytes())),
                _ => place.number(scratch),
            }
        }
        (value, Target::Number | Target::Real | Target::Boolean) => {
            Err(place.misfit(&format!("{} is no number", name(value))))
        }
        (value, target) => {
            scratch.clear();
            if let Some(infinity) = place.meaning.infinity(&value) {
                return Ok(ValueRef::Text(infinity.word().as_bytes()));
            }
            let by_the_job =
                place.dates.as_ref().is_some_and(|dates| value.write_dated(&dates.formats, &dates.zone, scratch));
            if by_the_job && target == Target::Text {
                return Ok(ValueRef::Text(scratch.as_bytes()));
            }
            if !by_the_job {
                write(value, scratch);
            }
            Ok(ValueRef::Text(scratch.as_bytes()))
        }
    }
}

impl Place {
    /// A text for anything but a text column.
    fn text<'a>(&self, text: &'a str) -> Result<ValueRef<'a>, Cause> {
        let kept = Ok(ValueRef::Text(text.as_bytes()));
        match self.target {
            Target::Text => kept,
            Target::Any if self.numbers => Ok(number::parse(text).map_or(ValueRef::Text(text.as_bytes()), value_of)),
            Target::Any => kept,
            Target::Number | Target::Real | Target::Boolean if text.is_empty() && self.empty_as_null => {
                Ok(ValueRef::Null)
            }
            Target::Boolean if text.eq_ignore_ascii_case("true") => Ok(ValueRef::Integer(1)),
            Target::Boolean if text.eq_ignore_ascii_case("false") => Ok(ValueRef::Integer(0)),
            Target::Boolean => match number::parse(text) {
                Ok(Number::Integer(number @ 0..=1)) => Ok(ValueRef::Integer(number)),
                _ => Err(self.misfit("the text is neither true nor false, nor 0 or 1")),
            },
            Target::Number | Target::Real => self.number(text),
            Target::Date(_) => self.number(text),
            Target::Loose if self.numbers => self.number(text),
            Target::Loose if number::is_word(text) => kept,
            Target::Loose => match number::parse(text).map(value_of) {
                // SQLite is going to store the number; that is the same only if it is written like this.
                Ok(value) if written(value) != text => {
                    Err(self.misfit(&format!("SQLite would make the number {} of it", written(value))))
                }
                // Nor could it keep all digits of this one.
                Err(NotStorable::Inexact) => Err(self.misfit("SQLite would make a number with fewer digits of it")),
                Err(NotStorable::OutOfRange) => Err(self.misfit("SQLite would make infinity or zero of it")),
                Ok(_) | Err(NotStorable::NoNumber | NotStorable::Nan) => kept,
            },
        }
    }

    /// A text for a column of dates.
    fn date<'a>(&self, text: &'a str, kind: Kind, scratch: &'a mut String) -> Result<ValueRef<'a>, Cause> {
        match dates::read(text, kind, &self.formats).map_err(|why| self.misfit(&why))? {
            DateText::Kept => Ok(ValueRef::Text(text.as_bytes())),
            DateText::Rewritten(date) => stored(self, date, scratch),
        }
    }

    /// A number in decimal digits.
    fn number(&self, text: &str) -> Result<ValueRef<'static>, Cause> {
        let parsed = match self.target {
            Target::Real => number::real(text).map(Number::Real),
            _ => number::parse(text),
        };
        match parsed {
            Ok(number) if self.target == Target::Boolean && !matches!(number, Number::Integer(0 | 1)) => {
                Err(self.misfit("the number is not 0 or 1"))
            }
            Ok(number) => Ok(value_of(number)),
            Err(NotStorable::NoNumber) => Err(self.misfit("the text is no number")),
            Err(NotStorable::Inexact) => {
                Err(self.misfit("it has more digits than a number of SQLite keeps; a TEXT column would keep them"))
            }
            Err(NotStorable::OutOfRange) => {
                Err(self.misfit("it is out of the range of SQLite's numbers; a TEXT column would keep it"))
            }
            Err(NotStorable::Nan) => Err(self.misfit(NO_NAN)),
        }
    }

    fn real(&self, real: f64) -> Result<ValueRef<'static>, Cause> {
        if real.is_nan() {
            return Err(self.misfit(NO_NAN));
        }
        if self.target == Target::Boolean && real != 0.0 && real != 1.0 {
            return Err(self.misfit("the number is not 0 or 1"));
        }
        Ok(ValueRef::Real(real))
    }

    fn misfit(&self, why: &str) -> Cause {
        let declared = if self.declared.is_empty() { "of no declared type" } else { &self.declared };
        format!("column \"{}\" {declared} cannot store it: {why}", self.name)
    }
}

fn value_of<'a>(number: Number) -> ValueRef<'a> {
    match number {
        Number::Integer(number) => ValueRef::Integer(number),
        Number::Real(real) => ValueRef::Real(real),
    }
}

/// A number as SQLite gives it back to who asks for text.
fn written(value: ValueRef<'_>) -> String {
    let mut text = String::new();
    match value {
        ValueRef::Integer(number) => Value::Int(number).write_text(&mut text),
        ValueRef::Real(real) => number::write_real(&mut text, real),
        _ => {}
    }
    text
}

/// Writes a value as text, the way SQLite's own functions do: a blank between date and time, a point in every real.
fn write(value: Value<'_>, text: &mut String) {
    text.clear();
    match value {
        Value::Float64(real) if !real.is_nan() => number::write_real(text, real),
        Value::Float32(real) if real.is_finite() => text.push_str(&format!("{real:?}")),
        value => value.write_text(text),
    }
    if is_date_and_time(value)
        && let Some(between) = text.find('T')
    {
        text.replace_range(between..=between, " ");
    }
}

fn is_date_and_time(value: Value<'_>) -> bool {
    match value {
        Value::Timestamp(_) | Value::Instant(_) => true,
        // Finer than a microsecond.
        Value::Other(cell) => matches!(cell.array.data_type(), DataType::Timestamp(..)),
        _ => false,
    }
}

/// Whether a value, not a text, may be in a column of dates. Numbers may: seconds since 1970, and days of SQLite's calendar.
fn is_date_or_number(value: Value<'_>) -> bool {
    match value {
        Value::Bool(_) | Value::Bytes(_) | Value::Interval { .. } => false,
        Value::Other(cell) => cell.array.data_type().is_temporal(),
        _ => true,
    }
}

fn name(value: Value<'_>) -> &'static str {
    match value {
        Value::Bool(_) => "a boolean",
        Value::Bytes(_) => "a blob",
        Value::Date(_) => "a date",
        Value::Time(_) => "a time",
        Value::Timestamp(_) | Value::Instant(_) => "a timestamp",
        Value::Duration(_) | Value::Interval { .. } => "a length of time",
        _ => "the value",
    }
}

#[cfg(test)]
mod tests;
