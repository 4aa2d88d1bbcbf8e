//! A value of a record as a column of the table takes it, so that it is the same value there, or not at all.
//!
//! The server is the judge of what fits; looked at here is what it would change without a word (a fraction for a whole number, a
//! time of day for a date), and what is cheaper to find before a whole batch is sent.

mod number;

use transship_plugin_api::dates::{MICROS_PER_DAY, MICROS_PER_SECOND, Zone};
use transship_plugin_api::row::{Meaning, Value};
use transship_plugin_api::{ColumnFormats, Encoding, dates};

use super::target::{Room, Takes, Target};

/// What is sent for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent<'a> {
    Null,
    /// A number: it needs no quotes.
    Number(&'a str),
    /// A text in which nothing has to be escaped.
    Plain(&'a str),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// Why a value cannot be stored.
pub(super) type Cause = String;

/// How values of one column of the records go into one column of the table.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) target: Target,
    /// What the records' field says of its values: that they are UUIDs, that extreme dates are infinite.
    pub(super) meaning: Meaning,
    /// Whether an empty text for a number is NULL.
    pub(super) empty_as_null: bool,
    pub(super) formats: ColumnFormats,
    /// Whose clocks show the instants of this column, where they become text.
    pub(super) zone: Zone,
    /// How far the clock of the session is ahead of UTC, where that is fixed.
    pub(super) offset_seconds: Option<i64>,
    /// The same of a clock that never changes, which nobody had to fix.
    pub(super) steady_offset_seconds: Option<i64>,
    /// Whether the texts that come are the digits of bits.
    pub(super) has_binary_digits: bool,
    /// Whether every decimal that the records' field can have fits.
    pub(super) always_fits: bool,
}

/// Where values are written that the record does not have as such.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    text: String,
    bytes: Vec<u8>,
}

