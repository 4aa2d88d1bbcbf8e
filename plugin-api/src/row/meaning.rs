//! What a field says of its values beyond their Arrow type, where that changes their text: a UUID has hyphens, an infinite date
//! is a word.
//! Not here: the text of all other values (`text`, `dated`).

use arrow_schema::Field;

use super::clock::{Clock, tick};
use super::value::{Cell, Value};
use crate::fields;

/// How the values of a column are to be understood beyond their Arrow type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Meaning {
    uuids: bool,
    infinity: bool,
}

/// An end of the time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Infinity {
    /// Before all dates.
    Past,
    /// After all dates.
    Future,
}

impl Infinity {
    /// The word for it, as PostgreSQL has it: `-infinity`, `infinity`.
    pub fn word(self) -> &'static str {
        match self {
            Infinity::Past => "-infinity",
            Infinity::Future => "infinity",
        }
    }

    /// What a text says, in any case.
    pub fn parse(text: &[u8]) -> Option<Infinity> {
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        match () {
            () if is("infinity") || is("+infinity") => Some(Infinity::Future),
            () if is("-infinity") => Some(Infinity::Past),
            () => None,
        }
    }
}

impl Meaning {
    /// What this field says.
    pub fn of(field: &Field) -> Meaning {
        Meaning { uuids: fields::is_uuid(field), infinity: fields::has_infinity(field) }
    }

    /// Whether its bytes are UUIDs.
    #[inline]
    pub fn is_uuid(self) -> bool {
        self.uuids
    }

    /// Whether its extreme dates are infinite.
    #[inline]
    pub fn has_infinity(self) -> bool {
        self.infinity
    }

    /// Whether a date or timestamp is infinite, and to which side.
    #[inline]
    pub fn infinity(self, value: &Value<'_>) -> Option<Infinity> {
        if !self.infinity {
            return None;
        }
        let end = match *value {
            Value::Date(i32::MIN) => i64::MIN,
            Value::Date(i32::MAX) => i64::MAX,
            Value::Timestamp(micros) | Value::Instant(micros) => micros,
            Value::Other(Cell { array, row }) => match Clock::of(array.data_type()) {
                Some((Clock::Timestamp | Clock::Instant, _)) => tick(array, row),
                _ => return None,
            },
            _ => return None,
        };
        match end {
            i64::MIN => Some(Infinity::Past),
            i64::MAX => Some(Infinity::Future),
            _ => None,
        }
    }

    /// Appends the text of a value that means something else than its type says; `false`, and nothing is appended, for all
    /// others.
    #[inline]
    pub fn write(self, value: &Value<'_>, out: &mut String) -> bool {
        if !self.uuids && !self.infinity {
            return false;
        }
        if let (true, Value::Bytes(bytes)) = (self.uuids, value) {
            write_uuid(out, bytes);
            return true;
        }
        let infinity = self.infinity(value);
        infinity.inspect(|infinity| out.push_str(infinity.word())).is_some()
    }
}

/// Appends the bytes of a UUID as text: `6774d596-8cc8-4c20-8e98-6f2f105d62a8`.
pub fn write_uuid(out: &mut String, bytes: &[u8]) {
    let mut rest = bytes;
    for length in [4, 2, 2, 2] {
        let (group, behind) = rest.split_at(length.min(rest.len()));
        super::text::push_hexadecimal(out, group);
        out.push('-');
        rest = behind;
    }
    super::text::push_hexadecimal(out, rest);
}
