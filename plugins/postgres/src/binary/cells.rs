//! Values of records as cells in binary form, by the type of the column that takes them: the same value there, or none at all.

mod numbers;
mod times;

use std::borrow::Cow;

use transship_plugin_api::row::Value;

use super::numeric::Misfit;
use crate::place::{Place, Target};

/// Why a value cannot be put into a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The column cannot hold it.
    Dirty(Cow<'static, str>),
    /// It is a text that only the server can read as the column's type.
    Unread,
}

impl From<&'static str> for Refusal {
    fn from(cause: &'static str) -> Refusal {
        Refusal::Dirty(cause.into())
    }
}

impl From<Misfit> for Refusal {
    fn from(misfit: Misfit) -> Refusal {
        match misfit {
            Misfit::TooLarge => "it has more digits before the point than the column".into(),
            Misfit::TooFine => "it has more digits behind the point than the column, and would be rounded".into(),
        }
    }
}

/// What is put into a cell.
type Put = Result<(), Refusal>;

/// Appends the cell for a value, its length before it. If the value is refused, the end of `out` is rubbish. `scratch` is where
/// text is written that the record does not have as such.
#[inline]
pub(crate) fn put(place: &Place, value: Value<'_>, out: &mut Vec<u8>, scratch: &mut String) -> Put {
    match (value, place.target) {
        (Value::Null, _) => put_null(place, out),
        (value, target) => put_value(place, target, value, out, scratch),
    }
}

/// The cell of NULL.
pub(crate) const NULL: [u8; 4] = (-1i32).to_be_bytes();
/// Why there can be no such cell.
pub(crate) const NOT_NULL: &str = "null value in column declared NOT NULL";

/// NULL for any column.
#[inline]
pub(crate) fn put_null(place: &Place, out: &mut Vec<u8>) -> Put {
    if !place.takes_null {
        return Err(NOT_NULL.into());
    }
    out.extend_from_slice(&NULL);
    Ok(())
}

/// A text for a column of text.
#[inline]
pub(crate) fn put_limited_text(place: &Place, text: &str, out: &mut Vec<u8>) -> Put {
    if let Target::Text { most: Some(most) } = place.target {
        fits(text, most)?;
    }
    put_text(place, text, out)
}

/// A date for a column of dates, counted from 1970.
#[inline]
pub(crate) fn put_date(place: &Place, days: i32, out: &mut Vec<u8>) -> Put {
    times::put_date(place, days, out)
}

/// Microseconds since 1970 for a column of timestamps that keeps them all, both with a zone or both without.
#[inline]
pub(crate) fn put_micros(place: &Place, micros: i64, out: &mut Vec<u8>) -> Put {
    times::put_micros(place, micros, out)
}

fn put_value(place: &Place, target: Target, value: Value<'_>, out: &mut Vec<u8>, scratch: &mut String) -> Put {
    if let Value::Text("") = value
        && place.empty_as_null
        && target.is_number()
    {
        return put(place, Value::Null, out, scratch);
    }
    match target {
        Target::Bool => put_fixed(out, [truth(value)? as u8]),
        Target::Int2 | Target::Int4 | Target::Int8 | Target::Oid => {
            let number = numbers::whole(value)?;
            numbers::put_whole(target, number, out)
        }
        Target::Float4 => put_fixed(out, numbers::float4(value, scratch)?.to_be_bytes()),
        Target::Float8 => put_fixed(out, numbers::float8(value, scratch)?.to_be_bytes()),
        Target::Numeric { limit } => numbers::put_numeric(limit, value, out, scratch),
        Target::Text { .. } => {
            let text = place.text(value, scratch)?;
            put_limited_text(place, text, out)
        }
        Target::Name => {
            let text = place.text(value, scratch)?;
            const MOST_BYTES: usize = 63;
            if text.len() > MOST_BYTES {
                return Err("it has more than 63 bytes, and the server would cut it".into());
            }
            put_text(place, text, out)
        }
        Target::Bytes => match value {
            Value::Bytes(bytes) => put_bytes(out, bytes),
            // As in DataX: the bytes of a text are those that encode it.
            Value::Text(text) => put_bytes(out, text.as_bytes()),
            other => Err(misfit(other)),
        },
        Target::Uuid => match value {
            Value::Bytes(bytes) if bytes.len() == 16 => put_bytes(out, bytes),
            Value::Bytes(_) => Err("a UUID has 16 bytes".into()),
            Value::Text(text) => put_bytes(out, &uuid(text).ok_or("the text is no UUID")?),
            other => Err(misfit(other)),
        },
        Target::Json | Target::Jsonb => {
            let text = json(value, scratch)?;
            let text = without_nul(place, text)?;
            let version: &[u8] = if target == Target::Jsonb { &[1] } else { &[] };
            put_length(out, version.len() + text.len())?;
            out.extend_from_slice(version);
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
        Target::Date => times::put_date(place, times::date(place, value)?, out),
        Target::Time { digits } => times::put_time(digits, times::time(value)?, out),
        Target::Timestamp { digits } => times::put_moment(digits, times::local(place, value)?, out),
        Target::Instant { digits } => times::put_moment(digits, times::instant(place, value)?, out),
        Target::Interval { digits } => times::put_interval(digits, value, out),
        Target::Other => Err(Refusal::Unread),
    }
}

/// A cell of a fixed size.
#[inline]
pub(crate) fn put_fixed<const SIZE: usize>(out: &mut Vec<u8>, bytes: [u8; SIZE]) -> Put {
    out.extend_from_slice(&(SIZE as i32).to_be_bytes());
    out.extend_from_slice(&bytes);
    Ok(())
}

#[inline]
fn put_text(place: &Place, text: &str, out: &mut Vec<u8>) -> Put {
    put_bytes(out, without_nul(place, text)?.as_bytes())
}

pub(crate) const NUL: &str =
    "PostgreSQL cannot store the character NUL in a text; \"nulCharacter\": \"remove\" leaves it out";

/// A text as the server can take it. The escape for NUL in JSON is the server's business: json takes it, jsonb does not.
#[inline]
fn without_nul<'a>(place: &Place, text: &'a str) -> Result<Cow<'a, str>, Refusal> {
    match memchr::memchr(0, text.as_bytes()) {
        None => Ok(Cow::Borrowed(text)),
        Some(_) if place.removes_nul => Ok(Cow::Owned(text.replace('\0', ""))),
        Some(_) => Err(NUL.into()),
    }
}