impl Place {
    /// What is sent for a value.
    #[inline]
    pub(super) fn sent<'a>(&self, value: Value<'a>, scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        match (value, &self.target.takes) {
            (Value::Null, _) if self.target.refuses_null => Err(self.misfit("it is NULL, and the column is NOT NULL")),
            (Value::Null, _) => Ok(Sent::Null),
            (Value::Int(number), Takes::Integer { least, greatest }) => {
                self.whole(i128::from(number), *least, *greatest, scratch)
            }
            (Value::UInt(number), Takes::Integer { least, greatest }) => {
                self.whole(i128::from(number), *least, *greatest, scratch)
            }
            (Value::Text(text), Takes::Text(room)) => self.text(text, room),
            (value, Takes::Text(room)) => {
                self.write(value, scratch)?;
                self.text(&scratch.text, room)
            }
            (Value::Decimal { .. }, Takes::Decimal { .. }) if self.always_fits => {
                scratch.text.clear();
                value.write_text(&mut scratch.text);
                Ok(Sent::Number(&scratch.text))
            }
            (Value::Bytes(bytes), Takes::Bytes(_) | Takes::Geometry) => self.bytes(bytes, scratch),
            (Value::Text(text), _) => self.of_text(text, scratch),
            (
                value,
                Takes::Integer { .. }
                | Takes::Decimal { .. }
                | Takes::Float
                | Takes::Double
                | Takes::Bits(_)
                | Takes::Year,
            ) => self.number(value, scratch),
            (value, Takes::Date | Takes::DateTime(_) | Takes::Timestamp(_)) => self.moment(value, scratch),
            (value, Takes::Time(_)) => self.time(value, scratch),
            (value, Takes::Bytes(_)) => Err(self.misfit(&format!("{} is no bytes", name(value)))),
            (value, Takes::Geometry) => Err(self.misfit(&format!("{} is no geometry", name(value)))),
            (value, Takes::Uuid | Takes::Other | Takes::Enum(_)) => {
                self.write(value, scratch)?;
                Ok(Sent::Text(&scratch.text))
            }
        }
    }

    fn whole<'a>(
        &self,
        number: i128,
        least: i128,
        greatest: i128,
        scratch: &'a mut Scratch,
    ) -> Result<Sent<'a>, Cause> {
        if !(least..=greatest).contains(&number) {
            return Err(self.misfit(&format!("it is not between {least} and {greatest}")));
        }
        scratch.text.clear();
        let mut digits = itoa::Buffer::new();
        scratch.text.push_str(match i64::try_from(number) {
            Ok(number) => digits.format(number),
            Err(_) => digits.format(number),
        });
        Ok(Sent::Number(&scratch.text))
    }

    /// A text for a text column.
    #[inline]
    fn text<'a>(&self, text: &'a str, room: &Room) -> Result<Sent<'a>, Cause> {
        if let Some(most) = room.characters
            && text.len() as u64 > most
            && text.chars().count() as u64 > most
        {
            return Err(self.misfit(&format!("it has {} characters", text.chars().count())));
        }
        if room.bytes.is_some_and(|most| text.len() as u64 > most) {
            return Err(self.misfit(&format!("it has {} bytes", text.len())));
        }
        if room.only_three_bytes
            && let Some(letter) = text.chars().find(|letter| letter.len_utf8() > 3)
        {
            return Err(self.misfit(&format!("\"{letter}\" is not in the column's character set, utf8mb3")));
        }
        Ok(Sent::Text(text))
    }

    /// A text for anything but a text column.
    fn of_text<'a>(&self, text: &'a str, scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        let trimmed = text.trim();
        match &self.target.takes {
            Takes::Integer { .. }
            | Takes::Decimal { .. }
            | Takes::Float
            | Takes::Double
            | Takes::Bits(_)
            | Takes::Year => match trimmed {
                "" if self.empty_as_null && text.is_empty() => self.sent(Value::Null, scratch),
                _ if self.has_binary_digits && matches!(self.target.takes, Takes::Bits(_)) => {
                    let number = u64::from_str_radix(trimmed, 2);
                    self.number(Value::UInt(number.map_err(|_| self.misfit("it is no 64 bits"))?), scratch)
                }
                _ if matches!(self.target.takes, Takes::Bits(_)) && trimmed.eq_ignore_ascii_case("true") => {
                    self.number_text("1", scratch)
                }
                _ if matches!(self.target.takes, Takes::Bits(_)) && trimmed.eq_ignore_ascii_case("false") => {
                    self.number_text("0", scratch)
                }
                _ => self.number_text(trimmed, scratch),
            },
            Takes::Date | Takes::DateTime(_) | Takes::Timestamp(_) => {
                let moment = match self.formats.parse_moment(text.as_bytes()) {
                    Ok(local) => Value::Timestamp(local),
                    Err(cause) => self.instant_of_text(text).ok_or_else(|| self.misfit(cause.as_ref()))?,
                };
                self.moment(moment, scratch)
            }
            Takes::Time(fraction) => match time_of_text(trimmed) {
                Some(digits) if digits <= *fraction as usize => Ok(Sent::Text(trimmed)),
                Some(_) => Err(self.misfit(&format!("the column keeps {fraction} digits of a second"))),
                None => Err(self.misfit("it is no time like 23:59:59")),
            },
            Takes::Bytes(most) => {
                scratch.bytes.clear();
                match self.formats.encoding() {
                    Encoding::Utf8 => scratch.bytes.extend(text.as_bytes()),
                    encoding => encoding
                        .encode(text, &mut scratch.bytes)
                        .map_err(|letter| self.misfit(&format!("\"{letter}\" is not in {}", encoding.name())))?,
                }
                self.check_bytes(scratch.bytes.len(), *most)?;
                Ok(Sent::Bytes(&scratch.bytes))
            }
            // The server would take a number that is no word for the place of one.
            Takes::Enum(words) if !words.iter().any(|word| word == text) && is_digits(trimmed) => {
                Err(self.misfit("it is none of the column's words"))
            }
            Takes::Geometry => Err(self.misfit("a geometry is written from well-known binary")),
            Takes::Enum(_) | Takes::Uuid | Takes::Other | Takes::Text(_) => Ok(Sent::Text(text)),
        }
    }

    /// The instant that a date and time is with an offset behind it. Into a TIMESTAMP it can only go where the session's clock is
    /// known.
    fn instant_of_text(&self, text: &str) -> Option<Value<'static>> {
        let is_timestamp = matches!(self.target.takes, Takes::Timestamp(_));
        if is_timestamp && self.offset_seconds.or(self.steady_offset_seconds).is_none() {
            return None;
        }
        let (moment, offset) = dates::split_offset(text)?;
        let local = self.formats.parse_moment(moment.trim_end().as_bytes()).ok()?;
        local.checked_sub(i64::from(offset) * MICROS_PER_SECOND).map(Value::Instant)
    }

    fn bytes<'a>(&self, bytes: &'a [u8], scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        match &self.target.takes {
            Takes::Geometry => {
                let stored = crate::geometry::to_stored(bytes);
                scratch.bytes = stored.ok_or_else(|| self.misfit("it is no little-endian well-known binary"))?;
                Ok(Sent::Bytes(&scratch.bytes))
            }
            Takes::Bytes(most) => {
                self.check_bytes(bytes.len(), *most)?;
                Ok(Sent::Bytes(bytes))
            }
            _ => Err(self.misfit("it is bytes")),
        }
    }

    fn check_bytes(&self, bytes: usize, most: u64) -> Result<(), Cause> {
        if bytes as u64 > most { Err(self.misfit(&format!("it has {bytes} bytes"))) } else { Ok(()) }
    }

    /// A number of whatever type.
    fn number<'a>(&self, value: Value<'a>, scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        let mut text = std::mem::take(&mut scratch.text);
        text.clear();
        match value {
            Value::Bool(truth) => text.push(if truth { '1' } else { '0' }),
            Value::Bytes(bytes) if matches!(self.target.takes, Takes::Bits(_)) && bytes.len() <= 8 => {
                let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
                text.push_str(itoa::Buffer::new().format(number));
            }
            Value::Float64(real) if self.target.takes == Takes::Float && !number::is_float(real) => {
                scratch.text = text;
                return Err(self.misfit(&format!("a FLOAT would make {} of it", real as f32)));
            }
            Value::Float32(real) if !real.is_finite() => return Err(self.misfit("MySQL has no NaN and no infinity")),
            Value::Float64(real) if !real.is_finite() => return Err(self.misfit("MySQL has no NaN and no infinity")),
            Value::Int(_)
            | Value::UInt(_)
            | Value::Float32(_)
            | Value::Float64(_)
            | Value::Decimal { .. }
            | Value::Decimal256 { .. } => value.write_text(&mut text),
            other => {
                scratch.text = text;
                return Err(self.misfit(&format!("{} is no number", name(other))));
            }
        }
        let is_whole = matches!(value, Value::Int(_) | Value::UInt(_));
        let other = self.checked_number(&text, is_whole);
        scratch.text = text;
        if let Some(other) = other? {
            scratch.text = other;
        }
        Ok(self.as_sent(&scratch.text))
    }

    /// A number written out.
    fn number_text<'a>(&self, text: &'a str, scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        match self.checked_number(text, false)? {
            None => Ok(self.as_sent(text)),
            Some(other) => {
                scratch.text = other;
                Ok(self.as_sent(&scratch.text))
            }
        }
    }

    /// Whether a number fits, and how it has to be written where it cannot be sent as it is. `is_whole`: the record has it as a
    /// whole number, which must not lose digits.
    fn checked_number(&self, text: &str, is_whole: bool) -> Result<Option<String>, Cause> {
        let Some(parts) = number::parts(text) else {
            let is_number = transship_sql::names::is_number(text);
            return Err(self.misfit(if is_number { "its exponent is too large" } else { "it is no number" }));
        };
        let takes = &self.target.takes;
        let loses_digits = is_whole
            && matches!(takes, Takes::Float | Takes::Double)
            && !number::is_exact(&parts, *takes == Takes::Float);
        if loses_digits {
            return Err(self.misfit("it has more digits than a float keeps"));
        }
        if let Some(cause) = number::misfit(&parts, takes) {
            return Err(self.misfit(&cause));
        }
        Ok(match takes {
            // Of the text 0 the server would make 2000.
            Takes::Year => Some(format!("{:04}", parts.whole().unwrap_or_default())),
            Takes::Integer { .. } | Takes::Bits(_)
                if text.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'-') =>
            {
                Some(parts.whole().unwrap_or_default().to_string())
            }
            _ => None,
        })
    }

    /// A number that was found to fit.
    fn as_sent<'a>(&self, text: &'a str) -> Sent<'a> {
        if self.target.takes == Takes::Year { Sent::Plain(text) } else { Sent::Number(text) }
    }

    /// A date, with or without a time.
    fn moment<'a>(&self, value: Value<'a>, scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        if let Some(infinity) = self.meaning.infinity(&value) {
            return Err(self.misfit(&format!("it is {}, and MySQL has no infinite dates", infinity.word())));
        }
        let too_far = || self.misfit("it is too far away");
        let is_timestamp = matches!(self.target.takes, Takes::Timestamp(_));
        let (micros, is_instant) = match value {
            Value::Date(days) => (i64::from(days).checked_mul(MICROS_PER_DAY).ok_or_else(too_far)?, false),
            Value::Timestamp(micros) => (micros, false),
            Value::Instant(micros) => (micros, true),
            // What DataX calls a Long as a date.
            Value::Int(millis) => (self.formats.local_of_millis(millis).ok_or_else(too_far)?, false),
            other => return Err(self.misfit(&format!("{} is no date", name(other)))),
        };
        let local = match (is_instant, is_timestamp) {
            (true, true) => {
                let offset = self.offset_seconds.or(self.steady_offset_seconds).unwrap_or(0);
                micros.checked_add(offset * MICROS_PER_SECOND).ok_or_else(too_far)?
            }
            (true, false) => self.formats.local_micros(micros).ok_or_else(too_far)?,
            // Where the job says in which zone its clocks go, this is an instant; else it is what the server's clock shows.
            (false, true) if self.formats.zone().is_some() && self.offset_seconds.is_some() => {
                let instant = self.formats.instant_micros(micros).ok_or_else(too_far)?;
                instant.checked_add(self.offset_seconds.unwrap_or(0) * MICROS_PER_SECOND).ok_or_else(too_far)?
            }
            (false, _) => micros,
        };
        let (days, of_day) = (local.div_euclid(MICROS_PER_DAY), local.rem_euclid(MICROS_PER_DAY));
        scratch.text.clear();
        dates::write_date(&mut scratch.text, days);
        if scratch.text.len() != 10 {
            return Err(self.misfit("the year is not between 0 and 9999"));
        }
        let fraction = match self.target.takes {
            Takes::Date if of_day != 0 => return Err(self.misfit("it has a time of day, which a DATE does not keep")),
            Takes::Date => return Ok(Sent::Plain(&scratch.text)),
            Takes::DateTime(fraction) | Takes::Timestamp(fraction) => fraction,
            _ => 6,
        };
        if of_day % 10i64.pow(6 - fraction.min(6)) != 0 {
            return Err(self.misfit(&format!("the column keeps {fraction} digits of a second")));
        }
        scratch.text.push(' ');
        dates::write_time(&mut scratch.text, i128::from(of_day) * 1_000);
        Ok(Sent::Plain(&scratch.text))
    }

    fn time<'a>(&self, value: Value<'a>, scratch: &'a mut Scratch) -> Result<Sent<'a>, Cause> {
        let micros = match value {
            Value::Time(micros) | Value::Duration(micros) => micros,
            Value::Interval { months: 0, days: 0, nanos } if nanos % 1_000 == 0 => nanos / 1_000,
            Value::Interval { .. } => return Err(self.misfit("it has months, days or parts of a microsecond")),
            other => return Err(self.misfit(&format!("{} is no time", name(other)))),
        };
        let Takes::Time(fraction) = self.target.takes else { return Err(self.misfit("it is a time")) };
        if micros % 10i64.pow(6 - fraction.min(6)) != 0 {
            return Err(self.misfit(&format!("the column keeps {fraction} digits of a second")));
        }
        scratch.text.clear();
        dates::write_duration(&mut scratch.text, i128::from(micros) * 1_000);
        Ok(Sent::Plain(&scratch.text))
    }

    /// Writes a value as text.
    fn write(&self, value: Value<'_>, scratch: &mut Scratch) -> Result<(), Cause> {
        scratch.text.clear();
        match value {
            value if self.meaning.write(&value, &mut scratch.text) => {}
            Value::Bytes(bytes) => {
                let encoding = self.formats.encoding();
                let text = encoding.decode(bytes);
                scratch
                    .text
                    .push_str(&text.ok_or_else(|| self.misfit(&format!("the bytes are no {}", encoding.name())))?);
            }
            value => {
                let says = self.formats.says_how_dates_are_written();
                if !(says && value.write_dated(&self.formats, &self.zone, &mut scratch.text)) {
                    value.write_text(&mut scratch.text);
                }
            }
        }
        Ok(())
    }

    fn misfit(&self, why: &str) -> Cause {
        format!("column \"{}\" {} cannot store it: {why}", self.target.name, self.target.declared)
    }
}

fn name(value: Value<'_>) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::UInt(_) => "a whole number",
        Value::Float32(_) | Value::Float64(_) => "a float",
        Value::Decimal { .. } | Value::Decimal256 { .. } => "a decimal",
        Value::Text(_) => "a text",
        Value::Bytes(_) => "bytes",
        Value::Date(_) => "a date",
        Value::Time(_) => "a time of day",
        Value::Timestamp(_) | Value::Instant(_) => "a date and time",
        Value::Duration(_) | Value::Interval { .. } => "a length of time",
        _ => "a value of this type",
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// How many digits of a second a time like `-838:59:59.5` has; `None` where it is none.
fn time_of_text(text: &str) -> Option<usize> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (clock, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let parts: Vec<&str> = clock.split(':').collect();
    let is_clock = matches!(parts.len(), 2 | 3) && parts.iter().all(|part| is_digits(part) && part.len() <= 3);
    let is_fraction = fraction.is_empty() || is_digits(fraction);
    (is_clock && is_fraction).then(|| fraction.trim_end_matches('0').len())
}

#[cfg(test)]
mod tests;
