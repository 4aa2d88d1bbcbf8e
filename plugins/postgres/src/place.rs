//! A column of the target, as far as it matters for what can be put into it.

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field};
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::dates::Zone;
use transship_plugin_api::fields::INFINITY_KEY;
use transship_plugin_api::row::Value;

use crate::binary::cells::Refusal;
use crate::table::Column;
use crate::types::{ServerType, oid, precision_and_scale};

/// Digits of a second that the server keeps.
const MICROS: u32 = 6;

/// What a column takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    /// `limit`: precision and scale.
    Numeric {
        limit: Option<(i32, i32)>,
    },
    /// `most`: characters.
    Text {
        most: Option<u32>,
    },
    Name,
    Bytes,
    Uuid,
    Json,
    Jsonb,
    Date,
    /// `digits`: of a second.
    Time {
        digits: u32,
    },
    Timestamp {
        digits: u32,
    },
    Instant {
        digits: u32,
    },
    Interval {
        digits: u32,
    },
    /// What only the server can read, as text.
    Other,
}

impl Target {
    pub(crate) fn of(server: &ServerType) -> Target {
        // Most modifiers count four bytes more than is meant.
        let length = u32::try_from(server.modifier - 4).ok().filter(|_| server.modifier > 4);
        let digits = u32::try_from(server.modifier).unwrap_or(MICROS).min(MICROS);
        match server.oid {
            oid::BOOL => Target::Bool,
            oid::INT2 => Target::Int2,
            oid::INT4 => Target::Int4,
            oid::INT8 => Target::Int8,
            oid::OID => Target::Oid,
            oid::FLOAT4 => Target::Float4,
            oid::FLOAT8 => Target::Float8,
            oid::NUMERIC => Target::Numeric { limit: precision_and_scale(server.modifier) },
            oid::TEXT => Target::Text { most: None },
            oid::VARCHAR | oid::BPCHAR => Target::Text { most: length },
            oid::NAME => Target::Name,
            oid::BYTEA => Target::Bytes,
            oid::UUID => Target::Uuid,
            oid::JSON => Target::Json,
            oid::JSONB => Target::Jsonb,
            oid::DATE => Target::Date,
            oid::TIME => Target::Time { digits },
            oid::TIMESTAMP => Target::Timestamp { digits },
            oid::TIMESTAMPTZ => Target::Instant { digits },
            // The lower half of the modifier: 0xffff means all digits.
            oid::INTERVAL if server.modifier < 0 => Target::Interval { digits: MICROS },
            oid::INTERVAL => Target::Interval { digits: (server.modifier as u32 & 0xffff).min(MICROS) },
            _ => Target::Other,
        }
    }

    /// Whether an empty text for it is NULL in DataX.
    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Target::Int2
                | Target::Int4
                | Target::Int8
                | Target::Oid
                | Target::Float4
                | Target::Float8
                | Target::Numeric { .. }
        )
    }
}

/// A column of the target, and of the records the one that goes there.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) target: Target,
    /// Its type, for messages.
    pub(crate) declared: String,
    /// Whether NULL can be stored there.
    pub(crate) takes_null: bool,
    /// Whether an empty text for a number is NULL.
    pub(crate) empty_as_null: bool,
    /// Whether NUL characters are left out of texts, rather than make a record dirty.
    pub(crate) removes_nul: bool,
    /// Whether the extreme dates of the records are infinite.
    pub(crate) infinity: bool,
    /// Whether the bytes of the records are UUIDs.
    uuid: bool,
    /// How the job has dates become text, text dates, and local times moments.
    pub(crate) formats: ColumnFormats,
    /// The zone whose clocks show the moments of the records.
    zone: Zone,
}

impl Place {
    pub(crate) fn new(
        column: &Column,
        field: &Field,
        formats: &ColumnFormats,
        empty_as_null: bool,
        removes_nul: bool,
    ) -> Place {
        let zone = match field.data_type() {
            DataType::Timestamp(_, Some(zone)) => formats.zone_of(zone),
            _ => Zone::UTC,
        };
        let target = Target::of(&column.server_type);
        let formats = match target {
            // In the forms that PostgreSQL reads, whatever the job wants in columns of text.
            Target::Other => formats.clone().without_date_formats(),
            _ => formats.clone(),
        };
        Place {
            name: column.name.clone(),
            target,
            declared: column.server_type.name.clone(),
            takes_null: true,
            empty_as_null,
            removes_nul,
            infinity: field.metadata().contains_key(INFINITY_KEY),
            uuid: field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|name| name == "arrow.uuid"),
            formats,
            zone,
        }
    }

    /// The same, where NULL cannot be stored if this is false.
    pub(crate) fn taking_null(self, takes_null: bool) -> Place {
        Place { takes_null, ..self }
    }

    /// The text of a value.
    pub(crate) fn text<'a>(&self, value: Value<'a>, scratch: &'a mut String) -> Result<&'a str, Refusal> {
        if let Value::Text(text) = value {
            return Ok(text);
        }
        scratch.clear();
        match value {
            Value::Bytes(bytes) if self.uuid && bytes.len() == 16 => write_uuid(bytes, scratch),
            Value::Bytes(bytes) => {
                let text =
                    self.formats.encoding().decode(bytes).ok_or("the bytes are no text in the encoding of the job")?;
                scratch.push_str(&text);
            }
            Value::Date(end @ (i32::MIN | i32::MAX)) if self.infinity => scratch.push_str(infinite(end < 0)),
            Value::Timestamp(end @ (i64::MIN | i64::MAX)) | Value::Instant(end @ (i64::MIN | i64::MAX))
                if self.infinity =>
            {
                scratch.push_str(infinite(end < 0));
            }
            value => {
                if !value.write_dated(&self.formats, &self.zone, scratch) {
                    value.write_text(scratch);
                }
            }
        }
        Ok(scratch)
    }
}

/// The server's word for a date without end.
pub(crate) fn infinite(negative: bool) -> &'static str {
    if negative { "-infinity" } else { "infinity" }
}

/// Appends the 32 digits of a UUID with their hyphens.
pub(crate) fn write_uuid(bytes: &[u8], out: &mut String) {
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(digit as u32, 16).unwrap_or('0')));
    }
}