#[inline]
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Put {
    put_length(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// The length of a cell, which stands before it.
#[inline]
pub(crate) fn put_length(out: &mut Vec<u8>, length: usize) -> Put {
    // The server's own limit for a value, a little under one gigabyte.
    const MOST: usize = 0x3fff_ffff;
    if length > MOST {
        return Err("PostgreSQL stores no value of more than 1 GiB".into());
    }
    out.extend_from_slice(&(length as i32).to_be_bytes());
    Ok(())
}

#[inline]
fn fits(text: &str, most: u32) -> Put {
    if text.len() <= most as usize { Ok(()) } else { fits_in_letters(text, most) }
}

fn fits_in_letters(text: &str, most: u32) -> Put {
    let letters = text.chars().count();
    if letters > most as usize {
        return Err(Refusal::Dirty(format!("it has {letters} characters, and the column takes {most}").into()));
    }
    Ok(())
}

fn truth(value: Value<'_>) -> Result<bool, Refusal> {
    match value {
        Value::Bool(truth) => Ok(truth),
        Value::Text(text) => of_word(text.trim()).ok_or("the text is no boolean".into()),
        other => match numbers::whole(other)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("the number is not 0 or 1".into()),
        },
    }
}

/// The words of PostgreSQL for booleans, also cut short as far as they are clear.
fn of_word(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str| !text.is_empty() && word.starts_with(&text);
    match text.as_str() {
        "1" | "on" => Some(true),
        "0" => Some(false),
        "o" => None,
        _ if begins("true") || begins("yes") => Some(true),
        _ if begins("false") || begins("no") || begins("off") => Some(false),
        _ => None,
    }
}

/// The bytes of a UUID in any of the forms that PostgreSQL reads: with or without braces, with hyphens between groups of four
/// digits.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.trim();
    let text = match text.strip_prefix('{') {
        Some(inside) => inside.strip_suffix('}')?,
        None => text,
    };
    let (mut bytes, mut digits) = ([0u8; 16], 0usize);
    for letter in text.bytes() {
        if letter == b'-' && digits > 0 && digits < 32 && digits % 4 == 0 {
            continue;
        }
        let digit = (letter as char).to_digit(16)? as u8;
        let byte = bytes.get_mut(digits / 2)?;
        *byte = *byte << 4 | digit;
        digits += 1;
    }
    (digits == 32).then_some(bytes)
}

fn json<'a>(value: Value<'a>, scratch: &'a mut String) -> Result<&'a str, Refusal> {
    if let Value::Text(text) = value {
        return Ok(text);
    }
    scratch.clear();
    match value {
        Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Decimal { .. }
        | Value::Decimal256 { .. }
        | Value::Other(_) => {
            value.write_text(scratch);
        }
        Value::Float32(float) if float.is_finite() => value.write_text(scratch),
        Value::Float64(float) if float.is_finite() => value.write_text(scratch),
        Value::Float32(_) | Value::Float64(_) => return Err("JSON has no such number".into()),
        other => {
            let mut text = String::new();
            other.write_text(&mut text);
            scratch.push_str(&serde_json::Value::String(text).to_string());
        }
    }
    Ok(scratch)
}

/// The refusal of a value that is of a wholly different kind.
fn misfit(value: Value<'_>) -> Refusal {
    match value {
        Value::Bool(_) => "a boolean does not fit a column of this type",
        Value::Int(_) | Value::UInt(_) | Value::Float32(_) | Value::Float64(_) => {
            "a number does not fit a column of this type"
        }
        Value::Decimal { .. } | Value::Decimal256 { .. } => "a decimal does not fit a column of this type",
        Value::Text(_) => "a text does not fit a column of this type",
        Value::Bytes(_) => "bytes do not fit a column of this type",
        Value::Date(_) => "a date does not fit a column of this type",
        Value::Time(_) => "a time of day does not fit a column of this type",
        Value::Timestamp(_) | Value::Instant(_) => "a date and time does not fit a column of this type",
        Value::Duration(_) | Value::Interval { .. } => "a length of time does not fit a column of this type",
        _ => "the value does not fit a column of this type",
    }
    .into()
}

#[cfg(test)]
mod tests;
