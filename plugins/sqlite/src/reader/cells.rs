//! A cell of SQLite as a value of a column's type, exactly or not at all.

use std::fmt::Write as _;

use rusqlite::types::ValueRef;
use serde_json::Value as Json;
use transship_plugin_api::row::Value;

use crate::clock;
use crate::number::{self, Number};
use crate::types::Kind;

/// A cell that its column's type cannot hold exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Misfit;

/// The value of a cell. `scratch` is where a number is written out as text.
#[inline]
pub(crate) fn value<'a>(kind: Kind, cell: ValueRef<'a>, scratch: &'a mut String) -> Result<Value<'a>, Misfit> {
    match (cell, kind) {
        (ValueRef::Null, _) => Ok(Value::Null),
        (ValueRef::Text(text), Kind::Text) => std::str::from_utf8(text).map(Value::Text).map_err(|_| Misfit),
        (ValueRef::Integer(number), Kind::Integer) => Ok(Value::Int(number)),
        (ValueRef::Real(real), Kind::Real) => Ok(Value::Float64(real)),
        (ValueRef::Blob(bytes), Kind::Binary) => Ok(Value::Bytes(bytes)),
        _ => converted(kind, cell, scratch).ok_or(Misfit),
    }
}

fn converted<'a>(kind: Kind, cell: ValueRef<'a>, scratch: &'a mut String) -> Option<Value<'a>> {
    match (cell, kind) {
        (ValueRef::Integer(0 | 1), Kind::Boolean) => Some(Value::Bool(cell == ValueRef::Integer(1))),
        (ValueRef::Integer(number), Kind::Real) => number::exact_real(number).map(Value::Float64),
        (ValueRef::Real(real), Kind::Integer) => number::exact_integer(real).map(Value::Int),
        (ValueRef::Integer(_) | ValueRef::Real(_), Kind::Text | Kind::Number) => {
            scratch.clear();
            write(scratch, cell);
            Some(Value::Text(scratch))
        }
        (ValueRef::Text(text), Kind::Binary) => Some(Value::Bytes(text)),
        (ValueRef::Text(text), Kind::Date) => clock::date(text).map(Value::Date),
        (ValueRef::Text(text), Kind::Time) => clock::time(text).map(Value::Time),
        (ValueRef::Text(text), Kind::Timestamp) => clock::timestamp(text).map(Value::Timestamp),
        (ValueRef::Text(text), Kind::Instant) => clock::instant(text).map(Value::Instant),
        (ValueRef::Text(text), _) => number_or_boolean(kind, std::str::from_utf8(text).ok()?),
        _ => None,
    }
}

fn number_or_boolean(kind: Kind, text: &str) -> Option<Value<'_>> {
    match kind {
        Kind::Number => number::is_number(text).then_some(Value::Text(text)),
        Kind::Boolean if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Kind::Boolean if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        Kind::Integer => match number::parse(text) {
            Ok(Number::Integer(number)) => Some(Value::Int(number)),
            _ => None,
        },
        Kind::Real => number::real(text).ok().map(Value::Float64),
        _ => None,
    }
}

/// What a column of no declared type seems to hold, by one of its cells; and one of a type that SQLite does not know,
/// like DATETIME, of which some programs make seconds since 1970 and others a text.
pub(crate) fn guess(declared: Option<Kind>, cell: ValueRef<'_>) -> Kind {
    let promised = declared.unwrap_or(Kind::Text);
    if let Some(Kind::Date | Kind::Time | Kind::Timestamp | Kind::Instant) = declared
        && value(promised, cell, &mut String::new()).is_err()
    {
        return match cell {
            ValueRef::Integer(_) => Kind::Integer,
            ValueRef::Real(_) => Kind::Real,
            ValueRef::Blob(_) => Kind::Binary,
            _ => Kind::Text,
        };
    }
    match cell {
        _ if declared.is_some() => promised,
        // An expression yields integers and reals as it comes.
        ValueRef::Integer(_) | ValueRef::Real(_) => Kind::Number,
        ValueRef::Blob(_) => Kind::Binary,
        ValueRef::Text(_) | ValueRef::Null => Kind::Text,
    }
}

/// What is in a cell, in words.
pub(crate) fn storage(cell: ValueRef<'_>) -> &'static str {
    match cell {
        ValueRef::Null => "a NULL",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a real",
        ValueRef::Text(text) if std::str::from_utf8(text).is_err() => "a text that is not UTF-8",
        ValueRef::Text(_) => "a text",
        ValueRef::Blob(_) => "a blob",
    }
}

/// Appends a cell as text; bytes are hexadecimal.
pub(crate) fn write(out: &mut String, cell: ValueRef<'_>) {
    match cell {
        ValueRef::Null => {}
        ValueRef::Integer(number) => Value::Int(number).write_text(out),
        ValueRef::Real(real) => number::write_real(out, real),
        ValueRef::Text(text) => out.push_str(&String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => {
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = write!(out, "{byte:02x}");
            }
        }
    }
}

/// A cell as JSON, for the record of a dirty row.
pub(crate) fn json(cell: ValueRef<'_>) -> Json {
    match cell {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(real) if real.is_finite() => real.into(),
        _ => {
            let mut text = String::new();
            write(&mut text, cell);
            Json::String(text)
        }
    }
}
